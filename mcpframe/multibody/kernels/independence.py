"""Which rows of closures are independent: the one rule, for compiled steps and for formulations in Python.

Rows repeat others where Λ_b = G_b Mass⁻¹ G_b* is singular. Rows that turn are weighed by the mechanism's
length, and all rows of a closure by the compliance of its softest one, so that units and masses do not
matter; a row that vanishes, as those of a pin in the plane, stays small beside the others. The pivots of the
Cholesky factor are then the squares of what each row adds to those chosen before it. Rows of an
overconstrained linkage repeat others only where its loops are closed; where they are open by an error, as
inside a step, they differ by about as much, and that is no reason to count them.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from numba import types

from mcpframe.jit import Indices, IndicesOut, Vector, VectorOut, callee, inline, kernel
from mcpframe.spatial.lanes import get, load, put, store

RANK = 1e-12
"""Pivots of the scaled Λ_b below which a row repeats others: its singular value is the root."""
OPEN = 30.0
"""Share of a row that may be new for each metre or radian by which loops are open: curvature of the closures
over the smallest singular value of those that count, with room to spare."""
SURE = 1e-4
"""Pivots, in whichever order, above which no row repeats others."""
FAINT = 1e-12
"""Share of the softest closure's compliance below which that of another is rounding."""


@callee
def scale_rows(n, X, L, scale, W, weights, I, firsts):
    """Scale a symmetric matrix, by rows from L: of every closure the largest diagonal becomes one.

    Args:
        n, X, L: its size and where it begins.
        scale: where in X the scales are written to [n].
        W, weights: weight of every row, by its unit [n].
        I, firsts: of every row, the first of its closure [n].
    """
    softest = 0.0
    for i in range(n):
        put(X, scale + i, 0.0)
        first = scale + get(I, firsts + i)
        compliance = get(W, weights + i) ** 2 * get(X, L + i * n + i)
        put(X, first, max(get(X, first), compliance))
        softest = max(softest, compliance)
    for i in range(n - 1, -1, -1):  # the first of a closure, which holds its compliance, at last
        compliance = max(get(X, scale + get(I, firsts + i)), FAINT * softest)
        put(X, scale + i, get(W, weights + i) / math.sqrt(compliance) if compliance > 0.0 else 0.0)
    for f in range(n):
        row, own = L + f * n, get(X, scale + f)
        whole = (f + 1) // 4 * 4
        for g in range(0, whole, 4):
            store(X, row + g, own * (load(X, scale + g) * load(X, row + g)))
        for g in range(whole, f + 1):
            put(X, row + g, own * (get(X, scale + g) * get(X, row + g)))
    mirror(n, X, L, True)


@inline
def mirror(n, X, L, up):
    """Copy what is below the diagonal to above it, or the other way round."""
    for f in range(n):
        for g in range(f):
            low, high = L + f * n + g, L + g * n + f
            put(X, high if up else low, get(X, low if up else high))


@callee
def factor_all(n, X, L, I, order, kept):
    """Write the Cholesky factor of the scaled Λ_b over it as it stands, where that shows all rows independent.

    As `factor_independent`, without looking for pivots. Where one is below SURE the matrix is left as it was:
    False. There is room for n numbers at X[kept].
    """
    for k in range(n):
        put(X, kept + k, get(X, L + k * n + k))
    for k in range(n):
        row = L + k * n
        pivot = get(X, row + k)
        if not pivot > SURE:
            for i in range(n):
                put(X, L + i * n + i, get(X, kept + i))
            mirror(n, X, L, True)
            return False
        share = 1.0 / math.sqrt(pivot)
        put(X, row + k, share)
        put(I, order + k, k)
        put(I, order + n + k, k)
        for i in range(k + 1, n):
            put(X, row + i, share * get(X, row + i))
        for i in range(k + 1, n):
            take_off(X, L + i * n, i, n, get(X, row + i), X, row)
    mirror(n, X, L, False)
    return True


@callee
def factor_independent(n, X, L, I, order, certain, error, again):
    """Write the pivoted Cholesky factor of the scaled Λ_b over it; return how many rows are independent.

    Below the diagonal and, transposed, above it; on it one over each root.

    Args:
        n: rows of the matrix.
        X, L: where it begins.
        I, order: where the order of the pivots is written to, and behind it the exchanges that lead there.
        certain: rows that are independent wherever loops are closed.
        error: by how much loops are open, metres or radians; more rows than the certain ones count only where
            that does not explain them.
        again: rows to choose as in the last call, 0 to choose anew: the choice stays while a step looks at
            states nearby, so that what it finds there changes smoothly.
    """
    for i in range(n):
        put(I, order + i, i)
    explained = max(RANK, (OPEN * error) ** 2)
    for k in range(again if again > 0 else n):
        best, least = get(I, order + n + k), RANK
        if again == 0:
            best, least = largest_pivot(n, X, L, k), RANK if k < certain else explained
        if get(X, L + best * n + best) <= least:
            return k
        put(I, order + n + k, best)
        if best != k:
            exchange_rows(n, X, L, I, order, k, best)
        over_root = 1.0 / math.sqrt(get(X, L + k * n + k))
        put(X, L + k * n + k, over_root)
        for i in range(k + 1, n):
            share = get(X, L + i * n + k) * over_root
            put(X, L + i * n + k, share)
            put(X, L + k * n + i, share)
        for i in range(k + 1, n):
            take_off(X, L + i * n, k + 1, n, get(X, L + i * n + k), X, L + k * n)
    return again if again > 0 else n


@inline
def take_off(X, x, first, last, share, Y, y):
    """Take a share of Y[y + j] off X[x + j] for first <= j < last."""
    whole = first + (last - first) // 4 * 4
    for j in range(first, whole, 4):
        store(X, x + j, load(X, x + j) - share * load(Y, y + j))
    for j in range(whole, last):
        put(X, x + j, get(X, x + j) - share * get(Y, y + j))


@inline
def largest_pivot(n, X, L, k):
    """Return which of the rows from k on adds most to those before; k where none adds anything."""
    best, largest = k, 0.0
    for i in range(k, n):
        if get(X, L + i * n + i) > largest:
            best, largest = i, get(X, L + i * n + i)
    return best


@inline
def exchange_rows(n, X, L, I, order, a, b):
    """Exchange rows and columns a and b of the symmetric matrix that is being factored."""
    for j in range(n):
        kept = get(X, L + a * n + j)
        put(X, L + a * n + j, get(X, L + b * n + j))
        put(X, L + b * n + j, kept)
    for i in range(n):
        kept = get(X, L + i * n + a)
        put(X, L + i * n + a, get(X, L + i * n + b))
        put(X, L + i * n + b, kept)
    was = get(I, order + a)
    put(I, order + a, get(I, order + b))
    put(I, order + b, was)


@kernel(types.int64, VectorOut, Vector, Indices, IndicesOut, types.int64, types.float64)
def choose_independent(n, Lambda, weights, firsts, order, certain, error):
    """Choose among n rows, for Python: Λ_b by rows and room for scales behind it, room for 2 n of order."""
    scale_rows(n, Lambda, 0, n * n, weights, 0, firsts, 0)
    return factor_independent(n, Lambda, 0, order, 0, certain, error, 0)
