"""Choice of the active joints [G06]: those that would be missed most, from the root of an assembly tree.

A joint is judged by r = RATE_SHARE θ̇ + SPAN θ̈ with θ̈ of the *released* body, all joints free: the rate that
it would have after SPAN seconds, or its acceleration, or its rate. A node of the assembly tree joins two
parts of the body by a joint; with weights a,

    A(joint) = Σ over its dofs a r²,     A(C) = A(A) + A(B) + A(joint of C).

From the root the node with the largest A is opened, its joint becomes active, until there are enough or until
the sum of what is left, the *error*, is small enough. With accelerations and a = Mass_ii,

    |θ̈_hybrid - θ̈|²_Mass <= n_rigid Σ_rigid Mass_ii θ̈_i².
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.multibody.adaptive import records as at
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
from mcpframe.spatial.lanes import get, put


@inline
def weight_of(IT, XT, IA, k, d):
    """Return the weight of a dof of body k: 1, or the inertia that it moves, Mass_dd."""
    if IA[at.BY_INERTIA] == 0:
        return 1.0
    dof = IT[DOFS] + d * DOF
    column = load_pair(XT, dof + D_COLUMN)
    moved = transform(load_block(XT, IT[BRANCHES] + k * BRANCH), XT, dof + D_COLUMN)
    return inner(column, moved) + get(XT, dof + D_ARMATURE)


@inline
def metric_of_body(IT, XT, IA, XA, k):
    """Return what the dofs of a body add to the metric."""
    t, total = IT[TREE] + k * TREE_ROW, 0.0
    first = get(IT, t + DOF_AT)
    for d in range(first, first + get(IT, t + N_DOF)):
        rate, change = get(XT, IT[THETA_DOT] + d), get(XT, IT[THETA_DDOT] + d)
        r = XA[at.RATE_SHARE] * rate + XA[at.SPAN] * change
        total += weight_of(IT, XT, IA, k, d) * r * r
    return total


@callee
def weigh(IT, XT, IA, XA):
    """Write the metric of every joint and of every node; accelerations of the whole are there."""
    if IA[at.BY_INERTIA] != 0:
        composite_inertias(IT, XT)
    for i in range(IA[at.N_LINKS]):
        total = 0.0
        if get(IA, IA[at.PINNED] + i) == 0:
            for k in range(get(IA, IA[at.FIRST_BODY] + i), get(IA, IA[at.FIRST_BODY] + i + 1)):
                total += metric_of_body(IT, XT, IA, XA, k)
        put(XA, IA[at.METRIC] + i, total)
    for n in range(IA[at.N_NODES] - 1, -1, -1):
        row, total = IA[at.NODES] + n * at.NODE_ROW, 0.0
        joint = get(IA, row + at.NODE_JOINT)
        if joint >= 0:
            below = get(XA, IA[at.SUMS] + get(IA, row + at.NODE_A))
            below += get(XA, IA[at.SUMS] + get(IA, row + at.NODE_B))
            total = get(XA, IA[at.METRIC] + joint) + below
        put(XA, IA[at.SUMS] + n, total)


@inline
def sum_at(IA, XA, i):
    """Return the metric of the i-th node of the heap."""
    return get(XA, IA[at.SUMS] + get(IA, IA[at.HEAP] + i))


@inline
def swap(IA, i, j):
    """Exchange two nodes of the heap."""
    a, b = IA[at.HEAP] + i, IA[at.HEAP] + j
    kept = get(IA, a)
    put(IA, a, get(IA, b))
    put(IA, b, kept)


@inline
def push_node(IA, XA, size, node):
    """Add a node to the heap, single links left out; return its size."""
    if get(IA, IA[at.NODES] + node * at.NODE_ROW + at.NODE_JOINT) < 0:
        return size
    put(IA, IA[at.HEAP] + size, node)
    i = size
    while i > 0 and sum_at(IA, XA, (i - 1) // 2) < sum_at(IA, XA, i):
        swap(IA, i, (i - 1) // 2)
        i = (i - 1) // 2
    return size + 1


@inline
def pop_node(IA, XA, size):
    """Take the node with the largest metric off the heap, of `size` after that."""
    node = get(IA, IA[at.HEAP])
    put(IA, IA[at.HEAP], get(IA, IA[at.HEAP] + size))
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and sum_at(IA, XA, child + 1) > sum_at(IA, XA, child):
            child += 1
        if sum_at(IA, XA, child) <= sum_at(IA, XA, i):
            break
        swap(IA, i, child)
        i = child
    return node


@callee
def open_nodes(IA, XA):
    """Choose joints from the roots downwards; return how many, pinned ones not counted."""
    size, n, left, error = 0, 0, IA[at.MOST], 0.0
    for i in range(IA[at.N_LINKS]):
        put(IA, IA[at.CHOSEN] + i, 0)
        if get(IA, IA[at.PINNED] + i) != 0:
            left -= 1
    for i in range(IA[at.N_ROOTS]):
        root = get(IA, IA[at.ROOTS] + i)
        error += get(XA, IA[at.SUMS] + root)
        size = push_node(IA, XA, size, root)
    while size > 0 and error > XA[at.BOUND]:
        size -= 1
        node = pop_node(IA, XA, size)
        row = IA[at.NODES] + node * at.NODE_ROW
        joint = get(IA, row + at.NODE_JOINT)
        if get(IA, IA[at.PINNED] + joint) == 0:
            if n >= left:
                break
            n += 1
            put(IA, IA[at.CHOSEN] + joint, 1)
            error -= get(XA, IA[at.METRIC] + joint)
        size = push_node(IA, XA, size, get(IA, row + at.NODE_A))
        size = push_node(IA, XA, size, get(IA, row + at.NODE_B))
    return n


@callee
def take_choice(IA, XA):
    """Make ACTIVE what was chosen, what is pinned, and what has not been passed over long enough.

    Return whether that is another set than before; the error is that of the joints left rigid.
    """
    changed, active, error = False, 0, 0.0
    for i in range(IA[at.N_LINKS]):
        was, chosen = get(IA, IA[at.ACTIVE] + i) != 0, get(IA, IA[at.CHOSEN] + i) != 0
        passed = 0 if chosen else get(IA, IA[at.PASSED] + i) + 1
        stays = was and passed < IA[at.PATIENCE]
        put(IA, IA[at.PASSED] + i, min(passed, IA[at.PATIENCE]))
        moves = chosen or stays or get(IA, IA[at.PINNED] + i) != 0
        put(IA, IA[at.ACTIVE] + i, 1 if moves else 0)
        changed = changed or moves != was
        active += 1 if moves else 0
        if not moves:
            error += get(XA, IA[at.METRIC] + i)
    put(IA, at.N_ACTIVE, active)
    put(XA, at.ERROR, error)
    put(IA, at.N_CHOICES, IA[at.N_CHOICES] + 1)
    return changed


@callee
def choose_joints(IT, XT, IA, XA):
    """Choose by the whole's rates and accelerations; return whether other joints are active than before."""
    weigh(IT, XT, IA, XA)
    open_nodes(IA, XA)
    return take_choice(IA, XA)
