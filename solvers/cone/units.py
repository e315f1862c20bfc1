"""The problem in scaled units, how well a point solves it, and the way back into bounds and discs."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline, matrix_window, window
from mcpframe.jit.entries import get, put
from mcpframe.problem.cone import (
    D_FIRST,
    D_MU,
    D_NORMAL,
    D_OFFSET,
    D_WIDTH,
    DISC_DOUBLES,
    DISC_INTEGERS,
    block_scales,
    disc_gap,
    length,
)
from mcpframe.problem.residual import natural_entry, row_dot
from mcpframe.solvers.cone import memory as at

ALMOST_ZERO = 1e-12
"""Added to the diagonal of a block before it is inverted, and least diagonal entry that is divided by."""
HOPELESS = 1e300
"""Error of a point that is not finite."""


@inline
def second(I, x, d):
    """Return the second component of a vector on a disc, 0 where the disc has one row."""
    return get(x, get(I, I[at.FIRST] + d) + 1) if get(I, I[at.WIDTH] + d) == 2 else 0.0


@callee
def read_discs(I, X, table, sizes):
    """Take the discs of a problem over: which rows they have, and whose normals are whose."""
    n, k = I[at.N], I[at.N_D]
    for i in range(n):
        put(I, I[at.DISC_OF] + i, -1)
        put(I, I[at.DISCS_AT] + i, -1)
    for d in range(k - 1, -1, -1):
        row = d * DISC_INTEGERS
        normal, first, width = table[row + D_NORMAL], table[row + D_FIRST], table[row + D_WIDTH]
        put(I, I[at.NORMAL] + d, normal)
        put(I, I[at.FIRST] + d, first)
        put(I, I[at.WIDTH] + d, width)
        put(X, I[at.MU] + d, sizes[d * DISC_DOUBLES + D_MU])
        put(I, I[at.DISCS_AT] + normal, d)
        for j in range(width):
            put(I, I[at.DISC_OF] + first + j, d)


@callee
def choose_units(I, X, M):
    """Write one power of two for each normal and its discs, and for each row beside them."""
    n, k, unit = I[at.N], I[at.N_D], window(X, I[at.UNIT_Z], I[at.N])
    typical = 0.0
    for i in range(n):
        unit[i] = abs(M[i, i])
    d = 0
    while d < k:
        normal, rows, e = get(I, I[at.NORMAL] + d), 1, d
        while e < k and get(I, I[at.NORMAL] + e) == normal:
            first = get(I, I[at.FIRST] + e)
            for j in range(get(I, I[at.WIDTH] + e)):
                unit[normal] += unit[first + j]
                rows += 1
            e += 1
        unit[normal] /= rows
        for f in range(d, e):
            first = get(I, I[at.FIRST] + f)
            for j in range(get(I, I[at.WIDTH] + f)):
                unit[first + j] = unit[normal]
        d = e
    for i in range(n):
        typical = max(typical, unit[i])
    for i in range(n):
        size = unit[i] if unit[i] > 0.0 else typical
        unit[i] = 2.0 ** -round(0.5 * math.log2(size)) if size > 0.0 else 1.0


@callee
def scale_problem(I, X, M, q, lower, upper, sizes):
    """Write the problem in scaled units."""
    n = I[at.N]
    W = matrix_window(X, I[at.W], n, n)
    unit, per = window(X, I[at.UNIT_Z], n), window(X, I[at.UNIT_W], n)
    Q, low, high = window(X, I[at.Q], n), window(X, I[at.LOWER], n), window(X, I[at.UPPER], n)
    size = 0.0
    for i in range(n):
        Q[i] = unit[i] * q[i]
        size = max(size, abs(Q[i]))
        for j in range(n):
            W[i, j] = unit[i] * unit[j] * M[i, j]
    if size == 0.0:
        size = 1.0
    for i in range(n):
        Q[i] /= size
        per[i] = size / unit[i]
        unit[i] *= size
        low[i], high[i] = lower[i] / unit[i], upper[i] / unit[i]
    for d in range(I[at.N_D]):
        offset = sizes[d * DISC_DOUBLES + D_OFFSET] / unit[get(I, I[at.NORMAL] + d)]
        put(X, I[at.OFFSET] + d, offset)


@callee
def weigh_errors(I, X, q, table):
    """Write what the error of each row counts beside those of others, see `mcpframe.problem.cone`."""
    n, largest, weight = I[at.N], 1.0, window(X, I[at.WEIGHT], I[at.N])
    block_scales(q, table, weight)
    for i in range(n):
        largest = max(largest, weight[i])
    for i in range(n):
        weight[i] = largest / weight[i]


@callee
def find_simple(I, X):
    """Mark discs that are a cone by themselves, and invert their blocks."""
    n, k = I[at.N], I[at.N_D]
    W = matrix_window(X, I[at.W], n, n)
    put(I, at.N_SIMPLE, 0)
    for d in range(k):
        i, t = get(I, I[at.NORMAL] + d), get(I, I[at.FIRST] + d)
        alone = get(I, I[at.DISCS_AT] + i) == d and (d + 1 == k or get(I, I[at.NORMAL] + d + 1) != i)
        bounds = get(X, I[at.LOWER] + i) == 0.0 and math.isinf(get(X, I[at.UPPER] + i))
        simple = alone and bounds and get(I, I[at.WIDTH] + d) == 2 and get(X, I[at.OFFSET] + d) == 0.0
        put(I, I[at.KIND] + d, at.SIMPLE if simple else 0)
        if simple:
            put(I, at.N_SIMPLE, I[at.N_SIMPLE] + 1)
            invert(W, i, t, window(X, I[at.INVERSE] + 9 * d, 9))


@inline
def invert(W, i, t, out):
    """Write the inverse of the block of W on the rows i, t, t + 1, with a little on its diagonal."""
    a, b, c = W[i, i] + ALMOST_ZERO, W[i, t], W[i, t + 1]
    d, e, f = W[t, i], W[t, t] + ALMOST_ZERO, W[t, t + 1]
    g, h, k = W[t + 1, i], W[t + 1, t], W[t + 1, t + 1] + ALMOST_ZERO
    A, B, C = e * k - f * h, f * g - d * k, d * h - e * g
    det = a * A + b * B + c * C
    over = 1.0 / det if det != 0.0 else HOPELESS
    out[0], out[1], out[2] = A * over, (c * h - b * k) * over, (b * f - c * e) * over
    out[3], out[4], out[5] = B * over, (a * k - c * g) * over, (c * d - a * f) * over
    out[6], out[7], out[8] = C * over, (b * g - a * h) * over, (a * e - b * d) * over


@callee
def velocities(I, X, r, u):
    """Write u = W r + q."""
    n = I[at.N]
    W, q = matrix_window(X, I[at.W], n, n), window(X, I[at.Q], n)
    for i in range(n):
        u[i] = q[i] + row_dot(W, i, r, 0, n)


@callee
def errors(I, X, r, u):
    """Return the judged error in the problem's units, and the norm of the natural map in scaled ones."""
    n = I[at.N]
    unit, per, weight = window(X, I[at.UNIT_Z], n), window(X, I[at.UNIT_W], n), window(X, I[at.WEIGHT], n)
    worst, merit = 0.0, 0.0
    for i in range(n):
        if get(I, I[at.DISC_OF] + i) >= 0:
            continue
        low, high = get(X, I[at.LOWER] + i), get(X, I[at.UPPER] + i)
        error = natural_entry(unit[i] * r[i], per[i] * u[i], unit[i] * low, unit[i] * high)
        worst = max(worst, weight[i] * error)
        merit += natural_entry(r[i], u[i], low, high) ** 2
    for d in range(I[at.N_D]):
        i, t = get(I, I[at.NORMAL] + d), get(I, I[at.FIRST] + d)
        reach = get(X, I[at.MU] + d) * max(r[i], 0.0) + get(X, I[at.OFFSET] + d)
        r_1, r_2, u_1, u_2 = r[t], second(I, r, d), u[t], second(I, u, d)
        gap_1, gap_2 = disc_gap(r_1, r_2, u_1, u_2, reach)
        merit += gap_1 * gap_1 + gap_2 * gap_2
        a, b = unit[i], per[i]
        gap_1, gap_2 = disc_gap(a * r_1, a * r_2, b * u_1, b * u_2, a * reach)
        worst = max(worst, weight[i] * max(abs(gap_1), abs(gap_2)))
    if not merit < HOPELESS or not worst < HOPELESS:
        return HOPELESS, HOPELESS
    return worst, math.sqrt(merit)


@callee
def move_inside(I, X, r):
    """Move a point into its bounds and discs."""
    for i in range(I[at.N]):
        r[i] = min(max(r[i], get(X, I[at.LOWER] + i)), get(X, I[at.UPPER] + i))
    for d in range(I[at.N_D]):
        t = get(I, I[at.FIRST] + d)
        reach = get(X, I[at.MU] + d) * r[get(I, I[at.NORMAL] + d)] + get(X, I[at.OFFSET] + d)
        far = length(r[t], second(I, r, d))
        if far > reach:
            r[t] *= reach / far
            if get(I, I[at.WIDTH] + d) == 2:
                r[t + 1] *= reach / far
