"""Sleep: an island that has been at rest for a while is left as it is until something touches it.

A body is *quiet* in a step at whose end no point of it is faster than `sleep_speed`. Where all bodies of an
island, those that touch each other with those of their trees, have been quiet for `sleep_after`, their rates
become zero and they sleep: they do not move, their contacts take no part in any problem and no impulses are
recorded of them. They wake together, where the step begins in which an awake body comes as near to one of
them as to touch it, or would overlap it: that step is taken with them awake. Bodies that a controller can act
on do not sleep.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.memory.records import (
    DOF_AT,
    N_BODIES,
    N_DOF,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import n_found
from mcpframe.simulation.step.kick import call_place_rates
from mcpframe.simulation.step.moving.speeds import speed_within
from mcpframe.simulation.step.parting.islands import root_of, unite, unite_trees
from mcpframe.simulation.step.parting.parties import is_asleep
from mcpframe.simulation.step.touching import found_bodies


@callee
def count_sleepers(run):
    """Count the bodies that sleep."""
    n = 0
    for k in range(run.I[N_BODIES]):
        n += 1 if get(run.IS, run.IS[at.SLEEPERS] + k) != at.AWAKE else 0
    put(run.IS, at.N_ASLEEP, n)


@callee
def wake(run, body):
    """Wake a body, and all that fell asleep with it."""
    IS = run.IS
    if not is_asleep(run, body):
        return
    island = get(IS, IS[at.SLEEPERS] + body)
    for k in range(run.I[N_BODIES]):
        if get(IS, IS[at.SLEEPERS] + k) == island:
            put(IS, IS[at.SLEEPERS] + k, at.AWAKE)
            put(IS, IS[at.QUIET] + k, 0)
    count_sleepers(run)


@callee
def wake_touched(run):
    """Wake what awake bodies touch where contacts were found last."""
    for i in range(n_found(run) if run.IS[at.N_ASLEEP] > 0 else 0):
        a, b = found_bodies(run, i)
        if a >= 0 and b >= 0 and is_asleep(run, a) != is_asleep(run, b):
            wake(run, a)
            wake(run, b)


@callee
def wake_all(run):
    """Wake everybody."""
    for k in range(run.I[N_BODIES] if run.IS[at.N_ASLEEP] > 0 else 0):
        wake(run, k)


@callee
def count_quiet(run, X):
    """Count for how many steps bodies have been quiet; return whether one that is awake has been for long."""
    IS, any_tired = run.IS, False
    for k in range(run.I[N_BODIES]):
        reach, count = get(run.XS, run.IS[at.BODY_REACH] + k), IS[at.QUIET] + k
        quiet = reach >= 0.0 and speed_within(run, X, k, reach) <= run.XS[at.SLEEP_SPEED]
        quiet = quiet and get(IS, IS[at.SLEEPLESS] + k) == 0
        put(IS, count, get(IS, count) + 1 if quiet else 0)
        any_tired = any_tired or (not is_asleep(run, k) and is_tired(run, k))
    return any_tired


@inline
def is_tired(run, k):
    """Return whether a body has been quiet for long enough."""
    return get(run.IS, run.IS[at.QUIET] + k) >= run.IS[at.SLEEP_AFTER]


@callee
def fall_asleep(run, X):
    """Where a step has ended, have the islands sleep that have been at rest for long; X: the state there."""
    I, IS = run.I, run.IS
    if IS[at.SLEEP_AFTER] == 0 or not count_quiet(run, X):
        return
    unite_trees(run)
    for i in range(n_found(run)):
        a, b = found_bodies(run, i)
        unite(run, a, b)
    for k in range(I[N_BODIES]):
        put(IS, IS[at.TROUBLED] + k, 0)
    for k in range(I[N_BODIES]):
        if is_asleep(run, k) or not is_tired(run, k):
            put(IS, IS[at.TROUBLED] + root_of(run, k), 1)
    for k in range(I[N_BODIES]):
        root = root_of(run, k)
        if get(IS, IS[at.TROUBLED] + root) == 0:
            put(IS, IS[at.SLEEPERS] + k, root)
            row = I[TREE] + k * TREE_ROW
            first = I[THETA_DOT] + get(I, row + DOF_AT)
            for d in range(first, first + get(I, row + N_DOF)):
                put(X, d, 0.0)
    count_sleepers(run)
    call_place_rates(run.A[at.PLACE_RATES], (I, X))
