"""Kernels of `enum`: screen every complementary basis of a tiny mixed LCP in scaled units.

Basis number k has one digit per row, the first row's being the most significant; a digit picks one of the
row's codes. For each basis the system M_BB x_B = -(q_B + M_BN x_N) is eliminated with complete pivoting, its
rows and columns divided by their largest entries, and the basis is put into one of three heaps:

    EMPTY     no solution by a wide margin: x or w have wrong signs, or the system contradicts itself,
    POINT     regular, and its one point passes (to be confirmed in higher precision),
    FACE      singular and consistent, or too close to it to tell: a linear program decides.
"""

from __future__ import annotations

from typing import Any

from numba import types

from mcpframe.jit import CodesOut, Indices, IndicesOut, Matrix, MatrixOut, Vector, VectorOut, inline, kernel
from mcpframe.solvers.shared.dense import largest_size
from mcpframe.solving.solution import AT_LOWER, AT_UPPER, BASIC

EMPTY, POINT, FACE = 0, 1, 2

ZERO_PIVOT = 1e-13
"""Pivots below this share of the largest one are rounding errors of zero."""
SMALL_PIVOT = 1e-8
"""Pivots below this share leave the point too inaccurate for the screen."""
SCREEN = 1e-6
"""Relative size of a wrong sign or contradiction that rounding cannot explain (pivots >= SMALL_PIVOT)."""


@inline
def decode(k: Any, table: Any, count: Any, codes: Any) -> Any:
    """Write the codes of basis k; row i has count[i] codes, table[3 i], table[3 i + 1], ..."""
    for i in range(count.shape[0] - 1, -1, -1):
        codes[i] = table[3 * i + k % count[i]]
        k //= count[i]


@inline
def load(S: Any, s: Any, lower: Any, upper: Any, codes: Any, x: Any, B: Any, A: Any) -> Any:
    """Write x_N, the list B, and [S_BB | b = -(s_B + S_BN x_N) | sizes of b's terms] into A; return |B|."""
    n, m = s.shape[0], 0
    for i in range(n):
        x[i] = 0.0
        if codes[i] == BASIC:
            B[m] = i
            m += 1
        else:
            x[i] = lower[i] if codes[i] == AT_LOWER else upper[i]
    for r in range(m):
        i = B[r]
        for c in range(m):
            A[r, c] = S[i, B[c]]
        A[r, m], A[r, m + 1] = -s[i], abs(s[i])
        for j in range(n):
            A[r, m] -= S[i, j] * x[j]
            A[r, m + 1] += abs(S[i, j] * x[j])
    return m


@inline
def rescale(A: Any, m: Any, column: Any) -> Any:
    """Divide rows, then columns of the m x m block by their largest entries; zero rows and columns stay."""
    for r in range(m):
        largest = 0.0
        for c in range(m):
            largest = max(largest, abs(A[r, c]))
        if largest > 0.0:
            for c in range(m + 2):
                A[r, c] /= largest
    for c in range(m):
        largest = 0.0
        for r in range(m):
            largest = max(largest, abs(A[r, c]))
        column[c] = largest if largest > 0.0 else 1.0
        for r in range(m):
            A[r, c] /= column[c]


@inline
def swap(A: Any, m: Any, r: Any, p: Any, c: Any, order: Any) -> Any:
    """Bring entry (p, c) to (r, r)."""
    if p != r:
        for j in range(m + 1):
            A[r, j], A[p, j] = A[p, j], A[r, j]
    if c != r:
        order[r], order[c] = order[c], order[r]
        for i in range(m):
            A[i, r], A[i, c] = A[i, c], A[i, r]


@inline
def eliminate(A: Any, m: Any, order: Any) -> Any:
    """Reduce [A | b] to triangular form with complete pivoting; return (rank, smallest pivot used)."""
    smallest = 1.0
    for r in range(m):
        order[r] = r
    for r in range(m):
        p, c = r, r
        for i in range(r, m):
            for j in range(r, m):
                if abs(A[i, j]) > abs(A[p, c]):
                    p, c = i, j
        if abs(A[p, c]) <= m * ZERO_PIVOT:
            return r, smallest
        smallest = min(smallest, abs(A[p, c]))
        swap(A, m, r, p, c, order)
        for i in range(r + 1, m):
            factor = A[i, r] / A[r, r]
            for j in range(r + 1, m + 1):
                A[i, j] -= factor * A[r, j]
    return m, smallest


@inline
def contradicts(A: Any, m: Any, rank: Any, size: Any) -> Any:
    """Return whether a row without pivots has a right-hand side that is clearly not zero."""
    worst = 0.0
    for i in range(rank, m):
        worst = max(worst, abs(A[i, m]))
    return worst > SCREEN * size


@inline
def substitute(A: Any, m: Any, order: Any, column: Any, B: Any, x: Any) -> Any:
    """Write x_B from the triangular system."""
    for r in range(m - 1, -1, -1):
        total = A[r, m]
        for c in range(r + 1, m):
            total -= A[r, c] * A[c, m]
        A[r, m] = total / A[r, r]
    for r in range(m):
        x[B[order[r]]] = A[r, m] / column[order[r]]


@inline
def passes(S: Any, s: Any, lower: Any, upper: Any, codes: Any, x: Any) -> Any:
    """Return whether no bound and no sign of w is clearly violated."""
    n = s.shape[0]
    largest = largest_size(x, n)
    for i in range(n):
        if codes[i] == BASIC:
            if x[i] < lower[i] - SCREEN * largest or x[i] > upper[i] + SCREEN * largest:
                return False
        elif lower[i] < upper[i]:
            w, size = s[i], abs(s[i])
            for j in range(n):
                w += S[i, j] * x[j]
                size += abs(S[i, j]) * largest
            if (codes[i] == AT_LOWER and w < -SCREEN * size) or (codes[i] == AT_UPPER and w > SCREEN * size):
                return False
    return True


@inline
def screen(
    S: Any, s: Any, lower: Any, upper: Any, codes: Any, x: Any, B: Any, A: Any, order: Any, column: Any
) -> Any:
    """Return the heap of one basis."""
    m = load(S, s, lower, upper, codes, x, B, A)
    rescale(A, m, column)
    size = 0.0
    for r in range(m):
        size = max(size, A[r, m + 1])
    rank, smallest = eliminate(A, m, order)
    if smallest < SMALL_PIVOT:
        return FACE
    if rank < m:
        return EMPTY if contradicts(A, m, rank, size) else FACE
    substitute(A, m, order, column, B, x)
    return POINT if passes(S, s, lower, upper, codes, x) else EMPTY


@kernel(
    Matrix, Vector, Vector, Vector, Indices, Indices, types.int64, types.int64,
    VectorOut, IndicesOut, MatrixOut, IndicesOut, VectorOut, CodesOut, IndicesOut, CodesOut,
)  # fmt: skip
def screen_bases(S, s, lower, upper, table, count, start, stop, x, B, A, order, column, codes, found, heap):  # type: ignore[no-untyped-def]
    """Screen bases start..stop-1; write the numbers and heaps of those that are not EMPTY, return how many.

    Args:
        S, s, lower, upper: scaled problem.
        table, count: codes that each row may have, see `decode`.
        x [n], B [n], A [n, n + 2], order [n], column [n], codes [n]: workspaces.
        found, heap: results [>= stop - start].
    """
    kept = 0
    for k in range(start, stop):
        decode(k, table, count, codes)
        kind = screen(S, s, lower, upper, codes, x, B, A, order, column)
        if kind != EMPTY:
            found[kept] = k
            heap[kept] = kind
            kept += 1
    return kept
