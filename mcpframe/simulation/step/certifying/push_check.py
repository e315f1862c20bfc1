"""A push, as its certificate reads it: impulses that change rates from v- to v+ at one configuration.

In a step of h seconds, whose forces have acted already, or an impact, where h is zero; laws ask for h.
Everything is in the arrays of the run and in the state at which the problem was made.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import Any, NamedTuple

from mcpframe.contact.contact_velocities import AXES, motion_at, write_velocity
from mcpframe.contact.detection.records import C_BODY_A, C_BODY_B, C_MATERIAL, CONTACT_ROW
from mcpframe.contact.law_check import LEAST
from mcpframe.contact.law_kernel import L_BETAS, L_DATA, L_GROWTH, LAW_ROW, number
from mcpframe.jit import callee, inline, window
from mcpframe.jit.lanes import get, load, put, vector, zero
from mcpframe.multibody.kernels.loops import point_motion, reference_of
from mcpframe.multibody.kernels.momentum import FAINT, body_motions, size
from mcpframe.multibody.kernels.spans import dofs_of
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import (
    B_ACCELERATION,
    B_POSITION,
    B_VELOCITY,
    BODIES,
    BODY,
    N_DOFS,
    N_SPANS,
    PAIR,
    THETA_DOT,
)
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import key_of, record_of
from mcpframe.simulation.step.certifying.closure_check import closure_speed
from mcpframe.simulation.step.pushing.solve import DECOMPRESSION
from mcpframe.solving.stages import SHIFTS, SOFTNESS


class Case(NamedTuple):
    """The arrays of a run that a certificate reads, by their names there."""

    I: Any
    IE: Any
    XE: Any
    IS: Any
    XS: Any


@inline
def asked_speed(case, i, k):
    """Return what the problem adds to the velocity of contact i along its axis k: n, t_1, t_2."""
    return get(case.XS, case.IS[at.SHIFTS] + SHIFTS * i + k)


@inline
def contact_of(case, i):
    """Return where the row of what touches begins."""
    return case.IS[at.TOUCHING] + i * CONTACT_ROW


@inline
def law_of(case, i):
    """Return where the law of a contact begins."""
    return case.IS[at.LAW_ROWS] + get(case.IS, contact_of(case, i) + C_MATERIAL) * LAW_ROW


@inline
def unknowns_of(case, i):
    """Return where β and σ of what touches begin."""
    Z, place = case.IS[at.Z], case.IS[at.UNKNOWNS] + 2 * i
    return Z + get(case.IS, place), Z + get(case.IS, place + 1)


@inline
def impulse_of(case, i):
    """Return the impulse on A of a contact in world axes."""
    o = case.IS[at.IMPULSES] + 4 * i
    return vector(get(case.XS, o), get(case.XS, o + 1), get(case.XS, o + 2))


@inline
def limit_of(case, i):
    """Return dof and sign of a limit that touches."""
    limit = -1 - key_of(case, i)
    dof = get(case.IS, case.IS[at.LIMITS] + limit * at.LIMIT_ROW + at.M_DOF)
    return dof, get(case.XS, case.IS[at.LIMIT_VALUES] + 4 * limit + at.M_SIGN)


@inline
def leaned_on(case, i):
    """Return the normal impulse that friction of a contact leans on besides its own."""
    return get(case.XS, case.IS[at.LEANS] + i) if case.IS[at.KIND] == DECOMPRESSION else 0.0


@callee
def law_component(case, i, c, h):
    """Return component c, in its frame, of the wrench on A that the unknowns of a contact mean: Wd β."""
    law, (beta, _) = law_of(case, i), unknowns_of(case, i)
    m, growth = get(case.IS, law + L_BETAS), get(case.IS, law + L_GROWTH)
    Wd = case.IS[at.LAW_DATA] + get(case.IS, law + L_DATA) + c * m
    total = 0.0
    for j in range(m):
        total += number(case.XS, Wd + j, h, growth) * get(case.XS, beta + j)
    return total


@callee
def moment_of(case, i, h):
    """Return the impulsive moment on A of a contact in world axes."""
    moment, record = zero(), record_of(case, i)
    for k in range(3):
        moment = moment + law_component(case, i, k, h) * load(case.XS, record + AXES[k])
    return moment


# Speeds.


@callee
def add_yielding(case, i, h, o):
    """Add by how much a contact yields to the velocity that is at XS[o]."""
    for c in range(SOFTNESS):
        yields = get(case.XS, case.IS[at.SOFTNESS] + SOFTNESS * i + c) * law_component(case, i, c, h)
        place = o + c + c // 3
        put(case.XS, place, get(case.XS, place) + yields)


@callee
def fastest_rate(case, X):
    """Return the largest rate of a hinge, before and after."""
    I, fastest = case.I, 0.0
    for s in range(I[N_SPANS]):
        begin, end = dofs_of(I, s)
        for d in range(begin, end):
            before, after = get(X, I[THETA_DOT] + d), get(case.XS, case.IS[at.AFTER] + d)
            fastest = max(fastest, max(abs(before), abs(after)))
    return fastest


@inline
def faster(fastest, motion):
    """Return the largest angular and linear speed so far."""
    return max(fastest[0], size(motion[0])), max(fastest[1], size(motion[1]))


@callee
def fastest_bodies(case, X, fastest, moving):
    """Return the largest speeds of a body at a contact; `moving`: of the motions in B_ACCELERATION."""
    for i in range(case.IS[at.N_TOUCHING]):
        if key_of(case, i) < 0:
            continue
        point = load(case.XS, record_of(case, i))
        for side in range(2):
            body = get(case.IS, contact_of(case, i) + (C_BODY_A if side == 0 else C_BODY_B))
            if moving:
                fastest = faster(fastest, motion_at(case.I, X, body, point))
            else:
                fastest = faster(fastest, point_motion(case.I, X, body, point))
    return fastest


@callee
def longest_arm(case, X):
    """Return the largest distance of a contact's point from the frame of one of its bodies."""
    longest = 0.0
    for i in range(case.IS[at.N_TOUCHING]):
        if key_of(case, i) < 0:
            continue
        point = load(case.XS, record_of(case, i))
        for side in range(2):
            body = get(case.IS, contact_of(case, i) + (C_BODY_A if side == 0 else C_BODY_B))
            if body >= 0:
                o = case.I[BODIES] + body * BODY
                longest = max(longest, size(point - reference_of(case.I, X, body) - load(X, o + B_POSITION)))
    return longest


@callee
def speeds(case, X, h):
    """Write the velocities of the contacts after the push of h, as asked, of their surfaces if they yield.

    Returns scales: of turning and sliding at contacts, and of the rates of closures. They count speeds before
    and after.
    """
    I, IS, XS = case.I, case.IS, case.XS
    if IS[at.N_TOUCHING] == 0 and case.IE[loops.N_ROWS] == 0:
        return LEAST, LEAST, LEAST
    fastest = fastest_bodies(case, X, (0.0, 0.0), False)
    closures = closure_speed(case, X, LEAST, B_VELOCITY)
    body_motions(I, X, window(XS, IS[at.AFTER], I[N_DOFS]))
    turning, sliding = fastest_bodies(case, X, fastest, True)
    closures = closure_speed(case, X, closures, B_ACCELERATION)
    for i in range(IS[at.N_TOUCHING]):
        if key_of(case, i) >= 0:
            o = IS[at.SEEN] + i * PAIR
            write_velocity(I, X, IS, contact_of(case, i), XS, record_of(case, i), XS, o)
            for k in range(3):
                put(XS, o + 4 + k, get(XS, o + 4 + k) + asked_speed(case, i, k))
            if IS[at.SOFT] != 0:
                add_yielding(case, i, h, o)
    arm = longest_arm(case, X)
    arm = arm if arm > 0.0 else 1.0
    speed = max(max(sliding, arm * max(turning, FAINT * fastest_rate(case, X))), LEAST)
    return speed / arm, speed, closures
