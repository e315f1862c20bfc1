"""The path of a linearised problem, by pivoting from the current basis.

At a point (z_k, w_k) of complementary rows (w_k >= 0 where z_k = l, <= 0 where z_k = u, 0 in between) the
linearisation w = M z + q of F is followed along

    w = M z + q - tau r,   r = M z_k + q - w_k,   tau from 1, where (z_k, w_k) solves it, to 0:

Lemke's path with the residual r of the normal map as covering vector [Dirkse, Ferris 1995, section 2].
Newton's point is its end. A point at tau = 1 - t on the way is the end of the path for q - tau r, which
starts alike. The dictionary and the pivoting are Lemke's (`shared.tableau`, `lemke.kernels`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from mcpframe.jit import (
    CodesOut,
    IndexTable,
    IndicesOut,
    Matrix,
    MatrixOut,
    Vector,
    VectorOut,
    callee,
    kernel,
)
from mcpframe.problem.residual import dot
from mcpframe.solvers.lemke.attempts import (
    POINT,
    W_BASE,
    S,
    local_codes,
    read_codes,
    read_point,
    set_factors,
)
from mcpframe.solvers.lemke.kernels import (
    LEXICOGRAPHIC,
    PIVOT_LIMIT,
    RAY,
    SINGULAR,
    enter_basis,
    follow,
    set_range,
)
from mcpframe.solvers.shared.tableau import (
    BASE,
    BASIC_VAR,
    COLUMN,
    FROZEN,
    HIGH,
    LOW,
    NONBASIC_VAR,
    PLACE,
    ROW,
    ROW_OF,
    SIGN,
    START,
    X,
    eliminate_free,
    load,
    magnitude,
    order_rows,
    pair_free,
    shift,
)
from mcpframe.solvers.shared.workspace import new_workspace
from mcpframe.solving.solution import AT_LOWER, AT_UPPER, BASIC

Array = NDArray[np.float64]
Codes = NDArray[np.int8]

DRIFT = 1e-5
"""Distance from the path, as a share of |r|, above which a dictionary is not trusted."""
ROUNDING = 1e-12
"""Distances below this share of the terms of M z + q are rounding, not drift."""
SHORTEST_LEG = 8
"""A dictionary that has drifted after fewer pivots than this was no good from the start."""


@callee
def start_values(V: Any, K: Any, kappa: float, n_t: int, z: Any, w: Any, s: Any, v: Any) -> None:
    """Write s and w of the starting point in the units and the order of the dictionary."""
    for r in range(n_t):
        i = K[ROW_OF, r]
        s[r] = (z[i] - V[BASE, i]) / (kappa * V[COLUMN, i])
        v[r] = V[ROW, i] * w[i] / kappa


@callee
def cover_from(T: Any, V: Any, K: Any, n_comp: int, n_r: int, n_t: int, s: Any, v: Any) -> None:
    """Write the column d of tau, such that at tau = 1 the basic variables have their starting values.

    A value outside its bounds (a basis that does not fit the point) is first moved to the bound. Free rows
    that were set aside get their share of d, too; they never block.
    """
    x, low, high = V[X], V[LOW], V[HIGH]
    for r in range(n_r):
        k = K[BASIC_VAR, r]
        start = s[k] if k < n_t else v[k - n_t]
        start = min(max(start, low[r]), high[r])
        T[r, n_r] = start - x[r]
        nearer_high = high[r] - start < start - low[r]
        K[SIGN, r] = 0 if low[r] == -np.inf and high[r] == np.inf else (-1 if nearer_high else 1)
        K[START, r] = K[BASIC_VAR, r]
    for r in range(n_r, n_t):
        T[r, n_r] = s[K[BASIC_VAR, r]] - V[FROZEN, r] - dot(T[r, :n_comp], s[:n_comp])
    K[NONBASIC_VAR, n_r] = 2 * n_t
    K[PLACE, 2 * n_t] = n_r


@kernel(
    Matrix, Vector, Vector, Vector, Vector, Vector, types.int64,
    CodesOut, VectorOut, MatrixOut, MatrixOut, IndexTable, MatrixOut, IndicesOut,
)  # fmt: skip
def follow_from(M, q, lower, upper, z_start, w_start, limit, codes, z, T, V, K, R, stop):  # type: ignore[no-untyped-def]
    """Follow the path from a point to tau = 0; return (how it ended, pivots, tau at the end).

    Args:
        z_start, w_start: the point; codes: its basis, on return that of the end.
        limit: pivots at most.
        z: the end of the path, written [n].
        T [n, n + 1], V [N_FLOAT_ROWS, n + 1], K [N_INT_ROWS, 2 n + 1], R [N_WORK_ROWS, n]: workspace.
        stop: the path ends when stop[0] becomes nonzero.
    """
    set_factors(M, V, False)
    n_comp, n_t = order_rows(lower, upper, K)
    shift(M, q, lower, upper, V, R[W_BASE])
    kappa = magnitude(R[W_BASE], q.shape[0])
    load(M, R[W_BASE], lower, upper, kappa, T, V, K, n_t, False)
    n_left = eliminate_free(T, V, K, n_comp, n_t, stop) if n_t > n_comp else 0
    n_r = n_t if n_left > 0 else n_comp
    if n_left > 0 and not pair_free(T, V, K, n_comp, n_t, n_left, stop):
        return SINGULAR, 0, 1.0
    local_codes(lower, codes, K, n_comp)
    if not enter_basis(T, V, K, K[START], n_comp, n_r, n_t, stop):
        return SINGULAR, 0, 1.0
    for r in range(n_r):
        set_range(V, K, r, n_comp, n_t)
    start_values(V, K, kappa, n_t, z_start, w_start, R[S], R[POINT])
    cover_from(T, V, K, n_comp, n_r, n_t, R[S], R[POINT])
    ended, pivots, _, _ = follow(T, V, K, n_comp, n_r, n_t, 1.0, LEXICOGRAPHIC, limit, stop)
    place = K[PLACE, 2 * n_t]
    tau = V[X, -1 - place] if place < 0 else 0.0
    read_point(V, K, T, kappa, n_comp, n_r, n_t, R[S], z)
    for r in range(n_r, n_t):
        i = K[ROW_OF, K[BASIC_VAR, r]]
        z[i] += kappa * V[COLUMN, i] * tau * T[r, n_r]
    read_codes(lower, upper, K, n_comp, codes)
    return ended, pivots, tau


@dataclass(frozen=True, slots=True, eq=False)
class PathEnd:
    """Where a path ended.

    Attributes:
        z, w: the point, complementary row by row [n].
        t: how much of the path was followed: 1 at Newton's point, 0 where the path leads nowhere.
        ended: ENDED, RAY, PIVOT_LIMIT, STOPPED or SINGULAR (no basis to start from).
        pivots: minor iterations.
    """

    z: Array
    w: Array
    t: float
    ended: int
    pivots: int


class LinearPath:
    """The path of one linearisation.

    Args:
        M, q: the linearisation F(z_k) + J(z_k) (z - z_k) as M z + q; M dense.
        z, w: the point it starts from, complementary.
        stop: flag that ends the pivoting.
    """

    def __init__(self, M: Array, q: Array, lower: Array, upper: Array, z: Array, w: Array, stop: Any) -> None:
        self.M, self.q, self.lower, self.upper, self.z, self.w, self.stop = M, q, lower, upper, z, w, stop
        self.r = M @ z + q - w
        self._work = new_workspace(q.size)

    def to(self, t: float, limit: int) -> PathEnd:
        """Follow the path from 0 to t (0 < t <= 1), or as far as it goes.

        Where the dictionary has drifted (its point is not on the path), the path is followed again with fewer
        pivots and goes on from there with a fresh dictionary.
        """
        at = PathEnd(self.z, self.w, 0.0, PIVOT_LIMIT, 0)
        pivots, leg = 0, limit
        while pivots < limit and at.ended == PIVOT_LIMIT:
            end = self._leg(at, t, min(leg, limit - pivots))
            pivots += end.pivots
            if drifted(self.M, self.q, self.r, end):
                if end.pivots < SHORTEST_LEG:
                    return replace(at, ended=RAY, pivots=pivots)
                leg = end.pivots // 2
            elif end.t <= at.t:
                return replace(at, ended=end.ended, pivots=pivots)
            else:
                at = end
        return replace(at, pivots=pivots)

    def _leg(self, at: PathEnd, t: float, limit: int) -> PathEnd:
        """Follow the path from a point on it towards t, for at most `limit` pivots."""
        tau_start, tau_goal = 1.0 - at.t, 1.0 - t
        q = self.q - tau_goal * self.r
        codes, z = basis_of(at.z, at.w, self.lower, self.upper), np.empty(q.size)
        ended, pivots, share = follow_from(
            self.M, q, self.lower, self.upper, at.z, at.w, limit,
            codes, z, *self._work, self.stop,
        )  # fmt: skip
        if ended == SINGULAR or not share < 1.0 or not np.isfinite(z).all():
            return PathEnd(at.z, at.w, at.t, ended, pivots)
        tau = tau_goal + (tau_start - tau_goal) * max(share, 0.0)
        w = self.M @ z + self.q - tau * self.r
        w = np.where(self.lower == self.upper, w, complementary(codes, w))
        z = on_basis(codes, np.minimum(np.maximum(z, self.lower), self.upper), self.lower, self.upper)
        return PathEnd(z, w, 1.0 - tau, ended, pivots)


def drifted(M: Any, q: Array, r: Array, end: PathEnd) -> bool:
    """Return whether a point is not on the path that it should end, by more than rounding."""
    Mz = M @ end.z
    error = Mz + q - (1.0 - end.t) * r - end.w
    rounding = ROUNDING * (largest(Mz) + largest(q))
    return largest(error) > max(DRIFT * largest(r), rounding)


def largest(x: Array) -> float:
    """Return max |x_i|, 0 for an empty vector."""
    return float(np.abs(x).max(initial=0.0))


def basis_of(z: Array, w: Array, lower: Array, upper: Array) -> Codes:
    """Return the codes of a complementary point; where z and w both rest, the row is nonbasic."""
    codes = np.full(z.size, BASIC, np.int8)
    codes[(z >= upper) & (w <= 0.0)] = AT_UPPER
    codes[(z <= lower) & (w >= 0.0)] = AT_LOWER
    return codes


def complementary(codes: Codes, w: Array) -> Array:
    """Return w with the signs of its basis: >= 0 at l, <= 0 at u, 0 in between."""
    return np.where(
        codes == AT_LOWER, np.maximum(w, 0.0), np.where(codes == AT_UPPER, np.minimum(w, 0.0), 0.0)
    )


def on_basis(codes: Codes, z: Array, lower: Array, upper: Array) -> Array:
    """Return z with nonbasic rows exactly on their bounds."""
    return np.where(codes == AT_LOWER, lower, np.where(codes == AT_UPPER, upper, z))
