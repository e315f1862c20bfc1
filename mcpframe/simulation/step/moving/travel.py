"""How often to look within a step, so that no body passes through another unseen.

A trial is judged by the contacts where it ends. Two bodies that move against each other by no more than the
mean of their thicknesses between two looks cannot have met and parted in between, but for grazing corners.
So a step is looked at

    n = ceil( (s_A + s_B) h / ((w_A + w_B)/2) )

times, for the worst pair of shapes that can meet within it: s is the largest speed of any point of a shape,
w its thickness, the smallest of its extents along its own axes; of a heightfield the smallest of its spacings
and its depth, for a ridge is about as wide as a cell. A half-space is infinitely thick. A pair can meet where
its gap is at most h times the speed at which it can close along the contact's normal, so that fast bodies
cost nothing while nothing is ahead of them. Speeds are those at the start of the step or at its end. Every
look is a trial: a step that would need more of them than it may have is too much.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.detection import records as found
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, zero
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.slots import found_gap, found_key, n_found
from mcpframe.simulation.step.moving.speeds import motion_within
from mcpframe.simulation.step.touching import find
from mcpframe.spatial.algebra import dot


@inline
def shape_motion(run, X, i):
    """Return the velocity of the origin of a shape's body, and what turning can add to its points."""
    body = get(run.IS, run.IS[at.SHAPE_BODY] + i)
    if body < 0:
        return zero(), 0.0
    return motion_within(run, X, body, get(run.XS, run.IS[at.SHAPE_REACH] + i))


@inline
def shape_speed(run, X, i):
    """Return a speed that no point of a shape exceeds."""
    v, turning = shape_motion(run, X, i)
    return math.sqrt(dot(v, v)) + turning


@inline
def closing_speed(run, X, i, a, b):
    """Return the speed at which contact i of the last detection, of shapes a and b, can close at most."""
    n = load(run.XD, run.ID[found.RECORDS] + i * found.RECORD + found.R_NORMAL)
    v_a, turn_a = shape_motion(run, X, a)
    v_b, turn_b = shape_motion(run, X, b)
    return dot(n, v_b - v_a) + turn_a + turn_b


@callee
def looks_of_pairs(run, X, Y, h, fastest):
    """Return code, and how often to look at the pairs that can meet within a step of h from X to Y.

    The tables of the detection are those of X then.
    """
    put(run.XS, at.WHEN, run.XS[at.TIME])
    code = find(run, X, 2.0 * h * fastest)
    most, n_shapes = 1.0, run.IS[at.N_SHAPES]
    if code == at.DONE:
        for i in range(n_found(run)):
            pair = found_key(run, i) // found.FEATURES
            a, b = pair // n_shapes, pair % n_shapes
            s_a = max(shape_speed(run, X, a), shape_speed(run, Y, a))
            s_b = max(shape_speed(run, X, b), shape_speed(run, Y, b))
            closing = max(closing_speed(run, X, i, a, b), closing_speed(run, Y, i, a, b))
            if found_gap(run, i) <= h * closing:
                widths = get(run.XS, run.IS[at.SHAPE_WIDTH] + a) + get(run.XS, run.IS[at.SHAPE_WIDTH] + b)
                most = max(most, 2.0 * h * (s_a + s_b) / widths)
    if most > run.IS[at.MAX_TRIALS]:
        return at.TOO_MUCH, 1
    return code, math.ceil(most)


@callee
def looks(run, X, Y, h, speed):
    """Return code, and how often to look within a step of h from X to Y, both placed.

    Y's contacts were found.
    """
    fastest = max(speed, run.XS[at.SPEED])
    if 2.0 * h * fastest <= run.XS[at.THINNEST]:
        return at.DONE, 1
    code, n = looks_of_pairs(run, X, Y, h, fastest)
    put(run.XS, at.WHEN, run.XS[at.TIME] + h)
    if code == at.DONE and n == 1:
        code = find(run, Y, run.XS[at.NEAR])
    return code, n
