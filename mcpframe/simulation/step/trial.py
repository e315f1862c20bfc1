"""One step of dt: smooth motion with resting contacts, and impacts where new contacts close.

As `mcpframe.simulation.stepping` takes it. X is the state at the start, Y where a trial leads; a trial that
is taken makes the two change places.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.contact import GAP, RECORD
from mcpframe.contact.detection import records as found
from mcpframe.jit import by_address, callee, cycles, inline, window
from mcpframe.multibody.kernels.entries import PLACED, free_dynamics
from mcpframe.multibody.memory.records import N_DOFS, THETA_DDOT, THETA_DOT
from mcpframe.simulation.rules import CORRECTIONS, MOST_LOOKS, SECTIONS, SHORTEST, SINKING
from mcpframe.simulation.step.impact import resolve_impact
from mcpframe.simulation.step.memory import (
    ACCELERATE,
    ASSEMBLE,
    BUILD,
    CONSTANTS,
    DONE,
    DT,
    GAPS,
    GAPS_COUNT,
    IMPULSES,
    MAX_IMPACTS,
    MODES,
    MOVED,
    N_HITS,
    N_TOUCHING,
    NEAR,
    NO_MOTION,
    NO_SOLUTION,
    PENETRATION,
    RECORDS,
    RECOVER,
    RECOVERY,
    RESPONSE,
    SPEED,
    START,
    THINNEST,
    TIME,
    TIME_TOLERANCE,
    TOO_LONG,
    TOUCHING,
    Z,
)
from mcpframe.simulation.step.motion import hinge_forces, move
from mcpframe.simulation.step.record import take_impulses, take_modes
from mcpframe.simulation.step.solve import recall_basis, remember_basis, solved
from mcpframe.simulation.step.touching import (
    fastest_point,
    find,
    is_impact,
    look,
    place_of,
    plan_touching,
    smallest_new_gap,
    take_closed,
    take_touching,
)
from mcpframe.solving.stages import call_assemble, call_constants, call_recover
from mcpframe.spatial.lanes import get, put

call_free_dynamics = by_address(free_dynamics)


@callee
def accelerate(run, X):
    """Write the free acceleration of a state whose bodies are placed."""
    hinge_forces(run, X)
    failed = call_free_dynamics(run.A[ACCELERATE], (run.I, X, PLACED))
    return NO_MOTION if failed != 0 else DONE


@callee
def fly(run, X, Y, h):
    """Write to Y where a step of h without contacts leads."""
    I = run.I
    for d in range(I[N_DOFS]):
        put(Y, I[THETA_DOT] + d, get(X, I[THETA_DOT] + d) + h * get(X, I[THETA_DDOT] + d))
    move(I, X, Y, h)


@callee
def push(run, X, Y, h, gap_share):
    """Solve the step's problem and write to Y where it leads."""
    I, IS, XS = run.I, run.IS, run.XS
    recall_basis(run)
    if not solved(run, True):
        return NO_SOLUTION
    remember_basis(run)
    put(IS, MOVED, 0)
    clock = cycles()
    n_u = IS[N_TOUCHING]
    records = window(XS, IS[RECORDS], n_u * RECORD)
    z, response = window(XS, IS[Z], run.XR.shape[0]), window(XS, IS[RESPONSE], I[N_DOFS])
    impulses, modes = window(XS, IS[IMPULSES], 4 * n_u), window(IS, IS[MODES], n_u)
    step = I, X, run.IR, run.XR, records, gap_share, z, response, impulses, modes
    call_recover(run.A[RECOVER], step)
    for d in range(I[N_DOFS]):
        rate = get(X, I[THETA_DOT] + d) + h * get(X, I[THETA_DDOT] + d) + get(response, d)
        put(Y, I[THETA_DOT] + d, rate)
    move(I, X, Y, h)
    put(IS, RECOVERY, IS[RECOVERY] + cycles() - clock)
    return DONE


@callee
def assemble(run, X, h, gap_share):
    """Write the problem of a step of h with the touching contacts."""
    IS, XS = run.IS, run.XS
    clock = cycles()
    plan_touching(run)
    hinge_forces(run, X)
    records = window(XS, IS[RECORDS], IS[N_TOUCHING] * RECORD)
    failed = call_assemble(run.A[ASSEMBLE], (run.I, X, run.IR, run.XR, records, h, gap_share, PLACED))
    put(IS, BUILD, IS[BUILD] + cycles() - clock)
    return NO_MOTION if failed != 0 else DONE


@inline
def lift_sunken(run, h):
    """Have contacts that have sunk in rise by the share of their depth that a step of h is to remove.

    Those that have not may come as near as to touch.
    """
    IS, XS = run.IS, run.XS
    for i in range(IS[N_TOUCHING]):
        gap = get(XS, IS[GAPS] + i)
        put(XS, IS[RECORDS] + i * RECORD + GAP, gap if gap > 0.0 else gap * (h / XS[DT]))


@inline
def sinking(run, i, h):
    """Return by how much contact i is deeper than it may be where the last trial leads, 0 or negative.

    It may be as deep as at the start, less what the step is to remove.
    """
    ID, XD, IS, XS = run.ID, run.XD, run.IS, run.XS
    key = get(IS, IS[TOUCHING] + i * found.CONTACT_ROW + found.C_KEY)
    start, n = ID[found.CONTACTS] + found.C_KEY, ID[found.N_CONTACTS]
    at = place_of(ID, start, found.CONTACT_ROW, n, key)
    if at < 0:
        return 0.0
    gap = min(get(XS, IS[GAPS] + i), 0.0)
    return min(get(XD, ID[found.RECORDS] + at * RECORD + GAP) - (gap - gap * (h / XS[DT])), 0.0)


@callee
def deepest_sinking(run, h):
    """Return how much deeper than it may be the worst contact is where the last trial leads."""
    deepest = 0.0
    for i in range(run.IS[N_TOUCHING]):
        deepest = max(deepest, -sinking(run, i, h))
    return deepest


@callee
def lift_sinking(run, h):
    """Have contacts rise by what they would sink in where the last trial leads."""
    IS, XS = run.IS, run.XS
    for i in range(IS[N_TOUCHING]):
        o = IS[RECORDS] + i * RECORD + GAP
        put(XS, o, get(XS, o) + sinking(run, i, h))


@inline
def set_gaps(run, h):
    """Write the problem's q for the gaps as they are now."""
    records = window(run.XS, run.IS[RECORDS], run.IS[N_TOUCHING] * RECORD)
    call_constants(run.A[CONSTANTS], (run.IR, run.XR, records, 1.0 / h))


@callee
def first_trial(run, X, Y, h, margin):
    """Try a step of h in which no touching contact approaches."""
    lift_sunken(run, h)
    set_gaps(run, h)
    code = push(run, X, Y, h, 1.0 / h)
    return look(run, Y, margin) if code == DONE else code


@callee
def resting_step(run, X, Y, h, margin, any_depth):
    """Try a step of h in which closed contacts neither approach nor sink in; find contacts up to a margin.

    Where solving again for what contacts would sink in does not come to an end, the step is too long for
    that: TOO_LONG, or the first trial where any depth will do.
    """
    if run.IS[N_TOUCHING] == 0:
        fly(run, X, Y, h)
        return look(run, Y, margin)
    code = assemble(run, X, h, 1.0 / h)
    if code == DONE:
        code = first_trial(run, X, Y, h, margin)
    least = SINKING * run.XS[PENETRATION]
    depth = deepest_sinking(run, h)
    for _ in range(CORRECTIONS):
        if code != DONE or depth <= least:
            return code
        before = depth
        lift_sinking(run, h)
        set_gaps(run, h)
        code = push(run, X, Y, h, 1.0 / h)
        if code == DONE:
            code = look(run, Y, margin)
        depth = deepest_sinking(run, h)
        if depth > 0.5 * before:
            break
    if code != DONE or depth <= least:
        return code
    return first_trial(run, X, Y, h, margin) if any_depth else TOO_LONG


@callee
def longest_step(run, X, Y, left):
    """Try the rest of a step, or half of it, or a quarter ...; return code and length."""
    h, tolerance = left, run.XS[NEAR]
    shortest = run.XS[DT] * SHORTEST
    code = resting_step(run, X, Y, h, tolerance, h <= shortest)
    while code == TOO_LONG:
        h *= 0.5
        code = resting_step(run, X, Y, h, tolerance, h <= shortest)
    return code, h


@callee
def time_of_impact(run, X, Y, low, high, overlap):
    """Try the step that ends with the deepest new contact just closed; return code and its length.

    Illinois rule on the smallest new gap plus half the tolerance, as in Python; a step of `low` is known not
    to overlap, one of `high` to do so.
    """
    XS = run.XS
    half = 0.5 * XS[PENETRATION]
    margin = 10.0 * max(-overlap, XS[PENETRATION])
    code = find(run, X, margin) if low == 0.0 else resting_step(run, X, Y, low, margin, True)
    f_low = smallest_new_gap(run, margin) + half
    if low > 0.0 and f_low <= half and code == DONE:
        return find(run, Y, XS[NEAR]), low
    f_high, kept, h = overlap + half, 0, high
    for _ in range(SECTIONS):
        h = high - f_high * (high - low) / (f_high - f_low)
        if not (low < h < high):
            h = 0.5 * (low + high)
        if code == DONE:
            code = resting_step(run, X, Y, h, margin, True)
        gap = smallest_new_gap(run, margin) + half
        if code != DONE or abs(gap) <= half or high - low <= XS[TIME_TOLERANCE]:
            break
        if gap > 0.0:
            low, f_low = h, gap
            f_high, kept = (0.5 * f_high if kept == 1 else f_high), 1
        else:
            high, f_high = h, gap
            f_low, kept = (0.5 * f_low if kept == -1 else f_low), -1
    if code == DONE:
        code = find(run, Y, XS[NEAR])
    return code, h


@callee
def look_between(run, X, Y, h):
    """Look for overlaps on the way of the trial of h that was made.

    Returns code, the last time before an overlap, the first after it (or h), and the overlap.

    See `mcpframe.simulation.travel`; here the fastest point and the thinnest shape count, wherever they are.
    """
    XS = run.XS
    speed = fastest_point(run, Y)
    looks = min(math.ceil(2.0 * h * max(speed, XS[SPEED]) / XS[THINNEST]), MOST_LOOKS)
    overlap, low = smallest_new_gap(run, 0.0), 0.0
    if looks > 1:
        for k in range(1, looks):
            early = h * k / looks
            code = resting_step(run, X, Y, early, XS[NEAR], True)
            overlap = smallest_new_gap(run, 0.0)
            if code != DONE or overlap < -XS[PENETRATION]:
                return code, low, early, overlap
            low = early
        code = resting_step(run, X, Y, h, XS[NEAR], True)
        overlap = smallest_new_gap(run, 0.0)
        if code != DONE:
            return code, low, h, overlap
    put(XS, SPEED, speed)
    return DONE, low, h, overlap


@callee
def event_driven(run, X, Y):
    """Take a step of dt, stopping at every impact; return code and whether X and Y have changed places."""
    IS, XS = run.IS, run.XS
    left, tolerance, swapped = XS[DT], XS[PENETRATION], False
    while left > XS[TIME_TOLERANCE]:
        put(XS, TIME, XS[START] + (XS[DT] - left))
        take_touching(run, X)
        code = DONE
        if IS[N_HITS] < IS[MAX_IMPACTS] and is_impact(run, X):
            code = resolve_impact(run, X)
        take_closed(run)
        if code == DONE and IS[N_TOUCHING] == 0:
            code = accelerate(run, X)
        h = left
        if code == DONE:
            code, h = longest_step(run, X, Y, left)
        low, overlap = 0.0, 0.0
        if code == DONE:
            code, low, h, overlap = look_between(run, X, Y, h)
        if code == DONE and overlap < -tolerance:
            code, h = time_of_impact(run, X, Y, low, h, overlap)
        if code != DONE:
            return code, swapped
        left -= h
        take_impulses(run)
        take_modes(run)
        X, Y = Y, X
        swapped = not swapped
    return DONE, swapped


@callee
def time_stepping(run, X, Y):
    """Take a step of dt with the contacts of its start; return code and whether X and Y changed places."""
    IS, XS = run.IS, run.XS
    h = XS[DT]
    put(XS, TIME, XS[START])
    take_touching(run, X)
    code = resolve_impact(run, X) if is_impact(run, X) else DONE
    take_closed(run)
    if code == DONE and IS[N_TOUCHING] == 0:
        code = accelerate(run, X)
        fly(run, X, Y, h)
    elif code == DONE:
        gap_share = 1.0 / h if IS[GAPS_COUNT] != 0 else 0.0
        code = assemble(run, X, h, gap_share)
        if code == DONE:
            code = push(run, X, Y, h, gap_share)
    if code == DONE:
        code = look(run, Y, XS[NEAR])
    if code != DONE:
        return code, False
    take_impulses(run)
    take_modes(run)
    return DONE, True
