"""A humanoid made in code: what a walking robot has, without a file or a mesh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.link import WORLD, Link
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.shapes import Box, Capsule, Geometry
from mcpframe.spatial.transforms import Pose
from mcpframe.systems.bodies import FLOOR, at_end, bar_inertia, box_inertia

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
MOTOR: Mapping[str, Any] = {"armature": 0.02, "damping": 0.2}

HIP_Y, SHOULDER_Y, SHOULDER_Z = 0.10, 0.24, 0.34
THIGH, SHANK, SHORT = 0.38, 0.38, 0.05
RADIUS = 0.045
LEG = (
    ("hip_yaw", Z, SHORT, 1.5, (-0.8, 0.8)),
    ("hip_roll", X, SHORT, 1.5, (-0.6, 0.6)),
    ("thigh", Y, THIGH, 5.0, (-2.0, 1.2)),
    ("shank", Y, SHANK, 3.0, (-0.8, 1.7)),
    ("ankle", Y, SHORT, 0.5, (-1.0, 1.0)),
)
"""Name, axis, length (m), mass (kg) and limits (rad) of the links of a leg, from the hip down."""
ARM = (
    ("shoulder", Y, SHORT, 1.0, (-3.0, 1.5)),
    ("shoulder_roll", X, SHORT, 1.0, (-1.8, 1.8)),
    ("upper_arm", Z, 0.20, 1.5, (-1.5, 1.5)),
    ("forearm", Y, 0.25, 1.0, (-1.7, 0.6)),
)
CROUCH = 0.4
"""Radians that the thighs lean forward at theta = 0; the knees bend back by twice as much."""
LEANS = {"thigh": -CROUCH, "shank": 2.0 * CROUCH, "ankle": -CROUCH, "forearm": -0.5}
"""Radians about y by which links are turned at theta = 0."""
FOOT, ANKLE_HEIGHT = (0.22, 0.10, 0.03), 0.08


def humanoid() -> Model:
    """Pelvis on a free hinge with torso, head, two legs and two arms: 23 links, 28 dofs.

    At theta = 0 it stands, knees bent, with flat feet on the floor z = 0. Legs have six pins (hip yaw, roll
    and pitch, knee, ankle pitch and roll), arms four; waist and neck turn about z. It weighs 53 kg.
    """
    standing = (THIGH + SHANK) * np.cos(CROUCH) + 3.0 * SHORT + ANKLE_HEIGHT
    trunk = [
        _block("pelvis", WORLD, Hinge("free"), (0.0, 0.0, standing), (0.16, 0.24, 0.12), 6.0, 0.06),
        _block(
            "torso", "pelvis", Hinge("pin", Z), (0.0, 0.0, 0.13), (0.18, 0.34, 0.38), 10.0, 0.19, limit=1.0
        ),
        _block("head", "torso", Hinge("pin", Z), (0.0, 0.0, 0.40), (0.16, 0.14, 0.20), 3.0, 0.12, limit=1.2),
    ]
    model = Model(trunk, name="humanoid", geometry=(FLOOR,))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        ankle = _add_limb(model, side, "pelvis", (0.0, sign * HIP_Y, 0.0), LEG)
        sole = FOOT[2] / 2.0 - ANKLE_HEIGHT
        place = at_end(SHORT)
        foot = _block(
            f"{side}_foot", ankle, Hinge("pin", X), place.position, FOOT, 1.0, sole, 0.04, limit=0.6
        )
        model.add_link(foot)
        _add_limb(model, side, "torso", (0.0, sign * SHOULDER_Y, SHOULDER_Z), ARM)
    return model


def _block(
    name: str,
    parent: str,
    hinge: Hinge,
    position: ArrayLike,
    size: Sequence[float],
    mass: float,
    z: float,
    x: float = 0.0,
    limit: float | None = None,
) -> Link:
    """Return a box whose centre is at (x, 0, z) of its hinge; with a limit it has a motor too."""
    motor = {} if limit is None else {"lower": -limit, "upper": limit, **MOTOR}
    middle = (x, 0.0, z)
    shape = Geometry(Box(size), Pose(middle), name)
    inertia = box_inertia(mass, size)
    return Link(name, parent, hinge, Pose(position), mass, middle, inertia, shape, **motor)


def _add_limb(model: Model, side: str, parent: str, position: ArrayLike, limb: Sequence[Any]) -> str:
    """Add links that hang from each other and return the name of the last; short ones have no shape."""
    place = position
    for part, axis, length, mass, (lower, upper) in limb:
        name, middle = f"{side}_{part}", (0.0, 0.0, -length / 2.0)
        pose = Pose.from_rpy(place, (0.0, LEANS.get(part, 0.0), 0.0))
        shape = (Geometry(Capsule(RADIUS, length), Pose(middle), name),) if length > SHORT else ()
        inertia = bar_inertia(mass, RADIUS, length)
        limits = {"lower": lower, "upper": upper}
        model.add_link(
            name, parent, Hinge("pin", axis), pose, mass, middle, inertia, shape, **limits, **MOTOR
        )
        parent, place = name, (0.0, 0.0, -length)
    return parent
