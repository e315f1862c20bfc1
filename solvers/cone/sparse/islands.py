"""Islands of contacts that bodies connect: those that close in a pile with gaps, solved apart.

Where most contacts stay open, the others leave hundreds of small islands. Small ones are solved by the
compiled dense method; and what is hard in one does not shorten the steps of all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from mcpframe.solvers.cone.chain import solve_cones
from mcpframe.solvers.cone.sparse.system import SparseCones
from mcpframe.solvers.cone.workspace import cone_bounds, new_workspace
from mcpframe.solvers.shared.alarm import alarm

Array = NDArray[np.float64]
Contacts = NDArray[np.intp]

SMALL = 50
"""Contacts up to which an island is solved as a dense problem."""


def find_islands(system: SparseCones, kept: NDArray[np.bool_]) -> list[Contacts]:
    """Return the contacts of each island, of those that are kept."""
    contacts = np.flatnonzero(kept)
    W = system.among(contacts)
    island = connected_components(W, directed=False)[1][:: system.dim]
    order = np.argsort(island, kind="stable")
    ends = np.flatnonzero(np.diff(island[order])) + 1
    return np.split(contacts[order], ends)


def solve_small(system: SparseCones, islands: list[Contacts], r: Array, goal: float, deadline: float) -> None:
    """Solve islands as dense problems, into r [n_c, d]."""
    if not islands:
        return
    W, most, begin = system.among(np.concatenate(islands)), max(map(len, islands)), 0
    X, I = new_workspace(system.dim * most, most)
    with alarm(deadline) as stop:
        for island in islands:
            end = begin + system.dim * len(island)
            z, q = np.zeros(end - begin), system.q[island].ravel()
            bounds = cone_bounds(system.mu[island], system.dim)
            solve_cones(W[begin:end, begin:end].toarray(), q, *bounds, False, goal, z, X, I, stop)
            r[island] = z.reshape(r[island].shape)
            begin = end
