"""Compiled assembly of `os`: from a state and its contacts to M and q in one call, O(N) + O(n_c²).

A *form* is a row of Q: a closure, a joint limit, or one component of a contact's relative velocity. Its
halves are the wrenches on single bodies (rows, in the words of `multibody.memory.row_records`), one after
another. A *group* joins the forms of one contact to its unknowns beta by the law's directions C; a closure
or limit is a group of one form with C = 1. With Lambda between the halves,

    forms:   L[f, g] = sum over halves h of f, k of g of Lambda[h, k],
    groups:  M[beta_i, beta_j] = C_i* L_ij C_j.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from numba import types

from mcpframe.contact.contact import NORMAL, RECORD
from mcpframe.jit import Indices, IndicesOut, Vector, VectorOut, callee, inline, kernel
from mcpframe.multibody.kernels.articulated import free_accelerations
from mcpframe.multibody.kernels.compliance import between, compliance_of_rows
from mcpframe.multibody.kernels.entries import PLACED
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
from mcpframe.multibody.memory.row_records import ROW_BODY, ROW_HEAD, WRENCHES
from mcpframe.spatial.algebra import cross, inner, load_pair, plus_scaled, scaled, store_pair
from mcpframe.spatial.lanes import get, load, put, zero

# Head of a step's integers, after that of its rows: counts, then where things begin.
N_FORMS, N_GROUPS, N_Z = range(ROW_HEAD, ROW_HEAD + 3)
FORM_AT, FORM_CONTACT, FORM_COMPONENT, FORM_SHIFT, GROUPS = range(ROW_HEAD + 3, ROW_HEAD + 8)
"""FORM_SHIFT: the contact whose shift is added to the velocity of a form, -1 for none."""
# Where things begin in its doubles.
SIGNS, FORM_LAMBDA, FORM_VELOCITY, DIRECTIONS, SCRATCH, M_AT = range(ROW_HEAD + 8, ROW_HEAD + 14)
# M by rows from M_AT, q behind it. Behind FORM_VELOCITY: the impulses of the forms.
FORM_HEAD = ROW_HEAD + 16

# Row of GROUPS: its forms, its unknowns, where its C begins in DIRECTIONS.
G_FORM, G_FORMS, G_UNKNOWN, G_UNKNOWNS, G_DIRECTIONS = range(5)
GROUP_ROW = 5

R_AXES = NORMAL.start
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
def form_compliance(IR, XR):
    """Write L between all forms, lower half."""
    n, form_at, L = IR[N_FORMS], IR[FORM_AT], IR[FORM_LAMBDA]
    for f in range(n):
        for g in range(f + 1):
            total = 0.0
            for h in range(get(IR, form_at + f), get(IR, form_at + f + 1)):
                for k in range(get(IR, form_at + g), get(IR, form_at + g + 1)):
                    total += between(IR, XR, h, k)
            put(XR, L + f * n + g, total)
            put(XR, L + g * n + f, total)


@inline
def group_block(IR, XR, i, j):
    """Write M[beta_i, beta_j] = C_i* L_ij C_j and its mirror image."""
    n_forms, n_z, L, M, T = IR[N_FORMS], IR[N_Z], IR[FORM_LAMBDA], IR[M_AT], IR[SCRATCH]
    a, b = IR[GROUPS] + i * GROUP_ROW, IR[GROUPS] + j * GROUP_ROW
    f_i, r_i, z_i, m_i = get(IR, a), get(IR, a + 1), get(IR, a + 2), get(IR, a + 3)
    f_j, r_j, z_j, m_j = get(IR, b), get(IR, b + 1), get(IR, b + 2), get(IR, b + 3)
    C_i, C_j = IR[DIRECTIONS] + get(IR, a + G_DIRECTIONS), IR[DIRECTIONS] + get(IR, b + G_DIRECTIONS)
    for f in range(r_i):
        for c in range(m_j):
            total = 0.0
            for g in range(r_j):
                total += get(XR, L + (f_i + f) * n_forms + f_j + g) * get(XR, C_j + g * m_j + c)
            put(XR, T + f * m_j + c, total)
    for d in range(m_i):
        for c in range(m_j):
            total = 0.0
            for f in range(r_i):
                total += get(XR, C_i + f * m_i + d) * get(XR, T + f * m_j + c)
            put(XR, M + (z_i + d) * n_z + z_j + c, total)
            put(XR, M + (z_j + c) * n_z + z_i + d, total)


@inline
def friction_block(IR, XR, i, j):
    """As `group_block` where both have three forms, as every contact with friction: L in registers."""
    n_forms, n_z, M = IR[N_FORMS], IR[N_Z], IR[M_AT]
    a, b = IR[GROUPS] + i * GROUP_ROW, IR[GROUPS] + j * GROUP_ROW
    z_i, m_i, z_j, m_j = get(IR, a + 2), get(IR, a + 3), get(IR, b + 2), get(IR, b + 3)
    C_i, C_j = IR[DIRECTIONS] + get(IR, a + G_DIRECTIONS), IR[DIRECTIONS] + get(IR, b + G_DIRECTIONS)
    o = IR[FORM_LAMBDA] + get(IR, a) * n_forms + get(IR, b)
    L_0 = get(XR, o), get(XR, o + 1), get(XR, o + 2)
    L_1 = get(XR, o + n_forms), get(XR, o + n_forms + 1), get(XR, o + n_forms + 2)
    L_2 = get(XR, o + 2 * n_forms), get(XR, o + 2 * n_forms + 1), get(XR, o + 2 * n_forms + 2)
    for c in range(m_j):
        x, y, z = get(XR, C_j + c), get(XR, C_j + m_j + c), get(XR, C_j + 2 * m_j + c)
        t_0 = L_0[0] * x + L_0[1] * y + L_0[2] * z
        t_1 = L_1[0] * x + L_1[1] * y + L_1[2] * z
        t_2 = L_2[0] * x + L_2[1] * y + L_2[2] * z
        for d in range(m_i):
            total = get(XR, C_i + d) * t_0 + get(XR, C_i + m_i + d) * t_1 + get(XR, C_i + 2 * m_i + d) * t_2
            put(XR, M + (z_i + d) * n_z + z_j + c, total)
            put(XR, M + (z_j + c) * n_z + z_i + d, total)


@callee
def group_blocks(IR, XR):
    """Write the blocks of M between all groups."""
    for i in range(IR[N_GROUPS]):
        a = IR[GROUPS] + i * GROUP_ROW
        for j in range(i + 1):
            if get(IR, a + G_FORMS) == 3 and get(IR, IR[GROUPS] + j * GROUP_ROW + G_FORMS) == 3:
                friction_block(IR, XR, i, j)
            else:
                group_block(IR, XR, i, j)


@callee
def group_constants(IR, XR, shift):
    """Write the rows of q of all groups: C* (velocity + shift)."""
    velocity, q = IR[FORM_VELOCITY], IR[M_AT] + IR[N_Z] * IR[N_Z]
    for i in range(IR[N_GROUPS]):
        a = IR[GROUPS] + i * GROUP_ROW
        first, unknown, count = get(IR, a), get(IR, a + G_UNKNOWN), get(IR, a + G_UNKNOWNS)
        C = IR[DIRECTIONS] + get(IR, a + G_DIRECTIONS)
        for c in range(count):
            total = 0.0
            for f in range(get(IR, a + G_FORMS)):
                value = get(XR, velocity + first + f)
                shifted = get(IR, IR[FORM_SHIFT] + first + f)
                if shifted >= 0:
                    value += get(shift, shifted)
                total += get(XR, C + f * count + c) * value
            put(XR, q + unknown + c, total)


@kernel(
    Indices,
    VectorOut,
    IndicesOut,
    VectorOut,
    Vector,
    Vector,
    types.float64,
    types.float64,
    types.int64,
    nogil=False,
)
def operational_space(I, X, IR, XR, records, shift, dt, bias, done):
    """Write M and q of the step's forms; return 0, 1 + a dof without inertia, or NOT_FINITE.

    Args:
        I, X: the state, its forces in TAU.
        IR, XR: the step's forms, as `operational_plan` lays them out.
        records: the contacts [n_u * 20].
        shift: speeds that are added to their normal velocities [n_u].
        dt: seconds.
        bias: dt where the contact rows get dt times their acceleration at constant rates, else 0.
        done: how far the state has come: NOTHING or PLACED.
    """
    if done < PLACED:
        kinematics(I, X)
    failed = free_accelerations(I, X)
    contact_halves(I, X, IR, XR, records, dt, bias)
    compliance_of_rows(I, X, IR, XR)
    form_compliance(IR, XR)
    group_blocks(IR, XR)
    group_constants(IR, XR, shift)
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
    """Write the wrenches of the forms' impulses on all bodies into PUSH."""
    clear_push(I, X)
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
    push_forms(I, X, IR, XR)
    for d in range(response.shape[0]):
        put(response, d, 0.0)
    solve_mass_into(I, X, response, response)
