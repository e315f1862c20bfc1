"""A step of dt, stage by stage.

*Event-driven* [J12, section IV]: a step is tried; where it would make bodies overlap that did not touch, or
take a hinge past a limit, the time of impact is found, the step redone up to it, the impact resolved, and the
rest of the step taken, as often as needed. *Time-stepping*: contacts are looked at where steps begin, and
bodies may overlap in between.

    touch     what is closed, and what is near and closes slowly               touching
    impact    where something closes that was open: rates jump                 impact
    forces    controllers, springs, dampers                                    drives
    kick      half a step of drift; what forces do to the rates there          drift, kick
    push      build, solve, recover: rates that no closed contact breaks       push, solve, layers
    move      where the rates lead, loops closed again                         moving
    detect    what is near there; what overlaps, and when it began to          touching, trial
    certify   whether impulses and rates are what physics says they are        certifying
    record    impulses, modes, impacts, jams, states                           record, jam
    judge     whether rigid forces were unique; contacts yield or are rigid    contact_model
    observe   onlookers                                                        push

A contact or limit is *closed* where its gap is at most the penetration tolerance. One that closes while it
approaches is an impact; one that was closed before rests: the step's problem keeps it from approaching, and
no restitution acts. Approaches below the rest speed are no impacts: what closes so slowly takes part in the
step's problem with its gap as soon as it is near. So bounces end that would come back within the step, do not
leave the tolerance or are slower than the rest speed, and with them the infinite sequence of ever smaller
impacts. A contact with a layer touches if it arrives before its springs are asked again, yields, and never
strikes: see `layers`.

X is the state at the start, Y where a trial leads; a trial that is taken makes the two change places.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee
from mcpframe.jit.lanes import put
from mcpframe.multibody.memory.loop_records import N_ROWS as N_LOOP_ROWS
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.step.certifying.certify import certify_step
from mcpframe.simulation.step.drives import apply_forces
from mcpframe.simulation.step.impact import resolve_impact, stop_for_good
from mcpframe.simulation.step.jam import record_jam
from mcpframe.simulation.step.kick import begin_contacts, kick, limits_in_reach, take_history
from mcpframe.simulation.step.layers import leave_out_soft, remember, take_in_soft
from mcpframe.simulation.step.moving.closing import keeps_motion, settle
from mcpframe.simulation.step.moving.floating import keep_momentum
from mcpframe.simulation.step.pushing.push import observe
from mcpframe.simulation.step.pushing.solve import STEP
from mcpframe.simulation.step.record import take_impulses, take_modes
from mcpframe.simulation.step.touching import CLOSED_ONES, is_impact, take_closed, take_touching
from mcpframe.simulation.step.trial import first_trial, is_free, try_flight, until_event


@callee
def touch(run, X):
    """Find out what touches, and resolve the impact if there is one; after `max_impacts` nothing bounces."""
    code = take_touching(run, X, CLOSED_ONES)
    if code == at.DONE and is_impact(run, X):
        more = run.IS[at.N_HITS] < run.IS[at.MAX_IMPACTS]
        leave_out_soft(run)
        code = resolve_impact(run, X) if more else stop_for_good(run, X)
        if code == at.DONE:
            code = take_in_soft(run, X, CLOSED_ONES)
    take_closed(run)
    return code


@callee
def act(run, X):
    """Gather what acts on a state and does not change: applied forces, and what touches it."""
    begin_contacts(run, X)
    return apply_forces(run, X, run.XS[at.TIME])


@callee
def take(run, X, Y, h):
    """Take the trial that leads from X to Y in a time h."""
    held, code = run.IS[at.N_TOUCHING] > 0 or not is_free(run), at.DONE
    put(run.XS, at.PART, h)
    held = held and run.IS[at.LASTS] == 0
    if held:
        code = record_jam(run, X, Y, h)
    if code == at.DONE:
        code = certify_step(run, h, held)
    if code == at.DONE and held:
        code = observe(run, run.Z, STEP)
    if code != at.DONE:
        return code
    if run.IS[at.BY_KICK] == 0:
        put(run.IS, at.N_HISTORY, 0)
    else:
        take_history(run, run.IS[at.AFTER] if held else run.IS[at.KICKED], h)
    code = remember(run, run.Z, h)
    if code != at.DONE:
        return code
    take_impulses(run)
    take_modes(run)
    code = settle(run, Y, run.XS[at.TIME] + h) if run.IE[N_LOOP_ROWS] > 0 else at.DONE
    if code == at.DONE and run.IS[at.BY_KICK] != 0 and run.IS[at.EULER] == 0:
        keep_momentum(run, X, Y, run.IS[at.AFTER] if held else run.IS[at.KICKED], h)
    return keeps_motion(run, Y) if code == at.DONE else code


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
def time_stepping(run, X, Y):
    """Take a step of dt with the contacts of its start; return code and whether X and Y changed places."""
    XS = run.XS
    h = XS[at.DT]
    put(XS, at.TIME, XS[at.START])
    code = touch(run, X)
    if code == at.DONE:
        code = limits_in_reach(run, X)
    if code == at.DONE:
        code = act(run, X)
    if code == at.DONE and is_free(run):
        code = try_flight(run, X, Y, h, XS[at.NEAR])
    elif code == at.DONE:
        code = kick(run, X, h, True)
        if code == at.DONE:
            code = first_trial(run, X, Y, h, False, XS[at.NEAR])
    if code == at.DONE:
        code = take(run, X, Y, h)
    return code, code == at.DONE
