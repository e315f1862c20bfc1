"""Matrices of six wide rows, as pieces have them: products, hinges, elimination.

A row has 20 numbers, five lanes; see `piece_records`. Motions and forces are taken from frame to frame by

    X = [[R*, 0], [-R* p~, R*]],     motion at a child = X motion at its parent,   force there = X* force.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store, zero
from mcpframe.multibody.adaptive.piece_records import WIDE, Y_TURN


@inline
def load_row(A, i):
    """Return a row."""
    return load(A, i), load(A, i + 4), load(A, i + 8), load(A, i + 12), load(A, i + 16)


@inline
def store_row(A, i, r):
    """Store a row."""
    store(A, i, r[0])
    store(A, i + 4, r[1])
    store(A, i + 8, r[2])
    store(A, i + 12, r[3])
    store(A, i + 16, r[4])


@inline
def plus_row(r, x, s):
    """Return r + x s."""
    return r[0] + x * s[0], r[1] + x * s[1], r[2] + x * s[2], r[3] + x * s[3], r[4] + x * s[4]


@inline
def times_row(x, s):
    """Return x s."""
    return x * s[0], x * s[1], x * s[2], x * s[3], x * s[4]


@callee
def copy_rows(A, n, source, out):
    """Copy n rows."""
    for i in range(n):
        store_row(A, out + i * WIDE, load_row(A, source + i * WIDE))


@callee
def clear_columns(A, first, out):
    """Make six columns of six rows zero."""
    for i in range(6):
        for j in range(first, first + 6):
            put(A, out + i * WIDE + j, 0.0)


@inline
def product_row(A, m, step, source, r):
    """Return r + Σ_k m[k] source[k], the numbers m `step` apart, source six rows."""
    for k in range(6):
        r = plus_row(r, get(A, m + k * step), load_row(A, source + k * WIDE))
    return r


@callee
def add_product(A, m, row, column, source, out):
    """Write out + m source, m[i, k] at A[m + i row + k column]."""
    for i in range(6):
        r = load_row(A, out + i * WIDE)
        store_row(A, out + i * WIDE, product_row(A, m + i * row, column, source, r))


@callee
def motion_to_child(A, hinge, source, out):
    """Write X source for the hinge whose R, by columns, and p are at A[hinge]."""
    x, y, z = get(A, hinge + 12), get(A, hinge + 13), get(A, hinge + 14)
    w0, w1, w2 = load_row(A, source), load_row(A, source + WIDE), load_row(A, source + 2 * WIDE)
    v0 = plus_row(plus_row(load_row(A, source + 3 * WIDE), -y, w2), z, w1)
    v1 = plus_row(plus_row(load_row(A, source + 4 * WIDE), -z, w0), x, w2)
    v2 = plus_row(plus_row(load_row(A, source + 5 * WIDE), -x, w1), y, w0)
    for i in range(3):
        a, b, c = get(A, hinge + 4 * i), get(A, hinge + 4 * i + 1), get(A, hinge + 4 * i + 2)
        store_row(A, out + i * WIDE, plus_row(plus_row(times_row(a, w0), b, w1), c, w2))
        store_row(A, out + (3 + i) * WIDE, plus_row(plus_row(times_row(a, v0), b, v1), c, v2))


@inline
def turned_back(A, hinge, i, r0, r1, r2):
    """Return row i of R (r0; r1; r2)."""
    r = times_row(get(A, hinge + i), r0)
    return plus_row(plus_row(r, get(A, hinge + 4 + i), r1), get(A, hinge + 8 + i), r2)


@callee
def force_to_parent(A, hinge, source, out):
    """Write -X* source: what a force on the child is to the tip that carries it."""
    x, y, z = -get(A, hinge + 12), -get(A, hinge + 13), -get(A, hinge + 14)
    f0, f1, f2 = (
        load_row(A, source + 3 * WIDE),
        load_row(A, source + 4 * WIDE),
        load_row(A, source + 5 * WIDE),
    )
    g0, g1, g2 = (
        turned_back(A, hinge, 0, f0, f1, f2),
        turned_back(A, hinge, 1, f0, f1, f2),
        turned_back(A, hinge, 2, f0, f1, f2),
    )
    store_row(A, out + 3 * WIDE, times_row(-1.0, g0))
    store_row(A, out + 4 * WIDE, times_row(-1.0, g1))
    store_row(A, out + 5 * WIDE, times_row(-1.0, g2))
    n0, n1, n2 = load_row(A, source), load_row(A, source + WIDE), load_row(A, source + 2 * WIDE)
    m0 = times_row(-1.0, turned_back(A, hinge, 0, n0, n1, n2))
    store_row(A, out, plus_row(plus_row(m0, y, g2), -z, g1))
    m1 = times_row(-1.0, turned_back(A, hinge, 1, n0, n1, n2))
    store_row(A, out + WIDE, plus_row(plus_row(m1, z, g0), -x, g2))
    m2 = times_row(-1.0, turned_back(A, hinge, 2, n0, n1, n2))
    store_row(A, out + 2 * WIDE, plus_row(plus_row(m2, x, g1), -y, g0))


@inline
def largest_pivot(A, m, row, k):
    """Return which of the rows from k on has the largest entry in column k."""
    best = k
    for i in range(k + 1, 6):
        if abs(get(A, m + i * row + k)) > abs(get(A, m + best * row + k)):
            best = i
    return best


@callee
def solve_six(A, m, rows, n):
    """Write M⁻¹ rows for the 6 x 6 matrix M at A[m], rows of eight, and six rows of n lanes; uses up M.

    Gauss and Jordan's elimination with row pivots.
    """
    step = 4 * n
    for k in range(6):
        best = largest_pivot(A, m, 8, k)
        if best != k:
            exchange(A, m + 8 * k, m + 8 * best, 2)
            exchange(A, rows + step * k, rows + step * best, n)
        pivot = 1.0 / get(A, m + 8 * k + k)
        scale(A, m + 8 * k, 2, pivot)
        scale(A, rows + step * k, n, pivot)
        for i in range(6):
            if i != k:
                x = -get(A, m + 8 * i + k)
                add_scaled(A, m + 8 * i, 2, x, m + 8 * k)
                add_scaled(A, rows + step * i, n, x, rows + step * k)


@inline
def exchange(A, i, j, n):
    """Exchange n lanes."""
    for k in range(0, 4 * n, 4):
        kept = load(A, i + k)
        store(A, i + k, load(A, j + k))
        store(A, j + k, kept)


@inline
def scale(A, i, n, x):
    """Multiply n lanes by a number."""
    for k in range(0, 4 * n, 4):
        store(A, i + k, x * load(A, i + k))


@inline
def add_scaled(A, i, n, x, j):
    """Add x times n lanes at j to those at i."""
    for k in range(0, 4 * n, 4):
        store(A, i + k, load(A, i + k) + x * load(A, j + k))


@callee
def turn_products(A, N, n, out):
    """Make n rows take the products of the angular velocity in another frame, w_there = N w (rows of 8)."""
    for i in range(n):
        row = out + i * WIDE
        low, high = zero(), zero()
        for k in range(6):
            x = get(A, row + Y_TURN + k)
            low, high = low + x * load(A, N + 8 * k), high + x * load(A, N + 8 * k + 4)
        put(A, row + Y_TURN + 4, 0.0)
        put(A, row + Y_TURN + 5, 0.0)
        store(A, row + Y_TURN, low)
        store(A, row + Y_TURN + 4, high + load(A, row + Y_TURN + 4))


@callee
def add_congruence(A, form, rows, first, scratch, out):
    """Write out + M* form M, where M replaces the six numbers of y from `first` on by `rows` y.

    form is symmetric, 20 x 20; the six rows of form M that belong to those numbers are gathered by M*.
    """
    for i in range(WIDE):
        r = load_row(A, form + i * WIDE)
        store_row(A, scratch, r)
        for j in range(first, first + 6):
            put(A, scratch + j, 0.0)
        r = product_row(A, form + i * WIDE + first, 1, rows, load_row(A, scratch))
        if first <= i < first + 6:
            store_row(A, scratch + (1 + i - first) * WIDE, r)
        else:
            store_row(A, out + i * WIDE, plus_row(load_row(A, out + i * WIDE), 1.0, r))
    for i in range(WIDE):
        r = load_row(A, out + i * WIDE)
        store_row(A, out + i * WIDE, product_row(A, rows + i, WIDE, scratch + WIDE, r))


@callee
def symmetrize(A, m, row):
    """Make a 6 x 6 block of rows of a length symmetric."""
    for i in range(6):
        for j in range(i):
            mean = 0.5 * (get(A, m + i * row + j) + get(A, m + j * row + i))
            put(A, m + i * row + j, mean)
            put(A, m + j * row + i, mean)
