"""Base to tips: poses, hinge columns, velocities and bias accelerations of all bodies.

    V(k) = V(par(k)) + H*(k) theta_dot(k),
    a(k) = a(par(k)) + V(par(k)) x H*(k) theta_dot(k)        (for theta_ddot = 0)

in world axes about a reference point, where phi is the identity [J14, section 10]. Bodies share the hinge of
the one that begins their *section*: rounding grows with the square of (distance to the reference point / size
of a body), so `packing.py` begins a new section where that gets large, and velocities are shifted there.
The base accelerates with -g, so that gravity needs no term of its own.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store, zero
from mcpframe.multibody.kernels.sincos import sincos_of
from mcpframe.multibody.kernels.spans import bodies_of
from mcpframe.multibody.memory.records import (
    ANGLES,
    B_BIAS,
    B_POSITION,
    B_ROTATION,
    B_SHIFT,
    B_VELOCITY,
    BALL,
    BODIES,
    BODY,
    C_POSITION,
    C_ROTATION,
    CONSTANT,
    CONSTANTS,
    D_COLUMN,
    DOF,
    DOF_AT,
    DOFS,
    FREE,
    GRAVITY,
    KIND,
    LOCKED,
    N_BODIES,
    N_DOF,
    N_DOFS,
    N_SPANS,
    N_THETA,
    PARENT,
    PIN,
    PRISMATIC,
    REFERENCE,
    SECTION,
    THETA,
    THETA_AT,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.spatial.algebra import (
    combine,
    cross,
    identity,
    load_matrix,
    load_pair,
    motion_cross,
    null_pair,
    plus,
    plus_scaled,
    scaled,
    shifted_motion,
    store_matrix,
    store_pair,
)

UNIT = 1e-14
"""Squared length minus one within which a quaternion is taken as it is."""


@inline
def turned(R, s, c):
    """Return R Rot_z(angle)."""
    return c * R[0] + s * R[1], c * R[1] - s * R[0], R[2]


@inline
def turned_by_quaternion(R, X, i):
    """Return R times the rotation of the unit quaternion (x, y, z, w) that starts at X[i]."""
    x, y, z, w = get(X, i), get(X, i + 1), get(X, i + 2), get(X, i + 3)
    return (
        (1.0 - 2.0 * (y * y + z * z)) * R[0] + 2.0 * (x * y + z * w) * R[1] + 2.0 * (x * z - y * w) * R[2],
        2.0 * (x * y - z * w) * R[0] + (1.0 - 2.0 * (x * x + z * z)) * R[1] + 2.0 * (y * z + x * w) * R[2],
        2.0 * (x * z + y * w) * R[0] + 2.0 * (y * z - x * w) * R[1] + (1.0 - 2.0 * (x * x + y * y)) * R[2],
    )


@inline
def carried_frame(R, r, X, i, j):
    """Return a frame whose rotation and position, stored from X[i] and X[j], are those on a frame (R, r)."""
    return (combine(R, X, i), combine(R, X, i + 4), combine(R, X, i + 8)), r + combine(R, X, j)


@inline
def moved_by_hinge(kind, R, r, X, q, sine, cosine):
    """Return a hinge frame moved by its coordinates from X[q] on, of pins by sine and cosine."""
    if kind == PIN:
        R = turned(R, sine, cosine)
    elif kind == PRISMATIC:
        r = r + get(X, q) * R[2]
    elif kind == FREE:
        r = r + combine(R, X, q)
        R = turned_by_quaternion(R, X, q + 3)
    elif kind == BALL:
        R = turned_by_quaternion(R, X, q)
    return R, r


@inline
def turning_columns(X, d, R, r):
    """Store the three columns of turning about the axes of R through r."""
    store_pair(X, d, (R[0], cross(r, R[0])))
    store_pair(X, d + DOF, (R[1], cross(r, R[1])))
    store_pair(X, d + 2 * DOF, (R[2], cross(r, R[2])))


@inline
def sliding_columns(X, d, R):
    """Store the three columns of sliding along the axes of R."""
    store_pair(X, d, (zero(), R[0]))
    store_pair(X, d + DOF, (zero(), R[1]))
    store_pair(X, d + 2 * DOF, (zero(), R[2]))


@inline
def all_finite(a):
    """Return whether every entry is finite."""
    total = 0.0
    for i in range(a.shape[0]):
        total += 0.0 * get(a, i)  # NaN for infinities as well
    return total == 0.0


@inline
def is_unit(a, i):
    """Return whether the quaternion that starts at a[i] has length one up to rounding."""
    square = get(a, i) ** 2 + get(a, i + 1) ** 2 + get(a, i + 2) ** 2 + get(a, i + 3) ** 2
    return abs(square - 1.0) <= UNIT


@callee
def take_inputs(I, X, theta, theta_dot):
    """Copy coordinates and rates into X; return False, and copy nothing, where they need a closer look."""
    n, tree = I[N_BODIES], I[TREE]
    if theta.shape[0] != I[N_THETA] or theta_dot.shape[0] != I[N_DOFS]:
        return False
    if not (all_finite(theta) and all_finite(theta_dot)):
        return False
    for k in range(n):
        kind, at = get(I, tree + k * TREE_ROW + KIND), get(I, tree + k * TREE_ROW + THETA_AT)
        if kind == BALL and not is_unit(theta, at):
            return False
        if kind == FREE and not is_unit(theta, at + 3):
            return False
    for i in range(theta.shape[0]):
        put(X, I[THETA] + i, get(theta, i))
    for i in range(theta_dot.shape[0]):
        put(X, I[THETA_DOT] + i, get(theta_dot, i))
    return True


@callee
def angles_of_pins(I, X):
    """Gather the angles of all pins and take their sines and cosines."""
    n, tree, theta, angles = I[N_BODIES], I[TREE], I[THETA], I[ANGLES]
    for k in range(n):
        t = tree + k * TREE_ROW
        put(X, angles + k, get(X, theta + get(I, t + THETA_AT)) if get(I, t + KIND) == PIN else 0.0)
    sincos_of(X, angles, n)


@callee
def kinematics(I, X):
    """Fill B_ROTATION, B_POSITION, B_VELOCITY, B_BIAS of all bodies, D_COLUMN of all dofs, REFERENCE."""
    angles_of_pins(I, X)
    for s in range(I[N_SPANS]):
        begin, end = bodies_of(I, s)
        kinematics_of(I, X, begin, end)


@callee
def kinematics_of(I, X, begin, end):
    """Do so for the bodies of a span."""
    n, tree, constants, bodies, dofs = I[N_BODIES], I[TREE], I[CONSTANTS], I[BODIES], I[DOFS]
    theta, theta_dot, angles, reference = I[THETA], I[THETA_DOT], I[ANGLES], I[REFERENCE]
    base = zero(), -load(X, I[GRAVITY])
    R, r, V, a = identity(), zero(), null_pair(), base
    for k in range(begin, end):
        t = tree + k * TREE_ROW
        parent, kind = get(I, t + PARENT), get(I, t + KIND)
        if parent < 0:
            R, r, V, a = identity(), zero(), null_pair(), base
        elif parent != k - 1:
            o = bodies + parent * BODY
            R, r = load_matrix(X, o + B_ROTATION), load(X, o + B_POSITION)
            V, a = load_pair(X, o + B_VELOCITY), load_pair(X, o + B_BIAS)
        c = constants + k * CONSTANT
        R, r = carried_frame(R, r, X, c + C_ROTATION, c + C_POSITION)
        q = theta + get(I, t + THETA_AT)
        R, r = moved_by_hinge(kind, R, r, X, q, get(X, angles + n + k), get(X, angles + 2 * n + k))
        if get(I, t + SECTION) == k:
            at = r
            if parent >= 0:
                V, a = shifted_motion(V, r), shifted_motion(a, r)
                store(X, bodies + k * BODY + B_SHIFT, r)
                at = at + load(X, reference + 4 * get(I, tree + parent * TREE_ROW + SECTION))
            store(X, reference + 4 * k, at)
            r = zero()
        d = dofs + get(I, t + DOF_AT) * DOF + D_COLUMN
        v = theta_dot + get(I, t + DOF_AT)
        if kind == PIN:
            S = R[2], cross(r, R[2])
            store_pair(X, d, S)
            V_hinge = scaled(get(X, v), S)
        elif kind == PRISMATIC:
            store_pair(X, d, (zero(), R[2]))
            V_hinge = zero(), get(X, v) * R[2]
        else:
            V_hinge = null_pair()
            if kind == FREE:
                sliding_columns(X, d, R)
                V_hinge = zero(), combine(R, X, v)
                d += 3 * DOF
                v += 3
            if kind != LOCKED:
                turning_columns(X, d, R, r)
                w = combine(R, X, v)
                V_hinge = plus(V_hinge, (w, cross(r, w)))
        a = plus(a, motion_cross(V, V_hinge))
        V = plus(V, V_hinge)
        o = bodies + k * BODY
        store_matrix(X, o + B_ROTATION, R)
        store(X, o + B_POSITION, r)
        store_pair(X, o + B_VELOCITY, V)
        store_pair(X, o + B_BIAS, a)


@callee
def velocities(I, X):
    """Fill B_VELOCITY and B_BIAS anew, for other rates of bodies that are placed."""
    for s in range(I[N_SPANS]):
        begin, end = bodies_of(I, s)
        velocities_of(I, X, begin, end)


@callee
def velocities_of(I, X, begin, end):
    """Do so for the bodies of a span."""
    tree, bodies, dofs, theta_dot = I[TREE], I[BODIES], I[DOFS], I[THETA_DOT]
    base = zero(), -load(X, I[GRAVITY])
    V, a = null_pair(), base
    for k in range(begin, end):
        t = tree + k * TREE_ROW
        parent = get(I, t + PARENT)
        if parent < 0:
            V, a = null_pair(), base
        elif parent != k - 1:
            o = bodies + parent * BODY
            V, a = load_pair(X, o + B_VELOCITY), load_pair(X, o + B_BIAS)
        if get(I, t + SECTION) == k and parent >= 0:
            shift = load(X, bodies + k * BODY + B_SHIFT)
            V, a = shifted_motion(V, shift), shifted_motion(a, shift)
        first = get(I, t + DOF_AT)
        V_hinge = null_pair()
        for d in range(first, first + get(I, t + N_DOF)):
            V_hinge = plus_scaled(V_hinge, get(X, theta_dot + d), load_pair(X, dofs + d * DOF + D_COLUMN))
        a = plus(a, motion_cross(V, V_hinge))
        V = plus(V, V_hinge)
        o = bodies + k * BODY
        store_pair(X, o + B_VELOCITY, V)
        store_pair(X, o + B_BIAS, a)
