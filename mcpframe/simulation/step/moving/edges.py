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
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.step.touching import ROW
from mcpframe.spatial.lanes import get

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
def nearest_edge(run, i, place, sign):
    """Return the edge nearest to the opposite of what stands at XS[place], and how much nearer it is."""
    best, first, second = -1, -math.inf, -math.inf
    x = sign * get(run.XS, place + 1)
    y = sign * get(run.XS, place + 2) if forms_of(run, i) > 2 else 0.0
    for j in range(edges_of(run, i)):
        d_1, d_2 = edge(run, i, j)
        near = -d_1 * x - d_2 * y
        if near > first:
            best, first, second = j, near, first
        elif near > second:
            second = near
    return best, first - second


@callee
def friction_used(run, i, force):
    """Return how much of mu F_n the friction at XS[force] takes: its length, or by the edges of the cone."""
    n, least = edges_of(run, i), math.inf
    if n == 0 or forms_of(run, i) == 2:
        return tangential(run, force, i)
    x, y = get(run.XS, force + 1), get(run.XS, force + 2)
    for j in range(n):
        a_1, a_2 = edge(run, i, j)
        for k in range(j):
            b_1, b_2 = edge(run, i, k)
            area = a_1 * b_2 - a_2 * b_1
            if abs(area) > PARALLEL:
                a, b = (x * b_2 - y * b_1) / area, (a_1 * y - a_2 * x) / area
                if a >= 0.0 and b >= 0.0:
                    least = min(least, a + b)
    return least
