"""Shapes that links wear: frozen values in metres, each in a frame of its own.

A shape is centred on its frame, and its axis, where it has one, is z. `Geometry` places it on a link.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mcpframe.arrays import Array
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
    """Segment of a length along z, thickened by a radius; end to end it measures length + 2 radius.

    A radius of zero leaves the segment itself, which meets all shapes but other segments.
    """

    radius: float
    length: float

    def __post_init__(self) -> None:
        _set(self, radius=_not_negative("Capsule: radius", self.radius))
        _set(self, length=_positive("Capsule: length", self.length))


@dataclass(frozen=True)
class Ellipsoid:
    """Ellipsoid with its radii (half its lengths) along x, y, z."""

    radii: Sequence[float]

    def __post_init__(self) -> None:
        radii = _triple("Ellipsoid: radii", self.radii)
        _set(self, radii=tuple(_positive("Ellipsoid: radii", radius) for radius in radii))


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


@dataclass(frozen=True)
class HeightField:
    """Ground over a grid of heights; solid down to a flat floor.

    Attributes:
        heights: z over the grid [nx, ny], two by two at least. The grid is centred on the frame: height j of
            row i, counted from 0, is at x = (i - (nx - 1)/2) dx, y = (j - (ny - 1)/2) dy.
        spacing: dx and dy; one number for both.
        thickness: how far the floor lies below the lowest height.
    """

    heights: Sequence[Sequence[float]]
    spacing: float | Sequence[float]
    thickness: float = 1.0

    def __post_init__(self) -> None:
        steps = (self.spacing,) * 2 if isinstance(self.spacing, (int, float)) else self.spacing
        _set(self, heights=_grid("HeightField: heights", self.heights))
        _set(self, spacing=_pair("HeightField: spacing", steps))
        _set(self, thickness=_positive("HeightField: thickness", self.thickness))

    @staticmethod
    def over(
        extent: Sequence[float], heights: Sequence[Sequence[float]], thickness: float = 1.0
    ) -> HeightField:
        """Return the heightfield whose grid covers an extent along x and y."""
        rows, (x, y) = _grid("HeightField: heights", heights), _pair("HeightField: extent", extent)
        return HeightField(rows, (x / (len(rows) - 1), y / (len(rows[0]) - 1)), thickness)

    @property
    def grid(self) -> Array:
        """The heights as an array [nx, ny]."""
        return np.array(self.heights)

    @property
    def cell(self) -> tuple[float, float]:
        """Size of a cell along x and y: the spacing as a pair."""
        return _pair("HeightField: spacing", self.spacing)

    @property
    def base(self) -> float:
        """The z of its floor."""
        return min(map(min, self.heights)) - self.thickness


Shape = Sphere | Box | Capsule | Ellipsoid | Cylinder | Plane | Mesh | HeightField


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
            raise ModelError(f"Geometry: {self.shape!r} is not a shape of mcpframe.multibody.model.shapes")
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


def _not_negative(name: str, value: Any) -> float:
    number = _number(name, value)
    if number < 0.0:
        raise ModelError(f"{name} {number:g}; it is zero or more, in metres")
    return number


def _pair(name: str, value: Any) -> tuple[float, float]:
    try:
        x, y = (_positive(name, entry) for entry in value)
    except (TypeError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{name} {value!r}; a number or two are expected") from None
    return x, y


def _grid(name: str, value: Any) -> tuple[tuple[float, ...], ...]:
    """Return rows of finite numbers, all of one length; two of two at least."""
    try:
        grid = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{name}: rows of numbers are expected, all of one length") from None
    if grid.ndim != 2 or min(grid.shape) < 2:
        raise ModelError(f"{name} of shape {grid.shape}; a grid of two by two numbers at least is expected")
    if not np.isfinite(grid).all():
        i, j = np.argwhere(~np.isfinite(grid))[0]
        raise ModelError(f"{name}[{i}][{j}] {grid[i, j]} is not finite")
    return tuple(map(tuple, grid.tolist()))


def _triple(name: str, value: Any) -> Triple:
    try:
        x, y, z = (_number(name, entry) for entry in value)
    except (TypeError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{name} {value!r}; three numbers are expected") from None
    return x, y, z
