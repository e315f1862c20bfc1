"""Closures in compiled code: their rows at a state, biases, errors and rates.

They are those of `mcpframe.multibody.closures`, which says what they mean.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, x_of, y_of, z_of, zero
from mcpframe.multibody.memory import loop_records as at
from mcpframe.multibody.memory.records import (
    B_BIAS,
    B_POSITION,
    B_ROTATION,
    B_VELOCITY,
    BODIES,
    BODY,
    D_COLUMN,
    DOF,
    DOFS,
    GRAVITY,
    PAIR,
    REFERENCE,
    SECTION,
    THETA,
    TREE,
    TREE_ROW,
)
from mcpframe.spatial.algebra import (
    combine,
    cross,
    dot,
    inner,
    load_matrix,
    load_pair,
    store_pair,
)


@inline
def reference_of(I, X, body):
    """Return the point about which a body's velocity and wrenches are kept."""
    return load(X, I[REFERENCE] + 4 * get(I, I[TREE] + body * TREE_ROW + SECTION))


@inline
def node_place(I, X, XE, body, place):
    """Return where a node is in the world; its place is given in the inner axes of its body."""
    x = load(XE, place)
    if body >= 0:
        o = I[BODIES] + body * BODY
        turned = combine(load_matrix(X, o + B_ROTATION), XE, place)
        x = reference_of(I, X, body) + load(X, o + B_POSITION) + turned
    return x


@inline
def node_axis(I, X, XE, body, axis):
    """Return in the world a vector that is given in the inner axes of a body."""
    x = load(XE, axis)
    if body >= 0:
        x = combine(load_matrix(X, I[BODIES] + body * BODY + B_ROTATION), XE, axis)
    return x


@inline
def point_motion(I, X, body, x):
    """Return the velocity [omega; v] of a body's point x."""
    w, v = zero(), zero()
    if body >= 0:
        w, v = load_pair(X, I[BODIES] + body * BODY + B_VELOCITY)
        v = v + cross(w, x - reference_of(I, X, body))
    return w, v


@inline
def point_bias(I, X, body, x):
    """Return what accelerates a body's point x while theta_dot stays [omega_dot; a]."""
    w_dot, a = zero(), zero()
    if body >= 0:
        o = I[BODIES] + body * BODY
        r = x - reference_of(I, X, body)
        w, v = load_pair(X, o + B_VELOCITY)
        w_dot, v_dot = load_pair(X, o + B_BIAS)
        a = v_dot + load(X, I[GRAVITY]) + cross(w_dot, r) + cross(w, v + cross(w, r))
    return w_dot, a


@inline
def put_halves(I, X, IE, XE, row, body_a, body_b, x, moment, force):
    """Write the halves of a row between two bodies: its wrench at x on A, the opposite on B."""
    h = get(IE, IE[at.HALF_AT] + row)
    if body_a >= 0:
        arm = x - reference_of(I, X, body_a)
        store_pair(XE, IE[at.HALF_WRENCH] + h * PAIR, (moment + cross(arm, force), force))
        h += 1
    if body_b >= 0:
        arm = x - reference_of(I, X, body_b)
        store_pair(XE, IE[at.HALF_WRENCH] + h * PAIR, (-moment - cross(arm, force), -force))


@inline
def turn_error(a_x, a_y, a_z, b_x, b_y, b_z):
    """Return the rotation vector, in B's axes, from the axes of B to those of A."""
    x = 0.5 * (dot(b_z, a_y) - dot(b_y, a_z))
    y = 0.5 * (dot(b_x, a_z) - dot(b_z, a_x))
    z = 0.5 * (dot(b_y, a_x) - dot(b_x, a_y))
    sine = math.sqrt(x * x + y * y + z * z)
    cosine = 0.5 * (dot(b_x, a_x) + dot(b_y, a_y) + dot(b_z, a_z) - 1.0)
    share = math.atan2(sine, cosine) / sine if sine > 0.0 else 1.0
    return share * x, share * y, share * z


@callee
def rows_between(I, X, IE, XE, k):
    """Write the rows of closure k, which joins two nodes, and their errors."""
    loop, node = IE[at.LOOPS] + k * at.LOOP_ROW, IE[at.NODES] + k * at.NODE_ROW
    kind, row = get(IE, loop + at.L_KIND), get(IE, loop + at.L_ROW)
    a, b = get(IE, loop + at.L_BODY_A), get(IE, loop + at.L_BODY_B)
    x_a, x_b = node_place(I, X, XE, a, node + at.N_PLACE_A), node_place(I, X, XE, b, node + at.N_PLACE_B)
    d = x_a - x_b
    error = IE[at.ERROR] + row
    if kind == at.DISTANCE:
        distance = math.sqrt(dot(d, d))
        put_halves(I, X, IE, XE, row, a, b, x_a, zero(), (1.0 / distance) * d)
        put(XE, error, distance - get(XE, node + at.N_FIRST))
        return
    b_x, b_y, b_z = axes_of_b(I, X, XE, b, node)
    for i in range(get(IE, loop + at.L_ROWS)):
        turn, slide = direction(IE, XE, row + i, b_x, b_y, b_z)
        put_halves(I, X, IE, XE, row + i, a, b, x_a, turn, slide)
    if kind != at.FIXED:
        a_x = node_axis(I, X, XE, a, node + at.N_AXES_A)
        a_y = node_axis(I, X, XE, a, node + at.N_AXES_A + 4)
        a_z = node_axis(I, X, XE, a, node + at.N_AXES_A + 8)
        if kind == at.TURNING:
            first, second, third = turn_error(a_x, a_y, a_z, b_x, b_y, b_z)
            put(XE, error + 2, third)
            error += 3
        else:
            x, y = load(XE, node + at.N_FIRST), load(XE, node + at.N_SECOND)
            p = cross(x, y)
            first, second = lean(x, y, p, a_x, a_y, a_z, b_x, b_y, b_z)
            error += 2
        put(XE, IE[at.ERROR] + row, first)
        put(XE, IE[at.ERROR] + row + 1, second)
    put(XE, error, dot(b_x, d))
    put(XE, error + 1, dot(b_y, d))
    put(XE, error + 2, dot(b_z, d))


@inline
def axes_of_b(I, X, XE, b, node):
    """Return the axes of a closure's node B in the world."""
    return (
        node_axis(I, X, XE, b, node + at.N_AXES_B),
        node_axis(I, X, XE, b, node + at.N_AXES_B + 4),
        node_axis(I, X, XE, b, node + at.N_AXES_B + 8),
    )


@inline
def direction(IE, XE, row, b_x, b_y, b_z):
    """Return what a row turns about and slides along, given in the axes of B."""
    o = IE[at.DIRECTIONS] + row * PAIR
    turn = get(XE, o) * b_x + get(XE, o + 1) * b_y + get(XE, o + 2) * b_z
    return turn, get(XE, o + 4) * b_x + get(XE, o + 5) * b_y + get(XE, o + 6) * b_z


@callee
def biases_between(I, X, IE, XE, k):
    """Write the biases of closure k, which joins two nodes."""
    loop, node = IE[at.LOOPS] + k * at.LOOP_ROW, IE[at.NODES] + k * at.NODE_ROW
    row, bias = get(IE, loop + at.L_ROW), IE[at.BIAS] + get(IE, loop + at.L_ROW)
    a, b = get(IE, loop + at.L_BODY_A), get(IE, loop + at.L_BODY_B)
    x_a, x_b = node_place(I, X, XE, a, node + at.N_PLACE_A), node_place(I, X, XE, b, node + at.N_PLACE_B)
    d = x_a - x_b
    w_a, v_a = point_motion(I, X, a, x_a)
    w_b, v_b = point_motion(I, X, b, x_b)
    A_a, A_b = point_bias(I, X, a, x_a), point_bias(I, X, b, x_b)
    w, u = w_a - w_b, v_a - v_b - cross(w_b, d)
    w_dot = A_a[0] - A_b[0] - cross(w_b, w)
    u_dot = A_a[1] - A_b[1] - cross(A_b[0], d) - cross(w_b, v_a - v_b) - cross(w_b, u)
    if get(IE, loop + at.L_KIND) == at.DISTANCE:
        distance = math.sqrt(dot(d, d))
        n = (1.0 / distance) * d
        along = dot(n, u)
        put(XE, bias, dot(n, u_dot) + (dot(u, u) - along * along) / distance)
        return
    b_x, b_y, b_z = axes_of_b(I, X, XE, b, node)
    for i in range(get(IE, loop + at.L_ROWS)):
        turn, slide = direction(IE, XE, row + i, b_x, b_y, b_z)
        put(XE, bias + i, dot(turn, w_dot) + dot(slide, u_dot))


@inline
def lean(x, y, axis, a_x, a_y, a_z, b_x, b_y, b_z):
    """Return the components about x and y of the smallest rotation vector that brings B's axis onto A's.

    x, y and the axis have the same components in both nodes' axes.
    """
    of_a = in_axes(axis, a_x, a_y, a_z)
    first, second = -dot(in_axes(y, b_x, b_y, b_z), of_a), dot(in_axes(x, b_x, b_y, b_z), of_a)
    sine, cosine = math.sqrt(first * first + second * second), dot(in_axes(axis, b_x, b_y, b_z), of_a)
    share = math.atan2(sine, cosine) / sine if sine > 0.0 else 1.0
    return share * first, share * second


@inline
def in_axes(v, e_x, e_y, e_z):
    """Return the vector whose components along three axes are those of v."""
    return x_of(v) * e_x + y_of(v) * e_y + z_of(v) * e_z


@callee
def gear_row(I, X, IE, XE, k):
    """Write the row of closure k, a gear.

    Of every dof a wrench that meets its column with 1, and no other.
    """
    loop, node = IE[at.LOOPS] + k * at.LOOP_ROW, IE[at.NODES] + k * at.NODE_ROW
    row, first = get(IE, loop + at.L_ROW), get(IE, loop + at.L_TERM)
    h = get(IE, IE[at.HALF_AT] + row)
    total = -get(XE, node + at.N_FIRST)
    for j in range(first, first + get(IE, loop + at.L_TERMS)):
        term, ratio = IE[at.TERMS] + j * at.TERM_ROW, get(XE, IE[at.RATIOS] + j)
        body, parent = get(IE, term + at.T_BODY), get(IE, term + at.T_PARENT)
        x, moment, force = hinge_wrench(I, X, get(IE, term + at.T_DOF), body, get(IE, term + at.T_SLIDES))
        moment, force = ratio * moment, ratio * force
        arm = x - reference_of(I, X, body)
        store_pair(XE, IE[at.HALF_WRENCH] + h * PAIR, (moment + cross(arm, force), force))
        h += 1
        if parent >= 0:
            arm = x - reference_of(I, X, parent)
            store_pair(XE, IE[at.HALF_WRENCH] + h * PAIR, (-moment - cross(arm, force), -force))
            h += 1
        total += ratio * get(X, I[THETA] + max(get(IE, term + at.T_THETA), 0))
    put(XE, IE[at.ERROR] + row, total if get(IE, loop + at.L_PLAIN) != 0 else 0.0)


@inline
def hinge_wrench(I, X, dof, body, slides):
    """Return point, moment and force of a wrench that meets the column of a dof with 1.

    On the dof's body, with its opposite on the parent, it meets the columns of the body's other dofs with 0:
    it acts about the axis, or along it through the hinge.
    """
    angular, linear = load_pair(X, I[DOFS] + dof * DOF + D_COLUMN)
    x = reference_of(I, X, body) + load(X, I[BODIES] + body * BODY + B_POSITION)
    moment, force = angular, zero()
    if slides != 0:
        moment, force = zero(), linear
    return x, moment, force


@callee
def loop_rows(I, X, IE, XE):
    """Write the rows of all closures at a state whose bodies are placed, and their errors.

    RATE and RATE_DOT are the caller's.
    """
    for k in range(IE[at.N_LOOPS]):
        loop = IE[at.LOOPS] + k * at.LOOP_ROW
        if get(IE, loop + at.L_KIND) == at.GEAR:
            gear_row(I, X, IE, XE, k)
        else:
            rows_between(I, X, IE, XE, k)
        if get(IE, loop + at.L_MOVES) != 0:  # the rate alone is prescribed: no position to return to
            row = get(IE, loop + at.L_ROW)
            for i in range(row, row + get(IE, loop + at.L_ROWS)):
                put(XE, IE[at.ERROR] + i, 0.0)


@callee
def loop_biases(I, X, IE, XE):
    """Write the biases of all closures, Ġ_b θ̇, at a state whose bodies are placed; gears have none."""
    for k in range(IE[at.N_LOOPS]):
        if get(IE, IE[at.LOOPS] + k * at.LOOP_ROW + at.L_KIND) != at.GEAR:
            biases_between(I, X, IE, XE, k)


@callee
def loop_rate(I, X, IE, XE, row, motion):
    """Return what a row makes of a motion of the bodies: B_VELOCITY, or B_ACCELERATION by theta_ddot."""
    rate = 0.0
    for h in range(get(IE, IE[at.HALF_AT] + row), get(IE, IE[at.HALF_AT] + row + 1)):
        V = load_pair(X, I[BODIES] + get(IE, IE[at.HALF_BODY] + h) * BODY + motion)
        rate += inner(load_pair(XE, IE[at.HALF_WRENCH] + h * PAIR), V)
    return rate


@callee
def largest_error(IE, XE):
    """Return by how much the loops are open, the largest error of their rows."""
    largest = 0.0
    for i in range(IE[at.N_ROWS]):
        largest = max(largest, abs(get(XE, IE[at.ERROR] + i)))
    return largest
