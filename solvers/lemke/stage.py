"""Lemke's method for callers in compiled code: problems of changing size on the same workspace."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mcpframe.jit import (
    address,
    kernel,
    matrix_window,
    window,
)
from mcpframe.jit.memory import LINE, Memory
from mcpframe.solvers.lemke.attempts import N_WORK_ROWS, call_solve_dense, solve_dense
from mcpframe.solvers.shared.tableau import N_FLOAT_ROWS, N_INT_ROWS
from mcpframe.solving.stages import SOLVE, SolverStage

MEMORY = Memory()
ADDRESS, MAX_PIVOTS, ATTEMPTS, STOP = MEMORY.counts(4)
T_AT, V_AT = MEMORY.doubles("row", "width"), MEMORY.doubles(N_FLOAT_ROWS, "row + 1")
R_AT, RAY_AT = MEMORY.doubles(N_WORK_ROWS, "row"), MEMORY.doubles("row")
K_AT = MEMORY.integers(N_INT_ROWS, "variable")
"""The arrays of `mcpframe.solvers.shared.workspace`, for the largest problem; others use less of each."""


@kernel(*SOLVE)
def solve_in_place(M, q, lower, upper, codes, warm, tol, z, W, IW):
    """Write z; return pivots. Arguments as in `mcpframe.solving.stages`."""
    n = q.shape[0]
    T = matrix_window(W, IW[T_AT], n, LINE * (n // LINE + 1))
    V = matrix_window(W, IW[V_AT], N_FLOAT_ROWS, n + 1)
    R, ray = matrix_window(W, IW[R_AT], N_WORK_ROWS, n), window(W, IW[RAY_AT], n)
    K = matrix_window(IW, IW[K_AT], N_INT_ROWS, 2 * n + 1)
    both, stop = matrix_window(codes, 0, 2, n), window(IW, STOP, 1)
    problem = M, q, lower, upper, both, warm, tol, IW[MAX_PIVOTS], IW[ATTEMPTS]
    _, _, pivots = call_solve_dense(IW[ADDRESS], (*problem, z, ray, T, V, K, R, stop))
    return pivots


def lemke_stage(max_pivots: int, attempts: int) -> SolverStage:
    """Return Lemke's method with these options for callers in compiled code."""

    def room(n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        IW, W = MEMORY.arrays(row=n, width=LINE * (n // LINE + 1), variable=2 * n + 1)
        IW[[ADDRESS, MAX_PIVOTS, ATTEMPTS]] = address(solve_dense), max_pivots, attempts
        return W, IW

    return SolverStage(address(solve_in_place), room)
