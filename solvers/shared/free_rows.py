"""Eliminate the equations of a mixed LCP: a smaller problem, and the way back.

With c the complementarity rows and f the free ones, z_f = -M_ff^-1 (q_f + M_fc z_c) leaves
    M_r = M_cc - M_cf M_ff^-1 M_fc,    q_r = q_c - M_cf M_ff^-1 q_f,    bounds of c.
Formulations that keep velocities among their unknowns have many sparse free rows; one sparse LU then saves
most of the dense work of a pivoting method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcpframe.problem.problems import MixedLCP
from mcpframe.solvers.shared.linear import factorise
from mcpframe.solving.solution import BASIC

Array = NDArray[np.float64]

REGULAR = 1e-13
"""Condition estimate of M_ff below which it is not eliminated."""


@dataclass(frozen=True, slots=True, eq=False)
class Elimination:
    """A problem without its free rows.

    Attributes:
        problem: the reduced problem (M_r, q_r).
        kept, free: rows of the original problem [n_c], [n_f].
        constant, map: z_f = constant + map z_c.
    """

    problem: MixedLCP
    kept: NDArray[np.intp]
    free: NDArray[np.intp]
    constant: Array
    map: Array

    def point(self, z_c: Array) -> Array:
        """Return z of the original problem."""
        z = np.empty(self.kept.size + self.free.size)
        z[self.kept], z[self.free] = z_c, self.constant + self.map @ z_c
        return z

    def direction(self, ray_c: Array) -> Array:
        """Return a direction of z of the original problem."""
        ray = np.empty(self.kept.size + self.free.size)
        ray[self.kept], ray[self.free] = ray_c, self.map @ ray_c
        return ray

    def codes(self, codes_c: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the basis of the original problem."""
        codes = np.full(self.kept.size + self.free.size, BASIC, np.int8)
        codes[self.kept] = codes_c
        return codes


def eliminate_free_rows(problem: MixedLCP) -> Elimination | None:
    """Return the problem without its free rows, or None where M_ff is singular."""
    kept, free = np.flatnonzero(~problem.free), np.flatnonzero(problem.free)
    rows_f = problem.M[free]
    factor = factorise(rows_f[:, free])
    if factor.rcond < REGULAR:
        return None
    M_fc = rows_f[:, kept]
    X = _solve_columns(factor.solve, M_fc if isinstance(M_fc, np.ndarray) else M_fc.toarray())
    y = factor.solve(problem.q[free])
    rows_c = problem.M[kept]
    M_cc, M_cf = rows_c[:, kept], rows_c[:, free]
    M_r = (M_cc if isinstance(M_cc, np.ndarray) else M_cc.toarray()) - M_cf @ X
    q_r = problem.q[kept] - M_cf @ y
    if not (np.isfinite(M_r).all() and np.isfinite(q_r).all()):
        return None
    reduced = MixedLCP(M_r, q_r, problem.lower[kept], problem.upper[kept])
    return Elimination(reduced, kept, free, -y, -X)


def _solve_columns(solve: Callable[[Array], Array], B: Array) -> Array:
    X = np.empty(B.shape)
    for j in range(B.shape[1]):
        X[:, j] = solve(B[:, j])
    return X
