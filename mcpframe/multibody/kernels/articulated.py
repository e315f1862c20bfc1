"""Articulated-body sweep and free acceleration, O(N), one hinge column at a time.

Tips to base, with the body's own inertia M(k) and bias force b(k) [J14, section 10; SPEC of P, D, G]:
    P(k) = M(k) + sum of the children's P+,     z(k) = b(k) + sum of the children's z+,
and for each of the body's columns H*, last to first,
    D = H P H* + armature,   G = P H* / D,   u = tau - H z,   P+ = P - G (P H*)*,   z+ = z + G u.
Base to tips:
    theta_ddot = u / D - G* a,     a = a + H* theta_ddot.
Eliminating a hinge column by column gives the same P+ as eliminating it as a block. Between sections, which
have reference points of their own, all of them are shifted by phi.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, spread_x, x_of, zero
from mcpframe.multibody.kernels.spans import bodies_of
from mcpframe.multibody.memory.records import (
    ADD,
    B_ACCELERATION,
    B_BIAS,
    B_POSITION,
    B_ROTATION,
    B_SHIFT,
    B_VELOCITY,
    BODIES,
    BODY,
    BR_FORCE,
    BRANCH,
    BRANCHED,
    BRANCHES,
    C_COM,
    C_INERTIA,
    C_MASS,
    CARRY,
    CONSTANT,
    CONSTANTS,
    D_ARMATURE,
    D_COLUMN,
    D_FORCE,
    D_GAIN,
    D_INVERSE,
    D_LEAST,
    DOF,
    DOF_AT,
    DOFS,
    DROP,
    JOIN,
    N_DOF,
    N_SPANS,
    PARENT,
    SECTION,
    TAU,
    THETA_DDOT,
    TREE,
    TREE_ROW,
)
from mcpframe.spatial.algebra import (
    about_origin,
    combine,
    cross,
    identity,
    inner,
    load_block,
    load_matrix,
    load_pair,
    minus_outer,
    minus_skew,
    minus_spread,
    null_block,
    null_pair,
    plus,
    plus_block,
    plus_matrix,
    plus_scaled,
    plus_skew,
    shifted_force,
    shifted_inertia,
    shifted_motion,
    skew,
    spread_inner,
    store_block,
    store_pair,
    transform,
)


@inline
def rotated_inertia(X, r, Y, i):
    """Return R J R* by columns, R stored by columns from X[r], J from Y[i].

    Entries of R are taken from memory: there they are spread over lanes for nothing, in registers not.
    """
    R = load_matrix(X, r)
    T = combine(R, Y, i), combine(R, Y, i + 4), combine(R, Y, i + 8)
    return (
        get(X, r) * T[0] + get(X, r + 4) * T[1] + get(X, r + 8) * T[2],
        get(X, r + 1) * T[0] + get(X, r + 5) * T[1] + get(X, r + 9) * T[2],
        get(X, r + 2) * T[0] + get(X, r + 6) * T[1] + get(X, r + 10) * T[2],
    )


@inline
def body_places(X, o, c):
    """Return a body's mass, centre of mass and inertia about it, from its reference point in world axes."""
    R = load_matrix(X, o + B_ROTATION)
    com = load(X, o + B_POSITION) + combine(R, X, c + C_COM)
    return get(X, c + C_MASS), com, rotated_inertia(X, o + B_ROTATION, X, c + C_INERTIA)


@inline
def body_bias(X, o, m, com, J_com):
    """Return the bias force M a + V x* M V of a body about its reference point."""
    w, v = load_pair(X, o + B_VELOCITY)
    w_dot, v_dot = load_pair(X, o + B_BIAS)
    force = m * (v_dot + cross(w_dot, com) + cross(w, v + cross(w, com)))
    moment = combine(J_com, X, o + B_BIAS) + cross(w, combine(J_com, X, o + B_VELOCITY))
    return moment + cross(com, force), force


@inline
def body_inertia(X, o, c):
    """Return M(k) as (J, h~, m) about the reference point, and the bias force.

    [[J, h~], [-h~, m]]: J the inertia, h = m c the first moment.
    """
    m, com, J_com = body_places(X, o, c)
    return about_origin(J_com, m, com), skew(m * com), m, body_bias(X, o, m, com, J_com)


@callee
def sweep(I, X):
    """Fill D_GAIN, D_INVERSE, D_FORCE of all dofs; return 0, or 1 + the first dof found without inertia."""
    failed = 0
    for s in range(I[N_SPANS]):
        begin, end = bodies_of(I, s)
        found = sweep_of(I, X, begin, end)
        failed = found if failed == 0 else failed
    return failed


@callee
def sweep_of(I, X, begin, end):
    """Do so for the bodies of a span."""
    tree, constants, bodies = I[TREE], I[CONSTANTS], I[BODIES]
    dofs, tau, branches = I[DOFS], I[TAU], I[BRANCHES]
    e = identity()
    one = spread_x(e[0])
    P, z = null_block(), null_pair()
    failed = 0
    for k in range(end - 1, begin - 1, -1):
        t = tree + k * TREE_ROW
        m, com, J_com = body_places(X, bodies + k * BODY, constants + k * CONSTANT)
        b, h = body_bias(X, bodies + k * BODY, m, com, J_com), m * com
        P = (
            plus_matrix(P[0], about_origin(J_com, m, com)),
            plus_skew(P[1], h),
            minus_skew(P[2], h),
            (P[3][0] + m * e[0], P[3][1] + m * e[1], P[3][2] + m * e[2]),
        )
        z = plus(z, b)
        if get(I, t + BRANCHED):
            i = branches + k * BRANCH
            P, z = plus_block(P, load_block(X, i)), plus(z, load_pair(X, i + BR_FORCE))
        first = get(I, t + DOF_AT)
        for d in range(first + get(I, t + N_DOF) - 1, first - 1, -1):
            i = dofs + d * DOF
            H = load_pair(X, i + D_COLUMN)
            U = transform(P, X, i + D_COLUMN)
            D = spread_inner(get(X, i + D_ARMATURE), H, U)
            if not get(X, i + D_LEAST) < x_of(D) and failed == 0:  # what follows inward is not a number
                failed = d + 1
            u = get(X, tau + d) - inner(H, z)
            inverse = one / D
            G = inverse * U[0], inverse * U[1]
            P = minus_outer(P, G, U)
            z = plus_scaled(z, u, G)
            store_pair(X, i + D_GAIN, G)
            put(X, i + D_INVERSE, x_of(inverse))
            put(X, i + D_FORCE, u)
        join = get(I, t + JOIN)
        if get(I, t + SECTION) == k and join != DROP:
            shift = load(X, bodies + k * BODY + B_SHIFT)
            P, z = shifted_inertia(P, shift), shifted_force(z, shift)
        if join != CARRY:
            i = branches + get(I, t + PARENT) * BRANCH
            if join == ADD:
                P, z = plus_block(P, load_block(X, i)), plus(z, load_pair(X, i + BR_FORCE))
            if join != DROP:
                store_block(X, i, P)
                store_pair(X, i + BR_FORCE, z)
            P, z = null_block(), null_pair()
    return failed


@callee
def sweep_forces(I, X):
    """Fill D_FORCE of all dofs for other rates or forces, on the gains of the last sweep."""
    for s in range(I[N_SPANS]):
        begin, end = bodies_of(I, s)
        sweep_forces_of(I, X, begin, end)


@callee
def sweep_forces_of(I, X, begin, end):
    """Do so for the bodies of a span."""
    tree, constants, bodies = I[TREE], I[CONSTANTS], I[BODIES]
    dofs, tau, branches = I[DOFS], I[TAU], I[BRANCHES]
    z = null_pair()
    for k in range(end - 1, begin - 1, -1):
        t = tree + k * TREE_ROW
        o = bodies + k * BODY
        m, com, J_com = body_places(X, o, constants + k * CONSTANT)
        z = plus(z, body_bias(X, o, m, com, J_com))
        if get(I, t + BRANCHED):
            z = plus(z, load_pair(X, branches + k * BRANCH + BR_FORCE))
        first = get(I, t + DOF_AT)
        for d in range(first + get(I, t + N_DOF) - 1, first - 1, -1):
            i = dofs + d * DOF
            u = get(X, tau + d) - inner(load_pair(X, i + D_COLUMN), z)
            z = plus_scaled(z, u, load_pair(X, i + D_GAIN))
            put(X, i + D_FORCE, u)
        join = get(I, t + JOIN)
        if get(I, t + SECTION) == k and join != DROP:
            z = shifted_force(z, load(X, o + B_SHIFT))
        if join != CARRY:
            i = branches + get(I, t + PARENT) * BRANCH + BR_FORCE
            if join == ADD:
                z = plus(z, load_pair(X, i))
            if join != DROP:
                store_pair(X, i, z)
            z = null_pair()


@callee
def accelerations(I, X):
    """Fill THETA_DDOT and B_ACCELERATION (what it does to the bodies); return whether all are finite.

    With a = before - held H of the last dof, G* a is G* before - held G* H: a product of six then waits for
    the dof before the last, and a single number for the last one.
    """
    finite = True
    for s in range(I[N_SPANS]):
        begin, end = bodies_of(I, s)
        finite = accelerations_of(I, X, begin, end) and finite
    return finite


@callee
def accelerations_of(I, X, begin, end):
    """Do so for the bodies of a span."""
    tree, bodies, dofs, theta_ddot = I[TREE], I[BODIES], I[DOFS], I[THETA_DDOT]
    a, before, H, held = null_pair(), null_pair(), null_pair(), zero()
    zero_sum = 0.0
    for k in range(begin, end):
        t = tree + k * TREE_ROW
        parent = get(I, t + PARENT)
        if parent < 0:
            a, before, held = null_pair(), null_pair(), zero()
        elif parent != k - 1:
            a = load_pair(X, bodies + parent * BODY + B_ACCELERATION)
            before, held = a, zero()
        if get(I, t + SECTION) == k and parent >= 0:
            a = shifted_motion(a, load(X, bodies + k * BODY + B_SHIFT))
            before, held = a, zero()
        first = get(I, t + DOF_AT)
        for d in range(first, first + get(I, t + N_DOF)):
            i = dofs + d * DOF
            free = get(X, i + D_INVERSE) * get(X, i + D_FORCE)
            G = load_pair(X, i + D_GAIN)
            held = spread_inner(-free, G, before) - held * spread_inner(0.0, G, H)  # -theta_ddot
            put(X, theta_ddot + d, -x_of(held))
            zero_sum += 0.0 * x_of(held)  # NaN for infinities as well
            H = load_pair(X, i + D_COLUMN)
            before = a
            a = minus_spread(a, held, H)
        store_pair(X, bodies + k * BODY + B_ACCELERATION, a)
    return zero_sum == 0.0


NOT_FINITE = -1


@callee
def free_accelerations(I, X, swept):
    """Sweep, then accelerations; return 0, 1 + a dof without inertia, or NOT_FINITE.

    The gains are those of the last sweep where the configuration was `swept`.
    """
    failed = 0
    if swept:
        sweep_forces(I, X)
    else:
        failed = sweep(I, X)
    is_finite = accelerations(I, X)
    return failed if failed != 0 or is_finite else NOT_FINITE
