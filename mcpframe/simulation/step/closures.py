"""Closures in a step: their rows where it is kicked, and what the rates after the kick are to be there.

Loops are kept by the mean of the rates before and after a kick, G_b (v + v+) / 2 = U, and then closed; where
they are not, rows look ahead as those of contacts do, see `kick`.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.kernels.loops import loop_biases, loop_rate, loop_rows
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import B_VELOCITY
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.step import host
from mcpframe.simulation.step.moving.drift import first_share


@callee
def ask_motion(run, X, time):
    """Have Python say U and its derivative at a time, where closures have a prescribed motion."""
    if run.IE[loops.ANY_MOTION] == 0:
        return at.DONE
    return host.call_host(run.A[at.HOST], host.MOTION, X, time)


@inline
def loop_target(run, X, i, h):
    """Return what row i of the closures, written at X, asks of the rates after a kick of h."""
    IE, XE, IS = run.IE, run.XE, run.IS
    rate, change = get(XE, IE[loops.RATE] + i), get(XE, IE[loops.RATE_DOT] + i)
    if IS[at.EULER] == 0 and IS[at.PROJECTS] != 0:
        return 2.0 * rate - loop_rate(run.I, X, IE, XE, i, B_VELOCITY)
    if IS[at.EULER] == 0 or IS[at.CLOSURE_BIAS] != 0:
        change -= get(XE, IE[loops.BIAS] + i)
    error = run.XS[at.BAUMGARTE] / h * get(XE, IE[loops.ERROR] + i)
    return rate + (1.0 - first_share(run)) * h * change - error


@callee
def write_loops(run, X, state):
    """Write the rows of closures at X, and which state of the step it is."""
    loop_rows(run.I, X, run.IE, run.XE)
    put(run.IS, at.ROWS_OF, state)


@callee
def ask_loops(run, X, h):
    """Write the rows of closures at X, and what rates after a kick are to be; an impact where h is zero."""
    IE, XE = run.IE, run.XE
    write_loops(run, X, at.MIDDLE)
    if run.IS[at.EULER] != 0 or run.IS[at.PROJECTS] == 0:
        loop_biases(run.I, X, IE, XE)
    for i in range(IE[loops.N_ROWS]):
        rate = get(XE, IE[loops.RATE] + i)
        put(XE, IE[loops.TARGET] + i, loop_target(run, X, i, h) if h > 0.0 else rate)


@callee
def ask_loops_to_hold(run):
    """Have the rates after a kick keep the loops in the middle of the step, which always can be done."""
    IE, XE = run.IE, run.XE
    for i in range(IE[loops.N_ROWS]):
        put(XE, IE[loops.TARGET] + i, get(XE, IE[loops.RATE] + i))


@callee
def largest_jump(run):
    """Return by how much closures ask rates to be others than those that keep them."""
    IE, XE, largest = run.IE, run.XE, 0.0
    for i in range(IE[loops.N_ROWS]):
        largest = max(largest, abs(get(XE, IE[loops.TARGET] + i) - get(XE, IE[loops.RATE] + i)))
    return largest
