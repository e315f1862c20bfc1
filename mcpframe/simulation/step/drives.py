"""What acts at the hinges in compiled code: controllers, springs and dampers.

Controllers are those of `mcpframe.scene.controllers`, which says what they mean; those that have no kernel
are asked in Python, once where a part of a step begins.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import by_address, callee, inline, window
from mcpframe.multibody.kernels.entries import inverse_dynamics
from mcpframe.multibody.kernels.loops import node_place, reference_of
from mcpframe.multibody.kernels.mass import clear_push, generalized_force_into
from mcpframe.multibody.memory.records import (
    D_ARMATURE,
    DOF,
    DOFS,
    N_DOFS,
    N_THETA,
    PAIR,
    PUSH,
    TAU,
    THETA,
    THETA_DOT,
)
from mcpframe.simulation.step import host
from mcpframe.simulation.step import memory as at
from mcpframe.simulation.step.motion import difference, integrate
from mcpframe.spatial.algebra import cross, store_pair
from mcpframe.spatial.lanes import get, load, put

# Head of IF: how many controllers, then where rows and scratch begin.
N_DRIVES, DRIVES, THETA_R, RATE_R, ACCELERATION_R, WANTED, FORCE = range(7)
DRIVE_HEAD = 8
# Row of DRIVES.
V_KIND, V_BODY, V_MOVES, V_NUMBERS, V_TARGETS, V_TIMES = range(6)
"""Kind; body that is pushed; how many moves the reference makes; where in XF its numbers, the coordinates
before, between and after the moves, and their starts and durations begin."""
DRIVE_ROW = 6
# V_KIND
PD, COMPUTED_TORQUE, PUSHING = range(3)
# Numbers of a push: place in the body's inner axes, moment, force, start, stop; of the others kp, kd, limit
# [N].
P_PLACE, P_MOMENT, P_FORCE, P_START, P_STOP, PUSH_NUMBERS = 0, 4, 8, 12, 13, 16

call_inverse = by_address(inverse_dynamics)


@callee
def reference_at(I, IF, XF, drive, time):
    """Write theta, theta_dot and theta_ddot of a drive's reference at a time.

    See `scene.references.Moves`.
    """
    n, N = I[N_THETA], I[N_DOFS]
    targets, times = get(IF, drive + V_TARGETS), get(IF, drive + V_TIMES)
    begun = 0
    while begun < get(IF, drive + V_MOVES) and get(XF, times + 2 * begun) <= time:
        begun += 1
    for d in range(N):
        put(XF, IF[RATE_R] + d, 0.0)
        put(XF, IF[ACCELERATION_R] + d, 0.0)
    for i in range(n):
        put(XF, IF[THETA_R] + i, get(XF, targets + begun * n + i))
    if begun == 0:
        return
    start, T = get(XF, times + 2 * begun - 2), get(XF, times + 2 * begun - 1)
    if time >= start + T:
        return
    x, before = (time - start) / T, targets + (begun - 1) * n
    s = x * x * x * (10.0 + x * (-15.0 + 6.0 * x))
    s_dot = 30.0 * x * x * (1.0 - x) * (1.0 - x) / T
    s_ddot = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / (T * T)
    difference(I, XF, before, XF, before + n, XF, IF[WANTED])
    integrate(I, XF, before, XF, IF[WANTED], s, XF, IF[THETA_R])
    for d in range(N):
        u = get(XF, IF[WANTED] + d)
        put(XF, IF[RATE_R] + d, s_dot * u)
        put(XF, IF[ACCELERATION_R] + d, s_ddot * u)


@callee
def follow(run, X, drive, time, torque):
    """Add the force of a controller with gains towards a reference: PD, or computed torque."""
    I, IF, XF, IS, XS = run.I, run.IF, run.XF, run.IS, run.XS
    N = I[N_DOFS]
    reference_at(I, IF, XF, drive, time)
    difference(I, X, I[THETA], XF, IF[THETA_R], XF, IF[WANTED])
    kp = get(IF, drive + V_NUMBERS)
    kd, limit = kp + N, kp + 2 * N
    for d in range(N):
        rate = get(XF, IF[RATE_R] + d) - get(X, I[THETA_DOT] + d)
        wanted = get(XF, kp + d) * get(XF, IF[WANTED] + d) + get(XF, kd + d) * rate
        if torque:
            wanted += get(XF, IF[ACCELERATION_R] + d)
        put(XF, IF[WANTED] + d, wanted)
    force = IF[WANTED]
    if torque:
        force = IF[FORCE]
        wanted, out = window(XF, IF[WANTED], N), window(XF, force, N)
        call_inverse(run.A[at.INVERSE], (I, X, wanted, out))
        for d in range(N):
            rotor = get(X, I[DOFS] + d * DOF + D_ARMATURE) * get(XF, IF[WANTED] + d)
            put(XF, force + d, get(XF, force + d) + rotor - passive_force(run, X, d))
    for d in range(N):
        most = get(XF, limit + d)
        tau = min(max(get(XF, force + d), -most), most)
        put(XS, IS[at.APPLIED] + d, get(XS, IS[at.APPLIED] + d) + tau)


@callee
def push_body(run, X, drive, time):
    """Add J* of a constant wrench on a body while it acts."""
    I, IF, XF, IS, XS = run.I, run.IF, run.XF, run.IS, run.XS
    numbers, body = get(IF, drive + V_NUMBERS), get(IF, drive + V_BODY)
    if not (get(XF, numbers + P_START) <= time < get(XF, numbers + P_STOP)):
        return
    x = node_place(I, X, XF, body, numbers + P_PLACE)
    moment, force = load(XF, numbers + P_MOMENT), load(XF, numbers + P_FORCE)
    clear_push(I, X)
    arm = x - reference_of(I, X, body)
    store_pair(X, I[PUSH] + body * PAIR, (moment + cross(arm, force), force))
    generalized_force_into(I, X, window(XF, IF[FORCE], I[N_DOFS]))
    for d in range(I[N_DOFS]):
        put(XS, IS[at.APPLIED] + d, get(XS, IS[at.APPLIED] + d) + get(XF, IF[FORCE] + d))


@inline
def passive_force(run, X, d):
    """Return the force of damper and spring at a dof; AWAY holds how far hinges are from their rest."""
    IS, XS = run.IS, run.XS
    if IS[at.PASSIVE] == 0:
        return 0.0
    damping = get(XS, IS[at.DAMPING] + d) * get(X, run.I[THETA_DOT] + d)
    return -damping - get(XS, IS[at.STIFFNESS] + d) * get(XS, IS[at.AWAY] + d)


@callee
def add_passive(run, X):
    """Write TAU: the applied forces and those of springs and dampers."""
    I, IS, XS = run.I, run.IS, run.XS
    if IS[at.PASSIVE] != 0:
        difference(I, XS, IS[at.REST], X, I[THETA], XS, IS[at.AWAY])
    for d in range(I[N_DOFS]):
        put(X, I[TAU] + d, get(XS, IS[at.APPLIED] + d) + passive_force(run, X, d))


@callee
def apply_forces(run, X, time):
    """Write the forces at the hinges of a state, whose bodies are placed, into TAU; DONE or RAISED."""
    I, IF, IS, XS = run.I, run.IF, run.IS, run.XS
    for d in range(I[N_DOFS]):
        put(XS, IS[at.APPLIED] + d, get(XS, IS[at.CONSTANT] + d))
    code = at.DONE
    if IS[at.HOST_FORCES] != 0:
        code = host.call_host(run.A[at.HOST], host.FORCES, X, time)
    elif IF[N_DRIVES] > 0:
        if IS[at.PASSIVE] != 0:
            difference(I, XS, IS[at.REST], X, I[THETA], XS, IS[at.AWAY])
        for k in range(IF[N_DRIVES]):
            drive = IF[DRIVES] + k * DRIVE_ROW
            kind = get(IF, drive + V_KIND)
            if kind == PUSHING:
                push_body(run, X, drive, time)
            else:
                follow(run, X, drive, time, kind == COMPUTED_TORQUE)
    add_passive(run, X)
    return code
