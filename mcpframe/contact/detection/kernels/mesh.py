"""The convex hull of a mesh on a half-space: its vertices have heights.

Of more than MOST within the margin, those that lie furthest out in so many directions, and the lowest one.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.detection.kernels.plane import add_point
from mcpframe.contact.detection.kernels.support import in_axes, vertex
from mcpframe.contact.detection.patches import MOST
from mcpframe.contact.detection.records import (
    P_AXIS,
    P_POSITION,
    P_RADIUS,
    P_ROTATION,
    S_END,
    S_VERTEX,
    SCRATCH,
)
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, put
from mcpframe.spatial.algebra import apply, dot, load_matrix

COSINES = tuple(math.cos(2.0 * math.pi * k / MOST) for k in range(MOST))
SINES = tuple(math.sin(2.0 * math.pi * k / MOST) for k in range(MOST))
LOWEST = MOST
"""Where the lowest vertex stands behind those that lie furthest out."""
FURTHER = 1e-9
"""Part of the size by which a vertex has to lie further out than one before it, so that equals do not take
turns."""


@inline
def note(XD, s, k, value, room, i):
    """Note vertex i where its value is the largest yet of the k-th kind."""
    if value > get(XD, s + k) + room:
        put(XD, s + k, value)
        put(XD, s + MOST + 1 + k, float(i))


@callee
def note_outmost(ID, XD, row, a, b, margin):
    """Write to SCRATCH which vertices lie furthest out, and lowest; return how many are within the margin."""
    R, P, s = load_matrix(XD, b + P_ROTATION), load_matrix(XD, a + P_ROTATION), ID[SCRATCH]
    n, t_1, t_2 = in_axes(R, load(XD, a + P_AXIS)), in_axes(R, P[0]), in_axes(R, P[1])
    above = dot(load(XD, a + P_AXIS), load(XD, b + P_POSITION) - load(XD, a + P_POSITION))
    room, count = FURTHER * get(XD, b + P_RADIUS), 0
    for k in range(MOST + 1):
        put(XD, s + k, -math.inf)
    for i in range(get(ID, row + S_VERTEX), get(ID, row + S_END)):
        x = vertex(ID, XD, i)
        height = above + dot(n, x)
        if height <= margin:
            count += 1
            x_1, x_2 = dot(t_1, x), dot(t_2, x)
            for k in range(MOST):
                note(XD, s, k, COSINES[k] * x_1 + SINES[k] * x_2, room, i)
            note(XD, s, LOWEST, -height, 0.0, i)
    return count


@inline
def is_noted(XD, s, k):
    """Return whether the k-th vertex that was noted was noted before."""
    before = False
    for other in range(k):
        before = before or get(XD, s + other) == get(XD, s + k)
    return before


@inline
def add_vertex(ID, XD, pair, row, a, b, i):
    """Add the contact of vertex i; its number within the hull is its feature's."""
    x = load(XD, b + P_POSITION) + apply(load_matrix(XD, b + P_ROTATION), vertex(ID, XD, i))
    add_point(ID, XD, pair, a, x, 0.0, 1 + i - get(ID, row + S_VERTEX))


@callee
def plane_mesh(ID, XD, pair, row, a, b):
    """Vertices within the margin; `row` is that of the hull at b."""
    count = note_outmost(ID, XD, row, a, b, pair.margin)
    if count > MOST:
        noted = ID[SCRATCH] + MOST + 1
        for k in range(MOST + 1):
            if not is_noted(XD, noted, k):
                add_vertex(ID, XD, pair, row, a, b, int(get(XD, noted + k)))
    elif count > 0:
        for i in range(get(ID, row + S_VERTEX), get(ID, row + S_END)):
            add_vertex(ID, XD, pair, row, a, b, i)
