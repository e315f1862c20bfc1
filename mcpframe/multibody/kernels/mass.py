"""Mass matrix by composite bodies, Mass^-1 products, inverse dynamics, energy and momentum.

World axes about each section's reference point, where phi is the identity:
    composite inertia  R(k) = M(k) + sum of the children's R,
    Mass[d, e] = H_e R(k) H_d*     for a dof d of body k and a dof e of k or of an ancestor [J14, Eq. (59)].
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, vector, x_of, y_of, z_of, zero
from mcpframe.multibody.kernels.articulated import body_inertia
from mcpframe.multibody.kernels.spans import bodies_of
from mcpframe.multibody.memory.records import (
    B_ACCELERATION,
    B_POSITION,
    B_ROTATION,
    B_SHIFT,
    B_VELOCITY,
    BODIES,
    BODY,
    BRANCH,
    BRANCHES,
    C_COM,
    C_INERTIA,
    C_MASS,
    CONSTANT,
    CONSTANTS,
    D_ARMATURE,
    D_COLUMN,
    D_GAIN,
    D_INVERSE,
    DOF,
    DOF_AT,
    DOFS,
    GRAVITY,
    N_BODIES,
    N_DOF,
    N_DOFS,
    N_SPANS,
    PAIR,
    PARENT,
    PUSH,
    REFERENCE,
    SECTION,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.spatial.algebra import (
    apply,
    combine,
    cross,
    dot,
    identity,
    inner,
    load_block,
    load_matrix,
    load_pair,
    minus_spread,
    null_pair,
    plus,
    plus_block,
    plus_scaled,
    shifted_force,
    shifted_inertia,
    shifted_motion,
    spread_inner,
    store_block,
    store_pair,
    transform,
)


@inline
def rigid_block(X, o, c):
    """Return M(k) as a 6 x 6 matrix about the reference point."""
    J, h, m, _ = body_inertia(X, o, c)
    e = identity()
    return J, h, (-h[0], -h[1], -h[2]), (m * e[0], m * e[1], m * e[2])


@callee
def composite_inertias(I, X):
    """Fill the blocks of BRANCHES with R(k), tips to base."""
    n, tree, bodies, constants, branches = I[N_BODIES], I[TREE], I[BODIES], I[CONSTANTS], I[BRANCHES]
    for k in range(n):
        store_block(X, branches + k * BRANCH, rigid_block(X, bodies + k * BODY, constants + k * CONSTANT))
    for k in range(n - 1, -1, -1):
        parent = get(I, tree + k * TREE_ROW + PARENT)
        if parent >= 0:
            R = load_block(X, branches + k * BRANCH)
            if get(I, tree + k * TREE_ROW + SECTION) == k:
                R = shifted_inertia(R, load(X, bodies + k * BODY + B_SHIFT))
            i = branches + parent * BRANCH
            store_block(X, i, plus_block(load_block(X, i), R))


@callee
def mass_matrix_into(I, X, out):
    """Write the symmetric mass matrix [N, N], armature on its diagonal; needs the kinematics."""
    n, n_dofs, tree, dofs, branches = I[N_BODIES], I[N_DOFS], I[TREE], I[DOFS], I[BRANCHES]
    composite_inertias(I, X)
    for i in range(n_dofs * n_dofs):
        put(out, i, 0.0)
    for k in range(n):
        t = tree + k * TREE_ROW
        first = get(I, t + DOF_AT)
        R = load_block(X, branches + k * BRANCH)
        for d in range(first, first + get(I, t + N_DOF)):
            f = transform(R, X, dofs + d * DOF + D_COLUMN)
            ancestor, e = k, d
            while ancestor >= 0:
                start = get(I, tree + ancestor * TREE_ROW + DOF_AT)
                while e >= start:
                    value = inner(load_pair(X, dofs + e * DOF + D_COLUMN), f)
                    put(out, d * n_dofs + e, value)
                    put(out, e * n_dofs + d, value)
                    e -= 1
                if get(I, tree + ancestor * TREE_ROW + SECTION) == ancestor:
                    f = shifted_force(f, load(X, I[BODIES] + ancestor * BODY + B_SHIFT))
                ancestor = get(I, tree + ancestor * TREE_ROW + PARENT)
                if ancestor >= 0:
                    above = tree + ancestor * TREE_ROW
                    e = get(I, above + DOF_AT) + get(I, above + N_DOF) - 1
            i = d * n_dofs + d
            put(out, i, get(out, i) + get(X, dofs + d * DOF + D_ARMATURE))


@inline
def hand_down(I, X, k, f):
    """Add a force on body k to that on its parent, in PUSH."""
    parent = get(I, I[TREE] + k * TREE_ROW + PARENT)
    if parent >= 0:
        if get(I, I[TREE] + k * TREE_ROW + SECTION) == k:
            f = shifted_force(f, load(X, I[BODIES] + k * BODY + B_SHIFT))
        i = I[PUSH] + parent * PAIR
        store_pair(X, i, plus(load_pair(X, i), f))


@inline
def handed_up(I, X, k, table, width):
    """Return the motion of body k's parent, kept in rows of a table of X, at k's reference point."""
    parent = get(I, I[TREE] + k * TREE_ROW + PARENT)
    if parent < 0:
        return null_pair()
    a = load_pair(X, table + parent * width)
    if get(I, I[TREE] + k * TREE_ROW + SECTION) == k:
        a = shifted_motion(a, load(X, I[BODIES] + k * BODY + B_SHIFT))
    return a


@callee
def solve_mass_into(I, X, x, out):
    """Write Mass^-1 (x + J* push), push the wrenches in PUSH; needs the sweep's gains.

    [I - H psi K]* D^-1 [I - H psi K] [J14, Eq. (59)]: tips to base, then base to tips, O(N).
    """
    for s in range(I[N_SPANS]):
        begin, end = bodies_of(I, s)
        solve_mass_of(I, X, x, out, begin, end)


@callee
def solve_mass_of(I, X, x, out, begin, end):
    """Do so for the bodies of a span."""
    tree, dofs, push = I[TREE], I[DOFS], I[PUSH]
    for k in range(end - 1, begin - 1, -1):
        t = tree + k * TREE_ROW
        f = load_pair(X, push + k * PAIR)
        first = get(I, t + DOF_AT)
        for d in range(first + get(I, t + N_DOF) - 1, first - 1, -1):
            i = dofs + d * DOF
            u = get(x, d) + inner(load_pair(X, i + D_COLUMN), f)
            put(out, d, u)
            f = plus_scaled(f, -u, load_pair(X, i + D_GAIN))
        hand_down(I, X, k, f)
    for k in range(begin, end):
        t = tree + k * TREE_ROW
        a = handed_up(I, X, k, push, PAIR)
        first = get(I, t + DOF_AT)
        for d in range(first, first + get(I, t + N_DOF)):
            i = dofs + d * DOF
            free = get(X, i + D_INVERSE) * get(out, d)
            held = spread_inner(-free, load_pair(X, i + D_GAIN), a)  # minus the answer
            put(out, d, -x_of(held))
            a = minus_spread(a, held, load_pair(X, i + D_COLUMN))
        store_pair(X, push + k * PAIR, a)


@callee
def clear_push(I, X):
    """Set all wrenches of PUSH to zero."""
    for s in range(I[N_SPANS]):
        begin, end = bodies_of(I, s)
        for i in range(begin, end):
            store_pair(X, I[PUSH] + i * PAIR, null_pair())


@callee
def push_links(I, X, link_body, wrenches):
    """Add wrenches [n, 6], at the links' origins, to PUSH."""
    for k in range(link_body.shape[0]):
        b = get(link_body, k)
        f = load_six(wrenches, 6 * k)
        x = load(X, I[BODIES] + b * BODY + B_POSITION)
        i = I[PUSH] + b * PAIR
        store_pair(X, i, plus(load_pair(X, i), (f[0] + cross(x, f[1]), f[1])))


@inline
def load_six(a, i):
    """Return the spatial vector of six consecutive numbers."""
    e = identity()
    return combine(e, a, i), combine(e, a, i + 3)


@callee
def generalized_force_into(I, X, out):
    """Write J* push, the sum of each column's inner products with all wrenches further out; uses up PUSH."""
    n, tree, dofs, push = I[N_BODIES], I[TREE], I[DOFS], I[PUSH]
    for k in range(n - 1, -1, -1):
        t = tree + k * TREE_ROW
        f = load_pair(X, push + k * PAIR)
        first = get(I, t + DOF_AT)
        for d in range(first, first + get(I, t + N_DOF)):
            put(out, d, inner(load_pair(X, dofs + d * DOF + D_COLUMN), f))
        hand_down(I, X, k, f)


@callee
def inertial_forces(I, X, theta_ddot):
    """Set PUSH to the force M(k) a + V x* M V that each body needs to follow theta_ddot, gravity included."""
    n, tree, bodies, constants, dofs = I[N_BODIES], I[TREE], I[BODIES], I[CONSTANTS], I[DOFS]
    for k in range(n):
        t = tree + k * TREE_ROW
        a = handed_up(I, X, k, bodies + B_ACCELERATION, BODY)
        first = get(I, t + DOF_AT)
        for d in range(first, first + get(I, t + N_DOF)):
            a = plus_scaled(a, get(theta_ddot, d), load_pair(X, dofs + d * DOF + D_COLUMN))
        o = bodies + k * BODY
        store_pair(X, o + B_ACCELERATION, a)
        J, h, m, b = body_inertia(X, o, constants + k * CONSTANT)
        w, v = a
        moment = b[0] + apply(J, w) + apply(h, v)
        force = b[1] - apply(h, w) + m * v
        store_pair(X, I[PUSH] + k * PAIR, (moment, force))


@inline
def momentum_at(X, o, C, c):
    """Return the momentum of a body, its moment about the centre of mass, and where that is.

    The body is in X[o:], its constants in C[c:].

    About the reference point, world axes; [J ω; m (v + ω x c)], J in its own axes.
    """
    R, J = load_matrix(X, o + B_ROTATION), load_matrix(C, c + C_INERTIA)
    com = load(X, o + B_POSITION) + combine(R, C, c + C_COM)
    w, v = load_pair(X, o + B_VELOCITY)
    own = vector(dot(R[0], w), dot(R[1], w), dot(R[2], w))
    return get(C, c + C_MASS) * (v + cross(w, com)), apply(R, apply(J, own)), com


@callee
def energies_into(I, X, out):
    """Write kinetic energy, potential energy, momentum about the world's origin [moment; force]."""
    n, tree, bodies, constants = I[N_BODIES], I[TREE], I[BODIES], I[CONSTANTS]
    g = load(X, I[GRAVITY])
    kinetic, potential, moment, force = 0.0, 0.0, zero(), zero()
    for k in range(n):
        o, c = bodies + k * BODY, constants + k * CONSTANT
        at = load(X, I[REFERENCE] + 4 * get(I, tree + k * TREE_ROW + SECTION))
        p, spin, com = momentum_at(X, o, X, c)
        w, v = load_pair(X, o + B_VELOCITY)
        kinetic += 0.5 * (dot(w, spin) + dot(p, v + cross(w, com)))
        potential -= get(X, c + C_MASS) * dot(g, at + com)
        moment = moment + spin + cross(at + com, p)
        force = force + p
    for d in range(I[N_DOFS]):
        rate = get(X, I[THETA_DOT] + d)
        kinetic += 0.5 * get(X, I[DOFS] + d * DOF + D_ARMATURE) * rate * rate
    put(out, 0, kinetic)
    put(out, 1, potential)
    put(out, 2, x_of(moment))
    put(out, 3, y_of(moment))
    put(out, 4, z_of(moment))
    put(out, 5, x_of(force))
    put(out, 6, y_of(force))
    put(out, 7, z_of(force))
