"""A step in which parties have clocks of their own.

The whole step is tried for everybody. Where it makes bodies overlap that did not touch, takes a hinge past a
limit or has a contact sink in, the islands concerned, joined by what overlaps, are a party; for everybody
else the step is good, and taken. One party after the other then takes the step by itself from where it began,
stopping at its own impacts, as if nobody else were there. At the end all are looked at together: parties that
overlap have met, and take the step anew as one, see `meeting`. So an impact costs what its party costs, and
does not cut the steps of others.

Between parties contacts are looked at where the step ends, as they are within one where its parts end. Where
bodies are so fast that more looks are asked for (`travel`), or where a mechanism that is jammed holds
everything (`trial`), all have one clock.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.kernels.spans import span_all
from mcpframe.multibody.memory.records import N_BODIES
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import found_gap, found_key, n_found
from mcpframe.simulation.rules import MEETINGS, SINKING
from mcpframe.simulation.step.moving.speeds import fastest_point
from mcpframe.simulation.step.moving.travel import looks
from mcpframe.simulation.step.parting.islands import body_of, root_of, unite, unite_all
from mcpframe.simulation.step.parting.meeting import (
    all_awake,
    forget_again,
    fork,
    join_met,
    note_meetings,
    sort_impacts,
)
from mcpframe.simulation.step.parting.places import keep_all, keep_ends, put_movers, span_movers
from mcpframe.simulation.step.parting.sleeping import wake, wake_all, wake_touched
from mcpframe.simulation.step.step import act, event_driven, take, touch
from mcpframe.simulation.step.touching import (
    find,
    found_bodies,
    is_new,
    limit_gap,
    limit_of,
    look,
)
from mcpframe.simulation.step.trial import first_trial, resting_step, sharpen, sinking
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
        put(IS, IS[at.HOMES] + k, root)
        put(IS, IS[at.PARTY] + k, root if troubled else at.DONE_WITH)
        any_troubled = any_troubled or troubled
    return any_troubled


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
def take_by_itself(run, X, Y, party, tried):
    """Let one party take the step from where it began, and keep where it comes to.

    Everybody is where the step began, at X and at Y, before and after. `tried`: the whole step has led the
    party to its ENDS.
    """
    IS, XS = run.IS, run.XS
    put(IS, at.MOVING_PARTY, party)
    put(IS, IS[at.FIRST_HIT] + party, IS[at.N_OUT_IMPACTS])
    list_shapes(run)
    span_movers(run)
    put(XS, at.WHEN, XS[at.START])
    code = find(run, X, XS[at.NEAR])
    if code != at.DONE:
        return code
    put(IS, at.TRIED, 1 if tried else 0)
    code, swapped = event_driven(run, X, Y)
    if code == at.DONE:
        keep_ends(run, Y if swapped else X)
        put_movers(run, IS[at.STARTS], IS[at.START_RATES], X)
        put_movers(run, IS[at.STARTS], IS[at.START_RATES], Y)
    put(IS, IS[at.LAST_HIT] + party, IS[at.N_OUT_IMPACTS])
    return code


@callee
def take_rest(run, X, Y):
    """Take the step that was tried from X to Y for those for whom it was good."""
    IS = run.IS
    keep_all(run, X, IS[at.STARTS], IS[at.START_RATES])
    keep_all(run, Y, IS[at.ENDS], IS[at.END_RATES])
    fork(run)
    put(IS, at.MOVING_PARTY, at.DONE_WITH)
    code = sharpen(run, X, Y, run.XS[at.DT])
    if code == at.DONE:
        code = take(run, X, Y, run.XS[at.DT])
    span_movers(run)
    keep_ends(run, Y)
    span_all(run.I)
    return code


@callee
def take_each(run, X, Y, tried):
    """Let party after party take the step; have X be where everybody has come to, and look there."""
    IS, XS, code = run.IS, run.XS, at.DONE
    put_movers(run, IS[at.STARTS], IS[at.START_RATES], X)
    put_movers(run, IS[at.STARTS], IS[at.START_RATES], Y)
    for k in range(run.I[N_BODIES]):
        if code == at.DONE and get(IS, IS[at.PARTY] + k) == k:
            put(IS, at.N_HISTORY, 0)
            code = take_by_itself(run, X, Y, k, tried)
    put(IS, at.N_HISTORY, 0)
    put(IS, at.MOVING_PARTY, at.EVERYBODY)
    span_all(run.I)
    if code != at.DONE:
        return code
    put_movers(run, IS[at.ENDS], IS[at.END_RATES], X)
    put(XS, at.WHEN, XS[at.START] + XS[at.DT])
    return find(run, X, XS[at.NEAR])


@callee
def take_parties(run, X, Y):
    """Take the step that was tried for those for whom it was good, then party by party; join them in X.

    Those who meet take it again. Returns code, and whether nobody has met in the end.
    """
    IS, hits = run.IS, run.IS[at.N_HITS]
    code, tried = take_rest(run, X, Y), True
    apart = IS[at.N_HITS] == hits
    for _ in range(MEETINGS):
        first = IS[at.N_MET]
        if code == at.DONE:
            code = take_each(run, X, Y, tried)
        if code != at.DONE or not note_meetings(run):
            put(run.XS, at.SPEED, fastest_point(run, X))
            return code, True
        if not (apart and all_awake(run, first)):
            return code, False
        join_met(run, first)
        forget_again(run)
        tried = False
    return code, False


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
    put(run.IS, at.ROUGH, run.IS[at.UNREST])  # at rest the whole step will be taken
    if code == at.DONE:
        code = resting_step(run, X, Y, h, XS[at.NEAR], False)
    if code == at.TOO_LONG:
        code = at.DONE
        if run.IS[at.ALL_PUSHED] == 0:
            code = first_trial(run, X, Y, h, True, XS[at.NEAR])
    put(run.IS, at.ROUGH, 0)
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
        put(IS, at.UNREST, 1 if troubled else 0)
        if not (troubled or note_meetings(run)):
            code = sharpen(run, X, Y, run.XS[at.DT])
            return (take(run, X, Y, run.XS[at.DT]), True) if code == at.DONE else (code, False)
        apart = False
        if troubled:
            code, apart = take_parties(run, X, Y)
        if code != at.DONE:
            return code, False
        if apart:
            sort_impacts(run, first)
            return code, False
        go_back(run, X, B)
        code = look(run, X, run.XS[at.NEAR])
        if code != at.DONE:
            return code, False
    return take_together(run, X, Y)
