"""The compiled loop over steps."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from numba import types

from mcpframe.contact.detection.records import MAX_CONTACTS
from mcpframe.jit import CodesOut, Indices, IndicesOut, VectorOut, callee, inline, kernel, window
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.adaptive.clusters import spread
from mcpframe.multibody.kernels.spans import span_all
from mcpframe.multibody.memory.records import N_DOFS, N_THETA, THETA, THETA_DOT
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.adaptive_slots import REDONE
from mcpframe.simulation.memory.slots import Run
from mcpframe.simulation.step.adaptive.adapting import adapt_after, begins_again, choose_again, note_impulses
from mcpframe.simulation.step.contact_model.switching import (
    after_step,
    count_agreement,
    is_to_yield,
    yield_from,
)
from mcpframe.simulation.step.layers import stored_energy
from mcpframe.simulation.step.moving.speeds import fastest_point
from mcpframe.simulation.step.parting.apart import event_driven_apart
from mcpframe.simulation.step.parting.sleeping import count_sleepers, fall_asleep
from mcpframe.simulation.step.record import record_step
from mcpframe.simulation.step.restitution import call_energies
from mcpframe.simulation.step.step import event_driven, time_stepping
from mcpframe.simulation.step.touching import look
from mcpframe.simulation.step.undo import copy_motion, go_back, keep


@inline
def has_room(run):
    """Return whether whatever one more step does can be recorded."""
    IS = run.IS
    contacts = run.ID[MAX_CONTACTS] + at.TAKEN_ROOM * IS[at.CAPACITY]
    return (
        IS[at.N_OUT] < IS[at.MAX_OUT]
        and IS[at.N_OUT_CONTACTS] + contacts <= IS[at.MAX_OUT_CONTACTS]
        and IS[at.N_OUT_IMPACTS] + IS[at.MAX_IMPACTS] <= IS[at.MAX_OUT_IMPACTS]
    )


@callee
def record(run, X, time):
    """Record the step that ends in X."""
    energy = window(run.XS, run.IS[at.ENERGY], 8)
    call_energies(run.A[at.ENERGIES], (run.I, X, energy))
    I, W = run.I, X
    if run.IS[at.ADAPTIVE] != 0:
        spread(run.I, X, run.IA, run.IT, run.XT)
        I, W = run.IT, run.XT
    potential = get(energy, 1) + stored_energy(run, X)
    record_step(run, I, W, time, get(energy, 0), potential, run.IS[at.N_HITS])


@inline
def is_finite(I, X):
    """Return whether all coordinates and rates are numbers."""
    total = 0.0
    for i in range(I[N_THETA]):
        total += 0.0 * get(X, I[THETA] + i)
    for d in range(I[N_DOFS]):
        total += 0.0 * get(X, I[THETA_DOT] + d)
    return total == 0.0


@kernel(
    Indices, IndicesOut, VectorOut, VectorOut, VectorOut, VectorOut, IndicesOut, VectorOut, IndicesOut,
    VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut,
    IndicesOut, CodesOut, IndicesOut, VectorOut, VectorOut, VectorOut, VectorOut, IndicesOut, VectorOut,
    IndicesOut, VectorOut, types.float64, types.int64, types.int64,
)  # fmt: skip
def advance(
    A, I, X, Y, Z, B, ID, XD, IE, XE, IQ, XQ, IF, XF, IR, XR, IP, W, IW, codes, IS, XS, OUT, OUT_CONTACTS,
    OUT_IMPACTS, IT, XT, IA, XA, begin, first, count,
):  # fmt: skip
    """Take up to `count` steps after the first `first`, step k ending at begin + k dt; record the last.

    The state is in X, and is left there; Y, Z and B are states to work with. Returns (how it ended, steps
    taken).
    """
    parts = A, I, Z, ID, XD, IE, XE, IQ, XQ, IF, XF, IR, XR, IP, W, IW, codes, IS, XS
    run = Run(*parts, OUT, OUT_CONTACTS, OUT_IMPACTS, IT, XT, IA, XA)
    span_all(I)
    put(IS, at.ROUGH, 0)
    put(IS, at.TRIED, 0)
    put(XS, at.WHEN, begin + first * XS[at.DT])
    code = look(run, X, XS[at.NEAR])
    put(XS, at.SPEED, fastest_point(run, X))
    count_sleepers(run)
    swapped, taken = False, 0
    while code == at.DONE and taken < count and has_room(run):
        k = first + taken
        put(XS, at.START, begin + k * XS[at.DT])
        put(IS, at.N_HITS, 0)
        put(IS, at.OVERFLOW, 0)
        put(IS, at.TRIALS, 0)
        put(IS, at.CERTIFIES, 1 if IS[at.CERTIFY_EVERY] > 0 and (k + 1) % IS[at.CERTIFY_EVERY] == 0 else 0)
        keep(run, X, B)
        if IS[at.CLOCKS] != 0:
            step = event_driven_apart(run, X, Y, B)
        else:
            step = event_driven(run, X, Y) if IS[at.EVENT_DRIVEN] != 0 else time_stepping(run, X, Y)
        code = step[0]
        if step[1]:
            X, Y = Y, X
            swapped = not swapped
        if code == at.DONE and not is_finite(I, X):
            code = at.NO_MOTION
        if code == at.DONE and IS[at.OVERFLOW] != 0:
            code = at.FULL
        if code == at.DONE and IS[at.ADAPTIVE] != 0 and begins_again(run):
            note_impulses(run)
            go_back(run, X, B)
            put(IA, REDONE, 1)
            code = choose_again(run, X, Y, XS[at.START], True)
            continue
        end = begin + (k + 1) * XS[at.DT]
        if code == at.DONE and is_to_yield(run, X, end):
            go_back(run, X, B)
            code = yield_from(run, X)
            continue
        if code == at.DONE:
            code = count_agreement(run, X, end)
        if code == at.DONE and IS[at.ADAPTIVE] != 0:
            code = adapt_after(run, X, Y, k + 1, XS[at.START] + XS[at.DT])
        if code != at.DONE:
            go_back(run, X, B)
            break
        fall_asleep(run, X)
        taken += 1
        # By number, so that blocks change nothing.
        told = IS[at.N_HITS] > 0 or XS[at.JUMP] >= 0.0
        if (k + 1) % IS[at.EVERY] == 0 or told or taken == count:
            record(run, X, end)
        code = after_step(run, X, end)
    if IS[at.ADAPTIVE] != 0:
        spread(I, X, IA, IT, XT)
    if swapped:
        copy_motion(I, X, Y)
    return code, taken
