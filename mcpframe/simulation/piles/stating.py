"""A pile as the problem that its rows are, for whoever is to judge it or to solve it otherwise.

With W = H* H of the motions of unit mass and, contact by contact, directions D: the normal alone, with two
tangents on a disc, or with the directions of a polygon, whose slack is σ [J14, Eq. (14)],

    w_β = D* W D β + D* q + E* σ,     w_σ = (mu e_n - E) β + mu leans.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.problem.cone import ConeLCP, Discs, StepProblem
from mcpframe.problem.friction import friction_directions
from mcpframe.problem.problems import MixedLCP
from mcpframe.simulation.piles import slots as at
from mcpframe.simulation.piles.slots import DISC, ROWS, SMOOTH

Indices = NDArray[np.int64]

SIX = [0, 1, 2, 4, 5, 6]
"""Where the six numbers of a pair are."""


class Stated(NamedTuple):
    """The problem, the directions D [3 n, n_beta] of its β, and H [6 n_b, 3 n]: r = D β, y = H r."""

    problem: StepProblem
    D: sp.csr_array
    H: sp.csr_array


def contact_map(I: Indices, X: Array) -> sp.csr_array:
    """Return H: what impulses along n, t_1, t_2 of all contacts do to the motions of all bodies."""
    n, n_b = int(I[at.N_CONTACTS]), int(I[at.N_BODIES])
    J = at.PILE.part(I, X, at.JACOBIAN)[:n].reshape(n, 2, 3, ROWS // 6)[..., SIX]
    sides = at.PILE.part(I, X, at.SIDES)[:n]
    c, side = np.nonzero(sides >= 0)
    shape = J[c, side].shape
    bodies = np.broadcast_to((6 * sides[c, side])[:, None, None] + np.arange(6), shape)
    rows = np.broadcast_to((3 * c)[:, None, None] + np.arange(3)[:, None], shape)
    return sp.csr_array((J[c, side].ravel(), (bodies.ravel(), rows.ravel())), shape=(6 * n_b, 3 * n))


def directions(edges: int) -> Array:
    """Return D of one contact [3, 1, 3 or 1 + edges]."""
    if edges in (SMOOTH, DISC):
        return np.eye(3)[:, : 1 if edges == SMOOTH else 3]
    D = np.zeros((3, 1 + edges))
    D[0, 0], D[1:, 1:] = 1.0, friction_directions(edges)
    return D


def stated(I: Indices, X: Array, dense: bool = False) -> Stated:
    """Return the problem of a pile; z = [β of contact after contact; σ of those with polygons]."""
    n, part = int(I[at.N_CONTACTS]), at.PILE.part
    edges, mu, leans = (part(I, X, which)[:n] for which in (at.EDGES, at.MU, at.LEANS))
    free = part(I, X, at.FREE)[:n, :3].ravel()
    blocks = [directions(int(e)) for e in edges]
    D, H = sp.csr_array(sp.block_diag(blocks)), contact_map(I, X)
    normal = np.cumsum([0, *(block.shape[1] for block in blocks)])[:-1]
    round_ones, polygons = np.flatnonzero(edges == DISC), np.flatnonzero(edges > SMOOTH)
    E, lower = sp.lil_array((polygons.size, D.shape[1])), np.zeros(D.shape[1] + polygons.size)
    for row, c in enumerate(polygons):
        E[[row], normal[c] + 1 : normal[c] + 1 + edges[c]] = 1.0
    for c in round_ones:
        lower[normal[c] + 1 : normal[c] + 3] = -np.inf
    places = np.arange(polygons.size), normal[polygons]
    P = sp.csr_array((mu[polygons], places), shape=E.shape) - E.tocsr()
    HD = H @ D
    M = sp.block_array([[HD.T @ HD, E.T], [P, None]], format="csr") if polygons.size else HD.T @ HD
    M = M.toarray() if dense else M
    q = np.concatenate([D.T @ free, (mu * leans)[polygons]])
    if not round_ones.size:
        return Stated(MixedLCP(M, q, lower), D, H)
    sizes = mu[round_ones], (mu * leans)[round_ones]
    discs = Discs(normal[round_ones], normal[round_ones] + 1, 2, *sizes)
    return Stated(ConeLCP(M, q, lower, np.full(q.size, np.inf), discs), D, H)
