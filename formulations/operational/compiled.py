"""`os` for callers in compiled code: the plan of a step, and the way back from impulses to rates.

As `operational_plan` and `operational_recovery`, on one workspace with room for any contacts up to a number;
contacts only, without closures and joint limits.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import types
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import RECORD
from mcpframe.contact.detection.records import C_BODY_A, C_BODY_B, C_MATERIAL, CONTACT_ROW
from mcpframe.contact.law import FORCE_N, LawRows
from mcpframe.contact.outcome import MODE_TOLERANCE
from mcpframe.formulations.operational.kernels import (
    DIRECTIONS,
    FORM_AT,
    FORM_COMPONENT,
    FORM_CONTACT,
    FORM_HEAD,
    FORM_LAMBDA,
    FORM_VELOCITY,
    G_DIRECTIONS,
    G_FORM,
    G_FORMS,
    G_UNKNOWN,
    G_UNKNOWNS,
    GROUP_ROW,
    GROUPS,
    M_AT,
    N_FORMS,
    N_GROUPS,
    N_Z,
    R_AXES,
    R_GAP,
    SCRATCH,
    SIGNS,
    group_constants,
    impulses_of_forms,
    operational_space,
    push_forms,
)
from mcpframe.jit import Indices, IndicesOut, Vector, VectorOut, address, by_address, callee, inline, kernel
from mcpframe.multibody.kernels.mass import solve_mass_into
from mcpframe.multibody.memory.row_packing import room_for_rows
from mcpframe.multibody.memory.row_records import N_ROWS as N_HALVES
from mcpframe.multibody.memory.row_records import PLANNED, ROW_BODY
from mcpframe.multibody.memory.skeleton import Skeleton
from mcpframe.solving.stages import (
    CONTACT_ROWS,
    LOWER_AT,
    N_ROWS,
    PROBLEM_HEAD,
    Q_AT,
    ROLLING,
    SEPARATING,
    SLIDING,
    UPPER_AT,
    Z_BETA,
    Z_BETAS,
    Z_NORMAL,
    Z_SIGMA,
    Z_SIGMAS,
    CompiledFormulation,
)
from mcpframe.solving.stages import M_AT as PROBLEM_M_AT
from mcpframe.spatial.lanes import get, load, put, store, zero

# Head of IR, after that of the forms: the laws, where data of laws and bounds begin in XR, and the address of
# the kernel that assembles.
LAWS, LAW_DATA, BOUNDS, OPERATIONAL_SPACE = range(FORM_HEAD, FORM_HEAD + 4)
COMPILED_HEAD = FORM_HEAD + 4
# Behind the impulses of the forms, which are behind FORM_VELOCITY: their velocities after the step.

# Row of LAWS: counts of forms, of beta and sigma, which beta is the normal impulse, components of the forms,
# where in DIRECTIONS its C begins, where in LAW_DATA its N, P, R, r and bounds begin.
L_FORMS, L_BETAS, L_SIGMAS, L_NORMAL, L_COMPONENTS, L_DIRECTIONS, L_DATA = 0, 1, 2, 3, 4, 10, 11
LAW_ROW = 12


@inline
def plan_forms(IR, XR, contact, law, body_a, body_b, form, half):
    """List the forms of a contact and their halves; return where the next ones begin."""
    for k in range(get(IR, law + L_FORMS)):
        put(IR, IR[FORM_AT] + form, half)
        put(IR, IR[FORM_CONTACT] + form, contact)
        put(IR, IR[FORM_COMPONENT] + form, get(IR, law + L_COMPONENTS + k))
        if body_a >= 0:
            put(IR, IR[ROW_BODY] + half, body_a)
            put(XR, IR[SIGNS] + half, 1.0)
            half += 1
        if body_b >= 0:
            put(IR, IR[ROW_BODY] + half, body_b)
            put(XR, IR[SIGNS] + half, -1.0)
            half += 1
        form += 1
    return form, half


@inline
def couple(IR, XR, law, n, beta, sigma):
    """Write N, P, R of a contact into M, its r into q."""
    m, s, M = get(IR, law + L_BETAS), get(IR, law + L_SIGMAS), IR[M_AT]
    N = IR[LAW_DATA] + get(IR, law + L_DATA)
    P, R, r = N + m * s, N + 2 * m * s, N + 2 * m * s + s * s
    for j in range(s):
        for i in range(m):
            put(XR, M + (beta + i) * n + sigma + j, get(XR, N + i * s + j))
            put(XR, M + (sigma + j) * n + beta + i, get(XR, P + j * m + i))
        for i in range(s):
            put(XR, M + (sigma + j) * n + sigma + i, get(XR, R + j * s + i))
        put(XR, M + n * n + sigma + j, get(XR, r + j))


@inline
def bound(IR, XR, law, n, beta, sigma):
    """Write the bounds of a contact's unknowns."""
    m, s, lower, upper = get(IR, law + L_BETAS), get(IR, law + L_SIGMAS), IR[BOUNDS], IR[BOUNDS] + n
    data = IR[LAW_DATA] + get(IR, law + L_DATA) + 2 * m * s + s * s + s
    for i in range(m):
        put(XR, lower + beta + i, get(XR, data + i))
        put(XR, upper + beta + i, get(XR, data + m + i))
    for j in range(s):
        put(XR, lower + sigma + j, get(XR, data + 2 * m + j))
        put(XR, upper + sigma + j, get(XR, data + 2 * m + s + j))


@callee
def plan_problem(IR, XR, IP, contacts, n_u, n, n_beta):
    """Write what of the problem does not change while the same bodies touch."""
    for i in range(n * n + n):
        put(XR, IR[M_AT] + i, 0.0)
    beta, sigma = 0, n_beta
    for c in range(n_u):
        law = IR[LAWS] + get(contacts, c * CONTACT_ROW + C_MATERIAL) * LAW_ROW
        m, s = get(IR, law + L_BETAS), get(IR, law + L_SIGMAS)
        couple(IR, XR, law, n, beta, sigma)
        bound(IR, XR, law, n, beta, sigma)
        row = PROBLEM_HEAD + c * CONTACT_ROWS
        put(IP, row + Z_BETA, beta)
        put(IP, row + Z_BETAS, m)
        put(IP, row + Z_SIGMA, sigma)
        put(IP, row + Z_SIGMAS, s)
        put(IP, row + Z_NORMAL, beta + get(IR, law + L_NORMAL))
        beta += m
        sigma += s
    put(IP, N_ROWS, n)
    put(IP, PROBLEM_M_AT, IR[M_AT])
    put(IP, Q_AT, IR[M_AT] + n * n)
    put(IP, LOWER_AT, IR[BOUNDS])
    put(IP, UPPER_AT, IR[BOUNDS] + n)


@kernel(Indices, IndicesOut, VectorOut, IndicesOut, Indices, types.int64)
def plan(I, IR, XR, IP, contacts, n_u):
    """Lay the problem out for contacts; the workspace must have room for them."""
    form, half, beta, sigma = 0, 0, 0, 0
    for c in range(n_u):
        row = c * CONTACT_ROW
        law = IR[LAWS] + get(contacts, row + C_MATERIAL) * LAW_ROW
        group = IR[GROUPS] + c * GROUP_ROW
        put(IR, group + G_FORM, form)
        put(IR, group + G_FORMS, get(IR, law + L_FORMS))
        put(IR, group + G_UNKNOWN, beta)
        put(IR, group + G_UNKNOWNS, get(IR, law + L_BETAS))
        put(IR, group + G_DIRECTIONS, get(IR, law + L_DIRECTIONS))
        bodies = get(contacts, row + C_BODY_A), get(contacts, row + C_BODY_B)
        form, half = plan_forms(IR, XR, c, law, bodies[0], bodies[1], form, half)
        beta += get(IR, law + L_BETAS)
        sigma += get(IR, law + L_SIGMAS)
    put(IR, IR[FORM_AT] + form, half)
    put(IR, N_FORMS, form)
    put(IR, N_HALVES, half)
    put(IR, N_GROUPS, n_u)
    put(IR, N_Z, beta + sigma)
    put(IR, PLANNED, 0)
    plan_problem(IR, XR, IP, contacts, n_u, beta + sigma, beta)
    return 0


@kernel(IndicesOut, VectorOut, Vector, types.float64)
def constants(IR, XR, records, gap_share):
    """Write q again, for other gaps."""
    group_constants(IR, XR, records, gap_share)


@inline
def velocity_after(IR, XR, f):
    """Return the velocity of a form after the step, L p on top of that of a free one."""
    n, L = IR[N_FORMS], IR[FORM_LAMBDA]
    velocity = IR[FORM_VELOCITY]
    total = get(XR, velocity + f)
    for g in range(n):
        total += get(XR, L + f * n + g) * get(XR, velocity + n + g)
    return total


@callee
def contact_results(IR, XR, records, gap_share, impulses, modes):
    """Write impulses in world axes and modes, by the rule of `mcpframe.contact.outcome`."""
    n = IR[N_FORMS]
    velocity, after = IR[FORM_VELOCITY], IR[FORM_VELOCITY] + 2 * n
    fastest = 0.0
    for f in range(n):
        component, contact = get(IR, IR[FORM_COMPONENT] + f), get(IR, IR[FORM_CONTACT] + f)
        v = velocity_after(IR, XR, f)
        if component == FORCE_N:
            v += gap_share * get(records, contact * RECORD + R_GAP)
        if component >= FORCE_N:
            fastest = max(fastest, abs(v))
        put(XR, after + f, v)
    slow = MODE_TOLERANCE * (1.0 + fastest)
    for i in range(IR[N_GROUPS]):
        a = IR[GROUPS] + i * GROUP_ROW
        first = get(IR, a)
        force, normal, slip, has_friction = zero(), 0.0, 0.0, False
        for f in range(first, first + get(IR, a + G_FORMS)):
            component = get(IR, IR[FORM_COMPONENT] + f)
            if component < FORCE_N:
                continue
            axis = load(records, i * RECORD + R_AXES + 4 * (component - FORCE_N))
            force = force + get(XR, velocity + n + f) * axis
            v = get(XR, after + f)
            if component == FORCE_N:
                normal = v
            else:
                slip += v * v
                has_friction = True
        store(impulses, 4 * i, force)
        mode = SLIDING
        if normal > slow:
            mode = SEPARATING
        elif has_friction and slip <= slow * slow:
            mode = ROLLING
        put(modes, i, mode)


@kernel(
    Indices, VectorOut, IndicesOut, VectorOut, Vector, types.float64, Vector, VectorOut, VectorOut, IndicesOut
)
def recover(I, X, IR, XR, records, gap_share, z, response, impulses, modes):
    """Write what the impulses z do; arguments as in `mcpframe.solving.stages`."""
    impulses_of_forms(IR, XR, z)
    push_forms(I, X, IR, XR)
    for d in range(response.shape[0]):
        put(response, d, 0.0)
    solve_mass_into(I, X, response, response)
    contact_results(IR, XR, records, gap_share, impulses, modes)


call_operational_space = by_address(operational_space)


@kernel(Indices, VectorOut, IndicesOut, VectorOut, Vector, types.float64, types.float64, types.int64)
def assemble(I, X, IR, XR, records, dt, gap_share, done):
    """Write M and q; arguments as in `mcpframe.solving.stages`."""
    step = I, X, IR, XR, records, dt, 0.0, gap_share, done
    return call_operational_space(IR[OPERATIONAL_SPACE], step)


def compiled_operational_space(skeleton: Skeleton, laws: Sequence[LawRows]) -> CompiledFormulation | None:
    """Return `os` for callers in compiled code; None where a law has no normal impulse among its unknowns."""
    normals = [_normal(law) for law in laws]
    if not laws or min(normals) < 0:
        return None
    table, directions, data = _tables(laws, normals)
    forms = max(law.used.size for law in laws)
    rows = max(law.m + law.s for law in laws)

    def room(n_contacts: int) -> tuple[NDArray[np.int64], Array]:
        return _room(skeleton.n_bodies, n_contacts, forms, rows, table, directions, data)

    return CompiledFormulation(
        plan=address(plan),
        assemble=address(assemble),
        constants=address(constants),
        recover=address(recover),
        rows_per_contact=rows,
        room=room,
    )


def _normal(law: LawRows) -> int:
    """Return which β is a pure normal force, -1 where none is."""
    unit = np.zeros(6)
    unit[FORCE_N] = 1.0
    found = np.flatnonzero((law.Wd == unit[:, None]).all(axis=0))
    return int(found[0]) if found.size else -1


def _tables(laws: Sequence[LawRows], normals: Sequence[int]) -> tuple[NDArray[np.int64], Array, Array]:
    """Return the rows of LAWS, the laws' directions one after another, and their other data."""
    table = np.zeros((len(laws), LAW_ROW), dtype=np.int64)
    directions = [law.C.ravel() for law in laws]
    data = [np.concatenate([np.ravel(part) for part in _data_of(law)]) for law in laws]
    for k, law in enumerate(laws):
        table[k, : L_NORMAL + 1] = law.used.size, law.m, law.s, normals[k]
        table[k, L_COMPONENTS : L_COMPONENTS + law.used.size] = law.used
        table[k, L_DIRECTIONS] = sum(part.size for part in directions[:k])
        table[k, L_DATA] = sum(part.size for part in data[:k])
    return table, np.concatenate(directions), np.concatenate(data)


def _data_of(law: LawRows) -> tuple[Array, ...]:
    bounds = law.beta_lower, law.beta_upper, law.sigma_lower, law.sigma_upper
    return law.N, law.P, law.R, law.r, *bounds


def _room(
    n_bodies: int,
    n_contacts: int,
    forms: int,
    rows: int,
    table: NDArray[np.int64],
    directions: Array,
    data: Array,
) -> tuple[NDArray[np.int64], Array]:
    """Return IR, XR for any contacts up to a number; two halves a form, of which some share a body."""
    n_forms, n_z = n_contacts * forms, n_contacts * rows
    n_halves = 2 * n_forms
    touched = min(2 * n_contacts, n_bodies)
    integers = {
        FORM_AT: n_forms + 1,
        FORM_CONTACT: n_forms,
        FORM_COMPONENT: n_forms,
        GROUPS: n_contacts * GROUP_ROW,
        LAWS: table.size,
    }
    doubles = {
        SIGNS: n_halves,
        FORM_LAMBDA: n_forms * n_forms,
        FORM_VELOCITY: 3 * n_forms,
        DIRECTIONS: directions.size,
        SCRATCH: forms * rows,
        M_AT: n_z * n_z + n_z,
        LAW_DATA: data.size,
        BOUNDS: 2 * n_z,
    }
    IR, XR = room_for_rows(
        n_bodies, n_halves, n_halves + 3 * touched, touched, integers, doubles, head=COMPILED_HEAD
    )
    IR[OPERATIONAL_SPACE] = address(operational_space)
    IR[IR[LAWS] : IR[LAWS] + table.size] = table.ravel()
    XR[IR[DIRECTIONS] : IR[DIRECTIONS] + directions.size] = directions
    XR[IR[LAW_DATA] : IR[LAW_DATA] + data.size] = data
    return IR, XR
