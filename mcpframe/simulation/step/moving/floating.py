"""Floating: trees on a free hinge that touch nothing keep their momentum and spin, to rounding.

Nothing but weight, and forces on the free hinge itself, changes the momentum P of such a tree, and its spin L
about its centre of mass c. With F and N their impulses at the hinge, which is at x, in the middle of a step,

    P+ = P + h m g + F,     L+ = L + N + (x - c) x F.

A kick has this to second order alone, for bodies turn while hinges drift. So the tree as a whole gets what it
is short of where the step ends, as a rigid body would, J being its inertia about c:

    δω = J⁻¹ (L+ - L(q+, v+)),     δv_c = (P+ - P(q+, v+)) / m.

Hinges and loops move as before; the energy, which follows the momentum, is kept a hundred times better. A
body by itself keeps both in its `drift`.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.detection.records import C_BODY_A, C_BODY_B, CONTACT_ROW
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, vector, zero
from mcpframe.multibody.kernels.articulated import body_places
from mcpframe.multibody.kernels.spans import bodies_of
from mcpframe.multibody.memory.records import (
    B_POSITION,
    B_ROTATION,
    B_VELOCITY,
    BODIES,
    BODY,
    CONSTANT,
    CONSTANTS,
    D_ARMATURE,
    DOF,
    DOF_AT,
    DOFS,
    GRAVITY,
    N_SPANS,
    REFERENCE,
    SECTION,
    TAU,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import key_of
from mcpframe.simulation.step.moving.drift import inverse, times
from mcpframe.simulation.step.moving.motion import put_three, three
from mcpframe.simulation.step.touching import call_place
from mcpframe.spatial.algebra import (
    about_origin,
    apply,
    cross,
    dot,
    load_matrix,
    load_pair,
    plus_matrix,
)


@inline
def reference_point(I, X, k):
    """Return the reference point of body k in the world."""
    return load(X, I[REFERENCE] + 4 * get(I, I[TREE] + k * TREE_ROW + SECTION))


@callee
def whole(I, X, root, end):
    """Return mass, centre of mass from the root's reference point, inertia, spin and momentum of a tree.

    Its bodies, from the root to the end, are placed, with their rates; inertia and spin are about the centre.
    """
    here = reference_point(I, X, root)
    mass, first, P, L = 0.0, zero(), zero(), zero()
    J = zero(), zero(), zero()
    for k in range(root, end):
        o = I[BODIES] + k * BODY
        m, com, J_com = body_places(X, o, I[CONSTANTS] + k * CONSTANT)
        w, v = load_pair(X, o + B_VELOCITY)
        r, p = reference_point(I, X, k) - here + com, m * (v + cross(w, com))
        mass += m
        first = first + m * r
        P = P + p
        L = L + apply(J_com, w) + cross(r, p)
        J = plus_matrix(J, about_origin(J_com, m, r))
    c = (1.0 / mass) * first
    return mass, c, about_origin(J, -mass, c), L - cross(c, P), P


@callee
def is_untouched(run, root, end):
    """Return whether nothing touches a tree but itself."""
    IS = run.IS
    for i in range(IS[at.N_TOUCHING]):
        row = IS[at.TOUCHING] + i * CONTACT_ROW
        a, b = get(IS, row + C_BODY_A), get(IS, row + C_BODY_B)
        if key_of(run, i) >= 0 and (root <= a < end) != (root <= b < end):
            return False
    return True


@inline
def hinge_impulse(run, d, rates, h):
    """Return what forces on dof d have given in the kick of a step of h that ended with XS[rates]."""
    I, Z = run.I, run.Z
    change = get(run.XS, rates + d) - get(run.XS, run.IS[at.BEFORE] + d)
    return h * get(Z, I[TAU] + d) - get(Z, I[DOFS] + d * DOF + D_ARMATURE) * change


@inline
def three_impulses(run, d, rates, h):
    """Return those of three dofs."""
    x, y = hinge_impulse(run, d, rates, h), hinge_impulse(run, d + 1, rates, h)
    return vector(x, y, hinge_impulse(run, d + 2, rates, h))


@callee
def applied(run, root, end, rates, h):
    """Return N + (x - c) x F and F of the forces on the free hinge of a tree, from where they acted."""
    I, Z = run.I, run.Z
    d, o = get(I, I[TREE] + root * TREE_ROW + DOF_AT), I[BODIES] + root * BODY
    f, n = three_impulses(run, d, rates, h), three_impulses(run, d + 3, rates, h)
    if dot(f, f) + dot(n, n) == 0.0:
        return zero(), zero()
    R = load_matrix(Z, o + B_ROTATION)
    F = apply(R, f)
    arm = load(Z, o + B_POSITION) - whole(I, Z, root, end)[1]
    return apply(R, n) + cross(arm, F), F


@inline
def turned_back(R, v):
    """Return R* v."""
    return vector(dot(R[0], v), dot(R[1], v), dot(R[2], v))


@callee
def keep_tree(run, X, Y, root, end, rates, h):
    """Give the tree of a root in Y the momentum and spin that it has to have after a step of h from X."""
    I = run.I
    o, d = I[BODIES] + root * BODY, I[THETA_DOT] + get(I, I[TREE] + root * TREE_ROW + DOF_AT)
    _, _, _, L, P = whole(I, X, root, end)
    N, F = applied(run, root, end, rates, h)
    mass, c, J, L_there, P_there = whole(I, Y, root, end)
    w = times(inverse(J), L + N - L_there)
    v = (1.0 / mass) * (P + F - P_there) + h * load(Y, I[GRAVITY])
    v = v + cross(w, load(Y, o + B_POSITION) - c)
    R = load_matrix(Y, o + B_ROTATION)
    put_three(Y, d, three(Y, d) + turned_back(R, v))
    put_three(Y, d + 3, three(Y, d + 3) + turned_back(R, w))


@callee
def keep_momentum(run, X, Y, rates, h):
    """Give floating trees that nothing touches their momentum and spin at Y, h after X.

    The kick between them ended with the rates XS[rates]. The bodies of X, Y and its middle are placed.
    """
    I, IS = run.I, run.IS
    moved = False
    for s in range(I[N_SPANS]):
        begin, last = bodies_of(I, s)
        for root in range(begin, last):
            end = get(IS, IS[at.FLOATING] + root)
            if end > 0 and is_untouched(run, root, end):
                keep_tree(run, X, Y, root, end, rates, h)
                moved = True
    if moved:  # whole, to the bits that a run which is taken up here has
        call_place(run.A[at.PLACE], (I, Y))
