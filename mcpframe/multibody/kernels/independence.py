"""Which rows of closures are independent: the one rule, for compiled steps and for formulations in Python.

Rows repeat others where Λ_b = G_b Mass⁻¹ G_b* is singular. Rows that turn are weighed by the mechanism's
length, and all rows of a closure by the compliance of its softest one, so that units and masses do not
matter; a row that vanishes, as those of a pin in the plane, stays small beside the others. The pivots D of
the factor L D L* are then the squares of what each row adds to those chosen before it. Rows of an
overconstrained linkage repeat others only where its loops are closed; where they are open by an error, as
inside a step, they differ by about as much, and that is no reason to count them.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from numba import types

from mcpframe.jit import Indices, IndicesOut, Vector, VectorOut, callee, inline, kernel
from mcpframe.jit.lanes import get, load, put, store

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
def row_scales(n, X, L, stride, scale, W, weights, I, firsts):
    """Write what scales a symmetric matrix so that of every closure the largest diagonal becomes one.

    Args:
        n, X, L, stride: its size, where it begins, and how far apart its rows are.
        scale: where in X the scales are written to [n].
        W, weights: weight of every row, by its unit [n].
        I, firsts: of every row, the first of its closure [n].
    """
    softest = 0.0
    for i in range(n):
        put(X, scale + i, 0.0)
        first = scale + get(I, firsts + i)
        compliance = get(W, weights + i) ** 2 * get(X, L + i * stride + i)
        put(X, first, max(get(X, first), compliance))
        softest = max(softest, compliance)
    for i in range(n - 1, -1, -1):  # the first of a closure, which holds its compliance, at last
        compliance = max(get(X, scale + get(I, firsts + i)), FAINT * softest)
        put(X, scale + i, get(W, weights + i) / math.sqrt(compliance) if compliance > 0.0 else 0.0)


@callee
def scale_matrix(n, X, L, stride, scale):
    """Scale a matrix that is given on and below the diagonal; it is written above it too."""
    for f in range(n):
        for g in range(f + 1):
            value = get(X, scale + f) * get(X, scale + g) * get(X, L + f * stride + g)
            put(X, L + f * stride + g, value)
            put(X, L + g * stride + f, value)


@callee
def factor_all(n, X, L, stride, scale, I, order):
    """Factor Λ_b as it stands, not scaled, where that shows all rows to be independent; else return False.

    As `factor_independent`, without looking for pivots, on what is on and above the diagonal. Where a pivot,
    scaled, is at most SURE, what is below the diagonal is left as it was. Behind every row there is room for
    lanes that begin with its last number.
    """
    for k in range(n):
        row, pivot = L + k * stride, get(X, L + k * stride + k)
        if not pivot * get(X, scale + k) ** 2 > SURE:
            return False
        over = 1.0 / pivot
        put(X, row + k, over)
        put(I, order + k, k)
        put(I, order + n + k, k)
        for i in range(k + 1, n, 2):  # two rows at a time: each load of the pivot's row serves both
            a, b = over * get(X, row + i), over * get(X, row + i + 1)
            first, second = L + i * stride, L + (i + 1) * stride
            put(X, first + i, get(X, first + i) - a * get(X, row + i))
            if i + 1 < n:
                for j in range(i + 1, n, 4):
                    lanes = load(X, row + j)
                    store(X, first + j, load(X, first + j) - a * lanes)
                    store(X, second + j, load(X, second + j) - b * lanes)
    for k in range(n):
        over = get(X, L + k * stride + k)
        for i in range(k + 1, n):
            put(X, L + i * stride + k, over * get(X, L + k * stride + i))
    return True


@callee
def factor_independent(n, X, L, stride, I, order, certain, error, again):
    """Write the pivoted factor L D L* of the scaled Λ_b over it; return how many rows are independent.

    Below the diagonal L, on it one over D, above it D L*.

    Args:
        n: rows of the matrix.
        X, L, stride: where it begins, and how far apart its rows are.
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
            best, least = largest_pivot(n, X, L, stride, k), RANK if k < certain else explained
        if get(X, L + best * stride + best) <= least:
            return k
        put(I, order + n + k, best)
        if best != k:
            exchange_rows(n, X, L, stride, I, order, k, best)
        over = 1.0 / get(X, L + k * stride + k)
        put(X, L + k * stride + k, over)
        for i in range(k + 1, n):
            put(X, L + i * stride + k, over * get(X, L + k * stride + i))
        for i in range(k + 1, n):
            take_off(X, L + i * stride, k + 1, n, get(X, L + i * stride + k), X, L + k * stride)
    return again if again > 0 else n


@inline
def down_four(X, y, L, stride):
    """Return what four rows of D⁻¹ L⁻¹ y are, the first of which is at L: in registers, without waiting."""
    second, third, fourth = L + stride, L + 2 * stride, L + 3 * stride
    a = get(X, y) * get(X, L)
    b, c = get(X, y + 1) - a * get(X, L + 1), get(X, y + 2) - a * get(X, L + 2)
    d = get(X, y + 3) - a * get(X, L + 3)
    b *= get(X, second + 1)
    c, d = c - b * get(X, second + 2), d - b * get(X, second + 3)
    c *= get(X, third + 2)
    return a, b, c, (d - c * get(X, third + 3)) * get(X, fourth + 3)


@inline
def up_four(X, y, L, stride):
    """Return what four rows of L*⁻¹ y are, the first of which is at L."""
    second, third, fourth = L + stride, L + 2 * stride, L + 3 * stride
    d = get(X, y + 3)
    a, b = get(X, y) - d * get(X, fourth), get(X, y + 1) - d * get(X, fourth + 1)
    c = get(X, y + 2) - d * get(X, fourth + 2)
    a, b = a - c * get(X, third), b - c * get(X, third + 1)
    return a - b * get(X, second), b, c, d


@inline
def put_four(X, y, x):
    """Write four numbers."""
    put(X, y, x[0])
    put(X, y + 1, x[1])
    put(X, y + 2, x[2])
    put(X, y + 3, x[3])


@inline
def less_four(X, y, x, L, stride):
    """Take the share of four rows from L on off the lanes at y."""
    lanes = load(X, y) - x[0] * load(X, L) - x[1] * load(X, L + stride)
    store(X, y, lanes - x[2] * load(X, L + 2 * stride) - x[3] * load(X, L + 3 * stride))


@inline
def solve_factor(X, y, L, stride, n):
    """Solve L D L* x = y in place, by the factor that is there; lanes past the end do not matter.

    Four rows after four, so that lanes are loaded as they were stored, then those that are left.
    """
    whole = n // 4 * 4
    for k in range(0, whole, 4):
        x = down_four(X, y + k, L + k * stride + k, stride)
        put_four(X, y + k, x)
        for j in range(k + 4, n, 4):
            less_four(X, y + j, x, L + k * stride + j, stride)
    for k in range(whole, n):
        share = get(X, y + k) * get(X, L + k * stride + k)
        put(X, y + k, share)
        for j in range(k + 1, n):
            put(X, y + j, get(X, y + j) - share * get(X, L + k * stride + j))
    for k in range(n - 1, whole - 1, -1):
        share = get(X, y + k)
        for i in range(whole, k):
            put(X, y + i, get(X, y + i) - share * get(X, L + k * stride + i))
        for i in range(0, whole, 4):
            store(X, y + i, load(X, y + i) - share * load(X, L + k * stride + i))
    for k in range(whole - 4, -1, -4):
        x = up_four(X, y + k, L + k * stride + k, stride)
        put_four(X, y + k, x)
        for i in range(0, k, 4):
            less_four(X, y + i, x, L + k * stride + i, stride)


@inline
def take_off(X, x, first, last, share, Y, y):
    """Take a share of Y[y + j] off X[x + j] for first <= j < last."""
    whole = first + (last - first) // 4 * 4
    for j in range(first, whole, 4):
        store(X, x + j, load(X, x + j) - share * load(Y, y + j))
    for j in range(whole, last):
        put(X, x + j, get(X, x + j) - share * get(Y, y + j))


@inline
def largest_pivot(n, X, L, stride, k):
    """Return which of the rows from k on adds most to those before; k where none adds anything."""
    best, largest = k, 0.0
    for i in range(k, n):
        if get(X, L + i * stride + i) > largest:
            best, largest = i, get(X, L + i * stride + i)
    return best


@inline
def exchange_rows(n, X, L, stride, I, order, a, b):
    """Exchange rows and columns a and b of the symmetric matrix that is being factored."""
    for j in range(n):
        kept = get(X, L + a * stride + j)
        put(X, L + a * stride + j, get(X, L + b * stride + j))
        put(X, L + b * stride + j, kept)
    for i in range(n):
        kept = get(X, L + i * stride + a)
        put(X, L + i * stride + a, get(X, L + i * stride + b))
        put(X, L + i * stride + b, kept)
    was = get(I, order + a)
    put(I, order + a, get(I, order + b))
    put(I, order + b, was)


@kernel(types.int64, VectorOut, Vector, Indices, IndicesOut, types.int64, types.float64)
def choose_independent(n, Lambda, weights, firsts, order, certain, error):
    """Choose among n rows, for Python: Λ_b by rows and room for scales behind it, room for 2 n of order."""
    row_scales(n, Lambda, 0, n, n * n, weights, 0, firsts, 0)
    scale_matrix(n, Lambda, 0, n, n * n)
    return factor_independent(n, Lambda, 0, n, order, 0, certain, error, 0)
