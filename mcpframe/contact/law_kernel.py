"""One contact's law, held against a velocity and impulses, in compiled code; as `mcpframe.contact.law_check`.

Laws are packed once. Their numbers may grow with the length of a step in a straight line: a number is its
value in an impact, and behind all of them stands what each grows by in a second.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.law import FORCE_N, MOST_DISCS, LawRows
from mcpframe.contact.law_check import LEAST, has_least_slack
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put
from mcpframe.problem.cone import disc_gap

L_BETAS, L_SIGMAS, L_DATA, L_LEAST, L_GROWTH, L_NORMAL, L_DISCS, L_DISC = range(8)
LAW_ROW = L_DISC + 2 * MOST_DISCS
"""A law: how many β and σ; where its numbers begin, by rows Wd, N, P, R, r, lower and upper bounds of β and
of σ, mu of discs; whether a slack is the least that it can be; how far behind its numbers stands what they
grow by; which β is the normal impulse, -1 for none; how many discs, the first β and the number of each."""


@inline
def worse(a, b):
    """Return the larger of two figures, or what is no number."""
    return a if b <= a or a != a else b


@inline
def number(X, i, h, growth):
    """Return a number of a law in a step of h."""
    return get(X, i) + h * get(X, i + growth)


@inline
def natural(x, w, lower, upper):
    """Return |x - mid(l, x - w, u)|."""
    return abs(x - min(max(x - w, lower), upper))


@callee
def law_directions(X, Wd, m, h, growth, velocity, scales, out):
    """Write a = Wd* V_rel, the scales of these speeds, and those of β, one behind the other [3 m].

    V_rel lies in memory as two vectors of four lanes.
    """
    turning, sliding, moment, force = scales
    for j in range(m):
        speed, fastest, largest = 0.0, 0.0, 0.0
        for c in range(6):
            w = number(X, Wd + c * m + j, h, growth)
            speed += w * get(X, velocity + c + c // 3)
            fastest += abs(w) * (turning if c < FORCE_N else sliding)
            largest = max(largest, abs(w) / (moment if c < FORCE_N else force))
        put(X, out + j, speed)
        put(X, out + m + j, max(fastest, LEAST))
        put(X, out + 2 * m + j, 1.0 / max(largest, LEAST) if largest > 0.0 else force)


@callee
def least_slack(X, N, m, s, k, h, growth, a):
    """Return the least σ_k with Wd* V_rel + N σ >= 0."""
    least = 0.0
    for j in range(m):
        n = number(X, N + j * s + k, h, growth)
        if n > 0.0:
            least = worse(least, -get(X, a + j) / n)
    return least


@callee
def is_normal(X, Wd, N, m, s, j, h, growth, upper):
    """Return whether β_j is a pure normal impulse without an upper bound."""
    pure = number(X, Wd + FORCE_N * m + j, h, growth) > 0.0 and math.isinf(number(X, upper + j, h, growth))
    for c in range(6):
        pure = pure and (c == FORCE_N or number(X, Wd + c * m + j, h, growth) == 0.0)
    for k in range(s):
        pure = pure and number(X, N + j * s + k, h, growth) == 0.0
    return pure


@callee
def slack_speed(X, N, m, s, k, h, growth, rows, otherwise):
    """Return the scale of σ_k: the largest one of the rows that it appears in."""
    fastest = 0.0
    for j in range(m):
        if number(X, N + j * s + k, h, growth) != 0.0:
            fastest = max(fastest, get(X, rows + j))
    return fastest if fastest > 0.0 else otherwise


@callee
def budget_error(X, N, m, s, k, h, growth, beta, scratch, otherwise, normal, given):
    """Return the residual of row k of P (β + e_n given) + R σ + r _|_ σ."""
    P, R, r = N + m * s, N + 2 * m * s, N + 2 * m * s + s * s
    lower = r + s + 2 * m
    rows, units, slacks = scratch + m, scratch + 2 * m, scratch + 3 * m
    budget = number(X, r + k, h, growth)
    scale = abs(budget)
    if normal >= 0:
        leaning = number(X, P + k * m + normal, h, growth) * given
        budget, scale = budget + leaning, scale + abs(leaning)
    for j in range(m):
        share = number(X, P + k * m + j, h, growth)
        budget += share * get(X, beta + j)
        scale += abs(share) * get(X, units + j)
    for i in range(s):
        share = number(X, R + k * s + i, h, growth)
        budget += share * get(X, slacks + i)
        scale += abs(share) * slack_speed(X, N, m, s, i, h, growth, rows, otherwise)
    speed = slack_speed(X, N, m, s, k, h, growth, rows, otherwise)
    low, high = number(X, lower + k, h, growth) / speed, number(X, lower + s + k, h, growth) / speed
    return natural(get(X, slacks + k) / speed, budget / max(scale, LEAST), low, high)


@inline
def is_on_disc(I, law, j):
    """Return whether β_j lies on a disc."""
    found = False
    for d in range(get(I, law + L_DISCS)):
        first = get(I, law + L_DISC + 2 * d)
        found = found or first <= j < first + get(I, law + L_DISC + 2 * d + 1)
    return found


@callee
def disc_error(I, X, law, mus, h, beta, scratch, given):
    """Return the residual of all discs, |x - P(x - w)| in the scales of their rows."""
    m, growth, worst = get(I, law + L_BETAS), get(I, law + L_GROWTH), 0.0
    pressing = max(get(X, beta + get(I, law + L_NORMAL)), 0.0) + given if get(I, law + L_DISCS) > 0 else 0.0
    for d in range(get(I, law + L_DISCS)):
        first = get(I, law + L_DISC + 2 * d)
        last = first + get(I, law + L_DISC + 2 * d + 1) - 1
        speed = max(get(X, scratch + m + first), get(X, scratch + m + last))
        unit = max(get(X, scratch + 2 * m + first), get(X, scratch + 2 * m + last))
        reach = number(X, mus + d, h, growth) * pressing / unit
        x_1, w_1 = get(X, beta + first) / unit, get(X, scratch + first) / speed
        x_2, w_2 = (
            (get(X, beta + last) / unit, get(X, scratch + last) / speed) if last > first else (0.0, 0.0)
        )
        gap_1, gap_2 = disc_gap(x_1, x_2, w_1, w_2, reach)
        worst = worse(worst, worse(abs(gap_1), abs(gap_2)))
    return worst


@callee
def law_error(I, X, law, data, h, beta, sigma, velocity, scales, given, scratch):
    """Return how far a contact is from its law, a figure without units: see `LawCheck`.

    Args:
        I, X: arrays of a run; all else but h and the scales says where in them something begins.
        law: its row; data: the numbers of all laws.
        h: s.
        beta, sigma: what the contact is said to do.
        velocity: of A relative to B in its frame, with what is asked on top, both parts padded to four.
        scales: of angular and linear speeds, of moments and forces.
        given: normal impulse that friction leans on besides that of β, see `LawRows.leaning`.
        scratch: room for 3 m + s numbers.
    """
    m, s, growth = get(I, law + L_BETAS), get(I, law + L_SIGMAS), get(I, law + L_GROWTH)
    normal = get(I, law + L_NORMAL)
    Wd = data + get(I, law + L_DATA)
    N, lower = Wd + 6 * m, Wd + 6 * m + 2 * m * s + s * s + s
    a, rows, units, slacks = scratch, scratch + m, scratch + 2 * m, scratch + 3 * m
    law_directions(X, Wd, m, h, growth, velocity, scales, a)
    for k in range(s):
        told = get(X, sigma + k)
        put(X, slacks + k, told if get(I, law + L_LEAST) == 0 else least_slack(X, N, m, s, k, h, growth, a))
    worst = 0.0
    for j in range(m):
        if is_on_disc(I, law, j):
            continue
        unit, row, w = get(X, units + j), get(X, rows + j), get(X, a + j)
        x, low = get(X, beta + j) / unit, number(X, lower + j, h, growth) / unit
        if is_normal(X, Wd, N, m, s, j, h, growth, lower + m):
            worst = worse(worst, abs(min(w / row, x - low)))
            continue
        for k in range(s):
            w += number(X, N + j * s + k, h, growth) * get(X, slacks + k)
        worst = worse(worst, natural(x, w / row, low, number(X, lower + m + j, h, growth) / unit))
    for k in range(s):
        row = budget_error(X, N, m, s, k, h, growth, beta, scratch, scales[1], normal, given)
        worst = worse(worst, row)
    return worse(worst, disc_error(I, X, law, lower + 2 * m + 2 * s, h, beta, scratch, given))


def pack_laws(laws: Sequence[LawRows], half: Sequence[LawRows], dt: float) -> tuple[NDArray[np.int64], Array]:
    """Return the rows and the numbers of laws for `law_error`.

    Args:
        laws, half: rows of the laws in steps of dt, and of half that.
        dt: s.
    """
    whole = [_numbers(law) for law in laws]
    ends = np.cumsum([0, *(numbers.size for numbers in whole)])
    rows = [
        (law.m, law.s, start, has_least_slack(law), ends[-1], law.normal, len(law.discs), *_disc_rows(law))
        for law, start in zip(laws, ends[:-1], strict=True)
    ]
    at_dt, at_half = np.concatenate(whole), np.concatenate([_numbers(law) for law in half])
    growth = np.zeros_like(at_dt)
    finite = np.isfinite(at_dt)
    growth[finite] = (at_dt[finite] - at_half[finite]) / (0.5 * dt)
    values = np.where(finite, at_dt - dt * growth, at_dt)
    return np.array(rows, dtype=np.int64).reshape(-1, LAW_ROW), np.concatenate([values, growth])


def scratch_room(rows: NDArray[np.int64]) -> int:
    """Return how many numbers `law_error` needs beside those of such laws."""
    return int((3 * rows[:, L_BETAS] + rows[:, L_SIGMAS]).max(initial=0))


def _numbers(law: LawRows) -> Array:
    bounds = law.beta_lower, law.beta_upper, law.sigma_lower, law.sigma_upper
    parts = law.Wd, law.N, law.P, law.R, law.r, *bounds, law.disc_mu
    return np.concatenate([part.ravel() for part in parts])


def _disc_rows(law: LawRows) -> list[int]:
    """Return the columns of `L_DISC`, zeros where there are no more discs."""
    rows = [number for disc in law.disc_rows for number in disc]
    return rows + [0] * (2 * MOST_DISCS - len(rows))
