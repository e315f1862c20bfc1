"""Parties: the bodies that a part of a step is about, while all others wait.

An impact, or a contact that would sink in, cuts the step of those whom it concerns, see `apart`; everybody
else has taken the step as a whole. While a party moves, nobody else does: others keep their coordinates,
their contacts do not count, and what was known of these is kept.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.contact.detection.records import FEATURES
from mcpframe.jit import inline
from mcpframe.jit.lanes import get
from mcpframe.simulation.memory import slots as at


@inline
def is_asleep(run, body):
    """Return whether a body sleeps, see `sleeping`."""
    return run.IS[at.N_ASLEEP] > 0 and get(run.IS, run.IS[at.SLEEPERS] + body) != at.AWAKE


@inline
def moves(run, body):
    """Return whether a body is among those that move now; the world goes with everybody."""
    party = run.IS[at.MOVING_PARTY]
    if body < 0:
        return True
    if party == at.EVERYBODY:
        return not is_asleep(run, body)
    return get(run.IS, run.IS[at.PARTY] + body) == party and not is_asleep(run, body)


@inline
def all_move(run):
    """Return whether nobody waits or sleeps."""
    return run.IS[at.MOVING_PARTY] == at.EVERYBODY and run.IS[at.N_ASLEEP] == 0


@inline
def bodies_of_key(run, key):
    """Return the bodies of a contact or limit by its key; the world, and the parent of a limit, are -1."""
    IS = run.IS
    if key < 0:
        return get(IS, IS[at.LIMITS] + (-1 - key) * at.LIMIT_ROW + at.M_BODY), -1
    pair, n = key // FEATURES, IS[at.N_SHAPES]
    return get(IS, IS[at.SHAPE_BODY] + pair // n), get(IS, IS[at.SHAPE_BODY] + pair % n)


@inline
def takes_part(run, key):
    """Return whether a contact or limit is one of bodies that move now."""
    if all_move(run):
        return True
    a, b = bodies_of_key(run, key)
    return moves(run, a) and moves(run, b)
