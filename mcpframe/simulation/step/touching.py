"""What touches: contacts that the detection finds and joint limits that are reached, as one family.

A limit is a contact of a hinge: it has a key (below zero, so that limits come first in every table), a gap, a
normal speed and a record, whose normal is the axis of the hinge that the limit holds, with its sign.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.contact import GAP, NORMAL, RECORD, RESTITUTION
from mcpframe.contact.detection import records as found
from mcpframe.contact.detection.kernels.broad_phase import find_among
from mcpframe.contact.detection.kernels.detect import detect_contacts
from mcpframe.contact.limits import REACH_MARGIN, REACH_SLACK
from mcpframe.jit import by_address, callee, inline
from mcpframe.jit.lanes import get, load, put, store, zero
from mcpframe.multibody.kernels.entries import place
from mcpframe.multibody.kernels.loops import hinge_wrench, reference_of
from mcpframe.multibody.memory.records import B_VELOCITY, BODIES, BODY, THETA, THETA_DDOT, THETA_DOT
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import (
    found_gap,
    found_key,
    gap_of,
    has_layer,
    is_soft,
    key_of,
    n_found,
    record_of,
)
from mcpframe.simulation.step import host
from mcpframe.simulation.step.contact_model.references import farthest_reference, refer
from mcpframe.simulation.step.moving.drift import first_share
from mcpframe.simulation.step.moving.speeds import fastest_point
from mcpframe.simulation.step.parting.parties import all_move, takes_part
from mcpframe.spatial.algebra import cross, dot, load_pair

call_detect = by_address(detect_contacts)
call_place = by_address(place)

ROW, NORMAL_AT = found.CONTACT_ROW, NORMAL.start
CLOSED_ONES, IN_REACH = range(2)
"""Which limits take part: those that are reached; those that a step of dt can reach, see `contact.limits`."""


@inline
def look(run, Y, margin):
    """Place all bodies of a state and find its contacts up to a margin."""
    call_place(run.A[at.PLACE], (run.I, Y))
    return find(run, Y, margin)


@callee
def layer_reach(run, Y):
    """Return how far two points of bodies can come nearer until the springs of layers are asked again."""
    return 2.0 * (1.0 + first_share(run)) * run.XS[at.DT] * fastest_point(run, Y)


@inline
def find_of_party(run, Y):
    """Give the detection the pairs of the party that moves that may meet; return whether there was room."""
    IS = run.IS
    room = find_among(run.I, Y, run.ID, run.XD, IS, IS[at.PARTY_SHAPES], IS[at.N_PARTY_SHAPES])
    put(run.ID, found.GIVEN, 1 if room else 0)
    return room


@inline
def find(run, Y, margin):
    """Find the contacts of a state whose bodies are placed; where they have references, those of WHEN."""
    code, referred = at.DONE, run.IS[at.N_REFERRED] > 0
    reach = margin + farthest_reference(run) if referred else margin
    if run.IS[at.SOFT] != 0:
        reach += layer_reach(run, Y)
    put(run.XD, found.MARGIN, reach)
    of_party = run.IS[at.MOVING_PARTY] >= 0 and run.IS[at.HOST_DETECTION] == 0 and run.ID[found.GIVEN] == 0
    if of_party and not find_of_party(run, Y):
        return at.NO_ROOM
    n = call_detect(run.A[at.DETECT], (run.I, Y, run.ID, run.XD))
    if of_party:
        put(run.ID, found.GIVEN, 0)
    if n == found.ROOM:
        return at.NO_ROOM
    if run.IS[at.HOST_DETECTION] != 0 and run.ID[found.N_FOREIGN] > 0:
        code = host.call_host(run.A[at.HOST], host.FIND, Y, reach)
    if referred and code == at.DONE:
        refer(run)
    return code


@callee
def find_again(run, Y, margin):
    """Find the contacts of the pairs that touch, and maybe others, where the bodies of Y are now.

    All where contacts have references or are looked for in Python too.
    """
    ID, IS = run.ID, run.IS
    if IS[at.N_REFERRED] > 0 or IS[at.HOST_DETECTION] != 0:
        return find(run, Y, margin)
    n, last = 0, -1
    for i in range(IS[at.N_TOUCHING]):
        pair = key_of(run, i) // found.FEATURES
        if pair > last:  # limits are below zero, and keys in order
            put(ID, ID[found.CANDIDATES] + n, pair)
            n, last = n + 1, pair
    put(ID, found.N_CANDIDATES, n)
    put(ID, found.GIVEN, 1)
    code = find(run, Y, margin)
    put(ID, found.GIVEN, 0)
    return code


@inline
def place_of(table, start, width, n, key):
    """Return where in a sorted table a key stands, -1 where it is not there."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if get(table, start + middle * width) < key:
            low = middle + 1
        else:
            high = middle
    if low < n and get(table, start + low * width) == key:
        return low
    return -1


@inline
def found_bodies(run, i):
    """Return the bodies of contact i of the last detection."""
    row = run.ID[found.CONTACTS] + i * ROW
    return get(run.ID, row + found.C_BODY_A), get(run.ID, row + found.C_BODY_B)


@inline
def touching_place(run, key):
    """Return which of those that touch has a key, -1 for none."""
    return place_of(run.IS, run.IS[at.TOUCHING] + found.C_KEY, ROW, run.IS[at.N_TOUCHING], key)


@inline
def limit_of(key):
    """Return the limit that a key belongs to, and the key of a limit."""
    return -1 - key


@inline
def limit_gap(run, X, i):
    """Return the way left to a limit, negative beyond it."""
    theta = get(X, run.I[THETA] + get(run.IS, run.IS[at.LIMITS] + i * at.LIMIT_ROW + at.M_THETA))
    values = run.IS[at.LIMIT_VALUES] + 4 * i
    return get(run.XS, values + at.M_SIGN) * (theta - get(run.XS, values + at.M_BOUND))


@inline
def limit_speed(run, X, i):
    """Return the rate at which the gap of a limit opens."""
    rate = get(X, run.I[THETA_DOT] + get(run.IS, run.IS[at.LIMITS] + i * at.LIMIT_ROW + at.M_DOF))
    return get(run.XS, run.IS[at.LIMIT_VALUES] + 4 * i + at.M_SIGN) * rate


@inline
def point_velocity(I, X, body, point):
    """Return the velocity of a body's material point; zero for the world."""
    if body < 0:
        return zero()
    w, v = load_pair(X, I[BODIES] + body * BODY + B_VELOCITY)
    return v + cross(w, point - reference_of(I, X, body))


@inline
def relative_velocity(I, X, contacts, c, records, r):
    """Return the velocity of A relative to B at a contact."""
    point = load(records, r)
    v_a = point_velocity(I, X, get(contacts, c + found.C_BODY_A), point)
    return v_a - point_velocity(I, X, get(contacts, c + found.C_BODY_B), point)


@inline
def relative_spin(I, X, contacts, c):
    """Return the angular velocity of A relative to B of a contact."""
    a, b = get(contacts, c + found.C_BODY_A), get(contacts, c + found.C_BODY_B)
    w_a = load(X, I[BODIES] + a * BODY + B_VELOCITY) if a >= 0 else zero()
    return w_a - (load(X, I[BODIES] + b * BODY + B_VELOCITY) if b >= 0 else zero())


@inline
def approach(I, X, contacts, c, records, r):
    """Return the normal velocity of A relative to B of a contact, negative where they approach."""
    return dot(load(records, r + NORMAL_AT), relative_velocity(I, X, contacts, c, records, r))


@inline
def opening_speed(run, X, i):
    """Return the speed at which the gap of what touches opens, negative where it closes."""
    key = key_of(run, i)
    if key < 0:
        return limit_speed(run, X, limit_of(key))
    return approach(run.I, X, run.IS, run.IS[at.TOUCHING] + i * ROW, run.XS, record_of(run, i))


@inline
def is_in_reach(run, X, i, gap):
    """Return whether a fixed step can reach a limit; one that throws back has to be reached already."""
    limit = run.IS[at.LIMITS] + i * at.LIMIT_ROW
    if get(run.XS, run.IS[at.LIMIT_VALUES] + 4 * i + at.M_RESTITUTION) > 0.0:
        return gap <= run.XS[at.PENETRATION]
    d, dt = get(run.IS, limit + at.M_DOF), run.XS[at.DT]
    rate = abs(get(X, run.I[THETA_DOT] + d)) + dt * abs(get(X, run.I[THETA_DDOT] + d))
    return gap <= REACH_MARGIN * dt * rate + REACH_SLACK


@callee
def take_limit(run, X, i, gap, n):
    """Write limit i as the n-th of those that touch."""
    IS, XS = run.IS, run.XS
    limit, values = IS[at.LIMITS] + i * at.LIMIT_ROW, IS[at.LIMIT_VALUES] + 4 * i
    slides, body = get(IS, limit + at.M_SLIDES), get(IS, limit + at.M_BODY)
    x, moment, force = hinge_wrench(run.I, X, get(IS, limit + at.M_DOF), body, slides)
    row, record = IS[at.TOUCHING] + n * ROW, record_of(run, n)
    put(IS, row + found.C_BODY_A, body)
    put(IS, row + found.C_BODY_B, get(IS, limit + at.M_PARENT))
    put(IS, row + found.C_KEY, limit_of(i))
    put(IS, row + found.C_MATERIAL, IS[at.LIMIT_LAW] + slides)
    store(XS, record, x)
    store(XS, record + NORMAL_AT, get(XS, values + at.M_SIGN) * (moment + force))
    put(XS, record + GAP, gap)
    put(XS, record + RESTITUTION, get(XS, values + at.M_RESTITUTION))
    put(XS, IS[at.GAPS] + n, gap)


@callee
def is_touching(run, X, i):
    """Return whether contact i of the last detection, made at X, touches as steps have it.

    One with a layer does as soon as it arrives before its springs are asked again: they begin where it is
    open, or they would store what nothing has pressed into them.
    """
    ID, XS, gap = run.ID, run.XS, found_gap(run, i)
    contact, record = ID[found.CONTACTS] + i * ROW, ID[found.RECORDS] + i * RECORD
    if gap <= XS[at.PENETRATION]:
        return True
    speed = approach(run.I, X, ID, contact, run.XD, record)
    if has_layer(run, get(ID, contact + found.C_MATERIAL)):
        return gap + min((1.0 + first_share(run)) * XS[at.DT] * speed, 0.0) <= XS[at.NEAR]
    return gap <= XS[at.NEAR] and speed >= -XS[at.REST_SPEED]


@callee
def take_touching(run, X, which_limits):
    """Keep what touches at the state whose contacts the last detection has found.

    A contact or limit that is not closed yet, but about to be and slowly, takes part with its gap: it closes
    without an impact. Returns DONE, or NO_ROOM.
    """
    ID, XD, IS, XS = run.ID, run.XD, run.IS, run.XS
    n = 0
    for i in range(IS[at.N_LIMITS] - 1, -1, -1):
        if not takes_part(run, limit_of(i)):
            continue
        gap = limit_gap(run, X, i)
        touches = gap <= XS[at.PENETRATION] or (
            gap <= XS[at.NEAR] and limit_speed(run, X, i) >= -XS[at.REST_SPEED]
        )
        if which_limits == IN_REACH:
            touches = is_in_reach(run, X, i, gap)
        if touches:
            if n == IS[at.CAPACITY]:
                return at.NO_ROOM
            take_limit(run, X, i, gap, n)
            n += 1
    for i in range(n_found(run)):
        contact, record = ID[found.CONTACTS] + i * ROW, ID[found.RECORDS] + i * RECORD
        if not (takes_part(run, found_key(run, i)) and is_touching(run, X, i)):
            continue
        if n == IS[at.CAPACITY]:
            return at.NO_ROOM
        for k in range(ROW):
            put(IS, IS[at.TOUCHING] + n * ROW + k, get(ID, contact + k))
        for k in range(RECORD):
            put(XS, record_of(run, n) + k, get(XD, record + k))
        put(XS, IS[at.GAPS] + n, found_gap(run, i))
        n += 1
    put(IS, at.N_TOUCHING, n)
    return at.DONE


@inline
def with_room(run, kept, n):
    """Return how many of n can join those that are kept; where not all can, the step asks for more room."""
    if kept + n <= run.IS[at.CAPACITY]:
        return n
    put(run.IS, at.OVERFLOW, 1)
    return run.IS[at.CAPACITY] - kept


@callee
def take_closed(run):
    """Remember what touches as closed, in order; of bodies that wait what was."""
    IS, closed = run.IS, run.IS[at.CLOSED]
    kept = 0
    if not all_move(run):
        for i in range(IS[at.N_CLOSED]):
            key = get(IS, closed + i)
            if not takes_part(run, key):
                put(IS, closed + kept, key)
                kept += 1
    n = with_room(run, kept, IS[at.N_TOUCHING])
    i, place = kept - 1, kept + n - 1
    for j in range(n - 1, -1, -1):
        key = key_of(run, j)
        while i >= 0 and get(IS, closed + i) > key:
            put(IS, closed + place, get(IS, closed + i))
            i, place = i - 1, place - 1
        put(IS, closed + place, key)
        place -= 1
    put(IS, at.N_CLOSED, kept + n)


@inline
def can_strike(run, i):
    """Return whether a closed contact or limit can be an impact.

    A limit of fixed steps where it throws back.
    """
    if gap_of(run, i) > run.XS[at.PENETRATION] or is_soft(run, i):
        return False
    return key_of(run, i) >= 0 or run.IS[at.EVENT_DRIVEN] != 0 or at.restitution_of(run, i) > 0.0


@callee
def is_impact(run, X):
    """Return whether a closed contact or limit that was not closed before approaches."""
    IS = run.IS
    for i in range(IS[at.N_TOUCHING]):
        if not can_strike(run, i):
            continue
        if place_of(IS, IS[at.CLOSED], 1, IS[at.N_CLOSED], key_of(run, i)) >= 0:
            continue
        if opening_speed(run, X, i) < -run.XS[at.REST_SPEED]:
            return True
    return False


@inline
def is_new(run, key):
    """Return whether a contact or limit of bodies that move was not touching."""
    return touching_place(run, key) < 0 and takes_part(run, key)


@callee
def smallest_new_gap(run, Y, margin):
    """Return the smallest gap, of Y and the contacts found there, of what was not touching.

    And the speed at which it opens: at most a margin, which does not move.
    """
    smallest, speed = margin, 0.0
    for i in range(n_found(run)):
        gap, contact = found_gap(run, i), run.ID[found.CONTACTS] + i * ROW
        rigid = not has_layer(run, get(run.ID, contact + found.C_MATERIAL))
        if gap < smallest and rigid and is_new(run, found_key(run, i)):
            smallest = gap
            speed = approach(run.I, Y, run.ID, contact, run.XD, run.ID[found.RECORDS] + i * RECORD)
    for i in range(run.IS[at.N_LIMITS]):
        gap = limit_gap(run, Y, i)
        if gap < smallest and is_new(run, limit_of(i)):
            smallest, speed = gap, limit_speed(run, Y, i)
    return smallest, speed


@inline
def gap_there(run, Y, i, otherwise):
    """Return the gap that what touches has at Y, whose contacts were found last.

    Where it is far, another value.
    """
    key = key_of(run, i)
    if key < 0:
        return limit_gap(run, Y, limit_of(key))
    at_key = run.ID[found.CONTACTS] + found.C_KEY
    where = place_of(run.ID, at_key, ROW, n_found(run), key)
    return found_gap(run, where) if where >= 0 else otherwise
