"""Whole-arm grasp in a horizontal plane: two fingers of two links hold an ellipse [S00, section 5]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.link import WORLD, Link
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.shapes import Capsule, Ellipsoid, Geometry, Plane
from mcpframe.spatial.transforms import Pose

Z = (0.0, 0.0, 1.0)
ALONG_X = Pose.from_rpy(rpy=(0.0, np.pi / 2.0, 0.0)).rotation
LINKS = ("right_1", "right_2", "left_1", "left_2")
LENGTH, PALM = 0.20, 0.10
RADII = (0.15, 0.11, 0.3)
"""Of the object, m; it is an ellipse in the plane, and high enough for no link to slip over it."""
FLAT, THICKNESS = 0.06, 0.01
"""Of the object that lies on a palm, half its height, at which the fingers are; radius of their links, m."""


def whole_arm_grasp(gravity: float = 0.0, spatial: bool = False) -> Model:
    """Ellipse held by two fingers of two links each, one contact per link, in the plane z = 0 [S00].

    theta: x, y and angle of the object; angle of right_1 from x, of right_2 from right_1; the same of left_1,
    left_2. Links are segments of 0.2 m without thickness; the palm is the segment between their bases, 0.1 m
    wide, on y = 0.

    `grasp_theta` has the angles at which all four links touch the object.

    Args:
        gravity: along -y, m/s²; none in the paper, whose plane is horizontal.
        spatial: the same in space: the object, an ellipsoid 0.12 m high, is free and lies on a palm, z = 0,
            fingers are 0.06 m above it and 0.02 m thick, and gravity, 9.81 m/s² unless given, is along -z.
    """
    half, height, radius = PALM / 2.0, FLAT if spatial else 0.0, THICKNESS if spatial else 0.0
    radii = (*RADII[:2], FLAT) if spatial else RADII
    body = Link(
        "object",
        hinge=Hinge("free") if spatial else Hinge("planar", Z),
        mass=1.69,
        inertia=np.diag([0.7e-2, 1.1e-2, 1.46e-2]),
        geometry=Geometry(Ellipsoid(radii), name="object"),
    )
    links = [body]
    for side, x in (("right", half), ("left", -half)):
        links.append(_link(f"{side}_1", WORLD, (x, 0.0, height), radius))
        links.append(_link(f"{side}_2", f"{side}_1", (LENGTH, 0.0, 0.0), radius))
    if spatial:
        down = (0.0, 0.0, -(gravity or 9.81))
        return Model(links, name="spatial_grasp", geometry=(Geometry(Plane(), name="palm"),), gravity=down)
    palm = Geometry(Capsule(0.0, PALM), Pose(rotation=ALONG_X), "palm")
    return Model(links, name="whole_arm_grasp", geometry=(palm,), gravity=(0.0, -gravity, 0.0))


def _link(name: str, parent: str, place: Sequence[float], radius: float) -> Link:
    middle = (LENGTH / 2.0, 0.0, 0.0)
    return Link(
        name,
        parent,
        Hinge("pin", Z),
        Pose(place),
        mass=0.5,
        com=middle,
        inertia=np.diag([1e-5, 1.67e-3, 1.67e-3]),
        geometry=Geometry(Capsule(radius, LENGTH), Pose(middle, ALONG_X), name),
    )


def grasp_theta(x: float, y: float, angle: float) -> Array:
    """Return theta [7] of the grasp whose four links touch the object at a place and angle.

    Raises:
        ModelError: a base or a joint lies within the object.
    """
    theta = [x, y, angle]
    for side in (1.0, -1.0):
        joint, before = np.array([side * PALM / 2.0, 0.0]), 0.0
        for _ in range(2):
            along = _touching(joint, np.array([x, y]), angle, side)
            turn = (along - before + np.pi) % (2.0 * np.pi) - np.pi
            theta.append(turn + 2.0 * np.pi * (before == 0.0 and turn < -np.pi / 2.0))
            joint, before = joint + LENGTH * np.array([np.cos(along), np.sin(along)]), along
    return np.array(theta)


def _touching(joint: Array, centre: Array, angle: float, side: float) -> float:
    """Return the angle of the line from a joint that touches the object, which lies on its inner side.

    Seen in the object's axes over its radii the ellipse is a circle, whose tangents touch at ± acos(1/r).
    """
    c, s = np.cos(angle), np.sin(angle)
    axes, radii = np.array([[c, s], [-s, c]]), np.array(RADII[:2])
    seen = axes @ (joint - centre) / radii
    r = float(np.hypot(*seen))
    if r <= 1.0:
        raise ModelError(f"grasp: the joint at {joint.tolist()} lies within the object at {centre.tolist()}")
    for sign in (1.0, -1.0):
        k = np.arctan2(seen[1], seen[0]) + sign * np.arccos(1.0 / r)
        point = centre + axes.T @ (radii * [np.cos(k), np.sin(k)])
        along = float(np.arctan2(*(point - joint)[::-1]))
        inwards = np.array([np.cos(along + side * np.pi / 2.0), np.sin(along + side * np.pi / 2.0)])
        if inwards @ (centre - joint) > 0.0:
            return along
    raise ModelError("grasp: no line touches the object from its inner side")
