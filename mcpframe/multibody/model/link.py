"""Links: rigid bodies, each with the hinge that carries it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mcpframe.arrays import Array, frozen
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.shapes import Geometry
from mcpframe.multibody.model.validation import mass as checked_mass
from mcpframe.multibody.model.validation import non_negative, per_dof, values, why_not_physical
from mcpframe.spatial.transforms import Pose, spatial_inertia, unit_quaternion

Part = TypeVar("Part")

WORLD = "world"
"""Name of the body that does not move; no link may have it."""


@dataclass(frozen=True, eq=False, init=False)
class Link:
    """A rigid body and the hinge that joins it to its parent.

    Args:
        name: unique in the model.
        parent: name of the parent link, or "world".
        hinge: how the link moves against its parent.
        pose: the hinge frame in the parent's frame (as the origin of a URDF joint).
        mass: kg.
        com: centre of mass in the link's frame [3], metres.
        inertia: about the centre of mass, link axes [3, 3], kg m².
        geometry: shapes on the link.
        lower, upper: limits of every coordinate [n_dof] or for all; infinite for none. Ball and free hinges
            have none.
        damping: hinge force per rate [n_dof] or for all.
        stiffness: hinge force per coordinate away from rest [n_dof] or for all.
        rest: coordinates at which the spring is free [n_theta] or for all; the neutral ones unless given.
        armature: inertia added to the hinge, as a motor's rotor behind its gears [n_dof] or for all.
        check_inertia: refuse an inertia that no rigid body has. Files of real robots have such inertias,
            and their readers turn this off and report `why_not_physical`.
        joint: what the hinge is called, as the joint of a robot file; as the link unless given.
    """

    name: str
    parent: str
    hinge: Hinge
    pose: Pose
    mass: float
    com: Array
    inertia: Array
    geometry: tuple[Geometry, ...]
    lower: Array
    upper: Array
    damping: Array
    stiffness: Array
    rest: Array
    armature: Array
    check_inertia: bool
    joint: str

    def __init__(
        self,
        name: str,
        parent: str = WORLD,
        hinge: Hinge | str = "free",
        pose: Pose | None = None,
        mass: float = 0.0,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
        geometry: Geometry | Iterable[Geometry] = (),
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        damping: ArrayLike = 0.0,
        stiffness: ArrayLike = 0.0,
        rest: ArrayLike | None = None,
        armature: ArrayLike = 0.0,
        check_inertia: bool = True,
        joint: str = "",
    ) -> None:
        way = Hinge(hinge) if isinstance(hinge, str) else hinge
        self._set(name=_checked_name(name), parent=_checked_parent(parent), hinge=_instance(name, way, Hinge))
        self._set(joint=_instance(name, joint, str))
        self._set(pose=_instance(name, Pose() if pose is None else pose, Pose))
        self._set(geometry=_shapes(name, geometry))
        self._set(
            mass=checked_mass(f"link {name!r}: mass", mass), com=values(f"link {name!r}: com", com, (3,))
        )
        self._set(inertia=_inertia(name, inertia, check_inertia), check_inertia=check_inertia)
        lower, upper = _limits(name, way, lower, upper)
        self._set(lower=lower, upper=upper, rest=_rest(name, way, rest))
        for field, value in (("damping", damping), ("stiffness", stiffness), ("armature", armature)):
            self._set(**{field: non_negative(f"link {name!r}: {field}", value, way.n_dof)})

    def _set(self, **fields: object) -> None:
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    @property
    def why_not_physical(self) -> str:
        """Why no rigid body has this inertia, or an empty string."""
        return why_not_physical(self.inertia)

    def spatial_inertia(self) -> Array:
        """Return the spatial inertia about the link's origin, link axes [6, 6]."""
        return spatial_inertia(self.mass, self.com, self.inertia)


def _checked_name(name: str) -> str:
    if not isinstance(name, str) or not name:
        raise ModelError(f"link: name {name!r} is not a non-empty string")
    if name == WORLD:
        raise ModelError(f"link {name!r}: the name is reserved for the body that does not move")
    return name


def _checked_parent(parent: str) -> str:
    if not isinstance(parent, str) or not parent:
        raise ModelError(f"link: parent {parent!r}; give the name of a link, or 'world'")
    return parent


def _instance(name: str, value: Part, kind: type[Part]) -> Part:
    if not isinstance(value, kind):
        raise ModelError(f"link {name!r}: {value!r} is not a {kind.__name__}")
    return value


def _shapes(name: str, geometry: Geometry | Iterable[Geometry]) -> tuple[Geometry, ...]:
    shapes = (geometry,) if isinstance(geometry, Geometry) else tuple(geometry)
    return tuple(_instance(name, shape, Geometry) for shape in shapes)


def _inertia(name: str, inertia: ArrayLike | None, check: bool) -> Array:
    matrix = values(f"link {name!r}: inertia", np.zeros((3, 3)) if inertia is None else inertia, (3, 3))
    reason = why_not_physical(matrix) if check else ""
    if reason:
        raise ModelError(f"link {name!r}: no rigid body has its inertia: {reason}")
    return frozen((matrix + matrix.T) / 2.0)


def _limits(name: str, hinge: Hinge, lower: ArrayLike | None, upper: ArrayLike | None) -> tuple[Array, Array]:
    low = per_dof(f"link {name!r}: lower", -np.inf if lower is None else lower, hinge.n_dof)
    high = per_dof(f"link {name!r}: upper", np.inf if upper is None else upper, hinge.n_dof)
    if (low > high).any():
        raise ModelError(f"link {name!r}: lower limit {low.tolist()} lies above upper {high.tolist()}")
    if (low == np.inf).any() or (high == -np.inf).any():
        raise ModelError(f"link {name!r}: limits {low.tolist()}, {high.tolist()} leave no coordinate")
    if hinge.quaternion_start is not None and np.isfinite([*low, *high]).any():
        raise ModelError(f"link {name!r}: a {hinge.kind} hinge has no limits; use None")
    return low, high


def _rest(name: str, hinge: Hinge, rest: ArrayLike | None) -> Array:
    if rest is None:
        return frozen(hinge.neutral())
    vector = per_dof(f"link {name!r}: rest", rest, hinge.n_theta)
    if not np.isfinite(vector).all():
        raise ModelError(f"link {name!r}: rest {vector.tolist()} is not finite")
    if hinge.quaternion_start is None:
        return vector
    start = hinge.quaternion_start
    return frozen(np.concatenate([vector[:start], unit_quaternion(vector[start:])]))
