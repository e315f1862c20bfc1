"""A half-space against spheres, capsules, cylinders and boxes: distances of single points, normal n = z.

A point x of a body, thickened by r, has gap = n . (x - p) - r; p is any point of the plane.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from mcpframe.contact.detection.kernels.contact import add
from mcpframe.contact.detection.records import P_AXIS, P_POSITION, P_ROTATION, P_SIZE
from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, load
from mcpframe.spatial.algebra import dot

LEVEL = 1e-9
"""Sine of the angle between cap and plane below which no point of the rim is the lowest."""
STANDING = 0.2
"""Sine of that angle up to which the rim gets its four fixed points: a cap that is steeper meets the plane in
its lowest point alone."""
SAME_POINT = 1e-9
"""1 - cos of the angle on the rim within which a fixed point is the lowest one."""
RIM_FEATURES = 5
"""Of each cap: four points of its rim that are fixed to the cylinder, then the lowest one."""


@inline
def add_point(ID, XD, pair, plane, x, r, feature):
    """Add the contact of a half-space with the ball of radius r around x."""
    n = load(XD, plane + P_AXIS)
    gap = dot(n, x - load(XD, plane + P_POSITION)) - r
    if gap <= pair.margin:
        add(ID, XD, pair, gap, x - (r + 0.5 * gap) * n, n, feature)


@callee
def plane_sphere(ID, XD, pair, a, b):
    """One point."""
    add_point(ID, XD, pair, a, load(XD, b + P_POSITION), get(XD, b + P_SIZE), 0)


@callee
def plane_capsule(ID, XD, pair, a, b):
    """Both ends."""
    x, r = load(XD, b + P_POSITION), get(XD, b + P_SIZE)
    arm = get(XD, b + P_SIZE + 1) * load(XD, b + P_AXIS)
    add_point(ID, XD, pair, a, x - arm, r, 0)
    add_point(ID, XD, pair, a, x + arm, r, 1)


@callee
def plane_box(ID, XD, pair, a, b):
    """The corners, numbered by the signs of x, y, z in their lowest three bits."""
    for corner in range(8):
        x = load(XD, b + P_POSITION)
        for axis in range(3):
            side = 1.0 if (corner >> axis) & 1 else -1.0
            x = x + (side * get(XD, b + P_SIZE + axis)) * load(XD, b + P_ROTATION + 4 * axis)
        add_point(ID, XD, pair, a, x, 0.0, corner)


@callee
def plane_cylinder(ID, XD, pair, a, b):
    """The lowest point of each rim; where a cap is nearly level also four fixed points of its rim.

    So a standing cylinder keeps its contacts, and one that tips or rolls does so about its true lowest point,
    which is one contact from beginning to end: a fixed point that is there gives way to it.
    """
    n, u = load(XD, a + P_AXIS), load(XD, b + P_AXIS)
    r, half = get(XD, b + P_SIZE), get(XD, b + P_SIZE + 1)
    down = dot(n, u) * u - n
    tilt = math.sqrt(dot(down, down))
    for cap in range(2):
        centre = load(XD, b + P_POSITION) + (half if cap else -half) * u
        lowest = tilt > LEVEL
        if tilt < STANDING:
            for k in range(4):
                side = r if k < 2 else -r
                arm = side * load(XD, b + P_ROTATION + 4 * (k & 1))
                if not lowest or dot(arm, down) <= (1.0 - SAME_POINT) * r * tilt:
                    add_point(ID, XD, pair, a, centre + arm, 0.0, RIM_FEATURES * cap + k)
        if lowest:
            add_point(ID, XD, pair, a, centre + (r / tilt) * down, 0.0, RIM_FEATURES * cap + 4)
