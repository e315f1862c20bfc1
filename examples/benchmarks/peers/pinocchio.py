"""Pinocchio's ways to the free acceleration and to Lambda, from Python; a run finds out which is fastest.

Its spatial vectors are [linear; angular]. Constraints answer in the axes of their bodies; what turns the
answer into ours is left out of every clock, in its favour.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from measuring.timing import Run
from subjects.chains import Subject

import mcpframe as mf

Array = np.ndarray
Route = Callable[[], tuple[Array, Array]]
"""Returns theta_ddot and Lambda; of Lambda, the upper half in the peer's axes."""

BATCH = 32
"""States in one call of the compiled loop."""


def why_missing() -> str:
    """Return why there is no Pinocchio to compare with; empty if there is one."""
    found = importlib.util.find_spec("pinocchio") is not None
    return "" if found else "no Pinocchio: the pin package is not installed; `make install EXTRAS=dev,peers`"


class Pinocchio:
    """A subject in Pinocchio; its `Data` holds some n³ numbers, so make one at a time."""

    def __init__(self, subject: Subject) -> None:
        import pinocchio

        self.pin = pinocchio
        self.model = self._read(subject) if subject.file else self._chain(subject.model)
        self.data = self.model.createData()
        self.state = subject.theta, subject.theta_dot, subject.tau
        self.local, self.world = pinocchio.Convention.LOCAL, pinocchio.Convention.WORLD

    def accelerations(self) -> dict[str, Callable[[], Array]]:
        """Return the ways to the free acceleration."""
        aba, model, data, (q, v, tau) = self.pin.aba, self.model, self.data, self.state
        local, world = self.local, self.world
        return {
            "aba, local": lambda: aba(model, data, q, v, tau, local),
            "aba, world": lambda: aba(model, data, q, v, tau, world),
        }

    def routes(self, nodes: Sequence[mf.Node]) -> dict[str, Route]:
        """Return the ways to the free acceleration and Lambda of nodes."""
        frames = [self._frame(node) for node in nodes]
        return {
            "aba + Delassus": self._by_delassus(frames),
            "aba + Cholesky": self._by_cholesky(frames),
            "aba + Minverse": self._by_inverse(frames),
        }

    def loop(self) -> tuple[Run, Callable[[], Array]]:
        """Return aba in a compiled loop, one thread, over many copies of the state; and its answer."""
        pool = self.pin.ModelPool(self.model, 1)
        q, v, tau = (np.asfortranarray(np.repeat(x[:, None], BATCH, axis=1)) for x in self.state)
        out = np.zeros_like(v)

        def run(count: int) -> None:
            for _ in range(count):
                self.pin.abaInParallel(1, pool, q, v, tau, out)

        def answer() -> Array:
            run(1)
            return out[:, -1]

        return run, answer

    def in_our_axes(self, Lambda: Array, nodes: Sequence[mf.Node]) -> Array:
        """Return the whole of Lambda, each node [angular; linear] in world axes."""
        self.pin.forwardKinematics(self.model, self.data, self.state[0])
        T = np.zeros_like(Lambda)
        for i, (joint, placement) in enumerate(self._frame(node) for node in nodes):
            R, at = (self.data.oMi[joint] * placement).rotation, 6 * i
            T[at : at + 3, at + 3 : at + 6] = T[at + 3 : at + 6, at : at + 3] = R
        whole = np.triu(Lambda) + np.triu(Lambda, 1).T
        turned: Array = T @ whole @ T.T
        return turned

    def _by_delassus(self, frames: Sequence[tuple[int, Any]]) -> Route:
        """Return aba, then computeDelassusMatrix, which makes a sweep of its own; O(n) in the links."""
        aba, delassus = self.pin.aba, self.pin.computeDelassusMatrix
        model, data, (q, v, tau), world = self.model, self.data, self.state, self.world
        constraints, constraint_data = self._constraints(frames)

        def route() -> tuple[Array, Array]:
            theta_ddot = aba(model, data, q, v, tau, world)
            return theta_ddot, delassus(model, data, q, constraints, constraint_data, 0.0)

        return route

    def _by_cholesky(self, frames: Sequence[tuple[int, Any]]) -> Route:
        """Return aba, then crba and the factors of [[0, J], [J*, Mass]]; no factors for redundant nodes."""
        aba, crba = self.pin.aba, self.pin.crba
        model, data, (q, v, tau), world = self.model, self.data, self.state, self.world
        constraints, constraint_data = self._constraints(frames)
        pairs = list(zip(constraints, constraint_data, strict=True))
        factors = self.pin.ContactCholeskyDecomposition(model, data, constraints, constraint_data)

        def route() -> tuple[Array, Array]:
            theta_ddot = aba(model, data, q, v, tau, world)
            crba(model, data, q, world)
            for constraint, its_data in pairs:
                constraint.calc(model, data, its_data)
            factors.compute(model, data, constraints, constraint_data, 0.0)
            return theta_ddot, factors.getInverseOperationalSpaceInertiaMatrix()

        return route

    def _by_inverse(self, frames: Sequence[tuple[int, Any]]) -> Route:
        """Return aba, then computeMinverse from its sweep, and J Mass^-1 J* by numpy."""
        pin, model, data, (q, v, tau) = self.pin, self.model, self.data, self.state
        joints = [joint for joint, _ in frames]
        to_node = [placement.actionInverse for _, placement in frames]
        J = np.zeros((6 * len(frames), model.nv))

        def route() -> tuple[Array, Array]:
            theta_ddot = pin.aba(model, data, q, v, tau, self.world)
            upper = np.triu(pin.computeMinverse(model, data))
            pin.computeJointJacobians(model, data, q)
            for i, (joint, action) in enumerate(zip(joints, to_node, strict=True)):
                J[6 * i : 6 * i + 6] = action @ pin.getJointJacobian(model, data, joint, pin.LOCAL)
            return theta_ddot, J @ (upper + np.triu(upper, 1).T) @ J.T

        return route

    def _constraints(self, frames: Sequence[tuple[int, Any]]) -> tuple[Any, Any]:
        """Return six rows per node, and their data."""
        pin = self.pin
        models, data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for joint, placement in frames:
            models.append(
                pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, self.model, joint, placement, pin.LOCAL)
            )
            data.append(models[-1].createData())
        return models, data

    def _frame(self, node: mf.Node) -> tuple[int, Any]:
        """Return the joint that carries a node, and the node's placement on it."""
        body = self.model.frames[self.model.getFrameId(node.body, self.pin.FrameType.BODY)]
        placement = self.pin.SE3(np.asarray(node.rotation), np.asarray(node.position))
        return body.parentJoint, body.placement * placement

    def _read(self, subject: Subject) -> Any:
        base = (self.pin.JointModelFreeFlyer(),) if subject.floating else ()
        return self.pin.buildModelFromUrdf(str(subject.file), *base)

    def _chain(self, model: mf.Model) -> Any:
        """Return a model of pins about x, y and z as Pinocchio's own joints of that kind."""
        pin, made, identity = self.pin, self.pin.Model(), self.pin.SE3.Identity()
        kinds = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
        for k, link in enumerate(model.links):
            kind = kinds[int(np.argmax(link.hinge.axis))]
            place = pin.SE3(np.asarray(link.pose.rotation), np.asarray(link.pose.position))
            joint = made.addJoint(int(model.parents[k]) + 1, kind(), place, link.name)
            made.appendBodyToJoint(joint, pin.Inertia(link.mass, link.com, link.inertia), identity)
            made.addFrame(pin.Frame(link.name, joint, identity, pin.FrameType.BODY))
        made.gravity.linear = np.asarray(model.gravity)
        return made
