"""What is kept of steps: impulses by contact since the last record, and the rows of the record."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.contact import GAP, NORMAL, RECORD
from mcpframe.contact.detection import records as found
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store, vector, zero
from mcpframe.multibody.adaptive import records as whole
from mcpframe.multibody.memory.records import N_DOFS, N_THETA, THETA, THETA_DOT
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import gap_of, key_of, record_of
from mcpframe.simulation.step.contact_model.references import reference_of
from mcpframe.simulation.step.moving.motion import put_three
from mcpframe.simulation.step.parting.parties import takes_part
from mcpframe.simulation.step.touching import place_of
from mcpframe.solving.stages import SEPARATING
from mcpframe.spatial.algebra import copy, dot

TOLD = -1
"""In TAKEN_MODES: the contact stands in the record already."""


@inline
def taken_place(run, key, hint):
    """Return where the impulses of a contact are gathered, -1 where they are not; a hint is tried first."""
    IS = run.IS
    n = IS[at.N_TAKEN]
    if hint < n and get(IS, IS[at.TAKEN_KEYS] + hint) == key:
        return hint
    for i in range(n):
        if get(IS, IS[at.TAKEN_KEYS] + i) == key:
            return i
    return -1


@callee
def take_impulses(run):
    """Add the impulses of the touching contacts to those since the last record, with where they act now."""
    IS, XS = run.IS, run.XS
    for i in range(IS[at.N_TOUCHING]):
        key, record = key_of(run, i), record_of(run, i)
        if key < 0 or not takes_part(run, key):  # limits are not recorded
            continue
        k = taken_place(run, key, i)
        if k < 0:
            if IS[at.N_TAKEN] == IS[at.CAPACITY] * at.TAKEN_ROOM:
                put(IS, at.OVERFLOW, 1)
                return
            k = IS[at.N_TAKEN]
            put(IS, at.N_TAKEN, k + 1)
            put(IS, IS[at.TAKEN_KEYS] + k, key)
            put(IS, IS[at.TAKEN_MODES] + k, SEPARATING)
            store(XS, IS[at.TAKEN] + k * at.TAKEN_ROW, zero())
        row = IS[at.TAKEN] + k * at.TAKEN_ROW
        impulse = IS[at.IMPULSES] + 4 * i
        push = vector(get(XS, impulse), get(XS, impulse + 1), get(XS, impulse + 2))
        store(XS, row, load(XS, row) + push)
        store(XS, row + at.T_POINT, load(XS, record))
        store(XS, row + at.T_NORMAL, load(XS, record + NORMAL.start))
        put(XS, row + at.T_GAP, get(XS, IS[at.GAPS] + i))


@callee
def take_modes(run):
    """Remember the modes of the touching contacts as the last ones; all others that move are separating."""
    IS = run.IS
    for k in range(IS[at.N_TAKEN]):
        if takes_part(run, get(IS, IS[at.TAKEN_KEYS] + k)):
            put(IS, IS[at.TAKEN_MODES] + k, SEPARATING)
    for i in range(IS[at.N_TOUCHING]):
        k = taken_place(run, key_of(run, i), i)
        if k >= 0 and takes_part(run, key_of(run, i)):
            put(IS, IS[at.TAKEN_MODES] + k, get(IS, IS[at.MODES] + i))


@inline
def figure_or_none(figure):
    """Return the figure of a certificate as it is recorded: NaN where none was made."""
    return math.nan if figure == at.NO_FIGURE else figure


@callee
def record_impact(run, before, compressed, after, jam):
    """Record an impact of the touching contacts; jam: whether nothing has collided."""
    IS, XS, OUT = run.IS, run.XS, run.OUT_IMPACTS
    row = IS[at.N_OUT_IMPACTS] * at.OUT_IMPACT
    depth, limits = 0.0, 0
    for i in range(IS[at.N_TOUCHING]):
        if key_of(run, i) < 0:
            limits += 1
        else:
            depth = max(depth, -gap_of(run, i))
    put(OUT, row + at.H_TIME, XS[at.TIME])
    put(OUT, row + at.H_CONTACTS, float(IS[at.N_TOUCHING] - limits))
    put(OUT, row + at.H_LIMITS, float(limits))
    put(OUT, row + at.H_BEFORE, before)
    put(OUT, row + at.H_COMPRESSED, compressed)
    put(OUT, row + at.H_AFTER, after)
    put(OUT, row + at.H_PENETRATION, depth)
    put(OUT, row + at.H_JAM, jam)
    put(OUT, row + at.H_CERTIFICATE, figure_or_none(XS[at.HIT_FIGURE]))
    put(IS, at.N_OUT_IMPACTS, IS[at.N_OUT_IMPACTS] + 1)
    put(IS, at.N_HITS, IS[at.N_HITS] + 1)


@inline
def has_pressed(run, k):
    """Return whether a contact has taken an impulse since the last record."""
    impulse = load(run.XS, run.IS[at.TAKEN] + k * at.TAKEN_ROW)
    return dot(impulse, impulse) > 0.0


@inline
def tell_contact(run, column, value):
    """Write a number to its column of the contacts, in the next row."""
    put(run.OUT_CONTACTS, column * run.IS[at.MAX_OUT_CONTACTS] + run.IS[at.N_OUT_CONTACTS], value)


@inline
def tell_vector(run, column, v):
    """Write a vector to its column of the contacts, in the next row."""
    place = column * run.IS[at.MAX_OUT_CONTACTS] + 3 * run.IS[at.N_OUT_CONTACTS]
    put_three(run.OUT_CONTACTS, place, v)


@inline
def stretch_of(run, key):
    """Return the first vector that a contact remembers, none where it remembers nothing."""
    IS = run.IS
    k = place_of(IS, IS[at.MEMORY_KEYS], 1, IS[at.N_REMEMBERED], key)
    return load(run.XS, IS[at.MEMORIES] + k * IS[at.MEMORY_WIDTH] + 4) if k >= 0 else zero()


@inline
def record_contact(run, key, mode, gap, point, normal, impulse):
    """Record a contact."""
    IS = run.IS
    tell_contact(run, at.C_NAME, float(key))
    tell_contact(run, at.C_MODE, float(mode))
    tell_contact(run, at.C_GAP, gap)
    tell_vector(run, at.C_POINT, point)
    tell_vector(run, at.C_NORMAL, normal)
    tell_vector(run, at.C_IMPULSE, impulse)
    tell_vector(run, at.C_STRETCH, stretch_of(run, key))
    put(IS, at.N_OUT_CONTACTS, IS[at.N_OUT_CONTACTS] + 1)


@callee
def record_contacts(run):
    """Record the contacts found last that are closed or press; return the largest overlap."""
    ID, XD, IS, XS = run.ID, run.XD, run.IS, run.XS
    depth = 0.0
    for i in range(ID[found.N_CONTACTS]):
        contact, record = ID[found.CONTACTS] + i * found.CONTACT_ROW, ID[found.RECORDS] + i * RECORD
        key = get(ID, contact + found.C_KEY)
        gap = get(XD, record + GAP) + reference_of(run, key, XS[at.WHEN])
        k = taken_place(run, key, i)
        pressed = k >= 0 and has_pressed(run, k)
        if gap > XS[at.PENETRATION] and not pressed:
            continue
        mode = SEPARATING if k < 0 else get(IS, IS[at.TAKEN_MODES] + k)
        impulse = load(XS, IS[at.TAKEN] + k * at.TAKEN_ROW) if pressed else zero()
        point, normal = load(XD, record), load(XD, record + NORMAL.start)
        record_contact(run, key, mode, gap, point, normal, impulse)
        if pressed:
            put(IS, IS[at.TAKEN_MODES] + k, TOLD)
        depth = max(depth, -gap)
    return depth


@callee
def record_gone(run):
    """Record the contacts that have pressed since the last record and were not found any more."""
    IS, XS = run.IS, run.XS
    for k in range(IS[at.N_TAKEN]):
        if get(IS, IS[at.TAKEN_MODES] + k) == TOLD or not has_pressed(run, k):
            continue
        taken = IS[at.TAKEN] + k * at.TAKEN_ROW
        key, gap = get(IS, IS[at.TAKEN_KEYS] + k), get(XS, taken + at.T_GAP)
        point, normal = load(XS, taken + at.T_POINT), load(XS, taken + at.T_NORMAL)
        record_contact(run, key, SEPARATING, gap, point, normal, load(XS, taken))


@inline
def tell(run, column, value):
    """Write a figure of the step to its column, in the next row."""
    put(run.OUT, column * run.IS[at.MAX_OUT] + run.IS[at.N_OUT], value)


@callee
def tell_choice(run):
    """Record how many joints are active, and what the others miss and have lost."""
    adaptive = run.IS[at.ADAPTIVE] != 0
    tell(run, at.O_ACTIVE, float(run.IA[whole.N_ACTIVE]) if adaptive else -1.0)
    tell(run, at.O_ERROR, math.sqrt(run.XA[whole.ERROR]) if adaptive else math.nan)
    tell(run, at.O_LOSS, run.XA[whole.LOSS] if adaptive else 0.0)
    if adaptive:
        put(run.XA, whole.LOSS, 0.0)


@callee
def tell_judgement(run):
    """Record whether contacts yielded, whether rigid forces are unique and stable, and a switch."""
    told = run.IS[at.DIAGNOSES] != 0
    tell(run, at.O_YIELDED, float(run.IS[at.YIELDING]) if told else -1.0)
    tell(run, at.O_UNIQUE, float(run.IS[at.UNIQUE]) if told else 0.0)
    tell(run, at.O_MARGIN, run.XS[at.MARGIN] if told else math.nan)
    tell(run, at.O_GROWTH, run.XS[at.GROWTH] if told else math.nan)
    tell(run, at.O_JUMP, run.XS[at.JUMP] if told else math.nan)
    tell(run, at.O_LAYER, run.XS[at.LAYER_ENERGY] if told else 0.0)


@callee
def record_step(run, I, X, time, kinetic, potential, n_impacts):
    """Record the state at the end of a step with the figures since the last record, which begin anew."""
    IS, XS = run.IS, run.XS
    before = IS[at.N_OUT_CONTACTS]
    tell(run, at.O_PENETRATION, record_contacts(run))
    record_gone(run)
    tell(run, at.O_TIME, time)
    tell(run, at.O_KINETIC, kinetic)
    tell(run, at.O_POTENTIAL, potential)
    tell(run, at.O_RESIDUAL, XS[at.RESIDUAL] if IS[at.N_SOLVES] > 0 else math.nan)
    tell(run, at.O_SOLVED, float(IS[at.N_SOLVES]))
    tell(run, at.O_STATUS, float(IS[at.STATUS]))
    tell(run, at.O_AUTO, float(IS[at.BY_AUTO]))
    tell(run, at.O_DRIFT, XS[at.DRIFT])
    tell(run, at.O_CERTIFICATE, figure_or_none(XS[at.CERTIFICATE]))
    tell(run, at.O_ITERATIONS, float(IS[at.ITERATIONS]))
    tell(run, at.O_BUILD, float(IS[at.BUILD]))
    tell(run, at.O_SOLVE, float(IS[at.SOLVING]))
    tell(run, at.O_RECOVER, float(IS[at.RECOVERY]))
    tell(run, at.O_CONTACTS, float(IS[at.N_OUT_CONTACTS] - before))
    tell(run, at.O_IMPACTS, float(n_impacts))
    tell(run, at.O_ASLEEP, float(IS[at.N_ASLEEP]))
    tell_choice(run)
    tell_judgement(run)
    theta, rates = at.OUT_HEAD * IS[at.MAX_OUT], (at.OUT_HEAD + I[N_THETA]) * IS[at.MAX_OUT]
    copy(X, I[THETA], run.OUT, theta + IS[at.N_OUT] * I[N_THETA], I[N_THETA])
    copy(X, I[THETA_DOT], run.OUT, rates + IS[at.N_OUT] * I[N_DOFS], I[N_DOFS])
    put(IS, at.N_OUT, IS[at.N_OUT] + 1)
    forget_figures(run)


@inline
def forget_figures(run):
    """Begin gathering anew."""
    IS = run.IS
    put(IS, at.N_TAKEN, 0)
    put(IS, at.ITERATIONS, 0)
    put(IS, at.N_SOLVES, 0)
    put(IS, at.BUILD, 0)
    put(IS, at.SOLVING, 0)
    put(IS, at.RECOVERY, 0)
    put(IS, at.STATUS, 0)
    put(IS, at.BY_AUTO, 0)
    put(run.XS, at.RESIDUAL, 0.0)
    put(run.XS, at.CERTIFICATE, at.NO_FIGURE)
