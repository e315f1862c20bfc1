"""`os` for callers in compiled code: the plan of a step, and the way back from impulses to rates.

As `plan` and `recovery`, on one workspace with room for any contacts and limits up to a number. Closures come
first, each row a group of one form; a joint limit is a contact whose law has one component.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import RECORD
from mcpframe.contact.detection.records import C_BODY_A, C_BODY_B, C_MATERIAL, CONTACT_ROW
from mcpframe.contact.law import FORCE_N, LawRows
from mcpframe.contact.outcome import MODE_TOLERANCE
from mcpframe.formulations.operational.kernels import (
    FORM_A,
    FORM_ASKED,
    FORM_AT,
    FORM_B,
    FORM_COMPONENT,
    FORM_CONTACT,
    FORM_SHIFT,
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
    SIGNS,
    form_constants,
    group_constants,
    impulses_of_forms,
    operational_space,
    push_forms,
)
from mcpframe.formulations.operational.law_kernels import (
    plan_discs,
    size_discs,
    slack_constants,
    write_laws,
)
from mcpframe.formulations.operational.law_tables import (
    BOUNDS,
    DISCS,
    GROUP_LAW,
    L_BETAS,
    L_COMPONENTS,
    L_DIRECTIONS,
    L_DISCS,
    L_FORMS,
    L_NORMAL,
    L_SHIFTS,
    L_SIGMAS,
    LAW_ROW,
    LAWS,
    LAWS_GROW,
    N_LOOPS_AHEAD,
    OPERATIONAL_SPACE,
    SIZES,
    UNIT,
    LawTables,
)
from mcpframe.jit import address, by_address, callee, inline, kernel
from mcpframe.jit.lanes import get, load, put, store, zero
from mcpframe.multibody.kernels.mass import clear_push, solve_mass_into
from mcpframe.multibody.memory.loop_records import HALF_AT, HALF_BODY, HALF_WRENCH, TARGET
from mcpframe.multibody.memory.loop_records import N_HALVES as N_LOOP_HALVES
from mcpframe.multibody.memory.loop_records import N_ROWS as N_LOOP_ROWS
from mcpframe.multibody.memory.records import PAIR
from mcpframe.multibody.memory.row_records import N_ROWS as N_HALVES
from mcpframe.multibody.memory.row_records import PLANNED, ROW_BODY, WRENCHES
from mcpframe.multibody.memory.skeleton import Skeleton
from mcpframe.solving.modes import mode_of
from mcpframe.solving.stages import (
    A_AT,
    ASSEMBLE,
    B_AT,
    CONSTANTS,
    CONTACT_ROWS,
    DISCS_AT,
    LOWER_AT,
    N_COMPONENTS,
    N_DISCS,
    N_ROWS,
    PLAN,
    PROBLEM_HEAD,
    Q_AT,
    RECOVER,
    RESPOND,
    SHIFTS,
    SIZES_AT,
    UPPER_AT,
    Z_BETA,
    Z_BETAS,
    Z_DISC,
    Z_DISCS,
    Z_NORMAL,
    Z_SIGMA,
    Z_SIGMAS,
    FormulationStages,
)
from mcpframe.solving.stages import M_AT as PROBLEM_M_AT
from mcpframe.spatial.algebra import copy

Integers = NDArray[np.int64]


@inline
def plan_forms(IR, XR, contact, law, body_a, body_b, form, half):
    """List the forms of a contact and their halves; return where the next ones begin."""
    for k in range(get(IR, law + L_FORMS)):
        put(IR, IR[FORM_AT] + form, half)
        put(IR, IR[FORM_CONTACT] + form, contact)
        put(IR, IR[FORM_COMPONENT] + form, get(IR, law + L_COMPONENTS + k))
        shift = get(IR, law + L_SHIFTS + k)
        put(IR, IR[FORM_SHIFT] + form, SHIFTS * contact + shift if shift >= 0 else -1)
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


@callee
def plan_problem(IR, XR, IP, touching, n_u, n, n_beta):
    """Write what of the problem does not change while the same bodies touch."""
    n_b = IR[N_LOOPS_AHEAD]
    for i in range(n * n + n):
        put(XR, IR[M_AT] + i, 0.0)
    for i in range(n_b):
        put(XR, IR[BOUNDS] + i, -math.inf)
        put(XR, IR[BOUNDS] + n + i, math.inf)
    beta, sigma, disc = n_b, n_beta, 0
    for c in range(n_u):
        law = IR[LAWS] + get(touching, c * CONTACT_ROW + C_MATERIAL) * LAW_ROW
        m, s = get(IR, law + L_BETAS), get(IR, law + L_SIGMAS)
        put(IR, IR[GROUP_LAW] + 3 * c, law)
        put(IR, IR[GROUP_LAW] + 3 * c + 1, beta)
        put(IR, IR[GROUP_LAW] + 3 * c + 2, sigma)
        row = PROBLEM_HEAD + c * CONTACT_ROWS
        put(IP, row + Z_BETA, beta)
        put(IP, row + Z_BETAS, m)
        put(IP, row + Z_SIGMA, sigma)
        put(IP, row + Z_SIGMAS, s)
        put(IP, row + Z_NORMAL, beta + get(IR, law + L_NORMAL))
        put(IP, row + Z_DISC, disc)
        put(IP, row + Z_DISCS, get(IR, law + L_DISCS))
        disc = plan_discs(IR, law, beta, disc)
        beta += m
        sigma += s
    put(IP, N_ROWS, n)
    put(IP, PROBLEM_M_AT, IR[M_AT])
    put(IP, Q_AT, IR[M_AT] + n * n)
    put(IP, LOWER_AT, IR[BOUNDS])
    put(IP, UPPER_AT, IR[BOUNDS] + n)
    put(IP, N_COMPONENTS, IR[N_FORMS])
    put(IP, A_AT, IR[FORM_A])
    put(IP, B_AT, IR[FORM_B])
    put(IP, N_DISCS, disc)
    put(IP, DISCS_AT, IR[DISCS])
    put(IP, SIZES_AT, IR[SIZES])


@inline
def plan_group(IR, group, form, forms, unknown, unknowns, directions):
    """Write a row of GROUPS."""
    put(IR, group + G_FORM, form)
    put(IR, group + G_FORMS, forms)
    put(IR, group + G_UNKNOWN, unknown)
    put(IR, group + G_UNKNOWNS, unknowns)
    put(IR, group + G_DIRECTIONS, directions)


@callee
def plan_loops(IE, IR):
    """List the rows of closures as forms and groups of their own; return how many there are, and halves."""
    n = IE[N_LOOP_ROWS]
    for f in range(n):
        put(IR, IR[FORM_AT] + f, get(IE, IE[HALF_AT] + f))
        put(IR, IR[FORM_CONTACT] + f, -1)
        put(IR, IR[FORM_COMPONENT] + f, -1)
        put(IR, IR[FORM_SHIFT] + f, -1)
        plan_group(IR, IR[GROUPS] + f * GROUP_ROW, f, 1, f, 1, IR[UNIT])
    for h in range(IE[N_LOOP_HALVES]):
        put(IR, IR[ROW_BODY] + h, get(IE, IE[HALF_BODY] + h))
    return n, IE[N_LOOP_HALVES]


@kernel(*PLAN)
def plan(I, IE, IR, XR, IP, touching, n_u):
    """Lay the problem out; the workspace must have room for it. Arguments as in `mcpframe.solving.stages`."""
    n_b, half = plan_loops(IE, IR)
    form, beta, sigma = n_b, n_b, 0
    for c in range(n_u):
        row = c * CONTACT_ROW
        law = IR[LAWS] + get(touching, row + C_MATERIAL) * LAW_ROW
        m, group = get(IR, law + L_BETAS), IR[GROUPS] + (n_b + c) * GROUP_ROW
        plan_group(IR, group, form, get(IR, law + L_FORMS), beta, m, get(IR, law + L_DIRECTIONS))
        bodies = get(touching, row + C_BODY_A), get(touching, row + C_BODY_B)
        form, half = plan_forms(IR, XR, c, law, bodies[0], bodies[1], form, half)
        beta += m
        sigma += get(IR, law + L_SIGMAS)
    put(IR, IR[FORM_AT] + form, half)
    put(IR, N_FORMS, form)
    put(IR, N_HALVES, half)
    put(IR, N_GROUPS, n_b + n_u)
    put(IR, N_Z, beta + sigma)
    put(IR, PLANNED, 0)
    put(IR, N_LOOPS_AHEAD, n_b)
    plan_problem(IR, XR, IP, touching, n_u, beta + sigma, beta)
    write_laws(IR, XR, 0.0)
    return 0


@kernel(*CONSTANTS)
def constants(IR, XR, shift):
    """Write b and q again, for other shifts."""
    form_constants(IR, XR, shift)
    group_constants(IR, XR)


@inline
def velocity_after(IR, XR, f):
    """Return the velocity of a form after the step, A p on top of that of a free one."""
    n, A = IR[N_FORMS], IR[FORM_A]
    velocity = IR[FORM_VELOCITY]
    total = get(XR, velocity + f)
    for g in range(n):
        total += get(XR, A + f * n + g) * get(XR, velocity + n + g)
    return total


@callee
def contact_results(IR, XR, records, shift, impulses, modes):
    """Write impulses in world axes and modes, by the rule of `mcpframe.contact.outcome`."""
    n, n_b = IR[N_FORMS], IR[N_LOOPS_AHEAD]
    velocity, after = IR[FORM_VELOCITY], IR[FORM_VELOCITY] + 2 * n
    fastest = 0.0
    for f in range(n_b, n):
        v = velocity_after(IR, XR, f)
        shifted = get(IR, IR[FORM_SHIFT] + f)
        if shifted >= 0:
            v += get(shift, shifted)
        if get(IR, IR[FORM_COMPONENT] + f) >= FORCE_N:
            fastest = max(fastest, abs(v))
        put(XR, after + f, v)
    slow = MODE_TOLERANCE * (1.0 + fastest)
    for i in range(IR[N_GROUPS] - n_b):
        a = IR[GROUPS] + (n_b + i) * GROUP_ROW
        first = get(IR, a)
        force, normal, slip, has_friction, pressed = zero(), 0.0, 0.0, False, 0.0
        for f in range(first, first + get(IR, a + G_FORMS)):
            component = get(IR, IR[FORM_COMPONENT] + f)
            v = get(XR, after + f)
            shifted = get(IR, IR[FORM_SHIFT] + f)
            if shifted >= 0 and shifted % SHIFTS == 0:
                normal, pressed = v, get(XR, velocity + n + f)
            elif component > FORCE_N:
                slip += v * v
                has_friction = True
            if component >= FORCE_N:
                axis = load(records, i * RECORD + R_AXES + 4 * (component - FORCE_N))
                force = force + get(XR, velocity + n + f) * axis
        store(impulses, 4 * i, force)
        put(impulses, 4 * i + 3, pressed)
        put(modes, i, mode_of(normal, slip, slow, has_friction))


@kernel(*RECOVER)
def recover(I, X, IR, XR, records, shift, z, impulses, modes):
    """Push bodies by the impulses z; arguments as in `mcpframe.solving.stages`."""
    impulses_of_forms(IR, XR, z)
    push_forms(I, X, IR, XR)
    contact_results(IR, XR, records, shift, impulses, modes)


@kernel(*RESPOND)
def respond(I, X, IR, XR, p, response):
    """Write what impulses p of the forms do; arguments as in `mcpframe.solving.stages`."""
    for f in range(IR[N_FORMS]):
        put(XR, IR[FORM_VELOCITY] + IR[N_FORMS] + f, get(p, f))
    clear_push(I, X)
    push_forms(I, X, IR, XR)
    for d in range(response.shape[0]):
        put(response, d, 0.0)
    solve_mass_into(I, X, response, response)


call_operational_space = by_address(operational_space)


@callee
def take_loops(IE, XE, IR, XR):
    """Copy the wrenches of the closures, and what is asked of them, to where the rows are."""
    copy(XE, IE[HALF_WRENCH], XR, IR[WRENCHES], IE[N_LOOP_HALVES] * PAIR)
    for f in range(IE[N_LOOP_ROWS]):
        put(XR, IR[FORM_ASKED] + f, -get(XE, IE[TARGET] + f))


@kernel(*ASSEMBLE)
def assemble(I, X, IE, XE, IR, XR, records, shift, softness, dt, done):
    """Write A, b, M and q; arguments as in `mcpframe.solving.stages`."""
    take_loops(IE, XE, IR, XR)
    if IR[LAWS_GROW] != 0:
        write_laws(IR, XR, dt)
    slack_constants(IR, XR, dt)
    size_discs(IR, XR, dt)
    step = I, X, IR, XR, records, shift, softness, dt, 0.0, done
    return call_operational_space(IR[OPERATIONAL_SPACE], step)


def operational_stages(
    skeleton: Skeleton, loops: Integers, laws: Sequence[LawRows], half: Sequence[LawRows], dt: float
) -> FormulationStages | None:
    """Return `os` for callers in compiled code; None where a law has no F_n.

    Args:
        skeleton: of the tree.
        loops: the closures, as `multibody.memory.loop_records` has them.
        laws, half: rows of the laws in steps of dt, and of half that.
        dt: s.
    """
    tables = LawTables.of(laws, half, dt)
    if tables is None:
        return None

    def room(n_contacts: int) -> tuple[Integers, Array]:
        IR, XR = tables.room(skeleton.n_bodies, loops, n_contacts)
        IR[OPERATIONAL_SPACE] = address(operational_space)
        return IR, XR

    return FormulationStages(
        plan=address(plan),
        assemble=address(assemble),
        constants=address(constants),
        recover=address(recover),
        respond=address(respond),
        rows_each=tables.rows,
        room=room,
    )
