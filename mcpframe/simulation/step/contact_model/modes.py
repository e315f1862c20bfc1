"""Modes: what of a closed contact is at its limit, group by group of its law.

A group (`mcpframe.simulation.memory.law_groups`) is at its limit where its forces or moments say so, unless
its contact is rigid and does not slip, and some have not for a while; friction also where that slides where
the step begins. All others stick.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math
from typing import Any, NamedTuple

from mcpframe.contact.contact import NORMAL
from mcpframe.contact.law import FORCE_1, FORCE_N
from mcpframe.contact.law_kernel import L_BETAS, L_DATA, L_GROWTH, L_NORMAL, L_SIGMAS, LAW_ROW, number
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.law_groups import (
    BOUNDED,
    DISC,
    G_COMPONENTS,
    G_FIRST,
    G_GROUPS,
    G_NORMAL,
    G_USED,
    GIVEN,
    GROUP,
    GROUP_BETA,
    GROUP_BETAS,
    GROUP_FORM,
    GROUP_FORM_2,
    GROUP_KIND,
    GROUP_WHICH,
    HELD,
    LAW_GROUPS,
    LEANS,
)
from mcpframe.simulation.memory.slots import is_soft, key_of, material_of, normal_impulse_of, record_of
from mcpframe.simulation.step.moving.edges import least_sum, nearest_corner
from mcpframe.simulation.step.moving.motion import three
from mcpframe.solving.stages import SEPARATING, SLIDING, STICKING
from mcpframe.spatial.algebra import dot

AT_LIMIT = 1e-6
"""Share of its limit up to which a group is at it."""


class Case(NamedTuple):
    """The arrays of a run that a judge reads, by their names there."""

    I: Any
    IE: Any
    IP: Any
    XR: Any
    IS: Any
    XS: Any


class GroupOf(NamedTuple):
    """A group of a contact's law: kind; which slack, disc or β it is; its first β and how many.

    Its components, as places among those used and by name, the second -1 where it has one; where Wd [6, m]
    begins.
    """

    kind: Any
    which: Any
    beta: Any
    betas: Any
    form_1: Any
    form_2: Any
    c_1: Any
    c_2: Any
    Wd: Any
    m: Any


@inline
def groups_of(case, i):
    """Return where the groups of what touches stand."""
    return case.IS[at.LAW_GROUPS] + LAW_GROUPS * material_of(case, i)


@inline
def components_of(case, i):
    """Return how many components the rows of what touches have."""
    return get(case.IS, groups_of(case, i) + G_COMPONENTS)


@inline
def component(case, i, form):
    """Return which component of a wrench the `form`-th of what touches is."""
    return get(case.IS, groups_of(case, i) + G_USED + form)


@inline
def normal_form(case, i):
    """Return which of its components is along the normal."""
    return get(case.IS, groups_of(case, i) + G_NORMAL)


@inline
def n_groups(case, i):
    """Return how many groups what touches has."""
    return get(case.IS, groups_of(case, i) + G_GROUPS)


@inline
def group_of(case, i, g):
    """Return group g of what touches."""
    IS, o = case.IS, groups_of(case, i) + G_FIRST + g * GROUP
    law = IS[at.LAW_ROWS] + material_of(case, i) * LAW_ROW
    form_1, form_2 = get(IS, o + GROUP_FORM), get(IS, o + GROUP_FORM_2)
    c_2 = component(case, i, form_2) if form_2 >= 0 else -1
    betas = get(IS, o + GROUP_BETA), get(IS, o + GROUP_BETAS)
    directions = IS[at.LAW_DATA] + get(IS, law + L_DATA), get(IS, law + L_BETAS)
    head = get(IS, o + GROUP_KIND), get(IS, o + GROUP_WHICH)
    return GroupOf(*head, *betas, form_1, form_2, component(case, i, form_1), c_2, *directions)


@inline
def is_known(case, i):
    """Return whether the force of what touches follows from a layer that it always has.

    Where contacts do not switch, they are judged as if they had none.
    """
    kind = get(case.IS, case.IS[at.LAYER_KINDS] + material_of(case, i))
    return case.IS[at.SWITCHES] != at.NEVER and kind in (at.SPRUNG, at.HOSTED)


@inline
def is_asked(case, i):
    """Return whether what touches presses, or stays closed without pressing, and its force is asked for."""
    closed = get(case.IS, case.IS[at.MODES] + i) != SEPARATING
    return (closed or normal_impulse_of(case, i) > 0.0) and not is_known(case, i)


@inline
def pressing_of(case, i):
    """Return the normal impulse that friction is a share of: a unit where there is none."""
    return normal_impulse_of(case, i) if normal_impulse_of(case, i) > 0.0 else 1.0


@callee
def write_wrench(case, i):
    """Write the impulsive wrench of contact i along n, t_1 and t_2, moments first; return where it is."""
    IS, XS, o = case.IS, case.XS, case.IS[at.WRENCHES] + 8 * i
    impulse = three(XS, IS[at.IMPULSES] + 4 * i)
    for k in range(3):
        put(XS, o + k, 0.0)
        put(XS, o + FORCE_N + k, dot(impulse, load(XS, record_of(case, i) + NORMAL.start + 4 * k)))
    law = IS[at.LAW_ROWS] + material_of(case, i) * LAW_ROW
    m, Wd = get(IS, law + L_BETAS), IS[at.LAW_DATA] + get(IS, law + L_DATA)
    beta = IS[at.Z] + get(IS, IS[at.UNKNOWNS] + 2 * i)
    for form in range(components_of(case, i)):
        c = component(case, i, form)
        if c < FORCE_N:
            for j in range(m):
                put(XS, o + c, get(XS, o + c) + get(XS, Wd + c * m + j) * get(XS, beta + j))
    return o


@callee
def reach(case, i, group):
    """Return the limit of a group that leans on the normal impulse, of which a closed contact has a unit."""
    IS, XS, law = case.IS, case.XS, case.IS[at.LAW_ROWS] + material_of(case, i) * LAW_ROW
    m, s = group.m, get(IS, law + L_SIGMAS)
    P = group.Wd + 6 * m + m * s
    place = P + group.which * m + get(IS, law + L_NORMAL)
    if group.kind == DISC:
        place = P + m * s + s * s + s + 2 * m + 2 * s + group.which
    return number(XS, place, XS[at.TRIAL], get(IS, law + L_GROWTH)) * pressing_of(case, i)


@callee
def bound(case, i, group, x):
    """Return the bound of a group that has two, on the side of x."""
    IS, XS, law = case.IS, case.XS, case.IS[at.LAW_ROWS] + material_of(case, i) * LAW_ROW
    m, s = group.m, get(IS, law + L_SIGMAS)
    lower = group.Wd + 6 * m + 2 * m * s + s * s + s + group.which
    return number(XS, lower if x < 0.0 else lower + m, XS[at.TRIAL], get(IS, law + L_GROWTH))


@callee
def share_of_limit(case, i, group):
    """Return which share of its limit a group of contact i takes, by its wrench; 1 at the limit."""
    XS, o, kind = case.XS, case.IS[at.WRENCHES] + 8 * i, group.kind
    if kind == GIVEN:
        return math.inf
    if kind == HELD:
        return 0.0
    x, y = get(XS, o + group.c_1), get(XS, o + group.c_2) if group.c_2 >= 0 else 0.0
    if kind == LEANS:
        directions = group.Wd, group.m, group.beta, group.betas, group.c_1, group.c_2
        return least_sum(XS, *directions, x, y) / reach(case, i, group)
    x /= get(XS, group.Wd + group.c_1 * group.m + group.beta)
    if kind == BOUNDED:
        return x / bound(case, i, group, x)
    if group.c_2 >= 0:
        y /= get(XS, group.Wd + group.c_2 * group.m + group.beta + 1)
    return math.hypot(x, y) / reach(case, i, group)


@callee
def oppose(case, i, group, u_1, u_2):
    """Write the friction of a group that slides at (u_1, u_2) to its wrench."""
    XS, o = case.XS, case.IS[at.WRENCHES] + 8 * i
    Wd, m, most = group.Wd, group.m, reach(case, i, group)
    first, second = Wd + group.c_1 * m + group.beta, Wd + group.c_2 * m + group.beta
    if group.kind == LEANS:
        directions = Wd, m, group.beta, group.betas, group.c_1, group.c_2
        best = nearest_corner(XS, *directions, u_1, u_2)[0]
        put(XS, o + group.c_1, most * get(XS, first + best))
        if group.c_2 >= 0:
            put(XS, o + group.c_2, most * get(XS, second + best))
        return
    a_1, a_2 = get(XS, first), get(XS, second + 1) if group.c_2 >= 0 else 0.0
    size = math.hypot(a_1 * u_1, a_2 * u_2)
    put(XS, o + group.c_1, -most * a_1 * a_1 * u_1 / size)
    if group.c_2 >= 0:
        put(XS, o + group.c_2, -most * a_2 * a_2 * u_2 / size)


@callee
def slides_from_start(case, i, group):
    """Return whether a rigid contact slides where the step begins; its wrench is that of friction then."""
    IS, XS = case.IS, case.XS
    if group.c_1 < FORCE_1 or is_soft(case, i):
        return False  # bodies move while the surface of a layer sticks
    u, axes = three(XS, IS[at.START_VELOCITIES] + 4 * i), record_of(case, i) + NORMAL.start - 4 * FORCE_N
    u_1 = dot(u, load(XS, axes + 4 * group.c_1))
    u_2 = dot(u, load(XS, axes + 4 * group.c_2)) if group.c_2 >= 0 else 0.0
    if math.hypot(u_1, u_2) <= XS[at.SLIP_SPEED]:
        return False
    if group.kind in (LEANS, DISC):
        oppose(case, i, group, u_1, u_2)
    return True


@callee
def is_at_limit(case, i, group):
    """Return whether a group of contact i, whose wrench is written, is at its limit.

    Friction at its limit that does not slip may be about to, where a run begins; after some steps at rest it
    is a corner that a solver has chosen among many answers, and holds.
    """
    IS, mode = case.IS, get(case.IS, case.IS[at.MODES] + i)
    if group.kind in (GIVEN, HELD):
        return group.kind == GIVEN
    if slides_from_start(case, i, group):
        return True
    if IS[at.LASTS] != 0:
        return mode == SLIDING  # its friction is a mean along a way that turns
    holds = group.c_1 >= FORCE_1 and mode == STICKING and not is_soft(case, i)
    if holds:
        put(IS, at.RESTS, 1)
    at_limit = share_of_limit(case, i, group) >= 1.0 - AT_LIMIT
    return at_limit and not (holds and IS[at.RESTED] >= IS[at.DWELL])


@callee
def see_modes(case, i):
    """Write which groups of contact i stick to STUCK, bit by bit; return whether one of its forces slides."""
    stuck, slides = 0, False
    if key_of(case, i) >= 0:
        write_wrench(case, i)
    for g in range(n_groups(case, i)):
        group = group_of(case, i, g)
        if not is_at_limit(case, i, group):
            stuck += 1 << g
        elif group.kind != GIVEN and group.c_1 >= FORCE_1:
            slides = True
    put(case.IS, case.IS[at.STUCK] + i, stuck)
    return slides


@inline
def sticks(case, i, g):
    """Return whether group g of contact i sticks."""
    return (get(case.IS, case.IS[at.STUCK] + i) >> g) & 1 == 1
