"""Robots made in code: the dual arm of the paper and a quadruped."""

from __future__ import annotations

import numpy as np

from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.link import WORLD, Link
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.shapes import Box, Capsule, Geometry
from mcpframe.spatial.transforms import Pose
from mcpframe.systems.bodies import FLOOR, at_end, bar, bar_inertia, box_inertia

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

SHOULDER_HEIGHT, SHOULDER_HALF_WIDTH = 1.1, 0.25
HEAD = ((Z, 0.08, 1.0), (Y, 0.08, 1.0), (Z, 0.10, 0.8), (Y, 0.12, 1.2))
"""Axis, length (m) and mass (kg) of the head's links, from the neck up."""
ARM = (
    (Z, 0.08, 3.0),
    (Y, 0.08, 2.5),
    (Z, 0.30, 2.5),
    (Y, 0.08, 1.5),
    (Z, 0.25, 1.5),
    (Y, 0.06, 0.8),
    (Z, 0.08, 0.6),
)
"""The same for the links of an arm: shoulder (3), elbow, wrist (3)."""
KNUCKLE, FINGER, FINGER_RADIUS = 0.02, 0.09, 0.008
ELBOW_BEND = -1.2
"""Radians at theta = 0, so that the arms reach forward."""

HIP_X, HIP_Y, HIP_LENGTH, LEG = 0.20, 0.10, 0.06, 0.22
FOOT_RADIUS = 0.02
CROUCH = 0.7
"""Radians that the thigh leans at theta = 0; the knee bends back by twice as much."""


def dual_arm() -> Model:
    """Two arms with hands and a sensor head: 26 links, 26 pin hinges [J14, section 3, Table 1].

    On a torso that is part of the world: a head of 4 links; two arms of 7; on each wrist a hand of 4 links,
    which are three fingers of one link each and the knuckle that spreads the first finger sideways.
    4 + 2 (7 + 4) = 26. At theta = 0 the elbows are bent, the hands point forward and down; the fingertips
    are the contacts of the paper's example.
    """
    model = Model(name="dual_arm", geometry=(FLOOR,))
    _add_head(model)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        shoulder = Pose((0.0, sign * SHOULDER_HALF_WIDTH, SHOULDER_HEIGHT))
        _add_hand(model, side, _add_arm(model, side, shoulder))
    return model


def _add_head(model: Model) -> None:
    """Add the head: as an arm, but upside down."""
    parent, place = WORLD, Pose.from_rpy((0.0, 0.0, SHOULDER_HEIGHT + 0.1), (np.pi, 0.0, 0.0))
    for k, (axis, length, mass) in enumerate(HEAD, start=1):
        name = f"head_{k}"
        model.add_link(
            bar(name, parent, Hinge("pin", axis), place, length=length, mass=mass, lower=-1.5, upper=1.5)
        )
        parent, place = name, at_end(length)


def _add_arm(model: Model, side: str, place: Pose) -> str:
    """Add seven links and return the name of the last."""
    parent = WORLD
    for k, (axis, length, mass) in enumerate(ARM, start=1):
        name = f"{side}_arm_{k}"
        model.add_link(
            bar(
                name,
                parent,
                Hinge("pin", axis),
                place,
                length=length,
                radius=0.04,
                mass=mass,
                lower=-2.8,
                upper=2.8,
            )
        )
        parent, place = name, at_end(length, (0.0, ELBOW_BEND if k == 3 else 0.0, 0.0))
    return parent


def _add_hand(model: Model, side: str, palm: str) -> None:
    """Add the knuckle with finger 1 and the opposing fingers 2 and 3, all closing towards the middle."""
    end = ARM[-1][1]
    spread = Pose((0.03, 0.0, -end))
    knuckle = f"{side}_knuckle"
    model.add_link(
        bar(
            knuckle,
            palm,
            Hinge("pin", Z),
            spread,
            length=KNUCKLE,
            radius=0.01,
            mass=0.05,
            lower=-1.5,
            upper=1.5,
        )
    )
    homes = (knuckle, at_end(KNUCKLE)), (palm, Pose((-0.03, 0.02, -end))), (palm, Pose((-0.03, -0.02, -end)))
    for k, (parent, place) in enumerate(homes, start=1):
        name, closing = f"{side}_finger_{k}", Hinge("pin", Y if k == 1 else (0.0, -1.0, 0.0))
        model.add_link(
            bar(
                name,
                parent,
                closing,
                place,
                length=FINGER,
                radius=FINGER_RADIUS,
                mass=0.1,
                lower=-0.5,
                upper=1.5,
            )
        )


def quadruped() -> Model:
    """Box on a free hinge with four legs of three pin hinges: 13 links, 18 dofs.

    At theta = 0 it stands, knees bent, with the round ends of its shanks on the floor z = 0. Hips turn
    about x, thighs and shanks about y.
    """
    standing = 2.0 * LEG * np.cos(CROUCH) + FOOT_RADIUS
    size = (0.45, 0.16, 0.12)
    trunk = Link(
        "trunk",
        pose=Pose((0.0, 0.0, standing)),
        mass=6.0,
        inertia=box_inertia(6.0, size),
        geometry=Geometry(Box(size), name="trunk"),
    )
    model = Model([trunk], name="quadruped", geometry=(FLOOR,))
    for leg, (front, left) in {"FL": (1, 1), "FR": (1, -1), "RL": (-1, 1), "RR": (-1, -1)}.items():
        _add_leg(model, leg, front * HIP_X, left)
    return model


def _add_leg(model: Model, leg: str, x: float, left: int) -> None:
    """Add hip, thigh and shank; the hip holds the thigh beside the trunk."""
    hip, thigh, shank = (f"{leg}_{part}" for part in ("hip", "thigh", "shank"))
    side = left * HIP_LENGTH
    across = Pose.from_rpy((0.0, side / 2.0, 0.0), (np.pi / 2.0, 0.0, 0.0))
    motor = {"armature": 0.01, "damping": 0.05}
    inertia = across.rotation @ bar_inertia(0.7, 0.03, HIP_LENGTH) @ across.rotation.T
    model.add_link(
        hip,
        "trunk",
        Hinge("pin", X),
        Pose((x, left * HIP_Y, 0.0)),
        mass=0.7,
        com=across.position,
        inertia=inertia,
        geometry=Geometry(Capsule(0.03, HIP_LENGTH), across, hip),
        lower=-0.8,
        upper=0.8,
        **motor,
    )
    lean = Pose.from_rpy((0.0, side, 0.0), (0.0, CROUCH, 0.0))
    knee = at_end(LEG, (0.0, -2.0 * CROUCH, 0.0))
    model.add_link(
        bar(thigh, hip, Hinge("pin", Y), lean, length=LEG, mass=1.0, lower=-1.5, upper=2.5, **motor)
    )
    foot = {"length": LEG, "radius": FOOT_RADIUS, "mass": 0.2, "lower": -1.2, "upper": 1.2}
    model.add_link(bar(shank, thigh, Hinge("pin", Y), knee, **foot, **motor))
