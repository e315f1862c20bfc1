"""Making joints rigid: impulses at them stop them and leave the momenta of all others as they are.

Mass_aa θ̇_a+ = (Mass θ̇)_a,     loss = 1/2 (θ̇* Mass θ̇ - θ̇_a+* Mass_aa θ̇_a+)
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline, window
from mcpframe.jit.lanes import get, put, total, zero
from mcpframe.multibody.adaptive import records as at
from mcpframe.multibody.adaptive.clusters import compress
from mcpframe.multibody.adaptive.fronts import compress_parts, find_parts
from mcpframe.multibody.adaptive.piece_records import JOINT_NODE, N_PIECES
from mcpframe.multibody.adaptive.pieces import write_piece
from mcpframe.multibody.kernels.articulated import sweep
from mcpframe.multibody.kernels.kinematics import kinematics
from mcpframe.multibody.kernels.loops import reference_of
from mcpframe.multibody.kernels.mass import clear_push, generalized_force_into, momentum_at, solve_mass_into
from mcpframe.multibody.memory.records import (
    B_VELOCITY,
    BODIES,
    BODY,
    CONSTANT,
    CONSTANTS,
    D_ARMATURE,
    DOF,
    DOF_AT,
    DOFS,
    N_BODIES,
    N_DOF,
    N_DOFS,
    PAIR,
    PUSH,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.spatial.algebra import cross, load_pair, plus, store_pair


@inline
def add_momentum(X, o, C, c, Y, out, way):
    """Add the momentum of a body, its constants in C[c:], to that in Y[out:], about a point `way` before.

    Return twice its energy, as lanes to add up.
    """
    p, spin, com = momentum_at(X, o, C, c)
    w, v = load_pair(X, o + B_VELOCITY)
    store_pair(Y, out, plus(load_pair(Y, out), (spin + cross(com + way, p), p)))
    return w * spin + p * (v + cross(w, com))


@callee
def add_rotors(I, X, out):
    """Add the momenta of rotors to those of dofs; return twice their energy."""
    twice = 0.0
    for d in range(I[N_DOFS]):
        rate = get(X, I[THETA_DOT] + d)
        rotor = get(X, I[DOFS] + d * DOF + D_ARMATURE) * rate
        put(out, d, get(out, d) + rotor)
        twice += rate * rotor
    return twice


@callee
def momenta_into(I, X, out):
    """Write Mass θ̇ of bodies that are placed, return θ̇* Mass θ̇, twice the energy; uses up PUSH."""
    clear_push(I, X)
    twice = zero()
    for k in range(I[N_BODIES]):
        o, c = I[BODIES] + k * BODY, I[CONSTANTS] + k * CONSTANT
        twice = twice + add_momentum(X, o, X, c, X, I[PUSH] + k * PAIR, zero())
    generalized_force_into(I, X, out)
    return total(twice) + add_rotors(I, X, out)


@callee
def momenta_of_whole(IT, XT, IA, I, X, out):
    """Write (Mass θ̇)_a of the whole for the dofs of clusters, both placed; else as `momenta_into`.

    Clusters that have not CHANGED have moved as one body.
    """
    clear_push(I, X)
    twice = zero()
    for k in range(IT[N_BODIES]):
        head, cluster = get(IA, IA[at.HEAD] + k), get(IA, IA[at.CLUSTER] + k)
        changed = get(IA, IA[at.CHANGED] + head) != 0
        if not changed and head != k:
            continue
        way = reference_of(IT, XT, k) - reference_of(I, X, cluster)
        o, push = IT[BODIES] + k * BODY, I[PUSH] + cluster * PAIR
        if changed:
            twice = twice + add_momentum(XT, o, XT, IT[CONSTANTS] + k * CONSTANT, X, push, way)
        else:
            twice = twice + add_momentum(XT, o, X, I[CONSTANTS] + cluster * CONSTANT, X, push, way)
    generalized_force_into(I, X, out)
    return total(twice) + add_rotors(I, X, out)


@callee
def leaving(IT, XT, IA):
    """Return whether a joint moves that is rigid from now on."""
    for i in range(IA[at.N_LEFT]):
        link = get(IA, IA[at.LEFT] + i)
        for k in range(get(IA, IA[at.FIRST_BODY] + link), get(IA, IA[at.FIRST_BODY] + link + 1)):
            t = IT[TREE] + k * TREE_ROW
            for j in range(get(IT, t + N_DOF)):
                if get(XT, IT[THETA_DOT] + get(IT, t + DOF_AT) + j) != 0.0:
                    return True
    return False


@callee
def keep_momenta(I, X, kept):
    """Give clusters that are placed rates with the momenta `kept`; return what failed, twice the energy."""
    rates, twice = window(X, I[THETA_DOT], I[N_DOFS]), 0.0
    failed = sweep(I, X)
    clear_push(I, X)
    solve_mass_into(I, X, kept, rates)
    for d in range(I[N_DOFS]):
        twice += get(rates, d) * get(kept, d)
    return failed, twice


@callee
def stop_left(IT, XT, IA):
    """Set the rates of joints that become rigid to zero; return twice the energy that their rotors had."""
    twice = 0.0
    for i in range(IA[at.N_LEFT]):
        link = get(IA, IA[at.LEFT] + i)
        for k in range(get(IA, IA[at.FIRST_BODY] + link), get(IA, IA[at.FIRST_BODY] + link + 1)):
            t = IT[TREE] + k * TREE_ROW
            for d in range(get(IT, t + DOF_AT), get(IT, t + DOF_AT) + get(IT, t + N_DOF)):
                rate = get(XT, IT[THETA_DOT] + d)
                twice += get(XT, IT[DOFS] + d * DOF + D_ARMATURE) * rate * rate
                put(XT, IT[THETA_DOT] + d, 0.0)
    return twice


@callee
def mark_left(IA, active):
    """Make the joints that have left active or rigid."""
    for i in range(IA[at.N_LEFT]):
        put(IA, IA[at.ACTIVE] + get(IA, IA[at.LEFT] + i), active)


@callee
def momenta_of_parts(IT, XT, IA, XA, I, X):
    """Write MOMENTA of all joints that were or become active, by the clusters that these have together."""
    mark_left(IA, 1)
    find_parts(IT, IA)
    compress_parts(IT, XT, IA, XA, I, X)
    mark_left(IA, 0)
    kinematics(I, X)
    kept = window(XA, IA[at.KEPT], I[N_DOFS])
    twice = momenta_into(I, X, kept)
    for c in range(I[N_BODIES]):
        u, t = I[TREE] + c * TREE_ROW, IT[TREE] + get(IA, IA[at.HINGE_BODY] + c) * TREE_ROW
        for i in range(get(I, u + N_DOF)):
            there = IA[at.MOMENTA] + get(IT, t + DOF_AT) + i
            put(XA, there, get(kept, get(I, u + DOF_AT) + i))
    return twice


@callee
def take_momenta(IT, IA, XA, I):
    """Take those of the dofs of clusters from MOMENTA."""
    for c in range(I[N_BODIES]):
        u, t = I[TREE] + c * TREE_ROW, IT[TREE] + get(IA, IA[at.HINGE_BODY] + c) * TREE_ROW
        for i in range(get(I, u + N_DOF)):
            there = IA[at.MOMENTA] + get(IT, t + DOF_AT) + i
            put(XA, IA[at.KEPT] + get(I, u + DOF_AT) + i, get(XA, there))


@callee
def cluster_anew(IT, XT, IA, XA, I, X):
    """Write the clusters of ACTIVE; ANGLES of a whole without pieces are there."""
    if IA[N_PIECES] == 0:
        compress(IT, XT, IA, XA, I, X)
        return
    sort_left(IA)
    for i in range(IA[at.N_LEFT]):
        write_piece(IT, XT, IA, XA, get(IA, IA[JOINT_NODE] + get(IA, IA[at.LEFT] + i)))
    find_parts(IT, IA)
    compress_parts(IT, XT, IA, XA, I, X)


@callee
def sort_left(IA):
    """Bring the joints that have left into an order in which nodes come after those that they join."""
    left = IA[at.LEFT]
    for i in range(1, IA[at.N_LEFT]):
        joint, j = get(IA, left + i), i
        node = get(IA, IA[JOINT_NODE] + joint)
        while j > 0 and get(IA, IA[JOINT_NODE] + get(IA, left + j - 1)) < node:
            put(IA, left + j, get(IA, left + j - 1))
            j -= 1
        put(IA, left + j, joint)


@callee
def make_rigid(IT, XT, IA, XA, I, X):
    """Write the clusters of ACTIVE, with impulses that stop the joints that have LEFT.

    A whole without pieces is placed. Return 0, or 1 + a dof without inertia.
    """
    if not leaving(IT, XT, IA):
        cluster_anew(IT, XT, IA, XA, I, X)
        return 0
    by_parts = IA[N_PIECES] > 0
    before = momenta_of_parts(IT, XT, IA, XA, I, X) if by_parts else 0.0
    rotors = stop_left(IT, XT, IA)
    cluster_anew(IT, XT, IA, XA, I, X)
    kinematics(I, X)
    kept = window(XA, IA[at.KEPT], I[N_DOFS])
    if by_parts:
        take_momenta(IT, IA, XA, I)
    else:
        before = rotors + momenta_of_whole(IT, XT, IA, I, X, kept)
    failed, after = keep_momenta(I, X, kept)
    put(XA, at.LOSS, XA[at.LOSS] + 0.5 * (before - after))
    return failed
