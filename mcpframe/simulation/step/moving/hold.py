"""Hold: accelerations in contact, while contacts keep their modes [S00, Eqs. (1) to (12)].

A contact that lasts presses, and slides or sticks. With G its rows and λ the forces along them,

    sticking    G θ̈ + Ġ θ̇ = 0 along n, t_1 and t_2
    sliding     G_n θ̈ + Ġ_n θ̇ = 0,     λ_t = -mu λ_n e,  e the direction of slip

beside what closures ask, G_b θ̈ = U̇ - Ġ_b θ̇: one linear system for λ. Its matrix is the formulation's A, with
the columns of friction added to those of the normals that it leans on. Contacts that share a load in more
ways than one get forces of about the least norm: the matrix has a faint diagonal on top.

Points of contact wander and normals turn as bodies roll, so that Ġ θ̇ is found by looking: contacts are found
again a little before and a little after, along the present rates, and the change of their velocities taken by
differences of fourth order.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.contact import NORMAL, RECORD
from mcpframe.contact.detection import records as found
from mcpframe.jit import callee, inline, window
from mcpframe.jit.lanes import get, load, put, store, zero
from mcpframe.multibody.kernels.entries import PLACED
from mcpframe.multibody.kernels.loops import loop_biases, loop_rate
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import B_VELOCITY, N_DOFS, THETA, THETA_DDOT, THETA_DOT
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import key_of, n_found, put_shift, put_slip_shift, record_of
from mcpframe.simulation.step.closures import ask_motion, write_loops
from mcpframe.simulation.step.moving.edges import edge, edges_of, forms_of, mu_of
from mcpframe.simulation.step.moving.motion import integrate
from mcpframe.simulation.step.parting.islands import plan_own, take_whole
from mcpframe.simulation.step.touching import (
    ROW,
    call_place,
    find,
    limit_gap,
    limit_of,
    limit_speed,
    place_of,
    relative_spin,
    relative_velocity,
    take_limit,
)
from mcpframe.solving.stages import (
    A_AT,
    B_AT,
    N_COMPONENTS,
    SEPARATING,
    SHIFTS,
    SLIDING,
    SOFTNESS,
    call_assemble,
    call_respond,
)
from mcpframe.spatial.algebra import dot

NORMAL_AT = NORMAL.start
FAINT = 1e-11
"""Share of the mean diagonal that is added to it: what is shared in several ways is then shared evenly."""
APART = 0.25
"""Share of dt between looks before and after: their error is of its fourth power."""
STILL = 1e-9
"""Speed below which slip has no direction of its own, m/s."""
TINY = 1e-300
"""A size that can be divided by."""
FORCES, SPEEDS, GAPS, SIDES = range(4)
"""Right sides: forces that hold; impulses, and as much of a motion, that take speeds and gaps away."""


@inline
def mode_of(run, i):
    """Return the mode in which what touches lasts, SEPARATING where it does not press."""
    return get(run.IS, run.IS[at.LASTING] + i)


@callee
def find_again(run, S):
    """Take what touches as it is at S, whose bodies are placed; return whether all that presses is there."""
    ID, IS, XS = run.ID, run.IS, run.XS
    if find(run, S, XS[at.NEAR] + XS[at.DT] * XS[at.SPEED]) != at.DONE:  # stages are off by a little of that
        return False
    for i in range(IS[at.N_TOUCHING]):
        key = key_of(run, i)
        if key < 0:
            take_limit(run, S, limit_of(key), limit_gap(run, S, limit_of(key)), i)
            continue
        where = place_of(ID, ID[found.CONTACTS] + found.C_KEY, ROW, n_found(run), key)
        if where < 0 and mode_of(run, i) != SEPARATING:
            return False
        put(XS, IS[at.GAPS] + i, at.found_gap(run, where) if where >= 0 else math.inf)
        if where >= 0:
            for k in range(RECORD):
                put(XS, record_of(run, i) + k, get(run.XD, ID[found.RECORDS] + where * RECORD + k))
    return True


@inline
def put_spin(run, S, i, n, part, before, share):
    """Add a share of the relative spin of contact i at S, about n and its tangents, to a part of SPUN."""
    w, o = relative_spin(run.I, S, run.IS, run.IS[at.TOUCHING] + i * ROW), run.IS[at.SPUN] + 8 * i + part
    put(run.XS, o, before * get(run.XS, o) + share * dot(n, w))
    for k in range(1, 3):
        along = dot(load(run.XS, record_of(run, i) + NORMAL_AT + 4 * k), w)
        put(run.XS, o + k, before * get(run.XS, o + k) + share * along)


@callee
def see_speeds(run, S):
    """Write the velocities of what touches at S, along n and its tangents, to SEEN."""
    for i in range(run.IS[at.N_TOUCHING]):
        key, o, record = key_of(run, i), run.IS[at.SEEN] + 8 * i, record_of(run, i)
        if key < 0:
            put(run.XS, o, limit_speed(run, S, limit_of(key)))
            continue
        u = relative_velocity(run.I, S, run.IS, run.IS[at.TOUCHING] + i * ROW, run.XS, record)
        for k in range(3):
            put(run.XS, o + k, dot(load(run.XS, record + NORMAL_AT + 4 * k), u))
        if run.IS[at.SPINS] != 0:
            put_spin(run, S, i, load(run.XS, record + NORMAL_AT), 0, 0.0, 1.0)


@callee
def add_change(run, W, share):
    """Add a share of the contact velocities at W, whose contacts were found, to the biases."""
    ID, IS, XS, XD = run.ID, run.IS, run.XS, run.XD
    for i in range(IS[at.N_TOUCHING]):
        if key_of(run, i) < 0 or mode_of(run, i) == SEPARATING:
            continue
        where = place_of(ID, ID[found.CONTACTS] + found.C_KEY, ROW, n_found(run), key_of(run, i))
        if where < 0:
            return False
        there, o = ID[found.RECORDS] + where * RECORD, IS[at.SEEN] + 8 * i + 4
        u = relative_velocity(run.I, W, IS, IS[at.TOUCHING] + i * ROW, XD, there)
        put(XS, o, get(XS, o) + share * dot(load(XD, there + NORMAL_AT), u))
        for k in range(1, 3):
            axis = load(XS, record_of(run, i) + NORMAL_AT + 4 * k)
            put(XS, o + k, get(XS, o + k) + share * dot(axis, u))
        if IS[at.SPINS] != 0:
            put_spin(run, W, i, load(XD, there + NORMAL_AT), 4, 1.0, share)
    return True


@callee
def see_biases(run, S):
    """Write Ġ θ̇ of what presses at S behind its velocities in SEEN; return whether it could be seen."""
    I, IS, XS, W = run.I, run.IS, run.XS, run.Z
    for i in range(IS[at.N_TOUCHING]):
        store(XS, IS[at.SEEN] + 8 * i + 4, zero())
        if IS[at.SPINS] != 0:
            store(XS, IS[at.SPUN] + 8 * i + 4, zero())
    e = APART * XS[at.DT]
    for k in range(-2, 3):
        if k == 0:
            continue
        integrate(I, S, I[THETA], S, I[THETA_DOT], k * e, W, I[THETA])
        for d in range(I[N_DOFS]):
            put(W, I[THETA_DOT] + d, get(S, I[THETA_DOT] + d))
        call_place(run.A[at.PLACE], (I, W))
        share = (8.0 if abs(k) == 1 else -1.0) / (12.0 * e)
        if find(run, W, XS[at.NEAR] + XS[at.DT] * XS[at.SPEED]) != at.DONE:
            return False
        if not add_change(run, W, share if k > 0 else -share):
            return False
    return True


@callee
def ask_accelerations(run, S, time):
    """Have closures ask for U̇ - Ġ_b θ̇ of accelerations at S; rates are seen by the rows too."""
    IE, XE = run.IE, run.XE
    code = ask_motion(run, S, time)
    write_loops(run, S, at.NOWHERE)
    loop_biases(run.I, S, IE, XE)
    for i in range(IE[loops.N_ROWS]):
        asked = get(XE, IE[loops.RATE_DOT] + i) - get(XE, IE[loops.BIAS] + i)
        put(XE, IE[loops.TARGET] + i, asked + loop_rate(run.I, S, IE, XE, i, B_VELOCITY))
    return code


@callee
def write_rows(run, S, time):
    """Write A and b of what touches at S, placed and its forces known: b = G (θ̇ + θ̈_f), one second on."""
    IS, XS = run.IS, run.XS
    n = IS[at.N_TOUCHING]
    code = ask_accelerations(run, S, time) if run.IE[loops.N_ROWS] > 0 else at.DONE
    for i in range(n):
        put_shift(run, i, 0.0)
        put_slip_shift(run, i, 0.0, 0.0)
    if code != at.DONE or take_whole(run) != at.DONE:
        return False
    plan_own(run)
    records, shifts = window(XS, IS[at.RECORDS], n * RECORD), window(XS, IS[at.SHIFTS], n * SHIFTS)
    softness = window(XS, IS[at.SOFTNESS], n * SOFTNESS)
    step = run.I, S, run.IE, run.XE, run.IR, run.XR, records, shifts, softness, 1.0, PLACED
    return call_assemble(run.A[at.ASSEMBLE], step) == 0


@callee
def slip_direction(run, i):
    """Write the direction that friction of contact i opposes, along its tangents, to SLIP.

    That of its slip; where it stands still or has turned back, that of the start. On a cone with edges it is
    the edge that was chosen.
    """
    XS, o, first = run.XS, run.IS[at.SEEN] + 8 * i, run.IS[at.FIRST_SLIP] + 4 * i
    e_1, e_2, record = get(XS, o + 1), get(XS, o + 2), record_of(run, i)
    b_1 = dot(load(XS, first), load(XS, record + NORMAL_AT + 4))
    b_2 = dot(load(XS, first), load(XS, record + NORMAL_AT + 8))
    if math.sqrt(e_1 * e_1 + e_2 * e_2) <= STILL or e_1 * b_1 + e_2 * b_2 <= 0.0:
        e_1, e_2 = b_1, b_2
    if edges_of(run, i) > 0:
        d_1, d_2 = edge(run, i, get(run.IS, run.IS[at.EDGE] + i))
        e_1, e_2 = -d_1, -d_2
    size = max(math.sqrt(e_1 * e_1 + e_2 * e_2), TINY)
    put(XS, run.IS[at.SLIP] + 4 * i, e_1 / size)
    put(XS, run.IS[at.SLIP] + 4 * i + 1, e_2 / size)


@inline
def coefficient(run, row, form, i, sliding):
    """Return A of a row and the unknown of a form, friction of a normal that slides included."""
    XR, n = run.XR, run.IP[N_COMPONENTS]
    A = run.IP[A_AT] + row * n + form
    value = get(XR, A)
    if sliding:
        slip = run.IS[at.SLIP] + 4 * i
        for k in range(1, forms_of(run, i)):
            value -= mu_of(run, i) * get(run.XS, slip + k - 1) * get(XR, A + k)
    return value


@callee
def list_unknowns(run):
    """List the components whose forces are asked for: rows of the system, and whose they are; return them."""
    IS = run.IS
    m, form = 0, run.IE[loops.N_ROWS]
    for f in range(form):
        put(IS, IS[at.ROW_FORM] + m, f)
        put(IS, IS[at.ROW_CONTACT] + m, -1)
        m += 1
    for i in range(IS[at.N_TOUCHING]):
        forms, mode = forms_of(run, i), mode_of(run, i)
        asked = 0 if mode == SEPARATING else (1 if mode == SLIDING else forms)
        for k in range(asked):
            put(IS, IS[at.ROW_FORM] + m, form + k)
            put(IS, IS[at.ROW_CONTACT] + m, 8 * i + k)
            m += 1
        form += forms
    return m


@callee
def write_system(run, m):
    """Write the matrix of the forces, and behind each of its rows the right sides."""
    IS, XS, width = run.IS, run.XS, m + SIDES - 1
    M, total = IS[at.HOLDING], 0.0
    for r in range(m):
        row, o = get(IS, IS[at.ROW_FORM] + r), get(IS, IS[at.ROW_CONTACT] + r)
        for c in range(m):
            who = get(IS, IS[at.ROW_CONTACT] + c)
            sliding = who >= 0 and mode_of(run, who // 8) == SLIDING
            value = coefficient(run, row, get(IS, IS[at.ROW_FORM] + c), who // 8, sliding)
            put(XS, M + r * width + c, value)
        total += get(run.XR, run.IP[A_AT] + row * run.IP[N_COMPONENTS] + row)
        b = get(run.XR, run.IP[B_AT] + row)
        speed = bias = gap = 0.0
        if o >= 0:
            speed, bias = get(XS, IS[at.SEEN] + o), get(XS, IS[at.SEEN] + o + 4)
            if o % 8 == 0:
                gap = get(XS, IS[at.GAPS] + o // 8) - get(XS, IS[at.START_GAPS] + o // 8)
        put(XS, M + r * width + m + FORCES, -(b - speed + bias))
        put(XS, M + r * width + m + SPEEDS, -speed)
        put(XS, M + r * width + m + GAPS, -gap)
    for r in range(m):
        place = M + r * width + r
        put(XS, place, get(XS, place) + FAINT * total / m)


@callee
def eliminate(XS, M, m, width):
    """Solve a system with its right sides behind the rows, in place, by Gauss with row pivots."""
    for k in range(m):
        best = k
        for r in range(k + 1, m):
            if abs(get(XS, M + r * width + k)) > abs(get(XS, M + best * width + k)):
                best = r
        for c in range(k, width):
            a, b = M + k * width + c, M + best * width + c
            upper, lower = get(XS, b), get(XS, a)
            put(XS, a, upper)
            put(XS, b, lower)
        pivot = get(XS, M + k * width + k)
        if pivot == 0.0:
            return False
        for r in range(m):
            share = get(XS, M + r * width + k) / pivot
            if r != k and share != 0.0:
                for c in range(k, width):
                    a = M + r * width + c
                    put(XS, a, get(XS, a) - share * get(XS, M + k * width + c))
    for k in range(m):
        pivot = get(XS, M + k * width + k)
        for c in range(m, width):
            put(XS, M + k * width + c, get(XS, M + k * width + c) / pivot)
    return True


@callee
def spread_forces(run, m, side):
    """Write a solution, friction included, to the components FORCE of everything that touches."""
    IS, XS, width = run.IS, run.XS, m + SIDES - 1
    for f in range(run.IP[N_COMPONENTS]):
        put(XS, IS[at.FORCE] + f, 0.0)
    for r in range(m):
        form, o = get(IS, IS[at.ROW_FORM] + r), get(IS, IS[at.ROW_CONTACT] + r)
        value = get(XS, IS[at.HOLDING] + r * width + m + side)
        put(XS, IS[at.FORCE] + form, value)
        if o >= 0 and mode_of(run, o // 8) == SLIDING:
            slip = IS[at.SLIP] + 4 * (o // 8)
            for k in range(1, forms_of(run, o // 8)):
                friction = -mu_of(run, o // 8) * get(XS, slip + k - 1) * value
                put(XS, IS[at.FORCE] + form + k, friction)


@callee
def solve_modes(run):
    """Find the forces with which what touches keeps its modes; rows and speeds are there.

    Return how many rows their system has, -1 where it has no solution.
    """
    for i in range(run.IS[at.N_TOUCHING]):
        if mode_of(run, i) == SLIDING and forms_of(run, i) > 1:
            slip_direction(run, i)
    m = list_unknowns(run)
    write_system(run, m)
    if not eliminate(run.XS, run.IS[at.HOLDING], m, m + SIDES - 1):
        return -1
    spread_forces(run, m, FORCES)
    return m


@callee
def respond(run, S):
    """Write to RESPONSE what forces FORCE do to the accelerations of S, or impulses to its rates."""
    IS, XS = run.IS, run.XS
    force, out = window(XS, IS[at.FORCE], run.IP[N_COMPONENTS]), window(XS, IS[at.RESPONSE], run.I[N_DOFS])
    call_respond(run.A[at.RESPOND], (run.I, S, run.IR, run.XR, force, out))


@callee
def gather_impulses(run, share):
    """Add a share of the forces, in world axes, to the impulses of the part, normal ones fourth."""
    IS, XS, form = run.IS, run.XS, run.IE[loops.N_ROWS]
    for i in range(IS[at.N_TOUCHING]):
        o, record = IS[at.IMPULSES] + 4 * i, record_of(run, i)
        for k in range(forms_of(run, i)):
            force = share * get(XS, IS[at.FORCE] + form + k)
            for j in range(3):
                put(XS, o + j, get(XS, o + j) + force * get(XS, record + NORMAL_AT + 4 * k + j))
            if k == 0:
                put(XS, o + 3, get(XS, o + 3) + force)
        form += forms_of(run, i)


@callee
def look_at_modes(run, S, time):
    """See all of what holds S, placed and its forces known; return the rows of the system, -1 for nothing."""
    if not find_again(run, S):
        return -1
    see_speeds(run, S)
    if not see_biases(run, S) or not write_rows(run, S, time):
        return -1
    return solve_modes(run)


@callee
def hold_modes(run, S, time, share):
    """Write the acceleration of S in which contacts keep their modes; count a share of their forces."""
    I = run.I
    if look_at_modes(run, S, time) < 0:
        return at.NO_MOTION
    respond(run, S)
    gather_impulses(run, share)
    for d in range(I[N_DOFS]):
        held = get(S, I[THETA_DDOT] + d) + get(run.XS, run.IS[at.RESPONSE] + d)
        put(S, I[THETA_DDOT] + d, held)
    return at.DONE
