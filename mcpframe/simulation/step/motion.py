"""Forces at the hinges, and where rates lead: as `multibody.state` and `multibody.coordinates` in Python."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.multibody.memory.records import (
    BALL,
    DOF_AT,
    FREE,
    KIND,
    LOCKED,
    N_BODIES,
    N_DOFS,
    TAU,
    THETA,
    THETA_AT,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.multibody.model.coordinates import SMALL_ANGLE
from mcpframe.simulation.step.memory import DAMPING, PASSIVE, REST, STIFFNESS, TAU_0, THETA_OF
from mcpframe.spatial.algebra import cross
from mcpframe.spatial.lanes import get, put, vector, x_of, y_of, z_of


@callee
def hinge_forces(run, X):
    """Write applied forces and those of springs and dampers into TAU."""
    I, IS, XS = run.I, run.IS, run.XS
    for d in range(I[N_DOFS]):
        force = get(XS, IS[TAU_0] + d)
        if IS[PASSIVE] != 0:
            force -= get(XS, IS[DAMPING] + d) * get(X, I[THETA_DOT] + d)
            t = get(IS, IS[THETA_OF] + d)
            if t >= 0:
                away = get(X, I[THETA] + t) - get(XS, IS[REST] + d)
                force -= get(XS, IS[STIFFNESS] + d) * away
        put(X, I[TAU] + d, force)


@inline
def turn_quaternion(Y, X, i, x, y, z):
    """Write to Y the quaternion at X[i] turned by the rotation vector (x, y, z) in its own axes."""
    angle = math.sqrt(x * x + y * y + z * z)
    share = 0.5 - angle * angle / 48.0
    if angle > 1e-4:
        share = math.sin(0.5 * angle) / angle
    c = math.cos(0.5 * angle)
    x, y, z = share * x, share * y, share * z
    a, b, d, w = get(X, i), get(X, i + 1), get(X, i + 2), get(X, i + 3)
    p = w * x + a * c + b * z - d * y
    q = w * y - a * z + b * c + d * x
    r = w * z + a * y - b * x + d * c
    s = w * c - a * x - b * y - d * z
    norm = 1.0 / math.sqrt(p * p + q * q + r * r + s * s)
    put(Y, i, norm * p)
    put(Y, i + 1, norm * q)
    put(Y, i + 2, norm * r)
    put(Y, i + 3, norm * s)


@inline
def curved_way(w, v):
    """Return V(w) v: the way of a body that moves with v while it turns by w, in its axes at the start."""
    square = x_of(w) * x_of(w) + y_of(w) * y_of(w) + z_of(w) * z_of(w)
    angle = math.sqrt(square)
    first = 0.5 - square / 24.0 + square * square / 720.0
    second = 1.0 / 6.0 - square / 120.0 + square * square / 5040.0
    if angle >= SMALL_ANGLE:
        first = (1.0 - math.cos(angle)) / square
        second = (angle - math.sin(angle)) / (square * angle)
    once = cross(w, v)
    return v + first * once + second * cross(w, once)


@inline
def rotate(X, i, v):
    """Return a vector turned by the unit quaternion at X[i]."""
    w, axis = get(X, i + 3), vector(get(X, i), get(X, i + 1), get(X, i + 2))
    once = cross(axis, v)
    return v + (2.0 * w) * once + 2.0 * cross(axis, once)


@callee
def move(I, X, Y, h):
    """Write to Y where the rates of Y lead from the coordinates of X in a time h."""
    theta, rates = I[THETA], I[THETA_DOT]
    for k in range(I[N_BODIES]):
        row = I[TREE] + k * TREE_ROW
        kind = get(I, row + KIND)
        t, d = theta + get(I, row + THETA_AT), rates + get(I, row + DOF_AT)
        if kind == LOCKED:
            continue
        if kind == FREE:
            v = vector(h * get(Y, d), h * get(Y, d + 1), h * get(Y, d + 2))
            w = vector(h * get(Y, d + 3), h * get(Y, d + 4), h * get(Y, d + 5))
            way = rotate(X, t + 3, curved_way(w, v))
            put(Y, t, get(X, t) + x_of(way))
            put(Y, t + 1, get(X, t + 1) + y_of(way))
            put(Y, t + 2, get(X, t + 2) + z_of(way))
            turn_quaternion(Y, X, t + 3, x_of(w), y_of(w), z_of(w))
        elif kind == BALL:
            turn_quaternion(Y, X, t, h * get(Y, d), h * get(Y, d + 1), h * get(Y, d + 2))
        else:
            put(Y, t, get(X, t) + h * get(Y, d))
