"""The released body, all joints free, by a sweep over parts: what every joint would do, in O(parts).

Parts are bodies with two handles and constant coefficients (`pieces`), joined at joints of their own. Tips to
base, with [P | z] the force at a part's first frame by (its acceleration, 1) of all that it carries, t and e
what the acceleration of the part above is at the hinge m, L' the compliance of its tip there,

    [V | u] = (1 + P L')⁻¹ [P | z],    [..] = V [t | e] + [0 | u],    κ = (τ - S* [..]) / (S* V S + armature),
    force = [..] + V S κ,              [P | z] of the part above += t* force.

Base to tips θ̈ = κ (a, 1), the force, and a = [t | e] (a, 1) - L' force + S θ̈ of the next part. Then y of
every part is known, and y* SQUARES y is the sum of θ̈² over the joints within it, without any of these.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store, total, vector, x_of, y_of, z_of, zero
from mcpframe.multibody.adaptive import piece_records as at
from mcpframe.multibody.adaptive import records
from mcpframe.multibody.adaptive.fronts import node_entry
from mcpframe.multibody.adaptive.piece_records import PART, WIDE, Y_FORCE, Y_ONE, Y_TURN
from mcpframe.multibody.adaptive.pieces import (
    axis_of,
    form_of,
    is_stiff,
    meet_give,
    piece_of,
    write_hinge,
)
from mcpframe.multibody.adaptive.records import NODE_A, NODE_B, NODE_LINK
from mcpframe.multibody.adaptive.rows import load_row, solve_six
from mcpframe.multibody.kernels.kinematics import turned_by_quaternion
from mcpframe.multibody.memory.records import (
    BALL,
    C_ROTATION,
    CONSTANT,
    CONSTANTS,
    D_ARMATURE,
    DOF,
    DOF_AT,
    DOFS,
    FREE,
    GRAVITY,
    KIND,
    N_DOF,
    PIN,
    PRISMATIC,
    TAU,
    THETA,
    THETA_AT,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.spatial.algebra import apply, cross, dot, load_matrix, store_matrix


@inline
def part_of(IA, i):
    """Return where the row of a part begins."""
    return IA[at.PARTS] + i * PART


@inline
def tried_of(IA, node):
    """Return where y of a node begins."""
    return IA[at.TRIED] + node * at.TRIED_ROW


@inline
def turned_into(A, R, v):
    """Return R* v, R by columns at A[R]."""
    m = load_matrix(A, R)
    return vector(dot(m[0], v), dot(m[1], v), dot(m[2], v))


@inline
def begin_y(XA, y, omega):
    """Write products of the angular velocity, the one, and no force."""
    x, v, z = x_of(omega), y_of(omega), z_of(omega)
    for i in range(Y_FORCE, Y_TURN):
        put(XA, y + i, 0.0)
    put(XA, y + Y_TURN, x * x)
    put(XA, y + Y_TURN + 1, v * v)
    put(XA, y + Y_TURN + 2, z * z)
    put(XA, y + Y_TURN + 3, x * v)
    put(XA, y + Y_TURN + 4, x * z)
    put(XA, y + Y_TURN + 5, v * z)
    put(XA, y + Y_ONE, 1.0)
    put(XA, y + Y_ONE + 1, 0.0)
    store(XA, y + at.T_OMEGA, omega)


@inline
def turning_part(XA, row, y):
    """Return what the products and the one in y do through a row."""
    w = load(XA, row + Y_TURN) * load(XA, y + Y_TURN)
    return total(w + load(XA, row + Y_TURN + 4) * load(XA, y + Y_TURN + 4))


@callee
def place_root(IT, XT, XA, part, k):
    """Write the orientation of a body on the world in PA_ROTATION; return its angular velocity, own axes."""
    t, c = IT[TREE] + k * TREE_ROW, IT[CONSTANTS] + k * CONSTANT
    kind, q = get(IT, t + KIND), IT[THETA] + get(IT, t + THETA_AT)
    v = IT[THETA_DOT] + get(IT, t + DOF_AT)
    omega = zero()
    if kind in (PIN, PRISMATIC):
        write_hinge(IT, XT, k, XA, part + at.PA_ROTATION)
        if kind == PIN:
            omega = vector(0.0, 0.0, get(XT, v))
    elif kind in (FREE, BALL):
        first = 3 if kind == FREE else 0
        R = turned_by_quaternion(load_matrix(XT, c + C_ROTATION), XT, q + first)
        store_matrix(XA, part + at.PA_ROTATION, R)
        omega = vector(get(XT, v + first), get(XT, v + first + 1), get(XT, v + first + 2))
    else:
        store_matrix(XA, part + at.PA_ROTATION, load_matrix(XT, c + C_ROTATION))
    return omega


@callee
def turn_parts(IT, XT, IA, XA):
    """Write hinges and angular velocities of the parts, base to tips, and the bias e of every hinge."""
    for i in range(IA[at.N_PARTS]):
        node, above, part = get(IA, IA[at.PART_NODE] + i), get(IA, IA[at.PART_UP] + i), part_of(IA, i)
        k = node_entry(IA, node, NODE_LINK)
        if above < 0:
            omega = place_root(IT, XT, XA, part, k)
        else:
            write_hinge(IT, XT, k, XA, part + at.PA_ROTATION)
            up = get(IA, IA[at.PART_NODE] + above)
            w = turned_into(XA, piece_of(IA, up) + at.PI_ROTATION, load(XA, part_of(IA, above) + at.PA_OMEGA))
            omega = turned_into(XA, part + at.PA_ROTATION, w)
            t = IT[TREE] + k * TREE_ROW
            rate = get(XT, IT[THETA_DOT] + get(IT, t + DOF_AT))
            axis = vector(0.0, 0.0, rate)
            p = load(XA, part + at.PA_POSITION)
            inward = turned_into(XA, part + at.PA_ROTATION, cross(w, cross(w, p)))
            if get(IT, t + KIND) == PIN:
                put_bias(XA, part, cross(omega, axis), inward)
                omega = omega + axis
            else:
                put_bias(XA, part, zero(), inward + 2.0 * cross(omega, axis))
        store(XA, part + at.PA_OMEGA, omega)
        begin_y(XA, tried_of(IA, node), omega)


@inline
def put_bias(XA, part, angular, linear):
    """Write the bias of a hinge to the column of the one in [t | e]."""
    e = part + at.PA_MOTION + 6
    put(XA, e, x_of(angular))
    put(XA, e + 8, y_of(angular))
    put(XA, e + 16, z_of(angular))
    put(XA, e + 24, x_of(linear))
    put(XA, e + 32, y_of(linear))
    put(XA, e + 40, z_of(linear))


@callee
def begin_bases(IA, XA):
    """Write [P | z] of every part alone, outer forces taken off."""
    for i in range(IA[at.N_PARTS]):
        node, part = get(IA, IA[at.PART_NODE] + i), part_of(IA, i)
        base, y = piece_of(IA, node) + at.PI_BASE, tried_of(IA, node)
        for r in range(6):
            row, out = base + r * WIDE, part + at.PA_BASE + 8 * r
            store(XA, out, load(XA, row))
            put(XA, out + 4, get(XA, row + 4))
            put(XA, out + 5, get(XA, row + 5))
            put(XA, out + 6, turning_part(XA, row, y) - get(XA, part + at.PA_PUSH + r))
            put(XA, out + 7, 0.0)
            put(XA, part + at.PA_PUSH + r, 0.0)


@inline
def row_to_child(XA, hinge, s, out, n):
    """Write X s for six rows of n lanes."""
    x, y, z = get(XA, hinge + 12), get(XA, hinge + 13), get(XA, hinge + 14)
    step = 4 * n
    for lane in range(0, step, 4):
        w0, w1, w2 = load(XA, s + lane), load(XA, s + step + lane), load(XA, s + 2 * step + lane)
        v0 = load(XA, s + 3 * step + lane) - y * w2 + z * w1
        v1 = load(XA, s + 4 * step + lane) - z * w0 + x * w2
        v2 = load(XA, s + 5 * step + lane) - x * w1 + y * w0
        for i in range(3):
            a, b, c = get(XA, hinge + 4 * i), get(XA, hinge + 4 * i + 1), get(XA, hinge + 4 * i + 2)
            store(XA, out + i * step + lane, a * w0 + b * w1 + c * w2)
            store(XA, out + (3 + i) * step + lane, a * v0 + b * v1 + c * v2)


@callee
def write_part_motion(XA, s, part, tip, y):
    """Add t and what the part above does by itself to [t | e]; s: scratch. Its tip may give way."""
    for r in range(6):
        row, out = tip + r * WIDE, s + 8 * r
        store(XA, out, load(XA, row))
        put(XA, out + 4, get(XA, row + 4))
        put(XA, out + 5, get(XA, row + 5))
        put(XA, out + 6, turning_part(XA, row, y))
        put(XA, out + 7, 0.0)
    row_to_child(XA, part + at.PA_ROTATION, s, s + 48, 2)
    for r in range(6):
        out, own = part + at.PA_MOTION + 8 * r, s + 48 + 8 * r
        bias = get(XA, out + 6)
        store(XA, out, load(XA, own))
        store(XA, out + 4, load(XA, own + 4))
        put(XA, out + 6, get(XA, out + 6) + bias)


@callee
def write_part_give(XA, s, part, tip):
    """Write L' = X L X* of the tip above."""
    for r in range(6):
        for c in range(6):
            put(XA, s + 8 * r + c, get(XA, tip + r * WIDE + Y_FORCE + c))
        put(XA, s + 8 * r + 6, 0.0)
        put(XA, s + 8 * r + 7, 0.0)
    row_to_child(XA, part + at.PA_ROTATION, s, s + 48, 2)
    for r in range(6):
        for c in range(6):
            put(XA, s + 8 * r + c, get(XA, s + 48 + 8 * c + r))
    row_to_child(XA, part + at.PA_ROTATION, s, part + at.PA_GIVE, 2)


@callee
def carry_part(IT, XT, IA, XA, i):
    """Hand what part i carries on to the part above."""
    s, part, above = IA[at.SCRATCH], part_of(IA, i), get(IA, IA[at.PART_UP] + i)
    node = get(IA, IA[at.PART_NODE] + above)
    tip, k = piece_of(IA, node) + at.PI_TIP, node_entry(IA, get(IA, IA[at.PART_NODE] + i), NODE_LINK)
    base, e, force = part + at.PA_BASE, part + at.PA_MOTION, part + at.PA_FORCE
    write_part_motion(XA, s, part, tip, tried_of(IA, node))
    if not is_stiff(IA, node):
        write_part_give(XA, s, part, tip)
        meet_give(XA, base, 8, part + at.PA_GIVE, s)
        solve_six(XA, s, base, 2)
    axis, d = axis_of(IT, k), get(IT, IT[TREE] + k * TREE_ROW + DOF_AT)
    for r in range(6):
        low, high = zero(), vector(0.0, 0.0, get(XA, base + 8 * r + 6))
        for j in range(6):
            x = get(XA, base + 8 * r + j)
            low, high = low + x * load(XA, e + 8 * j), high + x * load(XA, e + 8 * j + 4)
        store(XA, force + 8 * r, low)
        store(XA, force + 8 * r + 4, high)
    D = 1.0 / (get(XA, base + 8 * axis + axis) + get(XT, IT[DOFS] + d * DOF + D_ARMATURE))
    joint = part + at.PA_JOINT
    store(XA, joint, -D * load(XA, force + 8 * axis))
    store(XA, joint + 4, -D * load(XA, force + 8 * axis + 4))
    put(XA, joint + 6, get(XA, joint + 6) + D * get(XT, IT[TAU] + d))
    low, high = load(XA, joint), load(XA, joint + 4)
    for r in range(6):
        x = get(XA, base + 8 * r + axis)
        store(XA, force + 8 * r, load(XA, force + 8 * r) + x * low)
        store(XA, force + 8 * r + 4, load(XA, force + 8 * r + 4) + x * high)
    out = part_of(IA, above) + at.PA_BASE
    for r in range(6):
        low, high = load(XA, out + 8 * r), load(XA, out + 8 * r + 4)
        for j in range(6):
            x = get(XA, e + 8 * j + r)
            low, high = low + x * load(XA, force + 8 * j), high + x * load(XA, force + 8 * j + 4)
        store(XA, out + 8 * r, low)
        store(XA, out + 8 * r + 4, high)


@inline
def root_axis(kind, d):
    """Return which of six numbers a dof of a hinge on the world moves."""
    if kind == FREE:
        return d + 3 if d < 3 else d - 3
    if kind == BALL:
        return d
    return 2 if kind == PIN else 5


@callee
def accelerate_root(IT, XT, XA, part, y, k):
    """Write the acceleration of a body on the world, its dofs eliminated one by one as in a sweep."""
    t, base, gain = IT[TREE] + k * TREE_ROW, part + at.PA_BASE, part + at.PA_FORCE
    kind, first, n = get(IT, t + KIND), get(IT, t + DOF_AT), get(IT, t + N_DOF)
    up = turned_into(XA, part + at.PA_ROTATION, -load(XT, IT[GRAVITY]))
    if kind == FREE:
        v = IT[THETA_DOT] + first
        up = up + cross(load(XA, part + at.PA_OMEGA), vector(get(XT, v), get(XT, v + 1), get(XT, v + 2)))
    bias = part + at.PA_MOTION
    for r in range(3):
        put(XA, bias + r, 0.0)
    put(XA, bias + 3, x_of(up))
    put(XA, bias + 4, y_of(up))
    put(XA, bias + 5, z_of(up))
    for d in range(n - 1, -1, -1):  # rows of `gain`: P H* / D, then (τ - H z) / D in place 6
        axis, own = root_axis(kind, d), gain + 8 * d
        D = 1.0 / (get(XA, base + 8 * axis + axis) + get(XT, IT[DOFS] + (first + d) * DOF + D_ARMATURE))
        for r in range(6):
            put(XA, own + r, D * get(XA, base + 8 * r + axis))
        u = get(XT, IT[TAU] + first + d) - get(XA, base + 8 * axis + 6)
        put(XA, own + 6, D * u)
        for r in range(6):
            x = get(XA, base + 8 * r + axis)
            for c in range(6):
                g = get(XA, own + c)
                put(XA, part + at.PA_GIVE + 8 * r + c, get(XA, base + 8 * r + c) - x * g)
            put(XA, part + at.PA_GIVE + 8 * r + 6, get(XA, base + 8 * r + 6) + x * D * u)
        for r in range(6):
            for c in range(7):
                put(XA, base + 8 * r + c, get(XA, part + at.PA_GIVE + 8 * r + c))
    for r in range(6):
        put(XA, y + r, get(XA, bias + r))
    for d in range(n):
        rate_change = get(XA, gain + 8 * d + 6)
        for r in range(6):
            rate_change -= get(XA, gain + 8 * d + r) * get(XA, y + r)
        axis = root_axis(kind, d)
        put(XA, y + axis, get(XA, y + axis) + rate_change)


@inline
def by_motion(XA, row, low, high):
    """Return a row of eight times (a, 1)."""
    return total(load(XA, row) * low + load(XA, row + 4) * high)


@callee
def accelerate_part(IT, IA, XA, i):
    """Write the acceleration of part i, the force on the tip above, and what its joint does in PA_JOINT."""
    part, above = part_of(IA, i), get(IA, IA[at.PART_UP] + i)
    node = get(IA, IA[at.PART_NODE] + i)
    y, up = tried_of(IA, node), tried_of(IA, get(IA, IA[at.PART_NODE] + above))
    low, high = load(XA, up), vector(get(XA, up + 4), get(XA, up + 5), 1.0)
    change = by_motion(XA, part + at.PA_JOINT, low, high)
    for r in range(6):
        put(XA, part + at.PA_PUSH + r, by_motion(XA, part + at.PA_FORCE + 8 * r, low, high))
        put(XA, y + r, by_motion(XA, part + at.PA_MOTION + 8 * r, low, high))
    if not is_stiff(IA, get(IA, IA[at.PART_NODE] + above)):
        f_low = load(XA, part + at.PA_PUSH)
        f_high = vector(get(XA, part + at.PA_PUSH + 4), get(XA, part + at.PA_PUSH + 5), 0.0)
        for r in range(6):
            give = by_motion(XA, part + at.PA_GIVE + 8 * r, f_low, f_high)
            put(XA, y + r, get(XA, y + r) - give)
    axis = axis_of(IT, node_entry(IA, node, NODE_LINK))
    put(XA, y + axis, get(XA, y + axis) + change)
    put(XA, part + at.PA_JOINT, change)
    f = part + at.PA_PUSH
    moment = vector(get(XA, f), get(XA, f + 1), get(XA, f + 2))
    force = vector(get(XA, f + 3), get(XA, f + 4), get(XA, f + 5))
    R = load_matrix(XA, part + at.PA_ROTATION)
    force = apply(R, force)
    moment = apply(R, moment) + cross(load(XA, part + at.PA_POSITION), force)
    for r, one in ((0, moment), (3, force)):
        put(XA, up + Y_FORCE + r, get(XA, up + Y_FORCE + r) - x_of(one))
        put(XA, up + Y_FORCE + r + 1, get(XA, up + Y_FORCE + r + 1) - y_of(one))
        put(XA, up + Y_FORCE + r + 2, get(XA, up + Y_FORCE + r + 2) - z_of(one))
    for r in range(6):
        put(XA, f + r, 0.0)


@callee
def release_parts(IT, XT, IA, XA):
    """Write y of all parts and, in PA_JOINT, what their joints would do; uses up PA_PUSH."""
    turn_parts(IT, XT, IA, XA)
    begin_bases(IA, XA)
    for i in range(IA[at.N_PARTS] - 1, -1, -1):
        if get(IA, IA[at.PART_UP] + i) >= 0:
            carry_part(IT, XT, IA, XA, i)
    for i in range(IA[at.N_PARTS]):
        if get(IA, IA[at.PART_UP] + i) >= 0:
            accelerate_part(IT, IA, XA, i)
        else:
            node = get(IA, IA[at.PART_NODE] + i)
            k = node_entry(IA, node, NODE_LINK)
            accelerate_root(IT, XT, XA, part_of(IA, i), tried_of(IA, node), k)


@callee
def squares_of(IA, XA, node):
    """Return y* SQUARES y of a node, zero of a single link."""
    form = form_of(IA, node)
    if form < 0:
        return 0.0
    y, m = tried_of(IA, node), form + at.FO_SQUARES
    s = zero()
    y0, y1, y2 = load(XA, y), load(XA, y + 4), load(XA, y + 8)
    y3, y4 = load(XA, y + 12), load(XA, y + 16)
    for i in range(Y_ONE + 1):
        r = load_row(XA, m + i * WIDE)
        s = s + get(XA, y + i) * (r[0] * y0 + r[1] * y1 + r[2] * y2 + r[3] * y3 + r[4] * y4)
    return max(total(s), 0.0)


@inline
def by_row(XA, row, y):
    """Return a row times y."""
    r, v = load_row(XA, row), load_row(XA, y)
    return total(r[0] * v[0] + r[1] * v[1] + r[2] * v[2] + r[3] * v[3] + r[4] * v[4])


@callee
def open_piece(IA, XA, node):
    """Write y of the two nodes that a rigid one joins; return what its joint would do."""
    form, y = form_of(IA, node), tried_of(IA, node)
    a, b = node_entry(IA, node, NODE_A), node_entry(IA, node, NODE_B)
    y_a, y_b = tried_of(IA, a), tried_of(IA, b)
    omega = load(XA, y + at.T_OMEGA)
    turned = turned_into(XA, piece_of(IA, a) + at.PI_ROTATION, omega)
    begin_y(XA, y_a, omega)
    begin_y(XA, y_b, turned_into(XA, form + at.FO_ROTATION, turned))
    rake = node_entry(IA, node, records.NODE_RAKE) != 0
    for r in range(6):
        force = get(XA, y + Y_FORCE + r)
        put(XA, y_a + r, get(XA, y + r))
        put(XA, y_a + Y_FORCE + r, force if rake else by_row(XA, form + at.FO_FORCE + r * WIDE, y))
        put(XA, y_b + r, by_row(XA, form + at.FO_MOTION + r * WIDE, y))
        put(XA, y_b + Y_FORCE + r, 0.0 if rake else force)
    return by_row(XA, form + at.FO_JOINT, y)
