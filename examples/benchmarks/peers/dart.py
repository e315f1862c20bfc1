"""The mechanisms in DART 6 (dartpy), with its default constraint solver and restitution.

Contacts are found by ODE's detector, the one that gives a block on a plane its four corners at any time step.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import sqrt
from typing import Any

import dartpy as dart
import numpy as np
from engines.engine import Peer, Run
from subjects.mechanisms import Ball, Block, Mechanism, Pendulum

from mcpframe.arrays import Array


class DartRun(Run):
    """A world; contacts are those that its last step met."""

    def __init__(self, mechanism: Mechanism, dt: float) -> None:
        self.world = dart.simulation.World()
        self.world.setTimeStep(dt)
        self.world.setGravity(np.array(mechanism.gravity))
        self.world.setNumSimulationThreads(1)
        self.world.setDeactivationOptions(_awake())
        self.world.setCollisionDetector(dart.collision.OdeCollisionDetector())
        self.world.addSkeleton(_surroundings(mechanism))
        self.skeleton = _chain(mechanism) if isinstance(mechanism, Pendulum) else _body(mechanism)
        self.world.addSkeleton(self.skeleton)
        self.body = self.skeleton.getBodyNode(self.skeleton.getNumBodyNodes() - 1)

    def advance(self, n_steps: int) -> None:
        """Take steps, each by a call of its own: DART has none for many."""
        step = self.world.step
        for _ in range(n_steps):
            step()

    def _contacts(self) -> list[Any]:
        return list(self.world.getLastCollisionResult().getContacts())

    def overlaps(self) -> Mapping[Hashable, float]:
        """Return the overlaps that the last step met."""
        touching: dict[Hashable, float] = {}
        for contact in self._contacts():
            objects = contact.collisionObject1, contact.collisionObject2
            pair = tuple(part.getShapeFrame().getName() for part in objects)
            touching[pair] = max(touching.get(pair, 0.0), contact.penetrationDepth)
        return touching

    @property
    def contacts(self) -> int:
        """Points of the last step."""
        return len(self._contacts())

    def energy(self) -> float:
        """Return the energies of the present state."""
        return float(self.skeleton.computeKineticEnergy() + self.skeleton.computePotentialEnergy())

    def motion(self) -> tuple[Array, Array]:
        """Return the motion of the last body's centre of mass."""
        return np.array(self.body.getCOM()), np.array(self.body.getCOMLinearVelocity())


def peers() -> list[Peer]:
    """Return DART."""
    return [Peer("DART", f"dartpy {dart.__version__}", DartRun)]


def _awake() -> Any:
    """Return the options under which nothing is put to sleep: others do not sleep either."""
    options = dart.simulation.DeactivationOptions()
    options.mEnabled = False
    return options


def _surface(node: Any, shape: Any, mechanism: Mechanism) -> Any:
    """Return a new shape of a body; DART multiplies the restitutions of two surfaces."""
    made = node.createShapeNode(shape)
    made.createCollisionAspect()
    aspect = made.createDynamicsAspect()
    aspect.setFrictionCoeff(mechanism.mu)
    aspect.setRestitutionCoeff(sqrt(mechanism.restitution))
    return made


def _surroundings(mechanism: Mechanism) -> Any:
    """Return floor and wall."""
    skeleton = dart.dynamics.Skeleton("surroundings")
    node = skeleton.createWeldJointAndBodyNodePair()[1]
    _surface(node, dart.dynamics.PlaneShape(np.array([0.0, 0.0, 1.0]), 0.0), mechanism)
    if isinstance(mechanism, Pendulum):
        _surface(node, dart.dynamics.PlaneShape(np.array([-1.0, 0.0, 0.0]), -mechanism.wall), mechanism)
    return skeleton


def _body(mechanism: Ball | Block) -> Any:
    """Return the ball or the block at its start."""
    skeleton = dart.dynamics.Skeleton("body")
    joint, node = skeleton.createFreeJointAndBodyNodePair()
    if isinstance(mechanism, Ball):
        shape, up = dart.dynamics.SphereShape(mechanism.radius), mechanism.height + mechanism.radius
    else:
        shape, up = dart.dynamics.BoxShape(np.array(mechanism.size)), mechanism.size[2] / 2.0
        joint.setVelocities(np.array([0.0, 0.0, 0.0, *mechanism.velocity]))
    _surface(node, shape, mechanism)
    node.setInertia(dart.dynamics.Inertia(mechanism.mass, np.zeros(3), shape.computeInertia(mechanism.mass)))
    joint.setPositions(np.array([0.0, 0.0, 0.0, 0.0, 0.0, up]))
    return skeleton


def _chain(pendulum: Pendulum) -> Any:
    """Return the spheres, each with its hinge at its origin."""
    skeleton, node, r = dart.dynamics.Skeleton("pendulum"), None, pendulum.radius
    sphere, centre = dart.dynamics.SphereShape(r), np.array([0.0, 0.0, -r])
    for k in range(pendulum.n_links):
        joint, node = skeleton.createRevoluteJointAndBodyNodePair(*([node] if k else []))
        joint.setAxis(np.array([0.0, 1.0, 0.0]))
        place = dart.math.Isometry3()
        place.set_translation(np.array([0.0, 0.0, -pendulum.spacing if k else pendulum.height]))
        joint.setTransformFromParentBodyNode(place)
        _surface(node, sphere, pendulum).setRelativeTranslation(centre)
        inertia = sphere.computeInertia(pendulum.mass)
        node.setInertia(dart.dynamics.Inertia(pendulum.mass, centre, inertia))
    skeleton.enableSelfCollisionCheck()
    skeleton.disableAdjacentBodyCheck()
    skeleton.setPosition(0, pendulum.angle)
    skeleton.setVelocity(0, pendulum.rate)
    return skeleton
