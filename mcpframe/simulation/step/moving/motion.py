"""Where rates lead, and which rates lead from here to there: as `multibody.model.coordinates` in Python.

Coordinates and rates are parts of arrays, each given with where it begins.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put, vector, x_of, y_of, z_of
from mcpframe.multibody.kernels.spans import bodies_of
from mcpframe.multibody.memory.records import (
    BALL,
    DOF_AT,
    FREE,
    KIND,
    LOCKED,
    N_BODIES,
    N_SPANS,
    THETA_AT,
    TREE,
    TREE_ROW,
)
from mcpframe.multibody.model.coordinates import SMALL_ANGLE
from mcpframe.spatial.algebra import cross

SMALL_TURN = 0.1
"""Angle below which few terms of a series are as good as sine and cosine, and faster."""


@inline
def three(V, i):
    """Return three consecutive numbers as a vector."""
    return vector(get(V, i), get(V, i + 1), get(V, i + 2))


@inline
def put_three(V, i, v):
    """Write a vector to three consecutive numbers."""
    put(V, i, x_of(v))
    put(V, i + 1, y_of(v))
    put(V, i + 2, z_of(v))


@inline
def half_turn(square):
    """Return sin(a/2) / a and cos(a/2) of an angle by its square."""
    if square < SMALL_TURN * SMALL_TURN:
        sine = 0.5 - square * (1.0 / 48.0 - square * (1.0 / 3840.0 - square * (1.0 / 645120.0)))
        cosine = square * (1.0 / 384.0 - square * (1.0 / 46080.0 - square * (1.0 / 10321920.0)))
        return sine, 1.0 - square * (0.125 - cosine)
    angle = math.sqrt(square)
    return math.sin(0.5 * angle) / angle, math.cos(0.5 * angle)


@inline
def turn_quaternion(Y, j, X, i, x, y, z):
    """Write to Y[j] the quaternion at X[i] turned by the rotation vector (x, y, z) in its own axes."""
    share, c = half_turn(x * x + y * y + z * z)
    x, y, z = share * x, share * y, share * z
    a, b, d, w = get(X, i), get(X, i + 1), get(X, i + 2), get(X, i + 3)
    p = w * x + a * c + b * z - d * y
    q = w * y - a * z + b * c + d * x
    r = w * z + a * y - b * x + d * c
    s = w * c - a * x - b * y - d * z
    norm = 1.0 / math.sqrt(p * p + q * q + r * r + s * s)
    put(Y, j, norm * p)
    put(Y, j + 1, norm * q)
    put(Y, j + 2, norm * r)
    put(Y, j + 3, norm * s)


@inline
def turn_between(X, i, Y, j):
    """Return the rotation vector, in the axes of the quaternion X[i], that turns it into Y[j]."""
    a, b, c, w = get(X, i), get(X, i + 1), get(X, i + 2), get(X, i + 3)
    p, q, r, s = get(Y, j), get(Y, j + 1), get(Y, j + 2), get(Y, j + 3)
    x = w * p - a * s - b * r + c * q
    y = w * q + a * r - b * s - c * p
    z = w * r - a * q + b * p - c * s
    real = w * s + a * p + b * q + c * r
    sine = math.sqrt(x * x + y * y + z * z)
    sign = 1.0 if real >= 0.0 else -1.0
    share = sign * 2.0
    if sine > 1e-12:
        share = sign * 2.0 * math.atan2(sine, abs(real)) / sine
    return vector(share * x, share * y, share * z)


@inline
def curve(w):
    """Return the factors of w x v and w x (w x v) in V(w) v."""
    square = x_of(w) * x_of(w) + y_of(w) * y_of(w) + z_of(w) * z_of(w)
    angle = math.sqrt(square)
    first = 0.5 - square / 24.0 + square * square / 720.0
    second = 1.0 / 6.0 - square / 120.0 + square * square / 5040.0
    if angle >= SMALL_ANGLE:
        first = (1.0 - math.cos(angle)) / square
        second = (angle - math.sin(angle)) / (square * angle)
    return first, second


@inline
def curved_way(w, v):
    """Return V(w) v: the way of a body that moves with v while it turns by w, in its axes at the start."""
    first, second = curve(w)
    once = cross(w, v)
    return v + first * once + second * cross(w, once)


@inline
def straightened(w, way):
    """Return v with V(w) v = way: V(w)^-1 = 1 - w x / 2 + (1 - a/2 cot(a/2)) / a^2 w x w x."""
    square = x_of(w) * x_of(w) + y_of(w) * y_of(w) + z_of(w) * z_of(w)
    half = 0.5 * math.sqrt(square)
    share = 1.0 / 12.0 + square / 720.0
    if half > 0.5 * SMALL_ANGLE:
        share = (1.0 - half / math.tan(half)) / square
    once = cross(w, way)
    return way - 0.5 * once + share * cross(w, once)


@inline
def rotate(X, i, v):
    """Return a vector turned by the unit quaternion at X[i]."""
    w, axis = get(X, i + 3), vector(get(X, i), get(X, i + 1), get(X, i + 2))
    once = cross(axis, v)
    return v + (2.0 * w) * once + 2.0 * cross(axis, once)


@inline
def rotate_back(X, i, v):
    """Return a vector turned by the inverse of the unit quaternion at X[i]."""
    w, axis = get(X, i + 3), vector(get(X, i), get(X, i + 1), get(X, i + 2))
    once = cross(axis, v)
    return v - (2.0 * w) * once + 2.0 * cross(axis, once)


@callee
def integrate(I, X, theta, V, rates, h, Y, moved):
    """Write to Y[moved] where the rates V[rates] lead from the coordinates X[theta] in a time h."""
    for s in range(I[N_SPANS]):
        begin, end = bodies_of(I, s)
        integrate_of(I, X, theta, V, rates, h, Y, moved, begin, end)


@callee
def integrate_of(I, X, theta, V, rates, h, Y, moved, begin, end):
    """Do so for the bodies of a span."""
    for k in range(begin, end):
        row = I[TREE] + k * TREE_ROW
        kind = get(I, row + KIND)
        at, d = get(I, row + THETA_AT), rates + get(I, row + DOF_AT)
        t, m = theta + at, moved + at
        if kind == LOCKED:
            continue
        if kind == FREE:
            v = vector(h * get(V, d), h * get(V, d + 1), h * get(V, d + 2))
            w = vector(h * get(V, d + 3), h * get(V, d + 4), h * get(V, d + 5))
            way = rotate(X, t + 3, curved_way(w, v))
            put(Y, m, get(X, t) + x_of(way))
            put(Y, m + 1, get(X, t + 1) + y_of(way))
            put(Y, m + 2, get(X, t + 2) + z_of(way))
            turn_quaternion(Y, m + 3, X, t + 3, x_of(w), y_of(w), z_of(w))
        elif kind == BALL:
            turn_quaternion(Y, m, X, t, h * get(V, d), h * get(V, d + 1), h * get(V, d + 2))
        else:
            put(Y, m, get(X, t) + h * get(V, d))


@callee
def difference(I, X, start, Y, end, out, o):
    """Write to out[o] the rates that lead from the coordinates X[start] to Y[end] in unit time."""
    for k in range(I[N_BODIES]):
        row = I[TREE] + k * TREE_ROW
        kind = get(I, row + KIND)
        at, d = get(I, row + THETA_AT), o + get(I, row + DOF_AT)
        i, j = start + at, end + at
        if kind == LOCKED:
            continue
        if kind == FREE:
            w = turn_between(X, i + 3, Y, j + 3)
            x, y, z = get(Y, j) - get(X, i), get(Y, j + 1) - get(X, i + 1), get(Y, j + 2) - get(X, i + 2)
            v = straightened(w, rotate_back(X, i + 3, vector(x, y, z)))
            put(out, d, x_of(v))
            put(out, d + 1, y_of(v))
            put(out, d + 2, z_of(v))
            put(out, d + 3, x_of(w))
            put(out, d + 4, y_of(w))
            put(out, d + 5, z_of(w))
        elif kind == BALL:
            w = turn_between(X, i, Y, j)
            put(out, d, x_of(w))
            put(out, d + 1, y_of(w))
            put(out, d + 2, z_of(w))
        else:
            put(out, d, get(Y, j) - get(X, i))
