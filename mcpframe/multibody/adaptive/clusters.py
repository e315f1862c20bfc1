"""Clusters: the whole with its rigid joints becomes a smaller tree in the same layout, O(n).

A cluster's frame is that of the body whose hinge carries it. With (R, r) a body in that frame,

    R(k) = R(par) C(k) hinge(θ),   r(k) = r(par) + R(par) p(k),
    m = Σ m_k,   h = Σ m_k c_k,   J = Σ R J_k R* + m_k (c_k·c_k 1 - c_k c_k*),   c_k = r + R com_k.

What is carried by an active joint begins a cluster, and so does what hangs on the world.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store, vector, zero
from mcpframe.multibody.adaptive import records as at
from mcpframe.multibody.adaptive.piece_records import MOVED, N_MOVED
from mcpframe.multibody.kernels.articulated import rotated_inertia
from mcpframe.multibody.kernels.kinematics import carried_frame, moved_by_hinge
from mcpframe.multibody.kernels.spans import span_all
from mcpframe.multibody.memory.packing import REACH, ROUNDING
from mcpframe.multibody.memory.records import (
    ADD,
    ANGLES,
    BALL,
    BRANCHED,
    C_COM,
    C_INERTIA,
    C_MASS,
    C_POSITION,
    C_ROTATION,
    CARRY,
    CONSTANT,
    CONSTANTS,
    D_ARMATURE,
    D_LEAST,
    DOF,
    DOF_AT,
    DOFS,
    DROP,
    FREE,
    JOIN,
    KIND,
    N_BODIES,
    N_DOF,
    N_DOFS,
    N_THETA,
    OPEN,
    PARENT,
    PIN,
    PRISMATIC,
    SECTION,
    THETA,
    THETA_AT,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.spatial.algebra import about_origin, combine, identity, load_matrix, plus_matrix, store_matrix


@inline
def n_theta_of(kind, n_dof):
    """Return how many coordinates a hinge has."""
    return n_dof + 1 if kind in (BALL, FREE) else n_dof


@inline
def add_mass(IT, XT, k, XA, place, row):
    """Add the mass of a body, placed, to a row of MASSES."""
    c = IT[CONSTANTS] + k * CONSTANT
    m = get(XT, c + C_MASS)
    if m > 0.0:
        com = load(XA, place + at.PL_POSITION) + combine(load_matrix(XA, place), XT, c + C_COM)
        J = about_origin(rotated_inertia(XA, place, XT, c + C_INERTIA), m, com)
        mass = m + get(XA, row + at.MA_MASS)
        store(XA, row, load(XA, row) + m * com)
        put(XA, row + at.MA_MASS, mass)
        store_matrix(XA, row + at.MA_INERTIA, plus_matrix(load_matrix(XA, row + at.MA_INERTIA), J))


@inline
def begin_cluster(IT, XT, IA, I, X, k, c, above, R, r):
    """Write hinge, frame, coordinates and rates of the cluster c that begins with body k; no mass yet.

    It is carried by the cluster `above`, in whose frame its hinge is at (R, r).
    """
    t, u = IT[TREE] + k * TREE_ROW, I[TREE] + c * TREE_ROW
    kind, n_dof = get(IT, t + KIND), get(IT, t + N_DOF)
    put(I, u + PARENT, above)
    put(I, u + KIND, kind)
    put(I, u + N_DOF, n_dof)
    put(I, u + THETA_AT, I[N_THETA])
    put(I, u + DOF_AT, I[N_DOFS])
    o = I[CONSTANTS] + c * CONSTANT
    store_matrix(X, o + C_ROTATION, R)
    store(X, o + C_POSITION, r)
    for i in range(n_theta_of(kind, n_dof)):
        put(X, I[THETA] + I[N_THETA] + i, get(XT, IT[THETA] + get(IT, t + THETA_AT) + i))
    for i in range(n_dof):
        d, e = get(IT, t + DOF_AT) + i, I[N_DOFS] + i
        put(X, I[THETA_DOT] + e, get(XT, IT[THETA_DOT] + d))
        put(X, I[DOFS] + e * DOF + D_ARMATURE, get(XT, IT[DOFS] + d * DOF + D_ARMATURE))
    put(I, N_THETA, I[N_THETA] + n_theta_of(kind, n_dof))
    put(I, N_DOFS, I[N_DOFS] + n_dof)
    put(IA, IA[at.HINGE_BODY] + c, k)
    put(IA, IA[at.N_INSIDE] + c, 0)


@callee
def forget_places(IT, IA):
    """Know no place of a body any more: joints that were rigid have moved."""
    for k in range(IT[N_BODIES]):
        put(IA, IA[at.HEAD] + k, -1)


@callee
def find_heads(IT, IA):
    """Write HEAD of every body, and which clusters have CHANGED."""
    for k in range(IT[N_BODIES]):
        put(IA, IA[at.CHANGED] + k, 0)
    for k in range(IT[N_BODIES]):
        parent, head = get(IT, IT[TREE] + k * TREE_ROW + PARENT), k
        if parent >= 0 and get(IA, IA[at.ACTIVE] + get(IA, IA[at.BODY_LINK] + k)) == 0:
            head = get(IA, IA[at.HEAD] + parent)
        before = get(IA, IA[at.HEAD] + k)
        if before != head:
            put(IA, IA[at.HEAD] + k, head)
            put(IA, IA[at.CHANGED] + head, 1)
            if before >= 0:
                put(IA, IA[at.CHANGED] + before, 1)


@inline
def begin_masses(XA, row):
    """Have a row of MASSES hold nothing."""
    store(XA, row, zero())
    store_matrix(XA, row + at.MA_INERTIA, (zero(), zero(), zero()))


@callee
def place_bodies(IT, XT, IA, XA, I, X):
    """Give every body of the whole its cluster and its place there; gather masses.

    Clusters that have not changed keep their places and masses; bodies of the others are MOVED.
    """
    find_heads(IT, IA)
    put(I, N_THETA, 0)
    put(I, N_DOFS, 0)
    n, theta, sines, n_c, moved, at_hand = IT[N_BODIES], IT[THETA], IT[ANGLES] + IT[N_BODIES], 0, 0, -1
    R, r = identity(), zero()
    for k in range(n):
        t = IT[TREE] + k * TREE_ROW
        parent, head = get(IT, t + PARENT), get(IA, IA[at.HEAD] + k)
        changed = get(IA, IA[at.CHANGED] + head) != 0
        cluster = n_c if head == k else get(IA, IA[at.CLUSTER] + parent)
        put(IA, IA[at.CLUSTER] + k, cluster)
        if head == k or changed:
            if parent < 0:
                R, r = identity(), zero()
            elif parent != at_hand:
                p = IA[at.PLACES] + parent * at.PLACE
                R, r = load_matrix(XA, p), load(XA, p + at.PL_POSITION)
            c, row = IT[CONSTANTS] + k * CONSTANT, IA[at.MASSES] + head * at.MASSES_ROW
            R, r = carried_frame(R, r, XT, c + C_ROTATION, c + C_POSITION)
            if head == k:
                above = get(IA, IA[at.CLUSTER] + parent) if parent >= 0 else -1
                begin_cluster(IT, XT, IA, I, X, k, cluster, above, R, r)
                n_c += 1
                R, r = identity(), zero()
                if changed:
                    begin_masses(XA, row)
            else:
                kind, q = get(IT, t + KIND), theta + get(IT, t + THETA_AT)
                R, r = moved_by_hinge(kind, R, r, XT, q, get(XT, sines + k), get(XT, sines + n + k))
            at_hand = k
            if changed:
                p = IA[at.PLACES] + k * at.PLACE
                store_matrix(XA, p, R)
                store(XA, p + at.PL_POSITION, r)
                add_mass(IT, XT, k, XA, p, row)
                put(IA, IA[MOVED] + moved, k)
                moved += 1
        put(IA, IA[at.N_INSIDE] + cluster, get(IA, IA[at.N_INSIDE] + cluster) + 1)
    put(IA, N_MOVED, moved)
    put(I, N_BODIES, n_c)
    put(IA, at.N_CLUSTERS, n_c)
    span_all(I)


@callee
def write_masses(IT, XT, IA, XA, I, X):
    """Write mass, centre of mass and inertia of every cluster; those of a single body as they are."""
    for c in range(I[N_BODIES]):
        head = get(IA, IA[at.HINGE_BODY] + c)
        o, row = I[CONSTANTS] + c * CONSTANT, IA[at.MASSES] + head * at.MASSES_ROW
        m = get(XA, row + at.MA_MASS)
        if get(IA, IA[at.N_INSIDE] + c) == 1 or m == 0.0:
            own = IT[CONSTANTS] + head * CONSTANT
            for i in range(C_COM, CONSTANT):
                put(X, o + i, get(XT, own + i))
        else:
            com = vector(get(XA, row) / m, get(XA, row + 1) / m, get(XA, row + 2) / m)
            store(X, o + C_COM, com)
            put(X, o + C_MASS, m)
            store_matrix(X, o + C_INERTIA, about_origin(load_matrix(XA, row + at.MA_INERTIA), -m, com))


@inline
def length_of(X, i):
    """Return the length of the 3-vector at X[i]."""
    return math.sqrt(get(X, i) ** 2 + get(X, i + 1) ** 2 + get(X, i + 2) ** 2)


@inline
def trace_at(X, o):
    """Return the trace of the inertia of a body whose constants begin at X[o]."""
    return get(X, o + C_INERTIA) + get(X, o + C_INERTIA + 5) + get(X, o + C_INERTIA + 10)


@callee
def measure(I, X, IA, XA):
    """Write moments and size of every cluster, and the way to its hinge; one without mass is as its child."""
    for k in range(I[N_BODIES]):
        o = I[CONSTANTS] + k * CONSTANT
        m, arm, trace, size = get(X, o + C_MASS), length_of(X, o + C_COM), trace_at(X, o), 0.0
        if m > 0.0:
            size = math.sqrt(max(trace / (2.0 * m), 0.0) + arm * arm)
        put(XA, IA[at.SIZE] + k, size)
        put(XA, IA[at.WAY] + k, length_of(X, o + C_POSITION))
        put(XA, IA[at.MASS] + k, m)
        put(XA, IA[at.FIRST] + k, m * arm)
        put(XA, IA[at.SECOND] + k, m * arm * arm + trace)
    for k in range(I[N_BODIES] - 1, 0, -1):
        parent = get(I, I[TREE] + k * TREE_ROW + PARENT)
        if parent >= 0 and get(X, I[CONSTANTS] + parent * CONSTANT + C_MASS) == 0.0:
            i = IA[at.SIZE] + parent
            put(XA, i, max(get(XA, i), get(XA, IA[at.SIZE] + k)))


@callee
def begin_sections(I, IA, XA):
    """Write SECTION of every cluster; see `packing._sections`, whose rule this is."""
    for k in range(I[N_BODIES]):
        t = I[TREE] + k * TREE_ROW
        parent, kind = get(I, t + PARENT), get(I, t + KIND)
        section, distance, slid = k, 0.0, 1 if kind == PRISMATIC else 0
        if parent >= 0 and kind != FREE:
            carried = get(IA, IA[at.SLID] + parent)
            way = get(XA, IA[at.DISTANCE] + parent) + get(XA, IA[at.WAY] + k)
            turns = carried != 0 and kind in (PIN, BALL)
            if not turns and way <= REACH * get(XA, IA[at.SIZE] + k):
                section, distance = get(I, I[TREE] + parent * TREE_ROW + SECTION), way
                slid = max(slid, carried)
        put(I, t + SECTION, section)
        put(XA, IA[at.DISTANCE] + k, distance)
        put(IA, IA[at.SLID] + k, slid)


@callee
def least_inertias(I, X, IA, XA):
    """Write D_LEAST of every dof; see `packing._least_inertia`, whose rule this is."""
    mass, first, second = IA[at.MASS], IA[at.FIRST], IA[at.SECOND]
    for k in range(I[N_BODIES] - 1, -1, -1):
        t = I[TREE] + k * TREE_ROW
        parent, kind = get(I, t + PARENT), get(I, t + KIND)
        m, h, J, x = get(XA, mass + k), get(XA, first + k), get(XA, second + k), get(XA, IA[at.DISTANCE] + k)
        inertia = J + 2.0 * x * h + x * x * m
        for i in range(get(I, t + N_DOF)):
            slides = kind == PRISMATIC or (kind == FREE and i < 3)
            dof = I[DOFS] + (get(I, t + DOF_AT) + i) * DOF
            put(X, dof + D_LEAST, ROUNDING * (m if slides else inertia))
        if parent >= 0:
            s = get(XA, IA[at.WAY] + k)
            put(XA, second + parent, get(XA, second + parent) + J + 2.0 * s * h + s * s * m)
            put(XA, first + parent, get(XA, first + parent) + h + s * m)
            put(XA, mass + parent, get(XA, mass + parent) + m)


@callee
def write_joins(I):
    """Write how clusters hand their inertia on, in the order of the sweep; see `packing._join`."""
    for k in range(I[N_BODIES]):
        put(I, I[TREE] + k * TREE_ROW + BRANCHED, 0)
    for k in range(I[N_BODIES] - 1, -1, -1):
        t = I[TREE] + k * TREE_ROW
        parent = get(I, t + PARENT)
        join = DROP if parent < 0 else CARRY
        if parent >= 0 and parent != k - 1:
            above = I[TREE] + parent * TREE_ROW + BRANCHED
            join = ADD if get(I, above) != 0 else OPEN
            put(I, above, 1)
        put(I, t + JOIN, join)


@callee
def finish_clusters(IT, XT, IA, XA, I, X):
    """Write all else of clusters whose hinges and masses are there."""
    write_masses(IT, XT, IA, XA, I, X)
    measure(I, X, IA, XA)
    begin_sections(I, IA, XA)
    least_inertias(I, X, IA, XA)
    write_joins(I)


@callee
def compress(IT, XT, IA, XA, I, X):
    """Write the clusters to I and X; ANGLES of the whole are there."""
    place_bodies(IT, XT, IA, XA, I, X)
    finish_clusters(IT, XT, IA, XA, I, X)


@callee
def spread(I, X, IA, IT, XT):
    """Write coordinates and rates of the clusters to the whole."""
    for c in range(I[N_BODIES]):
        u, t = I[TREE] + c * TREE_ROW, IT[TREE] + get(IA, IA[at.HINGE_BODY] + c) * TREE_ROW
        kind, n_dof = get(I, u + KIND), get(I, u + N_DOF)
        for i in range(n_theta_of(kind, n_dof)):
            there = IT[THETA] + get(IT, t + THETA_AT) + i
            put(XT, there, get(X, I[THETA] + get(I, u + THETA_AT) + i))
        for i in range(n_dof):
            there = IT[THETA_DOT] + get(IT, t + DOF_AT) + i
            put(XT, there, get(X, I[THETA_DOT] + get(I, u + DOF_AT) + i))
