"""Switch: rigid contacts while they have one stable answer, a layer where they have not [S00, section 4].

*Contacts yield* from where a step begins whose rigid forces would not be determined, not unique by a margin,
or not stable; it is made again then. The layer starts as hard as contacts were pressed by the step before, at
the gap g and opening speed v of now: with the forces λ, δ_n = (λ_n + C v)/K >= 0 from the offset o = g + δ_n
on, δ_t = λ_t/K_t, so that nothing jumps.

*They are rigid again* after so many steps running in which rigid forces are determined, unique by a larger
margin and stable; what is at its friction really slides; dampers take a small part of the forces; and rigid
forces, found at the same state with the same modes, agree with those of the layer. Gaps and speeds that are
left then become references, see `references`.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.contact import NORMAL, RECORD
from mcpframe.contact.detection import records as found
from mcpframe.contact.layers.kernels import C_N, C_T, K_N, K_T
from mcpframe.jit import by_address, callee, inline
from mcpframe.multibody.memory import loop_records as loops
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import key_of, layer_of, n_found, normal_impulse_of, record_of
from mcpframe.simulation.step.contact_model.judging import UNTOLD, judge
from mcpframe.simulation.step.contact_model.references import reference_of
from mcpframe.simulation.step.drives import sample_motors, sampled_forces
from mcpframe.simulation.step.layers import stored_energy, turned
from mcpframe.simulation.step.moving.edges import forms_of, rubs
from mcpframe.simulation.step.moving.hold import look_at_modes, mode_of
from mcpframe.simulation.step.moving.lasting import slide_as_pushed
from mcpframe.simulation.step.moving.motion import three
from mcpframe.simulation.step.push import show_whole
from mcpframe.simulation.step.touching import approach, look, place_of, relative_velocity, touching_place
from mcpframe.solving.stages import SEPARATING, SLIDING, SOFTNESS
from mcpframe.spatial.algebra import dot
from mcpframe.spatial.lanes import get, load, put, store

call_judge = by_address(judge)

ROW, NORMAL_AT = found.CONTACT_ROW, NORMAL.start
TINY = 1e-300
"""A size that can be divided by."""


@inline
def is_doubtful(run):
    """Return whether rigid forces were not determined, not unique by the margin, or not stable."""
    IS, XS = run.IS, run.XS
    if IS[at.UNIQUE] == UNTOLD:
        return False
    return IS[at.UNIQUE] < 0 or XS[at.MARGIN] <= XS[at.YIELD_MARGIN] or XS[at.GROWTH] >= 0.0


@inline
def force_on(run, i):
    """Return the mean force on A of what touches over the last part of the step."""
    return (1.0 / run.XS[at.PART]) * three(run.XS, run.IS[at.IMPULSES] + 4 * i)


@callee
def note_forces(run):
    """Note the forces of contacts that press, with their normals: what a layer would begin with."""
    IS, XS, n = run.IS, run.XS, 0
    for i in range(IS[at.N_TOUCHING]):
        if key_of(run, i) < 0 or normal_impulse_of(run, i) <= 0.0:
            continue
        put(IS, IS[at.NOTED_KEYS] + n, key_of(run, i))
        store(XS, IS[at.NOTED] + 8 * n, load(XS, record_of(run, i) + NORMAL_AT))
        store(XS, IS[at.NOTED] + 8 * n + 4, force_on(run, i))
        n += 1
    put(IS, at.N_NOTED, n)


@callee
def press(run, X, c, noted, law):
    """Have contact c, found at X, remember a layer pressed as hard as was noted; return jump and offset."""
    ID, XD, IS, XS = run.ID, run.XD, run.IS, run.XS
    record, layer = ID[found.RECORDS] + c * RECORD, IS[at.LAYERS] + at.LAYER_ROOM * law
    n = load(XD, record + NORMAL_AT)
    force = turned(load(XS, noted + 4), load(XS, noted), n)
    normal = dot(n, force)
    damped = get(XS, layer + C_N) * approach(run.I, X, ID, ID[found.CONTACTS] + c * ROW, XD, record)
    depth = max(normal + damped, 0.0) / get(XS, layer + K_N)
    offset = at.found_gap(run, c) + depth
    row = IS[at.MEMORIES] + IS[at.N_REMEMBERED] * IS[at.MEMORY_WIDTH]
    store(XS, row, n)
    store(XS, row + 4, offset * n + (1.0 / max(get(XS, layer + K_T), TINY)) * (force - normal * n))
    return abs(get(XS, layer + K_N) * depth - damped - normal), offset


@callee
def begin_to_yield(run, X):
    """Have contacts yield from X on, where those of now were found, with the forces that were noted."""
    ID, IS, XS, jump, farthest = run.ID, run.IS, run.XS, 0.0, 0.0
    put(IS, at.N_REMEMBERED, 0)
    for c in range(n_found(run)):
        key, law = at.found_key(run, c), get(ID, ID[found.CONTACTS] + c * ROW + found.C_MATERIAL)
        i = place_of(IS, IS[at.NOTED_KEYS], 1, IS[at.N_NOTED], key)
        if i < 0 or get(IS, IS[at.LAYER_KINDS] + law) != at.SWITCHED:
            continue
        own, offset = press(run, X, c, IS[at.NOTED] + 8 * i, law)
        k = IS[at.N_REMEMBERED]
        put(IS, IS[at.MEMORY_KEYS] + k, key)
        put(IS, IS[at.MEMORY_LAWS] + k, law)
        put(IS, at.N_REMEMBERED, k + 1)
        jump, farthest = max(jump, own), max(farthest, offset)
    put(XS, at.NEAR, XS[at.NEAR_RIGID] + farthest)
    put(XS, at.JUMP, jump)
    put(IS, at.YIELDING, 1)
    put(IS, at.AGREED, 0)
    put(XS, at.LAYER_ENERGY, stored_energy(run))


@callee
def largest_force(run):
    """Return the largest normal force of what touches."""
    largest = 0.0
    for i in range(run.IS[at.N_TOUCHING]):
        largest = max(largest, normal_impulse_of(run, i) / run.XS[at.PART])
    return largest


@callee
def is_settled(run, X, i, largest):
    """Return whether contact i really slides or sticks, and its dampers take but a share of a force."""
    ID, XD, IS, XS = run.ID, run.XD, run.IS, run.XS
    c = place_of(ID, ID[found.CONTACTS] + found.C_KEY, ROW, n_found(run), key_of(run, i))
    k = place_of(IS, IS[at.MEMORY_KEYS], 1, IS[at.N_REMEMBERED], key_of(run, i))
    if c < 0 or k < 0:
        return False
    contact, record, layer = ID[found.CONTACTS] + c * ROW, ID[found.RECORDS] + c * RECORD, layer_of(run, i)
    n = load(XD, record + NORMAL_AT)
    velocity, force = relative_velocity(run.I, X, ID, contact, XD, record), force_on(run, i)
    if get(XS, layer + C_N) * abs(dot(n, velocity)) > XS[at.DAMPED] * largest:
        return False
    if not rubs(run, i):
        return True
    memory = load(XS, IS[at.MEMORIES] + k * IS[at.MEMORY_WIDTH] + 4)
    pull = (force - dot(n, force) * n) - get(XS, layer + K_T) * (memory - dot(n, memory) * n)
    slip = (velocity - dot(n, velocity) * n) + (1.0 / max(get(XS, layer + C_T), TINY)) * pull
    if mode_of(run, i) == SLIDING:
        return dot(slip, slip) > XS[at.SLIP_SPEED] * XS[at.SLIP_SPEED]
    return math.sqrt(dot(pull, pull)) <= XS[at.AGREEMENT] * largest


@callee
def all_settled(run, X, largest):
    """Return whether the layer has settled everywhere."""
    for i in range(run.IS[at.N_TOUCHING]):
        pressed = key_of(run, i) >= 0 and mode_of(run, i) != SEPARATING
        if pressed and not is_settled(run, X, i, largest):
            return False
    return True


@callee
def rigid_jump(run, X, time):
    """Return by how much normal forces differ from those of rigid contacts in the same modes at X.

    Infinite where these are not to be had, or one of them pulls. What was found is not that of X any more.
    """
    IS, XS, jump = run.IS, run.XS, 0.0
    for i in range(IS[at.N_TOUCHING]):
        if mode_of(run, i) == SLIDING and rubs(run, i):
            slide_as_pushed(run, i)
        for k in range(SOFTNESS):
            put(XS, IS[at.SOFTNESS] + SOFTNESS * i + k, 0.0)
    sample_motors(run, X, time)
    sampled_forces(run, X)
    if look_at_modes(run, X, time) < 0:
        return math.inf
    form = run.IE[loops.N_ROWS]
    for i in range(IS[at.N_TOUCHING]):
        if mode_of(run, i) != SEPARATING:
            force = get(XS, IS[at.FORCE] + form)
            if force <= 0.0:
                return math.inf
            jump = max(jump, abs(force - normal_impulse_of(run, i) / XS[at.PART]))
        form += forms_of(run, i)
    return jump


@callee
def may_be_rigid(run, X, time):
    """Return whether contacts that yield may be rigid from X on; JUMP is by how much forces would change.

    Where nothing presses they may.
    """
    IS, XS = run.IS, run.XS
    largest = largest_force(run)
    put(XS, at.JUMP, 0.0)
    if largest == 0.0:
        return True
    unique = IS[at.UNIQUE] > 0 and not XS[at.MARGIN] <= XS[at.RIGID_MARGIN] and XS[at.GROWTH] < 0.0
    if not unique or not all_settled(run, X, largest):
        return False
    put(XS, at.JUMP, rigid_jump(run, X, time))
    return XS[at.JUMP] <= XS[at.AGREEMENT] * largest


@callee
def become_rigid(run, X, time):
    """Have contacts be rigid from X on, where those of now were found; what the layer leaves is kept."""
    ID, XD, IS, XS = run.ID, run.XD, run.IS, run.XS
    width, n = IS[at.MEMORY_WIDTH], 0
    for k in range(IS[at.N_REMEMBERED]):
        key, row = get(IS, IS[at.MEMORY_KEYS] + k), IS[at.MEMORIES] + k * width
        c = place_of(ID, ID[found.CONTACTS] + found.C_KEY, ROW, n_found(run), key)
        i = touching_place(run, key)
        if c >= 0 and i >= 0 and normal_impulse_of(run, i) > 0.0:
            speed = approach(run.I, X, ID, ID[found.CONTACTS] + c * ROW, XD, ID[found.RECORDS] + c * RECORD)
            put(XS, row, at.found_gap(run, c) + reference_of(run, key, time))
            put(XS, row + 1, speed)
            put(IS, IS[at.MEMORY_LAWS] + n, k)
            n += 1
    for r in range(n):
        k = get(IS, IS[at.MEMORY_LAWS] + r)
        put(IS, IS[at.REFERRED_KEYS] + r, get(IS, IS[at.MEMORY_KEYS] + k))
        for j in range(2):
            put(XS, IS[at.REFERENCES] + 2 * r + j, get(XS, IS[at.MEMORIES] + k * width + j))
    put(IS, at.N_REFERRED, n)
    put(XS, at.REFERRED_AT, time)
    put(IS, at.N_REMEMBERED, 0)
    put(IS, at.YIELDING, 0)
    put(XS, at.NEAR, XS[at.NEAR_RIGID])


@callee
def go_on_yielding(run, X, time):
    """Count the steps in which contacts may be rigid, and have them be so after enough of them."""
    IS, XS = run.IS, run.XS
    agrees = may_be_rigid(run, X, time)
    put(IS, at.AGREED, IS[at.AGREED] + 1 if agrees else 0)
    code = look(run, X, XS[at.NEAR])
    if code == at.DONE and IS[at.AGREED] >= IS[at.DWELL]:
        put(XS, at.LAYER_ENERGY, stored_energy(run))
        become_rigid(run, X, time)
        return look(run, X, XS[at.NEAR])
    put(XS, at.JUMP, math.nan)
    return code


@callee
def is_to_yield(run):
    """Judge the step that was made; return whether it is to be made again, with contacts that yield.

    Of one that was made again, what made it so stays on record.
    """
    IS, XS = run.IS, run.XS
    again = IS[at.SWITCHES] == at.BOTH and IS[at.YIELDING] != 0 and XS[at.JUMP] >= 0.0
    if IS[at.DIAGNOSES] == 0 or again:
        return False
    show_whole(run, run.Z)  # there is room for it, see `Engine`
    call_judge(run.A[at.JUDGE], (run.I, run.IE, run.IP, run.XR, IS, XS, run.A[at.EIGENVALUES]))
    if IS[at.YIELDING] != 0 and not XS[at.JUMP] >= 0.0:
        put(XS, at.LAYER_ENERGY, stored_energy(run))
    return IS[at.SWITCHES] == at.BOTH and IS[at.YIELDING] == 0 and is_doubtful(run)


@callee
def yield_from(run, X):
    """Have contacts yield from X on, where a step begins that was undone."""
    put(run.XS, at.WHEN, run.XS[at.START])
    code = look(run, X, run.XS[at.NEAR])
    if code == at.DONE:
        begin_to_yield(run, X)
    return code


@callee
def after_step(run, X, time):
    """Switch, where that is due, after a step that was taken and has led to X at a time."""
    IS, XS = run.IS, run.XS
    put(XS, at.JUMP, math.nan)
    put(XS, at.LAYER_ENERGY, 0.0)
    if IS[at.SWITCHES] == at.NEVER:
        return at.DONE
    put(XS, at.WHEN, time)
    if IS[at.N_REFERRED] > 0 and time >= XS[at.REFERRED_AT] + XS[at.SETTLE]:
        put(IS, at.N_REFERRED, 0)
    if IS[at.YIELDING] == 0:
        note_forces(run)
        if IS[at.SWITCHES] == at.ONCE:
            begin_to_yield(run, X)
    elif IS[at.SWITCHES] == at.BOTH:
        return go_on_yielding(run, X, time)
    return at.DONE
