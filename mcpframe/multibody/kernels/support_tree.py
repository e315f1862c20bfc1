"""The compressed support tree of rows: the bodies on paths to them, and lanes for those of every vertex.

A vertex is a body that carries rows or where such paths branch; vertices are listed depth first.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put, store, zero
from mcpframe.multibody.memory.records import N_BODIES, PARENT, TREE, TREE_ROW
from mcpframe.multibody.memory.row_records import (
    ABOVE,
    BELOW_PART,
    CHILDREN,
    LAMBDA,
    LANE_WRENCH,
    MARK,
    N_LANES,
    N_ROWS,
    N_VERTICES,
    OFF,
    PARTS,
    PATH,
    PLANNED,
    ROW_BODY,
    ROW_LANE,
    ROW_ROOT,
    V_ABOVE,
    V_BODY,
    V_END,
    V_JUNCTION,
    V_OWN,
    V_ROWS,
    V_START,
    VERTEX,
    VERTEX_AT,
    VERTEX_ROW,
    VERTICES,
)


@inline
def marks(I, IR):
    """Mark the bodies on paths to rows: MARK, and in ABOVE the number of rows that a body carries itself."""
    n, tree, rows = I[N_BODIES], I[TREE], IR[N_ROWS]
    row_body, mark, above, children = IR[ROW_BODY], IR[MARK], IR[ABOVE], IR[CHILDREN]
    for k in range(n):
        put(IR, above + k, 0)
        put(IR, children + k, 0)
    for i in range(rows):
        k = above + get(IR, row_body + i)
        put(IR, k, get(IR, k) + 1)
    for k in range(n - 1, -1, -1):
        own, branches = get(IR, above + k), get(IR, children + k)
        if own == 0 and branches == 0:
            put(IR, mark + k, OFF)
            continue
        parent = get(I, tree + k * TREE_ROW + PARENT)
        if parent >= 0:
            put(IR, children + parent, get(IR, children + parent) + 1)
        put(IR, mark + k, VERTEX if own > 0 or branches > 1 else PATH)


@inline
def vertex_lanes(I, IR):
    """List the vertices depth first with their lanes; ABOVE becomes the vertex above each marked body."""
    n, tree = I[N_BODIES], I[TREE]
    mark, above, vertex_at, children, table = IR[MARK], IR[ABOVE], IR[VERTEX_AT], IR[CHILDREN], IR[VERTICES]
    count, lane = 0, 0
    for k in range(n):
        if get(IR, mark + k) == OFF:
            continue
        own, parent, up = get(IR, above + k), get(I, tree + k * TREE_ROW + PARENT), -1
        if parent >= 0:
            up = get(IR, (vertex_at if get(IR, mark + parent) == VERTEX else above) + parent)
        put(IR, above + k, up)
        if get(IR, mark + k) != VERTEX:
            continue
        v = table + count * VERTEX_ROW
        put(IR, vertex_at + k, count)
        put(IR, v + V_BODY, k)
        put(IR, v + V_ABOVE, up)
        put(IR, v + V_START, lane)
        put(IR, v + V_OWN, lane)
        lane += (own + 3) // 4 * 4
        put(IR, v + V_END, lane)
        junction = PARTS if get(IR, children + k) > 1 else 0
        if up >= 0 and get(IR, table + up * VERTEX_ROW + V_JUNCTION) != 0:
            junction |= BELOW_PART
        put(IR, v + V_JUNCTION, junction)
        count += 1
    put(IR, N_VERTICES, count)
    put(IR, N_LANES, lane)


@inline
def row_lanes(IR):
    """Close the vertices' lane ranges and give every row its lane."""
    count, table = get(IR, N_VERTICES), IR[VERTICES]
    vertex_at, row_body, row_lane = IR[VERTEX_AT], IR[ROW_BODY], IR[ROW_LANE]
    for i in range(IR[N_ROWS]):
        root = get(IR, vertex_at + get(IR, row_body + i))
        v = table + root * VERTEX_ROW
        put(IR, row_lane + i, get(IR, v + V_OWN))
        put(IR, v + V_OWN, get(IR, v + V_OWN) + 1)
        while get(IR, table + root * VERTEX_ROW + V_ABOVE) >= 0:
            root = get(IR, table + root * VERTEX_ROW + V_ABOVE)
        put(IR, IR[ROW_ROOT] + i, root)
    for j in range(count - 1, -1, -1):
        v = table + j * VERTEX_ROW
        start = get(IR, v + V_START)
        taken = get(IR, v + V_OWN) - start
        put(IR, v + V_ROWS, taken)
        put(IR, v + V_OWN, start + (taken + 3) // 4 * 4)
        up = get(IR, v + V_ABOVE)
        if up >= 0:
            u = table + up * VERTEX_ROW + V_END
            put(IR, u, max(get(IR, u), get(IR, v + V_END)))


@inline
def clear_lanes(IR, XR):
    """Set to zero what no row fills: lanes without a row, and LAMBDA between different trees.

    A workspace that is planned again holds there what other rows have left.
    """
    n_lanes = get(IR, N_LANES)
    for i in range(0, 6 * n_lanes, 4):
        store(XR, IR[LANE_WRENCH] + i, zero())
    for i in range(0, n_lanes * n_lanes, 4):
        store(XR, IR[LAMBDA] + i, zero())


@callee
def support_tree(I, IR, XR):
    """Plan the compressed support tree of the rows, vertices and lanes; the plan is kept."""
    if get(IR, PLANNED) == 0:
        marks(I, IR)
        vertex_lanes(I, IR)
        row_lanes(IR)
        clear_lanes(IR, XR)
        put(IR, PLANNED, 1)
