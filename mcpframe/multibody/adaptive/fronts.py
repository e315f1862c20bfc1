"""Fronts: the nodes below the opened ones, which are the clusters of a body; nothing is done for all links.

A node is *opened* where its joint is active, and then so are all nodes above it. What is left, in the order
of the first links, are *parts*: clusters of the active joints, or smaller ones for a choice.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store, zero
from mcpframe.multibody.adaptive import piece_records as at
from mcpframe.multibody.adaptive import records
from mcpframe.multibody.adaptive.clusters import begin_cluster, finish_clusters
from mcpframe.multibody.adaptive.pieces import piece_of, seat_of
from mcpframe.multibody.adaptive.records import (
    NODE_A,
    NODE_B,
    NODE_FORM,
    NODE_JOINT,
    NODE_LINK,
    NODE_ROW,
    NODE_TIP,
    NODE_UP,
    NODES,
)
from mcpframe.multibody.kernels.kinematics import carried_frame
from mcpframe.multibody.kernels.spans import span_all
from mcpframe.multibody.memory.records import (
    C_POSITION,
    C_ROTATION,
    CONSTANT,
    CONSTANTS,
    N_BODIES,
    N_DOFS,
    N_THETA,
    PARENT,
    TREE,
    TREE_ROW,
)
from mcpframe.spatial.algebra import identity, load_matrix, store_matrix


@inline
def node_entry(IA, node, column):
    """Return a number of a node's row."""
    return get(IA, IA[NODES] + node * NODE_ROW + column)


@inline
def is_open(IA, joint):
    """Return whether the node of a joint is opened."""
    if joint < 0:
        return False
    return get(IA, IA[records.ACTIVE] + joint) != 0 or get(IA, IA[at.AWAKE] + joint) != 0


@callee
def sort_parts(IA, n):
    """Bring the parts into the order of their first links; nearly sorted as they come."""
    parts = IA[at.PART_NODE]
    for i in range(1, n):
        node = get(IA, parts + i)
        link, j = node_entry(IA, node, NODE_LINK), i
        while j > 0 and node_entry(IA, get(IA, parts + j - 1), NODE_LINK) > link:
            put(IA, parts + j, get(IA, parts + j - 1))
            j -= 1
        put(IA, parts + j, node)


@callee
def find_parts(IT, IA):
    """Write the parts below what is active or awake, the part above each, and the opened nodes."""
    n, opened, size = 0, 0, 0
    for i in range(IA[records.N_ROOTS] - 1, -1, -1):
        put(IA, IA[at.STACK] + size, get(IA, IA[records.ROOTS] + i))
        size += 1
    while size > 0:
        size -= 1
        node = get(IA, IA[at.STACK] + size)
        if is_open(IA, node_entry(IA, node, NODE_JOINT)):
            put(IA, IA[at.OPENED] + opened, node)
            opened += 1
            put(IA, IA[at.STACK] + size, node_entry(IA, node, NODE_B))
            put(IA, IA[at.STACK] + size + 1, node_entry(IA, node, NODE_A))
            size += 2
        else:
            put(IA, IA[at.PART_NODE] + n, node)
            n += 1
    sort_parts(IA, n)
    for i in range(n):
        node = get(IA, IA[at.PART_NODE] + i)
        put(IA, IA[at.TIP_PART] + node_entry(IA, node, NODE_TIP), i)
        parent = get(IT, IT[TREE] + node_entry(IA, node, NODE_LINK) * TREE_ROW + PARENT)
        put(IA, IA[at.PART_UP] + i, get(IA, IA[at.TIP_PART] + parent) if parent >= 0 else -1)
    put(IA, at.N_PARTS, n)
    put(IA, at.N_OPENED, opened)


@callee
def wake(IA, link):
    """Open all nodes down to a single link."""
    node = node_entry(IA, get(IA, IA[at.LEAF_OF] + link), NODE_UP)
    while node >= 0:
        joint = node_entry(IA, node, NODE_JOINT)
        if is_open(IA, joint):
            return
        put(IA, IA[at.AWAKE] + joint, 1)
        put(IA, IA[at.AWAKE_LIST] + IA[at.N_AWAKE], joint)
        put(IA, at.N_AWAKE, IA[at.N_AWAKE] + 1)
        node = node_entry(IA, node, NODE_UP)


@callee
def let_sleep(IA):
    """Close all nodes that were opened for a choice alone."""
    for i in range(IA[at.N_AWAKE]):
        put(IA, IA[at.AWAKE] + get(IA, IA[at.AWAKE_LIST] + i), 0)
    put(IA, at.N_AWAKE, 0)


@callee
def compress_parts(IT, XT, IA, XA, I, X):
    """Write the parts as clusters to I and X."""
    put(I, N_THETA, 0)
    put(I, N_DOFS, 0)
    n = IA[at.N_PARTS]
    for c in range(n):
        node, above = get(IA, IA[at.PART_NODE] + c), get(IA, IA[at.PART_UP] + c)
        k, E, p = node_entry(IA, node, NODE_LINK), identity(), zero()
        if above >= 0:
            up = piece_of(IA, get(IA, IA[at.PART_NODE] + above))
            E, p = load_matrix(XA, up + at.PI_ROTATION), load(XA, up + at.PI_POSITION)
        o = IT[CONSTANTS] + k * CONSTANT
        R, r = carried_frame(E, p, XT, o + C_ROTATION, o + C_POSITION)
        begin_cluster(IT, XT, IA, I, X, k, c, above, R, r)
        piece, row = piece_of(IA, node), IA[records.MASSES] + k * records.MASSES_ROW
        for i in range(0, records.MASSES_ROW, 4):
            store(XA, row + i, load(XA, piece + at.PI_MOMENT + i))
        put(IA, IA[records.N_INSIDE] + c, 1 if node_entry(IA, node, NODE_FORM) < 0 else 2)
        put(IA, IA[at.CLUSTER_OF] + node, c)
    put(I, N_BODIES, n)
    put(IA, records.N_CLUSTERS, n)
    span_all(I)
    finish_clusters(IT, XT, IA, XA, I, X)


@callee
def place_links(IA, XA, node):
    """Write the places of all links of a node in its frame; they are added to those MOVED."""
    size, places = 1, IA[records.PLACES]
    put(IA, IA[at.STACK], node)
    first = places + node_entry(IA, node, NODE_LINK) * records.PLACE
    store_matrix(XA, first, identity())
    store(XA, first + records.PL_POSITION, zero())
    while size > 0:
        size -= 1
        one = get(IA, IA[at.STACK] + size)
        link = node_entry(IA, one, NODE_LINK)
        if node_entry(IA, one, NODE_FORM) < 0:
            put(IA, IA[at.FRONT_OF] + link, node)
            put(IA, IA[at.MOVED] + IA[at.N_MOVED], link)
            put(IA, at.N_MOVED, IA[at.N_MOVED] + 1)
            continue
        a, b = node_entry(IA, one, NODE_A), node_entry(IA, one, NODE_B)
        place, seat = places + link * records.PLACE, seat_of(IA, one)
        R, r = load_matrix(XA, place), load(XA, place + records.PL_POSITION)
        R, r = carried_frame(R, r, XA, seat + at.SE_ROTATION, seat + at.SE_POSITION)
        there = places + node_entry(IA, b, NODE_LINK) * records.PLACE
        store_matrix(XA, there, R)
        store(XA, there + records.PL_POSITION, r)
        put(IA, IA[at.STACK] + size, b)
        put(IA, IA[at.STACK] + size + 1, a)
        size += 2


@callee
def place_new(IA, XA):
    """Write places of the links of all clusters that were none before, and the cluster of every link.

    Of a whole without pieces they are written already.
    """
    if IA[at.N_PIECES] == 0:
        return
    put(IA, at.N_MOVED, 0)
    for c in range(IA[at.N_PARTS]):
        node = get(IA, IA[at.PART_NODE] + c)
        if get(IA, IA[at.FRONT_OF] + node_entry(IA, node, NODE_LINK)) != node:
            place_links(IA, XA, node)
    for k in range(IA[records.N_LINKS]):
        front = get(IA, IA[at.FRONT_OF] + k)
        put(IA, IA[records.CLUSTER] + k, get(IA, IA[at.CLUSTER_OF] + front))
