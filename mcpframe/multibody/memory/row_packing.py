"""Workspaces of the compliance kernels; the layout is written down in `row_records.py`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mcpframe.jit.memory import Memory
from mcpframe.multibody.memory import row_records as rows
from mcpframe.multibody.memory.skeleton import Skeleton

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


def row_space(memory: Memory, n_bodies: int, row_body: Indices, **counts: int) -> tuple[Indices, Array]:
    """Return IR and XR with room for rows on the given bodies, and their plan still to be made.

    Args:
        memory: that of `row_records`, or one that begins as it does.
        n_bodies: number of bodies of the tree.
        row_body: body of every row [n_rows].
        counts: of what else is in the memory.
    """
    per_body = np.unique(row_body, return_counts=True)[1]
    n_lanes = int((-(-per_body // 4) * 4).sum())
    IR, XR = room_for_rows(memory, n_bodies, row_body.size, n_lanes, per_body.size, **counts)
    IR[rows.N_ROWS] = row_body.size
    memory.part(IR, XR, rows.ROW_BODY)[:] = row_body
    return IR, XR


def room_for_rows(
    memory: Memory, n_bodies: int, n_rows: int, n_lanes: int, n_touched: int, **counts: int
) -> tuple[Indices, Array]:
    """Return IR and XR for any so many rows in so many lanes on so many of the bodies."""
    n_vertices = min(2 * n_touched, n_bodies)
    return memory.arrays(body=n_bodies, row=n_rows, lane=n_lanes, vertex=n_vertices, **counts)


def node_space(skeleton: Skeleton, n_dofs: int, link: Indices, position: Array) -> tuple[Indices, Array]:
    """Return IR and XR for nodes at given positions in the frames of given links."""
    n, body, memory = int(link.size), skeleton.link_body[link], rows.NODE_MEMORY
    inner = np.einsum("kji,kj->ki", skeleton.link_rotation[link], position)
    result = max(36 * n * n, 6 * n * n_dofs)
    IR, XR = row_space(memory, skeleton.n_bodies, np.repeat(body, 6), node=n, result=result)
    memory.part(IR, XR, rows.NODE_BODY)[:] = body
    memory.part(IR, XR, rows.NODES)[:, :3] = inner
    return IR, XR
