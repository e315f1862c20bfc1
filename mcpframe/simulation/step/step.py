"""A step of dt, stage by stage.

*Event-driven* [J12, section IV]: a step is tried; where it would make bodies overlap that did not touch, or
take a hinge past a limit, the time of impact is found, the step redone up to it, the impact resolved, and the
rest of the step taken, as often as needed. *Time-stepping*: contacts are looked at where steps begin, and
bodies may overlap in between.

    touch     what is closed, and what is near and closes slowly               touching
    impact    where something closes that was open: rates jump                 impact
    forces    controllers, springs, dampers                                    drives
    push      build, solve, recover: rates that no closed contact breaks       push, solve
    move      where the rates lead, loops closed again                         flight, trial, closing
    detect    what is near there; what overlaps, and when it began to          touching, travel, trial
    record    impulses, modes, impacts, states                                 record
    observe   onlookers                                                        push

A contact or limit is *closed* where its gap is at most the penetration tolerance. One that closes while it
approaches is an impact; one that was closed before rests: the step's problem keeps it from approaching, and
no restitution acts. Approaches below the rest speed are no impacts: what closes so slowly takes part in the
step's problem with its gap as soon as it is near. So bounces end that would come back within the step, do not
leave the tolerance or are slower than the rest speed, and with them the infinite sequence of ever smaller
impacts.

X is the state at the start, Y where a trial leads; a trial that is taken makes the two change places.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee
from mcpframe.multibody.memory.loop_records import N_ROWS as N_LOOP_ROWS
from mcpframe.simulation.step import memory as at
from mcpframe.simulation.step.closing import settle
from mcpframe.simulation.step.drives import apply_forces
from mcpframe.simulation.step.impact import resolve_impact
from mcpframe.simulation.step.memory import gap_of, key_of, put_shift
from mcpframe.simulation.step.push import accelerate, ask_motion, observe
from mcpframe.simulation.step.record import take_impulses, take_modes
from mcpframe.simulation.step.solve import STEP
from mcpframe.simulation.step.touching import (
    CLOSED_ONES,
    IN_REACH,
    is_impact,
    take_closed,
    take_touching,
)
from mcpframe.simulation.step.trial import is_free, try_flight, try_push, until_event
from mcpframe.spatial.lanes import put


@callee
def touch(run, X):
    """Find out what touches, and resolve the impact if there is one; after `max_impacts` all rest."""
    code = take_touching(run, X, CLOSED_ONES)
    if code == at.DONE and run.IS[at.N_HITS] < run.IS[at.MAX_IMPACTS] and is_impact(run, X):
        code = resolve_impact(run, X)
    take_closed(run)
    return code


@callee
def act(run, X):
    """Write what acts on a state: forces at hinges, prescribed motion.

    Accelerations where nothing holds it.
    """
    time = run.XS[at.TIME]
    code = apply_forces(run, X, time)
    if code == at.DONE:
        code = ask_motion(run, X, time)
    known = run.IS[at.HOST_PUSH] == 0 and run.IS[at.EVENT_DRIVEN] != 0 and not is_free(run)
    if code == at.DONE and not known:
        code = accelerate(run, X)
    return code


@callee
def take(run, X, Y, h):
    """Take the trial that leads from X to Y in a time h."""
    if run.IS[at.N_TOUCHING] > 0 or not is_free(run):
        code = observe(run, X, STEP)
        if code != at.DONE:
            return code
    take_impulses(run)
    take_modes(run)
    return settle(run, Y, run.XS[at.TIME] + h) if run.IE[N_LOOP_ROWS] > 0 else at.DONE


@callee
def event_driven(run, X, Y):
    """Take a step of dt, stopping at every impact; return code and whether X and Y have changed places."""
    XS = run.XS
    left, swapped = XS[at.DT], False
    while left > XS[at.TIME_TOLERANCE]:
        put(XS, at.TIME, XS[at.START] + (XS[at.DT] - left))
        h = left
        code = touch(run, X)
        if code == at.DONE:
            code = act(run, X)
        if code == at.DONE:
            code, h = until_event(run, X, Y, left)
        if code == at.DONE:
            code = take(run, X, Y, h)
        if code != at.DONE:
            return code, swapped
        left -= h
        X, Y = Y, X
        swapped = not swapped
    return at.DONE, swapped


@callee
def ask_fixed(run, h):
    """Have limits be reached and not passed.

    Gaps of contacts, and what is beyond a limit, as the scene says.
    """
    for i in range(run.IS[at.N_TOUCHING]):
        gap = gap_of(run, i)
        if run.IS[at.POSITION_LEVEL] != 0:
            put_shift(run, i, gap / h)
        else:
            put_shift(run, i, max(gap, 0.0) / h if key_of(run, i) < 0 else 0.0)


@callee
def time_stepping(run, X, Y):
    """Take a step of dt with the contacts of its start; return code and whether X and Y changed places."""
    XS = run.XS
    h = XS[at.DT]
    put(XS, at.TIME, XS[at.START])
    code = touch(run, X)
    if code == at.DONE:
        code = act(run, X)
    if code == at.DONE:
        code = take_touching(run, X, IN_REACH)
    if code == at.DONE and is_free(run):
        code = try_flight(run, X, Y, h, XS[at.NEAR])
    elif code == at.DONE:
        ask_fixed(run, h)
        code = try_push(run, X, Y, h, False, XS[at.NEAR], 0.0)
    if code == at.DONE:
        code = take(run, X, Y, h)
    return code, code == at.DONE
