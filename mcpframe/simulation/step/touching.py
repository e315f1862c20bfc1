"""Which contacts touch, which were closed before, and what the detection says about them."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.contact import GAP, NORMAL, RECORD
from mcpframe.contact.detection import records as found
from mcpframe.contact.detection.kernels.detect import detect_contacts
from mcpframe.jit import by_address, callee, inline, window
from mcpframe.multibody.kernels.entries import place
from mcpframe.multibody.memory.records import (
    B_POSITION,
    B_VELOCITY,
    BODIES,
    BODY,
    REFERENCE,
    SECTION,
    TREE,
    TREE_ROW,
)
from mcpframe.simulation.step.memory import (
    CAPACITY,
    CLOSED,
    DETECT,
    DONE,
    GAPS,
    N_CLOSED,
    N_PLANNED,
    N_SHAPES,
    N_TOUCHING,
    NO_ROOM,
    PENETRATION,
    PLACE,
    PLAN,
    PLANNED_KEYS,
    RECORDS,
    REST_SPEED,
    SHAPE_BODY,
    SHAPE_REACH,
    TOUCHING,
)
from mcpframe.solving.stages import call_plan
from mcpframe.spatial.algebra import cross, dot, load_pair
from mcpframe.spatial.lanes import get, load, put, zero

call_detect = by_address(detect_contacts)
call_place = by_address(place)

ROW, NORMAL_AT = found.CONTACT_ROW, NORMAL.start


@inline
def look(run, Y, margin):
    """Place all bodies of a state and find its contacts up to a margin."""
    call_place(run.A[PLACE], (run.I, Y))
    return find(run, Y, margin)


@inline
def find(run, Y, margin):
    """Find the contacts of a state whose bodies are placed; DONE or NO_ROOM."""
    put(run.XD, found.MARGIN, margin)
    n = call_detect(run.A[DETECT], (run.I, Y, run.ID, run.XD))
    return NO_ROOM if n == found.ROOM or n > run.IS[CAPACITY] else DONE


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
def touching_place(run, key):
    """Return which of the touching contacts has a key, -1 for none."""
    return place_of(run.IS, run.IS[TOUCHING] + found.C_KEY, ROW, run.IS[N_TOUCHING], key)


@inline
def point_velocity(I, X, body, point):
    """Return the velocity of a body's material point; zero for the world."""
    if body < 0:
        return zero()
    w, v = load_pair(X, I[BODIES] + body * BODY + B_VELOCITY)
    at = load(X, I[REFERENCE] + 4 * get(I, I[TREE] + body * TREE_ROW + SECTION))
    return v + cross(w, point - at)


@callee
def fastest_point(run, X):
    """Return a speed that no point of any shape exceeds."""
    I, IS, XS = run.I, run.IS, run.XS
    fastest = 0.0
    for i in range(IS[N_SHAPES]):
        body = get(IS, IS[SHAPE_BODY] + i)
        if body >= 0:
            o = I[BODIES] + body * BODY
            w, v = load_pair(X, o + B_VELOCITY)
            origin = v + cross(w, load(X, o + B_POSITION))
            turning = math.sqrt(dot(w, w)) * get(XS, IS[SHAPE_REACH] + i)
            fastest = max(fastest, math.sqrt(dot(origin, origin)) + turning)
    return fastest


@inline
def approach(I, X, contacts, c, records, r):
    """Return the normal velocity of A relative to B of a contact, negative where they approach."""
    point = load(records, r)
    v_a = point_velocity(I, X, get(contacts, c + found.C_BODY_A), point)
    v_b = point_velocity(I, X, get(contacts, c + found.C_BODY_B), point)
    return dot(load(records, r + NORMAL_AT), v_a - v_b)


@callee
def take_touching(run, X):
    """Keep the contacts of the state that the last detection has found: closed ones, and slow ones near by.

    A contact that is not closed yet, but about to be and slowly, takes part with its gap: it closes without
    an impact.
    """
    ID, XD, IS, XS = run.ID, run.XD, run.IS, run.XS
    n = 0
    for i in range(ID[found.N_CONTACTS]):
        contact, record = ID[found.CONTACTS] + i * ROW, ID[found.RECORDS] + i * RECORD
        gap = get(XD, record + GAP)
        if gap > XS[PENETRATION] and approach(run.I, X, ID, contact, XD, record) < -XS[REST_SPEED]:
            continue
        for k in range(ROW):
            put(IS, IS[TOUCHING] + n * ROW + k, get(ID, contact + k))
        for k in range(RECORD):
            put(XS, IS[RECORDS] + n * RECORD + k, get(XD, record + k))
        put(XS, IS[GAPS] + n, gap)
        n += 1
    put(IS, N_TOUCHING, n)


@callee
def take_closed(run):
    """Remember the touching contacts as closed."""
    IS = run.IS
    for i in range(IS[N_TOUCHING]):
        put(IS, IS[CLOSED] + i, get(IS, IS[TOUCHING] + i * ROW + found.C_KEY))
    put(IS, N_CLOSED, IS[N_TOUCHING])


@callee
def plan_touching(run):
    """Have the formulation lay out the problem of the touching contacts, unless it is that of the last."""
    IS = run.IS
    n = IS[N_TOUCHING]
    same = n == get(IS, N_PLANNED)
    for i in range(n):
        key = get(IS, IS[TOUCHING] + i * ROW + found.C_KEY)
        same = same and get(IS, IS[PLANNED_KEYS] + i) == key
        put(IS, IS[PLANNED_KEYS] + i, key)
    if not same:
        put(IS, N_PLANNED, n)
        contacts = window(IS, IS[TOUCHING], n * ROW)
        call_plan(run.A[PLAN], (run.I, run.IR, run.XR, run.IP, contacts, n))


@callee
def is_impact(run, X):
    """Return whether a closed contact that was not closed before approaches."""
    I, IS, XS = run.I, run.IS, run.XS
    for i in range(IS[N_TOUCHING]):
        row, record = IS[TOUCHING] + i * ROW, IS[RECORDS] + i * RECORD
        if get(XS, IS[GAPS] + i) > XS[PENETRATION]:
            continue
        if place_of(IS, IS[CLOSED], 1, IS[N_CLOSED], get(IS, row + found.C_KEY)) >= 0:
            continue
        if approach(I, X, IS, row, XS, record) < -XS[REST_SPEED]:
            return True
    return False


@callee
def smallest_new_gap(run, margin):
    """Return the smallest gap found last among contacts that were not touching, at most a margin."""
    ID, XD = run.ID, run.XD
    smallest = margin
    for i in range(ID[found.N_CONTACTS]):
        gap = get(XD, ID[found.RECORDS] + i * RECORD + GAP)
        if gap < smallest and touching_place(run, get(ID, ID[found.CONTACTS] + i * ROW + found.C_KEY)) < 0:
            smallest = gap
    return smallest
