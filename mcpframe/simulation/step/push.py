"""Push: from what touches to the rates after a step or an impact. Build, solve, recover.

By the kernels of the formulation where it has them, else by its methods in Python. After a push the new rates
are in AFTER, the impulses of what touches in IMPULSES, their modes in MODES.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.contact import RECORD
from mcpframe.jit import by_address, callee, cycles, window
from mcpframe.multibody.kernels.entries import PLACED, free_dynamics
from mcpframe.multibody.kernels.loops import factor_loops, loop_rows
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import N_DOFS, THETA_DDOT, THETA_DOT
from mcpframe.simulation.step import host
from mcpframe.simulation.step import memory as at
from mcpframe.simulation.step.solve import solve_problem
from mcpframe.simulation.step.touching import plan_touching
from mcpframe.solving.stages import M_AT, N_ROWS, Q_AT, call_assemble, call_constants, call_recover
from mcpframe.spatial.lanes import get, put

call_free_dynamics = by_address(free_dynamics)


@callee
def accelerate(run, X):
    """Write the free acceleration of a state whose bodies are placed and whose forces are known."""
    failed = call_free_dynamics(run.A[at.ACCELERATE], (run.I, X, PLACED))
    return at.NO_MOTION if failed != 0 else at.DONE


@callee
def ask_motion(run, X, time):
    """Have Python say U and its derivative at a time, where closures have a prescribed motion."""
    if run.IE[loops.ANY_MOTION] == 0:
        return at.DONE
    return host.call_host(run.A[at.HOST], host.MOTION, X, time)


@callee
def ask_loops(run, X, h):
    """Write the rows of closures, and what a step of h asks their rates to be; an impact where h is zero."""
    IE, XE, IS, XS = run.IE, run.XE, run.IS, run.XS
    loop_rows(run.I, X, IE, XE)
    for i in range(IE[loops.N_ROWS]):
        change = get(XE, IE[loops.RATE_DOT] + i)
        if IS[at.CLOSURE_BIAS] != 0:
            change -= get(XE, IE[loops.BIAS] + i)
        target = get(XE, IE[loops.RATE] + i) + h * change
        if h > 0.0:
            target -= XS[at.BAUMGARTE] / h * get(XE, IE[loops.ERROR] + i)
        put(XE, IE[loops.TARGET] + i, target)


@callee
def drop_repeated(run):
    """Take rows of closures that repeat others out of the problem.

    Their impulse is zero, nothing asks for them. Which they are the pivots of the problem's own Λ_b tell.
    """
    IE, IQ, XQ, IP, XR = run.IE, run.IQ, run.XQ, run.IP, run.XR
    n_b, n, M = IE[loops.N_ROWS], IP[N_ROWS], IP[M_AT]
    for i in range(n_b):
        diagonal = get(XR, M + i * n + i)
        put(XQ, IQ[loops.SCALE] + i, 1.0 / math.sqrt(diagonal) if diagonal > 0.0 else 0.0)
    for i in range(n_b):
        for j in range(n_b):
            scale = get(XQ, IQ[loops.SCALE] + i) * get(XQ, IQ[loops.SCALE] + j)
            put(XQ, IQ[loops.LOOP_LAMBDA] + i * n_b + j, scale * get(XR, M + i * n + j))
    put(IQ, loops.N_PIVOTS, factor_loops(IE, IQ, XQ))
    for k in range(IQ[loops.N_PIVOTS], n_b):
        i = get(IQ, IQ[loops.ORDER] + k)
        for j in range(n):
            put(XR, M + i * n + j, 0.0)
            put(XR, M + j * n + i, 0.0)
        put(XR, M + i * n + i, 1.0)
        put(XR, IP[Q_AT] + i, 0.0)


@callee
def build(run, X, h):
    """Write the problem of a step of h, or of an impact, with what touches."""
    IS, XS = run.IS, run.XS
    clock = cycles()
    n = IS[at.N_TOUCHING]
    plan_touching(run)
    if run.IE[loops.N_ROWS] > 0:
        ask_loops(run, X, h)
    records, shifts = window(XS, IS[at.RECORDS], n * RECORD), window(XS, IS[at.SHIFTS], n)
    step = run.I, X, run.IE, run.XE, run.IR, run.XR, records, shifts, h, PLACED
    failed = call_assemble(run.A[at.ASSEMBLE], step)
    if IS[at.REPEATED] != 0:
        drop_repeated(run)
    put(IS, at.BUILD, IS[at.BUILD] + cycles() - clock)
    return at.NO_MOTION if failed != 0 else at.DONE


@callee
def build_again(run):
    """Write the problem's q for the shifts as they are now."""
    IS, XS = run.IS, run.XS
    call_constants(run.A[at.CONSTANTS], (run.IR, run.XR, window(XS, IS[at.SHIFTS], IS[at.N_TOUCHING])))
    if IS[at.REPEATED] != 0:
        for i in range(run.IE[loops.N_ROWS]):
            row = run.IP[M_AT] + i * run.IP[N_ROWS]
            if is_dropped(run.XR, row, i, run.IP[N_ROWS]):
                put(run.XR, run.IP[Q_AT] + i, 0.0)


@callee
def is_dropped(XR, row, i, n):
    """Return whether a row of a closure was taken out of the problem."""
    others = 0.0
    for j in range(n):
        if j != i:
            others += abs(get(XR, row + j))
    return others == 0.0 and get(XR, row + i) == 1.0


@callee
def recover(run, X, h):
    """Write the rates and impulses that belong to the solution."""
    I, IS, XS = run.I, run.IS, run.XS
    clock = cycles()
    n = IS[at.N_TOUCHING]
    records, shifts = window(XS, IS[at.RECORDS], n * RECORD), window(XS, IS[at.SHIFTS], n)
    z, response = window(XS, IS[at.Z], run.IP[N_ROWS]), window(XS, IS[at.RESPONSE], I[N_DOFS])
    impulses, modes = window(XS, IS[at.IMPULSES], 4 * n), window(IS, IS[at.MODES], n)
    step = I, X, run.IR, run.XR, records, shifts, z, response, impulses, modes
    call_recover(run.A[at.RECOVER], step)
    for d in range(I[N_DOFS]):
        free = get(X, I[THETA_DOT] + d) + h * get(X, I[THETA_DDOT] + d)
        put(XS, IS[at.AFTER] + d, free + get(response, d))
    put(IS, at.RECOVERY, IS[at.RECOVERY] + cycles() - clock)


@callee
def push(run, X, h, kind, again, rise):
    """Build, solve and recover; `again`: only the shifts are others than in the last push.

    Returns DONE; NO_SOLUTION where something cannot rise at the speed `rise`; NO_MOTION; RAISED.
    """
    put(run.XS, at.TRIAL, h)
    if run.IS[at.HOST_PUSH] != 0:
        put(run.IS, at.KIND, kind)
        return host.call_host(run.A[at.HOST], host.PUSH, X, rise)
    code = at.DONE
    if again:
        build_again(run)
    else:
        code = build(run, X, h)
    if code == at.DONE:
        code = solve_problem(run, X, kind, rise)
    if code == at.DONE:
        recover(run, X, h)
    return code


@callee
def observe(run, X, kind):
    """Tell an onlooker of the problem that was solved last, for good."""
    if run.IS[at.OBSERVED] == 0:
        return at.DONE
    put(run.IS, at.KIND, kind)
    return host.call_host(run.A[at.HOST], host.OBSERVE, X, run.XS[at.TRIAL])
