"""Conjugate gradients with algebraic multigrid, for large sparse matrices of diffusion: no factors, no fill.

What fits: A symmetric, positive diagonal, no positive entry beside it (finite differences and finite elements
of -div(a grad .), and these plus a diagonal >= 0, or without some of their rows). Smoothed aggregation
[Vanek, Mandel, Brezina 1996]: neighbours that are strongly coupled,

    |a_ij| > theta sqrt(a_ii a_jj),

are gathered into aggregates, and T has a column for each, with the values there of a vector x that A nearly
takes to zero: constant to begin with, then relaxed, so that it knows the units of the rows [Brezina et al.
2004]. P = (I - omega D^-1 A) T, A_c = P'A P, and so on down to a matrix that LU factorises at once. A
V-cycle, with a sweep of Gauss-Seidel forwards on the way down and one backwards on the way up, is
symmetric; it preconditions conjugate gradients. Rows without strong neighbours (a large diagonal: variables
that hardly move) are in no aggregate; the sweeps alone solve them.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
from numba import types
from numpy.typing import NDArray

from mcpframe.arrays import canonical
from mcpframe.jit import Indices, IndicesOut, Vector, VectorOut, kernel

Array = NDArray[np.float64]

LEAST_ROWS = 30_000
"""Below this order sparse LU is faster."""
COARSEST = 3_000
"""Order at which a coarse matrix is factorised."""
MOST_LEVELS = 12
STRENGTH, WEAKENING = 0.08, 0.5
"""theta on the finest level, and its factor from level to level; values of the authors."""
DAMPING = 4.0 / 3.0
"""omega times the largest eigenvalue of D^-1 A, at most the largest row sum of sizes of D^-1/2 A D^-1/2."""
HARDLY_SMALLER = 0.7
"""Share of the rows that an aggregation has to come below."""
SYMMETRIC = 1e-12
"""A defect of symmetry below this share of the largest entry is rounding."""
RELAXATIONS = 4
"""Sweeps that make the vector x."""
ACCURACY = 1e-8
"""Residual of a solve in the norm of the preconditioner, relative to the first."""
MOST_STEPS = 80
"""Steps of conjugate gradients after which a matrix is left to LU."""

NO_AGGREGATE, UNSEEN = -1, -2


@kernel(Vector, Indices, Indices, Vector, types.float64, IndicesOut)
def aggregate(data, indices, indptr, diagonal, theta, group):
    """Write the aggregate of every row, NO_AGGREGATE for rows without strong neighbours; return how many.

    First every row all of whose strong neighbours are unseen makes an aggregate with them; rows that are
    left then join that of a strong neighbour.
    """
    n = diagonal.shape[0]
    count = 0
    for i in range(n):
        group[i] = UNSEEN
    for i in range(n):
        strong, unseen = 0, True
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if j != i and data[k] * data[k] > theta * theta * diagonal[i] * diagonal[j]:
                strong += 1
                unseen = unseen and group[j] == UNSEEN
        if strong == 0:
            group[i] = NO_AGGREGATE
        elif unseen and group[i] == UNSEEN:
            group[i] = count
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if j != i and data[k] * data[k] > theta * theta * diagonal[i] * diagonal[j]:
                    group[j] = count
            count += 1
    for i in range(n):
        if group[i] == UNSEEN:
            best = 0.0
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if j != i and group[j] >= 0 and abs(data[k]) > best:
                    best, group[i] = abs(data[k]), group[j]
            if group[i] == UNSEEN:
                group[i] = NO_AGGREGATE
    return count


@kernel(Vector, Indices, Indices, Vector, Vector, types.boolean, VectorOut)
def sweep(data, indices, indptr, diagonal, b, forwards, x):
    """Go once through all rows of A x = b, forwards or backwards, solving each for its own unknown."""
    n = b.shape[0]
    for step in range(n):
        i = step if forwards else n - 1 - step
        total = b[i]
        for k in range(indptr[i], indptr[i + 1]):
            total -= data[k] * x[indices[k]]
        x[i] += total / diagonal[i]


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """One matrix of the hierarchy, with its diagonal and the way to the next: P, P' by rows, aggregates."""

    A: sp.csr_array
    diagonal: Array
    P: sp.csr_array
    restrict: sp.csr_array
    group: NDArray[np.int64]

    def smooth(self, b: Array, forwards: bool, x: Array) -> None:
        """Improve x by one sweep."""
        sweep(self.A.data, self.A.indices, self.A.indptr, self.diagonal, b, forwards, x)


class Multigrid:
    """A preconditioner for A: a symmetric V-cycle."""

    def __init__(self, A: sp.csr_array) -> None:
        self.levels: list[Level] = []
        x = np.ones(A.shape[0])
        while A.shape[0] > COARSEST and len(self.levels) < MOST_LEVELS:
            made = _level(A, x, STRENGTH * WEAKENING ** len(self.levels))
            if made is None:
                break
            level, x = made
            self.levels.append(level)
            A = _for_kernels(level.restrict @ (level.A @ level.P))
        self._last = A
        self._direct: Callable[[Array], Array] | None = None
        if A.shape[0] <= 4 * COARSEST:
            self._direct = scipy.sparse.linalg.splu(sp.csc_array(A)).solve

    def cycle(self, b: Array) -> Array:
        """Return an approximation of A^-1 b."""
        return self._down(0, b)

    def _down(self, k: int, b: Array) -> Array:
        if k == len(self.levels):
            return self._direct(b) if self._direct is not None else b / self._last.diagonal()
        level = self.levels[k]
        x = np.zeros(b.size)
        level.smooth(b, True, x)
        x += level.P @ self._down(k + 1, level.restrict @ (b - level.A @ x))
        level.smooth(b, False, x)
        return x


def _level(A: sp.csr_array, x: Array, theta: float) -> tuple[Level, Array] | None:
    """Return the level of A with the way to the next one, and x there; None where that is hardly smaller."""
    n, diagonal = A.shape[0], A.diagonal()
    if not (diagonal > 0.0).all():  # A was not definite; conjugate gradients will find out
        return None
    group = np.empty(n, dtype=np.int64)
    count = aggregate(A.data, A.indices, A.indptr, diagonal, theta, group)
    members = np.flatnonzero(group >= 0)
    if not 0 < count < HARDLY_SMALLER * n:
        return None
    for k in range(RELAXATIONS):
        sweep(A.data, A.indices, A.indptr, diagonal, np.zeros(n), k % 2 == 0, x)
    values, where = x[members], group[members]
    sizes = np.sqrt(np.bincount(where, weights=values**2, minlength=count))
    sizes[sizes == 0.0] = 1.0
    T = sp.csr_array((values / sizes[where], (members, where)), shape=(n, count))
    row_sums = np.bincount(_rows(A), weights=np.abs(A.data) / np.sqrt(diagonal)[A.indices], minlength=n)
    omega = DAMPING / float((row_sums / np.sqrt(diagonal)).max())
    P = T - sp.diags_array(omega / diagonal) @ (A @ T)
    kept = sp.diags_array((group >= 0).astype(np.float64))  # rows in no aggregate take nothing from below
    P = _for_kernels(kept @ P)
    return Level(A, diagonal, P, _for_kernels(P.T), group), sizes


def next_grid(A: sp.csr_array) -> tuple[sp.csr_array, NDArray[np.int64]] | None:
    """Return P, which takes ones to nearly ones, and the aggregate of every row (negative: none)."""
    made = _level(_for_kernels(A), np.ones(A.shape[0]), STRENGTH)
    return None if made is None else (made[0].P @ sp.diags_array(made[1]), made[0].group)


def multigrid_solve(A: Any) -> Callable[[Array], Array | None] | None:
    """Return b -> A^-1 b by preconditioned conjugate gradients, None where A does not fit.

    A solve that does not converge returns None: A was not definite, or too hard for it.
    """
    if not fits(A):
        return None
    A = _for_kernels(A)
    return _Solve(A, Multigrid(A))


def fits(A: Any) -> bool:
    """Return whether A is large, sparse, symmetric, with positive diagonal and nothing positive beside it."""
    n = A.shape[0]
    if not sp.issparse(A) or n < LEAST_ROWS or not np.isfinite(A.data).all():
        return False
    A = sp.csr_array(A)
    diagonal = A.diagonal()
    if not (diagonal > 0.0).all() or np.count_nonzero(A.data > 0.0) > n:
        return False
    return bool(abs(A - A.T).max() <= SYMMETRIC * diagonal.max())


@dataclass(frozen=True, slots=True, eq=False)
class _Solve:
    A: sp.csr_array
    preconditioner: Multigrid

    def __call__(self, b: Array) -> Array | None:
        """Return x of A x = b by conjugate gradients [Hestenes, Stiefel 1952]."""
        x, r = np.zeros(b.size), b.copy()
        y = self.preconditioner.cycle(r)
        p, size = y, float(r @ y)
        goal = ACCURACY**2 * size
        for _ in range(MOST_STEPS):
            if size <= goal:
                return x
            A_p = self.A @ p
            curvature = float(p @ A_p)
            if not curvature > 0.0:
                return None
            alpha = size / curvature
            x += alpha * p
            r -= alpha * A_p
            y = self.preconditioner.cycle(r)
            last, size = size, float(r @ y)
            p = y + (size / last) * p
        return None


def _rows(A: sp.csr_array) -> NDArray[np.int64]:
    """Return the row of every stored entry."""
    return np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))


def _for_kernels(A: Any) -> sp.csr_array:
    """Return A in compressed rows with indices of 64 bits."""
    A = canonical(A, sp.csr_array)
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A
