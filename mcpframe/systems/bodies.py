"""Bodies that the ready systems are made of: inertias of simple solids and links that wear them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.link import Link
from mcpframe.multibody.model.shapes import Capsule, Geometry, Plane
from mcpframe.spatial.transforms import Pose

FLOOR = Geometry(Plane(), name="floor")
"""The half-space below z = 0, on the world."""


def sphere_inertia(mass: float, radius: float) -> Array:
    """Return the inertia of a solid ball, (2/5) m r²."""
    return 0.4 * mass * radius**2 * np.eye(3)


def box_inertia(mass: float, size: ArrayLike) -> Array:
    """Return the inertia of a solid block with edges a, b, c: m (b² + c²) / 12 about the first."""
    squares = np.square(np.asarray(size, dtype=np.float64))
    return np.diag(mass / 12.0 * (squares.sum() - squares))


def bar_inertia(mass: float, radius: float, length: float) -> Array:
    """Return the inertia of a solid round bar along z: m r² / 2 about z, m (3 r² + l²) / 12 across."""
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    return np.diag([across, across, mass * radius**2 / 2.0])


def bar(
    name: str,
    parent: str,
    hinge: Hinge,
    pose: Pose,
    *,
    length: float,
    radius: float = 0.02,
    mass: float = 1.0,
    **options: Any,
) -> Link:
    """Return a link whose capsule runs from its hinge down to (0, 0, -length)."""
    middle = (0.0, 0.0, -length / 2.0)
    return Link(
        name,
        parent,
        hinge,
        pose,
        mass=mass,
        com=middle,
        inertia=bar_inertia(mass, radius, length),
        geometry=Geometry(Capsule(radius, length), Pose(middle), name),
        **options,
    )


def at_end(length: float, rpy: ArrayLike = (0.0, 0.0, 0.0)) -> Pose:
    """Return the far end of a bar of that length, turned."""
    return Pose.from_rpy((0.0, 0.0, -length), rpy)


def count(name: str, value: int, least: int) -> int:
    """Return value if it is a whole number of at least `least`, or raise ModelError."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ModelError(f"{name}: {value!r}; a whole number of at least {least} is needed")
    return int(value)
