"""The arrays that the dense method works on: made in one place, owned by the caller, reused."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.jit.lapack import ONE, TRANSPOSED, lapack_addresses
from mcpframe.problem.cone import cones_of
from mcpframe.solvers.cone import memory as at

Arrays = tuple[NDArray[np.float64], NDArray[np.int64]]
ENTRIES = 3
"""Entries of C for each row at most: a row of a disc that slides is in two columns."""


def new_workspace(n: int, n_discs: int) -> Arrays:
    """Return X and I for problems of up to so many rows and discs."""
    I, X = at.MEMORY.arrays(row=n, disc=n_discs, entry=ENTRIES * n)
    I[at.FACTOR_AT], I[at.SOLVE_AT] = lapack_addresses()
    work = at.MEMORY.part(I, X, at.LAPACK)
    work[ONE], work[TRANSPOSED] = 1, ord("T")
    return X, I


def thread_workspace(n: int, n_discs: int) -> Arrays:
    """Return this thread's arrays: those of its last call, when that was for the same size."""
    if _last.size != (n, n_discs):
        _last.size, _last.arrays = (n, n_discs), new_workspace(n, n_discs)
    return _last.arrays


def cone_bounds(mu: NDArray[np.float64], dim: int) -> tuple[NDArray[Any], ...]:
    """Return lower, upper and discs (table, sizes) of cones alone, as kernels take them."""
    lower, discs = np.full(dim * len(mu), -np.inf), cones_of(mu, dim)
    lower[::dim] = 0.0
    return lower, np.full(len(lower), np.inf), discs.table.ravel(), discs.sizes.ravel()


class _Last(threading.local):
    size: tuple[int, int] = (-1, -1)
    arrays: Arrays


_last = _Last()
