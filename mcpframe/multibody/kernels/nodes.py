"""Nodes: six unit wrenches each, their compliance, velocities and bias accelerations, in world axes."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, x_of, y_of, z_of
from mcpframe.multibody.memory.records import (
    B_BIAS,
    B_POSITION,
    B_ROTATION,
    B_SHIFT,
    B_VELOCITY,
    BODIES,
    BODY,
    D_COLUMN,
    DOF,
    DOF_AT,
    DOFS,
    GRAVITY,
    N_DOF,
    N_DOFS,
    PARENT,
    SECTION,
    TREE,
    TREE_ROW,
)
from mcpframe.multibody.memory.row_records import (
    LAMBDA,
    LANE_WRENCH,
    N_LANES,
    N_NODES,
    NODE_BODY,
    NODES,
    RESULT,
    ROW_LANE,
)
from mcpframe.spatial.algebra import combine, cross, load_matrix, load_pair


@inline
def node_position(I, X, IR, XR, i):
    """Return the position of node i relative to its body's reference point."""
    o = I[BODIES] + get(IR, IR[NODE_BODY] + i) * BODY
    return load(X, o + B_POSITION) + combine(load_matrix(X, o + B_ROTATION), XR, IR[NODES] + 4 * i)


@callee
def lanes_of_nodes(I, X, IR, XR):
    """Write the unit wrenches of every node into its lanes: moments (e, 0), then forces (x cross e, e)."""
    n, lane_wrench = IR[N_LANES], IR[LANE_WRENCH]
    for i in range(IR[N_NODES]):
        x = node_position(I, X, IR, XR, i)
        o = lane_wrench + get(IR, IR[ROW_LANE] + 6 * i)
        for j in range(6):
            put(XR, o + j * n + j, 1.0)
        put(XR, o + n + 3, z_of(x))
        put(XR, o + 2 * n + 3, -y_of(x))
        put(XR, o + 4, -z_of(x))
        put(XR, o + 2 * n + 4, x_of(x))
        put(XR, o + 5, y_of(x))
        put(XR, o + n + 5, -x_of(x))


@callee
def compliance_of_nodes(IR, XR):
    """Write the symmetric Lambda [6 n_c, 6 n_c] to RESULT; the six lanes of a node are neighbours."""
    n, n_lanes, row_lane = 6 * IR[N_NODES], IR[N_LANES], IR[ROW_LANE]
    for i in range(0, n, 6):
        a = get(IR, row_lane + i)
        for j in range(0, i + 1, 6):
            b = get(IR, row_lane + j)
            block = IR[LAMBDA] + max(a, b) * n_lanes + min(a, b)
            below, above = IR[RESULT] + i * n + j, IR[RESULT] + j * n + i
            if a < b:
                below, above = above, below
            for r in range(6):
                for c in range(6):
                    value = get(XR, block + r * n_lanes + c)
                    put(XR, below + r * n + c, value)
                    put(XR, above + c * n + r, value)


@callee
def velocities_of_nodes(I, X, IR, XR):
    """Write V_c = J theta_dot [n_c, 6] to RESULT."""
    for i in range(IR[N_NODES]):
        w, v = load_pair(X, I[BODIES] + get(IR, IR[NODE_BODY] + i) * BODY + B_VELOCITY)
        put_pair(XR, IR[RESULT] + 6 * i, w, v + cross(w, node_position(I, X, IR, XR, i)))


@callee
def bias_of_nodes(I, X, IR, XR):
    """Write a_os = J_dot theta_dot [n_c, 6] to RESULT: spatial bias to the acceleration of the point."""
    g = load(X, I[GRAVITY])
    for i in range(IR[N_NODES]):
        o = I[BODIES] + get(IR, IR[NODE_BODY] + i) * BODY
        x = node_position(I, X, IR, XR, i)
        w, v = load_pair(X, o + B_VELOCITY)
        w_dot, v_dot = load_pair(X, o + B_BIAS)
        put_pair(XR, IR[RESULT] + 6 * i, w_dot, v_dot + g + cross(w_dot, x) + cross(w, v + cross(w, x)))


@callee
def jacobian_of_nodes(I, X, IR, XR):
    """Write J [6 n_c, N] to RESULT: the hinge columns of every ancestor, moved to the node."""
    n_dofs, tree, dofs, out = I[N_DOFS], I[TREE], I[DOFS], IR[RESULT]
    for j in range(6 * IR[N_NODES] * n_dofs):
        put(XR, out + j, 0.0)
    for i in range(IR[N_NODES]):
        x = node_position(I, X, IR, XR, i)
        k = get(IR, IR[NODE_BODY] + i)
        while k >= 0:
            t = tree + k * TREE_ROW
            first = get(I, t + DOF_AT)
            for d in range(first, first + get(I, t + N_DOF)):
                w, v = load_pair(X, dofs + d * DOF + D_COLUMN)
                put_column(XR, out + 6 * i * n_dofs + d, n_dofs, w, v + cross(w, x))
            if get(I, t + SECTION) == k:
                x = x + load(X, I[BODIES] + k * BODY + B_SHIFT)
            k = get(I, t + PARENT)


@inline
def put_pair(XR, o, w, v):
    """Write a spatial vector as six consecutive numbers."""
    put_column(XR, o, 1, w, v)


@inline
def put_column(XR, o, stride, w, v):
    """Write a spatial vector as six numbers, `stride` apart."""
    put(XR, o, x_of(w))
    put(XR, o + stride, y_of(w))
    put(XR, o + 2 * stride, z_of(w))
    put(XR, o + 3 * stride, x_of(v))
    put(XR, o + 4 * stride, y_of(v))
    put(XR, o + 5 * stride, z_of(v))
