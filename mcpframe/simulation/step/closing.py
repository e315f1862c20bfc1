"""Project: loops that stay closed, coordinates and rates moved back onto the closures after a step.

A step keeps the rates of the loops, G_b θ̇+ = U, at the configuration where it begins; moved along θ̇+ for a
time dt, the loops open by dt²/2 Ġ_b θ̇. The nearest closed configuration is found by Gauss-Newton, and at it
the nearest rates with G_b θ̇ = U. *Nearest* is measured by kinetic energy, see `multibody.kernels.loops`: it
is what impulses of the closures do, so that they move the centre of mass no more than in nature.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, window
from mcpframe.multibody.kernels.entries import PLACED
from mcpframe.multibody.kernels.loops import (
    largest_error,
    loop_rate,
    loop_rows,
    nearest_motion,
    nearly_nearest_motion,
)
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import B_VELOCITY, N_DOFS, N_THETA, TAU, THETA, THETA_DOT
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.step.kick import accelerate, ask_motion
from mcpframe.simulation.step.motion import integrate
from mcpframe.simulation.step.touching import call_place
from mcpframe.spatial.lanes import get, put

CORRECTIONS = 8
"""Most corrections of coordinates: the first leaves dt⁴, each other one, with the same Λ_b, dt² less."""
CLOSED_TO = 1e-12
"""Metres and radians within which a loop is closed."""
SETTLINGS = 4
"""Most corrections of rates."""
SETTLED_TO = 1e-14
"""Rates of loops, m/s and rad/s, that are left as they are."""
LOST = 1e-3
"""Share of prescribed rates, and metres or radians of loops, that are left over only by a contradiction."""


@callee
def nearest_step(run, Y, anew):
    """Write to RESPONSE the motion nearest to none that does what RIGHT asks; rows at Y are there.

    With the Λ_b of Y where it is to be made anew, else with the last one.
    """
    I, IS, XS = run.I, run.IS, run.XS
    out = window(XS, IS[at.RESPONSE], I[N_DOFS])
    if not anew:
        nearly_nearest_motion(I, Y, run.IE, run.XE, run.IQ, run.XQ, out)
        return at.DONE
    for d in range(I[N_DOFS]):
        put(Y, I[TAU] + d, 0.0)
    code = accelerate(run, Y, PLACED)
    if code == at.DONE:
        nearest_motion(I, Y, run.IE, run.XE, run.IQ, run.XQ, out, False)
    return code


@callee
def close_loops(run, Y):
    """Move the coordinates of Y to where its loops are closed.

    Near a singular configuration the error may stay larger; then the best coordinates on the way are taken,
    and the next step begins with a loop that is a little open.
    """
    I, IE, XE, IS, XS = run.I, run.IE, run.XE, run.IS, run.XS
    least, best = math.inf, IS[at.BEST]
    put(run.IQ, loops.N_PIVOTS, 0)  # the last Λ_b is of another state, whose gains Y has not
    for k in range(CORRECTIONS):
        call_place(run.A[at.PLACE], (I, Y))
        loop_rows(I, Y, IE, XE)
        error = largest_error(IE, XE)
        if not error < least:
            break
        least = error
        for i in range(I[N_THETA]):
            put(XS, best + i, get(Y, I[THETA] + i))
        if error <= CLOSED_TO:
            return at.DONE
        for i in range(IE[loops.N_ROWS]):
            put(run.XQ, run.IQ[loops.RIGHT] + i, -get(XE, IE[loops.ERROR] + i))
        code = nearest_step(run, Y, k == 0)
        if code != at.DONE:
            return code
        integrate(I, XS, best, XS, IS[at.RESPONSE], 1.0, Y, I[THETA])
    for i in range(I[N_THETA]):
        put(Y, I[THETA] + i, get(XS, best + i))
    return at.DONE


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
    """Make the rates of a state that was reached keep its loops; its bodies are placed again."""
    I, IS, XS = run.I, run.IS, run.XS
    code = ask_motion(run, Y, time)
    loop_rows(I, Y, run.IE, run.XE)
    off = rates_off(run, Y)
    put(XS, at.DRIFT, off)
    for k in range(SETTLINGS):
        if code != at.DONE or IS[at.PROJECTS] == 0 or off <= SETTLED_TO:
            return code
        before = off
        code = nearest_step(run, Y, k == SETTLINGS - 1 or run.IQ[loops.N_PIVOTS] == 0)  # of Y, or none
        for d in range(I[N_DOFS]):
            put(Y, I[THETA_DOT] + d, get(Y, I[THETA_DOT] + d) + get(XS, IS[at.RESPONSE] + d))
        call_place(run.A[at.PLACE], (I, Y))
        off = rates_off(run, Y)
        if off > 0.5 * before and k > 0:  # rounding
            return code
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
