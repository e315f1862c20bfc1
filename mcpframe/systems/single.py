"""Single free bodies that rest on the floor z = 0 at theta = 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcpframe.arrays import Array
from mcpframe.multibody.model.link import Link
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.shapes import Box, Capsule, Geometry, Shape, Sphere
from mcpframe.spatial.transforms import Pose
from mcpframe.systems.bodies import FLOOR, bar_inertia, box_inertia, sphere_inertia


def sphere(radius: float = 0.1, mass: float = 1.0) -> Model:
    """Solid ball of a radius (m) and a mass (kg)."""
    return _resting("sphere", Sphere(radius), mass, sphere_inertia(mass, radius), radius)


def box(size: Sequence[float] = (0.4, 0.3, 0.2), mass: float = 1.0) -> Model:
    """Solid block with edges (m) along x, y, z and a mass (kg)."""
    shape = Box(size)
    return _resting("box", shape, mass, box_inertia(mass, shape.size), shape.size[2] / 2.0)


def rod(length: float = 1.0, radius: float = 0.01, mass: float = 1.0) -> Model:
    """Thin round rod with rounded ends, lying along x; length between the centres of its ends (m)."""
    lying = Pose.from_rpy(rpy=(0.0, np.pi / 2.0, 0.0))
    inertia = lying.rotation @ bar_inertia(mass, radius, length) @ lying.rotation.T
    return _resting("rod", Capsule(radius, length), mass, inertia, radius, lying)


def _resting(
    name: str, shape: Shape, mass: float, inertia: Array, height: float, turn: Pose | None = None
) -> Model:
    geometry = Geometry(shape, Pose() if turn is None else turn, name)
    body = Link(name, pose=Pose((0.0, 0.0, height)), mass=mass, inertia=inertia, geometry=geometry)
    return Model([body], name=name, geometry=(FLOOR,))
