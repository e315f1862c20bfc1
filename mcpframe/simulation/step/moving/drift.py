"""Drift: where a state leads in a time without any forces, coordinates and rates.

Plain hinges go on at their rates, balls and free hinges turn at theirs. The rates of a free hinge are given
in the axes of its link, which turn; what stays is the velocity of the link's centre of mass in the world:

    x_c+ = x_c + t R (v + ω x c),     v+ = R+* R (v + ω x c) - ω+ x c.

A body *by itself*, a free or ball hinge on the world without a link behind it, turns as a body without
torque does: its angular momentum in the world stays as it is to rounding. With J about the centre of mass, or
about the ball, the Lie midpoint rule

    J W = exp(-t W / 2) J ω,     R+ = R exp(t W),     J ω+ = exp(-t W) J ω

keeps energy without a trend; applied three times, back once in between, it is of fourth order [Yoshida 1990].
A body that closures hold does not turn without torque: there it is applied once, of the order of the step.
The gyroscopic terms of all others are forces.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, x_of, y_of, z_of
from mcpframe.multibody.kernels.spans import bodies_of
from mcpframe.multibody.memory.records import (
    BALL,
    C_COM,
    C_INERTIA,
    C_MASS,
    CONSTANT,
    CONSTANTS,
    DOF_AT,
    FREE,
    KIND,
    LOCKED,
    N_DOF,
    N_SPANS,
    THETA,
    THETA_AT,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.step.moving.motion import (
    SMALL_TURN,
    put_three,
    rotate,
    rotate_back,
    three,
    turn_quaternion,
)
from mcpframe.simulation.step.parting.parties import is_asleep, moves
from mcpframe.spatial.algebra import cross, dot, plus_matrix, point_inertia

LONGEST_TURN = 0.3
"""Radians that one application of the rule turns a body; more are taken in parts."""
OUTER = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))
"""Share of the first and last application."""
ROUNDS = 30
"""Most rounds of its fixed point, each of which leaves a third of LONGEST_TURN of the error at most."""
CONVERGED = 1e-15
"""Change of W, relative, that ends them: what the next round would bring if it shrinks as in the last."""


@inline
def first_share(run):
    """Return the share of a step that passes before its kick."""
    return 0.0 if run.IS[at.EULER] != 0 else 0.5


@inline
def times(J, v):
    """Return the symmetric matrix J, by columns, times a vector."""
    return x_of(v) * J[0] + y_of(v) * J[1] + z_of(v) * J[2]


@inline
def inverse(J):
    """Return the inverse of a symmetric matrix, by columns."""
    a, b, c = cross(J[1], J[2]), cross(J[2], J[0]), cross(J[0], J[1])
    share = 1.0 / dot(J[0], a)
    return share * a, share * b, share * c


@inline
def inertia_about(I, X, k, kind):
    """Return the inertia of a body by itself, by columns: about its ball, or about its centre of mass."""
    c = I[CONSTANTS] + k * CONSTANT
    J = load(X, c + C_INERTIA), load(X, c + C_INERTIA + 4), load(X, c + C_INERTIA + 8)
    if kind == BALL:
        J = plus_matrix(J, point_inertia(get(X, c + C_MASS), three(X, c + C_COM)))
    return J


@inline
def turned_by(v, turn):
    """Return exp(turn) v, by the formula of Rodrigues."""
    square = dot(turn, turn)
    if square < SMALL_TURN * SMALL_TURN:
        first = square * (1.0 / 120.0 - square * (1.0 / 5040.0 - square * (1.0 / 362880.0)))
        second = square * (1.0 / 720.0 - square * (1.0 / 40320.0 - square * (1.0 / 3628800.0)))
        first, second = 1.0 - square * (1.0 / 6.0 - first), 0.5 - square * (1.0 / 24.0 - second)
    else:
        angle = math.sqrt(square)
        first, second = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
    once = cross(turn, v)
    return v + first * once + second * cross(turn, once)


@inline
def mean_rate(J, J_inverse, w, t):
    """Return W of the Lie midpoint rule, by its fixed point."""
    momentum = times(J, w)
    W, before = w - (0.5 * t) * times(J_inverse, cross(w, momentum)), 0.0
    for _ in range(ROUNDS):
        new = times(J_inverse, turned_by(momentum, (-0.5 * t) * W))
        off = dot(new - W, new - W)
        W = new
        if off * off <= CONVERGED * CONVERGED * dot(W, W) * before:
            break
        before = off
    return W


@inline
def turn_once(J, J_inverse, w, Y, theta, t):
    """Turn the quaternion Y[theta] for a time t by the rule; return the rate after it."""
    W = t * mean_rate(J, J_inverse, w, t)
    turn_quaternion(Y, theta, Y, theta, x_of(W), y_of(W), z_of(W))
    return times(J_inverse, turned_by(times(J, w), -W))


@callee
def turn_by_itself(I, X, k, kind, held, Y, theta, rates, t):
    """Turn the body k of Y, whose quaternion and rate are there, for a time t without torque."""
    J = inertia_about(I, X, k, kind)
    J_inverse = inverse(J)
    w = three(Y, rates)
    parts = 1 + int(math.sqrt(dot(w, w)) * t / LONGEST_TURN)
    h = t / parts
    for _ in range(parts):
        if held:
            w = turn_once(J, J_inverse, w, Y, theta, h)
            continue
        w = turn_once(J, J_inverse, w, Y, theta, OUTER * h)
        w = turn_once(J, J_inverse, w, Y, theta, (1.0 - 2.0 * OUTER) * h)
        w = turn_once(J, J_inverse, w, Y, theta, OUTER * h)
    put_three(Y, rates, w)


@inline
def turn(run, X, k, kind, w, Y, theta, rates, t):
    """Write to Y quaternion and rate of a body's hinge that turns with w after a time t."""
    put_three(Y, rates, w)
    by_itself = get(run.IS, run.IS[at.BY_ITSELF] + k)
    if by_itself != 0:
        for i in range(4):
            put(Y, theta + i, get(X, theta + i))
        turn_by_itself(run.I, X, k, kind, by_itself == at.HELD_BODY, Y, theta, rates, t)
    else:
        turn_quaternion(Y, theta, X, theta, t * x_of(w), t * y_of(w), t * z_of(w))


@inline
def drift_free(run, X, k, v, w, Y, theta, rates, t):
    """Drift of a free hinge: its centre of mass keeps its velocity in the world."""
    com = three(X, run.I[CONSTANTS] + k * CONSTANT + C_COM)
    velocity = rotate(X, theta + 3, v + cross(w, com))
    place = three(X, theta) + rotate(X, theta + 3, com) + t * velocity
    turn(run, X, k, FREE, w, Y, theta + 3, rates + 3, t)
    put_three(Y, theta, place - rotate(Y, theta + 3, com))
    put_three(Y, rates, rotate_back(Y, theta + 3, velocity) - cross(three(Y, rates + 3), com))


@inline
def coordinates_of(kind):
    """Return how many coordinates a hinge has that moves."""
    return 7 if kind == FREE else (4 if kind == BALL else 1)


@inline
def wait(run, X, k, V, first, Y, theta, rates):
    """Have a body be at Y where it is at X, with the rates V[first], or asleep."""
    row = run.I[TREE] + k * TREE_ROW
    for i in range(coordinates_of(get(run.I, row + KIND))):
        put(Y, theta + i, get(X, theta + i))
    asleep = is_asleep(run, k)
    for i in range(get(run.I, row + N_DOF)):
        put(Y, rates + i, 0.0 if asleep else get(V, first + i))


@callee
def drift(run, X, V, start, Y, t):
    """Write to Y where the coordinates of X and the rates V[start] lead in a time t without forces.

    Bodies that wait have these rates, those that sleep none, and both stay where they are.
    """
    for s in range(run.I[N_SPANS]):
        begin, end = bodies_of(run.I, s)
        drift_of(run, X, V, start, Y, t, begin, end)


@callee
def drift_of(run, X, V, start, Y, t, begin, end):
    """Do so for the bodies of a span."""
    I = run.I
    for k in range(begin, end):
        row = I[TREE] + k * TREE_ROW
        kind, d = get(I, row + KIND), get(I, row + DOF_AT)
        theta, rates = I[THETA] + get(I, row + THETA_AT), I[THETA_DOT] + d
        if kind == LOCKED:
            continue
        if not moves(run, k):
            wait(run, X, k, V, start + d, Y, theta, rates)
            continue
        if kind == FREE:
            v, w = three(V, start + d), three(V, start + d + 3)
            drift_free(run, X, k, v, w, Y, theta, rates, t)
        elif kind == BALL:
            turn(run, X, k, BALL, three(V, start + d), Y, theta, rates, t)
        else:
            rate = get(V, start + d)
            put(Y, theta, get(X, theta) + t * rate)
            put(Y, rates, rate)
