"""Adapt: choose which joints are active, and write what a run knows of bodies and dofs for their clusters.

A choice is made where a step ends: by rates and accelerations of the whole, contacts and limits pressing as
they did in that step. Joints that become rigid are stopped by impulses. Constants of X, Y and Z, shapes,
limits and springs follow; keys of contacts and limits stay.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from numba import types

from mcpframe.contact.detection import cluster_records as balls
from mcpframe.contact.detection import records as found
from mcpframe.contact.detection.kernels.cluster_phase import gather_clusters
from mcpframe.jit import Indices, IndicesOut, VectorOut, by_address, callee, inline, kernel
from mcpframe.jit.lanes import get, load, put, store
from mcpframe.multibody.adaptive import piece_records as pieces
from mcpframe.multibody.adaptive import records as rec
from mcpframe.multibody.adaptive.choice import FAILED, OTHERS
from mcpframe.multibody.adaptive.clusters import forget_places, n_theta_of, spread
from mcpframe.multibody.adaptive.entries import choose, rigidify
from mcpframe.multibody.adaptive.entries import write_pieces as write_all_pieces
from mcpframe.multibody.adaptive.fronts import let_sleep, place_new
from mcpframe.multibody.kernels.kinematics import angles_of_pins, kinematics
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.multibody.memory import row_records
from mcpframe.multibody.memory.records import (
    CONSTANT,
    CONSTANTS,
    D_ARMATURE,
    D_LEAST,
    DOF,
    DOF_AT,
    DOFS,
    KIND,
    N_BODIES,
    N_DOF,
    N_DOFS,
    N_THETA,
    PARENT,
    THETA_AT,
    TREE,
    TREE_ROW,
)
from mcpframe.simulation.memory import adaptive_slots as whole
from mcpframe.simulation.memory import drive_slots as drives
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.step.adaptive.forces import (
    add_motors,
    gather_active_forces,
    gather_whole_forces,
    push_parts,
    rest_forces,
)
from mcpframe.spatial.algebra import combine, dot, load_matrix

call_choose, call_rigidify, call_pieces = (
    by_address(choose),
    by_address(rigidify),
    by_address(write_all_pieces),
)


@callee
def copy_clusters(I, X, Y):
    """Copy the constants of clusters from X to Y."""
    for i in range(I[N_BODIES] * CONSTANT):
        put(Y, I[CONSTANTS] + i, get(X, I[CONSTANTS] + i))
    for d in range(I[N_DOFS]):
        dof = I[DOFS] + d * DOF
        put(Y, dof + D_ARMATURE, get(X, dof + D_ARMATURE))
        put(Y, dof + D_LEAST, get(X, dof + D_LEAST))


@callee
def write_hinges(I, X, IT, IA, XA, IS, XS):
    """Write springs, dampers, rotors and constant forces of the clusters' hinges."""
    for c in range(I[N_BODIES]):
        u, t = I[TREE] + c * TREE_ROW, IT[TREE] + get(IA, IA[rec.HINGE_BODY] + c) * TREE_ROW
        n_dof = get(I, u + N_DOF)
        for i in range(n_dof):
            d, e = get(IT, t + DOF_AT) + i, get(I, u + DOF_AT) + i
            put(XS, IS[at.CONSTANT] + e, get(XA, IA[whole.CONSTANT] + d))
            put(XS, IS[at.DAMPING] + e, get(XA, IA[whole.DAMPING] + d))
            put(XS, IS[at.STIFFNESS] + e, get(XA, IA[whole.STIFFNESS] + d))
            put(XS, IS[at.ROTORS] + e, get(X, I[DOFS] + e * DOF + D_ARMATURE))
        for i in range(n_theta_of(get(I, u + KIND), n_dof)):
            rest = get(XA, IA[whole.REST] + get(IT, t + THETA_AT) + i)
            put(XS, IS[at.REST] + get(I, u + THETA_AT) + i, rest)
        put(IS, IS[at.BY_ITSELF] + c, 0)
        put(XS, IS[at.BODY_REACH] + c, -1.0)


@inline
def own_numbers(IA, IF, place):
    """Return where XA keeps for the whole what controllers have at a place of XF."""
    return IA[whole.DRIVE_NUMBERS] + place - IF[drives.NUMBERS]


@callee
def write_drives(I, IT, IA, XA, IF, XF):
    """Write gains and targets of motors for the hinges of clusters, in their order."""
    n_dofs, n_theta = I[N_DOFS], I[N_THETA]
    for k in range(IF[drives.N_DRIVES]):
        drive = IF[drives.DRIVES] + k * drives.DRIVE_ROW
        gains, targets = get(IF, drive + drives.V_NUMBERS), get(IF, drive + drives.V_TARGETS)
        own_gains, own_targets = own_numbers(IA, IF, gains), own_numbers(IA, IF, targets)
        for c in range(I[N_BODIES]):
            u, t = I[TREE] + c * TREE_ROW, IT[TREE] + get(IA, IA[rec.HINGE_BODY] + c) * TREE_ROW
            n_dof = get(I, u + N_DOF)
            for i in range(n_dof):
                e, d = get(I, u + DOF_AT) + i, get(IT, t + DOF_AT) + i
                for j in range(3):
                    put(XF, gains + j * n_dofs + e, get(XA, own_gains + j * IT[N_DOFS] + d))
            for i in range(n_theta_of(get(I, u + KIND), n_dof)):
                here, there = targets + get(I, u + THETA_AT) + i, own_targets + get(IT, t + THETA_AT) + i
                for j in range(get(IF, drive + drives.V_MOVES) + 1):
                    put(XF, here + j * n_theta, get(XA, there + j * IT[N_THETA]))


@callee
def write_floating(I, IA, IS):
    """Write where the trees of clusters end that float."""
    end = I[N_BODIES]
    for c in range(I[N_BODIES] - 1, -1, -1):
        is_root = get(I, I[TREE] + c * TREE_ROW + PARENT) < 0
        floats = is_root and get(IA, IA[whole.FLOATING] + get(IA, IA[rec.HINGE_BODY] + c)) > 0
        put(IS, IS[at.FLOATING] + c, end if floats else 0)
        if is_root:
            end = c


@callee
def write_limits(I, IT, IA, XA, IS, XS):
    """Write the limits of active joints; those of rigid ones are nowhere near."""
    for i in range(IS[at.N_LIMITS]):
        row, own, values = i * at.LIMIT_ROW, IA[whole.LIMITS] + i * at.LIMIT_ROW, IS[at.LIMIT_VALUES] + 4 * i
        body = get(IA, own + at.M_BODY)
        c = get(IA, IA[rec.CLUSTER] + body)
        for j in range(4):
            put(XS, values + j, get(XA, IA[whole.LIMIT_VALUES] + 4 * i + j))
        here = IS[at.LIMITS] + row
        if get(IA, IA[rec.HINGE_BODY] + c) != body:
            put(IS, here + at.M_DOF, 0)
            put(IS, here + at.M_THETA, 0)
            put(XS, values + at.M_SIGN, 1.0)
            put(XS, values + at.M_BOUND, -math.inf)
            continue
        u, t = I[TREE] + c * TREE_ROW, IT[TREE] + body * TREE_ROW
        put(IS, here + at.M_DOF, get(I, u + DOF_AT) + get(IA, own + at.M_DOF) - get(IT, t + DOF_AT))
        put(IS, here + at.M_THETA, get(I, u + THETA_AT) + get(IA, own + at.M_THETA) - get(IT, t + THETA_AT))
        put(IS, here + at.M_BODY, c)
        put(IS, here + at.M_PARENT, get(I, u + PARENT))
        put(IS, here + at.M_SLIDES, get(IA, own + at.M_SLIDES))


@callee
def write_frame(IA, XA, ID, XD, IS, XS, i):
    """Write the frame of a shape on its cluster, and how far it reaches."""
    body = get(IA, IA[whole.SHAPE_BODY] + i)
    p, own = IA[rec.PLACES] + body * rec.PLACE, IA[whole.SHAPE_FRAMES] + i * found.FRAME
    R, r, f = load_matrix(XA, p), load(XA, p + rec.PL_POSITION), ID[found.FRAMES] + i * found.FRAME
    for k in range(0, found.F_POSITION, 4):
        store(XD, f + k, combine(R, XA, own + k))
    store(XD, f + found.F_POSITION, r + combine(R, XA, own + found.F_POSITION))
    place = r + combine(R, XA, IA[whole.SHAPE_PLACE] + 4 * i)
    put(XS, IS[at.SHAPE_REACH] + i, math.sqrt(dot(place, place)) + get(XA, IA[whole.SHAPE_RADIUS] + i))


@callee
def write_shapes(IA, XA, ID, XD, IS, XS):
    """Write the frames of shapes with new places on clusters, the clusters of all, and their reach."""
    for m in range(IA[pieces.N_MOVED]):
        k = get(IA, IA[pieces.MOVED] + m)
        if IA[whole.BY_CLUSTERS] != 0:
            put(ID, ID[balls.STALE] + get(IA, IA[rec.CLUSTER] + k), 1)
        for i in range(get(IA, IA[whole.FIRST_SHAPE] + k), get(IA, IA[whole.FIRST_SHAPE] + k + 1)):
            write_frame(IA, XA, ID, XD, IS, XS, i)
    for i in range(get(IA, IA[whole.FIRST_SHAPE]), IA[whole.N_SHAPES]):
        body = get(IA, IA[whole.SHAPE_BODY] + i)
        c = get(IA, IA[rec.CLUSTER] + body)
        put(ID, ID[found.SHAPES] + i * found.SHAPE_ROW + found.S_BODY, c)
        put(IS, IS[at.SHAPE_BODY] + i, c)
        reach = max(get(XS, IS[at.BODY_REACH] + c), get(XS, IS[at.SHAPE_REACH] + i))
        put(XS, IS[at.BODY_REACH] + c, reach)


@inline
def cluster_of(IA, body):
    """Return the cluster of a body of the whole, -1 for the world."""
    return get(IA, IA[rec.CLUSTER] + body) if body >= 0 else -1


@callee
def write_loop_node(IA, XA, IE, XE, i, body, place, axes):
    """Write one node of closure i on its cluster: its place and its axes."""
    if body < 0:
        return
    p = IA[rec.PLACES] + body * rec.PLACE
    R, r = load_matrix(XA, p), load(XA, p + rec.PL_POSITION)
    node, row = IA[whole.LOOP_NODES] + i * loops.NODE_ROW, IE[loops.NODES] + i * loops.NODE_ROW
    store(XE, row + place, r + combine(R, XA, node + place))
    for k in range(0, 12, 4):
        store(XE, row + axes + k, combine(R, XA, node + axes + k))


@callee
def write_loops(I, IT, IA, XA, IE, XE, IQ):
    """Write closures for the clusters of their bodies, whose joints are active; their plan is made anew."""
    for i in range(IE[loops.N_LOOPS]):
        row = IE[loops.LOOPS] + i * loops.LOOP_ROW
        a, b = get(IA, IA[whole.LOOP_BODIES] + 2 * i), get(IA, IA[whole.LOOP_BODIES] + 2 * i + 1)
        put(IE, row + loops.L_BODY_A, cluster_of(IA, a))
        put(IE, row + loops.L_BODY_B, cluster_of(IA, b))
        write_loop_node(IA, XA, IE, XE, i, a, loops.N_PLACE_A, loops.N_AXES_A)
        write_loop_node(IA, XA, IE, XE, i, b, loops.N_PLACE_B, loops.N_AXES_B)
    for i in range(IE[loops.N_HALVES]):
        c = cluster_of(IA, get(IA, IA[whole.HALF_BODIES] + i))
        put(IE, IE[loops.HALF_BODY] + i, c)
        put(IQ, IQ[row_records.ROW_BODY] + i, c)
    for i in range(IE[loops.N_TERMS]):
        own, here = IA[whole.TERMS] + i * loops.TERM_ROW, IE[loops.TERMS] + i * loops.TERM_ROW
        body = get(IA, own + loops.T_BODY)
        c = cluster_of(IA, body)
        u, t = I[TREE] + c * TREE_ROW, IT[TREE] + body * TREE_ROW
        put(IE, here + loops.T_BODY, c)
        put(IE, here + loops.T_PARENT, get(I, u + PARENT))
        put(IE, here + loops.T_DOF, get(I, u + DOF_AT) + get(IA, own + loops.T_DOF) - get(IT, t + DOF_AT))
        theta = get(IA, own + loops.T_THETA)
        if theta >= 0:
            put(IE, here + loops.T_THETA, get(I, u + THETA_AT) + theta - get(IT, t + THETA_AT))
    put(IQ, row_records.PLANNED, 0)
    put(IQ, loops.N_PIVOTS, 0)


@callee
def write_run(I, X, Y, Z, IT, IA, XA, ID, XD, IE, XE, IQ, IF, XF, IS, XS):
    """Write what a run knows of bodies and dofs; plans are made anew."""
    copy_clusters(I, X, Y)
    copy_clusters(I, X, Z)
    write_hinges(I, X, IT, IA, XA, IS, XS)
    write_drives(I, IT, IA, XA, IF, XF)
    write_floating(I, IA, IS)
    write_limits(I, IT, IA, XA, IS, XS)
    write_shapes(IA, XA, ID, XD, IS, XS)
    if IA[whole.BY_CLUSTERS] != 0:
        gather_clusters(ID, XD, I[N_BODIES])
    write_loops(I, IT, IA, XA, IE, XE, IQ)
    put(IS, at.ALL_BY_THEMSELVES, 0)
    put(IS, at.N_PLANNED, -1)
    put(IS, at.N_SORTED, -1)


@callee
def install(I, X, IT, XT, IA, XA, A, anew):
    """Write the clusters of the active joints, for coordinates and rates of the whole; `anew`: pieces too."""
    put(IA, rec.N_LEFT, 0)
    if IA[pieces.N_PIECES] == 0:
        angles_of_pins(IT, XT)
        forget_places(IT, IA)
    elif anew:
        rest_forces(IT, XT, IA, XA, -1, IT[N_BODIES])
        call_pieces(A[at.WRITE_PIECES], (IT, XT, IA, XA))
    call_rigidify(A[at.RIGIDIFY], (IT, XT, IA, XA, I, X))
    for k in range(IT[N_BODIES] if IA[pieces.N_PIECES] > 0 else 0):
        put(IA, IA[pieces.FRONT_OF] + k, -1)


@callee
def begin_choice(I, X, IT, XT, IA, XA, IF, IS, XS):
    """Write what a choice has to know: forces, and where the whole, or its parts, are."""
    spread(I, X, IA, IT, XT)
    if IA[pieces.N_PIECES] > 0:
        kinematics(I, X)
        gather_active_forces(I, X, IT, XT, IA, XA, IS, XS)
        push_parts(I, X, IT, IA, XA, IS, XS)
    else:
        kinematics(IT, XT)
        gather_whole_forces(IT, XT, IA, XA, IS, XS)
    add_motors(I, IT, XT, IA, IF, IS, XS)


@kernel(
    IndicesOut, VectorOut, VectorOut, VectorOut, Indices, VectorOut, IndicesOut, VectorOut, IndicesOut,
    VectorOut, IndicesOut, VectorOut, IndicesOut, IndicesOut, VectorOut, IndicesOut, VectorOut, Indices,
    types.int64,
)  # fmt: skip
def adapt(I, X, Y, Z, IT, XT, IA, XA, ID, XD, IE, XE, IQ, IF, XF, IS, XS, A, asked):
    """Choose, where that is asked, and install; return SAME, OTHERS or FAILED.

    To INSTALL or BUILD, coordinates and rates are those of the whole; to CHOOSE, those of the clusters in X.
    """
    ended = OTHERS
    if asked != whole.CHOOSE:
        install(I, X, IT, XT, IA, XA, A, asked == whole.BUILD)
    else:
        begin_choice(I, X, IT, XT, IA, XA, IF, IS, XS)
        ended = call_choose(A[at.CHOOSE_JOINTS], (IT, XT, IA, XA))
        if IA[pieces.N_PIECES] > 0:
            let_sleep(IA)
            rest_forces(IT, XT, IA, XA, IA[rec.LEFT], IA[rec.N_LEFT])
        if ended != OTHERS:
            return ended
        if call_rigidify(A[at.RIGIDIFY], (IT, XT, IA, XA, I, X)) != 0:
            return FAILED
        put(IS, at.N_HISTORY, 0)  # accelerations of other dofs
        put(XS, IS[at.INERTIA], 0.0)
    place_new(IA, XA)
    write_run(I, X, Y, Z, IT, IA, XA, ID, XD, IE, XE, IQ, IF, XF, IS, XS)
    return ended
