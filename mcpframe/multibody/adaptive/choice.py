"""Choice of the active joints [G06]: those that would be missed most.

A joint is judged by r = RATE_SHARE θ̇ + SPAN θ̈ with θ̈ of the *released* body, all joints free: the rate that
it would have after SPAN seconds, or its acceleration, or its rate. With weights a,

    A(joint) = Σ over its dofs a r².

*By joints*: those with the largest A are taken, until there are enough or until the sum of what is left, the
*error*, is small enough. *By nodes*, as in the paper: a node of the assembly tree joins two parts of the body
by a joint, A(C) = A(A) + A(B) + A(joint of C); from the root the node with the largest A is opened, and its
joint becomes active. That needs A of no joint below: long bodies do it by pieces, in O(active joints). With
accelerations and a = Mass_ii,

    |θ̈_hybrid - θ̈|²_Mass <= n_rigid Σ_rigid Mass_ii θ̈_i².
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.adaptive import piece_records as at_pieces
from mcpframe.multibody.adaptive import records as at
from mcpframe.multibody.adaptive.fronts import is_open, node_entry
from mcpframe.multibody.adaptive.released import open_piece, part_of, release_parts, squares_of
from mcpframe.multibody.kernels.articulated import free_accelerations
from mcpframe.multibody.kernels.mass import composite_inertias
from mcpframe.multibody.memory.records import (
    BRANCH,
    BRANCHES,
    D_ARMATURE,
    D_COLUMN,
    DOF,
    DOF_AT,
    DOFS,
    N_DOF,
    THETA_DDOT,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.spatial.algebra import inner, load_block, load_pair, transform

SAME, OTHERS, FAILED = range(3)
"""How a choice ended: the same joints are active, others, or the body has no acceleration."""

KEPT = 4
"""With patience, one place in so many is for joints that were chosen not long ago."""


@inline
def inertia_of(IT, XT, k, d):
    """Return the inertia that a dof of body k moves, Mass_dd."""
    dof = IT[DOFS] + d * DOF
    column = load_pair(XT, dof + D_COLUMN)
    moved = transform(load_block(XT, IT[BRANCHES] + k * BRANCH), XT, dof + D_COLUMN)
    return inner(column, moved) + get(XT, dof + D_ARMATURE)


@inline
def metric_of_body(IT, XT, k, by_inertia, rate_share, span):
    """Return what the dofs of a body add to the metric, weighed alike or by the inertia that they move."""
    t, total = IT[TREE] + k * TREE_ROW, 0.0
    first = get(IT, t + DOF_AT)
    for d in range(first, first + get(IT, t + N_DOF)):
        r = rate_share * get(XT, IT[THETA_DOT] + d) + span * get(XT, IT[THETA_DDOT] + d)
        total += (inertia_of(IT, XT, k, d) if by_inertia else 1.0) * r * r
    return total


@inline
def add_up(IA, XA, node):
    """Write the metric of a node from those of its joint and of what it joins."""
    row, total = IA[at.NODES] + node * at.NODE_ROW, 0.0
    joint = get(IA, row + at.NODE_JOINT)
    if joint >= 0:
        below = get(XA, IA[at.SUMS] + get(IA, row + at.NODE_A))
        below += get(XA, IA[at.SUMS] + get(IA, row + at.NODE_B))
        total = get(XA, IA[at.METRIC] + joint) + below
    put(XA, IA[at.SUMS] + node, total)


@callee
def weigh(IT, XT, IA, XA):
    """Write the metric of every joint, and of nodes that are opened; accelerations of the whole are there."""
    by_inertia, rate_share, span = IA[at.BY_INERTIA] != 0, XA[at.RATE_SHARE], XA[at.SPAN]
    if by_inertia:
        composite_inertias(IT, XT)
    for i in range(IA[at.N_LINKS]):
        total = 0.0
        if get(IA, IA[at.PINNED] + i) == 0:
            for k in range(get(IA, IA[at.FIRST_BODY] + i), get(IA, IA[at.FIRST_BODY] + i + 1)):
                total += metric_of_body(IT, XT, k, by_inertia, rate_share, span)
        put(XA, IA[at.METRIC] + i, total)
    if IA[at.BY_NODES] != 0:
        for n in range(IA[at.N_NODES] - 1, -1, -1):
            add_up(IA, XA, n)


LARGEST, LEAST = 1.0, -1.0
"""What a heap has on top, as the sign of its keys."""


@inline
def key_at(IA, XA, keys, i, top):
    """Return the key of the i-th entry of the heap: its metric with a sign."""
    return top * get(XA, keys + get(IA, IA[at.HEAP] + i))


@inline
def swap(IA, i, j):
    """Exchange two entries of the heap."""
    a, b = IA[at.HEAP] + i, IA[at.HEAP] + j
    kept = get(IA, a)
    put(IA, a, get(IA, b))
    put(IA, b, kept)


@inline
def sift(IA, XA, keys, i, size, top):
    """Let the i-th entry of the heap sink to its place."""
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and key_at(IA, XA, keys, child + 1, top) > key_at(IA, XA, keys, child, top):
            child += 1
        if key_at(IA, XA, keys, child, top) <= key_at(IA, XA, keys, i, top):
            break
        swap(IA, i, child)
        i = child


@inline
def pop(IA, XA, keys, size, top):
    """Take the entry on top off the heap, of `size` after that."""
    first = get(IA, IA[at.HEAP])
    put(IA, IA[at.HEAP], get(IA, IA[at.HEAP] + size))
    sift(IA, XA, keys, 0, size, top)
    return first


@callee
def make_heap(IA, XA, keys, size, top):
    """Bring what is in the heap into its order."""
    for i in range(size // 2 - 1, -1, -1):
        sift(IA, XA, keys, i, size, top)


@inline
def push_node(IA, XA, size, node):
    """Add a node to the heap, single links left out; return its size."""
    if get(IA, IA[at.NODES] + node * at.NODE_ROW + at.NODE_JOINT) < 0:
        return size
    keys = IA[at.SUMS]
    put(IA, IA[at.HEAP] + size, node)
    i = size
    while i > 0 and key_at(IA, XA, keys, (i - 1) // 2, LARGEST) < key_at(IA, XA, keys, i, LARGEST):
        swap(IA, i, (i - 1) // 2)
        i = (i - 1) // 2
    return size + 1


@callee
def left_over(IA, XA, keys, size):
    """Return the metric of all entries of the heap."""
    total = 0.0
    for i in range(size):
        total += key_at(IA, XA, keys, i, LARGEST)
    return total


@callee
def weigh_parts(IT, XT, IA, XA):
    """Write the metric of all parts and of the joints between them; of what is below it follows on demand."""
    for i in range(IA[at_pieces.N_PARTS]):
        node = get(IA, IA[at_pieces.PART_NODE] + i)
        put(XA, IA[at.SUMS] + node, XA[at.SPAN] ** 2 * squares_of(IA, XA, node))
        if get(IA, IA[at_pieces.PART_UP] + i) >= 0:
            k = node_entry(IA, node, at.NODE_LINK)
            rate = get(XT, IT[THETA_DOT] + get(IT, IT[TREE] + k * TREE_ROW + DOF_AT))
            change = get(XA, part_of(IA, i) + at_pieces.PA_JOINT)
            put(XA, IA[at.METRIC] + k, (XA[at.RATE_SHARE] * rate + XA[at.SPAN] * change) ** 2)
    for i in range(IA[at_pieces.N_OPENED] - 1, -1, -1):
        add_up(IA, XA, get(IA, IA[at_pieces.OPENED] + i))


@callee
def weigh_below(IA, XA, node):
    """Write the metric of the joint of a node that is taken as one, and of the two that it joins."""
    joint, span = node_entry(IA, node, at.NODE_JOINT), XA[at.SPAN]
    put(XA, IA[at.METRIC] + joint, (span * open_piece(IA, XA, node)) ** 2)
    for below in (node_entry(IA, node, at.NODE_A), node_entry(IA, node, at.NODE_B)):
        put(XA, IA[at.SUMS] + below, span**2 * squares_of(IA, XA, below))


@inline
def is_enough(IA, XA, keys, size, error):
    """Return whether what is left is within the bound; by differences first, then as it is."""
    return error <= XA[at.BOUND] and left_over(IA, XA, keys, size) <= XA[at.BOUND]


@inline
def choose_joint(IA, joint, n):
    """Take a joint as the n-th."""
    put(IA, IA[at.CHOSEN] + joint, 1)
    put(IA, IA[at.CHOSEN_LIST] + n, joint)


@inline
def offer(IA, XA, size, most, joint):
    """Take a joint, or drop it or the least of those taken; return how many are, and what was dropped."""
    keys = IA[at.METRIC]
    if size < most:
        put(IA, IA[at.HEAP] + size, joint)
        if size + 1 == most:
            make_heap(IA, XA, keys, most, LEAST)
        return size + 1, 0.0
    own = get(XA, keys + joint)
    if size == 0 or own <= get(XA, keys + get(IA, IA[at.HEAP])):
        return size, own
    dropped = get(XA, keys + get(IA, IA[at.HEAP]))
    put(IA, IA[at.HEAP], joint)
    sift(IA, XA, keys, 0, size, LEAST)
    return size, dropped


@callee
def take_largest(IA, XA, most):
    """Choose the joints with the largest metric, `most` of them; return how many.

    A heap has the least of those taken on top. The active joints are offered first: mostly they are chosen
    again, and hardly another is more than looked at. Then the least go as long as what is left is small.
    """
    keys, size, error = IA[at.METRIC], 0, 0.0
    for i in range(IA[at.N_ACTIVE]):
        joint = get(IA, IA[at.ACTIVE_LIST] + i)
        if get(IA, IA[at.PINNED] + joint) == 0:
            size, dropped = offer(IA, XA, size, most, joint)
            error += dropped
    for joint in range(IA[at.N_LINKS]):
        if get(IA, IA[at.ACTIVE] + joint) == 0 and get(IA, IA[at.PINNED] + joint) == 0:
            size, dropped = offer(IA, XA, size, most, joint)
            error += dropped
    if size < most:
        make_heap(IA, XA, keys, size, LEAST)
    while size > 0 and error + get(XA, keys + get(IA, IA[at.HEAP])) <= XA[at.BOUND]:
        size -= 1
        error += get(XA, keys + pop(IA, XA, keys, size, LEAST))
    put(XA, at.ERROR, error)
    n = size
    if IA[at.PATIENCE] > 1:  # the largest first
        while size > 0:
            size -= 1
            choose_joint(IA, pop(IA, XA, keys, size, LEAST), size)
    for i in range(size):
        choose_joint(IA, get(IA, IA[at.HEAP] + i), i)
    return n


@callee
def open_nodes(IA, XA, most):
    """Choose joints from the roots downwards, `most` of them; return how many."""
    keys, size, n = IA[at.SUMS], 0, 0
    for i in range(IA[at.N_ROOTS]):
        size = push_node(IA, XA, size, get(IA, IA[at.ROOTS] + i))
    error = left_over(IA, XA, keys, size)
    while size > 0 and not is_enough(IA, XA, keys, size, error):
        size -= 1
        node = pop(IA, XA, keys, size, LARGEST)
        joint = node_entry(IA, node, at.NODE_JOINT)
        if get(IA, IA[at.PINNED] + joint) == 0:
            if n >= most:
                break
            choose_joint(IA, joint, n)
            n += 1
            if IA[at_pieces.N_PIECES] > 0 and not is_open(IA, joint):
                weigh_below(IA, XA, node)
            error -= get(XA, IA[at.METRIC] + joint)
        size = push_node(IA, XA, size, node_entry(IA, node, at.NODE_A))
        size = push_node(IA, XA, size, node_entry(IA, node, at.NODE_B))
    return n


@callee
def error_of_joints(IA, XA):
    """Return the metric of all rigid joints, one by one."""
    error = 0.0
    for i in range(IA[at.N_LINKS]):
        if get(IA, IA[at.ACTIVE] + i) == 0:
            error += get(XA, IA[at.METRIC] + i)
    return error


@callee
def error_of_nodes(IA, XA):
    """Return the metric of all rigid joints: of the nodes below the active ones, from the roots."""
    size, error = 0, 0.0
    for i in range(IA[at.N_ROOTS]):
        put(IA, IA[at.HEAP] + size, get(IA, IA[at.ROOTS] + i))
        size += 1
    while size > 0:
        size -= 1
        node = get(IA, IA[at.HEAP] + size)
        joint = node_entry(IA, node, at.NODE_JOINT)
        if joint < 0:
            continue
        if get(IA, IA[at.ACTIVE] + joint) == 0:
            error += get(XA, IA[at.SUMS] + node)
            continue
        put(IA, IA[at.HEAP] + size, node_entry(IA, node, at.NODE_A))
        put(IA, IA[at.HEAP] + size + 1, node_entry(IA, node, at.NODE_B))
        size += 2
    return error


@inline
def stays(IA, joint):
    """Return whether an active joint that is not chosen now was so not long ago."""
    if get(IA, IA[at.ACTIVE] + joint) == 0 or get(IA, IA[at.CHOSEN] + joint) != 0:
        return False
    return get(IA, IA[at.PASSED] + joint) + 1 < IA[at.PATIENCE] and get(IA, IA[at.PINNED] + joint) == 0


@callee
def leave_room(IA, n, most):
    """Let go of the last of n chosen joints where others that stay need their places; return how many stay.

    Of `most` places others get one in KEPT. Where nodes are opened, those above one are chosen before it and
    stay as long as it does: an active node has active ones above it in any case.
    """
    if IA[at.PATIENCE] <= 1:
        return n
    taken, others = min(n, most - most // KEPT), 0
    for i in range(taken, n):
        put(IA, IA[at.CHOSEN] + get(IA, IA[at.CHOSEN_LIST] + i), 0)
    for i in range(IA[at.N_ACTIVE]):
        if stays(IA, get(IA, IA[at.ACTIVE_LIST] + i)):
            others += 1
    while taken < n:
        joint = get(IA, IA[at.CHOSEN_LIST] + taken)
        if stays(IA, joint):
            others -= 1
        elif taken + others >= most:
            break
        put(IA, IA[at.CHOSEN] + joint, 1)
        taken += 1
    return taken


@callee
def take_choice(IA, XA):
    """Make ACTIVE what was chosen, what is pinned, and what was chosen not long ago while there is room.

    Return whether that is another set than before; the joints that have become rigid are in LEFT.
    """
    before, n, n_left = IA[at.N_ACTIVE], 0, 0
    room = IA[at.MOST] - IA[at.N_PINNED] - IA[at.N_CHOSEN]
    for i in range(before):
        joint = get(IA, IA[at.ACTIVE_LIST] + i)
        passed = 0 if get(IA, IA[at.CHOSEN] + joint) != 0 else get(IA, IA[at.PASSED] + joint) + 1
        lasts = room > 0 and stays(IA, joint)
        put(IA, IA[at.PASSED] + joint, passed)
        if lasts:
            room -= 1
        if lasts or passed == 0 or get(IA, IA[at.PINNED] + joint) != 0:
            put(IA, IA[at.ACTIVE_LIST] + n, joint)
            n += 1
        else:
            put(IA, IA[at.LEFT] + n_left, joint)
            put(IA, IA[at.ACTIVE] + joint, 0)
            n_left += 1
    kept = n
    for i in range(IA[at.N_CHOSEN]):
        joint = get(IA, IA[at.CHOSEN_LIST] + i)
        if get(IA, IA[at.ACTIVE] + joint) == 0:
            put(IA, IA[at.ACTIVE] + joint, 1)
            put(IA, IA[at.PASSED] + joint, 0)
            put(IA, IA[at.ACTIVE_LIST] + n, joint)
            n += 1
    put(IA, at.N_ACTIVE, n)
    put(IA, at.N_LEFT, n_left)
    if IA[at.BY_NODES] != 0:
        put(XA, at.ERROR, error_of_nodes(IA, XA))
    elif IA[at.PATIENCE] > 1:  # what stays is no error
        put(XA, at.ERROR, error_of_joints(IA, XA))
    put(IA, at.N_CHOICES, IA[at.N_CHOICES] + 1)
    return n_left > 0 or n > kept


@callee
def choose_joints(IT, XT, IA, XA):
    """Choose by rates and forces of the whole; return SAME, OTHERS or FAILED.

    By parts, where the body has pieces: those are found, and outer forces on them written. Else by a sweep.
    """
    if IA[at_pieces.N_PIECES] > 0:
        release_parts(IT, XT, IA, XA)
        weigh_parts(IT, XT, IA, XA)
    else:
        if free_accelerations(IT, XT, False) != 0:
            return FAILED
        weigh(IT, XT, IA, XA)
    for i in range(IA[at.N_CHOSEN]):
        put(IA, IA[at.CHOSEN] + get(IA, IA[at.CHOSEN_LIST] + i), 0)
    most = IA[at.MOST] - IA[at.N_PINNED]
    n = open_nodes(IA, XA, most) if IA[at.BY_NODES] != 0 else take_largest(IA, XA, most)
    put(IA, at.N_CHOSEN, leave_room(IA, n, most))
    changed = take_choice(IA, XA)
    if not XA[at.ERROR] < math.inf:
        return FAILED
    return OTHERS if changed else SAME
