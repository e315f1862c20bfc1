"""Hinges: how a link may move against its parent, and the coordinates that say where it is.

| kind        | theta                               | theta_dot                                        |
| ----------- | ----------------------------------- | ------------------------------------------------ |
| locked      | none                                | none                                             |
| pin         | angle about axis                    | its rate                                         |
| prismatic   | displacement along axis             | its rate                                         |
| cylindrical | angle, displacement, same axis      | their rates                                      |
| universal   | angle about axis, angle about axis_2| their rates; axis_2 turns with the first angle   |
| planar      | x, y, angle about axis              | their rates; x and y are fixed in the hinge frame|
| ball        | unit quaternion x, y, z, w          | angular velocity in link axes                    |
| free        | position; unit quaternion           | linear velocity; angular velocity, in link axes  |

Angles are in radians, displacements in metres. At theta = 0 (no turn for quaternions) the link's frame is
the hinge frame. A ball's quaternion and a free hinge's position and quaternion give the link in the hinge
frame; their rates are those of the link relative to its parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError, nearest
from mcpframe.multibody.model.validation import direction

Axis = tuple[float, float, float]
Elementary = tuple[tuple[str, Axis | None], ...]

SIZES = {
    "locked": (0, 0),
    "pin": (1, 1),
    "prismatic": (1, 1),
    "cylindrical": (2, 2),
    "universal": (2, 2),
    "planar": (3, 3),
    "ball": (4, 3),
    "free": (7, 6),
}
"""Coordinates and degrees of freedom of every kind."""

WITHOUT_AXIS = frozenset({"locked", "ball", "free"})
PARALLEL = 1e-6
"""Sine of the angle below which the axes of a universal hinge count as parallel."""


@dataclass(frozen=True)
class Hinge:
    """A hinge of some kind; see the module for its coordinates.

    Attributes:
        kind: one of `SIZES`.
        axis: direction in the hinge frame, of any length but zero; kept at length one.
        axis_2: second axis of a universal hinge, in the hinge frame at theta = 0.
    """

    kind: str
    axis: Sequence[float] = (0.0, 0.0, 1.0)
    axis_2: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.kind not in SIZES:
            known = ", ".join(SIZES)
            raise ModelError(
                f"hinge: unknown kind {self.kind!r}; the kinds are {known};{nearest(str(self.kind), SIZES)}"
            )
        object.__setattr__(self, "axis", direction(f"{self.kind} hinge: axis", self.axis))
        if (self.axis_2 is not None) != (self.kind == "universal"):
            raise ModelError(
                f"{self.kind} hinge: axis_2 is {self.axis_2}; a universal hinge has one, no other"
            )
        if self.axis_2 is not None:
            object.__setattr__(self, "axis_2", direction("universal hinge: axis_2", self.axis_2))
            if np.linalg.norm(np.cross(self.axis, self.axis_2)) < PARALLEL:
                raise ModelError(
                    f"universal hinge: axes {self.axis} and {self.axis_2} are parallel; use a pin or turn one"
                )

    @property
    def n_theta(self) -> int:
        """Number of coordinates."""
        return SIZES[self.kind][0]

    @property
    def n_dof(self) -> int:
        """Number of rates, which is the number of degrees of freedom."""
        return SIZES[self.kind][1]

    @property
    def quaternion_start(self) -> int | None:
        """Where among its coordinates the quaternion begins; None where there is none."""
        return {"ball": 0, "free": 3}.get(self.kind)

    def neutral(self) -> Array:
        """Return the coordinates at which the link's frame is the hinge frame."""
        theta = np.zeros(self.n_theta)
        if self.quaternion_start is not None:
            theta[-1] = 1.0
        return theta

    def neutral_map(self) -> Array:
        """Return H* at the neutral coordinates, in the hinge frame [6, n_dof]."""
        columns = np.zeros((6, self.n_dof))
        angular, linear = columns[:3], columns[3:]
        for d, (kind, axis) in enumerate(self.elementary()):
            if kind == "ball":
                angular[:] = np.eye(3)
            elif kind == "free":
                linear[:, :3] = angular[:, 3:] = np.eye(3)
            elif axis is not None:
                (angular if kind == "pin" else linear)[:, d] = axis
        return columns

    def elementary(self) -> Elementary:
        """Return the hinge as a chain of pin, prismatic, ball, free and locked hinges, parent's side first.

        The axis of each, None for those without, is in the frame that the ones before it have moved, which
        at theta = 0 is the hinge frame.
        """
        axis = _triple(self.axis)
        if self.kind in WITHOUT_AXIS:
            return ((self.kind, None),)
        if self.kind == "cylindrical":
            return ("pin", axis), ("prismatic", axis)
        if self.axis_2 is not None:
            return ("pin", axis), ("pin", _triple(self.axis_2))
        if self.kind == "planar":
            x, y = plane_directions(axis)
            return ("prismatic", x), ("prismatic", y), ("pin", axis)
        return ((self.kind, axis),)


@lru_cache
def plane_directions(axis: Axis) -> tuple[Axis, Axis]:
    """Return x, y with (x, y, axis) right-handed; x is the coordinate axis that is farthest from the axis.

    Of the three coordinate axes the one with the smallest component along `axis` (the first of equals) is
    made perpendicular to it. For axis z these are x and y themselves.
    """
    normal = np.asarray(axis, dtype=np.float64)
    start = np.eye(3)[int(np.argmin(np.abs(normal)))]
    x = start - (start @ normal) * normal
    x /= np.linalg.norm(x)
    return _triple(x), _triple(np.cross(normal, x))


def _triple(vector: Sequence[float] | Array) -> Axis:
    x, y, z = (float(entry) for entry in vector)
    return x, y, z
