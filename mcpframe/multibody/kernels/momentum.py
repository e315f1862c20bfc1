"""The balance of momentum over a step, by one sweep of inverse dynamics; for checking, not for solving.

    error = h (tau - C) + J* push + impulses - Mass change,

what impulses and forces bring, less what the rates have gained: zero where the step is right. Nothing of the
articulated sweep, of Lambda or of any row of a formulation is in it. With it comes the balance of energy,

    T+ - T- = (h (tau - C) + J* push + impulses) . (v+ + v-)/2,

body by body: every wrench does work at the mean velocity of its body.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from numba import types

from mcpframe.jit import Indices, Vector, VectorOut, callee, inline, kernel
from mcpframe.jit.lanes import get, load, put
from mcpframe.multibody.kernels.articulated import body_inertia
from mcpframe.multibody.kernels.mass import hand_down, handed_up
from mcpframe.multibody.kernels.spans import bodies_of
from mcpframe.multibody.memory.records import (
    B_ACCELERATION,
    B_SHIFT,
    B_VELOCITY,
    BODIES,
    BODY,
    BRANCH,
    BRANCHES,
    CONSTANT,
    CONSTANTS,
    D_ARMATURE,
    D_COLUMN,
    DOF,
    DOF_AT,
    DOFS,
    N_DOF,
    N_SPANS,
    PAIR,
    PARENT,
    PUSH,
    SECTION,
    TAU,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.spatial.algebra import apply, dot, inner, load_pair, plus, plus_scaled, store_pair

FAINT = 1e-3
"""Share of a body's momentum that counts into the scale. A step that changes next to nothing leaves the rates
as they were up to the solver's error, 1e-12 of them at best: right to 1e-9 of a scale of this size."""
BEFORE, AFTER, WORK, TURNOVER = range(4)
"""The balance of energy: kinetic energy before and after, the work of all impulses, and the same with every
part counted as positive."""


@inline
def size(a):
    """Return the length of a vector."""
    return math.sqrt(dot(a, a))


@callee
def body_motions(I, X, rates):
    """Write what rates, or changes of rates, do to every body into B_ACCELERATION: V(k) = V(par) + H* rates.

    About each body's reference point, gravity and bias left out; needs the kinematics.
    """
    for s in range(I[N_SPANS]):
        begin, end = bodies_of(I, s)
        body_motions_of(I, X, rates, begin, end)


@callee
def body_motions_of(I, X, rates, begin, end):
    """Do so for the bodies of a span."""
    tree, dofs, motions = I[TREE], I[DOFS], I[BODIES] + B_ACCELERATION
    for k in range(begin, end):
        V = handed_up(I, X, k, motions, BODY)
        first = get(I, tree + k * TREE_ROW + DOF_AT)
        for d in range(first, first + get(I, tree + k * TREE_ROW + N_DOF)):
            V = plus_scaled(V, get(rates, d), load_pair(X, dofs + d * DOF + D_COLUMN))
        store_pair(X, motions + k * BODY, V)


@inline
def momentum_of(J, first_moment, m, V):
    """Return M V of a body, [[J, h~], [-h~, m]] times [ω; v]."""
    w, v = V
    return apply(J, w) + apply(first_moment, v), m * v - apply(first_moment, w)


@inline
def count_energy(energy, before, after, work):
    """Add kinetic energies and work to the balance of energy."""
    put(energy, BEFORE, get(energy, BEFORE) + before)
    put(energy, AFTER, get(energy, AFTER) + after)
    put(energy, WORK, get(energy, WORK) + work[0] + work[1])
    put(energy, TURNOVER, get(energy, TURNOVER) + abs(work[0]) + abs(work[1]))


@callee
def unbalanced_bodies(I, X, h, push, energy, begin, end):
    """Set PUSH to push - M(k) V - h (M a + V x* M V), and sizes of these in BRANCHES: [moment, force].

    V is in B_ACCELERATION; the last term is what keeps the rates constant, weight included. A faint share of
    the momentum before the step counts into the sizes.
    """
    for k in range(begin, end):
        o, branch = I[BODIES] + k * BODY, I[BRANCHES] + k * BRANCH
        J, first_moment, m, bias = body_inertia(X, o, I[CONSTANTS] + k * CONSTANT)
        change, V = load_pair(X, o + B_ACCELERATION), load_pair(X, o + B_VELOCITY)
        moment, force = momentum_of(J, first_moment, m, change)
        had = momentum_of(J, first_moment, m, V)
        given = load_pair(push, k * PAIR)
        left = given[0] - moment - h * bias[0], given[1] - force - h * bias[1]
        store_pair(X, I[PUSH] + k * PAIR, left)
        put(X, branch, size(given[0]) + size(moment) + h * size(bias[0]) + FAINT * size(had[0]))
        put(X, branch + 1, size(given[1]) + size(force) + h * size(bias[1]) + FAINT * size(had[1]))
        after, mean = plus(V, change), plus_scaled(V, 0.5, change)
        has = had[0] + moment, had[1] + force
        work = inner(given, mean), -h * inner(bias, mean)
        count_energy(energy, 0.5 * inner(had, V), 0.5 * inner(has, after), work)


@inline
def rotor_momentum(X, dof, change):
    """Return the momentum that a change of its rate asks of a dof itself, beside that of the bodies."""
    return get(X, dof + D_ARMATURE) * change


@inline
def hand_down_sizes(I, X, k, moment, force):
    """Add the sizes of what acts on body k to those of its parent, in BRANCHES."""
    parent = get(I, I[TREE] + k * TREE_ROW + PARENT)
    if parent >= 0:
        if get(I, I[TREE] + k * TREE_ROW + SECTION) == k:
            moment += size(load(X, I[BODIES] + k * BODY + B_SHIFT)) * force
        i = I[BRANCHES] + parent * BRANCH
        put(X, i, get(X, i) + moment)
        put(X, i + 1, get(X, i + 1) + force)


@callee
def unbalanced_hinges(I, X, change, h, impulses, out, energy, begin, end):
    """Write the error of every dof, tips to base; return the largest (NaN where one is) and its scale.

    The scale of a dof is what its column makes of the sizes of all that acts further out; the largest counts.
    """
    largest, scale, nothing = 0.0, 0.0, 0.0
    for k in range(end - 1, begin - 1, -1):
        t, branch = I[TREE] + k * TREE_ROW, I[BRANCHES] + k * BRANCH
        f, moment, force = load_pair(X, I[PUSH] + k * PAIR), get(X, branch), get(X, branch + 1)
        first = get(I, t + DOF_AT)
        for d in range(first, first + get(I, t + N_DOF)):
            dof, gained, rate = I[DOFS] + d * DOF, get(change, d), get(X, I[THETA_DOT] + d)
            H = load_pair(X, dof + D_COLUMN)
            tau, impulse = h * get(X, I[TAU] + d), get(impulses, d)
            rotor = rotor_momentum(X, dof, gained)
            error = inner(H, f) + tau + impulse - rotor
            put(out, d, error)
            nothing += 0.0 * error
            largest = max(largest, abs(error))
            carried = size(H[0]) * moment + size(H[1]) * force
            scale = max(scale, carried + abs(tau) + abs(impulse) + abs(rotor))
            mean, armature = rate + 0.5 * gained, get(X, dof + D_ARMATURE)
            after = 0.5 * armature * (rate + gained) * (rate + gained)
            count_energy(energy, 0.5 * armature * rate * rate, after, (tau * mean, impulse * mean))
        hand_down(I, X, k, f)
        hand_down_sizes(I, X, k, moment, force)
    return largest + nothing, scale


@callee
def balance_momentum(I, X, change, h, push, impulses, out, energy):
    """As `momentum_error`, for other kernels."""
    for i in range(TURNOVER + 1):
        put(energy, i, 0.0)
    body_motions(I, X, change)
    largest, scale, nothing = 0.0, 0.0, 0.0
    for s in range(I[N_SPANS]):
        begin, end = bodies_of(I, s)
        unbalanced_bodies(I, X, h, push, energy, begin, end)
        error, size_here = unbalanced_hinges(I, X, change, h, impulses, out, energy, begin, end)
        largest, scale, nothing = max(largest, error), max(scale, size_here), nothing + 0.0 * error
    return largest + nothing, scale


@kernel(Indices, VectorOut, Vector, types.float64, Vector, Vector, VectorOut, VectorOut)
def momentum_error(I, X, change, h, push, impulses, out, energy):
    """Write h (tau - C) + J* push + impulses - Mass change [N]; return the largest and its scale.

    Uses up PUSH, B_ACCELERATION and BRANCHES of X, nothing else.

    Args:
        I, X: the state before the step, its bodies placed, forces at the hinges in TAU.
        change: v+ - v- [N].
        h: seconds; 0 for impacts.
        push: impulsive wrenches on all bodies about their reference points, as PUSH [8 n_bodies].
        impulses: at the hinges: joint limits and closures [N].
        out: the errors [N].
        energy: its balance, see `BEFORE` [4].
    """
    return balance_momentum(I, X, change, h, push, impulses, out, energy)
