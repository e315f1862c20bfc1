"""Workspaces of the compliance kernels; the layout is written down in `row_records.py`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mcpframe.multibody.memory import row_records as rows
from mcpframe.multibody.memory.packing import aligned_zeros
from mcpframe.multibody.memory.records import BLOCK, PAIR
from mcpframe.multibody.memory.skeleton import Skeleton

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


def row_space(
    n_bodies: int,
    row_body: Indices,
    *,
    more_integers: Mapping[int, int] | None = None,
    more_doubles: Mapping[int, int] | None = None,
    head: int = rows.ROW_HEAD,
) -> tuple[Indices, Array]:
    """Return IR and XR with room for rows on the given bodies, and their plan still to be made.

    Args:
        n_bodies: number of bodies of the tree.
        row_body: body of every row [n_rows].
        more_integers, more_doubles: sizes of further parts of IR and XR by their slot in the head.
        head: length of the head.
    """
    per_body = np.unique(row_body, return_counts=True)[1]
    n_lanes = int((-(-per_body // 4) * 4).sum())
    IR, XR = room_for_rows(
        n_bodies, row_body.size, n_lanes, per_body.size, more_integers or {}, more_doubles or {}, head
    )
    IR[rows.N_ROWS] = row_body.size
    IR[IR[rows.ROW_BODY] : IR[rows.ROW_BODY] + row_body.size] = row_body
    return IR, XR


def room_for_rows(
    n_bodies: int,
    n_rows: int,
    n_lanes: int,
    n_touched: int,
    more_integers: Mapping[int, int],
    more_doubles: Mapping[int, int],
    head: int,
) -> tuple[Indices, Array]:
    """Return IR and XR for any so many rows in so many lanes on so many of the bodies."""
    n_vertices = min(2 * n_touched, n_bodies)
    integers = {
        rows.ROW_BODY: n_rows,
        rows.ROW_LANE: n_rows,
        rows.MARK: n_bodies,
        rows.ABOVE: n_bodies,
        rows.VERTEX_AT: n_bodies,
        rows.CHILDREN: n_bodies,
        rows.VERTICES: n_vertices * rows.VERTEX_ROW,
        **more_integers,
    }
    doubles = {
        rows.WRENCHES: n_rows * PAIR,
        rows.UPSILON: n_vertices * BLOCK,
        rows.PSI: n_vertices * BLOCK,
        rows.LANE_WRENCH: 6 * n_lanes,
        rows.CARRIED: 6 * n_lanes,
        rows.REACH: n_vertices * 6 * n_lanes,
        rows.LAMBDA: n_lanes * n_lanes,
        **more_doubles,
    }
    slots = np.zeros(head, dtype=np.int64)
    n_integers = _place(slots, integers, head, 1)
    n_doubles = _place(slots, doubles, 0, 8)
    return np.concatenate([slots, np.zeros(n_integers - head, dtype=np.int64)]), aligned_zeros(n_doubles)


def _place(head: Indices, sizes: dict[int, int], start: int, unit: int) -> int:
    """Write where each part begins, in multiples of `unit`; return where the last one ends."""
    for part, size in sizes.items():
        head[part] = start
        start += -(-size // unit) * unit
    return start


def node_space(skeleton: Skeleton, n_dofs: int, link: Indices, position: Array) -> tuple[Indices, Array]:
    """Return IR and XR for nodes at given positions in the frames of given links."""
    n, body = int(link.size), skeleton.link_body[link]
    inner = np.einsum("kji,kj->ki", skeleton.link_rotation[link], position)
    IR, XR = row_space(
        skeleton.n_bodies,
        np.repeat(body, 6),
        more_integers={rows.NODE_BODY: n},
        more_doubles={rows.NODES: 4 * n, rows.RESULT: max(36 * n * n, 6 * n * n_dofs)},
    )
    IR[rows.N_NODES] = n
    IR[IR[rows.NODE_BODY] : IR[rows.NODE_BODY] + n] = body
    XR[IR[rows.NODES] : IR[rows.NODES] + 4 * n].reshape(n, 4)[:, :3] = inner
    return IR, XR
