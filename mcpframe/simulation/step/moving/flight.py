"""Flight: parts of a step in which neither contacts nor limits act; or keep their modes, see `lasting`.

By a kick, or to fourth order by the classical Runge-Kutta rule, on balls and free bodies as well. Coordinates
with quaternions are no vectors. As in the method of Munthe-Kaas, the rule is applied to the tangent u in
θ(t) = θ exp(u(t)), whose rate follows from the hinge rates by

    u̇ = dexp⁻¹(u) θ̇ = θ̇ + ½ [u, θ̇] + 1/12 [u, [u, θ̇]] + O(u⁴),

[., .] being the bracket of body twists at balls and free hinges and zero at all others. The terms left out
are below the order of the rule. Loops are kept by accelerations that satisfy them, G_b θ̈ = U̇ - Ġ_b θ̇, at
every stage. Springs and dampers act as they are at each stage; controllers are asked once, where the step
begins.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline, window
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.kernels.entries import PLACED
from mcpframe.multibody.kernels.loop_motion import nearest_motion
from mcpframe.multibody.kernels.loops import loop_biases, loop_rate
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory.records import (
    B_ACCELERATION,
    BALL,
    DOF_AT,
    FREE,
    KIND,
    N_BODIES,
    N_DOFS,
    THETA,
    THETA_DDOT,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.step.closures import ask_motion, write_loops
from mcpframe.simulation.step.drives import sample_motors, sampled_forces
from mcpframe.simulation.step.kick import accelerate, go_on, kick
from mcpframe.simulation.step.moving.hold import hold_modes
from mcpframe.simulation.step.moving.motion import integrate, put_three, three
from mcpframe.simulation.step.touching import call_place
from mcpframe.spatial.algebra import cross


@callee
def tangent_rate(I, U, u, V, rates, out, o):
    """Write dexp⁻¹(u) θ̇ up to the terms that a fourth-order rule needs."""
    for d in range(I[N_DOFS]):
        put(out, o + d, get(V, rates + d))
    for k in range(I[N_BODIES]):
        row = I[TREE] + k * TREE_ROW
        kind, d = get(I, row + KIND), get(I, row + DOF_AT)
        if kind == BALL:
            w_u, w = three(U, u + d), three(V, rates + d)
            once = cross(w_u, w)
            put_three(out, o + d, w + 0.5 * once + (1.0 / 12.0) * cross(w_u, once))
        elif kind == FREE:
            v_u, w_u = three(U, u + d), three(U, u + d + 3)
            v, w = three(V, rates + d), three(V, rates + d + 3)
            v_1, w_1 = cross(w_u, v) + cross(v_u, w), cross(w_u, w)
            v_2, w_2 = cross(w_u, v_1) + cross(v_u, w_1), cross(w_u, w_1)
            put_three(out, o + d, v + 0.5 * v_1 + (1.0 / 12.0) * v_2)
            put_three(out, o + d + 3, w + 0.5 * w_1 + (1.0 / 12.0) * w_2)


@callee
def hold_loops(run, X, time, again):
    """Change the accelerations of a state so that its loops are kept; `again`: by the same rows."""
    I, IE, XE, IS, XS = run.I, run.IE, run.XE, run.IS, run.XS
    code = ask_motion(run, X, time)
    write_loops(run, X, at.NOWHERE)
    loop_biases(I, X, IE, XE)
    for i in range(IE[loops.N_ROWS]):
        asked = get(XE, IE[loops.RATE_DOT] + i) - get(XE, IE[loops.BIAS] + i)
        put(run.XQ, run.IQ[loops.RIGHT] + i, asked - loop_rate(I, X, IE, XE, i, B_ACCELERATION))
    nearest_motion(I, X, IE, XE, run.IQ, run.XQ, window(XS, IS[at.RESPONSE], I[N_DOFS]), again)
    for d in range(I[N_DOFS]):
        held = get(X, I[THETA_DDOT] + d) + get(XS, IS[at.RESPONSE] + d)
        put(X, I[THETA_DDOT] + d, held)
    return code


@callee
def stage_acceleration(run, X, time, again, share):
    """Write the acceleration of a state whose bodies are placed and whose forces are known.

    Loops are kept, and modes where contacts last, whose forces count with a share.
    """
    if run.IS[at.LASTS] != 0:
        return hold_modes(run, X, time, share)
    code = accelerate(run, X, PLACED)
    if code == at.DONE and run.IE[loops.N_ROWS] > 0:
        code = hold_loops(run, X, time, again)
    return code


@callee
def keep_stage(run, Y, k, tangents):
    """Keep rate of the tangent and acceleration of stage k."""
    I, IS, XS = run.I, run.IS, run.XS
    N = I[N_DOFS]
    for d in range(N):
        put(XS, IS[at.STAGE_TANGENTS] + k * N + d, get(tangents, d))
        put(XS, IS[at.STAGE_RATES] + k * N + d, get(Y, I[THETA_DDOT] + d))


@callee
def fly_to_fourth_order(run, X, Y, h):
    """Write to Y where a step of h leads by the rule of Runge and Kutta."""
    I, IS, XS = run.I, run.IS, run.XS
    N, time = I[N_DOFS], XS[at.TIME]
    sample_motors(run, X, time)
    code = stage_acceleration(run, X, time, False, h / 6.0)
    keep_stage(run, X, 0, window(X, I[THETA_DOT], N))
    for k in range(1, 4):
        share = h if k == 3 else 0.5 * h
        before = (k - 1) * N
        for d in range(N):
            put(XS, IS[at.RESPONSE] + d, share * get(XS, IS[at.STAGE_TANGENTS] + before + d))
            rate = get(X, I[THETA_DOT] + d) + share * get(XS, IS[at.STAGE_RATES] + before + d)
            put(Y, I[THETA_DOT] + d, rate)
        integrate(I, X, I[THETA], XS, IS[at.RESPONSE], 1.0, Y, I[THETA])
        tangent_rate(I, XS, IS[at.RESPONSE], Y, I[THETA_DOT], XS, IS[at.AFTER])
        call_place(run.A[at.PLACE], (I, Y))
        sampled_forces(run, Y)
        if code == at.DONE:
            code = stage_acceleration(run, Y, time + share, True, h / (6.0 if k == 3 else 3.0))
        keep_stage(run, Y, k, window(XS, IS[at.AFTER], N))
    for d in range(N):
        put(XS, IS[at.RESPONSE] + d, weighted(XS, IS[at.STAGE_TANGENTS] + d, N))
        rate = get(X, I[THETA_DOT] + d) + h * weighted(XS, IS[at.STAGE_RATES] + d, N)
        put(Y, I[THETA_DOT] + d, rate)
    integrate(I, X, I[THETA], XS, IS[at.RESPONSE], h, Y, I[THETA])
    return code


@inline
def weighted(XS, i, N):
    """Return the mean of the four stages."""
    return (get(XS, i) + 2.0 * get(XS, i + N) + 2.0 * get(XS, i + 2 * N) + get(XS, i + 3 * N)) / 6.0


@callee
def fly(run, X, Y, h):
    """Write to Y where a step of h without contacts and limits leads."""
    put(run.IS, at.BY_KICK, 1 - run.IS[at.RK4])
    put(run.IS, at.FACTORED, at.NOWHERE)
    if run.IS[at.RK4] != 0:
        return fly_to_fourth_order(run, X, Y, h)
    code = kick(run, X, h, False)
    go_on(run, Y, run.IS[at.KICKED], h)
    return code
