"""Agree: whether a layer has settled, and its forces are those that rigid contacts would have now.

*Settled*: what is at its limit really slides, what sticks is at rest, and the energy of the motions in the
layer is a small share of what it stores, so that they cannot change its forces by much,

    1/2 v* S^-1 v  <=  share (energy of the springs),    v along n of all and t of what sticks.

*Agreed*: rigid forces at the same state in the same modes, from A x = -(G θ̈_f + Ġ θ̇) with the rows of the
judge and friction against the slip of the bodies, press everywhere, and differ from those of the layer by no
more than a share of the largest.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.contact import NORMAL, RECORD
from mcpframe.contact.detection import records as found
from mcpframe.contact.law import FORCE_1, FORCE_N
from mcpframe.contact.layers.kernels import C_T, K_T
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.law_groups import BOUNDED, DISC, GIVEN, LEANS
from mcpframe.simulation.memory.slots import key_of, layer_of, n_found, normal_impulse_of, record_of
from mcpframe.simulation.step.contact_model.judging import COLUMN, entry, put_normal
from mcpframe.simulation.step.contact_model.modes import (
    component,
    components_of,
    group_of,
    is_asked,
    is_known,
    n_groups,
    oppose,
    sticks,
    write_wrench,
)
from mcpframe.simulation.step.drives import sample_motors, sampled_forces
from mcpframe.simulation.step.layers import remembered_energy
from mcpframe.simulation.step.moving.hold import (
    FAINT,
    eliminate,
    find_again,
    see_biases,
    see_speeds,
    write_rows,
)
from mcpframe.simulation.step.moving.motion import three
from mcpframe.simulation.step.touching import place_of, relative_spin, relative_velocity
from mcpframe.solving.stages import A_AT, B_AT, N_COMPONENTS, SOFTNESS
from mcpframe.spatial.algebra import dot

ROW, NORMAL_AT = found.CONTACT_ROW, NORMAL.start


@inline
def force_on(run, i):
    """Return the mean force on A of what touches over the last part of the step."""
    return (1.0 / run.XS[at.PART]) * three(run.XS, run.IS[at.IMPULSES] + 4 * i)


@callee
def largest_force(run):
    """Return the largest normal force of contacts that switch; limits, which may be torques, do not count."""
    largest = 0.0
    for i in range(run.IS[at.N_TOUCHING]):
        if key_of(run, i) >= 0 and is_asked(run, i):
            largest = max(largest, normal_impulse_of(run, i) / run.XS[at.PART])
    return largest


@callee
def stored_by_switched(run, X):
    """Return the energy of the layers that contacts have for a time."""
    IS, total = run.IS, 0.0
    for k in range(IS[at.N_REMEMBERED]):
        law = get(IS, IS[at.MEMORY_LAWS] + k)
        if get(IS, IS[at.LAYER_KINDS] + law) == at.SWITCHED:
            total += remembered_energy(run, X, k)
    return total


@inline
def surface_velocity(run, i, k, n, velocity):
    """Return the velocity at which the surface of contact i slides on its layer, whose memory is k."""
    XS, layer, force = run.XS, layer_of(run, i), force_on(run, i)
    memory = load(XS, run.IS[at.MEMORIES] + k * run.IS[at.MEMORY_WIDTH] + 4)
    pull = (force - dot(n, force) * n) - get(XS, layer + K_T) * (memory - dot(n, memory) * n)
    damping = get(XS, layer + C_T)
    return velocity + (1.0 / damping if damping > 0.0 else 0.0) * pull


@inline
def is_fast(run, record, group, velocity):
    """Return whether a velocity, or spin, along the components of a group is more than the slip speed."""
    square = 0.0
    for c in (group.c_1, group.c_2):
        if c >= 0:
            along = dot(velocity, load(run.XD, record + NORMAL_AT + 4 * (c % FORCE_N)))
            square += along * along
    return square > run.XS[at.SLIP_SPEED] * run.XS[at.SLIP_SPEED]


@callee
def keeps_modes(run, X, i):
    """Return whether contact i, if it were rigid, would stick and slide as it does on its layer.

    What is at its limit really slides, or turns, the bodies with their surfaces; bodies whose surfaces stick
    are at rest with each other.
    """
    ID, XD, IS = run.ID, run.XD, run.IS
    c = place_of(ID, ID[found.CONTACTS] + found.C_KEY, ROW, n_found(run), key_of(run, i))
    k = place_of(IS, IS[at.MEMORY_KEYS], 1, IS[at.N_REMEMBERED], key_of(run, i))
    if c < 0 or k < 0:
        return False
    contact, record = ID[found.CONTACTS] + c * ROW, ID[found.RECORDS] + c * RECORD
    velocity, spin = (
        relative_velocity(run.I, X, ID, contact, XD, record),
        relative_spin(run.I, X, ID, contact),
    )
    surface = surface_velocity(run, i, k, load(XD, record + NORMAL_AT), velocity)
    for g in range(n_groups(run, i)):
        group, stuck = group_of(run, i, g), sticks(run, i, g)
        turns = group.c_1 < FORCE_N
        if group.kind == GIVEN or (turns and stuck):
            continue
        if is_fast(run, record, group, spin if turns else velocity) == stuck:
            return False
        if not (turns or stuck) and not is_fast(run, record, group, surface):
            return False
    return True


@callee
def is_settled(run, X):
    """Return whether the layer has settled, and would be left in the modes that it has, everywhere."""
    if run.XS[at.KINETIC] > run.XS[at.MOVING] * stored_by_switched(run, X):
        return False
    for i in range(run.IS[at.N_TOUCHING]):
        if key_of(run, i) >= 0 and is_asked(run, i) and not keeps_modes(run, X, i):
            return False
    return True


@callee
def add_load(run, form, force):
    """Add what a known force along a component does to the motion without forces, in b."""
    XR, n = run.XR, run.IP[N_COMPONENTS]
    for row in range(n):
        b = run.IP[B_AT] + row
        put(XR, b, get(XR, b) + force * get(XR, run.IP[A_AT] + row * n + form))


@callee
def add_known(run):
    """Add forces that do not depend on accelerations: of layers that contacts always have, and at bounds."""
    form, h = run.IE[loops.N_ROWS], run.XS[at.PART]
    for i in range(run.IS[at.N_TOUCHING]):
        if is_known(run, i):
            wrench = write_wrench(run, i)
            for k in range(components_of(run, i)):
                add_load(run, form + k, get(run.XS, wrench + component(run, i, k)) / h)
        for g in range(n_groups(run, i) if is_asked(run, i) else 0):
            group, wrench = group_of(run, i, g), run.IS[at.WRENCHES] + 8 * i
            if group.kind in (BOUNDED, GIVEN) and not sticks(run, i, g):
                add_load(run, form + group.form_1, get(run.XS, wrench + group.c_1) / h)
                if group.form_2 >= 0:
                    add_load(run, form + group.form_2, get(run.XS, wrench + group.c_2) / h)
        form += components_of(run, i)


@inline
def leans_and_slides(run, i, g, group):
    """Return whether a group is friction at its limit."""
    return group.kind in (LEANS, DISC) and group.c_1 >= FORCE_1 and not sticks(run, i, g)


@callee
def oppose_slip(run):
    """Have friction at its limit oppose the slip of bodies, as seen last, in the columns of the judge."""
    IS, XS = run.IS, run.XS
    for r in range(IS[at.N_TOLD_LIMITS], IS[at.N_TOLD_NORMALS]):
        form, i = get(IS, IS[at.TOLD_ROWS] + 2 * r), get(IS, IS[at.TOLD_ROWS] + 2 * r + 1)
        seen = IS[at.SEEN] + 8 * i - FORCE_N
        for g in range(n_groups(run, i)):
            group = group_of(run, i, g)
            if leans_and_slides(run, i, g, group):
                u_2 = get(XS, seen + group.c_2) if group.c_2 >= 0 else 0.0
                oppose(run, i, group, get(XS, seen + group.c_1), u_2)
        put_normal(run, r, form, i)


@callee
def acceleration(run, i, form, k):
    """Return G θ̈_f + Ġ θ̇ of component k of what touches; of a closure, for which i is -1, what it asks."""
    b = get(run.XR, run.IP[B_AT] + form + k)
    if i < 0:
        return b
    c = component(run, i, k)
    o = run.IS[at.SEEN] + 8 * i + c - FORCE_N
    if key_of(run, i) < 0:
        o = run.IS[at.SEEN] + 8 * i
    elif c < FORCE_N:
        o = run.IS[at.SPUN] + 8 * i + c
    return b - get(run.XS, o) + get(run.XS, o + 4)


@callee
def solve_rigid(run):
    """Write the forces with which the rows of the judge keep their modes behind the rows of TOLD_S."""
    IS, XS, S, m = run.IS, run.XS, run.IS[at.TOLD_S], run.IS[at.N_TOLD_ALL]
    for r in range(m):
        form, i = get(IS, IS[at.TOLD_ROWS] + 2 * r), get(IS, IS[at.TOLD_ROWS] + 2 * r + 1)
        for c in range(m):
            put(XS, S + r * (m + 1) + c, entry(run, r, c, True))
        own, right, weights = S + r * (m + 1) + r, 0.0, IS[at.TOLD_WEIGHTS] + 2 * COLUMN * r
        put(XS, own, (1.0 + FAINT) * get(XS, own))
        for k in range(components_of(run, i) if i >= 0 else 1):
            weight = get(XS, weights + k)
            if weight != 0.0:
                right -= weight * acceleration(run, i, form, k)
        put(XS, S + r * (m + 1) + m, right)
    return eliminate(XS, S, m, m + 1)


@inline
def layer_force(run, i, c):
    """Return the force of the layer of contact i along its component c."""
    return dot(force_on(run, i), load(run.XS, record_of(run, i) + NORMAL_AT + 4 * (c - FORCE_N)))


@callee
def difference_along(run, r, force):
    """Return by how much the force along row r of the judge, a normal or a tangent, is not the layer's."""
    IS, XS = run.IS, run.XS
    i, weights = get(IS, IS[at.TOLD_ROWS] + 2 * r + 1), IS[at.TOLD_WEIGHTS] + 2 * COLUMN * r
    for k in range(components_of(run, i)):
        if get(XS, weights + k) != 0.0:
            force -= get(XS, weights + k) * layer_force(run, i, component(run, i, k))
    return abs(force)


@callee
def difference_of_friction(run, r, normal):
    """Return by how much friction that slides, beside the normal force of row r, is not the layer's."""
    IS, XS, most = run.IS, run.XS, 0.0
    i, column = get(IS, IS[at.TOLD_ROWS] + 2 * r + 1), IS[at.TOLD_WEIGHTS] + 2 * COLUMN * r + COLUMN
    for g in range(n_groups(run, i)):
        group = group_of(run, i, g)
        if leans_and_slides(run, i, g, group):
            own = get(XS, column + group.form_1) * normal
            most = max(most, abs(own - layer_force(run, i, group.c_1)))
            if group.form_2 >= 0:
                own = get(XS, column + group.form_2) * normal
                most = max(most, abs(own - layer_force(run, i, group.c_2)))
    return most


@callee
def rigid_jump(run, X, time):
    """Return by how much forces along n and t differ from those of rigid contacts in the same modes at X.

    Infinite where these are not to be had, or one of them pulls. What was found is not that of X any more.
    """
    IS, XS, jump = run.IS, run.XS, 0.0
    for k in range(SOFTNESS * IS[at.N_TOUCHING]):
        put(XS, IS[at.SOFTNESS] + k, 0.0)
    sample_motors(run, X, time)
    sampled_forces(run, X)
    if not find_again(run, X):
        return math.inf
    see_speeds(run, X)
    if not see_biases(run, X) or not write_rows(run, X, time):
        return math.inf
    oppose_slip(run)
    add_known(run)
    if not solve_rigid(run):
        return math.inf
    width = IS[at.N_TOLD_ALL] + 1
    for r in range(IS[at.N_TOLD]):
        force = get(XS, IS[at.TOLD_S] + r * width + width - 1)
        if r < IS[at.N_TOLD_NORMALS] and force <= 0.0:
            return math.inf
        if r >= IS[at.N_TOLD_LIMITS]:
            jump = max(jump, difference_along(run, r, force))
            if r < IS[at.N_TOLD_NORMALS]:
                jump = max(jump, difference_of_friction(run, r, force))
    return jump


@callee
def may_be_rigid(run, X, time):
    """Return whether contacts that yield may be rigid from X on; RIGID_JUMP is what forces would change by.

    Where nothing presses they may. Whether what was found is still that of X comes second.
    """
    IS, XS = run.IS, run.XS
    largest = largest_force(run)
    put(XS, at.RIGID_JUMP, 0.0)
    if largest == 0.0:
        return True, True
    unique = IS[at.UNIQUE] > 0 and not XS[at.MARGIN] <= XS[at.RIGID_MARGIN] and XS[at.GROWTH] < 0.0
    if not unique or not is_settled(run, X):
        return False, True
    put(XS, at.RIGID_JUMP, rigid_jump(run, X, time))
    return XS[at.RIGID_JUMP] <= XS[at.AGREEMENT] * largest, False
