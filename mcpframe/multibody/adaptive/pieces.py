"""Pieces: the constants of rigid nodes, made from those of the two that they join; nothing is in world axes.

With a joint of axis S at the hinge X between A's tip and B, y of A and B follow from y of both together:

    e = X TIP_A y (without its force) + c,    L' = X L X*  (L what a force on the tip of A moves it by),
    [V | u_B] = (1 + P_B L')⁻¹ BASE_B,        u = V e + u_B,      D = S* V S + armature,
    θ̈ = κ y,  κ = (τ - S* u) / D,            F_B = u + V S κ,     force on B; on the tip of A: F = -X* F_B,
    G = e - L' F_B + S κ,                     acceleration of B,
    y_A = [a; F y; w; 1],  y_B = [G y; f; N w; 1],     BASE = BASE_A y_A,   TIP = TIP_B y_B,
    SQUARES = κ* κ + SQUARES_A of y_A + SQUARES_B of y_B,      so that Σ θ̈² = y* SQUARES y.

A branch B that is raked onto a single link A takes no part in f: the tip stays that of A. N takes products of
an angular velocity to those in the frame of B; τ is in the column of the one.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, spread_x, spread_y, spread_z, store, vector, zero
from mcpframe.multibody.adaptive import piece_records as at
from mcpframe.multibody.adaptive.piece_records import WIDE, Y_FORCE, Y_ONE, Y_TURN
from mcpframe.multibody.adaptive.records import (
    NODE_A,
    NODE_B,
    NODE_FORM,
    NODE_JOINT,
    NODE_LINK,
    NODE_RAKE,
    NODE_ROW,
    NODES,
)
from mcpframe.multibody.adaptive.rows import (
    add_congruence,
    add_product,
    clear_columns,
    copy_rows,
    force_to_parent,
    load_row,
    motion_to_child,
    plus_row,
    solve_six,
    store_row,
    symmetrize,
    times_row,
    turn_products,
)
from mcpframe.multibody.kernels.articulated import rotated_inertia
from mcpframe.multibody.kernels.kinematics import moved_by_hinge
from mcpframe.multibody.memory.records import (
    C_COM,
    C_INERTIA,
    C_MASS,
    C_POSITION,
    C_ROTATION,
    CONSTANT,
    CONSTANTS,
    D_ARMATURE,
    DOF,
    DOF_AT,
    DOFS,
    KIND,
    PIN,
    TAU,
    THETA,
    THETA_AT,
    TREE,
    TREE_ROW,
)
from mcpframe.spatial.algebra import (
    about_origin,
    combine,
    dot,
    identity,
    load_matrix,
    plus_matrix,
    store_matrix,
)

ANGULAR, LINEAR = 2, 5
"""Where the axis of a pin and of a slider is in a spatial vector of the child."""


@inline
def axis_of(IT, k):
    """Return which of six numbers the hinge of a body moves."""
    return ANGULAR if get(IT, IT[TREE] + k * TREE_ROW + KIND) == PIN else LINEAR


@callee
def write_hinge(IT, XT, k, XA, out):
    """Write R, by columns, and p of body k in the frame of its parent, for the coordinate that it has."""
    c, t = IT[CONSTANTS] + k * CONSTANT, IT[TREE] + k * TREE_ROW
    R, p, q = load_matrix(XT, c + C_ROTATION), load(XT, c + C_POSITION), IT[THETA] + get(IT, t + THETA_AT)
    sine, cosine = math.sin(get(XT, q)), math.cos(get(XT, q))
    R, p = moved_by_hinge(get(IT, t + KIND), R, p, XT, q, sine, cosine)
    store_matrix(XA, out, R)
    store(XA, out + 12, p)


@inline
def put_centripetal(A, out, p, row):
    """Write ω x (ω x p) as three rows that act on the products w."""
    x, y, z = get(A, p), get(A, p + 1), get(A, p + 2)
    put(A, out + 1, -x)
    put(A, out + 2, -x)
    put(A, out + 3, y)
    put(A, out + 4, z)
    put(A, out + row, -y)
    put(A, out + row + 2, -y)
    put(A, out + row + 3, x)
    put(A, out + row + 5, z)
    put(A, out + 2 * row, -z)
    put(A, out + 2 * row + 1, -z)
    put(A, out + 2 * row + 4, x)
    put(A, out + 2 * row + 5, y)


@inline
def put_gyroscopic(A, out, J):
    """Write ω x J ω as three rows that act on the products w; J by columns of four."""
    xx, yy, zz = get(A, J), get(A, J + 5), get(A, J + 10)
    xy, xz, yz = get(A, J + 1), get(A, J + 2), get(A, J + 6)
    put(A, out + 1, yz)
    put(A, out + 2, -yz)
    put(A, out + 3, xz)
    put(A, out + 4, -xy)
    put(A, out + 5, zz - yy)
    put(A, out + WIDE, -xz)
    put(A, out + WIDE + 2, xz)
    put(A, out + WIDE + 3, -yz)
    put(A, out + WIDE + 4, xx - zz)
    put(A, out + WIDE + 5, xy)
    put(A, out + 2 * WIDE, xy)
    put(A, out + 2 * WIDE + 1, -xy)
    put(A, out + 2 * WIDE + 3, yy - xx)
    put(A, out + 2 * WIDE + 4, yz)
    put(A, out + 2 * WIDE + 5, -xz)


@callee
def write_leaf(IT, XT, XA, row, k):
    """Write the piece of a single body: BASE = [M | -1 | bias], TIP = [1 | 0 | 0]."""
    c = IT[CONSTANTS] + k * CONSTANT
    m, com = get(XT, c + C_MASS), vector(get(XT, c + C_COM), get(XT, c + C_COM + 1), get(XT, c + C_COM + 2))
    for i in range(at.PIECE):
        put(XA, row + i, 0.0)
    store_matrix(XA, row + at.PI_ROTATION, identity())
    store(XA, row + at.PI_MOMENT, m * com)
    put(XA, row + at.PI_MASS, m)
    J = about_origin(load_matrix(XT, c + C_INERTIA), m, com)
    store_matrix(XA, row + at.PI_INERTIA, J)
    base, h = row + at.PI_BASE, row + at.PI_MOMENT
    for i in range(3):
        for j in range(3):
            put(XA, base + i * WIDE + j, get(XA, row + at.PI_INERTIA + 4 * j + i))
        put(XA, base + (3 + i) * WIDE + 3 + i, m)
        after, before = (i + 1) % 3, (i + 2) % 3
        for one, other, sign in ((after, before, 1.0), (before, after, -1.0)):
            put(XA, base + one * WIDE + 3 + other, -sign * get(XA, h + i))
            put(XA, base + (3 + other) * WIDE + one, -sign * get(XA, h + i))
    for i in range(6):
        put(XA, base + i * WIDE + Y_FORCE + i, -1.0)
        put(XA, row + at.PI_TIP + i * WIDE + i, 1.0)
    put_gyroscopic(XA, base + Y_TURN, row + at.PI_INERTIA)
    put_centripetal(XA, base + 3 * WIDE + Y_TURN, h, WIDE)


@callee
def product_map(A, R, N):
    """Write N, rows of eight: products of R* ω from those of ω; R by columns at A[R]."""
    for r in range(6):
        i, j = (r, r) if r < 3 else ((0, 1) if r == 3 else ((0, 2) if r == 4 else (1, 2)))
        a, b = R + 4 * i, R + 4 * j
        for k in range(3):
            put(A, N + 8 * r + k, get(A, a + k) * get(A, b + k))
        put(A, N + 8 * r + 3, get(A, a) * get(A, b + 1) + get(A, a + 1) * get(A, b))
        put(A, N + 8 * r + 4, get(A, a) * get(A, b + 2) + get(A, a + 2) * get(A, b))
        put(A, N + 8 * r + 5, get(A, a + 1) * get(A, b + 2) + get(A, a + 2) * get(A, b + 1))
        put(A, N + 8 * r + 6, 0.0)
        put(A, N + 8 * r + 7, 0.0)


@callee
def join_masses(IT, XA, hinge, a, b, out, seat, rake):
    """Write where B is, tip, first moment, mass and inertia of two pieces together; return R of B."""
    E, p_A = load_matrix(XA, a + at.PI_ROTATION), load(XA, a + at.PI_POSITION)
    R = combine(E, XA, hinge), combine(E, XA, hinge + 4), combine(E, XA, hinge + 8)
    r = p_A + combine(E, XA, hinge + 12)
    store_matrix(XA, seat + at.SE_ROTATION, R)
    store(XA, seat + at.SE_POSITION, r)
    m = get(XA, b + at.PI_MASS)
    h = combine(R, XA, b + at.PI_MOMENT)
    J = rotated_inertia(XA, seat + at.SE_ROTATION, XA, b + at.PI_INERTIA)
    # J about B's origin, moved by r: J + (2 r·h + m r·r) 1 - r h* - h r* - m r r*
    e, s = identity(), 2.0 * dot(r, h) + m * dot(r, r)
    far = h + m * r
    J = (
        J[0] + s * e[0] - spread_x(far) * r - spread_x(r) * h,
        J[1] + s * e[1] - spread_y(far) * r - spread_y(r) * h,
        J[2] + s * e[2] - spread_z(far) * r - spread_z(r) * h,
    )
    mass = m + get(XA, a + at.PI_MASS)
    moment = vector(get(XA, a + at.PI_MOMENT), get(XA, a + at.PI_MOMENT + 1), get(XA, a + at.PI_MOMENT + 2))
    J = plus_matrix(J, load_matrix(XA, a + at.PI_INERTIA))
    if rake:
        store_matrix(XA, out + at.PI_ROTATION, E)
        store(XA, out + at.PI_POSITION, p_A)
    else:
        tip = b + at.PI_ROTATION
        store(XA, out + at.PI_POSITION, r + combine(R, XA, b + at.PI_POSITION))
        E = combine(R, XA, tip), combine(R, XA, tip + 4), combine(R, XA, tip + 8)
        store_matrix(XA, out + at.PI_ROTATION, E)
    store(XA, out + at.PI_MOMENT, moment + far)
    put(XA, out + at.PI_MASS, mass)
    store_matrix(XA, out + at.PI_INERTIA, J)
    return R


@callee
def write_motion(XA, s, hinge, a, R):
    """Write e = X TIP_A + c to J_MOTION, c = R* (ω x (ω x p)) of the hinge; all in the frame of B."""
    e, offset = s + at.J_MOTION, s + at.J_MATRIX
    motion_to_child(XA, hinge, a + at.PI_TIP, e)
    store(XA, offset, combine(load_matrix(XA, a + at.PI_ROTATION), XA, hinge + 12))
    for i in range(4, 28):
        put(XA, offset + i, 0.0)
    put_centripetal(XA, offset + 4, offset, 8)
    low = load(XA, offset + 4), load(XA, offset + 12), load(XA, offset + 20)
    high = load(XA, offset + 8), load(XA, offset + 16), load(XA, offset + 24)
    for i in range(3):
        axis = R[0] if i == 0 else (R[1] if i == 1 else R[2])
        x, y, z = spread_x(axis), spread_y(axis), spread_z(axis)
        row = e + (3 + i) * WIDE + Y_TURN
        store(XA, row, load(XA, row) + x * low[0] + y * low[1] + z * low[2])
        store(XA, row + 4, load(XA, row + 4) + x * high[0] + y * high[1] + z * high[2])


@callee
def write_give(XA, s, hinge):
    """Write L' = X (X L)* to J_GIVE from the force columns of J_MOTION, which become zero."""
    e, turned_rows = s + at.J_MOTION, s + at.J_TURNED
    for i in range(6):
        for j in range(6):
            put(XA, turned_rows + i * WIDE + j, get(XA, e + j * WIDE + Y_FORCE + i))
    motion_to_child(XA, hinge, turned_rows, s + at.J_FORCE)
    for i in range(6):
        for j in range(6):
            put(XA, s + at.J_GIVE + 8 * i + j, get(XA, s + at.J_FORCE + i * WIDE + j))
    clear_columns(XA, Y_FORCE, e)


@callee
def meet_give(XA, base, row, give, matrix):
    """Write 1 + P L', P the first six columns of `base`, in rows of eight."""
    for i in range(6):
        low, high = zero(), zero()
        for k in range(6):
            x = get(XA, base + i * row + k)
            low, high = low + x * load(XA, give + 8 * k), high + x * load(XA, give + 8 * k + 4)
        store(XA, matrix + 8 * i, low)
        store(XA, matrix + 8 * i + 4, high)
        put(XA, matrix + 8 * i + i, get(XA, matrix + 8 * i + i) + 1.0)


@callee
def write_forces(IT, XT, XA, s, form, k, stiff):
    """Write κ, G and the force on B, J_FORCE, from e, L' and BASE_B in J_BASE; `stiff`: L' is zero."""
    e, base, u, axis = s + at.J_MOTION, s + at.J_BASE, s + at.J_FORCE, axis_of(IT, k)
    if not stiff:
        meet_give(XA, base, WIDE, s + at.J_GIVE, s + at.J_MATRIX)
        solve_six(XA, s + at.J_MATRIX, base, 5)
    copy_rows(XA, 6, base, u)
    clear_columns(XA, 0, u)
    add_product(XA, base, WIDE, 1, e, u)
    d = get(IT, IT[TREE] + k * TREE_ROW + DOF_AT)
    D = 1.0 / (get(XA, base + axis * WIDE + axis) + get(XT, IT[DOFS] + d * DOF + D_ARMATURE))
    joint, G = form + at.FO_JOINT, form + at.FO_MOTION
    store_row(XA, joint, times_row(-D, load_row(XA, u + axis * WIDE)))
    put(XA, joint + Y_ONE, get(XA, joint + Y_ONE) + D * get(XT, IT[TAU] + d))
    kappa = load_row(XA, joint)
    for i in range(6):
        r = plus_row(load_row(XA, u + i * WIDE), get(XA, base + i * WIDE + axis), kappa)
        store_row(XA, u + i * WIDE, r)
    copy_rows(XA, 6, e, G)
    if not stiff:
        for i in range(6):
            r = load_row(XA, G + i * WIDE)
            for j in range(6):
                r = plus_row(r, -get(XA, s + at.J_GIVE + 8 * i + j), load_row(XA, u + j * WIDE))
            store_row(XA, G + i * WIDE, r)
    store_row(XA, G + axis * WIDE, plus_row(load_row(XA, G + axis * WIDE), 1.0, kappa))


@callee
def write_squares(XA, s, form, form_a, form_b, rake):
    """Write SQUARES of a node, form_a and form_b below zero where A and B are single links."""
    kappa, out = load_row(XA, form + at.FO_JOINT), form + at.FO_SQUARES
    for i in range(WIDE):
        store_row(XA, out + i * WIDE, times_row(get(XA, form + at.FO_JOINT + i), kappa))
    rows = s + at.J_ROWS
    if form_a >= 0:
        own = form_a + at.FO_SQUARES
        if rake:
            for i in range(0, WIDE * WIDE, 4):
                store(XA, out + i, load(XA, out + i) + load(XA, own + i))
        else:
            add_congruence(XA, own, form + at.FO_FORCE, Y_FORCE, rows, out)
    if form_b >= 0:
        own = s + at.J_SQUARES
        copy_rows(XA, WIDE, form_b + at.FO_SQUARES, own)
        turn_form(XA, s + at.J_PRODUCTS, own, rows)
        if rake:
            drop_force(XA, own)
        add_congruence(XA, own, form + at.FO_MOTION, 0, rows, out)


@callee
def turn_form(XA, N, form, rows):
    """Make a form take the products of the angular velocity in another frame: N* form N."""
    turn_products(XA, N, WIDE, form)
    copy_rows(XA, 6, form + Y_TURN * WIDE, rows)
    for i in range(6):
        r = times_row(get(XA, N + i), load_row(XA, rows))
        for k in range(1, 6):
            r = plus_row(r, get(XA, N + 8 * k + i), load_row(XA, rows + k * WIDE))
        store_row(XA, form + (Y_TURN + i) * WIDE, r)


@callee
def drop_force(XA, form):
    """Make a form take no force on its tip."""
    for i in range(Y_FORCE, Y_FORCE + 6):
        for j in range(WIDE):
            put(XA, form + i * WIDE + j, 0.0)
            put(XA, form + j * WIDE + i, 0.0)


@callee
def join_handles(XA, s, form, a, b, out, rake):
    """Write BASE and TIP of two pieces together."""
    base, tip, turned_tip = out + at.PI_BASE, out + at.PI_TIP, s + at.J_BASE
    copy_rows(XA, 6, a + at.PI_BASE, base)
    if rake:
        for i in range(6):
            r = plus_row(load_row(XA, base + i * WIDE), -1.0, load_row(XA, form + at.FO_FORCE + i * WIDE))
            store_row(XA, base + i * WIDE, r)
        copy_rows(XA, 6, a + at.PI_TIP, tip)
    else:
        clear_columns(XA, Y_FORCE, base)
        add_product(XA, a + at.PI_BASE + Y_FORCE, WIDE, 1, form + at.FO_FORCE, base)
        copy_rows(XA, 6, b + at.PI_TIP, turned_tip)
        turn_products(XA, s + at.J_PRODUCTS, 6, turned_tip)
        copy_rows(XA, 6, turned_tip, tip)
        clear_columns(XA, 0, tip)
        add_product(XA, turned_tip, WIDE, 1, form + at.FO_MOTION, tip)
        symmetrize(XA, tip + Y_FORCE, WIDE)
    symmetrize(XA, base, WIDE)


@inline
def piece_of(IA, node):
    """Return where the piece of a node begins."""
    return IA[at.PIECES] + node * at.PIECE


@inline
def form_of(IA, node):
    """Return where the form of a node begins, -1 for a single link."""
    form = get(IA, IA[NODES] + node * NODE_ROW + NODE_FORM)
    return IA[at.FORMS] + form * at.FORM if form >= 0 else -1


@inline
def seat_of(IA, node):
    """Return where the seat of a node that joins two begins."""
    return IA[at.SEATS] + get(IA, IA[NODES] + node * NODE_ROW + NODE_FORM) * at.SEAT


@callee
def write_piece(IT, XT, IA, XA, node):
    """Write all constants of a node from those of the nodes that it joins."""
    row, s = IA[NODES] + node * NODE_ROW, IA[at.SCRATCH]
    k, form = get(IA, row + NODE_JOINT), form_of(IA, node)
    out = piece_of(IA, node)
    if k < 0:
        write_leaf(IT, XT, XA, out, get(IA, row + NODE_LINK))
        return
    rake = get(IA, row + NODE_RAKE) != 0
    node_a, node_b = get(IA, row + NODE_A), get(IA, row + NODE_B)
    a, b = piece_of(IA, node_a), piece_of(IA, node_b)
    hinge = form + at.FO_ROTATION
    write_hinge(IT, XT, k, XA, hinge)
    R = join_masses(IT, XA, hinge, a, b, out, seat_of(IA, node), rake)
    store_matrix(XA, s + at.J_MATRIX, R)
    product_map(XA, s + at.J_MATRIX, s + at.J_PRODUCTS)
    write_motion(XA, s, hinge, a, R)
    stiff = is_stiff(IA, node_a)
    if stiff:
        clear_columns(XA, Y_FORCE, s + at.J_MOTION)
    else:
        write_give(XA, s, hinge)
    copy_rows(XA, 6, b + at.PI_BASE, s + at.J_BASE)
    turn_products(XA, s + at.J_PRODUCTS, 6, s + at.J_BASE)
    if rake:
        clear_columns(XA, Y_FORCE, s + at.J_BASE)
    write_forces(IT, XT, XA, s, form, k, stiff)
    force_to_parent(XA, hinge, s + at.J_FORCE, form + at.FO_FORCE)
    join_handles(XA, s, form, a, b, out, rake)
    write_squares(XA, s, form, form_of(IA, node_a), form_of(IA, node_b), rake)


@inline
def is_stiff(IA, node):
    """Return whether a node's tip is its first link: a link, perhaps with branches."""
    row = IA[NODES] + node * NODE_ROW
    return get(IA, row + NODE_JOINT) < 0 or get(IA, row + NODE_RAKE) != 0
