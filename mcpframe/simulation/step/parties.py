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

EVERYBODY, DONE_WITH = -1, -2
"""Instead of the number of a party: all bodies; those for whom the whole step was good."""


@inline
def moves(run, body):
    """Return whether a body is among those that move now; the world goes with everybody."""
    party = run.IS[at.MOVING_PARTY]
    return party == EVERYBODY or body < 0 or get(run.IS, run.IS[at.PARTY] + body) == party


@inline
def takes_part(run, key):
    """Return whether a contact or limit is one of bodies that move now."""
    IS = run.IS
    if IS[at.MOVING_PARTY] == EVERYBODY:
        return True
    if key < 0:
        return moves(run, get(IS, IS[at.LIMITS] + (-1 - key) * at.LIMIT_ROW + at.M_BODY))
    pair, n = key // FEATURES, IS[at.N_SHAPES]
    a, b = get(IS, IS[at.SHAPE_BODY] + pair // n), get(IS, IS[at.SHAPE_BODY] + pair % n)
    return moves(run, a) and moves(run, b)
