"""Certificates in the loop: the physics of pushes and forces, sharing nothing with formulation and plan.

A push is held against what `mcpframe.contact.certificate` says, in the same scales, on the arrays of a run:
the rates AFTER, the impulses IMPULSES and the unknowns Z of what touches, and the state at which the problem
was made. What forces do in the kick of a step is found out again by inverse dynamics, at the rates v* that
`kick` has settled on:

    Mass (v_f - v - h b) = h (T - C(q_m, v*)),

b being what the rates of free hinges see of the turning of their axes. The state is left placed; PUSH,
B_ACCELERATION and BRANCHES of it are used up.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from numba import types

from mcpframe.contact.contact import NORMAL
from mcpframe.contact.contact_velocities import AXES
from mcpframe.contact.detection.records import C_BODY_A, C_BODY_B
from mcpframe.contact.law import FORCE_N
from mcpframe.contact.law_check import LEAST
from mcpframe.contact.law_kernel import law_error, worse
from mcpframe.jit import Indices, IndicesOut, VectorOut, callee, inline, kernel, window
from mcpframe.jit.lanes import get, load, put, zero
from mcpframe.multibody.kernels.loops import reference_of
from mcpframe.multibody.kernels.momentum import AFTER, BEFORE, FAINT, TURNOVER, WORK, balance_momentum
from mcpframe.multibody.kernels.spans import bodies_of, dofs_of
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import (
    C_MASS,
    CONSTANT,
    CONSTANTS,
    DOF_AT,
    FREE,
    KIND,
    N_BODIES,
    N_DOFS,
    N_SPANS,
    PAIR,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import key_of, normal_impulse_of, record_of, shift_of
from mcpframe.simulation.step.certifying.closure_check import closure_error, closure_matrix, closure_push
from mcpframe.simulation.step.certifying.push_check import (
    Case,
    contact_of,
    faster,
    fastest_rate,
    impulse_of,
    law_component,
    law_of,
    leaned_on,
    limit_of,
    moment_of,
    speeds,
    unknowns_of,
)
from mcpframe.simulation.step.kick import centre_turning
from mcpframe.simulation.step.moving.motion import put_three, three
from mcpframe.simulation.step.parting.parties import takes_part
from mcpframe.spatial.algebra import cross, dot, load_pair, plus, store_pair

# Impulses.


@inline
def add_wrench(I, X, XS, push, body, sign, point, moment, force):
    """Add a wrench at a point to those on a body."""
    if body >= 0:
        i, arm = push + body * PAIR, point - reference_of(I, X, body)
        store_pair(XS, i, plus(load_pair(XS, i), (sign * (moment + cross(arm, force)), sign * force)))


@callee
def clear_pushes(case):
    """Set all wrenches on bodies and all impulses at hinges to none."""
    I, IS, XS = case.I, case.IS, case.XS
    for k in range(I[N_BODIES] * PAIR):
        put(XS, IS[at.BODY_PUSH] + k, 0.0)
    for d in range(I[N_DOFS]):
        put(XS, IS[at.HINGE_PUSH] + d, 0.0)


@callee
def push_contact(case, X, i, moment, force):
    """Add the wrench of a contact to those on its bodies."""
    row, point, push = contact_of(case, i), load(case.XS, record_of(case, i)), case.IS[at.BODY_PUSH]
    add_wrench(case.I, X, case.XS, push, get(case.IS, row + C_BODY_A), 1.0, point, moment, force)
    add_wrench(case.I, X, case.XS, push, get(case.IS, row + C_BODY_B), -1.0, point, moment, force)


@inline
def push_limit(case, i, impulse):
    """Add the impulse of a limit to those at its hinge."""
    dof, sign = limit_of(case, i)
    o = case.IS[at.HINGE_PUSH] + dof
    put(case.XS, o, get(case.XS, o) + sign * impulse)


@callee
def gather_pushes(case, X, h):
    """Write what all impulses are to bodies and hinges; return the largest moment and force of a contact."""
    clear_pushes(case)
    largest = 0.0, 0.0
    for i in range(case.IS[at.N_TOUCHING]):
        if key_of(case, i) < 0:
            push_limit(case, i, normal_impulse_of(case, i))
            continue
        moment, force = moment_of(case, i, h), impulse_of(case, i)
        push_contact(case, X, i, moment, force)
        largest = faster(largest, (moment, force))
    closure_push(case)
    return largest


@callee
def take_change(case, first, last):
    """Write by how much rates have changed between two sets of them in XS."""
    for s in range(case.I[N_SPANS]):
        begin, end = dofs_of(case.I, s)
        for d in range(begin, end):
            put(case.XS, case.IS[at.CHANGE] + d, get(case.XS, last + d) - get(case.XS, first + d))


@callee
def balance(case, X, h):
    """Return the figure of the momentum of that change and of forces in a time h, and its scale."""
    I, IS, XS = case.I, case.IS, case.XS
    N = I[N_DOFS]
    change, errors = window(XS, IS[at.CHANGE], N), window(XS, IS[at.MISSING], N)
    push, hinges = window(XS, IS[at.BODY_PUSH], PAIR * I[N_BODIES]), window(XS, IS[at.HINGE_PUSH], N)
    energy = window(XS, IS[at.BALANCE], 8)
    error, scale = balance_momentum(I, X, change, h, push, hinges, errors, energy)
    scale = max(scale, LEAST)
    return error / scale, scale


# Figures.


@callee
def total_mass(I, X):
    """Return the mass of all bodies."""
    mass = 0.0
    for k in range(I[N_BODIES]):
        mass += get(X, I[CONSTANTS] + k * CONSTANT + C_MASS)
    return mass


@callee
def contact_error(case, i, h, scales):
    """Return how far a contact is from its law, and its impulse from the one that its unknowns mean."""
    beta, sigma = unknowns_of(case, i)
    velocity, scratch = case.IS[at.SEEN] + i * PAIR, case.IS[at.LAW_SCRATCH]
    law, data = law_of(case, i), case.IS[at.LAW_DATA]
    leans = leaned_on(case, i)
    worst = law_error(case.IS, case.XS, law, data, h, beta, sigma, velocity, scales, leans, scratch)
    impulse, record = impulse_of(case, i), record_of(case, i)
    for k in range(3):
        meant = law_component(case, i, FORCE_N + k, h)
        worst = worse(worst, abs(dot(load(case.XS, record + AXES[k]), impulse) - meant) / scales[3])
    pressed = dot(load(case.XS, record + NORMAL.start), impulse)
    return worse(worst, abs(pressed - normal_impulse_of(case, i)) / scales[3])


@callee
def limit_scales(case, X, momentum):
    """Return the largest rate of a hinge, and impulse of a limit."""
    speed, impulse = max(fastest_rate(case, X), LEAST), FAINT * momentum
    for i in range(case.IS[at.N_TOUCHING]):
        if key_of(case, i) < 0:
            impulse = max(impulse, abs(normal_impulse_of(case, i)))
    return speed, impulse


@callee
def limit_error(case, i, speed, impulse):
    """Return how far a limit is from ±θ̇+ + shift >= 0  _|_  p_l >= 0, and p_l from its unknown."""
    d, sign = limit_of(case, i)
    opens = sign * get(case.XS, case.IS[at.AFTER] + d) + shift_of(case, i)
    pressed, (beta, _) = normal_impulse_of(case, i), unknowns_of(case, i)
    worst = worse(0.0, abs(min(opens / speed, pressed / impulse)))
    return worse(worst, abs(pressed - get(case.XS, beta)) / impulse)


@callee
def is_undriven(case, h):
    """Return whether this is an impact in which nothing is to open and no closure is to move."""
    quiet = h == 0.0
    for i in range(case.IS[at.N_TOUCHING]):
        quiet = quiet and shift_of(case, i) >= 0.0
    for i in range(case.IE[loops.N_ROWS]):
        quiet = quiet and get(case.XE, case.IE[loops.TARGET] + i) == 0.0
    return quiet


@callee
def energy_error(case, h):
    """Return how far energy is from what work has made it, and what an impact adds that nothing drives."""
    energy = window(case.XS, case.IS[at.BALANCE], 8)
    before, after = get(energy, BEFORE), get(energy, AFTER)
    scale = max(before + after + get(energy, TURNOVER), LEAST)
    worst = worse(0.0, abs(after - before - get(energy, WORK)) / scale)
    return worse(worst, max(after - before, 0.0) / scale) if is_undriven(case, h) else worst


@inline
def told(figure):
    """Return a figure, infinite where it is no number."""
    return figure if figure == figure else math.inf


@kernel(Indices, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut, types.float64)
def push_error(I, X, IE, XE, IS, XS, h):
    """Return the worst figure of the last push: 0 is right.

    Args:
        I, X: the state at which its problem was made, bodies placed.
        IE, XE: closures, their rows at that state, and their targets.
        IS, XS: of the run.
        h: seconds, for laws that ask; 0 for impacts.
    """
    case = Case(I, IE, XE, IS, XS)
    closure_matrix(case, X)
    turning, sliding, closures = speeds(case, X, h)
    moment, force = gather_pushes(case, X, h)
    for s in range(I[N_SPANS]):
        begin, end = dofs_of(I, s)
        for d in range(begin, end):
            put(XS, IS[at.CHANGE] + d, get(XS, IS[at.AFTER] + d) - get(X, I[THETA_DOT] + d))
    worst, scale = balance(case, X, 0.0)
    force = max(force, FAINT * max(max(total_mass(I, X) * sliding, scale), LEAST))
    scales = turning, sliding, max(moment, FAINT * force), force
    speed, impulse = limit_scales(case, X, scale)
    for i in range(IS[at.N_TOUCHING]):
        if not takes_part(case, key_of(case, i)):  # its trial is not the one that it takes
            continue
        if key_of(case, i) < 0:
            worst = worse(worst, limit_error(case, i, speed, impulse))
        else:
            worst = worse(worst, contact_error(case, i, h, scales))
    worst = worse(worst, energy_error(case, h))
    return told(worse(worst, closure_error(case, closures)))


@kernel(Indices, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut)
def gift_error(I, X, IE, XE, IS, XS):
    """Return the figure of the momentum that an impact gives back: from COMPRESSED to GIVEN_BACK by GIVEN.

    Arguments as of `push_error`.
    """
    case = Case(I, IE, XE, IS, XS)
    clear_pushes(case)
    for i in range(IS[at.N_TOUCHING]):
        given = IS[at.GIVEN] + 4 * i
        if key_of(case, i) < 0:
            push_limit(case, i, get(XS, given + 3))
        else:
            push_contact(case, X, i, zero(), three(XS, given))
    take_change(case, IS[at.COMPRESSED], IS[at.GIVEN_BACK])
    figure, _ = balance(case, X, 0.0)
    return told(figure)


@kernel(Indices, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut, types.float64)
def force_error(I, X, IE, XE, IS, XS, h):
    """Return the figure of the momentum that forces bring in the kick of a step of h.

    Arguments as of `push_error`, but X has the rates v*, and its forces in TAU.
    """
    case = Case(I, IE, XE, IS, XS)
    clear_pushes(case)
    take_change(case, IS[at.BEFORE], IS[at.KICKED])
    for s in range(I[N_SPANS]):
        begin, end = bodies_of(I, s)
        for k in range(begin, end):
            row = I[TREE] + k * TREE_ROW
            if get(I, row + KIND) == FREE:
                o = IS[at.CHANGE] + get(I, row + DOF_AT)
                put_three(XS, o, three(XS, o) - h * centre_turning(I, X, k))
    figure, _ = balance(case, X, h)
    return told(figure)
