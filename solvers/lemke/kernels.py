"""Lemke's method on the dictionary of `shared.tableau`: cover, ratio test, lexicographic rule, path.

The path.  basic = T nonbasic + x + d t with t falling from t_0, where all basic variables lie within their
bounds, to 0, where the point solves the problem. Whatever blocks leaves, its complement enters:
    w_i reaches 0           ->  s_i moves off its bound
    s_i reaches 0 or span   ->  w_i grows or falls from 0
    s_i enters and crosses from one bound to the other before anything blocks  ->  w_i enters, no exchange.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mcpframe.jit import callee, inline, inline_extremum
from mcpframe.solvers.shared.tableau import (
    AT_LOWER,
    AT_UPPER,
    BASIC,
    BASIC_VAR,
    HIGH,
    LOW,
    NONBASIC_VAR,
    PLACE,
    RATE,
    SIGN,
    SPAN,
    START,
    STATE,
    STEP,
    TIED,
    X,
    entry,
    exchange,
    move,
    pivot_in,
    postpone_exchange,
    rates_into,
    settle,
    swap_names,
)

ENDED, RAY, PIVOT_LIMIT, STOPPED, SINGULAR = 0, 1, 2, 3, 4
"""How a path ended: t reached zero; nothing blocks; too many pivots; the clock; no basis to start from."""

LEXICOGRAPHIC, LARGEST_PIVOT = 0, 1
"""How ties in the ratio test are broken."""

PIVOT = 1e-9
"""Entries below this share of the column's largest are taken for zero in the ratio test: on redundant
contacts what should be zero comes out as rounding, and a pivot on it would make the basis singular."""
LAST_PIVOT = 1e-12
"""The share below which entries are zero when nothing larger blocks."""
TIE = 1e-12
"""Ratios this close (the data are scaled to one) are equal."""
RELAX = 1e-11
"""By this much a basic variable may pass its bound where that allows a larger pivot [Harris 1973]. At rest
the speeds of redundant contacts are rounding; a path that heeds every digit of it makes thousands of small
pivots and loses its accuracy on them."""
POSTPONE_FROM = 64
"""Rows from which on updates are postponed; a smaller dictionary stays in the first-level cache."""
T_ZERO = 2e-12
"""A t this small (the data are scaled to one) has reached zero."""
LEX = 1e-13
"""Coefficients of the lexicographic perturbation this close are equal."""


@callee
def enter_basis(T: Any, V: Any, K: Any, codes: Any, n_comp: int, n_r: int, n_t: int, stop: Any) -> bool:
    """Bring the dictionary to the complementary basis with these codes; False where it is singular.

    Gauss-Jordan exchanges of w_r with s_c, r and c both coded BASIC, largest entry of each column.
    """
    x = V[X]
    for i in range(n_comp):
        if codes[i] == AT_UPPER and V[SPAN, i] < np.inf and K[STATE, i] != BASIC:
            K[STATE, i] = AT_UPPER
            move(T, x, K[PLACE, i], V[SPAN, i], n_r)
    for i in range(n_comp):
        if codes[i] != BASIC or K[STATE, i] == BASIC:
            continue
        c = K[PLACE, i]
        best, size, r = 0.0, 0.0, -1
        for j in range(n_comp):
            a = abs(T[j, c])
            size = max(size, a)
            v = K[BASIC_VAR, j] - n_t
            if v >= 0 and codes[v] == BASIC and a > best:
                best, r = a, j
        if not best > PIVOT * size or stop[0] != 0:
            return False
        pivot_in(T, V, K, r, c, n_r)
    for i in range(n_comp):
        if codes[i] == BASIC:
            K[STATE, i] = BASIC
    return True


@inline
def set_range(V: Any, K: Any, r: int, n_comp: int, n_t: int) -> None:
    """Write the bounds of the basic variable of row r."""
    v = K[BASIC_VAR, r]
    low, high = 0.0, np.inf
    if v < n_t:
        high = V[SPAN, v]
    elif v < 2 * n_t and K[STATE, v - n_t] == AT_UPPER:
        low, high = -np.inf, 0.0
    if n_comp <= v < n_t or n_t + n_comp <= v < 2 * n_t:
        low, high = -np.inf, np.inf
    V[LOW, r] = low
    V[HIGH, r] = high


@inline
def spread(i: int, seed: int) -> Any:
    """Return a number in [0.25, 1.25) that looks random and is the same every time."""
    y = np.sin(12.9898 * (i + 1) + 78.233 * seed) * 43758.5453
    return 0.25 + (y - np.floor(y))


@callee
def cover(T: Any, V: Any, K: Any, n_comp: int, n_r: int, n_t: int, cold: bool, seed: int) -> float:
    """Write the covering vector d into column n_r of T; return t_0, or 0 where no cover is needed.

    Cold: d > 0 on every w, as Lemke's theory for copositive matrices wants it. Otherwise d lifts only
    what lies outside its bounds to a point inside, so that the path from a neighbour's basis is short.
    """
    x, low, high = V[X], V[LOW], V[HIGH]
    t_0 = 0.0
    for r in range(n_r):
        below, above = low[r] - x[r], x[r] - high[r]
        sign = -1 if high[r] - x[r] < x[r] - low[r] else 1
        K[SIGN, r] = sign if (low[r] > -np.inf or high[r] < np.inf) else 0
        K[START, r] = K[BASIC_VAR, r]
        d = spread(r, seed) if seed > 0 else 1.0
        gap = max(below, above)
        if cold:
            T[r, n_r] = d * K[SIGN, r]
            if gap > 0.0 and K[SIGN, r] != 0:
                t_0 = max(t_0, gap / d)
        elif gap > 0.0:
            T[r, n_r] = sign * (gap + min(gap * spread(r, 1 + seed), 0.5 * (high[r] - low[r])))
            t_0 = 1.0
        else:
            T[r, n_r] = 0.0
    K[NONBASIC_VAR, n_r] = 2 * n_t
    K[PLACE, 2 * n_t] = n_r
    return t_0


@inline
def lex_coefficient(T: Any, V: Any, K: Any, r: int, k: int, m: int) -> Any:
    """Return the coefficient of the k-th perturbation in the basic variable of row r.

    The basic variable that stood in row k at the start is perturbed by SIGN_k eps^(k+1), inwards.
    """
    place = K[PLACE, K[START, k]]
    if place >= 0:
        return -K[SIGN, k] * entry(T, V, r, place, m)
    return float(K[SIGN, k]) if place == -1 - r else 0.0


@callee
def lex_least(T: Any, V: Any, K: Any, count: int, m: int, n_r: int) -> Any:
    """Return the row that blocks first among the tied ones once the perturbation breaks the tie.

    Perturbation by perturbation, only rows with the least coefficient of their ratio stay in TIED.
    """
    for k in range(n_r):
        if count == 1:
            break
        least = np.inf
        for j in range(count):
            r = K[TIED, j]
            V[STEP, j] = lex_coefficient(T, V, K, r, k, m) / -V[RATE, r]
            least = min(least, V[STEP, j])
        kept = 0
        for j in range(count):
            if V[STEP, j] <= least + LEX:
                K[TIED, kept] = K[TIED, j]
                kept += 1
        count = kept
    return K[TIED, 0]


@callee
def lex_negative(T: Any, V: Any, K: Any, r: int, m: int, n_r: int) -> Any:
    """Return whether the perturbation makes row r block earlier than its unperturbed ratio."""
    for k in range(n_r):
        a = lex_coefficient(T, V, K, r, k, m) / -V[RATE, r]
        if a < -LEX or a > LEX:
            return a < 0.0
    return False


@inline_extremum
def largest_rate(V: Any, n_r: int) -> float:
    """Return max |RATE_i|."""
    size = 0.0
    for i in range(n_r):
        size = max(size, abs(V[RATE, i]))
    return size


@inline_extremum
def smallest_step(V: Any, n_r: int) -> float:
    """Return min STEP_i, inf where there is none."""
    least = np.inf
    for i in range(n_r):
        least = min(least, V[STEP, i])
    return least


@inline_extremum
def relaxed_step(V: Any, n_r: int) -> float:
    """Return min STEP_i where every basic variable may pass its bound by RELAX."""
    least = np.inf
    for i in range(n_r):
        least = min(least, V[STEP, i] + RELAX / abs(V[RATE, i]))
    return least


@inline
def steps_to_bounds(V: Any, n_r: int, zero: float) -> None:
    """Write into STEP how far the entering variable can go until each basic one meets a bound."""
    for r in range(n_r):
        rate = V[RATE, r]
        room = V[HIGH, r] - V[X, r] if rate > 0.0 else V[LOW, r] - V[X, r]
        ahead = room / rate if abs(rate) > zero else np.inf
        V[STEP, r] = ahead if ahead > 0.0 else 0.0


@inline
def ratio_test(T: Any, V: Any, K: Any, m: int, n_r: int, t: int, rule: int) -> Any:
    """Return (row that blocks, step) for the rates in RATE; row -1 where none does.

    Among tied rows t goes first, for that ends the path; then the rule decides.
    """
    size = largest_rate(V, n_r)
    steps_to_bounds(V, n_r, PIVOT * size)
    best = smallest_step(V, n_r)
    if best == np.inf:
        steps_to_bounds(V, n_r, LAST_PIVOT * size)
        best = smallest_step(V, n_r)
    if best == np.inf:
        return -1, best
    limit = best + TIE * (1.0 + best)
    if rule == LARGEST_PIVOT:
        limit = max(limit, relaxed_step(V, n_r))
    count, largest = 0, -1
    for r in range(n_r):
        if V[STEP, r] <= limit:
            if K[BASIC_VAR, r] == t:
                return r, V[STEP, r]
            K[TIED, count] = r
            count += 1
            if largest < 0 or abs(V[RATE, r]) > abs(V[RATE, largest]):
                largest = r
    if count == 1 or rule == LARGEST_PIVOT:
        return largest, V[STEP, largest]
    return lex_least(T, V, K, count, m, n_r), best


@inline
def advance(V: Any, step: float, n_r: int) -> None:
    """Move the basic variables by step times their rates."""
    for i in range(n_r):
        V[X, i] += step * V[RATE, i]


@inline
def drop_cover(T: Any, V: Any, K: Any, entering: int, n_r: int, n_t: int) -> None:
    """Take t out of the basis when it has reached zero in a tie: s or w of the open pair comes in for it."""
    t = 2 * n_t
    r = -1 - K[PLACE, t]
    i = entering if entering < n_t else entering - n_t
    c, d = K[PLACE, i], K[PLACE, n_t + i]
    s_enters = abs(T[r, c]) > abs(T[r, d])
    if max(abs(T[r, c]), abs(T[r, d])) <= LAST_PIVOT:
        return
    exchange(T, V, r, c if s_enters else d, n_r, n_r + 1)
    swap_names(K, r, c if s_enters else d)
    V[X, r] = V[SPAN, i] if s_enters and K[STATE, i] == AT_UPPER else 0.0
    if s_enters:
        K[STATE, i] = BASIC


@callee
def follow(
    T: Any, V: Any, K: Any, n_comp: int, n_r: int, n_t: int, t_0: float, rule: int, limit: int, stop: Any
) -> Any:
    """Follow the path from t_0 down; return (how it ended, pivots, last column, last direction).

    All basic variables must lie within their bounds at t_0.
    """
    t = 2 * n_t
    entering, direction, start, reach = t, -1, t_0, t_0
    m = 0
    move(T, V[X], n_r, t_0, n_r)
    for pivots in range(limit):
        if stop[0] != 0:
            return STOPPED, pivots, 0, 0
        if K[PLACE, t] < 0 and V[X, -1 - K[PLACE, t]] <= T_ZERO:
            settle(T, V, m, n_r, n_r + 1)
            drop_cover(T, V, K, entering, n_r, n_t)
            return ENDED, pivots + 1, 0, 0
        c = K[PLACE, entering]
        rates_into(T, V, c, direction, m, n_r)
        r, step = ratio_test(T, V, K, m, n_r, t, rule)
        crosses = reach < np.inf and (r < 0 or step > reach * (1.0 + TIE))
        if not crosses and reach < np.inf and step >= reach * (1.0 - TIE):
            crosses = K[BASIC_VAR, r] != t and not lex_negative(T, V, K, r, m, n_r)
        if crosses:
            advance(V, reach, n_r)
            if entering == t:
                return ENDED, pivots, c, direction
            K[STATE, entering] = AT_UPPER if direction > 0 else AT_LOWER
            entering, start, reach = n_t + entering, 0.0, np.inf
            direction = -direction
            continue
        if r < 0:
            settle(T, V, m, n_r, n_r + 1)
            return RAY, pivots, c, direction
        leaving = K[BASIC_VAR, r]
        at_high = V[RATE, r] > 0.0
        advance(V, step, n_r)
        if n_r < POSTPONE_FROM:
            exchange(T, V, r, c, n_r, n_r + 1)
        else:
            m = postpone_exchange(T, V, r, c, direction, m, n_r, n_r + 1)
        swap_names(K, r, c)
        V[X, r] = start + direction * step
        if entering < n_t:
            K[STATE, entering] = BASIC
        set_range(V, K, r, n_comp, n_t)
        if leaving == t:
            return ENDED, pivots + 1, c, direction
        if leaving >= n_t:
            entering = leaving - n_t
            upper = K[STATE, entering] == AT_UPPER
            start, reach = (V[SPAN, entering] if upper else 0.0), V[SPAN, entering]
            direction = -1 if upper else 1
        else:
            K[STATE, leaving] = AT_UPPER if at_high else AT_LOWER
            entering, start, reach = n_t + leaving, 0.0, np.inf
            direction = -1 if at_high else 1
    return PIVOT_LIMIT, limit, 0, 0
