"""The point of a convex shape that lies furthest along a direction.

On a polyhedron it is found from any vertex by going to better neighbours: where none is better, none is.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.detection.kernels.ellipsoid import stretched
from mcpframe.contact.detection.kernels.sphere import length_and_direction
from mcpframe.contact.detection.records import (
    AROUND,
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    MESH,
    NEIGHBOURS,
    P_AXIS,
    P_POSITION,
    P_ROTATION,
    P_SIZE,
    S_KIND,
    S_VERTEX,
    VERTICES,
)
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load, vector
from mcpframe.jit.memory import VECTOR
from mcpframe.spatial.algebra import apply, dot, load_matrix


@inline
def in_axes(R, a):
    """Return a vector of the world in the axes R."""
    return vector(dot(R[0], a), dot(R[1], a), dot(R[2], a))


@inline
def vertex(ID, XD, k):
    """Return vertex k of all hulls, in the frame of its shape."""
    return load(XD, ID[VERTICES] + k * VECTOR)


@callee
def best_vertex(ID, XD, first, d):
    """Return the vertex of a hull that lies furthest along d, in the frame of its shape."""
    best, most, better = first, dot(vertex(ID, XD, first), d), True
    while better:
        better = False
        for k in range(get(ID, ID[AROUND] + best), get(ID, ID[AROUND] + best + 1)):
            other = get(ID, ID[NEIGHBOURS] + k)
            height = dot(vertex(ID, XD, other), d)
            if height > most:
                best, most, better = other, height, True
                break
    return best


@inline
def corner(XD, p, d):
    """Return the corner of the box at p, from its centre."""
    R = load_matrix(XD, p + P_ROTATION)
    x = math.copysign(get(XD, p + P_SIZE), dot(R[0], d)) * R[0]
    y = math.copysign(get(XD, p + P_SIZE + 1), dot(R[1], d)) * R[1]
    return x + y + math.copysign(get(XD, p + P_SIZE + 2), dot(R[2], d)) * R[2]


@callee
def furthest(ID, XD, row, p, d):
    """Return the point of a bounded shape, by its row of SHAPES and its place p, furthest along a unit d."""
    kind, x, u, r = get(ID, row + S_KIND), load(XD, p + P_POSITION), load(XD, p + P_AXIS), get(XD, p + P_SIZE)
    if kind == MESH:
        R = load_matrix(XD, p + P_ROTATION)
        best = best_vertex(ID, XD, get(ID, row + S_VERTEX), in_axes(R, d))
        return x + apply(R, vertex(ID, XD, best))
    if kind == BOX:
        return x + corner(XD, p, d)
    if kind == ELLIPSOID:
        spread, reach = stretched(XD, p, d)
        return x + (1.0 / reach) * spread
    if kind == CYLINDER:
        ahead = dot(u, d)
        _, side = length_and_direction(d - ahead * u, load(XD, p + P_ROTATION))
        return x + math.copysign(get(XD, p + P_SIZE + 1), ahead) * u + r * side
    if kind == CAPSULE:
        x = x + math.copysign(get(XD, p + P_SIZE + 1), dot(u, d)) * u
    return x + r * d
