"""Shapes that links wear: frozen values in metres, each in a frame of its own.

A shape is centred on its frame, and its axis, where it has one, is z. `Geometry` places it on a link.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mcpframe.exceptions import ModelError
from mcpframe.spatial.transforms import Pose

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Sphere:
    """Ball of a radius."""

    radius: float

    def __post_init__(self) -> None:
        _set(self, radius=_positive("Sphere: radius", self.radius))


@dataclass(frozen=True)
class Box:
    """Block with its full edge lengths along x, y, z."""

    size: Sequence[float]

    def __post_init__(self) -> None:
        _set(self, size=tuple(_positive("Box: size", edge) for edge in _triple("Box: size", self.size)))


@dataclass(frozen=True)
class Capsule:
    """Segment of a length along z, thickened by a radius; end to end it measures length + 2 radius."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        _set(self, radius=_positive("Capsule: radius", self.radius))
        _set(self, length=_positive("Capsule: length", self.length))


@dataclass(frozen=True)
class Cylinder:
    """Round bar of a radius and a length along z."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        _set(self, radius=_positive("Cylinder: radius", self.radius))
        _set(self, length=_positive("Cylinder: length", self.length))


@dataclass(frozen=True)
class Plane:
    """Half-space z <= 0; the outward normal is z."""


@dataclass(frozen=True)
class Mesh:
    """Triangles of a file, scaled along its x, y, z (negative: mirrored). The file is not opened here."""

    path: str
    scale: Sequence[float] = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        scale = _triple("Mesh: scale", self.scale)
        if not self.path or 0.0 in scale:
            raise ModelError(
                f"Mesh: path {self.path!r}, scale {scale}; a path is needed and no scale of zero"
            )
        _set(self, path=str(self.path), scale=scale)


Shape = Sphere | Box | Capsule | Cylinder | Plane | Mesh


@dataclass(frozen=True, eq=False)
class Geometry:
    """A shape on a link.

    Attributes:
        shape: one of the shapes of this module.
        pose: the shape's frame in the link's frame.
        name: for messages and drawings; may be empty.
    """

    shape: Shape
    pose: Pose = field(default_factory=Pose)
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.shape, Shape):
            raise ModelError(f"Geometry: {self.shape!r} is not a shape of mcpframe.shapes")
        if not isinstance(self.pose, Pose):
            raise ModelError(f"Geometry: pose {self.pose!r} is not a Pose")


def _set(shape: Shape, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(shape, name, value)


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ModelError(f"{name} {value!r} is not a number") from None
    if not math.isfinite(number):
        raise ModelError(f"{name} {number} is not finite")
    return number


def _positive(name: str, value: Any) -> float:
    number = _number(name, value)
    if number <= 0.0:
        raise ModelError(f"{name} {number:g}; lengths are positive, in metres")
    return number


def _triple(name: str, value: Any) -> Triple:
    try:
        x, y, z = (_number(name, entry) for entry in value)
    except (TypeError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{name} {value!r}; three numbers are expected") from None
    return x, y, z
