"""Friction cones of what touches, as parts read them in which contacts last: round, or with edges.

Forces and velocities are along n and the tangents of a contact, one after the other.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.detection.records import C_MATERIAL
from mcpframe.contact.law import FORCE_1, FORCE_2
from mcpframe.contact.law_kernel import L_BETAS, L_DATA, LAW_ROW
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.step.touching import ROW

PARALLEL = 1e-9
"""Sine up to which two edges are one."""


@inline
def law_place(run, i):
    """Return the number of the law of what touches."""
    return get(run.IS, run.IS[at.TOUCHING] + i * ROW + C_MATERIAL)


@inline
def forms_of(run, i):
    """Return how many components the rows of what touches have: n, or n and tangents."""
    return get(run.IS, run.IS[at.LAW_FORMS] + law_place(run, i))


@inline
def mu_of(run, i):
    """Return the friction coefficient of what touches."""
    return get(run.XS, run.IS[at.LAW_MU] + law_place(run, i))


@inline
def law_of(run, i):
    """Return how many unknowns the law of what touches has, and where its directions begin."""
    law = run.IS[at.LAW_ROWS] + law_place(run, i) * LAW_ROW
    return get(run.IS, law + L_BETAS), run.IS[at.LAW_DATA] + get(run.IS, law + L_DATA)


@inline
def edges_of(run, i):
    """Return how many edges the friction cone of what touches has, 0 for a round one or none."""
    m = law_of(run, i)[0]
    return m - 1 if m != forms_of(run, i) else 0


@inline
def edge(run, i, j):
    """Return edge j of a friction cone along t_1 and t_2: a direction of force."""
    m, Wd = law_of(run, i)
    return get(run.XS, Wd + FORCE_1 * m + 1 + j), get(run.XS, Wd + FORCE_2 * m + 1 + j)


@inline
def tangential(run, place, i):
    """Return how long the part along the tangents of contact i of what stands at XS[place] is."""
    forms = forms_of(run, i)
    first = get(run.XS, place + 1) if forms > 1 else 0.0
    second = get(run.XS, place + 2) if forms > 2 else 0.0
    return math.sqrt(first * first + second * second)


@inline
def rubs(run, i):
    """Return whether what touches has friction."""
    return forms_of(run, i) > 1 and mu_of(run, i) > 0.0


@callee
def nearest_corner(X, Wd, m, first, n, c_1, c_2, x, y):
    """Return which of n directions of a law is nearest to the opposite of (x, y), and how much nearer it is.

    Directions are columns of Wd [6, m] from X[Wd] on, the first of them number `first`, with components c_1
    and c_2; c_2 is below zero where there is one component.
    """
    best, nearest, second = -1, -math.inf, -math.inf
    for j in range(n):
        near = -get(X, Wd + c_1 * m + first + j) * x
        if c_2 >= 0:
            near -= get(X, Wd + c_2 * m + first + j) * y
        if near > nearest:
            best, nearest, second = j, near, nearest
        elif near > second:
            second = near
    return best, nearest - second


@callee
def least_sum(X, Wd, m, first, n, c_1, c_2, x, y):
    """Return the least sum of n directions of a law, as above, that is (x, y); infinite where none is."""
    least = math.inf
    for j in range(n):
        a_1 = get(X, Wd + c_1 * m + first + j)
        if c_2 < 0:
            least = min(least, x / a_1) if x * a_1 > 0.0 else (0.0 if x == 0.0 else least)
            continue
        a_2 = get(X, Wd + c_2 * m + first + j)
        for k in range(j):
            b_1, b_2 = get(X, Wd + c_1 * m + first + k), get(X, Wd + c_2 * m + first + k)
            area = a_1 * b_2 - a_2 * b_1
            if abs(area) > PARALLEL:
                a, b = (x * b_2 - y * b_1) / area, (a_1 * y - a_2 * x) / area
                if a >= 0.0 and b >= 0.0:
                    least = min(least, a + b)
    return least


@callee
def nearest_edge(run, i, place, sign):
    """Return the edge nearest to the opposite of what stands at XS[place], and how much nearer it is."""
    m, Wd = law_of(run, i)
    c_2, x, y = -1, sign * get(run.XS, place + 1), 0.0
    if forms_of(run, i) > 2:
        c_2, y = FORCE_2, sign * get(run.XS, place + 2)
    return nearest_corner(run.XS, Wd, m, 1, edges_of(run, i), FORCE_1, c_2, x, y)


@callee
def friction_used(run, i, force):
    """Return how much of mu F_n the friction at XS[force] takes: its length, or by the edges of the cone."""
    n = edges_of(run, i)
    if n == 0 or forms_of(run, i) == 2:
        return tangential(run, force, i)
    m, Wd = law_of(run, i)
    x, y = get(run.XS, force + 1), get(run.XS, force + 2)
    return least_sum(run.XS, Wd, m, 1, n, FORCE_1, FORCE_2, x, y)
