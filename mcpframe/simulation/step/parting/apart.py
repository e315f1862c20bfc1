"""A step in which parties have clocks of their own.

The whole step is tried for everybody. Where it makes bodies overlap that did not touch, takes a hinge past a
limit or has a contact sink in, the islands concerned, joined by what overlaps, are a party; for everybody
else the step is good, and taken. One party after the other then takes the step by itself from where it began,
stopping at its own impacts, as if nobody else were there. At the end all are looked at together: parties that
overlap have met, and the step is taken anew with these as one. So an impact costs what its party costs, and
does not cut the steps of others.

Between parties contacts are looked at where the step ends, as they are within one where its parts end. Where
bodies are so fast that more looks are asked for (`travel`), or where a mechanism that is jammed holds
everything (`trial`), all have one clock.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.memory.records import (
    DOF_AT,
    N_BODIES,
    N_DOF,
    N_DOFS,
    N_THETA,
    THETA,
    THETA_AT,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import found_gap, found_key, n_found
from mcpframe.simulation.rules import MEETINGS, SINKING
from mcpframe.simulation.step.moving.speeds import fastest_point
from mcpframe.simulation.step.moving.travel import looks
from mcpframe.simulation.step.parting.islands import body_of, root_of, unite, unite_all
from mcpframe.simulation.step.parting.parties import is_asleep
from mcpframe.simulation.step.parting.sleeping import wake, wake_all, wake_touched
from mcpframe.simulation.step.step import act, event_driven, take, touch
from mcpframe.simulation.step.touching import (
    found_bodies,
    is_new,
    limit_gap,
    limit_of,
    look,
)
from mcpframe.simulation.step.trial import first_trial, resting_step, sinking
from mcpframe.simulation.step.undo import go_back


@inline
def is_new_overlap(run, i):
    """Return whether contact i of the last detection, of awake bodies, overlaps and did not touch."""
    return found_gap(run, i) < -run.XS[at.PENETRATION] and is_new(run, found_key(run, i))


@inline
def trouble(run, body):
    """Have the party of a body take the step by itself."""
    put(run.IS, run.IS[at.TROUBLED] + root_of(run, body), 1)


@callee
def unite_overlapping(run):
    """Join islands by new overlaps, and by those that have met in this step before."""
    IS = run.IS
    unite_all(run)
    for k in range(IS[at.N_MET]):
        unite(run, get(IS, IS[at.MET] + 2 * k), get(IS, IS[at.MET] + 2 * k + 1))
    for i in range(n_found(run)):
        if is_new_overlap(run, i):
            a, b = found_bodies(run, i)
            unite(run, a, b)


@callee
def mark_troubled(run, Y):
    """Mark the parties for which the trial that led to Y is not good."""
    IS, XS = run.IS, run.XS
    for k in range(run.I[N_BODIES]):
        put(IS, IS[at.TROUBLED] + k, 0)
    for k in range(IS[at.N_MET]):
        trouble(run, get(IS, IS[at.MET] + 2 * k))
    for i in range(n_found(run)):
        if is_new_overlap(run, i):
            a, b = found_bodies(run, i)
            trouble(run, a if a >= 0 else b)
    for i in range(IS[at.N_LIMITS]):
        if limit_gap(run, Y, i) < -XS[at.PENETRATION] and is_new(run, limit_of(i)):
            trouble(run, get(IS, IS[at.LIMITS] + i * at.LIMIT_ROW + at.M_BODY))
    for i in range(IS[at.N_TOUCHING]):
        if -sinking(run, Y, i) > SINKING * XS[at.PENETRATION]:
            trouble(run, body_of(run, i))


@callee
def form_parties(run, Y):
    """Write the party of every body after the trial that led to Y; return whether one is troubled."""
    IS, any_troubled = run.IS, False
    unite_overlapping(run)
    mark_troubled(run, Y)
    for k in range(run.I[N_BODIES]):
        root = root_of(run, k)
        troubled = get(IS, IS[at.TROUBLED] + root) != 0
        put(IS, IS[at.PARTY] + k, root if troubled else at.DONE_WITH)
        any_troubled = any_troubled or troubled
    return any_troubled


@inline
def copy_body(I, k, source, theta, rates, target, to_theta, to_rates):
    """Copy coordinates and rates of body k."""
    row = I[TREE] + k * TREE_ROW
    first, end = get(I, row + THETA_AT), I[N_THETA]
    if k + 1 < I[N_BODIES]:
        end = get(I, row + TREE_ROW + THETA_AT)
    for i in range(first, end):
        put(target, to_theta + i, get(source, theta + i))
    d = get(I, row + DOF_AT)
    for i in range(d, d + get(I, row + N_DOF)):
        put(target, to_rates + i, get(source, rates + i))


@callee
def keep_ends(run, X):
    """Keep where the bodies that move now have come to."""
    I, IS = run.I, run.IS
    for k in range(I[N_BODIES]):
        if get(IS, IS[at.PARTY] + k) == IS[at.MOVING_PARTY]:
            copy_body(I, k, X, I[THETA], I[THETA_DOT], run.XS, IS[at.ENDS], IS[at.END_RATES])


@callee
def keep_start(run, X):
    """Keep where parties begin: where the step does, after the impact there if there was one."""
    I, IS, XS = run.I, run.IS, run.XS
    for i in range(I[N_THETA]):
        put(XS, IS[at.STARTS] + i, get(X, I[THETA] + i))
    for d in range(I[N_DOFS]):
        put(XS, IS[at.START_RATES] + d, get(X, I[THETA_DOT] + d))


@callee
def put_all(run, theta, rates, X):
    """Have a state be at coordinates and rates that were kept."""
    I, XS = run.I, run.XS
    for i in range(I[N_THETA]):
        put(X, I[THETA] + i, get(XS, theta + i))
    for d in range(I[N_DOFS]):
        put(X, I[THETA_DOT] + d, get(XS, rates + d))


@callee
def list_shapes(run):
    """List the shapes of the party that moves, in their order."""
    IS, n = run.IS, 0
    for i in range(IS[at.N_SHAPES]):
        body = get(IS, IS[at.SHAPE_BODY] + i)
        if body >= 0 and get(IS, IS[at.PARTY] + body) == IS[at.MOVING_PARTY]:
            put(IS, IS[at.PARTY_SHAPES] + n, i)
            n += 1
    put(IS, at.N_PARTY_SHAPES, n)


@callee
def take_by_itself(run, X, Y, party):
    """Let one party take the step from where it began, and keep where it comes to."""
    IS, XS = run.IS, run.XS
    put(IS, at.MOVING_PARTY, party)
    list_shapes(run)
    put_all(run, IS[at.STARTS], IS[at.START_RATES], X)
    put(XS, at.WHEN, XS[at.START])
    code = look(run, X, XS[at.NEAR])
    if code != at.DONE:
        return code
    code, swapped = event_driven(run, X, Y)
    if code == at.DONE:
        keep_ends(run, Y if swapped else X)
    return code


@inline
def are_apart(run, a, b):
    """Return whether bodies belong to different parties, or one of them sleeps."""
    party = get(run.IS, run.IS[at.PARTY] + a) != get(run.IS, run.IS[at.PARTY] + b)
    return party or is_asleep(run, a) != is_asleep(run, b)


@callee
def note_meetings(run):
    """Note bodies apart from each other that overlap where all have come to; return whether there are any."""
    IS, before = run.IS, run.IS[at.N_MET]
    for i in range(n_found(run)):
        a, b = found_bodies(run, i)
        if a < 0 or b < 0 or found_gap(run, i) >= -run.XS[at.PENETRATION]:
            continue
        n = IS[at.N_MET]
        if are_apart(run, a, b) and n < run.I[N_BODIES]:
            put(IS, IS[at.MET] + 2 * n, a)
            put(IS, IS[at.MET] + 2 * n + 1, b)
            put(IS, at.N_MET, n + 1)
    return IS[at.N_MET] > before


@callee
def sort_impacts(run, first):
    """Bring the impacts of a step, from a row on, into the order of their times."""
    OUT, width, last = run.OUT_IMPACTS, at.OUT_IMPACT, run.IS[at.N_OUT_IMPACTS]
    for i in range(first + 1, last):
        j = i
        while j > first and get(OUT, (j - 1) * width + at.H_TIME) > get(OUT, j * width + at.H_TIME):
            for k in range(width):
                above, below = (j - 1) * width + k, j * width + k
                kept = get(OUT, above)
                put(OUT, above, get(OUT, below))
                put(OUT, below, kept)
            j -= 1


@callee
def take_parties(run, X, Y):
    """Take the step that was tried for those for whom it was good, then party by party; join them in X."""
    IS, XS = run.IS, run.XS
    keep_start(run, X)
    put(IS, at.MOVING_PARTY, at.DONE_WITH)
    code = take(run, X, Y, XS[at.DT])
    keep_ends(run, Y)
    put(IS, at.N_HISTORY, 0)
    for k in range(run.I[N_BODIES]):
        if code == at.DONE and get(IS, IS[at.PARTY] + k) == k:
            code = take_by_itself(run, X, Y, k)
    put(IS, at.MOVING_PARTY, at.EVERYBODY)
    if code != at.DONE:
        return code
    put_all(run, IS[at.ENDS], IS[at.END_RATES], X)
    put(XS, at.WHEN, XS[at.START] + XS[at.DT])
    code = look(run, X, XS[at.NEAR])
    put(XS, at.SPEED, fastest_point(run, X))
    return code


@callee
def wake_met(run):
    """Wake what awake bodies touch where the step begins, or have met in it before."""
    IS = run.IS
    wake_touched(run)
    for k in range(2 * IS[at.N_MET]):
        wake(run, get(IS, IS[at.MET] + k))


@callee
def try_whole(run, X, Y):
    """Try the whole step for everybody; return code, and whether parties may be told apart by that."""
    XS, h = run.XS, run.XS[at.DT]
    put(XS, at.TIME, XS[at.START])
    code = touch(run, X)
    if code == at.DONE:
        code = act(run, X)
    if code == at.DONE:
        code = resting_step(run, X, Y, h, XS[at.NEAR], False)
    if code == at.TOO_LONG:
        code = at.DONE
        if run.IS[at.ALL_PUSHED] == 0:
            code = first_trial(run, X, Y, h, True, XS[at.NEAR])
    if code != at.DONE or run.IS[at.ALL_HELD] != 0:
        return code, False
    speed = fastest_point(run, Y)
    code, n = looks(run, X, Y, h, speed)
    put(XS, at.SPEED, speed if n == 1 else XS[at.SPEED])
    return code, n == 1


@callee
def take_together(run, X, Y):
    """Take the step with one clock for everybody, from X, where an impact has been resolved."""
    wake_all(run)
    put(run.XS, at.WHEN, run.XS[at.START])
    code = look(run, X, run.XS[at.NEAR])
    return event_driven(run, X, Y) if code == at.DONE else (code, False)


@callee
def event_driven_apart(run, X, Y, B):
    """Take a step of dt; B: where it began. Return code and whether X and Y have changed places."""
    IS, first = run.IS, run.IS[at.N_OUT_IMPACTS]
    put(IS, at.N_MET, 0)
    for _ in range(MEETINGS):
        wake_met(run)
        code, divisible = try_whole(run, X, Y)
        if code != at.DONE:
            return code, False
        if not divisible:
            return take_together(run, X, Y)
        troubled = form_parties(run, Y)
        if not (troubled or note_meetings(run)):
            return take(run, X, Y, run.XS[at.DT]), True
        if troubled:
            code = take_parties(run, X, Y)
        if code != at.DONE:
            return code, False
        if troubled and not note_meetings(run):
            sort_impacts(run, first)
            return code, False
        go_back(run, X, B)
        code = look(run, X, run.XS[at.NEAR])
        if code != at.DONE:
            return code, False
    return take_together(run, X, Y)
