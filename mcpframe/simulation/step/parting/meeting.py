"""Meetings: bodies of different parties that overlap where all have come to.

Those who have met take the step again, as one party; what they did is forgotten, and what all others did
stays. Where somebody was met who sleeps, or a step without an impact has jammed, the step is taken anew by
everybody: see `apart`.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.memory.records import N_BODIES
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import found_gap, n_found
from mcpframe.simulation.step.parting.islands import copy_row, root_of, unite
from mcpframe.simulation.step.parting.parties import bodies_of_key, is_asleep
from mcpframe.simulation.step.touching import found_bodies
from mcpframe.solving.stages import SEPARATING


@inline
def are_apart(run, a, b):
    """Return whether bodies belong to different parties, or one of them sleeps."""
    party = get(run.IS, run.IS[at.PARTY] + a) != get(run.IS, run.IS[at.PARTY] + b)
    return party or is_asleep(run, a) != is_asleep(run, b)


@callee
def note_meetings(run):
    """Note bodies apart from each other that overlap where all have come to; return whether there are any."""
    IS, before = run.IS, run.IS[at.N_MET]
    for i in range(n_found(run)):
        a, b = found_bodies(run, i)
        if a < 0 or b < 0 or found_gap(run, i) >= -run.XS[at.PENETRATION]:
            continue
        n = IS[at.N_MET]
        if are_apart(run, a, b) and n < run.I[N_BODIES]:
            put(IS, IS[at.MET] + 2 * n, a)
            put(IS, IS[at.MET] + 2 * n + 1, b)
            put(IS, at.N_MET, n + 1)
    return IS[at.N_MET] > before


@callee
def fork(run):
    """Keep what was closed and had pressed where parties begin."""
    IS = run.IS
    put(IS, at.N_FORK_CLOSED, IS[at.N_CLOSED])
    copy_row(IS, IS[at.CLOSED], IS[at.FORK_CLOSED], IS[at.N_CLOSED])
    put(IS, at.N_FORK_TAKEN, IS[at.N_TAKEN])
    copy_row(run.XS, IS[at.TAKEN], IS[at.FORK_TAKEN], IS[at.N_TAKEN] * at.TAKEN_ROW)


@callee
def all_awake(run, first):
    """Return whether nobody sleeps of those that were met, from a meeting on."""
    for k in range(2 * first, 2 * run.IS[at.N_MET]):
        if is_asleep(run, get(run.IS, run.IS[at.MET] + k)):
            return False
    return True


@callee
def join_met(run, first):
    """Make one party of those who have met, from a meeting on; everybody else is done.

    The impacts of those parties are out of time, and dropped when impacts are sorted.
    """
    IS = run.IS
    copy_row(IS, IS[at.HOMES], IS[at.ROOTS], run.I[N_BODIES])
    for k in range(first, IS[at.N_MET]):
        unite(run, get(IS, IS[at.MET] + 2 * k), get(IS, IS[at.MET] + 2 * k + 1))
    for k in range(run.I[N_BODIES]):
        put(IS, IS[at.TROUBLED] + k, 0)
    for k in range(first, IS[at.N_MET]):
        put(IS, IS[at.TROUBLED] + root_of(run, get(IS, IS[at.MET] + 2 * k)), 1)
    for k in range(run.I[N_BODIES]):
        root = root_of(run, k)
        again = get(IS, IS[at.TROUBLED] + root) != 0
        if again and get(IS, IS[at.PARTY] + k) == k:
            drop_impacts(run, k)
        put(IS, IS[at.PARTY] + k, root if again else at.DONE_WITH)
    for k in range(run.I[N_BODIES]):
        put(IS, IS[at.HOMES] + k, root_of(run, k))


@callee
def drop_impacts(run, party):
    """Put the impacts of a party out of time."""
    for i in range(get(run.IS, run.IS[at.FIRST_HIT] + party), get(run.IS, run.IS[at.LAST_HIT] + party)):
        put(run.OUT_IMPACTS, i * at.OUT_IMPACT + at.H_TIME, math.inf)
    put(run.IS, run.IS[at.LAST_HIT] + party, 0)


@inline
def is_again(run, key):
    """Return whether a contact or limit is one of bodies that take the step again."""
    a, b = bodies_of_key(run, key)
    party = run.IS[at.PARTY]
    return (a >= 0 and get(run.IS, party + a) >= 0) or (b >= 0 and get(run.IS, party + b) >= 0)


@callee
def merge_closed(run):
    """Have what is closed be, of those who take the step again, what was where it began; in order."""
    IS, kept = run.IS, 0
    for i in range(IS[at.N_CLOSED]):
        key = get(IS, IS[at.CLOSED] + i)
        if not is_again(run, key):
            put(IS, IS[at.CLOSED] + kept, key)
            kept += 1
    for i in range(IS[at.N_FORK_CLOSED]):
        key = get(IS, IS[at.FORK_CLOSED] + i)
        if is_again(run, key) and kept < IS[at.CAPACITY]:
            place = kept
            while place > 0 and get(IS, IS[at.CLOSED] + place - 1) > key:
                put(IS, IS[at.CLOSED] + place, get(IS, IS[at.CLOSED] + place - 1))
                place -= 1
            put(IS, IS[at.CLOSED] + place, key)
            kept += 1
    put(IS, at.N_CLOSED, kept)


@callee
def forget_again(run):
    """Forget what those who take the step again have done in it."""
    IS, XS = run.IS, run.XS
    merge_closed(run)
    for k in range(IS[at.N_TAKEN]):
        if not is_again(run, get(IS, IS[at.TAKEN_KEYS] + k)):
            continue
        row, before = IS[at.TAKEN] + k * at.TAKEN_ROW, IS[at.FORK_TAKEN] + k * at.TAKEN_ROW
        known = k < IS[at.N_FORK_TAKEN]
        for i in range(at.TAKEN_ROW):
            put(XS, row + i, get(XS, before + i) if known else 0.0)
        put(IS, IS[at.TAKEN_MODES] + k, SEPARATING)


@callee
def sort_impacts(run, first):
    """Bring the impacts of a step, from a row on, into the order of their times; drop those out of time."""
    IS, OUT, width = run.IS, run.OUT_IMPACTS, at.OUT_IMPACT
    for i in range(first + 1, IS[at.N_OUT_IMPACTS]):
        j = i
        while j > first and get(OUT, (j - 1) * width + at.H_TIME) > get(OUT, j * width + at.H_TIME):
            for k in range(width):
                above, below = (j - 1) * width + k, j * width + k
                kept = get(OUT, above)
                put(OUT, above, get(OUT, below))
                put(OUT, below, kept)
            j -= 1
    last = IS[at.N_OUT_IMPACTS]
    while last > first and get(OUT, (last - 1) * width + at.H_TIME) == math.inf:
        last -= 1
    put(IS, at.N_HITS, IS[at.N_HITS] - (IS[at.N_OUT_IMPACTS] - last))
    put(IS, at.N_OUT_IMPACTS, last)
