"""Switch: rigid contacts while they have one stable answer, a layer where they have not [S00, section 4].

*Contacts yield* from where a step begins whose rigid forces would not be determined, not unique by a margin,
or not stable; it is made again then. The layer starts as hard as contacts were pressed by the step before, at
the gap g and opening speed v of now: with the forces λ, δ_n = (λ_n + C v)/K >= 0 from the offset o = g + δ_n
on, δ_t = λ_t/K_t, so that nothing jumps.

*They are rigid again* after so many steps running in which rigid forces are determined, unique by a larger
margin and stable, the layer has settled and its forces are those that rigid contacts would have (`agreeing`).
Gaps and speeds that are left then become references, see `references`.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.contact import NORMAL, RECORD
from mcpframe.contact.detection import records as found
from mcpframe.contact.layers.kernels import C_N, K_N, K_T
from mcpframe.jit import by_address, callee, inline
from mcpframe.jit.lanes import get, load, put, store
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import key_of, n_found, normal_impulse_of, record_of
from mcpframe.simulation.step.contact_model.agreeing import force_on, may_be_rigid
from mcpframe.simulation.step.contact_model.judging import UNTOLD, judge
from mcpframe.simulation.step.contact_model.references import reference_of
from mcpframe.simulation.step.layers import stored_energy, turned
from mcpframe.simulation.step.moving.hold import write_rows
from mcpframe.simulation.step.parting.islands import place_unknowns
from mcpframe.simulation.step.pushing.push import write_whole
from mcpframe.simulation.step.touching import approach, look, place_of, touching_place
from mcpframe.spatial.algebra import dot

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
def set_memories_aside(run):
    """Copy what contacts remember to where it is kept before a step; none is remembered any more."""
    IS, XS, n, width = run.IS, run.XS, run.IS[at.N_REMEMBERED], run.IS[at.MEMORY_WIDTH]
    for k in range(n):
        put(IS, IS[at.MEMORY_KEYS_BEFORE] + k, get(IS, IS[at.MEMORY_KEYS] + k))
    for k in range(n * width):
        put(XS, IS[at.MEMORIES_BEFORE] + k, get(XS, IS[at.MEMORIES] + k))
    put(IS, at.N_REMEMBERED, 0)
    return n


@callee
def recall(run, key, n):
    """Take one of n memories that were set aside back as the last; return whether it was there."""
    IS, XS, width = run.IS, run.XS, run.IS[at.MEMORY_WIDTH]
    k = place_of(IS, IS[at.MEMORY_KEYS_BEFORE], 1, n, key)
    for j in range(width if k >= 0 else 0):
        kept = get(XS, IS[at.MEMORIES_BEFORE] + k * width + j)
        put(XS, IS[at.MEMORIES] + IS[at.N_REMEMBERED] * width + j, kept)
    return k >= 0


@inline
def add_memory(run, key, law):
    """Count what was written as the last memory as that of a contact."""
    put(run.IS, run.IS[at.MEMORY_KEYS] + run.IS[at.N_REMEMBERED], key)
    put(run.IS, run.IS[at.MEMORY_LAWS] + run.IS[at.N_REMEMBERED], law)
    put(run.IS, at.N_REMEMBERED, run.IS[at.N_REMEMBERED] + 1)


@callee
def begin_to_yield(run, X):
    """Have contacts yield from X on, where those of now were found, with the forces that were noted.

    Those with a layer of their own remember what they did.
    """
    ID, IS, XS, jump, farthest = run.ID, run.IS, run.XS, 0.0, 0.0
    known = set_memories_aside(run)
    for c in range(n_found(run)):
        key, law = at.found_key(run, c), get(ID, ID[found.CONTACTS] + c * ROW + found.C_MATERIAL)
        i = place_of(IS, IS[at.NOTED_KEYS], 1, IS[at.N_NOTED], key)
        if get(IS, IS[at.LAYER_KINDS] + law) != at.SWITCHED:
            if recall(run, key, known):
                add_memory(run, key, law)
        elif i >= 0:
            own, offset = press(run, X, c, IS[at.NOTED] + 8 * i, law)
            add_memory(run, key, law)
            jump, farthest = max(jump, own), max(farthest, offset)
    put(XS, at.NEAR, XS[at.NEAR_RIGID] + farthest)
    put(XS, at.JUMP, jump)
    put(IS, at.YIELDING, 1)
    put(IS, at.AGREED, 0)
    put(XS, at.LAYER_ENERGY, stored_energy(run, X))


@callee
def write_reference(run, X, c, n, time):
    """Write gap and opening speed of contact c, found at X, as the n-th of those that were noted."""
    ID, key = run.ID, at.found_key(run, c)
    contact, record = ID[found.CONTACTS] + c * ROW, ID[found.RECORDS] + c * RECORD
    put(run.IS, run.IS[at.NOTED_KEYS] + n, key)
    gap = at.found_gap(run, c) + reference_of(run, key, time)
    put(run.XS, run.IS[at.NOTED] + 8 * n, gap)
    put(run.XS, run.IS[at.NOTED] + 8 * n + 1, approach(run.I, X, ID, contact, run.XD, record))


@callee
def take_references(run, n, time):
    """Have the n contacts that were noted be counted from their gaps."""
    IS, XS = run.IS, run.XS
    for k in range(n):
        put(IS, IS[at.REFERRED_KEYS] + k, get(IS, IS[at.NOTED_KEYS] + k))
        for j in range(2):
            put(XS, IS[at.REFERENCES] + 2 * k + j, get(XS, IS[at.NOTED] + 8 * k + j))
    put(IS, at.N_REFERRED, n)
    put(XS, at.REFERRED_AT, time)


@callee
def become_rigid(run, X, time):
    """Have contacts be rigid from X on, where those of now were found; what the layer leaves is kept."""
    ID, IS, n = run.ID, run.IS, 0
    known = set_memories_aside(run)
    for c in range(n_found(run)):
        key, law = at.found_key(run, c), get(ID, ID[found.CONTACTS] + c * ROW + found.C_MATERIAL)
        i = touching_place(run, key)
        if get(IS, IS[at.LAYER_KINDS] + law) != at.SWITCHED:
            if recall(run, key, known):
                add_memory(run, key, law)
        elif i >= 0 and normal_impulse_of(run, i) > 0.0:
            write_reference(run, X, c, n, time)
            n += 1
    take_references(run, n, time)
    note_forces(run)  # those of the layer are what it would begin with, were it to yield again at once
    put(IS, at.YIELDING, 0)
    put(run.XS, at.NEAR, run.XS[at.NEAR_RIGID])


@callee
def show_problem(run, X, time):
    """Have the arrays of the formulation be about all that touches in the step that was made, up to X.

    That of the middle of its last push; where modes have lasted without one, that of its end.
    """
    place_unknowns(run)
    if run.IS[at.LASTS] != 0:
        write_rows(run, X, time)
    else:
        write_whole(run, run.Z)  # there is room for it, see `Engine`


@callee
def is_to_yield(run, X, time):
    """Judge the step that was made, to X at a time; return whether it is to be made again, yielding.

    Of one that was made again, what made it so stays on record.
    """
    IS, XS = run.IS, run.XS
    again = IS[at.SWITCHES] == at.BOTH and IS[at.YIELDING] != 0 and XS[at.JUMP] >= 0.0
    if IS[at.DIAGNOSES] == 0 or again:
        return False
    show_problem(run, X, time)
    call_judge(run.A[at.JUDGE], (run.I, run.IE, run.IP, run.XR, IS, XS, run.A[at.EIGENVALUES]))
    if IS[at.YIELDING] != 0 and not XS[at.JUMP] >= 0.0:
        put(XS, at.LAYER_ENERGY, stored_energy(run, X))
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
def count_agreement(run, X, time):
    """Count the steps running, the last one to X at a time, after which contacts that yield may be rigid."""
    IS = run.IS
    if IS[at.SWITCHES] != at.BOTH or IS[at.YIELDING] == 0:
        return at.DONE
    put(run.XS, at.WHEN, time)
    agrees, is_found = may_be_rigid(run, X, time)
    put(IS, at.AGREED, IS[at.AGREED] + 1 if agrees else 0)
    return at.DONE if is_found else look(run, X, run.XS[at.NEAR])


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
    elif IS[at.SWITCHES] == at.BOTH and IS[at.AGREED] >= IS[at.DWELL]:
        put(XS, at.JUMP, XS[at.RIGID_JUMP])
        put(XS, at.LAYER_ENERGY, stored_energy(run, X))
        become_rigid(run, X, time)
        return look(run, X, XS[at.NEAR])
    return at.DONE
