"""The compiled loop over steps."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from numba import types

from mcpframe.contact.detection.records import MAX_CONTACTS
from mcpframe.jit import CodesOut, Indices, IndicesOut, VectorOut, callee, inline, kernel, window
from mcpframe.multibody.memory.records import N_DOFS, N_THETA, THETA, THETA_DOT
from mcpframe.simulation.step.impact import call_energies
from mcpframe.simulation.step.memory import (
    CAPACITY,
    CLOSED,
    CLOSED_BEFORE,
    CODES_BEFORE,
    COUNTS,
    COUNTS_BEFORE,
    DONE,
    DT,
    ENERGIES,
    ENERGY,
    EVENT_DRIVEN,
    EVERY,
    FULL,
    KNOWN_BEFORE,
    KNOWN_CODES,
    KNOWN_KEYS,
    MAX_IMPACTS,
    MAX_OUT,
    MAX_OUT_CONTACTS,
    MAX_OUT_IMPACTS,
    N_CLOSED,
    N_COUNTS,
    N_HITS,
    N_KNOWN,
    N_OUT,
    N_OUT_CONTACTS,
    N_OUT_IMPACTS,
    N_PLANNED,
    N_TAKEN,
    NEAR,
    NO_MOTION,
    OVERFLOW,
    RESIDUAL,
    RESIDUAL_BEFORE,
    ROWS_PER_CONTACT,
    SPEED,
    START,
    TAKEN,
    TAKEN_BEFORE,
    TAKEN_ROOM,
    TAKEN_ROW,
    Run,
)
from mcpframe.simulation.step.record import record_step
from mcpframe.simulation.step.touching import fastest_point, look
from mcpframe.simulation.step.trial import event_driven, time_stepping
from mcpframe.spatial.lanes import get, put


@inline
def has_room(run):
    """Return whether whatever one more step does can be recorded."""
    IS = run.IS
    contacts = run.ID[MAX_CONTACTS] + TAKEN_ROOM * IS[CAPACITY]
    return (
        IS[N_OUT] < IS[MAX_OUT]
        and IS[N_OUT_CONTACTS] + contacts <= IS[MAX_OUT_CONTACTS]
        and IS[N_OUT_IMPACTS] + IS[MAX_IMPACTS] <= IS[MAX_OUT_IMPACTS]
    )


@callee
def copy_motion(I, X, Y):
    """Copy coordinates and rates from X to Y."""
    for i in range(I[N_THETA]):
        put(Y, I[THETA] + i, get(X, I[THETA] + i))
    for i in range(I[N_DOFS]):
        put(Y, I[THETA_DOT] + i, get(X, I[THETA_DOT] + i))


@inline
def copy_part(array, source, target, n):
    """Copy n entries from one place of an array to another."""
    for i in range(n):
        put(array, target + i, get(array, source + i))


@callee
def keep(run, X, B):
    """Keep what a step changes."""
    IS, XS = run.IS, run.XS
    copy_motion(run.I, X, B)
    copy_part(IS, COUNTS, COUNTS_BEFORE, N_COUNTS)
    copy_part(IS, IS[CLOSED], IS[CLOSED_BEFORE], IS[N_CLOSED])
    copy_part(IS, IS[KNOWN_KEYS], IS[KNOWN_BEFORE], IS[N_KNOWN])
    copy_part(IS, IS[KNOWN_CODES], IS[CODES_BEFORE], IS[N_KNOWN] * IS[ROWS_PER_CONTACT])
    copy_part(XS, IS[TAKEN], IS[TAKEN_BEFORE], IS[N_TAKEN] * TAKEN_ROW)
    put(XS, RESIDUAL_BEFORE, XS[RESIDUAL])


@callee
def go_back(run, X, B):
    """Undo a step that did not go through; the plan is that of another step now, and made anew."""
    IS, XS = run.IS, run.XS
    copy_motion(run.I, B, X)
    copy_part(IS, COUNTS_BEFORE, COUNTS, N_COUNTS)
    copy_part(IS, IS[CLOSED_BEFORE], IS[CLOSED], IS[N_CLOSED])
    copy_part(IS, IS[KNOWN_BEFORE], IS[KNOWN_KEYS], IS[N_KNOWN])
    copy_part(IS, IS[CODES_BEFORE], IS[KNOWN_CODES], IS[N_KNOWN] * IS[ROWS_PER_CONTACT])
    copy_part(XS, IS[TAKEN_BEFORE], IS[TAKEN], IS[N_TAKEN] * TAKEN_ROW)
    put(XS, RESIDUAL, XS[RESIDUAL_BEFORE])
    put(IS, N_PLANNED, -1)


@callee
def record(run, X, time):
    """Record the step that ends in X."""
    energy = window(run.XS, run.IS[ENERGY], 8)
    call_energies(run.A[ENERGIES], (run.I, X, energy))
    record_step(run, X, time, get(energy, 0), get(energy, 1), run.IS[N_HITS])


@inline
def is_finite(I, X):
    """Return whether all rates are numbers."""
    total = 0.0
    for d in range(I[N_DOFS]):
        total += 0.0 * get(X, I[THETA_DOT] + d)
    return total == 0.0


@kernel(
    Indices, Indices, VectorOut, VectorOut, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut,
    IndicesOut, VectorOut, IndicesOut, CodesOut, IndicesOut, VectorOut, VectorOut, VectorOut, VectorOut,
    types.float64, types.int64, types.int64,
)  # fmt: skip
def advance(
    A, I, X, Y, B, ID, XD, IR, XR, IP, W, IW, codes, IS, XS, OUT, OUT_CONTACTS, OUT_IMPACTS,
    begin, first, count,
):  # fmt: skip
    """Take up to `count` steps after the first `first`, step k ending at begin + k dt; record the last.

    The state is in X, and is left there; Y and B are states to work with. Returns (how it ended, steps
    taken).
    """
    run = Run(A, I, ID, XD, IR, XR, IP, W, IW, codes, IS, XS, OUT, OUT_CONTACTS, OUT_IMPACTS)
    code = look(run, X, XS[NEAR])
    put(XS, SPEED, fastest_point(run, X))
    swapped, taken = False, 0
    while code == DONE and taken < count and has_room(run):
        k = first + taken
        put(XS, START, begin + k * XS[DT])
        put(IS, N_HITS, 0)
        put(IS, OVERFLOW, 0)
        keep(run, X, B)
        step = event_driven(run, X, Y) if IS[EVENT_DRIVEN] != 0 else time_stepping(run, X, Y)
        code = step[0]
        if step[1]:
            X, Y = Y, X
            swapped = not swapped
        if code == DONE and not is_finite(I, X):
            code = NO_MOTION
        if code == DONE and IS[OVERFLOW] != 0:
            code = FULL
        if code != DONE:
            go_back(run, X, B)
            break
        taken += 1
        # By number, so that blocks change nothing.
        if (k + 1) % IS[EVERY] == 0 or IS[N_HITS] > 0 or taken == count:
            record(run, X, begin + (k + 1) * XS[DT])
    if swapped:
        copy_motion(I, X, Y)
    return code, taken
