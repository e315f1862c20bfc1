"""From what touches in a run to a pile, and back to pushes, unknowns and modes."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math
from typing import Any, NamedTuple

from mcpframe.contact.contact_velocities import AXES
from mcpframe.contact.detection.records import C_BODY_A, C_BODY_B, CONTACT_ROW
from mcpframe.contact.law_kernel import L_BETAS, L_SIGMAS, LAW_ROW
from mcpframe.contact.outcome import MODE_TOLERANCE
from mcpframe.jit import Indices, IndicesOut, VectorOut, callee, inline, kernel
from mcpframe.jit.lanes import get, load, put, store, vector, x_of, y_of, z_of, zero
from mcpframe.multibody.kernels.loops import point_motion, reference_of
from mcpframe.multibody.memory.records import (
    B_POSITION,
    B_ROTATION,
    BODIES,
    BODY,
    C_COM,
    C_INERTIA,
    C_MASS,
    CONSTANT,
    CONSTANTS,
)
from mcpframe.simulation.memory import slots as run_at
from mcpframe.simulation.memory.slots import key_of, material_of, record_of
from mcpframe.simulation.piles import slots as at
from mcpframe.simulation.piles.cones import direction, split
from mcpframe.simulation.piles.motions import velocity
from mcpframe.simulation.piles.slots import DISC, SIDE, SMOOTH, Pile, put_three_of, row_at, three_of
from mcpframe.simulation.step.parting.islands import members_of
from mcpframe.simulation.step.pushing.solve import DECOMPRESSION, STEP
from mcpframe.simulation.step.restitution import add_push
from mcpframe.simulation.step.touching import place_of
from mcpframe.solving.modes import mode_of
from mcpframe.solving.solution import AT_LOWER, BASIC
from mcpframe.solving.stages import SHIFTS
from mcpframe.spatial.algebra import combine, cross, dot, inner, load_matrix, load_pair, store_pair


class Source(NamedTuple):
    """The arrays of a run that a pile is made of, by their names there."""

    I: Any
    IS: Any
    XS: Any


@inline
def side_of(run, i, side):
    """Return the body on a side of what touches, -1 for the world."""
    row = run.IS[run_at.TOUCHING] + i * CONTACT_ROW
    return get(run.IS, row + (C_BODY_A if side == 0 else C_BODY_B))


@callee
def write_inertia(run, X, pile, body, b):
    """Write L^-1 by rows, L L* the inertia of a body in its own axes, and m^-½."""
    c, o = run.I[CONSTANTS] + body * CONSTANT, pile.I[at.INERTIA] + 16 * b
    J = c + C_INERTIA
    l_00 = math.sqrt(get(X, J))
    l_10, l_20 = get(X, J + 1) / l_00, get(X, J + 2) / l_00
    l_11 = math.sqrt(get(X, J + 5) - l_10 * l_10)
    l_21 = (get(X, J + 6) - l_20 * l_10) / l_11
    l_22 = math.sqrt(get(X, J + 10) - l_20 * l_20 - l_21 * l_21)
    below = -l_10 / (l_00 * l_11)
    store(pile.X, o, vector(1.0 / l_00, 0.0, 0.0))
    store(pile.X, o + 4, vector(below, 1.0 / l_11, 0.0))
    store(pile.X, o + 8, vector((-l_20 / l_00 - l_21 * below) / l_22, -l_21 / (l_11 * l_22), 1.0 / l_22))
    put(pile.X, o + 12, 1.0 / math.sqrt(get(X, c + C_MASS)))


@callee
def number_bodies(run, X, pile, first, last):
    """Give the bodies of the contacts numbers of their own, in the order in which they come."""
    I = pile.I
    for side in range(2):
        for m in range(first, last):
            body = side_of(run, get(run.IS, run.IS[run_at.MEMBERS] + m), side)
            if body >= 0:
                put(I, I[at.LOCAL] + body, -1)
    n = 0
    for m in range(first, last):
        i, c = get(run.IS, run.IS[run_at.MEMBERS] + m), m - first
        put(I, I[at.MEMBER] + c, i)
        for side in range(2):
            body = side_of(run, i, side)
            local = body
            if body >= 0:
                if get(I, I[at.LOCAL] + body) < 0:
                    put(I, I[at.LOCAL] + body, n)
                    put(I, I[at.BODY] + n, body)
                    write_inertia(run, X, pile, body, n)
                    n += 1
                local = get(I, I[at.LOCAL] + body)
            put(I, I[at.SIDES] + 2 * c + side, local)
    put(I, at.N_CONTACTS, last - first)
    put(I, at.N_BODIES, n)


@callee
def write_rows(run, X, pile, c, side, body, sign):
    """Write what the motion of a body is along n, t_1, t_2 at contact c: (L^-1 R* (d × n), m^-½ n) ..."""
    record, local = record_of(run, get(pile.I, pile.I[at.MEMBER] + c)), get(pile.I, pile.I[at.LOCAL] + body)
    o, J = run.I[BODIES] + body * BODY, pile.I[at.INERTIA] + 16 * local
    R = load_matrix(X, o + B_ROTATION)
    centre = combine(R, X, run.I[CONSTANTS] + body * CONSTANT + C_COM)
    arm = load(run.XS, record) - reference_of(run.I, X, body) - load(X, o + B_POSITION) - centre
    for k in range(3):
        axis = sign * load(run.XS, record + AXES[k])
        turn = cross(arm, axis)
        own = vector(dot(R[0], turn), dot(R[1], turn), dot(R[2], turn))
        turned = vector(
            dot(load(pile.X, J), own), dot(load(pile.X, J + 4), own), dot(load(pile.X, J + 8), own)
        )
        store_pair(pile.X, row_at(pile, c, side, k), (turned, get(pile.X, J + 12) * axis))


@callee
def write_contact(run, X, pile, c):
    """Write rows, free velocity and cone of contact c."""
    I, i = pile.I, get(pile.I, pile.I[at.MEMBER] + c)
    record, law = record_of(run, i), material_of(run, i)
    a, b = side_of(run, i, 0), side_of(run, i, 1)
    for k in range(2 * SIDE):
        put(pile.X, row_at(pile, c, 0, 0) + k, 0.0)
    if a >= 0:
        write_rows(run, X, pile, c, 0, a, 1.0)
    if b >= 0:
        write_rows(run, X, pile, c, 1, b, -1.0)
    point, mean = load(run.XS, record), 0.0
    apart = point_motion(run.I, X, a, point)[1] - point_motion(run.I, X, b, point)[1]
    for k in range(3):
        shift, weight = get(run.XS, run.IS[run_at.SHIFTS] + SHIFTS * i + k), 0.0
        put(pile.X, I[at.FREE] + 4 * c + k, dot(load(run.XS, record + AXES[k]), apart) + shift)
        for side in range(2):
            row = load_pair(pile.X, row_at(pile, c, side, k))
            weight += inner(row, row)
        put(pile.X, I[at.WEIGHT] + 4 * c + k, weight)
        mean += weight / 3.0
    put(pile.X, I[at.WEIGHT] + 4 * c + 3, mean)
    put(I, I[at.EDGES] + c, get(run.IS, run.IS[run_at.LAW_EDGES] + law))
    put(pile.X, I[at.MU] + c, get(run.XS, run.IS[run_at.LAW_MU] + law))
    leans = get(run.XS, run.IS[run_at.LEANS] + i) if run.IS[run_at.KIND] == DECOMPRESSION else 0.0
    put(pile.X, I[at.LEANS] + c, leans)


@callee
def recall(run, pile, c):
    """Write the impulse that contact c had in the last step, none in impacts; return whether it had any."""
    IS, XS, i = run.IS, run.XS, get(pile.I, pile.I[at.MEMBER] + c)
    known = -1
    if IS[run_at.KIND] == STEP:
        known = place_of(IS, IS[run_at.KNOWN_KEYS], 1, IS[run_at.N_KNOWN], key_of(run, i))
    r = 0.0, 0.0, 0.0
    if known >= 0:
        r = impulse_of(pile, c, XS, IS[run_at.KNOWN_POINT] + known * IS[run_at.POINT_ROWS], XS[run_at.TRIAL])
    put_three_of(pile, at.R, c, r)
    return known >= 0


@callee
def impulse_of(pile, c, X, beta, h):
    """Return the impulse in a time h of the forces β of contact c."""
    edges = get(pile.I, pile.I[at.EDGES] + c)
    normal = h * get(X, beta)
    if edges == SMOOTH:
        return normal, 0.0, 0.0
    if edges == DISC:
        return normal, h * get(X, beta + 1), h * get(X, beta + 2)
    x, y = 0.0, 0.0
    for j in range(edges):
        d_x, d_y = direction(j, edges)
        x += h * get(X, beta + 1 + j) * d_x
        y += h * get(X, beta + 1 + j) * d_y
    return normal, x, y


@kernel(Indices, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut)
def gather(I, X, IS, XS, pile_I, pile_X, columns, blocks):
    """Write the pile of the island that the run asks about; return whether it starts from known impulses."""
    run, pile = Source(I, IS, XS), Pile(pile_I, pile_X, columns, blocks)
    first, last = members_of(run, IS[run_at.PILE])
    number_bodies(run, X, pile, first, last)
    any_known = False
    for c in range(last - first):
        write_contact(run, X, pile, c)
        any_known = recall(run, pile, c) or any_known
    return any_known


@callee
def keep_unknowns(run, pile, c, r, u):
    """Write β and σ of contact c, and from where it starts in the next problem."""
    IS, XS, i = run.IS, run.XS, get(pile.I, pile.I[at.MEMBER] + c)
    law = IS[run_at.LAW_ROWS] + material_of(run, i) * LAW_ROW
    m, s = get(IS, law + L_BETAS), get(IS, law + L_SIGMAS)
    place, edges = IS[run_at.UNKNOWNS] + 2 * i, get(pile.I, pile.I[at.EDGES] + c)
    beta, sigma = IS[run_at.Z] + get(IS, place), IS[run_at.Z] + get(IS, place + 1)
    put(XS, beta, r[0])
    if edges == DISC:
        put(XS, beta + 1, r[1])
        put(XS, beta + 2, r[2])
    elif edges != SMOOTH:
        split(XS, beta + 1, sigma, r, u, edges)
    spent = 0.0
    for k in range(m + s):
        value, o = get(XS, beta + k if k < m else sigma + k - m), i * IS[run_at.ROWS_EACH] + k
        spent += value if 0 < k < m else 0.0
        left = get(pile.X, pile.I[at.MU] + c) * (r[0] + get(pile.X, pile.I[at.LEANS] + c)) - spent
        basic = value > 0.0 if k < m else value > left
        put(IS, IS[run_at.NEXT_CODES] + o, BASIC if basic else AT_LOWER)
        put(XS, IS[run_at.NEXT_POINT] + i * IS[run_at.POINT_ROWS] + k, value)


@callee
def push_bodies(run, X, pile, c, r):
    """Push the bodies of contact c, and write its impulse."""
    i = get(pile.I, pile.I[at.MEMBER] + c)
    record, force = record_of(run, i), zero()
    for k in range(3):
        force = force + r[k] * load(run.XS, record + AXES[k])
    add_push(run.I, X, side_of(run, i, 0), 1.0, load(run.XS, record), zero(), force)
    add_push(run.I, X, side_of(run, i, 1), -1.0, load(run.XS, record), zero(), force)
    impulse = run.IS[run_at.IMPULSES] + 4 * i
    store(run.XS, impulse, vector(x_of(force), y_of(force), z_of(force)))
    put(run.XS, impulse + 3, r[0])


@callee
def fastest(pile):
    """Return the largest velocity of a contact after the push."""
    speed = 0.0
    for c in range(pile.I[at.N_CONTACTS]):
        u = velocity(pile, at.Y_BEST, c)
        speed = max(speed, max(abs(u[0]), max(abs(u[1]), abs(u[2]))))
    return speed


@callee
def count_solve(run, pile):
    """Add the solve to the figures of the step: systems, and the residual at the scale of the whole pile.

    That of a trial which may be thrown away says nothing: where it is taken it is solved again.
    """
    IS, scale = run.IS, 1.0
    for c in range(pile.I[at.N_CONTACTS]):
        q = three_of(pile, at.FREE, c)
        scale = max(scale, 1.0 + max(abs(q[0]), max(abs(q[1]), abs(q[2]))))
    put(IS, run_at.ITERATIONS, IS[run_at.ITERATIONS] + pile.I[at.N_FACTORS])
    put(IS, run_at.N_SOLVES, IS[run_at.N_SOLVES] + 1)
    if IS[run_at.ROUGH] == 0:
        put(run.XS, run_at.RESIDUAL, max(run.XS[run_at.RESIDUAL], scale * pile.X[at.RESIDUAL]))


@kernel(Indices, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut)
def give(I, X, IS, XS, pile_I, pile_X, columns, blocks):
    """Push bodies by the best impulses of the pile, and keep all that is known of its contacts then."""
    run, pile = Source(I, IS, XS), Pile(pile_I, pile_X, columns, blocks)
    count_solve(run, pile)
    slow = MODE_TOLERANCE * (1.0 + fastest(pile))
    for c in range(pile_I[at.N_CONTACTS]):
        i, r, u = (
            get(pile_I, pile_I[at.MEMBER] + c),
            three_of(pile, at.R_BEST, c),
            velocity(pile, at.Y_BEST, c),
        )
        push_bodies(run, X, pile, c, r)
        keep_unknowns(run, pile, c, r, u)
        rough = get(pile_I, pile_I[at.EDGES] + c) != SMOOTH
        put(IS, IS[run_at.MODES] + i, mode_of(u[0], u[1] * u[1] + u[2] * u[2], slow, rough))
        for k in range(SHIFTS):
            shift = get(XS, IS[run_at.SHIFTS] + SHIFTS * i + k)
            put(XS, IS[run_at.PUSHED_SHIFTS] + SHIFTS * i + k, shift)
    return 0
