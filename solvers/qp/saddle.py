"""Saddle-point mixed LCPs as quadratic programs, in which part of the unknowns are multipliers.

Where rows and columns can be parted into x and y with

    M = [[S, -B'], [B, 0]],   S symmetric PSD,

the mixed LCP is the optimality condition of  min x'Sx/2 + q_x'x  over  l_x <= x <= u_x,  B x + q_y >= 0,
and y are the multipliers of the last rows (equations where y is free). The relaxed contact problems of all
formulations are of this form; a symmetric M is the case without y.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from mcpframe.solvers.qp.programs import (
    Backend,
    Bounds,
    Entries,
    Minimum,
    Program,
    Quadratic,
    least,
    program_of,
    selection,
)

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

ROUNDING = 1e-12
"""Relative difference of |M_ij| and |M_ji| that is rounding."""


def multiplier_rows(M: sp.csr_array, lower: Array, upper: Array) -> Mask | None:
    """Return which rows are y; None where M has no such form, or y would have upper bounds."""
    parted = _two_colouring(M)
    if parted is None:
        return None
    group, colour = parted
    entries = sp.coo_array(M)
    meeting = entries.row[colour[entries.row] == colour[entries.col]]
    bounded = np.isfinite(upper)
    present, taken = np.zeros((2, 2, group.max(initial=0) + 1), dtype=bool)
    present[colour, group] = True
    taken[colour[meeting], group[meeting]] = True
    taken[colour[bounded], group[bounded]] = True
    two_coloured = present.all(axis=0)
    if (two_coloured & taken.all(axis=0)).any():
        return None
    of_y = np.where(taken[1], 0, 1)
    return np.asarray(two_coloured[group] & (colour == of_y[group]))


def _two_colouring(M: sp.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return connected group and colour (0, 1) of every row, or None where there is no colouring.

    M_ij = M_ji asks for equal colours, M_ij = -M_ji for different ones. In a graph with every row twice, once
    per colour, a group is two components, and a contradiction is one that holds a row in both colours.
    """
    n = M.shape[0]
    pairs = sp.coo_array(abs(M) + abs(M).T)
    off = pairs.row != pairs.col
    i, j, size = pairs.row[off], pairs.col[off], pairs.data[off]
    there, back = (np.asarray(M[a, b]).ravel() for a, b in ((i, j), (j, i)))
    equal, opposite = np.abs(there - back) <= ROUNDING * size, np.abs(there + back) <= ROUNDING * size
    if not (equal | opposite).all():
        return None
    turned = np.where(equal, 0, n)
    rows, columns = np.concatenate([i, i + n]), np.concatenate([j + turned, (j + n + turned) % (2 * n)])
    graph = sp.coo_array((np.ones(rows.size), (rows, columns)), shape=(2 * n, 2 * n))
    component = connected_components(graph, directed=False)[1]
    first, second = component[:n], component[n:]
    if (first == second).any():
        return None
    _, group = np.unique(np.minimum(first, second), return_inverse=True)
    return group.astype(np.int64), (first > second).astype(np.int64)


class SaddleProgram:
    """min x'Sx/2 + q_x'x over l <= x <= u, B x + q_y >= 0 (or = 0); solves the mixed LCP (M, q).

    Args:
        M: monotone matrix [n, n].
        lower, upper: bounds [n].
        y: rows of the multipliers [n], see `multiplier_rows`.
    """

    def __init__(self, M: sp.csr_array, lower: Array, upper: Array, y: Mask) -> None:
        self._x, self._y = np.flatnonzero(~y), np.flatnonzero(y)
        self._free = np.isneginf(lower[self._y])
        self._shift = np.where(self._free, 0.0, lower[self._y])
        S, B = M[self._x][:, self._x], M[self._y][:, self._x]
        self._quadratic, self._B = Quadratic(0.5 * (S + S.T)), Entries(B)
        self._bounds = Bounds(lower[self._x], upper[self._x])
        self._program = program_of(self._key(), self._build)

    def _key(self) -> Any:
        if self._quadratic.key is None or not self._B.parametric:
            return None
        return "saddle", self._quadratic.key, self._B.key, self._bounds.key, self._free.tobytes()

    def _build(self) -> Program:
        n_x, n_y = self._x.size, self._y.size
        x, parameters = cp.Variable(n_x), {"q_x": cp.Parameter(n_x)}
        quadratic, linear = self._quadratic.expression(x, parameters), parameters["q_x"] @ x
        constraints = self._bounds.constraints(x, parameters)
        multipliers = []
        if n_y:
            parameters["q_y"] = cp.Parameter(n_y)
            rows = self._B.expression(parameters, "B") @ x + parameters["q_y"]
            bounded, free = (np.flatnonzero(mask) for mask in (~self._free, self._free))
            # Sizes of zero are no trouble for numpy, but cvxpy has no empty constraints.
            multipliers += [selection(bounded, n_y) @ rows >= 0] if bounded.size else []
            multipliers += [selection(free, n_y) @ rows == 0] if free.size else []
        problem = least(quadratic, linear, constraints + multipliers, n_x)
        return Program(problem, x, parameters, multipliers)

    def solve(self, q: Array, backend: Backend) -> Minimum:
        """Return the solution z = (x, y) for a vector q [n]."""
        q_x = q[self._x] - self._B.matrix.T @ self._shift
        values = self._quadratic.values | self._bounds.values
        values |= {"q_x": q_x, "q_y": q[self._y], "B": self._B.matrix.data}
        minimum = self._program.solve(values, backend)
        if minimum.x is None:
            return minimum
        z = np.empty(q.size)
        z[self._x], y, duals = minimum.x, self._shift.copy(), list(minimum.duals)
        if not self._free.all():
            y[~self._free] += duals.pop(0)
        if self._free.any():
            y[self._free] -= duals.pop(0)  # cvxpy adds the multipliers of equations, ours are subtracted
        z[self._y] = y
        return Minimum(z, minimum.status, minimum.iterations)
