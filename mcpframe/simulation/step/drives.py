"""What acts at the hinges: controllers, springs and dampers.

Controllers are those of `mcpframe.scene.controllers`, which says what they mean, asked where a step is
kicked; functions are asked where a part of a step begins, in Python, or by their address if compiled.

*Springs and dampers*, and PD motors within their limits, which are the same, act implicitly: stiff ones
neither ring nor explode. With v and v+ the rates before and after the kick of a step of h, q where it begins,

    force = -d ((1 - θ) v + θ v+) - k (q - rest + c h ((1 - θ) v + θ v+)),

what depends on v+ goes to the diagonal of the mass matrix, as an armature of h θ d + h² c θ k would: every
formulation has it in the same O(N). θ and c follow from the time constants of the hinge, x = h d / D and
y² = h² k / D with its articulated inertia D: 1/2 where they are long, second order; 1 where they are short,
no ringing. `semi_implicit_euler` has 1 for both.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import by_address, callee, inline, window
from mcpframe.jit.lanes import get, load, put
from mcpframe.multibody.kernels.entries import inverse_dynamics
from mcpframe.multibody.kernels.loops import node_place, reference_of
from mcpframe.multibody.kernels.mass import clear_push, generalized_force_into
from mcpframe.multibody.memory.records import (
    D_ARMATURE,
    D_INVERSE,
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
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.drive_slots import (
    ACCELERATION_R,
    CALLED,
    COMPUTED_TORQUE,
    DRIVE_ROW,
    DRIVES,
    FORCE,
    N_DRIVES,
    P_FORCE,
    P_MOMENT,
    P_PLACE,
    P_START,
    P_STOP,
    PD,
    PUSHING,
    RATE_R,
    THETA_R,
    V_BODY,
    V_KIND,
    V_MOVES,
    V_NUMBERS,
    V_TARGETS,
    V_TIMES,
    WANTED,
)
from mcpframe.simulation.step import host
from mcpframe.simulation.step.moving.motion import difference, integrate
from mcpframe.spatial.algebra import cross, store_pair

call_inverse = by_address(inverse_dynamics)

LEAST_SHARE = 1e-12
"""Of the inertia of a hinge with its springs and dampers: less than that of its own is lost in rounding."""


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


@inline
def add(XS, i, value):
    """Add to a number."""
    put(XS, i, get(XS, i) + value)


@callee
def look_back(run, X, drive, time, t):
    """Write how far the reference of a drive at a time is from X, and what of that is of the last t.

    Both are followed back at the rates that they have, those of X being in BEFORE.
    """
    I, IF, XF = run.I, run.IF, run.XF
    reference_at(I, IF, XF, drive, time)
    difference(I, X, I[THETA], XF, IF[THETA_R], XF, IF[WANTED])
    for d in range(I[N_DOFS]):
        ahead = get(run.XS, run.IS[at.BEFORE] + d) - get(XF, IF[RATE_R] + d)
        add(XF, IF[WANTED] + d, t * ahead)


@callee
def pull(run, X, drive, time, t):
    """Add the springs and dampers of a PD controller; where it is at its limit, that force to TAU."""
    I, IF, XF, IS, XS = run.I, run.IF, run.XF, run.IS, run.XS
    N = I[N_DOFS]
    look_back(run, X, drive, time, t)
    gains = get(IF, drive + V_NUMBERS)
    for d in range(N):
        kp, kd, most = get(XF, gains + d), get(XF, gains + N + d), get(XF, gains + 2 * N + d)
        rate, spring = get(XF, IF[RATE_R] + d), kp * get(XF, IF[WANTED] + d)
        force = spring + (kd + t * kp) * (rate - get(XS, IS[at.BEFORE] + d))
        if abs(force) > most:
            add(X, I[TAU] + d, most if force > 0.0 else -most)
            continue
        add(XS, IS[at.PULL] + d, spring)
        add(XS, IS[at.SPRINGS] + d, kp)
        add(XS, IS[at.DAMPERS] + d, kd)
        add(XS, IS[at.SPRING_RATES] + d, kp * rate)
        add(XS, IS[at.DAMPER_RATES] + d, kd * rate)


@callee
def compute_torque(run, X, drive, time, t, h):
    """Add the force of computed torque to TAU: every hinge becomes one of inertia 1 with its gains."""
    I, IF, XF = run.I, run.IF, run.XF
    N = I[N_DOFS]
    look_back(run, X, drive, time, t)
    gains = get(IF, drive + V_NUMBERS)
    for d in range(N):
        kp, kd = get(XF, gains + d), get(XF, gains + N + d)
        theta, c = shares(h * kd, h * h * kp, run.IS[at.EULER] != 0)
        rate = get(XF, IF[RATE_R] + d) - get(run.XS, run.IS[at.BEFORE] + d)
        wanted = get(XF, IF[ACCELERATION_R] + d) + kp * get(XF, IF[WANTED] + d) + (kd + c * h * kp) * rate
        put(XF, IF[WANTED] + d, wanted / (1.0 + h * theta * (kd + c * h * kp)))
    call_inverse(run.A[at.INVERSE], (I, X, window(XF, IF[WANTED], N), window(XF, IF[FORCE], N)))
    for d in range(N):
        rotor = get(XF, IF[WANTED] + d) * get(run.XS, run.IS[at.ROTORS] + d)
        most = get(XF, gains + 2 * N + d)
        force = get(XF, IF[FORCE] + d) + rotor - passive_force(run, X, d)
        add(X, I[TAU] + d, min(max(force, -most), most))


@callee
def push_body(run, X, drive, time):
    """Add J* of a constant wrench on a body to TAU while it acts."""
    I, IF, XF = run.I, run.IF, run.XF
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
        add(X, I[TAU] + d, get(XF, IF[FORCE] + d))


@inline
def passive_force(run, X, d):
    """Return the force of damper and spring at a dof; AWAY holds how far hinges are from their rest."""
    IS, XS = run.IS, run.XS
    if IS[at.PASSIVE] == 0:
        return 0.0
    damping = get(XS, IS[at.DAMPING] + d) * get(X, run.I[THETA_DOT] + d)
    return -damping - get(XS, IS[at.STIFFNESS] + d) * get(XS, IS[at.AWAY] + d)


@callee
def gather_passive(run, X, t):
    """Write the springs and dampers of the hinges of X, followed back for a time t; no others."""
    I, IS, XS = run.I, run.IS, run.XS
    passive = IS[at.PASSIVE] != 0
    if passive:
        difference(I, XS, IS[at.REST], X, I[THETA], XS, IS[at.AWAY])
    for d in range(I[N_DOFS]):
        spring, force = get(XS, IS[at.STIFFNESS] + d), 0.0
        if passive:
            force = -spring * (get(XS, IS[at.AWAY] + d) - t * get(XS, IS[at.BEFORE] + d))
        put(XS, IS[at.PULL] + d, force)
        put(XS, IS[at.SPRINGS] + d, spring)
        put(XS, IS[at.DAMPERS] + d, get(XS, IS[at.DAMPING] + d))
        put(XS, IS[at.SPRING_RATES] + d, 0.0)
        put(XS, IS[at.DAMPER_RATES] + d, 0.0)


@callee
def gather_forces(run, X, time, t, h):
    """Write TAU of X, a time t after its step of h began: motors and pushes; springs and dampers apart.

    The bodies of X are placed, its rates are in BEFORE.
    """
    I, IF, IS, XS = run.I, run.IF, run.IS, run.XS
    gather_passive(run, X, t)
    for d in range(I[N_DOFS]):
        put(X, I[TAU] + d, get(XS, IS[at.APPLIED] + d))
    for k in range(IF[N_DRIVES]):
        drive = IF[DRIVES] + k * DRIVE_ROW
        kind = get(IF, drive + V_KIND)
        if kind == PD:
            pull(run, X, drive, time, t)
        elif kind == COMPUTED_TORQUE:
            compute_torque(run, X, drive, time, t, h)
        elif kind == PUSHING:
            push_body(run, X, drive, time)


@callee
def call_functions(run, X, time):
    """Add to APPLIED what compiled functions say of X."""
    I, IF, XF, IS = run.I, run.IF, run.XF, run.IS
    for k in range(IF[N_DRIVES]):
        drive = IF[DRIVES] + k * DRIVE_ROW
        if get(IF, drive + V_KIND) != CALLED:
            continue
        for d in range(I[N_DOFS]):
            put(XF, IF[FORCE] + d, 0.0)
        theta, rates = window(X, I[THETA], I[N_THETA]), window(X, I[THETA_DOT], I[N_DOFS])
        host.call_function(get(IF, drive + V_BODY), theta, rates, time, window(XF, IF[FORCE], I[N_DOFS]))
        for d in range(I[N_DOFS]):
            add(run.XS, IS[at.APPLIED] + d, get(XF, IF[FORCE] + d))


@callee
def apply_forces(run, X, time):
    """Write the forces that do not change within a step from X, whose bodies are placed; DONE or RAISED."""
    IS, XS = run.IS, run.XS
    for d in range(run.I[N_DOFS]):
        put(XS, IS[at.APPLIED] + d, get(XS, IS[at.CONSTANT] + d))
    call_functions(run, X, time)
    return host.call_host(run.A[at.HOST], host.FORCES, X, time) if IS[at.HOST_FORCES] != 0 else at.DONE


@callee
def sample_motors(run, X, time):
    """Write TAU of X, and keep what of it stays in a step whose springs and dampers alone are asked again."""
    I, IS, XS = run.I, run.IS, run.XS
    for d in range(I[N_DOFS]):
        put(XS, IS[at.BEFORE] + d, get(X, I[THETA_DOT] + d))
    gather_forces(run, X, time, 0.0, 0.0)
    for d in range(I[N_DOFS]):
        damper = get(XS, IS[at.DAMPERS] + d) * get(X, I[THETA_DOT] + d)
        add(X, I[TAU] + d, get(XS, IS[at.PULL] + d) + get(XS, IS[at.DAMPER_RATES] + d) - damper)
        put(XS, IS[at.SAMPLED] + d, get(X, I[TAU] + d) - passive_force(run, X, d))


@callee
def sampled_forces(run, X):
    """Write TAU of a state: motors as they were sampled, springs and dampers as they are."""
    I, IS, XS = run.I, run.IS, run.XS
    if IS[at.PASSIVE] != 0:
        difference(I, XS, IS[at.REST], X, I[THETA], XS, IS[at.AWAY])
    for d in range(I[N_DOFS]):
        put(X, I[TAU] + d, get(XS, IS[at.SAMPLED] + d) + passive_force(run, X, d))


@inline
def shares(x, y_square, euler):
    """Return θ and c of a hinge with x = h d / D and y² = h² k / D."""
    if euler:
        return 1.0, 1.0
    fit = 0.5 + x / 12.0
    if x > 1e-4:
        fit = -1.0 / math.expm1(-x) - 1.0 / x
    stiff = y_square / (1.0 + x)
    s = stiff * stiff / (1.0 + stiff * stiff)
    return 1.0 - (1.0 - fit) * (1.0 - s), 0.5 * (1.0 + s)


@callee
def add_implicit(run, Z, h):
    """Add springs and dampers to TAU of Z, where a step of h is kicked, and to the armature of its hinges."""
    I, IS, XS = run.I, run.IS, run.XS
    for d in range(I[N_DOFS]):
        k, damping = get(XS, IS[at.SPRINGS] + d), get(XS, IS[at.DAMPERS] + d)
        D, rotor = get(XS, IS[at.INERTIA] + d), get(XS, IS[at.ROTORS] + d)
        theta, c = shares(h * damping / D, h * h * k / D, IS[at.EULER] != 0)
        rates = get(XS, IS[at.DAMPER_RATES] + d) + c * h * get(XS, IS[at.SPRING_RATES] + d)
        rates -= (damping + c * h * k) * get(XS, IS[at.BEFORE] + d)
        add(Z, I[TAU] + d, get(XS, IS[at.PULL] + d) + rates)
        put(Z, I[DOFS] + d * DOF + D_ARMATURE, rotor + h * theta * (damping + h * c * k))
        put(XS, IS[at.IMPLICITNESS] + d, theta)


@callee
def add_stiffest(run, Z, h):
    """Add to the armature of Z what springs and dampers add that are stiff, for a first sweep."""
    I, IS, XS = run.I, run.IS, run.XS
    for d in range(I[N_DOFS]):
        added = h * (get(XS, IS[at.DAMPERS] + d) + h * get(XS, IS[at.SPRINGS] + d))
        put(Z, I[DOFS] + d * DOF + D_ARMATURE, get(XS, IS[at.ROTORS] + d) + added)


@callee
def keep_inertias(run, Z):
    """Keep the D of all hinges of a sweep at Z, without what springs and dampers add; never none at all."""
    I, IS, XS = run.I, run.IS, run.XS
    for d in range(I[N_DOFS]):
        dof = I[DOFS] + d * DOF
        added, whole = get(Z, dof + D_ARMATURE) - get(XS, IS[at.ROTORS] + d), 1.0 / get(Z, dof + D_INVERSE)
        put(XS, IS[at.INERTIA] + d, max(whole - added, LEAST_SHARE * whole))
