"""When to adapt: every so many steps, and where something new is touched; see `adapt`."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import by_address, callee, inline, window
from mcpframe.jit.lanes import get, load, put, store, vector
from mcpframe.multibody.adaptive.choice import FAILED, OTHERS, SAME
from mcpframe.multibody.adaptive.records import LOSS
from mcpframe.multibody.memory.loop_records import N_ROWS as N_LOOP_ROWS
from mcpframe.simulation.memory import adaptive_slots as whole
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.drive_slots import N_DRIVES
from mcpframe.simulation.memory.slots import key_of, record_of
from mcpframe.simulation.step.adaptive.adapt import adapt
from mcpframe.simulation.step.drives import sample_motors
from mcpframe.simulation.step.moving.closing import settle
from mcpframe.simulation.step.moving.speeds import fastest_point
from mcpframe.simulation.step.restitution import call_energies
from mcpframe.simulation.step.touching import call_place, look, place_of

call_adapt = by_address(adapt)


@inline
def put_force(run, key, point, force, normal):
    """Add a force to those that a choice knows of."""
    IS, n = run.IS, run.IS[at.N_FORCES]
    row = IS[at.FORCES] + 8 * n
    put(IS, IS[at.FORCE_KEYS] + n, key)
    store(run.XS, row, point)
    store(run.XS, row + 4, force)
    put(run.XS, row + 7, normal)
    put(IS, at.N_FORCES, n + 1)


@callee
def note_last_push(run):
    """Note what presses in the last part of a step that was taken."""
    IS, XS, h = run.IS, run.XS, run.XS[at.TRIAL]
    put(IS, at.N_FORCES, 0)
    if h <= 0.0:
        return
    for i in range(IS[at.N_TOUCHING]):
        impulse = IS[at.IMPULSES] + 4 * i
        force = vector(get(XS, impulse) / h, get(XS, impulse + 1) / h, get(XS, impulse + 2) / h)
        put_force(run, key_of(run, i), load(XS, record_of(run, i)), force, get(XS, impulse + 3) / h)


@callee
def note_impulses(run):
    """Note the mean forces of the contacts over a whole step that was taken, impacts and all."""
    IS, XS, dt = run.IS, run.XS, run.XS[at.DT]
    before = get(IS, IS[at.CHANGED_BEFORE] + at.N_TAKEN - at.FIRST_CHANGED)
    put(IS, at.N_FORCES, 0)
    for k in range(IS[at.N_TAKEN]):
        row = IS[at.TAKEN] + k * at.TAKEN_ROW
        impulse = load(XS, row)
        if k < before:
            impulse = impulse - load(XS, IS[at.TAKEN_BEFORE] + k * at.TAKEN_ROW)
        force = (1.0 / dt) * impulse
        put_force(run, get(IS, IS[at.TAKEN_KEYS] + k), load(XS, row + at.T_POINT), force, 0.0)


@callee
def touches_anew(run):
    """Return whether the step that was taken has met something that was not closed before it."""
    IS = run.IS
    if IS[at.N_HITS] > 0:
        return True
    n = get(IS, IS[at.CHANGED_BEFORE] + at.N_CLOSED - at.FIRST_CHANGED)
    for i in range(IS[at.N_TOUCHING]):  # noqa: SIM110 - kernels have no generators
        if place_of(IS, IS[at.CLOSED_BEFORE], 1, n, key_of(run, i)) < 0:
            return True
    return False


@callee
def keep_loops(run, X, time):
    """Make the rates that impulses at joints have left keep the loops; what that takes is lost too."""
    energy = window(run.XS, run.IS[at.ENERGY], 8)
    call_energies(run.A[at.ENERGIES], (run.I, X, energy))
    before = get(energy, 0)
    put(run.IS, at.FACTORED, at.NOWHERE)  # the last Λ_b is of other clusters
    code = settle(run, X, time)
    call_energies(run.A[at.ENERGIES], (run.I, X, energy))
    put(run.XA, LOSS, run.XA[LOSS] + before - get(energy, 0))
    return code


@callee
def choose_again(run, X, Y, time, anew):
    """Choose for the state X at a time and the forces that were noted.

    What touches is found for the new clusters; `anew`: in any case.
    """
    if run.IF[N_DRIVES] > 0:
        call_place(run.A[at.PLACE], (run.I, X))
        sample_motors(run, X, time)
    state = run.I, X, Y, run.Z, run.IT, run.XT, run.IA, run.XA
    outer = run.ID, run.XD, run.IE, run.XE, run.IQ, run.IF, run.XF
    ended = call_adapt(run.A[at.ADAPT], (*state, *outer, run.IS, run.XS, run.A, whole.CHOOSE))
    if ended == FAILED:
        return at.NO_MOTION
    if ended == SAME and not anew:
        return at.DONE
    code = look(run, X, run.XS[at.NEAR])
    put(run.XS, at.SPEED, fastest_point(run, X))
    if code == at.DONE and ended == OTHERS and run.IE[N_LOOP_ROWS] > 0:
        code = keep_loops(run, X, time)
    return code


@inline
def begins_again(run):
    """Return whether the step that was taken is to be taken once more, after a choice with its impulses."""
    IA = run.IA
    if IA[whole.AT_CONTACTS] != whole.TWICE or IA[whole.REDONE] != 0:
        return False
    return touches_anew(run)


@callee
def adapt_after(run, X, Y, number, time):
    """Choose where the step of a number has ended, at a time, if it is time to."""
    IA = run.IA
    new = IA[whole.AT_CONTACTS] == whole.EVENT and touches_anew(run)
    put(IA, whole.REDONE, 0)
    if not new and number % IA[whole.INTERVAL] != 0:
        return at.DONE
    note_last_push(run)
    return choose_again(run, X, Y, time, False)
