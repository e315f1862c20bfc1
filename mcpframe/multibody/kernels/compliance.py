"""Operational-space compliance Lambda = B* Omega B over given rows, in O(N) + O(n_c^2).

Lambda = J Mass^-1 J* is a compliance [J14, Eq. (51)]; many robotics texts give the letter to its inverse.

Base to tips over the bodies that support rows [J14, Eq. (67)]:
    Upsilon(k) = psi* Upsilon(par(k)) psi + H* D^-1 H,     psi = I - G H,
one hinge column at a time, with phi where a body begins a section. Then, with psi(i, j) the product along
the path from i to j [J14, Eq. (69)],
    Omega(i, j) = psi*(k, i) Upsilon(k) psi(k, j),     k the nearest common ancestor of i and j.
Each psi product is made once per edge of the compressed support tree. Vertices are visited depth first;
REACH(v) holds, for all lanes b before the end of v's own,
    psi*(k, v) Upsilon(k) psi(k, b) w_b,     k = nearest common ancestor of v and b,
so that a row a of v meets a row b in one inner product.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store
from mcpframe.multibody.kernels.support_tree import support_tree
from mcpframe.multibody.memory.records import (
    B_SHIFT,
    BLOCK,
    BODIES,
    BODY,
    D_COLUMN,
    D_GAIN,
    D_INVERSE,
    DOF,
    DOF_AT,
    DOFS,
    N_BODIES,
    N_DOF,
    PAIR,
    PARENT,
    SECTION,
    TREE,
    TREE_ROW,
)
from mcpframe.multibody.memory.row_records import (
    BELOW_PART,
    CARRIED,
    LAMBDA,
    LANE_WRENCH,
    MARK,
    N_LANES,
    N_ROWS,
    N_VERTICES,
    OFF,
    PARTS,
    PSI,
    REACH,
    ROW_LANE,
    ROW_ROOT,
    UPSILON,
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
    WRENCHES,
)
from mcpframe.spatial.algebra import (
    identity_block,
    inner,
    load_block,
    load_pair,
    minus_outer,
    null_block,
    plus_outer,
    scaled,
    shifted_compliance,
    store_block,
    times_phi_star,
    transform,
)


@callee
def upsilon(I, X, IR, XR):
    """Base to tips over the marked bodies: Upsilon [J14, Eq. (67)], kept at the vertices.

    (I - H* G*) Y (I - G H) + H* H / D  =  Y - H* y* + (s H* - y) H,   y = Y G,   s = G* y + 1 / D.
    """
    n, tree, bodies, dofs = I[N_BODIES], I[TREE], I[BODIES], I[DOFS]
    mark, vertex_at, kept = IR[MARK], IR[VERTEX_AT], IR[UPSILON]
    Y = null_block()
    last = -1
    for k in range(n):
        kind = get(IR, mark + k)
        if kind == OFF:
            continue
        parent = get(I, tree + k * TREE_ROW + PARENT)
        if parent < 0:
            Y = null_block()
        elif parent != last:
            Y = load_block(XR, kept + get(IR, vertex_at + parent) * BLOCK)
        if parent >= 0 and get(I, tree + k * TREE_ROW + SECTION) == k:
            Y = shifted_compliance(Y, load(X, bodies + k * BODY + B_SHIFT))
        first = get(I, tree + k * TREE_ROW + DOF_AT)
        for d in range(first, first + get(I, tree + k * TREE_ROW + N_DOF)):
            i = dofs + d * DOF
            H = load_pair(X, i + D_COLUMN)
            y = transform(Y, X, i + D_GAIN)
            s = inner(load_pair(X, i + D_GAIN), y) + get(X, i + D_INVERSE)
            sH = scaled(s, H)
            Y = minus_outer(Y, H, y)
            Y = plus_outer(Y, (sH[0] - y[0], sH[1] - y[1]), X, i + D_COLUMN)
        if kind == VERTEX:
            store_block(XR, kept + get(IR, vertex_at + k) * BLOCK, Y)
        last = k


@callee
def edge_products(I, X, IR, XR):
    """Make psi* once per edge of the support tree, from the vertex above (exclusive) to the vertex."""
    tree, dofs, table, kept = I[TREE], I[DOFS], IR[VERTICES], IR[PSI]
    for j in range(IR[N_VERTICES]):
        v = table + j * VERTEX_ROW
        up = get(IR, v + V_ABOVE)
        if up < 0:
            continue
        top, k = get(IR, table + up * VERTEX_ROW + V_BODY), get(IR, v + V_BODY)
        psi_star = identity_block()
        while k != top:
            t = tree + k * TREE_ROW
            first = get(I, t + DOF_AT)
            for d in range(first + get(I, t + N_DOF) - 1, first - 1, -1):
                i = dofs + d * DOF
                y = transform(psi_star, X, i + D_COLUMN)
                psi_star = plus_outer(psi_star, (-y[0], -y[1]), X, i + D_GAIN)
            if get(I, t + SECTION) == k:
                psi_star = times_phi_star(psi_star, load(X, I[BODIES] + k * BODY + B_SHIFT))
            k = get(I, t + PARENT)
        store_block(XR, kept + j * BLOCK, psi_star)


@inline
def row_times(XR, o, x):
    """Return row . x for the row that begins at XR[o] of a stored 6 x 6 matrix, x six lane vectors."""
    return (
        get(XR, o) * x[0]
        + get(XR, o + 4) * x[1]
        + get(XR, o + 8) * x[2]
        + get(XR, o + 12) * x[3]
        + get(XR, o + 16) * x[4]
        + get(XR, o + 20) * x[5]
    )


@inline
def times(XR, o, x):
    """Return m x for the 6 x 6 matrix stored from XR[o] and four vectors side by side."""
    return (
        row_times(XR, o, x),
        row_times(XR, o + 1, x),
        row_times(XR, o + 2, x),
        row_times(XR, o + 24, x),
        row_times(XR, o + 25, x),
        row_times(XR, o + 26, x),
    )


@inline
def column_times(XR, o, x):
    """Return column . x for the column that begins at XR[o] of a stored 6 x 6 matrix."""
    return (
        get(XR, o) * x[0]
        + get(XR, o + 1) * x[1]
        + get(XR, o + 2) * x[2]
        + get(XR, o + 24) * x[3]
        + get(XR, o + 25) * x[4]
        + get(XR, o + 26) * x[5]
    )


@inline
def transposed_times(XR, o, x):
    """Return m* x for the 6 x 6 matrix stored from XR[o] and four vectors side by side."""
    return (
        column_times(XR, o, x),
        column_times(XR, o + 4, x),
        column_times(XR, o + 8, x),
        column_times(XR, o + 12, x),
        column_times(XR, o + 16, x),
        column_times(XR, o + 20, x),
    )


@inline
def load_lanes(XR, o, stride):
    """Return four spatial vectors side by side: six lane vectors, `stride` apart."""
    return (
        load(XR, o),
        load(XR, o + stride),
        load(XR, o + 2 * stride),
        load(XR, o + 3 * stride),
        load(XR, o + 4 * stride),
        load(XR, o + 5 * stride),
    )


@inline
def store_lanes(XR, o, stride, x):
    """Store four spatial vectors side by side."""
    store(XR, o, x[0])
    store(XR, o + stride, x[1])
    store(XR, o + 2 * stride, x[2])
    store(XR, o + 3 * stride, x[3])
    store(XR, o + 4 * stride, x[4])
    store(XR, o + 5 * stride, x[5])


@callee
def fill_lanes(IR, XR):
    """Put the rows' wrenches into their lanes; lanes without a row stay zero, as they were planned."""
    n_lanes, wrenches, lane_wrench, row_lane = IR[N_LANES], IR[WRENCHES], IR[LANE_WRENCH], IR[ROW_LANE]
    for i in range(IR[N_ROWS]):
        lane = lane_wrench + get(IR, row_lane + i)
        for a in range(3):
            put(XR, lane + a * n_lanes, get(XR, wrenches + i * PAIR + a))
            put(XR, lane + (a + 3) * n_lanes, get(XR, wrenches + i * PAIR + 4 + a))


@inline
def reach_of_branches(IR, XR):
    """At every junction, REACH of the lanes below it: Upsilon(k) psi(k, b) w_b, tips to base."""
    n_lanes, table = IR[N_LANES], IR[VERTICES]
    carried, wrench, reach = IR[CARRIED], IR[LANE_WRENCH], IR[REACH]
    for i in range(0, 6 * n_lanes, 4):
        store(XR, carried + i, load(XR, wrench + i))
    for j in range(IR[N_VERTICES] - 1, -1, -1):
        v = table + j * VERTEX_ROW
        end, junction = get(IR, v + V_END), get(IR, v + V_JUNCTION)
        if junction & PARTS:
            for b in range(get(IR, v + V_OWN), end, 4):
                x = times(XR, IR[UPSILON] + j * BLOCK, load_lanes(XR, carried + b, n_lanes))
                store_lanes(XR, reach + j * 6 * n_lanes + b, n_lanes, x)
        if junction & BELOW_PART:
            for b in range(get(IR, v + V_START), end, 4):
                x = transposed_times(XR, IR[PSI] + j * BLOCK, load_lanes(XR, carried + b, n_lanes))
                store_lanes(XR, carried + b, n_lanes, x)


@inline
def meet(XR, wrench, a, n_lanes, x):
    """Return w_a* x for the wrench in lane a and four vectors side by side."""
    o = wrench + a
    return (
        get(XR, o) * x[0]
        + get(XR, o + n_lanes) * x[1]
        + get(XR, o + 2 * n_lanes) * x[2]
        + get(XR, o + 3 * n_lanes) * x[3]
        + get(XR, o + 4 * n_lanes) * x[4]
        + get(XR, o + 5 * n_lanes) * x[5]
    )


@callee
def omega(IR, XR):
    """Fill LAMBDA[a, b] = w_a* Omega w_b for all lanes b up to the end of a's vertex [J14, Eq. (69)].

    Different trees do not couple: between them LAMBDA stays zero, as it was planned.
    """
    n_lanes, table, wrench, reach, Lambda = IR[N_LANES], IR[VERTICES], IR[LANE_WRENCH], IR[REACH], IR[LAMBDA]
    reach_of_branches(IR, XR)
    root = 0
    for j in range(IR[N_VERTICES]):
        v = table + j * VERTEX_ROW
        up, start, own = get(IR, v + V_ABOVE), get(IR, v + V_START), get(IR, v + V_OWN)
        mine = reach + j * 6 * n_lanes
        if up < 0:
            root = start
        for b in range(root, start, 4):
            x = load_lanes(XR, reach + up * 6 * n_lanes + b, n_lanes)
            store_lanes(XR, mine + b, n_lanes, times(XR, IR[PSI] + j * BLOCK, x))
        for b in range(start, own, 4):
            x = load_lanes(XR, wrench + b, n_lanes)
            store_lanes(XR, mine + b, n_lanes, times(XR, IR[UPSILON] + j * BLOCK, x))
        for b in range(root, own, 4):
            x = load_lanes(XR, mine + b, n_lanes)
            for a in range(start, start + get(IR, v + V_ROWS)):
                store(XR, Lambda + a * n_lanes + b, meet(XR, wrench, a, n_lanes, x))


@callee
def compliance_of_lanes(I, X, IR, XR):
    """Lambda between all lanes; needs the sweep's gains."""
    upsilon(I, X, IR, XR)
    edge_products(I, X, IR, XR)
    omega(IR, XR)


@callee
def compliance_of_rows(I, X, IR, XR):
    """Lambda between all rows, in lanes; needs the sweep's gains."""
    support_tree(I, IR, XR)
    fill_lanes(IR, XR)
    compliance_of_lanes(I, X, IR, XR)


@callee
def block_between(IR, XR, h, m, s, k, l, t, out, stride):
    """Write a block of sums of Lambda over rows to XR[out], its own rows a stride apart.

    Row i of the block sums the rows from h + i s on, one on each of s bodies; column j likewise those from
    k + j t on. Rows on one body have evenly spaced lanes.
    """
    n_lanes, lanes, roots, more = IR[N_LANES], IR[ROW_LANE], IR[ROW_ROOT], False
    for side in range(s):
        a, root, down = get(IR, lanes + h + side), get(IR, roots + h + side), 0
        if m > 1:
            down = get(IR, lanes + h + s + side) - a
        for other in range(t):
            if get(IR, roots + k + other) != root:
                continue
            b, right = get(IR, lanes + k + other), 0
            if l > 1:
                right = get(IR, lanes + k + t + other) - b
            at, down_by, right_by = IR[LAMBDA] + a * n_lanes + b, down * n_lanes, right
            if a < b:  # the half that is stored
                at, down_by, right_by = IR[LAMBDA] + b * n_lanes + a, down, right * n_lanes
            if more:
                put_block(XR, at, down_by, right_by, out, stride, m, l, True)
            else:
                put_block(XR, at, down_by, right_by, out, stride, m, l, False)
            more = True
    if not more:
        for i in range(m):
            for j in range(l):
                put(XR, out + i * stride + j, 0.0)


@inline
def put_block(XR, at, down, right, out, stride, m, l, more):
    """Write a block of m x l entries at XR[at], `down` and `right` apart, to XR[out]; `more`: on top."""
    if m == 3 and l == 3:  # of a contact or a ball, unrolled
        for i in range(3):
            for j in range(3):
                put_entry(XR, at + i * down + j * right, out + i * stride + j, more)
    else:
        for i in range(m):
            for j in range(l):
                put_entry(XR, at + i * down + j * right, out + i * stride + j, more)


@inline
def put_entry(XR, at, out, more):
    """Write XR[at] to XR[out]; `more`: add it."""
    put(XR, out, get(XR, out) + get(XR, at) if more else get(XR, at))
