"""Is A a P-matrix? The cheapest test that decides, and by how much.

A is P iff all its principal minors are positive; then A x + b ⟂ x >= 0 has one solution for every b. In the
order of their cost:

    a_ii > 0                                                needed
    A + A* positive definite: Cholesky                      enough
    H-matrix: the comparison matrix |a_ii|, -|a_ij| has     enough
        positive pivots
    |(A + I)^-1 (A - I)|, A of unit diagonal, has a         enough [Rump 2003]
        spectral radius below one: I - it has positive pivots
    a_11 > 0, A without row and column 1 is P, and so is    decides, 7 2^n operations
        A_22 - a_21 a_12 / a_11                             [Tsatsomeros and Li 2000]

The margin is the least principal minor, each over the product of its diagonal entries: one for a diagonal A,
whatever the units; zero or less where A is not P.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from mcpframe.arrays import Array
from mcpframe.jit import Matrix, VectorOut, callee, kernel

EXACT_LIMIT = 16
"""Most rows for the exact test and the margin: 2^n minors."""
CHEAP_LIMIT = 8
"""Most rows whose minors take no longer than the tests before them."""
ROUNDING = 1e-13
"""Pivot of a matrix of unit diagonal that counts as none."""
UNDECIDED, DIAGONAL, CHOLESKY, H_MATRIX, RUMP, MINORS = range(6)
TESTS = ("undecided", "diagonal", "Cholesky of A + A*", "H-matrix", "Rump's bound", "all principal minors")
"""What has decided."""


@callee
def has_positive_pivots(work, at, n):
    """Return whether elimination of the matrix at `at`, which is used up, has such pivots in their order."""
    for k in range(n):
        pivot = work[at + k * n + k]
        if not pivot > ROUNDING:
            return False
        for i in range(k + 1, n):
            factor = work[at + i * n + k] / pivot
            if factor != 0.0:
                for j in range(k + 1, n):
                    work[at + i * n + j] -= factor * work[at + k * n + j]
    return True


@callee
def scaled_to_unit_diagonal(A, work, n):
    """Write A with its rows and columns over sqrt |a_ii|; return whether its diagonal is positive."""
    positive = True
    for i in range(n):
        positive = positive and A[i, i] > 0.0
        for j in range(n):
            size = math.sqrt(abs(A[i, i])) * math.sqrt(abs(A[j, j]))
            work[i * n + j] = A[i, j] / size if size > 0.0 else 0.0
    return positive


@callee
def is_definite(work, n):
    """Return whether A + A* is positive definite."""
    at = n * n
    for i in range(n):
        for j in range(n):
            work[at + i * n + j] = 0.5 * (work[i * n + j] + work[j * n + i])
    return has_positive_pivots(work, at, n)


@callee
def is_h_matrix(work, n):
    """Return whether the comparison matrix of A has positive pivots."""
    at = n * n
    for i in range(n):
        for j in range(n):
            work[at + i * n + j] = 1.0 if i == j else -abs(work[i * n + j])
    return has_positive_pivots(work, at, n)


@callee
def within_rumps_bound(work, n):
    """Return whether |(A + I)^-1 (A - I)| has a spectral radius below one."""
    at, right = n * n, 2 * n * n
    for i in range(n):
        for j in range(n):
            own = 1.0 if i == j else 0.0
            work[at + i * n + j] = work[i * n + j] + own
            work[right + i * n + j] = work[i * n + j] - own
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(work[at + i * n + k]) > abs(work[at + best * n + k]):
                best = i
        if not abs(work[at + best * n + k]) > ROUNDING:
            return False
        for j in range(n):
            a, b = work[at + k * n + j], work[right + k * n + j]
            work[at + k * n + j], work[right + k * n + j] = (
                work[at + best * n + j],
                work[right + best * n + j],
            )
            work[at + best * n + j], work[right + best * n + j] = a, b
        for i in range(n):
            factor = work[at + i * n + k] / work[at + k * n + k]
            if i != k and factor != 0.0:
                for j in range(n):
                    work[at + i * n + j] -= factor * work[at + k * n + j]
                    work[right + i * n + j] -= factor * work[right + k * n + j]
    for i in range(n):
        for j in range(n):
            entry = abs(work[right + i * n + j] / work[at + i * n + i])
            work[right + i * n + j] = 1.0 - entry if i == j else -entry
    return has_positive_pivots(work, right, n)


@callee
def least_minor(work, n, enough):
    """Return the least principal minor of the matrix of unit diagonal, by depth-first recursion.

    Level k keeps a matrix of n - k rows; its two successors leave its first row and column out, or eliminate
    them, which multiplies the minor by the pivot. Ends early below `enough`.
    """
    least = 1.0
    stack = n * n  # level k at stack + k n²; then minors and stages of the levels
    minor, stage = stack + (n + 1) * n * n, stack + (n + 1) * n * n + n + 1
    for i in range(n * n):
        work[stack + i] = work[i]
    work[minor], work[stage] = 1.0, 0.0
    k = 0
    while k >= 0:
        m, at = n - k, stack + k * n * n
        turn = work[stage + k]
        if m == 0 or turn == 2.0:
            k -= 1
            continue
        work[stage + k] = turn + 1.0
        into, factor = at + n * n, 1.0
        if turn == 1.0:
            pivot = work[at]
            factor = pivot if abs(pivot) > ROUNDING else math.copysign(ROUNDING, pivot)
            least = min(least, work[minor + k] * pivot)
            if least < enough:
                return least
        for i in range(1, m):
            for j in range(1, m):
                entry = work[at + i * m + j]
                if turn == 1.0:
                    entry -= work[at + i * m] * work[at + j] / factor
                work[into + (i - 1) * (m - 1) + j - 1] = entry
        work[minor + k + 1], work[stage + k + 1] = work[minor + k] * factor, 0.0
        k += 1
    return least


@callee
def p_matrix_decision(A, work):
    """Return which test has decided, negative where A is not P; see `p_matrix_test`."""
    n = A.shape[0]
    if not scaled_to_unit_diagonal(A, work, n):
        return -DIAGONAL
    if is_definite(work, n):
        return CHOLESKY
    if is_h_matrix(work, n):
        return H_MATRIX
    if within_rumps_bound(work, n):
        return RUMP
    if n > EXACT_LIMIT:
        return UNDECIDED
    return MINORS if least_minor(work, n, ROUNDING) > ROUNDING else -MINORS


@callee
def least_margin(A, work, enough):
    """Return the margin of A, or, where it has many rows, a lower bound of it that is more than enough.

    Where S = (A + A*)/2, of unit diagonal, is definite, det S <= det S_αα <= det A_αα for all principal
    submatrices [Fischer; Ostrowski and Taussky 1951]. NaN for more than `EXACT_LIMIT` rows without such a
    bound.
    """
    n = A.shape[0]
    scaled_to_unit_diagonal(A, work, n)
    if n > CHEAP_LIMIT and is_definite(work, n):
        bound = 1.0
        for k in range(n):
            bound *= work[n * n + k * n + k]
        if bound > enough:
            return bound
    return least_minor(work, n, -math.inf) if n <= EXACT_LIMIT else math.nan


@kernel(Matrix, VectorOut)
def p_matrix_test(A, work):
    """Return which test has decided, negative where A is not P.

    Args:
        A: square.
        work: scratch of `work_size(n)`.
    """
    return p_matrix_decision(A, work)


@kernel(Matrix, VectorOut)
def p_matrix_margin(A, work):
    """Return the least principal minor over the product of its diagonal entries, of at most 16 rows."""
    return least_margin(A, work, math.inf)


def work_size(n: int) -> int:
    """Return the number of doubles that the kernels need."""
    return (n + 2) * n * n + 2 * (n + 1) + n * n


def margin_of(A: Array) -> float:
    """Return the margin of A; NaN for more than `EXACT_LIMIT` rows, one for none."""
    n = len(A)
    if n > EXACT_LIMIT:
        return math.nan
    return float(p_matrix_margin(np.ascontiguousarray(A), np.zeros(work_size(n))))


def decided(A: Array) -> int:
    """Return the number of the test that has decided, negative where A is not P."""
    return int(p_matrix_test(np.ascontiguousarray(A), np.zeros(work_size(len(A)))))
