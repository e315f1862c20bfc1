"""Trials: where a part of a step leads in which what is closed neither approaches nor sinks in.

X is the state at the start, Y where a trial leads. Where a closed contact would sink in because surfaces
curve or bodies turn within the step, the step is solved again with what it would sink in added to its gap;
where that does not come to an end, the step is too long. What has sunk in rises bit by bit; where it cannot,
in a mechanism that is jammed or at a dead point, everything is held as it is, which can always be done.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.memory.loop_records import N_ROWS as N_LOOP_ROWS
from mcpframe.multibody.memory.records import N_DOFS
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import (
    gap_of,
    is_soft,
    key_of,
    put_shift,
    put_slip_shift,
    shift_of,
    slip_shift_of,
    start_gap_of,
)
from mcpframe.simulation.rules import CORRECTIONS, RISING, SECTIONS, SHORTEST, SINKING
from mcpframe.simulation.step.closures import ask_loops_to_hold, largest_jump
from mcpframe.simulation.step.contact_model.references import reference_rate
from mcpframe.simulation.step.kick import go_on, kick
from mcpframe.simulation.step.moving.closing import close_loops, shift_closed
from mcpframe.simulation.step.moving.drift import first_share
from mcpframe.simulation.step.moving.flight import fly
from mcpframe.simulation.step.moving.lasting import lasts
from mcpframe.simulation.step.moving.sections import narrowed, newton, section
from mcpframe.simulation.step.moving.speeds import fastest_point
from mcpframe.simulation.step.moving.travel import looks
from mcpframe.simulation.step.parting.islands import join_all, members_of
from mcpframe.simulation.step.parting.places import put_movers
from mcpframe.simulation.step.pushing.push import push, push_loose
from mcpframe.simulation.step.pushing.solve import STEP
from mcpframe.simulation.step.touching import call_place, find, gap_there, smallest_new_gap


@inline
def is_free(run):
    """Return whether nothing holds the system.

    No contact, no limit, and no loop that is not kept otherwise.
    """
    return run.IS[at.N_TOUCHING] == 0 and (run.IE[N_LOOP_ROWS] == 0 or run.IS[at.RK4] != 0)


@callee
def is_unheld(run):
    """Return whether contacts and limits did nothing in the last push, to what a solve is good for."""
    IS, XS = run.IS, run.XS
    if run.IE[N_LOOP_ROWS] > 0:
        return False
    change, fastest = 0.0, 0.0
    for d in range(run.I[N_DOFS]):
        after, free = get(XS, IS[at.AFTER] + d), get(XS, IS[at.KICKED] + d)
        change, fastest = max(change, abs(after - free)), max(fastest, abs(after))
    return change <= XS[at.TOL] * (1.0 + fastest)


@callee
def go(run, Y, h):
    """Write to Y where the rates of the last push lead; loops are closed again, bodies placed."""
    if go_on(run, Y, run.IS[at.AFTER], h) and run.IE[N_LOOP_ROWS] > 0:
        shift_closed(run, Y)
    return place_closed(run, Y)


@callee
def place_closed(run, Y):
    """Place the bodies of Y, loops closed where they are to be."""
    if run.IS[at.PROJECTS] != 0:
        return close_loops(run, Y)
    call_place(run.A[at.PLACE], (run.I, Y))
    return at.DONE


@callee
def count_trial(run):
    """Count a trial; TOO_MUCH where the step has had all that it may."""
    put(run.IS, at.TRIALS, run.IS[at.TRIALS] + 1)
    put(run.IS, at.N_LOOSE, 0)
    return at.DONE if run.IS[at.TRIALS] <= run.IS[at.MAX_TRIALS] else at.TOO_MUCH


@callee
def try_push(run, X, Y, h, again, margin, rise):
    """Push in the middle of a step of h, which is there already, and look where it leads."""
    if count_trial(run) != at.DONE:
        return at.TOO_MUCH
    put(run.XS, at.ASKED_RISE, rise)
    code = push(run, run.Z, h, STEP, again, rise)
    if code == at.DONE and run.IS[at.RK4] != 0 and is_unheld(run):
        code = fly(run, X, Y, h)
        call_place(run.A[at.PLACE], (run.I, Y))
    elif code == at.DONE:
        code = go(run, Y, h)
    put(run.XS, at.WHEN, run.XS[at.TIME] + h)
    return find(run, Y, margin) if code == at.DONE else code


@callee
def try_flight(run, X, Y, h, margin):
    """Fly for a time h, and look where it leads."""
    code = count_trial(run)
    if code == at.DONE:
        code = fly(run, X, Y, h)
    if code == at.DONE:
        code = place_closed(run, Y)
    put(run.XS, at.WHEN, run.XS[at.TIME] + h)
    return find(run, Y, margin) if code == at.DONE else code


@inline
def rise_of(run, gap):
    """Return the speed at which something as deep as that is to rise, no faster than RISE."""
    return min(RISING * max(-gap, 0.0) / run.XS[at.DT], run.XS[at.RISE])


@inline
def asked_speed(run, i):
    """Return the speed that is asked of what touches: of rising and, of clusters, of slips.

    Contacts of one stiff cluster can be asked for what none of its motions has; where nothing is asked, rest
    is an answer.
    """
    rise = -shift_of(run, i)
    if run.IS[at.ADAPTIVE] == 0:
        return rise
    first, second = slip_shift_of(run, i)
    return max(rise, abs(first), abs(second))


@callee
def ask_to_rise(run, h):
    """Have what touches be met without a gap in the middle of the next step; return the speed that is asked.

    What has sunk in rises by the share of its depth that a step of h is to remove. Rows look ahead, see
    `kick`; steps of h and dt follow each other.
    """
    fastest = largest_jump(run)
    apart = 0.5 * (h + run.XS[at.DT]) if run.IS[at.EULER] == 0 else h
    for i in range(run.IS[at.N_TOUCHING]):
        ahead = run.IS[at.AHEAD] + 4 * i
        grown = get(run.XS, ahead)
        gap = gap_of(run, i) - 0.25 * h * grown
        rise = 0.0 if is_soft(run, i) else rise_of(run, gap)
        wandering = reference_rate(run, key_of(run, i), run.XS[at.TIME] + first_share(run) * h, apart)
        put_shift(run, i, grown - wandering + (gap / apart if gap > 0.0 else -rise))
        put_slip_shift(run, i, get(run.XS, ahead + 1), get(run.XS, ahead + 2))
        fastest = max(fastest, rise, asked_speed(run, i))
    return fastest


@callee
def ask_to_hold(run, h):
    """Have everything keep its distance, or come as near as to touch; loops are kept as they are.

    Nothing looks ahead: a state at rest must be an answer, or what is jammed might have none.
    """
    ask_loops_to_hold(run)
    for i in range(run.IS[at.N_TOUCHING]):
        put_shift(run, i, max(gap_of(run, i), 0.0) / h)
        put_slip_shift(run, i, 0.0, 0.0)


@inline
def sinking(run, Y, i):
    """Return how much deeper than at the start what touches is where the last trial leads, 0 or negative."""
    if is_soft(run, i):
        return 0.0
    allowed = min(start_gap_of(run, i), 0.0)
    return min(gap_there(run, Y, i, allowed) - allowed, 0.0)


@callee
def deepest_sinking(run, Y):
    """Return how much deeper than it may be the worst of what touches is where the last trial leads."""
    deepest = 0.0
    for i in range(run.IS[at.N_TOUCHING]):
        deepest = max(deepest, -sinking(run, Y, i))
    return deepest


@callee
def ask_island(run, Y, k, least, left):
    """Have what would sink in of island k rise by as much in a time, if one sinks by more than the least."""
    first, last = members_of(run, k)
    deepest = 0.0
    for m in range(first, last):
        deepest = max(deepest, -sinking(run, Y, get(run.IS, run.IS[at.MEMBERS] + m)))
    for m in range(first, last if deepest > least else first):
        i = get(run.IS, run.IS[at.MEMBERS] + m)
        put_shift(run, i, shift_of(run, i) + sinking(run, Y, i) / left)


@callee
def ask_for_sinking(run, Y, h, least):
    """Have what would sink in where the last trial leads rise by as much in what is left after the kick.

    Islands that keep within the least depth are left as they are. Return the largest speed that is asked.
    """
    rise, left = 0.0, (1.0 - first_share(run)) * h
    if run.IS[at.HOST_PUSH] != 0:
        join_all(run)  # Python pushes everything at once
    for k in range(run.IS[at.N_ISLANDS]):
        ask_island(run, Y, k, least, left)
    for i in range(run.IS[at.N_TOUCHING]):
        if not is_soft(run, i):
            rise = max(rise, asked_speed(run, i))
    return rise


@callee
def hold(run, Y, h):
    """Push so that everything is held as it is, and write to Y where that leads."""
    put(run.IS, at.ALL_HELD, 1)
    put(run.XS, at.ASKED_RISE, 0.0)
    ask_to_hold(run, h)
    code = push(run, run.Z, h, STEP, False, 0.0)
    return go(run, Y, h) if code == at.DONE else code


@callee
def first_trial(run, X, Y, h, again, margin):
    """Try a step of h in which nothing that touches approaches, and what has sunk in rises where it can."""
    put(run.IS, at.ALL_HELD, 0)
    rise = ask_to_rise(run, h)
    code = try_push(run, X, Y, h, again, margin, rise)
    if code == at.NO_SOLUTION:
        code = hold(run, Y, h)
        put(run.XS, at.WHEN, run.XS[at.TIME] + h)
        code = find(run, Y, margin) if code == at.DONE else code
    return code


@callee
def resting_step(run, X, Y, h, margin, any_depth):
    """Try a step of h in which what is closed neither approaches nor sinks in; find contacts up to a margin.

    Where solving again for what would sink in does not come to an end, the step is too long for that:
    TOO_LONG, or the first trial where any depth will do.
    """
    if is_free(run):
        return try_flight(run, X, Y, h, margin)
    fourth = run.IS[at.RK4] != 0 and run.IS[at.HOST_PUSH] == 0 and run.IS[at.N_REFERRED] == 0
    if fourth and lasts(run, X, Y, h, False):
        return find(run, Y, margin)
    unclear = fourth and run.IS[at.UNCLEAR] != 0
    code = pushed_step(run, X, Y, h, margin, any_depth)
    if code == at.DONE and unclear:
        if lasts(run, X, Y, h, True):
            return find(run, Y, margin)
        code = pushed_step(run, X, Y, h, margin, any_depth)
    return code


@callee
def pushed_step(run, X, Y, h, margin, any_depth):
    """Try a step of h by a kick and a push, as `resting_step` says."""
    code = kick(run, X, h, True)
    if code == at.DONE:
        code = first_trial(run, X, Y, h, False, margin)
    least = SINKING * run.XS[at.PENETRATION]
    depth = deepest_sinking(run, Y) if code == at.DONE else 0.0
    for _ in range(CORRECTIONS):
        if code != at.DONE or depth <= least:
            return code
        before = depth
        rise = ask_for_sinking(run, Y, h, least)
        code = try_push(run, X, Y, h, True, margin, rise)
        if code == at.NO_SOLUTION:
            break
        depth = deepest_sinking(run, Y) if code == at.DONE else 0.0
        if depth > 0.5 * before:
            break
    if code == at.DONE and depth <= least:
        return code
    if code != at.DONE and code != at.NO_SOLUTION:
        return code
    return first_trial(run, X, Y, h, True, margin) if any_depth else at.TOO_LONG


@callee
def longest_step(run, X, Y, left):
    """Try the rest of a step, or half of it, or a quarter ...; return code and length.

    One in which modes of contacts last ends with the first of them.
    """
    h, shortest = left, run.XS[at.DT] * SHORTEST
    put(run.XS, at.UNTIL, 0.0)
    code = resting_step(run, X, Y, h, run.XS[at.NEAR], h <= shortest)
    if code == at.DONE and run.XS[at.UNTIL] > 0.0:
        h = run.XS[at.UNTIL]
        code = resting_step(run, X, Y, h, run.XS[at.NEAR], True)
    while code == at.TOO_LONG:
        h *= 0.5
        code = resting_step(run, X, Y, h, run.XS[at.NEAR], h <= shortest)
    return code, h


@callee
def look_between(run, X, Y, h):
    """Look for overlaps on the way of the trial of h that was made, as often as `travel` says.

    Returns code, the last time before an overlap, the first after it (or h), and the overlap with its speed.
    """
    XS = run.XS
    speed, low = fastest_point(run, Y), 0.0
    code, n = looks(run, X, Y, h, speed)
    if code == at.DONE and n > 1:
        for k in range(1, n):
            early = h * k / n
            code = resting_step(run, X, Y, early, XS[at.NEAR], True)
            overlap = smallest_new_gap(run, Y, 0.0)
            if code != at.DONE or overlap[0] < -XS[at.PENETRATION]:
                return code, low, early, overlap
            low = early
        code = resting_step(run, X, Y, h, XS[at.NEAR], True)
    if code == at.DONE:
        put(XS, at.SPEED, speed)
    return code, low, h, smallest_new_gap(run, Y, 0.0)


@callee
def time_of_impact(run, X, Y, low, high, overlap):
    """Try the step that ends with the deepest new contact or limit just closed; return code and its length.

    Where the smallest new gap plus half the tolerance lies within half the tolerance of zero, so that the
    contact is closed and has not sunk in. A step of `low` is known not to overlap, one of `high` to do so, by
    `overlap` and at the speed that goes with it: by the rule of Newton, and where that does not do, in
    `sections`. It lands deeper, from the side of the overlap.
    """
    XS, code, half = run.XS, at.DONE, 0.5 * run.XS[at.PENETRATION]
    margin = 10.0 * max(-overlap[0], XS[at.PENETRATION])
    f_low = margin + half
    if low > 0.0:
        code = resting_step(run, X, Y, low, margin, True)
        f_low = smallest_new_gap(run, Y, margin)[0] + half
        if f_low <= half and code == at.DONE:
            return find(run, Y, XS[at.NEAR]), low
    gap, speed, before, kept, h = overlap[0] + half, overlap[1], math.inf, 0, high
    f_high = gap
    for _ in range(SECTIONS):
        last = h
        h = newton(low, high, h, gap, speed, before)
        if h == last:
            h = section(low, f_low, high, f_high)
        if code == at.DONE:
            code = resting_step(run, X, Y, h, margin, True)
        if code != at.DONE:
            break
        before = abs(gap)
        smallest, speed = smallest_new_gap(run, Y, margin)
        gap = smallest + half
        if abs(gap) <= half or high - low <= XS[at.TIME_TOLERANCE]:
            break
        low, f_low, high, f_high, kept = narrowed(low, f_low, high, f_high, kept, h, gap)
    if code == at.DONE:
        code = find(run, Y, XS[at.NEAR])
    return code, h


@callee
def sharpen(run, X, Y, h):
    """Solve a trial of h that is to be taken to the tolerance of the scene, where it was not."""
    if run.IS[at.N_LOOSE] == 0:
        return at.DONE
    code = push_loose(run, run.Z, run.XS[at.ASKED_RISE])
    if code == at.NO_SOLUTION:
        return first_trial(run, X, Y, h, True, run.XS[at.NEAR])
    if code == at.DONE:
        code = go(run, Y, h)
    return find(run, Y, run.XS[at.NEAR]) if code == at.DONE else code


@callee
def recall_trial(run, Y):
    """Have Y be where the whole step has led the party that moves; return code and the new overlap there.

    None where something has sunk in, for then a shorter part of the step is to be tried.
    """
    put_movers(run, run.IS[at.ENDS], run.IS[at.END_RATES], Y)
    put(run.XS, at.WHEN, run.XS[at.START] + run.XS[at.DT])
    code = find(run, Y, run.XS[at.NEAR])
    if code != at.DONE or deepest_sinking(run, Y) > SINKING * run.XS[at.PENETRATION]:
        return code, (0.0, 0.0)
    return code, smallest_new_gap(run, Y, 0.0)


@callee
def try_until_event(run, X, Y, left):
    """Try the rest of a step, or what of it passes before something overlaps that did not touch."""
    if run.IS[at.TRIED] != 0:
        put(run.IS, at.TRIED, 0)
        code, overlap = recall_trial(run, Y)
        if code != at.DONE or overlap[0] < -run.XS[at.PENETRATION]:
            return time_of_impact(run, X, Y, 0.0, left, overlap) if code == at.DONE else (code, left)
    code, h = longest_step(run, X, Y, left)
    if code != at.DONE:
        return code, h
    code, low, h, overlap = look_between(run, X, Y, h)
    if code == at.DONE and overlap[0] < -run.XS[at.PENETRATION]:
        return time_of_impact(run, X, Y, low, h, overlap)
    return code, h


@callee
def until_event(run, X, Y, left):
    """Try the rest of a step, or what of it passes before an event, and solve that to the tolerance."""
    put(run.IS, at.ROUGH, 1)
    code, h = try_until_event(run, X, Y, left)
    put(run.IS, at.ROUGH, 0)
    return (sharpen(run, X, Y, h) if code == at.DONE else code), h
