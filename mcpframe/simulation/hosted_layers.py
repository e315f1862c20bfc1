"""Layers of contacts that are Python's: what they add to a step, and what they remember of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import NORMAL, TANGENT_2
from mcpframe.contact.detection.records import C_MATERIAL
from mcpframe.contact.law import LawRows
from mcpframe.contact.layers.layer import ContactLayer
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.workspace import Workspace

Indices = NDArray[np.int64]


def soften(work: Workspace, h: float, laws: Sequence[LawRows]) -> None:
    """Write what layers add to a step of h; `laws` are those of all contacts."""
    for layer, which, _, gaps, memory in _hosted(work, laws):
        speeds = work.doubles(at.START_VELOCITIES)[which, 3]
        S, s = layer.terms(h, gaps, speeds, memory)
        work.doubles(at.SOFTNESS)[which, 3:] += S
        work.doubles(at.SHIFTS)[which] = s


def remember(work: Workspace, h: float, laws: Sequence[LawRows]) -> None:
    """Write what layers remember after a step of h."""
    width = int(work.IS[at.MEMORY_WIDTH])
    for layer, which, axes, gaps, memory in _hosted(work, laws):
        impulses = np.einsum("uki,ui->uk", axes, work.doubles(at.IMPULSES)[which, :3])
        after = np.einsum("uki,uvk->uvi", axes, layer.after(h, gaps, memory, impulses))
        carried = work.doubles(at.CARRIED)
        rows = carried[which].reshape(-1, width // 4, 4)
        rows[:, 1 : 1 + layer.vectors, :3] = after
        carried[which] = rows.reshape(which.size, width)


def _hosted(
    work: Workspace, laws: Sequence[LawRows]
) -> Iterator[tuple[ContactLayer, Indices, Array, Array, Array]]:
    """Return layers that are Python's, where their contacts stand, axes, gaps and memory there."""
    rows, width = work.integers(at.TOUCHING)[: int(work.IS[at.N_TOUCHING])], int(work.IS[at.MEMORY_WIDTH])
    kinds = work.integers(at.LAYER_KINDS)[rows[:, C_MATERIAL]]
    n_l = len(rows) - len(laws)
    for material in np.unique(rows[kinds == at.HOSTED, C_MATERIAL]):
        which = np.flatnonzero(rows[:, C_MATERIAL] == material)
        layer = laws[which[0] - n_l].layer
        assert layer is not None
        records = work.doubles(at.RECORDS)[which]
        axes = records[:, NORMAL.start : TANGENT_2.stop].reshape(-1, 3, 4)[:, :, :3]
        kept = work.doubles(at.CARRIED)[which].reshape(-1, width // 4, 4)
        own = np.einsum("uki,uvi->uvk", axes, kept[:, 1 : 1 + layer.vectors, :3])
        yield layer, which, axes, work.doubles(at.GAPS)[which], own
