"""How fast the points of bodies are at most."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load
from mcpframe.multibody.memory.records import B_POSITION, B_VELOCITY, BODIES, BODY, N_BODIES
from mcpframe.simulation.memory import slots as at
from mcpframe.spatial.algebra import cross, dot, load_pair


@inline
def motion_within(run, X, body, reach):
    """Return the velocity of the origin of a body, and what turning can add to points that far away."""
    o = run.I[BODIES] + body * BODY
    w, v = load_pair(X, o + B_VELOCITY)
    return v + cross(w, load(X, o + B_POSITION)), math.sqrt(dot(w, w)) * reach


@inline
def speed_within(run, X, body, reach):
    """Return a speed that no point of a body up to that far from its origin exceeds."""
    v, turning = motion_within(run, X, body, reach)
    return math.sqrt(dot(v, v)) + turning


@callee
def fastest_point(run, X):
    """Return a speed that no point of any shape exceeds."""
    fastest = 0.0
    for k in range(run.I[N_BODIES]):
        reach = get(run.XS, run.IS[at.BODY_REACH] + k)
        if reach >= 0.0:
            fastest = max(fastest, speed_within(run, X, k, reach))
    return fastest
