"""Forces for a choice of active joints: what acts at the hinges of the whole, or on its parts.

Contacts and limits press as they did in the last step; motors are at joints that are always active, and pull
as they do where it ended.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.detection import records as found
from mcpframe.contact.detection.kernels.broad_phase import origin_of
from mcpframe.jit import callee, inline, window
from mcpframe.jit.lanes import get, load, put
from mcpframe.multibody.adaptive import piece_records as pieces
from mcpframe.multibody.adaptive import records as rec
from mcpframe.multibody.adaptive.fronts import find_parts, wake
from mcpframe.multibody.adaptive.released import part_of
from mcpframe.multibody.kernels.loops import reference_of
from mcpframe.multibody.kernels.mass import clear_push, generalized_force_into
from mcpframe.multibody.memory.records import (
    B_ROTATION,
    BODIES,
    BODY,
    DOF_AT,
    N_BODIES,
    N_DOF,
    N_DOFS,
    PAIR,
    PARENT,
    PUSH,
    TAU,
    THETA,
    THETA_AT,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.simulation.memory import adaptive_slots as whole
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.drive_slots import N_DRIVES
from mcpframe.simulation.step.moving.motion import difference
from mcpframe.spatial.algebra import combine, cross, dot, load_matrix, load_pair, plus, store_pair


@inline
def push_body(IT, XT, body, point, force):
    """Add a force at a point of a body to PUSH; the world takes any."""
    if body >= 0:
        i = IT[PUSH] + body * PAIR
        arm = point - reference_of(IT, XT, body)
        store_pair(XT, i, plus(load_pair(XT, i), (cross(arm, force), force)))


@callee
def push_contacts(IT, XT, IA, XA, IS, XS):
    """Write what the forces of contacts and limits do at the hinges of the whole, which is placed."""
    n_shapes, pushed = IA[whole.N_SHAPES], window(XA, IA[whole.PUSHED], IT[N_DOFS])
    clear_push(IT, XT)
    for i in range(IS[at.N_FORCES]):
        key, row = get(IS, IS[at.FORCE_KEYS] + i), IS[at.FORCES] + 8 * i
        if key >= 0:
            pair = key // found.FEATURES
            point, force = load(XS, row), load(XS, row + 4)
            push_body(IT, XT, get(IA, IA[whole.SHAPE_BODY] + pair // n_shapes), point, force)
            push_body(IT, XT, get(IA, IA[whole.SHAPE_BODY] + pair % n_shapes), point, -force)
    generalized_force_into(IT, XT, pushed)
    for i in range(IS[at.N_FORCES]):
        key = get(IS, IS[at.FORCE_KEYS] + i)
        if key < 0:
            limit = -1 - key
            d = IA[whole.PUSHED] + get(IA, IA[whole.LIMITS] + limit * at.LIMIT_ROW + at.M_DOF)
            sign = get(XA, IA[whole.LIMIT_VALUES] + 4 * limit + at.M_SIGN)
            put(XA, d, get(XA, d) + sign * get(XS, IS[at.FORCES] + 8 * i + 7))


@callee
def add_motors(I, IT, XT, IA, IF, IS, XS):
    """Add what motors pull with beyond constant forces to TAU of the joints that they are at."""
    if IF[N_DRIVES] == 0:
        return
    for c in range(I[N_BODIES]):
        u, t = I[TREE] + c * TREE_ROW, IT[TREE] + get(IA, IA[rec.HINGE_BODY] + c) * TREE_ROW
        for i in range(get(I, u + N_DOF)):
            e, d = get(I, u + DOF_AT) + i, IT[TAU] + get(IT, t + DOF_AT) + i
            put(XT, d, get(XT, d) + get(XS, IS[at.SAMPLED] + e) - get(XS, IS[at.CONSTANT] + e))


@callee
def gather_whole_forces(IT, XT, IA, XA, IS, XS):
    """Write TAU of the whole: constant forces, springs and dampers, contacts and limits."""
    push_contacts(IT, XT, IA, XA, IS, XS)
    if IS[at.PASSIVE] != 0:
        difference(IT, XA, IA[whole.REST], XT, IT[THETA], XA, IA[whole.AWAY])
    for d in range(IT[N_DOFS]):
        force = get(XA, IA[whole.CONSTANT] + d) + get(XA, IA[whole.PUSHED] + d)
        if IS[at.PASSIVE] != 0:
            force -= get(XA, IA[whole.DAMPING] + d) * get(XT, IT[THETA_DOT] + d)
            force -= get(XA, IA[whole.STIFFNESS] + d) * get(XA, IA[whole.AWAY] + d)
        put(XT, IT[TAU] + d, force)


@inline
def still_force(IT, XT, IA, XA, k):
    """Return what acts at a hinge of one dof while it is at rest: constant forces and springs."""
    t = IT[TREE] + k * TREE_ROW
    d, q = get(IT, t + DOF_AT), get(IT, t + THETA_AT)
    away = get(XT, IT[THETA] + q) - get(XA, IA[whole.REST] + q)
    return get(XA, IA[whole.CONSTANT] + d) - get(XA, IA[whole.STIFFNESS] + d) * away


@callee
def rest_forces(IT, XT, IA, XA, bodies, n):
    """Write TAU of rigid hinges: those of n bodies from IA[bodies] on, or of all but the roots'."""
    for i in range(n):
        k = get(IA, bodies + i) if bodies >= 0 else i
        t = IT[TREE] + k * TREE_ROW
        if get(IT, t + PARENT) >= 0:
            put(XT, IT[TAU] + get(IT, t + DOF_AT), still_force(IT, XT, IA, XA, k))


@callee
def gather_active_forces(I, X, IT, XT, IA, XA, IS, XS):
    """Write TAU of the active joints: constant forces, springs and dampers, limits; that of others stays."""
    if IS[at.PASSIVE] != 0:
        difference(I, XS, IS[at.REST], X, I[THETA], XA, IA[whole.AWAY])
    for c in range(I[N_BODIES]):
        u, t = I[TREE] + c * TREE_ROW, IT[TREE] + get(IA, IA[rec.HINGE_BODY] + c) * TREE_ROW
        for i in range(get(I, u + N_DOF)):
            e, d = get(I, u + DOF_AT) + i, get(IT, t + DOF_AT) + i
            force = get(XA, IA[whole.CONSTANT] + d)
            if IS[at.PASSIVE] != 0:
                force -= get(XA, IA[whole.DAMPING] + d) * get(X, I[THETA_DOT] + e)
                force -= get(XA, IA[whole.STIFFNESS] + d) * get(XA, IA[whole.AWAY] + e)
            put(XT, IT[TAU] + d, force)
    for i in range(IS[at.N_FORCES]):
        key = get(IS, IS[at.FORCE_KEYS] + i)
        if key < 0:
            limit = -1 - key
            d = IT[TAU] + get(IA, IA[whole.LIMITS] + limit * at.LIMIT_ROW + at.M_DOF)
            sign = get(XA, IA[whole.LIMIT_VALUES] + 4 * limit + at.M_SIGN)
            put(XT, d, get(XT, d) + sign * get(XS, IS[at.FORCES] + 8 * i + 7))


@inline
def pushed_body(IA, IS, i, side):
    """Return the body of the whole that the i-th force acts on, -1 for the world and for limits."""
    key = get(IS, IS[at.FORCE_KEYS] + i)
    if key < 0:
        return -1
    pair, n = key // found.FEATURES, IA[whole.N_SHAPES]
    return get(IA, IA[whole.SHAPE_BODY] + (pair // n if side == 0 else pair % n))


@callee
def push_part(I, X, IA, XA, k, point, force):
    """Add a force at a point of the world to what pushes the part of a single link."""
    c, place = get(IA, IA[rec.CLUSTER] + k), IA[rec.PLACES] + k * rec.PLACE
    o = I[BODIES] + c * BODY
    R_c = load_matrix(X, o + B_ROTATION)
    R = combine(R_c, XA, place), combine(R_c, XA, place + 4), combine(R_c, XA, place + 8)
    arm = point - origin_of(I, X, c) - combine(R_c, XA, place + rec.PL_POSITION)
    moment = cross(arm, force)
    push = part_of(IA, get(IA, IA[pieces.TIP_PART] + k)) + pieces.PA_PUSH
    for r in range(3):
        axis = R[0] if r == 0 else (R[1] if r == 1 else R[2])
        put(XA, push + r, get(XA, push + r) + dot(axis, moment))
        put(XA, push + 3 + r, get(XA, push + 3 + r) + dot(axis, force))


@callee
def push_parts(I, X, IT, IA, XA, IS, XS):
    """Find the parts for a choice, links that contacts press on apart, and what presses on them."""
    for i in range(IS[at.N_FORCES]):
        for side in range(2):
            k = pushed_body(IA, IS, i, side)
            if k >= 0:
                wake(IA, k)
    find_parts(IT, IA)
    for i in range(IS[at.N_FORCES]):
        row, sign = IS[at.FORCES] + 8 * i, 1.0
        for side in range(2):
            k = pushed_body(IA, IS, i, side)
            if k >= 0:
                push_part(I, X, IA, XA, k, load(XS, row), sign * load(XS, row + 4))
            sign = -1.0
