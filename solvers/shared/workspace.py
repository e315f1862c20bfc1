"""The arrays that pivoting works on: made in one place, owned by the caller, reused."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcpframe.jit.memory import LINE, aligned_zeros
from mcpframe.solvers.lemke.attempts import N_WORK_ROWS
from mcpframe.solvers.shared.tableau import N_FLOAT_ROWS, N_INT_ROWS

Array = NDArray[np.float64]


class Workspace(NamedTuple):
    """What `solve_dense` and its relatives write to; the layout is that of `shared.tableau`."""

    T: Array
    V: Array
    K: NDArray[np.int64]
    R: Array


def new_workspace(n: int) -> Workspace:
    """Return arrays for problems with n rows; the rows of T start on cache lines."""
    width = LINE * (n // LINE + 1)
    return Workspace(
        aligned_zeros(n * width).reshape(n, width),
        np.empty((N_FLOAT_ROWS, n + 1)),
        np.empty((N_INT_ROWS, 2 * n + 1), np.int64),
        np.empty((N_WORK_ROWS, n)),
    )


def thread_workspace(n: int) -> Workspace:
    """Return this thread's arrays for n rows: those of its last call, when that was for the same n."""
    if _last.n != n:
        _last.n, _last.workspace = n, new_workspace(n)
    return _last.workspace


class _Last(threading.local):
    n: int = -1
    workspace: Workspace


_last = _Last()
