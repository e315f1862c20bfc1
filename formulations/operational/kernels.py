"""Compiled assembly of `os`: from a state and its contacts to M and q in one call, O(N) + O(n_c²).

First the rows in contact components, w = A p + b. A *form* is one of them, a row of Q: a closure, a joint
limit, or one component of a contact's relative velocity. Its halves are the wrenches on single bodies (rows,
in the words of `multibody.memory.row_records`), one after another. With Lambda between the halves,

    A[f, g] = sum over halves h of f, k of g of Lambda[h, k],     b = velocity after a free step + asked,

and by how much contacts yield on the diagonal of A.

Then the laws: a *group* joins the forms of one contact to its unknowns beta by the law's directions C; a
closure or limit is a group of one form with C = 1:

    M[beta_i, beta_j] = C_i* A_ij C_j,     q[beta_i] = C_i* b_i.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from numba import types

from mcpframe.contact.contact import R_NORMAL, RECORD
from mcpframe.jit import Indices, IndicesOut, Vector, VectorOut, callee, inline, kernel
from mcpframe.jit.lanes import (
    get,
    load,
    put,
    spread_x,
    spread_y,
    spread_z,
    store,
    transpose,
    x_of,
    y_of,
    z_of,
    zero,
)
from mcpframe.jit.memory import Memory
from mcpframe.multibody.kernels.articulated import free_accelerations
from mcpframe.multibody.kernels.compliance import block_between, compliance_of_rows
from mcpframe.multibody.kernels.entries import KICKED, PLACED
from mcpframe.multibody.kernels.kinematics import kinematics
from mcpframe.multibody.kernels.mass import clear_push, solve_mass_into
from mcpframe.multibody.memory.records import (
    B_ACCELERATION,
    B_BIAS,
    B_VELOCITY,
    BODIES,
    BODY,
    GRAVITY,
    PAIR,
    PUSH,
    REFERENCE,
    SECTION,
    TREE,
    TREE_ROW,
)
from mcpframe.multibody.memory.row_records import MEMORY as ROWS_MEMORY
from mcpframe.multibody.memory.row_records import PLANNED, ROW_BODY, WRENCHES
from mcpframe.solving.stages import SOFTNESS
from mcpframe.spatial.algebra import copy, cross, inner, load_pair, plus_scaled, scaled, store_pair

# The memory of a step: halves are its rows.
MEMORY = Memory(ROWS_MEMORY)
N_FORMS, N_GROUPS, N_Z = MEMORY.counts(3)
FORM_AT, FORM_CONTACT = MEMORY.integers("form + 1"), MEMORY.integers("form")
FORM_COMPONENT, FORM_SHIFT = MEMORY.integers("form"), MEMORY.integers("form")
"""FORM_SHIFT: which of the shifts is added to the velocity of a form, -1 for none."""
FORM_BLOCK = MEMORY.integers("form")
"""Of the first of several forms that follow each other on the same bodies: how many they are."""
# Row of GROUPS: its forms, its unknowns, where its C begins in DIRECTIONS.
G_FORM, G_FORMS, G_UNKNOWN, G_UNKNOWNS, G_DIRECTIONS, GROUP_ROW = range(6)
GROUPS = MEMORY.integers("group", GROUP_ROW)
SIGNS, FORM_A, FORM_B = MEMORY.doubles("row"), MEMORY.doubles("form", "form"), MEMORY.doubles("form")
FORM_ASKED, FORM_VELOCITY = MEMORY.doubles("form"), MEMORY.doubles(3, "form")
"""FORM_ASKED: what the step adds to forms without a shift, those of closures and limits; zero for the others.
Behind the velocities of all N_FORMS forms: their impulses, then their velocities after the step."""
DIRECTIONS, SCRATCH = MEMORY.doubles("direction"), MEMORY.doubles("scratch")
M_AT = MEMORY.doubles("z + 1", "z")
"""M by rows, q behind it."""

R_AXES = R_NORMAL
"""In a contact's record: its axes n, t_1, t_2."""


@inline
def contact_wrench(records, contact, component, at):
    """Return the unit wrench of a component of a contact about the point `at`, and the arm from there."""
    o = contact * RECORD
    arm = load(records, o) - at
    axis = load(records, o + R_AXES + 4 * (component % 3))
    if component < 3:
        return (axis, zero()), arm
    return (cross(arm, axis), axis), arm


@callee
def contact_halves(I, X, IR, XR, records, dt, bias):
    """Write the wrenches of all contact halves, and the velocity of every form after a free step.

    Without constraints the halves see V + dt a, a the acceleration due to theta_ddot_f; `bias` times the
    acceleration at constant rates comes on top [J14, Eq. (45)].
    """
    tree, bodies, reference = I[TREE], I[BODIES], I[REFERENCE]
    g = load(X, I[GRAVITY])
    for f in range(IR[N_FORMS]):
        contact, component = get(IR, IR[FORM_CONTACT] + f), get(IR, IR[FORM_COMPONENT] + f)
        total = 0.0
        for h in range(get(IR, IR[FORM_AT] + f), get(IR, IR[FORM_AT] + f + 1)):
            body = get(IR, IR[ROW_BODY] + h)
            o = bodies + body * BODY
            V = load_pair(X, o + B_VELOCITY)
            if contact >= 0:
                at = load(X, reference + 4 * get(I, tree + body * TREE_ROW + SECTION))
                wrench, arm = contact_wrench(records, contact, component, at)
                wrench = scaled(get(XR, IR[SIGNS] + h), wrench)
                store_pair(XR, IR[WRENCHES] + h * PAIR, wrench)
                if bias != 0.0:
                    w_dot, v_dot = load_pair(X, o + B_BIAS)
                    turning = cross(V[0], V[1] + cross(V[0], arm))
                    total += bias * inner(wrench, (w_dot, v_dot + g + turning))
            else:
                wrench = load_pair(XR, IR[WRENCHES] + h * PAIR)
            total += inner(wrench, plus_scaled(V, dt, load_pair(X, o + B_ACCELERATION)))
        put(XR, IR[FORM_VELOCITY] + f, total)


@callee
def plan_blocks(IR):
    """Find the blocks of forms: those that follow each other on the same bodies."""
    first = 0
    for f in range(IR[N_FORMS]):
        a, b = get(IR, IR[FORM_AT] + first), get(IR, IR[FORM_AT] + f)
        s = get(IR, IR[FORM_AT] + first + 1) - a
        same = get(IR, IR[FORM_AT] + f + 1) - b == s
        for i in range(s):
            same = same and get(IR, IR[ROW_BODY] + a + i) == get(IR, IR[ROW_BODY] + b + i)
        if not same:
            first = f
        put(IR, IR[FORM_BLOCK] + first, f + 1 - first)


@inline
def block_at(IR, f):
    """Return of the block that begins with form f: how many forms, its first half, how many each form has."""
    half = get(IR, IR[FORM_AT] + f)
    return get(IR, IR[FORM_BLOCK] + f), half, get(IR, IR[FORM_AT] + f + 1) - half


@callee
def form_compliance(IR, XR):
    """Write A between all forms."""
    n, A, f = IR[N_FORMS], IR[FORM_A], 0
    while f < n:
        m, h, s = block_at(IR, f)
        g = 0
        while g <= f:
            l, k, t = block_at(IR, g)
            block_between(IR, XR, h, m, s, k, l, t, A + f * n + g, n)
            g += l
        f += m
    for f in range(n):
        for g in range(f):
            put(XR, A + g * n + f, get(XR, A + f * n + g))


@callee
def soften(IR, XR, softness):
    """Add by how much contacts yield to the diagonal of A."""
    n = IR[N_FORMS]
    for f in range(n):
        contact = get(IR, IR[FORM_CONTACT] + f)
        if contact >= 0:
            i = IR[FORM_A] + f * n + f
            yields = get(softness, SOFTNESS * contact + get(IR, IR[FORM_COMPONENT] + f))
            put(XR, i, get(XR, i) + yields)


@callee
def form_constants(IR, XR, shift):
    """Write b of all forms."""
    for f in range(IR[N_FORMS]):
        shifted = get(IR, IR[FORM_SHIFT] + f)
        asked = get(shift, shifted) if shifted >= 0 else get(XR, IR[FORM_ASKED] + f)
        put(XR, IR[FORM_B] + f, get(XR, IR[FORM_VELOCITY] + f) + asked)


@inline
def group_block(IR, XR, i, j):
    """Write M[beta_i, beta_j] = C_i* A_ij C_j and its mirror image."""
    n_forms, n_z, A, M, T = IR[N_FORMS], IR[N_Z], IR[FORM_A], IR[M_AT], IR[SCRATCH]
    a, b = IR[GROUPS] + i * GROUP_ROW, IR[GROUPS] + j * GROUP_ROW
    f_i, r_i, z_i, m_i = get(IR, a), get(IR, a + 1), get(IR, a + 2), get(IR, a + 3)
    f_j, r_j, z_j, m_j = get(IR, b), get(IR, b + 1), get(IR, b + 2), get(IR, b + 3)
    C_i, C_j = IR[DIRECTIONS] + get(IR, a + G_DIRECTIONS), IR[DIRECTIONS] + get(IR, b + G_DIRECTIONS)
    for f in range(r_i):
        for c in range(m_j):
            total = 0.0
            for g in range(r_j):
                total += get(XR, A + (f_i + f) * n_forms + f_j + g) * get(XR, C_j + g * m_j + c)
            put(XR, T + f * m_j + c, total)
    for d in range(m_i):
        for c in range(m_j):
            total = 0.0
            for f in range(r_i):
                total += get(XR, C_i + f * m_i + d) * get(XR, T + f * m_j + c)
            put(XR, M + (z_i + d) * n_z + z_j + c, total)
            put(XR, M + (z_j + c) * n_z + z_i + d, total)


@inline
def put_row(XR, a, C, m, out):
    """Write a* C to XR[out]: three numbers times the rows of C, m long."""
    whole = m // 4 * 4
    x, y, z = spread_x(a), spread_y(a), spread_z(a)
    for c in range(0, whole, 4):
        store(XR, out + c, x * load(XR, C + c) + y * load(XR, C + m + c) + z * load(XR, C + 2 * m + c))
    for c in range(whole, m):
        rows = get(XR, C + c), get(XR, C + m + c), get(XR, C + 2 * m + c)
        put(XR, out + c, x_of(a) * rows[0] + y_of(a) * rows[1] + z_of(a) * rows[2])


@inline
def mirror(XR, block, rows, columns, image, stride):
    """Write a block of M, which is not on the diagonal, to where its mirror image is."""
    whole_rows, whole_columns = rows // 4 * 4, columns // 4 * 4
    for d in range(0, whole_rows, 4):
        for c in range(0, whole_columns, 4):
            o = block + d * stride + c
            a, b = load(XR, o), load(XR, o + stride)
            turned = transpose(a, b, load(XR, o + 2 * stride), load(XR, o + 3 * stride))
            o = image + c * stride + d
            store(XR, o, turned[0])
            store(XR, o + stride, turned[1])
            store(XR, o + 2 * stride, turned[2])
            store(XR, o + 3 * stride, turned[3])
    for d in range(rows):
        for c in range(whole_columns if d < whole_rows else 0, columns):
            put(XR, image + c * stride + d, get(XR, block + d * stride + c))


@inline
def friction_block(IR, XR, i, j):
    """As `group_block` where both have three forms, as every contact with friction: A in registers."""
    n_forms, n_z, M = IR[N_FORMS], IR[N_Z], IR[M_AT]
    a, b = IR[GROUPS] + i * GROUP_ROW, IR[GROUPS] + j * GROUP_ROW
    z_i, m_i, z_j, m_j = get(IR, a + 2), get(IR, a + 3), get(IR, b + 2), get(IR, b + 3)
    C_i, C_j = IR[DIRECTIONS] + get(IR, a + G_DIRECTIONS), IR[DIRECTIONS] + get(IR, b + G_DIRECTIONS)
    o = IR[FORM_A] + get(IR, a) * n_forms + get(IR, b)
    A_0, A_1, A_2 = load(XR, o), load(XR, o + n_forms), load(XR, o + 2 * n_forms)
    block = M + z_i * n_z + z_j
    for d in range(m_i):
        x, y, z = get(XR, C_i + d), get(XR, C_i + m_i + d), get(XR, C_i + 2 * m_i + d)
        put_row(XR, x * A_0 + y * A_1 + z * A_2, C_j, m_j, block + d * n_z)
    if i != j:
        mirror(XR, block, m_i, m_j, M + z_j * n_z + z_i, n_z)
    else:
        for d in range(m_i):
            for c in range(d):
                put(XR, block + c * n_z + d, get(XR, block + d * n_z + c))


@inline
def plain_groups(IR, XR):
    """Return how many groups come first whose M is A: one form, one unknown, C = 1, as of closures."""
    for i in range(IR[N_GROUPS]):
        a = IR[GROUPS] + i * GROUP_ROW
        if get(IR, a + G_FORMS) * get(IR, a + G_UNKNOWNS) != 1 or get(IR, a + G_UNKNOWN) != i:
            return i
        if get(XR, IR[DIRECTIONS] + get(IR, a + G_DIRECTIONS)) != 1.0:
            return i
    return IR[N_GROUPS]


@callee
def group_blocks(IR, XR):
    """Write the blocks of M between all groups."""
    plain = plain_groups(IR, XR)
    for i in range(plain):
        copy(XR, IR[FORM_A] + i * IR[N_FORMS], XR, IR[M_AT] + i * IR[N_Z], plain)
    for i in range(plain, IR[N_GROUPS]):
        a = IR[GROUPS] + i * GROUP_ROW
        for j in range(i + 1):
            if get(IR, a + G_FORMS) == 3 and get(IR, IR[GROUPS] + j * GROUP_ROW + G_FORMS) == 3:
                friction_block(IR, XR, i, j)
            else:
                group_block(IR, XR, i, j)


@callee
def group_constants(IR, XR):
    """Write the rows of q of all groups: C* b."""
    b, q = IR[FORM_B], IR[M_AT] + IR[N_Z] * IR[N_Z]
    for i in range(IR[N_GROUPS]):
        a = IR[GROUPS] + i * GROUP_ROW
        first, unknown, count = get(IR, a), get(IR, a + G_UNKNOWN), get(IR, a + G_UNKNOWNS)
        C = IR[DIRECTIONS] + get(IR, a + G_DIRECTIONS)
        for c in range(count):
            total = 0.0
            for f in range(get(IR, a + G_FORMS)):
                total += get(XR, C + f * count + c) * get(XR, b + first + f)
            put(XR, q + unknown + c, total)


@kernel(
    Indices,
    VectorOut,
    IndicesOut,
    VectorOut,
    Vector,
    Vector,
    Vector,
    types.float64,
    types.float64,
    types.int64,
    nogil=False,
)
def operational_space(I, X, IR, XR, records, shift, softness, dt, bias, done):
    """Write A, b, M and q of a step; return 0, 1 + a dof without inertia, or NOT_FINITE.

    Args:
        I, X: the state, its forces in TAU.
        IR, XR: the step's forms, as `operational_plan` lays them out.
        records: the contacts [n_u * 20].
        shift: speeds that are added to their velocities along n, t_1 and t_2 [n_u * 3].
        softness: by how much they yield to their impulsive wrenches [n_u * 6].
        dt: seconds.
        bias: dt where the contact rows get dt times their acceleration at constant rates, else 0.
        done: how far the state has come: as in `multibody.kernels.entries`.
    """
    if done < PLACED:
        kinematics(I, X)
    failed, free = 0, 0.0
    if done < KICKED:
        failed, free = free_accelerations(I, X, False), dt
    contact_halves(I, X, IR, XR, records, free, bias)
    if get(IR, PLANNED) == 0:
        plan_blocks(IR)
    compliance_of_rows(I, X, IR, XR)
    form_compliance(IR, XR)
    soften(IR, XR, softness)
    form_constants(IR, XR, shift)
    group_blocks(IR, XR)
    group_constants(IR, XR)
    return failed


@callee
def impulses_of_forms(IR, XR, z):
    """Write C beta of all forms behind their velocities."""
    p = IR[FORM_VELOCITY] + IR[N_FORMS]
    for i in range(IR[N_GROUPS]):
        a = IR[GROUPS] + i * GROUP_ROW
        first, unknown, count = get(IR, a), get(IR, a + G_UNKNOWN), get(IR, a + G_UNKNOWNS)
        C = IR[DIRECTIONS] + get(IR, a + G_DIRECTIONS)
        for f in range(get(IR, a + G_FORMS)):
            total = 0.0
            for c in range(count):
                total += get(XR, C + f * count + c) * get(z, unknown + c)
            put(XR, p + first + f, total)


@callee
def push_forms(I, X, IR, XR):
    """Add the wrenches of the forms' impulses on all bodies to PUSH."""
    p = IR[FORM_VELOCITY] + IR[N_FORMS]
    for f in range(IR[N_FORMS]):
        impulse = get(XR, p + f)
        for h in range(get(IR, IR[FORM_AT] + f), get(IR, IR[FORM_AT] + f + 1)):
            i = I[PUSH] + get(IR, IR[ROW_BODY] + h) * PAIR
            wrench = load_pair(XR, IR[WRENCHES] + h * PAIR)
            store_pair(X, i, plus_scaled(load_pair(X, i), impulse, wrench))


@kernel(Indices, VectorOut, IndicesOut, VectorOut, Vector, VectorOut, nogil=False)
def operational_response(I, X, IR, XR, impulses, response):
    """Write Mass^-1 G* p of p = [p_b; p_l; beta], on what `operational_space` has left, in O(N)."""
    impulses_of_forms(IR, XR, impulses)
    clear_push(I, X)
    push_forms(I, X, IR, XR)
    for d in range(response.shape[0]):
        put(response, d, 0.0)
    solve_mass_into(I, X, response, response)
