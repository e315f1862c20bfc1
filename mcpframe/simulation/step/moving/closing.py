"""Project: loops that stay closed, coordinates and rates moved back onto the closures after a step.

A step keeps the rates of the loops, G_b θ̇+ = U, at the configuration where it begins; moved along θ̇+ for a
time dt, the loops open by dt²/2 Ġ_b θ̇. The nearest closed configuration is found by Gauss-Newton, and at it
the nearest rates with G_b θ̇ = U. *Nearest* is what impulses of the closures do in the kick of a step: by
kinetic energy, see `multibody.kernels.loops`, with what springs and dampers add to hinges there. So they move
the centre of mass no more than in nature.

Corrections are steps of a chord method, δ = Mass⁻¹ G_b* p, with the factor of Λ_b that the step's problem was
solved with. Where they are not small, Mass and G_b are those of where the step ends, so that each is a
nearest motion, whatever it leaves to the next; and where it leaves much, so is Λ_b.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import by_address, callee, window
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.kernels.entries import articulate
from mcpframe.multibody.kernels.loop_motion import keep_wrenches, motion_of_factor, nearest_motion
from mcpframe.multibody.kernels.loops import largest_error, loop_rate
from mcpframe.multibody.kernels.momentum import body_motions
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import (
    B_ACCELERATION,
    B_VELOCITY,
    D_ARMATURE,
    DOF,
    DOFS,
    N_DOFS,
    N_THETA,
    THETA,
    THETA_DOT,
)
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.step.closures import ask_motion, write_loops
from mcpframe.simulation.step.kick import call_place_rates
from mcpframe.simulation.step.moving.motion import integrate
from mcpframe.simulation.step.touching import call_place

call_articulate = by_address(articulate)

CORRECTIONS = 8
"""Most corrections of coordinates."""
CLOSED_TO = 1e-12
"""Metres and radians within which a loop is closed."""
SETTLINGS = 6
"""Most corrections of rates."""
NEARLY_CLOSED, NEARLY_KEPT = 1e-9, 1e-8
"""Errors, and rates, up to which all of the middle of the step serves: larger ones it would correct in a
direction that is not quite the least motion, and change the energy."""
CHORD = 0.01
"""Share of an error that a correction may leave; where the factor of the middle leaves more, one of the end
is made."""
LOST = 1e-3
"""Share of prescribed rates, and metres or radians of loops, that are left over only by a contradiction."""


@callee
def stiffen(run, Y, like_kick):
    """Give the hinges of Y the armature that springs and dampers have added in the kick, or their own."""
    I, IS = run.I, run.IS
    for d in range(I[N_DOFS] if IS[at.IMPLICIT] != 0 and IS[at.BY_KICK] != 0 else 0):
        place = I[DOFS] + d * DOF + D_ARMATURE
        put(Y, place, get(run.Z, place) if like_kick else get(run.XS, IS[at.ROTORS] + d))


@callee
def sweep_end(run, Y):
    """Write the gains of Y, with which impulses of closures move it as they did in the kick."""
    stiffen(run, Y, True)
    failed = call_articulate(run.A[at.ARTICULATE], (run.I, Y))
    stiffen(run, Y, False)
    return at.NO_MOTION if failed != 0 else at.DONE


@callee
def nearest_step(run, Y):
    """Write to RESPONSE the motion nearest to none that does what RIGHT asks; rows at Y are there.

    By the factor that is there; where there is none, by a new one of Y.
    """
    I, IS, XS = run.I, run.IS, run.XS
    out = window(XS, IS[at.RESPONSE], I[N_DOFS])
    if IS[at.FACTORED] == at.MIDDLE:
        motion_of_factor(I, run.Z, run.IE, run.IQ, run.XQ, out)
    elif IS[at.FACTORED] == at.NOWHERE:
        code = sweep_end(run, Y)
        if code != at.DONE:
            return code
        nearest_motion(I, Y, run.IE, run.XE, run.IQ, run.XQ, out, False)
        put(IS, at.FACTORED, at.END)
    else:
        keep_wrenches(run.IE, run.XE, run.IQ, run.XQ)  # of the rows as they are now
        motion_of_factor(I, Y, run.IE, run.IQ, run.XQ, out)
    return at.DONE


@callee
def leave_middle(run, Y):
    """Have corrections be nearest motions at Y, still by the factor of the middle."""
    put(run.IS, at.FACTORED, at.HALFWAY)
    return sweep_end(run, Y)


@callee
def loop_error(run, Y):
    """Place the bodies of Y; return by how much its loops are open."""
    call_place(run.A[at.PLACE], (run.I, Y))
    write_loops(run, Y, at.END)
    return largest_error(run.IE, run.XE)


@callee
def go_to_best(run, Y):
    """Give Y the best coordinates found."""
    for i in range(run.I[N_THETA]):
        put(Y, run.I[THETA] + i, get(run.XS, run.IS[at.BEST] + i))


@callee
def close_loops(run, Y):
    """Move the coordinates of Y to where its loops are closed; its bodies are placed there.

    Near a singular configuration the error may stay larger; then the best coordinates on the way are taken,
    and the next step begins with a loop that is a little open.
    """
    I, IE, IS, XS = run.I, run.IE, run.IS, run.XS
    least, before, best = math.inf, math.inf, IS[at.BEST]
    for _ in range(CORRECTIONS):
        error = loop_error(run, Y)
        if error < least:
            least = error
            for i in range(I[N_THETA]):
                put(XS, best + i, get(Y, I[THETA] + i))
            if error <= CLOSED_TO:
                return at.DONE
        elif IS[at.FACTORED] == at.END:
            break
        code = at.DONE
        if IS[at.FACTORED] != at.END and not error <= CHORD * before:
            put(IS, at.FACTORED, at.NOWHERE)
        elif IS[at.FACTORED] == at.MIDDLE and error > NEARLY_CLOSED:
            code = leave_middle(run, Y)
        if error > least:
            go_to_best(run, Y)
            loop_error(run, Y)
        before = error
        for i in range(IE[loops.N_ROWS]):
            put(run.XQ, run.IQ[loops.RIGHT] + i, -get(run.XE, IE[loops.ERROR] + i))
        if code == at.DONE:
            code = nearest_step(run, Y)
        if code != at.DONE:
            return code
        integrate(I, XS, best, XS, IS[at.RESPONSE], 1.0, Y, I[THETA])
    go_to_best(run, Y)
    loop_error(run, Y)
    return at.DONE


@callee
def shift_closed(run, Y):
    """Go on from Y by what undoes, to first order, how far the shift in RESPONSE has opened its loops.

    By rows and factor of the middle of the step, where these are the last that were written.
    """
    I, IE, IS, XS = run.I, run.IE, run.IS, run.XS
    if IS[at.PROJECTS] == 0 or IS[at.FACTORED] != at.MIDDLE or IS[at.ROWS_OF] != at.MIDDLE:
        return
    body_motions(I, run.Z, window(XS, IS[at.RESPONSE], I[N_DOFS]))
    for i in range(IE[loops.N_ROWS]):
        put(run.XQ, run.IQ[loops.RIGHT] + i, -loop_rate(I, run.Z, IE, run.XE, i, B_ACCELERATION))
    motion_of_factor(I, run.Z, IE, run.IQ, run.XQ, window(XS, IS[at.RESPONSE], I[N_DOFS]))
    integrate(I, Y, I[THETA], XS, IS[at.RESPONSE], 1.0, Y, I[THETA])


@callee
def rates_off(run, Y):
    """Write to RIGHT what the rates of the loops are short of; return the largest."""
    IE, largest = run.IE, 0.0
    for i in range(IE[loops.N_ROWS]):
        off = get(run.XE, IE[loops.RATE] + i) - loop_rate(run.I, Y, IE, run.XE, i, B_VELOCITY)
        put(run.XQ, run.IQ[loops.RIGHT] + i, off)
        largest = max(largest, abs(off))
    return largest


@callee
def settle(run, Y, time):
    """Make the rates of a state that was reached keep its loops; its bodies have them."""
    I, IS, XS = run.I, run.IS, run.XS
    code = ask_motion(run, Y, time)
    if IS[at.ROWS_OF] != at.END:
        write_loops(run, Y, at.END)
    off = rates_off(run, Y)
    settled = CLOSED_TO / XS[at.DT]  # rates that open a loop no further in a step
    put(XS, at.DRIFT, off)
    for _ in range(SETTLINGS):
        if code != at.DONE or IS[at.PROJECTS] == 0 or off <= settled:
            return code
        if IS[at.FACTORED] == at.MIDDLE and off > NEARLY_KEPT:
            code = leave_middle(run, Y)
        before, factored = off, IS[at.FACTORED]
        if code == at.DONE:
            code = nearest_step(run, Y)
        for d in range(I[N_DOFS]):
            put(Y, I[THETA_DOT] + d, get(Y, I[THETA_DOT] + d) + get(XS, IS[at.RESPONSE] + d))
        call_place_rates(run.A[at.PLACE_RATES], (I, Y))
        off = rates_off(run, Y)
        if factored == at.NOWHERE and off > 0.5 * before:  # rounding, or a contradiction
            return code
        if factored != at.NOWHERE and off > CHORD * before:
            put(IS, at.FACTORED, at.NOWHERE)
    return code


@callee
def keeps_motion(run, Y):
    """Return CONTRADICTED where a step has led to where the closures' prescribed motion cannot be kept."""
    IE, fastest = run.IE, 0.0
    if IE[loops.ANY_MOTION] == 0 or run.IS[at.PROJECTS] == 0:
        return at.DONE
    for i in range(IE[loops.N_ROWS]):
        fastest = max(fastest, abs(get(run.XE, IE[loops.RATE] + i)))
    lost = rates_off(run, Y) > LOST * fastest or largest_error(IE, run.XE) > LOST
    return at.CONTRADICTED if lost else at.DONE
