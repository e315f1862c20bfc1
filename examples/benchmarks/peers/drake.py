"""The mechanisms in Drake: discrete steps with point contact, by the solvers SAP and TAMSI."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from importlib.metadata import version
from typing import Any, TypeAlias

import numpy as np
from engines.engine import Peer, Run
from pydrake.geometry import HalfSpace, Shape, Sphere
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.plant import (
    AddMultibodyPlant,
    CoulombFriction,
    DiscreteContactApproximation,
    MultibodyPlant,
    MultibodyPlantConfig,
)
from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, RigidBody, SpatialInertia
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder
from subjects.mechanisms import Ball, Block, Mechanism, Pendulum

from mcpframe.arrays import Array

AddShape: TypeAlias = Callable[[RigidBody, RigidTransform, Shape, str], None]

PEERS = {"Drake SAP": "sap", "Drake TAMSI": "tamsi"}
"""Drake's rigid contact has no restitution in discrete steps."""
FOOT = 1e-3
"""Radius of the spheres on which a block stands, m."""
DOWN_X = RotationMatrix.MakeYRotation(-np.pi / 2.0)
"""Turns z to -x: the wall's normal."""


class DrakeRun(Run):
    """A plant in a simulator, which takes a discrete step every dt."""

    def __init__(self, approximation: str, mechanism: Mechanism, dt: float) -> None:
        builder = DiagramBuilder()
        config = MultibodyPlantConfig(
            time_step=dt, contact_model="point", discrete_contact_approximation=approximation
        )
        self.plant, _ = AddMultibodyPlant(config, builder)
        self.plant.mutable_gravity_field().set_gravity_vector(mechanism.gravity)
        self.body = _add(self.plant, mechanism)
        self.plant.Finalize()
        self.simulator = Simulator(builder.Build())
        self.context = self.plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        _start(self.plant, self.context, self.body, mechanism)
        self.simulator.Initialize()
        self.dt, self.steps = dt, 0

    def advance(self, n_steps: int) -> None:
        """Take steps in one call; the first one is taken at time zero, as the simulator begins."""
        self.steps += n_steps
        self.simulator.AdvanceTo(self.steps * self.dt)

    def overlaps(self) -> Mapping[Hashable, float]:
        """Return the overlaps that the last step met."""
        results = self.plant.get_contact_results_output_port().Eval(self.context)
        touching: dict[Hashable, float] = {}
        for k in range(results.num_point_pair_contacts()):
            contact = results.point_pair_contact_info(k).point_pair()
            pair = (contact.id_A.get_value(), contact.id_B.get_value())
            touching[pair] = max(touching.get(pair, 0.0), contact.depth)
        return touching

    def energy(self) -> float:
        """Return the energies of the present state."""
        kinetic = self.plant.CalcKineticEnergy(self.context)
        return float(kinetic + self.plant.CalcPotentialEnergy(self.context))

    def motion(self) -> tuple[Array, Array]:
        """Return the motion of the last body's centre of mass."""
        pose = self.plant.EvalBodyPoseInWorld(self.context, self.body)
        twist = self.plant.EvalBodySpatialVelocityInWorld(self.context, self.body)
        arm = pose.rotation() @ self.body.CalcCenterOfMassInBodyFrame(self.context)
        velocity = twist.translational() + np.cross(twist.rotational(), arm)
        return pose.translation() + arm, velocity


def peers() -> list[Peer]:
    """Return Drake with its two solvers."""
    package = f"drake {version('drake')}"
    logging.getLogger("drake").setLevel(logging.ERROR)  # TAMSI is going to be removed, as each run would say
    known = [name for name in PEERS if hasattr(DiscreteContactApproximation, f"k{name.split()[1].title()}")]
    return [Peer(name, package, partial(DrakeRun, PEERS[name])) for name in known]


def _add(plant: MultibodyPlant, mechanism: Mechanism) -> RigidBody:
    """Add the mechanism and its surroundings; return the last body."""
    friction = CoulombFriction(mechanism.mu, mechanism.mu)

    def shape(body: RigidBody, pose: RigidTransform, form: Shape, name: str) -> None:
        plant.RegisterCollisionGeometry(body, pose, form, name, friction)

    shape(plant.world_body(), RigidTransform(), HalfSpace(), "floor")
    if isinstance(mechanism, Pendulum):
        wall = RigidTransform(DOWN_X, [mechanism.wall, 0.0, 0.0])
        shape(plant.world_body(), wall, HalfSpace(), "wall")
        return _chain(plant, mechanism, shape)
    if isinstance(mechanism, Ball):
        inertia = SpatialInertia.SolidSphereWithMass(mechanism.mass, mechanism.radius)
        body = plant.AddRigidBody("body", inertia)
        shape(body, RigidTransform(), Sphere(mechanism.radius), "body")
        return body
    body = plant.AddRigidBody("body", SpatialInertia.SolidBoxWithMass(mechanism.mass, *mechanism.size))
    for k, corner in enumerate(_feet(mechanism)):
        shape(body, RigidTransform(corner), Sphere(FOOT), f"foot_{k}")
    return body


def _feet(block: Block) -> list[Array]:
    """Return centres of small spheres in the lower corners: a box on a half-space has one point in Drake."""
    x, y, z = (edge / 2.0 for edge in block.size)
    return [np.array([sx * x, sy * y, FOOT - z]) for sx in (-1.0, 1.0) for sy in (-1.0, 1.0)]


def _chain(plant: MultibodyPlant, pendulum: Pendulum, shape: AddShape) -> RigidBody:
    """Add the spheres, each with its hinge at its origin."""
    r, body = pendulum.radius, plant.world_body()
    centre = np.array([0.0, 0.0, -r])
    inertia = SpatialInertia.SolidSphereWithMass(pendulum.mass, r).Shift(-centre)
    for k in range(pendulum.n_links):
        place = RigidTransform([0.0, 0.0, -pendulum.spacing if k else pendulum.height])
        frame = plant.AddFrame(FixedOffsetFrame(f"place_{k}", body.body_frame(), place))
        body = plant.AddRigidBody(f"link_{k}", inertia)
        plant.AddJoint(RevoluteJoint(f"hinge_{k}", frame, body.body_frame(), [0.0, 1.0, 0.0]))
        shape(body, RigidTransform(centre), Sphere(r), f"sphere_{k}")
    return body


def _start(plant: MultibodyPlant, context: Any, body: RigidBody, mechanism: Mechanism) -> None:
    """Set where everything is at the start, and how it moves."""
    if isinstance(mechanism, Pendulum):
        hinge = plant.GetJointByName("hinge_0")
        hinge.set_angle(context, mechanism.angle)
        hinge.set_angular_rate(context, mechanism.rate)
        return
    up = mechanism.height + mechanism.radius if isinstance(mechanism, Ball) else mechanism.size[2] / 2.0
    plant.SetFreeBodyPose(context, body, RigidTransform([0.0, 0.0, up]))
    if isinstance(mechanism, Block):
        moving = SpatialVelocity(np.zeros(3), np.array(mechanism.velocity))
        plant.SetFreeBodySpatialVelocity(context=context, body=body, V_JpJc=moving)
