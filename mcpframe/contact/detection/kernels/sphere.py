"""A sphere against spheres, capsules, cylinders and boxes: signed distance of its centre from the other.

Each distance comes with the unit vector that leads out of the other shape the shortest way, also from deep
inside; where several ways are equally short the vector is one of them.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.detection.kernels.contact import add
from mcpframe.contact.detection.records import P_AXIS, P_POSITION, P_ROTATION, P_SIZE
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load
from mcpframe.spatial.algebra import dot, load_matrix

NO_WAY = 1e-200
"""Square of a length below which it has no direction: its own square would lose digits."""


@inline
def length_and_direction(d, otherwise):
    """Return |d| and d / |d|, or another unit vector where d is zero."""
    square = dot(d, d)
    if square > NO_WAY:
        length = math.sqrt(square)
        return length, (1.0 / length) * d
    return 0.0, otherwise


@inline
def clamped(x, half):
    """Return the number nearest to x within [-half, half]."""
    return min(max(x, -half), half)


@inline
def add_ball(ID, XD, pair, x, r, distance, out, feature):
    """Add the contact of a ball around x with a shape at a distance from x; `out` leads from there to x."""
    gap = distance - r
    if gap <= pair.margin:
        add(ID, XD, pair, gap, x - (r + 0.5 * gap) * out, -out, feature)


@callee
def sphere_sphere(ID, XD, pair, a, b):
    """Centre to centre."""
    x, r = load(XD, a + P_POSITION), get(XD, a + P_SIZE)
    length, out = length_and_direction(x - load(XD, b + P_POSITION), load(XD, b + P_AXIS))
    add_ball(ID, XD, pair, x, r, length - get(XD, b + P_SIZE), out, 0)


@callee
def sphere_capsule(ID, XD, pair, a, b):
    """Centre to the nearest point of the segment."""
    x, r = load(XD, a + P_POSITION), get(XD, a + P_SIZE)
    d, u = x - load(XD, b + P_POSITION), load(XD, b + P_AXIS)
    t = clamped(dot(d, u), get(XD, b + P_SIZE + 1))
    length, out = length_and_direction(d - t * u, load(XD, b + P_ROTATION))
    add_ball(ID, XD, pair, x, r, length - get(XD, b + P_SIZE), out, 0)


@callee
def sphere_cylinder(ID, XD, pair, a, b):
    """In the plane of centre and axis the cylinder is a rectangle, |rho| <= radius, |z| <= half length."""
    x, r = load(XD, a + P_POSITION), get(XD, a + P_SIZE)
    d, u = x - load(XD, b + P_POSITION), load(XD, b + P_AXIS)
    radius, half = get(XD, b + P_SIZE), get(XD, b + P_SIZE + 1)
    z = dot(d, u)
    rho, away = length_and_direction(d - z * u, load(XD, b + P_ROTATION))
    side, above = rho - radius, abs(z) - half
    up = u if z >= 0.0 else -u
    if side > 0.0 and above > 0.0:
        distance, out = length_and_direction(side * away + above * up, away)
    elif side >= above:
        distance, out = side, away
    else:
        distance, out = above, up
    add_ball(ID, XD, pair, x, r, distance, out, 0)


@inline
def box_distance(XD, b, x):
    """Return the signed distance of a point from the box at b, and the way out."""
    R, d = load_matrix(XD, b + P_ROTATION), x - load(XD, b + P_POSITION)
    x_0, x_1, x_2 = dot(R[0], d), dot(R[1], d), dot(R[2], d)
    h_0, h_1, h_2 = get(XD, b + P_SIZE), get(XD, b + P_SIZE + 1), get(XD, b + P_SIZE + 2)
    e_0, e_1, e_2 = x_0 - clamped(x_0, h_0), x_1 - clamped(x_1, h_1), x_2 - clamped(x_2, h_2)
    distance, out = length_and_direction(e_0 * R[0] + e_1 * R[1] + e_2 * R[2], R[2])
    if distance == 0.0:  # within: out of the nearest face
        distance, out = abs(x_2) - h_2, R[2] if x_2 >= 0.0 else -R[2]
        if abs(x_1) - h_1 > distance:
            distance, out = abs(x_1) - h_1, R[1] if x_1 >= 0.0 else -R[1]
        if abs(x_0) - h_0 > distance:
            distance, out = abs(x_0) - h_0, R[0] if x_0 >= 0.0 else -R[0]
    return distance, out


@callee
def sphere_box(ID, XD, pair, a, b):
    """Centre to the nearest point of the box."""
    x = load(XD, a + P_POSITION)
    distance, out = box_distance(XD, b, x)
    add_ball(ID, XD, pair, x, get(XD, a + P_SIZE), distance, out, 0)
