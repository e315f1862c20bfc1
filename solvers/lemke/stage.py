"""Lemke's method for callers in compiled code: problems of changing size on the same workspace."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from mcpframe.jit import (
    CodesOut,
    IndicesOut,
    Matrix,
    Vector,
    VectorOut,
    address,
    kernel,
    matrix_window,
    window,
)
from mcpframe.solvers.lemke.attempts import N_WORK_ROWS, call_solve_dense, solve_dense
from mcpframe.solvers.shared.tableau import N_FLOAT_ROWS, N_INT_ROWS
from mcpframe.solvers.shared.workspace import LINE, aligned
from mcpframe.solving.stages import SolverStage

# Head of IW, before the dictionary's integers.
ADDRESS, MAX_PIVOTS, ATTEMPTS, STOP = range(4)
HEAD = 8


@kernel(
    Matrix, Vector, Vector, Vector, CodesOut, types.boolean, types.float64, VectorOut, VectorOut, IndicesOut
)
def solve_in_place(M, q, lower, upper, codes, warm, tol, z, W, IW):
    """Write z; return pivots. Arguments as in `mcpframe.solving.stages`."""
    n = q.shape[0]
    width = LINE * (n // LINE + 1)
    T = matrix_window(W, 0, n, width)
    V = matrix_window(W, n * width, N_FLOAT_ROWS, n + 1)
    R = matrix_window(W, n * width + N_FLOAT_ROWS * (n + 1), N_WORK_ROWS, n)
    ray = window(W, n * width + N_FLOAT_ROWS * (n + 1) + N_WORK_ROWS * n, n)
    K = matrix_window(IW, HEAD, N_INT_ROWS, 2 * n + 1)
    both, stop = matrix_window(codes, 0, 2, n), window(IW, STOP, 1)
    problem = M, q, lower, upper, both, warm, tol, IW[MAX_PIVOTS], IW[ATTEMPTS]
    _, _, pivots = call_solve_dense(IW[ADDRESS], (*problem, z, ray, T, V, K, R, stop))
    return pivots


def lemke_stage(max_pivots: int, attempts: int) -> SolverStage:
    """Return Lemke's method with these options for callers in compiled code."""

    def room(n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        W = aligned(1, n * LINE * (n // LINE + 1) + N_FLOAT_ROWS * (n + 1) + (N_WORK_ROWS + 1) * n)[0]
        IW = np.zeros(HEAD + N_INT_ROWS * (2 * n + 1), dtype=np.int64)
        IW[[ADDRESS, MAX_PIVOTS, ATTEMPTS]] = address(solve_dense), max_pivots, attempts
        return W, IW

    return SolverStage(address(solve_in_place), room)
