"""Whether two convex shapes are further apart than the margin, told by a direction between them.

Of all differences of a point of the one and a point of the other, v is that nearest to the origin in the hull
of a few [Gilbert, Johnson, Keerthi 1988], found as the point of least norm by Wolfe's steps [1976]: the hull
gets the difference w that lies furthest against v, and loses what v does not lean on. Along v the shapes are
v·w/|v| apart, whatever v is: so where that is more than the margin they are apart for certain. Where it is
not, or the few are degenerate, it is left to others to tell how near they are.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.detection.kernels.support import furthest
from mcpframe.contact.detection.records import (
    HEIGHTFIELD,
    P_POSITION,
    P_RADIUS,
    PLACE,
    PLACES,
    S_KIND,
    SCRATCH,
    SHAPE_ROW,
    SHAPES,
)
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put, store
from mcpframe.jit.memory import VECTOR
from mcpframe.spatial.algebra import cross, dot

ROUNDS = 30
"""Most differences that are looked at; pairs that are hardly further apart than the margin take them all."""
LEAST_GAIN = 1e-4
"""Part of |v|² by which a difference has to be nearer than v: otherwise v is the nearest one, nearly."""
ROUNDED = 1e-6
"""Part of the sizes by which hulls, whose nearly level faces were joined, may reach further than is found."""
WEIGHTS = 4 * VECTOR
"""Behind the few, at most four, in SCRATCH: how v leans on them."""


@inline
def weights_of_level(XD, s, n):
    """Return the weights with which n of the few add up to the point of their plane nearest to the origin.

    Those of a degenerate few are not finite.
    """
    p = load(XD, s)
    if n == 1:
        return 1.0, 0.0, 0.0, 0.0
    a = load(XD, s + VECTOR) - p
    if n == 2:
        t = -dot(p, a) / dot(a, a)
        return 1.0 - t, t, 0.0, 0.0
    b = load(XD, s + 2 * VECTOR) - p
    if n == 3:
        normal = cross(a, b)
        square = dot(normal, normal)
        t_1, t_2 = -dot(cross(p, b), normal) / square, -dot(cross(a, p), normal) / square
        return 1.0 - t_1 - t_2, t_1, t_2, 0.0
    c = load(XD, s + 3 * VECTOR) - p
    out = -1.0 / dot(a, cross(b, c))
    t_1, t_2, t_3 = out * dot(p, cross(b, c)), out * dot(a, cross(p, c)), out * dot(a, cross(b, p))
    return 1.0 - t_1 - t_2 - t_3, t_1, t_2, t_3


@callee
def least_norm(XD, s, n):
    """Leave of n differences at XD[s], the last a new one, those that the nearest point leans on.

    Return how many, 0 where they are degenerate or hold the origin between them.
    """
    put(XD, s + WEIGHTS + n - 1, 0.0)
    while n > 0:
        level = weights_of_level(XD, s, n)
        if not math.isfinite(level[0] + level[1] + level[2] + level[3]):
            return 0
        share, leaves = 1.0, -1
        for i in range(n):
            if level[i] < 0.0:
                weight = get(XD, s + WEIGHTS + i)
                part = weight / (weight - level[i])
                if part < share:
                    share, leaves = part, i
        for i in range(n):
            weight = get(XD, s + WEIGHTS + i)
            put(XD, s + WEIGHTS + i, weight + share * (level[i] - weight))
        if leaves < 0:
            return n if n < 4 else 0
        n -= 1
        store(XD, s + VECTOR * leaves, load(XD, s + VECTOR * n))
        put(XD, s + WEIGHTS + leaves, get(XD, s + WEIGHTS + n))
    return 0


@inline
def nearest(XD, s, n):
    """Return the point that n differences with their weights add up to."""
    v = get(XD, s + WEIGHTS) * load(XD, s)
    for i in range(1, n):
        v = v + get(XD, s + WEIGHTS + i) * load(XD, s + i * VECTOR)
    return v


@callee
def are_apart(ID, XD, i, j, margin):
    """Return whether two bounded shapes are known to be further apart than a margin."""
    row_i, row_j, s = ID[SHAPES] + i * SHAPE_ROW, ID[SHAPES] + j * SHAPE_ROW, ID[SCRATCH]
    if get(ID, row_i + S_KIND) == HEIGHTFIELD or get(ID, row_j + S_KIND) == HEIGHTFIELD:
        return False
    p, q = ID[PLACES] + i * PLACE, ID[PLACES] + j * PLACE
    far = margin + ROUNDED * (get(XD, p + P_RADIUS) + get(XD, q + P_RADIUS))
    v, n = load(XD, q + P_POSITION) - load(XD, p + P_POSITION), 0
    for _ in range(ROUNDS):
        square = dot(v, v)
        length = math.sqrt(square)
        if not length > far:
            return False
        d = (1.0 / length) * v
        w = furthest(ID, XD, row_j, q, -d) - furthest(ID, XD, row_i, p, d)
        along = dot(v, w)
        if along > far * length:
            return True
        if n > 0 and square - along <= LEAST_GAIN * square:
            return False
        store(XD, s + n * VECTOR, w)
        if n == 0:
            put(XD, s + WEIGHTS, 1.0)
            n = 1
        else:
            n = least_norm(XD, s, n + 1)
        if n == 0:
            return False
        v = nearest(XD, s, n)
        if not dot(v, v) < square and n > 1:  # by rounding alone
            return False
    return False
