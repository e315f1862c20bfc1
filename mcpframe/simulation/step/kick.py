"""The kick: what forces do to the rates in the middle of a step, where contacts and loops are met.

A step of h drifts for h/2 without forces, is kicked by all forces and impulses of h at once, and drifts for
the other half (Moreau's midpoint rule):

    q_m, v    = drift(q, v_0, h/2)
    v_f       = v + h Mass⁻¹ (T - C(q_m, v*))
    v+        = v_f + Mass⁻¹ G* p             one problem, with rows at q_m
    q+, v_0+  = drift(q_m, v+, h/2)

It is of second order, as v* is the mean rate of the kick, impulses included, up to second order: from the
accelerations a and those by impulses a_c of the last steps, followed in a straight line to this one,

    v*_0 = v + h/2 a,      v* = v + h/2 (Mass⁻¹ (T - C(q_m, v*_0)) + a_c).

Where contacts or impacts change, or throw rates back, there is nothing to follow; where motion is slow, v*_0
serves as v*. Coordinates stand still in a kick: bodies by themselves have no gyroscopic term, and what the
rates of a free hinge see is the acceleration of its centre of mass. `semi_implicit_euler` kicks where the
step begins, C(q, v), and drifts for all of h.

*Contacts.* What touches where the step begins is found again at q_m. With u the velocity of a contact there
and δ by how much it has grown since the step began, which is h/2 Ġ v,

    v_n+ + δ_n + e / h  >= 0,     e = gap - h δ_n / 4,       v_t+ + δ_t for the slip:

the next middle is met with no gap, and u vanishes at the end of the step to second order, wherever surfaces
curve and bodies roll. For *loops* see `closures`.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.contact import NORMAL, RECORD
from mcpframe.contact.detection import records as found
from mcpframe.jit import by_address, callee, inline
from mcpframe.jit.lanes import get, load, put, store
from mcpframe.multibody.kernels.entries import PLACED, SWEPT, free_dynamics, place_rates
from mcpframe.multibody.kernels.spans import bodies_of, dofs_of
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import (
    C_COM,
    CONSTANT,
    CONSTANTS,
    DOF_AT,
    FREE,
    KIND,
    N_DOF,
    N_DOFS,
    N_SPANS,
    THETA,
    THETA_DDOT,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import key_of, n_found, record_of
from mcpframe.simulation.step.closures import ask_loops, ask_motion
from mcpframe.simulation.step.contact_model.references import reference_rate
from mcpframe.simulation.step.drives import (
    add_implicit,
    add_stiffest,
    gather_forces,
    keep_inertias,
    sample_motors,
)
from mcpframe.simulation.step.moving.drift import drift, first_share
from mcpframe.simulation.step.moving.motion import integrate, put_three, three
from mcpframe.simulation.step.touching import (
    IN_REACH,
    call_place,
    find,
    find_again,
    limit_gap,
    limit_of,
    place_of,
    relative_velocity,
    take_limit,
    take_touching,
)
from mcpframe.spatial.algebra import cross, dot

call_free_dynamics = by_address(free_dynamics)
call_place_rates = by_address(place_rates)

ROW, NORMAL_AT = found.CONTACT_ROW, NORMAL.start
FORESEEN = 1e-13
"""Rates, rad/s and m/s, by which a kick may change for want of a better v*."""
PRIME = 2147483647
"""Larger than what is left of the sum by which sets of contacts are told apart."""


@callee
def accelerate(run, X, done):
    """Write the free acceleration of a state whose forces are known; `done` as in `entries`."""
    failed = call_free_dynamics(run.A[at.ACCELERATE], (run.I, X, done))
    return at.NO_MOTION if failed != 0 else at.DONE


@callee
def limits_in_reach(run, X):
    """Add to what touches the limits that a fixed step can reach."""
    if run.IS[at.N_LIMITS] == 0:
        return at.DONE
    sample_motors(run, X, run.XS[at.TIME])
    code = accelerate(run, X, PLACED)
    return take_touching(run, X, IN_REACH) if code == at.DONE else code


@callee
def begin_contacts(run, X):
    """Keep what touches at X, where a step begins, with its velocities."""
    IS, XS = run.IS, run.XS
    for i in range(IS[at.N_TOUCHING]):
        start, record = IS[at.START_RECORDS] + i * RECORD, record_of(run, i)
        for k in range(RECORD):
            put(XS, start + k, get(XS, record + k))
        put(XS, IS[at.START_GAPS] + i, get(XS, IS[at.GAPS] + i))
        if key_of(run, i) >= 0:
            u = relative_velocity(run.I, X, IS, IS[at.TOUCHING] + i * ROW, XS, record)
            store(XS, IS[at.START_VELOCITIES] + 4 * i, u)
            put(XS, IS[at.START_VELOCITIES] + 4 * i + 3, dot(load(XS, record + NORMAL_AT), u))


@callee
def meet_contact(run, i, h):
    """Take contact i as it is in the middle of a step of h, or, where it is far there, as at its start.

    One that opened where the step began is not thrown back faster than it comes: that would add energy.
    """
    ID, IS, XS, Z = run.ID, run.IS, run.XS, run.Z
    record, start = record_of(run, i), IS[at.START_RECORDS] + i * RECORD
    before, ahead = IS[at.START_VELOCITIES] + 4 * i, IS[at.AHEAD] + 4 * i
    where = -1
    if IS[at.EULER] == 0:
        where = place_of(ID, ID[found.CONTACTS] + found.C_KEY, ROW, n_found(run), key_of(run, i))
    for k in range(RECORD):
        if where >= 0:
            put(XS, record + k, get(run.XD, ID[found.RECORDS] + where * RECORD + k))
        else:
            put(XS, record + k, get(XS, start + k))
    if where < 0:
        moved = first_share(run) * h * get(XS, before + 3)
        put(XS, IS[at.GAPS] + i, get(XS, IS[at.START_GAPS] + i) + moved)
        put_three(XS, ahead, 0.0 * load(XS, before))
        return
    put(XS, IS[at.GAPS] + i, at.found_gap(run, where))
    u = relative_velocity(run.I, Z, IS, IS[at.TOUCHING] + i * ROW, XS, record)
    grown = u - three(XS, before)
    n, t_1, t_2 = record + NORMAL_AT, record + NORMAL_AT + 4, record + NORMAL_AT + 8
    normal = dot(load(XS, n), u)
    left = normal - reference_rate(run, key_of(run, i), XS[at.TIME] + first_share(run) * h, h)
    put(XS, ahead, max(normal - get(XS, before + 3), min(left, 0.0)))
    put(XS, ahead + 1, dot(load(XS, t_1), grown))
    put(XS, ahead + 2, dot(load(XS, t_2), grown))


@callee
def all_found(run):
    """Return whether the last detection has found all contacts that touch."""
    for i in range(run.IS[at.N_TOUCHING]):
        key = key_of(run, i)
        if key >= 0 and place_of(run.ID, run.ID[found.CONTACTS] + found.C_KEY, ROW, n_found(run), key) < 0:
            return False
    return True


@callee
def meet(run, h):
    """Find what touches again in the middle of a step of h; its bodies are placed, with their rates.

    One that opens is looked for further away: with the normal of where the step began, a surface that curves
    away would push.
    """
    IS, XS, Z = run.IS, run.XS, run.Z
    n = IS[at.N_TOUCHING]
    code = at.DONE
    if n > 0 and key_of(run, n - 1) >= 0 and IS[at.EULER] == 0:
        code = find_again(run, Z, XS[at.NEAR])
        if code == at.DONE and not all_found(run):
            code = find(run, Z, XS[at.NEAR] + h * XS[at.SPEED])
    for i in range(n):
        key = key_of(run, i)
        if key < 0:
            limit = limit_of(key)
            take_limit(run, Z, limit, limit_gap(run, Z, limit), i)
            put_three(XS, IS[at.AHEAD] + 4 * i, 0.0 * load(XS, IS[at.AHEAD] + 4 * i))
        elif code == at.DONE:
            meet_contact(run, i, h)
    return code


@inline
def way_on(run, h):
    """Return how far the middle of a step of h is from that of the last, in steps between the last two."""
    XS = run.XS
    if run.IS[at.N_HISTORY] < 2:
        return 0.0
    return (XS[at.TIME] + 0.5 * h - XS[at.MIDDLE_1]) / (XS[at.MIDDLE_1] - XS[at.MIDDLE_2])


@inline
def followed(run, which, d, further):
    """Return an acceleration of the last steps, followed that far."""
    XS, N = run.XS, run.I[N_DOFS]
    last = run.IS[at.HISTORY] + which * N + d
    return get(XS, last) + further * (get(XS, last) - get(XS, last + 2 * N))


@callee
def still(run, Z):
    """Take the turning of bodies by themselves off the rates of Z: in a kick they have no gyroscopic term."""
    I, IS = run.I, run.IS
    for s in range(I[N_SPANS]):
        begin, last = bodies_of(I, s)
        for k in range(begin, last):
            if get(IS, IS[at.BY_ITSELF] + k) != 0:
                row = I[TREE] + k * TREE_ROW
                end = I[THETA_DOT] + get(I, row + DOF_AT) + get(I, row + N_DOF)
                for d in range(end - 3, end):
                    put(Z, d, 0.0)


@inline
def centre_turning(I, Z, k):
    """Return what the rates of a free hinge see of the turning of its axes: ω x (v + ω x c)."""
    rates = I[THETA_DOT] + get(I, I[TREE] + k * TREE_ROW + DOF_AT)
    com, v, w = three(Z, I[CONSTANTS] + k * CONSTANT + C_COM), three(Z, rates), three(Z, rates + 3)
    return cross(w, v + cross(w, com))


@callee
def see_centres(run, Z):
    """Turn accelerations of free hinges into those of their centres of mass, the turning of axes left out."""
    I = run.I
    for s in range(I[N_SPANS]):
        begin, end = bodies_of(I, s)
        for k in range(begin, end):
            row = I[TREE] + k * TREE_ROW
            if get(I, row + KIND) == FREE:
                a = I[THETA_DDOT] + get(I, row + DOF_AT)
                put_three(Z, a, three(Z, a) + centre_turning(I, Z, k))


@callee
def first_rates(run, h):
    """Write v*_0 to Z; where accelerations of the last steps are known, with them."""
    I, IS, XS, Z = run.I, run.IS, run.XS, run.Z
    known, further = IS[at.N_HISTORY] > 0 and IS[at.EULER] == 0, way_on(run, h)
    for s in range(I[N_SPANS]):
        begin, end = dofs_of(I, s)
        for d in range(begin, end):
            rate = get(XS, IS[at.BEFORE] + d)
            if known:
                rate += 0.5 * h * followed(run, 0, d, further)
            put(Z, I[THETA_DOT] + d, rate)
    still(run, Z)


@callee
def is_foreseen(run, h):
    """Return whether v*_0 serves as v*, by the acceleration there.

    C is a square in the rates: where these are off by δ, a kick changes by no more than about h |v| δ.
    """
    I, IS, XS, further = run.I, run.IS, run.XS, way_on(run, h)
    off, fastest = 0.0, 0.0
    for s in range(I[N_SPANS] if IS[at.N_HISTORY] > 0 else 0):
        begin, end = dofs_of(I, s)
        for d in range(begin, end):
            a = get(run.Z, I[THETA_DDOT] + d) + followed(run, 1, d, further)
            off = max(off, abs(0.5 * h * (a - followed(run, 0, d, further))))
            fastest = max(fastest, abs(get(XS, IS[at.BEFORE] + d)))
    return IS[at.N_HISTORY] > 0 and h * fastest * off <= FORESEEN


@callee
def better_rates(run, h):
    """Write v* to Z, from the acceleration at v*_0."""
    I, IS, XS, Z = run.I, run.IS, run.XS, run.Z
    known, further = IS[at.N_HISTORY] > 0, way_on(run, h)
    for s in range(I[N_SPANS]):
        begin, end = dofs_of(I, s)
        for d in range(begin, end):
            a = get(Z, I[THETA_DDOT] + d)
            if known:
                a += followed(run, 1, d, further)
            put(Z, I[THETA_DOT] + d, get(XS, IS[at.BEFORE] + d) + 0.5 * h * a)
    still(run, Z)


@callee
def force(run, h):
    """Write the acceleration in the kick of a step of h; the bodies of Z are placed."""
    IS, XS, Z = run.IS, run.XS, run.Z
    before = first_share(run) * h
    gather_forces(run, Z, XS[at.TIME] + before, before, h)
    code = at.DONE
    if IS[at.IMPLICIT] != 0:
        if get(XS, IS[at.INERTIA]) == 0.0:
            add_stiffest(run, Z, h)
            code = accelerate(run, Z, PLACED)
            keep_inertias(run, Z)
        add_implicit(run, Z, h)
    if code == at.DONE:
        code = accelerate(run, Z, PLACED)
    see_centres(run, Z)
    simple = IS[at.EULER] != 0 or IS[at.ALL_BY_THEMSELVES] != 0
    if code == at.DONE and not simple and not is_foreseen(run, h):
        better_rates(run, h)
        call_place_rates(run.A[at.PLACE_RATES], (run.I, Z))
        code = accelerate(run, Z, SWEPT)
        see_centres(run, Z)
    if IS[at.IMPLICIT] != 0:
        keep_inertias(run, Z)
    return code


@callee
def meet_all(run, h):
    """Place the bodies of Z, the middle of a step of h, and find what touches and the loops there."""
    Z = run.Z
    call_place(run.A[at.PLACE], (run.I, Z))
    code = meet(run, h)
    if code == at.DONE and run.IE[loops.N_ROWS] > 0:
        code = ask_motion(run, Z, run.XS[at.TIME] + first_share(run) * h)
        ask_loops(run, Z, h)
    return code


@callee
def kick(run, X, h, held):
    """Go from X to the middle of a step of h, Z, and give it the rates that forces alone lead to.

    Where something is `held`, contacts, limits and loops are met there, and bodies have those rates.
    """
    I, IS, XS, Z = run.I, run.IS, run.XS, run.Z
    drift(run, X, X, I[THETA_DOT], Z, first_share(run) * h)
    for s in range(I[N_SPANS]):
        begin, end = dofs_of(I, s)
        for d in range(begin, end):
            put(XS, IS[at.BEFORE] + d, get(Z, I[THETA_DOT] + d))
    code = at.DONE
    if held:
        put(XS, at.WHEN, XS[at.TIME] + first_share(run) * h)
        code = meet_all(run, h)
        first_rates(run, h)
        call_place_rates(run.A[at.PLACE_RATES], (I, Z))
    else:
        first_rates(run, h)
        call_place(run.A[at.PLACE], (I, Z))
    if code == at.DONE:
        code = force(run, h)
    for s in range(I[N_SPANS]):
        begin, end = dofs_of(I, s)
        for d in range(begin, end):
            rate = get(XS, IS[at.BEFORE] + d) + h * get(Z, I[THETA_DDOT] + d)
            put(XS, IS[at.FORCED] + d, get(Z, I[THETA_DOT] + d))
            put(XS, IS[at.KICKED] + d, rate)
            put(Z, I[THETA_DOT] + d, rate)
    if held:
        call_place_rates(run.A[at.PLACE_RATES], (I, Z))
    return code


@callee
def go_on(run, Y, rates, h):
    """Write to Y where a step of h leads whose kick ends with the rates XS[rates].

    Return whether hinges with springs or dampers move late: by how much, RESPONSE says.
    """
    I, IS, XS = run.I, run.IS, run.XS
    drift(run, run.Z, XS, rates, Y, (1.0 - first_share(run)) * h)
    if IS[at.IMPLICIT] == 0 or IS[at.EULER] != 0:
        return False
    for s in range(I[N_SPANS]):
        begin, end = dofs_of(I, s)
        for d in range(begin, end):
            late = get(XS, IS[at.IMPLICITNESS] + d) - 0.5
            change = get(XS, rates + d) - get(XS, IS[at.BEFORE] + d)
            put(XS, IS[at.RESPONSE] + d, h * late * change)
    integrate(I, Y, I[THETA], XS, IS[at.RESPONSE], 1.0, Y, I[THETA])
    return True


@callee
def who_presses(run):
    """Return a number that tells sets of what presses, and how, apart."""
    IS, total = run.IS, 0
    for i in range(IS[at.N_TOUCHING]):
        if at.normal_impulse_of(run, i) > 0.0:
            one = 4 * (key_of(run, i) + IS[at.N_LIMITS]) + get(IS, IS[at.MODES] + i)
            total = (31 * total + one + 1) % PRIME
    return total


@callee
def take_history(run, rates, h):
    """Remember the accelerations of a step of h that was taken, if what presses has not changed.

    Nor thrown rates back, as where a mechanism passes a dead point: by more than any rate there is, and twice
    what forces did.
    """
    IS, XS, N = run.IS, run.XS, run.I[N_DOFS]
    held = who_presses(run)
    fastest, forced, thrown = 0.0, 0.0, 0.0
    if held != IS[at.HELD]:
        put(IS, at.HELD, held)
        put(IS, at.N_HISTORY, 0)
        return
    for s in range(run.I[N_SPANS]):
        begin, end = dofs_of(run.I, s)
        for d in range(begin, end):
            last = IS[at.HISTORY] + d
            after, before, free = get(XS, rates + d), get(XS, IS[at.BEFORE] + d), get(XS, IS[at.KICKED] + d)
            put(XS, last + 2 * N, get(XS, last))
            put(XS, last + 3 * N, get(XS, last + N))
            put(XS, last, (after - before) / h)
            put(XS, last + N, (after - free) / h)
            fastest = max(fastest, max(abs(before), abs(after)))
            forced, thrown = max(forced, abs(free - before)), max(thrown, abs(after - free))
    put(XS, at.MIDDLE_2, XS[at.MIDDLE_1])
    put(XS, at.MIDDLE_1, XS[at.TIME] + 0.5 * h)
    put(IS, at.N_HISTORY, 0 if thrown > fastest + 2.0 * forced else min(IS[at.N_HISTORY] + 1, 2))
