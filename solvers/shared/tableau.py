"""The dictionary of a mixed LCP: basic variables as affine functions of nonbasic ones.

In shifted, signed and scaled unknowns s (z = base + kappa * column * s) the problem reads
    w = T s + x,   0 <= s <= span   (span = inf: one bound; a free row has none),
and after some exchanges  basic = T nonbasic + const.  What is stored, and where:

    T [n_t, L]    the dictionary; column `n_r` (one past the active ones) belongs to t
    V [27, n + 1] floats, rows named by X .. W below
    K [8, 2n + 1] integers, rows named by BASIC_VAR .. TIED below
Variables have numbers: s_i is i, w_i is n_t + i, t is 2 n_t. Rows and columns follow `ROW_OF`, which lists
the complementarity rows first and the free rows after them; fixed variables are not in the dictionary.

Exchanges come in two kinds. `exchange` updates T at once. `postpone_exchange` writes only the new row and
column and keeps the rank-one update of the rest as a pair (u, w) in rows U + k and W + k of V; after BLOCK of
them `settle` applies all in one pass over T, which is several times faster than BLOCK passes, for the pass is
bound by memory. In between, the dictionary is T + sum u_k w_k*.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mcpframe.jit import callee, inline
from mcpframe.jit.memory import columns
from mcpframe.problem.residual import dot
from mcpframe.solvers.shared.dense import largest_size

# rows of V
BLOCK = 8
X, LOW, HIGH, SPAN, ROW, COLUMN, BASE, FROZEN, RATE, STEP, PIVOT_ROW, U, W, N_FLOAT_ROWS = columns(
    *[1] * 11, BLOCK, BLOCK
)
# rows of K
BASIC_VAR, NONBASIC_VAR, PLACE, START, SIGN, ROW_OF, STATE, TIED, N_INT_ROWS = range(9)
# codes of STATE, as in mcpframe.solving.solution
AT_LOWER, AT_UPPER, BASIC = 0, 1, 2

FREE_PIVOT = 1e-11
"""A pivot among the free rows below this share of the largest entry counts as zero: the block is singular."""


@callee
def exchange(T: Any, V: Any, r: int, c: int, n_rows: int, n_columns: int) -> None:
    """Swap the basic variable of row r with the nonbasic one of column c: one rank-one update.

    x_r = .. + p y_c  becomes  y_c = .. + x_r / p, and is put into every other row, two rows at a time,
    so that each load of the pivot row serves both.
    """
    inverse = 1.0 / T[r, c]
    for j in range(n_columns):
        V[PIVOT_ROW, j] = -inverse * T[r, j]
    V[PIVOT_ROW, c] = inverse
    i = 0
    while i + 1 < n_rows:
        f, g = T[i, c], T[i + 1, c]
        if f != 0.0 or g != 0.0:
            T[i, c] = T[i + 1, c] = 0.0
            for j in range(n_columns):
                T[i, j] += f * V[PIVOT_ROW, j]
                T[i + 1, j] += g * V[PIVOT_ROW, j]
        i += 2
    if i < n_rows:
        f = T[i, c]
        T[i, c] = 0.0
        for j in range(n_columns):
            T[i, j] += f * V[PIVOT_ROW, j]
    for j in range(n_columns):
        T[r, j] = V[PIVOT_ROW, j]


@inline
def entry(T: Any, V: Any, r: int, c: int, m: int) -> Any:
    """Return the entry (r, c) of the dictionary with m postponed updates."""
    value = T[r, c]
    for k in range(m):
        value += V[U + k, r] * V[W + k, c]
    return value


@inline
def rates_into(T: Any, V: Any, c: int, direction: int, m: int, n_rows: int) -> None:
    """Write direction times column c of the dictionary with m postponed updates into RATE."""
    for i in range(n_rows):
        V[RATE, i] = direction * T[i, c]
    for k in range(m):
        f = direction * V[W + k, c]
        for i in range(n_rows):
            V[RATE, i] += f * V[U + k, i]


@inline
def row_into(T: Any, V: Any, r: int, m: int, n_columns: int) -> None:
    """Write row r of the dictionary with m postponed updates into PIVOT_ROW."""
    for j in range(n_columns):
        V[PIVOT_ROW, j] = T[r, j]
    for k in range(m):
        f = V[U + k, r]
        for j in range(n_columns):
            V[PIVOT_ROW, j] += f * V[W + k, j]


@callee
def postpone_exchange(
    T: Any, V: Any, r: int, c: int, direction: int, m: int, n_rows: int, n_columns: int
) -> int:
    """Swap row r with column c, postponing the update; return the new number of postponed ones.

    RATE holds direction times column c. What is written to row r and column c is final, so earlier updates
    must not reach it any more.
    """
    row_into(T, V, r, m, n_columns)
    inverse = 1.0 / V[PIVOT_ROW, c]
    for j in range(n_columns):
        V[W + m, j] = -inverse * V[PIVOT_ROW, j]
        T[r, j] = V[W + m, j]
    for i in range(n_rows):
        V[U + m, i] = direction * V[RATE, i]
        T[i, c] = inverse * V[U + m, i]
    T[r, c] = inverse
    for k in range(m + 1):
        V[U + k, r] = V[W + k, c] = 0.0
    if m + 1 < BLOCK:
        return m + 1
    settle(T, V, BLOCK, n_rows, n_columns)
    return 0


@callee
def settle(T: Any, V: Any, m: int, n_rows: int, n_columns: int) -> None:
    """Apply m <= BLOCK postponed updates, two rows at a time, so that each load of w serves both."""
    for k in range(m, BLOCK):
        for i in range(n_rows):
            V[U + k, i] = 0.0
        for c in range(n_columns):
            V[W + k, c] = 0.0
    u, w = V[U : U + BLOCK], V[W : W + BLOCK]
    for i in range(0, n_rows - 1, 2):
        a0, a1, a2, a3, a4, a5, a6, a7 = (
            u[0, i],
            u[1, i],
            u[2, i],
            u[3, i],
            u[4, i],
            u[5, i],
            u[6, i],
            u[7, i],
        )
        j = i + 1
        b0, b1, b2, b3, b4, b5, b6, b7 = (
            u[0, j],
            u[1, j],
            u[2, j],
            u[3, j],
            u[4, j],
            u[5, j],
            u[6, j],
            u[7, j],
        )
        for c in range(n_columns):
            w0, w1, w2, w3, w4, w5, w6, w7 = (
                w[0, c], w[1, c], w[2, c], w[3, c], w[4, c], w[5, c], w[6, c], w[7, c],
            )  # fmt: skip
            T[i, c] += a0 * w0 + a1 * w1 + a2 * w2 + a3 * w3 + a4 * w4 + a5 * w5 + a6 * w6 + a7 * w7
            T[j, c] += b0 * w0 + b1 * w1 + b2 * w2 + b3 * w3 + b4 * w4 + b5 * w5 + b6 * w6 + b7 * w7
    if n_rows % 2 == 1:
        i = n_rows - 1
        for k in range(BLOCK):
            for c in range(n_columns):
                T[i, c] += u[k, i] * w[k, c]


@inline
def swap_names(K: Any, r: int, c: int) -> None:
    """Record that the variables of row r and column c have changed sides."""
    leaving, entering = K[BASIC_VAR, r], K[NONBASIC_VAR, c]
    K[BASIC_VAR, r], K[NONBASIC_VAR, c] = entering, leaving
    K[PLACE, entering], K[PLACE, leaving] = -1 - r, c


@inline
def move(T: Any, x: Any, c: int, step: float, n_rows: int) -> None:
    """Move the nonbasic variable of column c by step; the basic ones follow."""
    for i in range(n_rows):
        x[i] += step * T[i, c]


@inline
def order_rows(lower: Any, upper: Any, K: Any) -> Any:
    """List complementarity rows, then free rows; return their numbers (fixed rows are left out)."""
    n_comp = 0
    for i in range(lower.shape[0]):
        if lower[i] < upper[i] and (lower[i] > -np.inf or upper[i] < np.inf):
            K[ROW_OF, n_comp] = i
            n_comp += 1
    n_t = n_comp
    for i in range(lower.shape[0]):
        if lower[i] == -np.inf and upper[i] == np.inf:
            K[ROW_OF, n_t] = i
            n_t += 1
    return n_comp, n_t


@callee
def shift(M: Any, q: Any, lower: Any, upper: Any, V: Any, w_base: Any) -> Any:
    """Choose the base point and the signs: s counts from l, or down from u where only u is finite.

    Writes BASE and the signs into ROW and COLUMN (on top of positive scale factors there), and
    w at the base point; returns whether the problem is a plain LCP, all bounds zero and infinity.
    """
    n = q.shape[0]
    plain = True
    for i in range(n):
        plain = plain and lower[i] == 0.0 and upper[i] == np.inf
        V[BASE, i] = 0.0
        if lower[i] > -np.inf:
            V[BASE, i] = lower[i]
        elif upper[i] < np.inf:
            V[BASE, i] = upper[i]
            V[ROW, i], V[COLUMN, i] = -V[ROW, i], -V[COLUMN, i]
    for i in range(n):
        w_base[i] = q[i] if plain else q[i] + dot(M[i], V[BASE, :n])
    return plain


@inline
def magnitude(w_base: Any, n: int) -> Any:
    """Return a power of two near the largest |w| at the base point, 1 where all are zero."""
    size = largest_size(w_base, n)
    if not (1e-280 < size < 1e280):
        return 1.0
    return 2.0 ** np.floor(np.log2(size))


@callee
def load(
    M: Any, w_base: Any, lower: Any, upper: Any, kappa: float, T: Any, V: Any, K: Any, n_t: int, plain: bool
) -> None:
    """Fill the dictionary with all s nonbasic at zero and all w basic; plain: T is M as it stands."""
    for r in range(n_t):
        i = K[ROW_OF, r]
        if plain:
            for c in range(n_t):
                T[r, c] = M[r, c]
        else:
            for c in range(n_t):
                j = K[ROW_OF, c]
                T[r, c] = V[ROW, i] * M[i, j] * V[COLUMN, j]
        V[X, r] = V[ROW, i] * w_base[i] / kappa
        V[SPAN, r] = (upper[i] - lower[i]) / (kappa * abs(V[COLUMN, i]))
        K[BASIC_VAR, r], K[NONBASIC_VAR, r] = n_t + r, r
        K[PLACE, r], K[PLACE, n_t + r] = r, -1 - r
        K[STATE, r] = AT_LOWER


@inline
def largest_entry(T: Any, rows_from: int, rows_to: int, columns_from: int, columns_to: int) -> Any:
    """Return (|entry|, row, column) of the largest entry of a block."""
    best, r, c = 0.0, -1, -1
    for i in range(rows_from, rows_to):
        for j in range(columns_from, columns_to):
            if abs(T[i, j]) > best:
                best, r, c = abs(T[i, j]), i, j
    return best, r, c


@callee
def swap_lines(T: Any, x: Any, K: Any, r: int, c: int, k: int, n_t: int) -> None:
    """Bring row r and column c to position k."""
    if r != k:
        for j in range(n_t):
            T[r, j], T[k, j] = T[k, j], T[r, j]
        x[r], x[k] = x[k], x[r]
        a, b = K[BASIC_VAR, r], K[BASIC_VAR, k]
        K[BASIC_VAR, r], K[BASIC_VAR, k] = b, a
        K[PLACE, a], K[PLACE, b] = -1 - k, -1 - r
    if c != k:
        for i in range(n_t):
            T[i, c], T[i, k] = T[i, k], T[i, c]
        a, b = K[NONBASIC_VAR, c], K[NONBASIC_VAR, k]
        K[NONBASIC_VAR, c], K[NONBASIC_VAR, k] = b, a
        K[PLACE, a], K[PLACE, b] = k, c


@callee
def pivot_in(T: Any, V: Any, K: Any, r: int, c: int, n_t: int) -> None:
    """Bring the s of column c into the basis for the w of row r, which goes to zero."""
    x = V[X]
    step = -x[r] / T[r, c]
    move(T, x, c, step, n_t)
    exchange(T, V, r, c, n_t, n_t)
    swap_names(K, r, c)
    x[r] = step


@callee
def eliminate_free(T: Any, V: Any, K: Any, n_comp: int, n_t: int, stop: Any) -> int:
    """Pivot the free variables in, largest pivot first; return how many could not be.

    Where all could, their rows are frozen at the end of the dictionary: they never block, and their w
    never enters, so pivoting leaves them alone from then on.
    """
    x = V[X]
    size, _, _ = largest_entry(T, n_comp, n_t, 0, n_t)
    for k in range(n_comp, n_t):
        best, r, c = largest_entry(T, k, n_t, k, n_t)
        if not best > FREE_PIVOT * size or not best > 0.0 or stop[0] != 0:
            return n_t - k
        swap_lines(T, x, K, r, c, k, n_t)
        pivot_in(T, V, K, k, k, n_t)
    for k in range(n_comp, n_t):
        V[FROZEN, k] = x[k]
    return 0


@callee
def pair_free(T: Any, V: Any, K: Any, n_comp: int, n_t: int, n_left: int, stop: Any) -> Any:
    """Pivot in the free variables that the free block alone cannot determine.

    Such a free pair f needs a complementarity pair i: exchange w_f with s_i, then w_i with s_f
    (a 2 x 2 principal pivot). An equation that is zero is redundant when its constant is zero, too,
    and makes the problem unsolvable otherwise (False).
    """
    x = V[X]
    first = n_t - n_left
    for k in range(first, n_t):
        if stop[0] != 0:
            return False
        best, pair, row, column = 0.0, -1, -1, -1
        for i in range(n_comp):
            if K[STATE, i] != BASIC:
                above, r, _ = largest_entry(T, k, n_t, i, i + 1)
                beside, _, c = largest_entry(T, i, i + 1, k, n_t)
                if min(above, beside) > best:
                    best, pair, row, column = min(above, beside), i, r, c
        if best <= FREE_PIVOT:
            return left_equations_hold(T, V, k, n_comp, n_t)
        swap_lines(T, x, K, row, column, k, n_t)
        pivot_in(T, V, K, k, pair, n_t)
        if abs(T[pair, k]) <= FREE_PIVOT:
            return False
        pivot_in(T, V, K, pair, k, n_t)
        K[STATE, pair] = BASIC
    return True


@inline
def left_equations_hold(T: Any, V: Any, first: int, n_comp: int, n_t: int) -> bool:
    """Return whether the equations from row `first` on are empty and true."""
    for r in range(first, n_t):
        if abs(V[X, r]) > FREE_PIVOT:
            return False
        for c in range(n_comp):
            if abs(T[r, c]) > FREE_PIVOT:
                return False
    return True
