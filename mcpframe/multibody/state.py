"""States: where a model is and how it moves, and every quantity of its dynamics there.

A state owns the workspaces of the kernels and computes a quantity once: kinematics and the articulated
sweep are made when first asked for and kept until `update`. World axes; a spatial velocity is
[omega; v], a spatial force [moment; force].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array, frozen
from mcpframe.exceptions import ModelError
from mcpframe.jit.memory import aligned_copy
from mcpframe.multibody.kernels import entries
from mcpframe.multibody.kernels.articulated import NOT_FINITE
from mcpframe.multibody.kernels.entries import NOTHING, PLACED, SWEPT
from mcpframe.multibody.memory import records, row_records
from mcpframe.multibody.memory.row_packing import node_space
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.model.validation import values
from mcpframe.spatial.transforms import Pose

if TYPE_CHECKING:
    from mcpframe.multibody.adaptive.hybrid import HybridState

Quantity = TypeVar("Quantity")

NodeSpace: TypeAlias = tuple[NDArray[np.int64], Array, NDArray[np.int64] | None, Array]
REMEMBERED = 32
"""How many lists of nodes, or kinds of steps, keep their workspaces in a state."""


def _kept_until_update(quantity: Callable[[State], Quantity]) -> Callable[[State], Quantity]:
    """Compute a quantity of a state when first asked for; its arrays must be read-only."""
    name = quantity.__name__

    @wraps(quantity)
    def kept(self: State) -> Quantity:
        found: Quantity | None = self._kept.get(name)
        if found is None:
            found = self._kept[name] = quantity(self)
        return found

    return kept


class State:
    """Coordinates, rates and time of a model, and its dynamics there.

    Args:
        model: what moves; links that are added to it later do not reach this state.
        theta: coordinates [n_theta], neutral unless given; quaternions x, y, z, w.
        theta_dot: rates [N], zero unless given.
        time: seconds, for closures with prescribed motion.

    >>> state = mf.systems.pendulum(links=3).state([0.1, 0.2, 0.3])
    >>> state.mass_matrix().shape
    (3, 3)
    """

    def __init__(
        self,
        model: Model,
        theta: ArrayLike | None = None,
        theta_dot: ArrayLike | None = None,
        time: float = 0.0,
    ) -> None:
        self.model, self.tree, self.time = model, model.tree, float(values("time", time, ()))
        self.skeleton = self.tree.skeleton
        self.I = self.skeleton.I
        self.X = aligned_copy(self.skeleton.X)
        coordinates = self.tree.coordinates
        self._theta, self._theta_dot = self._part(records.THETA), self._part(records.THETA_DOT)
        self._tau, self._theta_ddot = self._part(records.TAU), self._part(records.THETA_DDOT)
        self._part(records.GRAVITY)[:3] = model.gravity
        self._armature = self._part(records.DOFS)[:, records.D_ARMATURE]
        self._done = NOTHING
        self.workspaces: dict[Hashable, Any] = {}
        self._kept: dict[str, Any] = {}
        start = coordinates.neutral() if theta is None else theta
        self.update(start, np.zeros(coordinates.n_dofs) if theta_dot is None else theta_dot)

    def __repr__(self) -> str:
        return f"State of {self.model!r} at t = {self.time:g}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are made anew from coordinates: the workspaces are views of one another."""
        return _state_again, (self.model, self.theta, self.theta_dot, self.time, self.armature)

    def update(
        self, theta: ArrayLike | None = None, theta_dot: ArrayLike | None = None, time: float | None = None
    ) -> State:
        """Take other coordinates, rates or time; what is not given stays. Returns the state itself."""
        new_theta = self._theta if theta is None else theta
        new_rates = self._theta_dot if theta_dot is None else theta_dot
        new_time = self.time if time is None else _checked_time(time)
        try:
            taken = entries.take(self.I, self.X, new_theta, new_rates)
        except TypeError:  # not an array of doubles
            taken = False
        if not taken:
            coordinates = self.tree.coordinates
            checked = coordinates.check_theta(new_theta), coordinates.check_rates("theta_dot", new_rates)
            self._theta[:], self._theta_dot[:] = checked
        self.time = new_time
        if theta is None and self._done >= PLACED:
            entries.place_rates(self.I, self.X)
        else:
            self._done = NOTHING
        if self._kept:
            self._kept.clear()
        return self

    @property
    @_kept_until_update
    def theta(self) -> Array:
        """Coordinates [n_theta]; a copy, read-only."""
        return frozen(self._theta.copy())

    @property
    @_kept_until_update
    def theta_dot(self) -> Array:
        """Rates [N]; a copy, read-only."""
        return frozen(self._theta_dot.copy())

    @property
    def armature(self) -> Array:
        """Inertia added to the hinges [N]: the model's, or what `with_armature` has put in its place."""
        return self._armature.copy()

    def with_armature(self, armature: ArrayLike) -> State:
        """Take another inertia of the hinges [N], as implicit dampers and springs do; return the state."""
        self._armature[:] = values("armature", armature, self._armature.shape)
        self._done = min(self._done, PLACED)
        self._kept.clear()
        return self

    def free_acceleration(
        self, tau: ArrayLike | None = None, wrenches: Mapping[Node | str, ArrayLike] | None = None
    ) -> Array:
        """Return theta_ddot_f = Mass^-1 (tau + J* wrenches - C) by the articulated-body algorithm [N].

        Springs and dampers are not in it: add `passive_force` to tau.

        Args:
            tau: forces at the hinges [N].
            wrenches: [moment; force] at nodes or at the origins of bodies, world axes.
        """
        done = self.take_forces(tau, wrenches)
        return self.accelerated(entries.free_dynamics(self.I, self.X, done))

    def take_forces(
        self, tau: ArrayLike | None = None, wrenches: Mapping[Node | str, ArrayLike] | None = None
    ) -> int:
        """Write the applied forces where kernels look for them; return how far the state has come already.

        Arguments as in `free_acceleration`. The kernel's answer goes to `accelerated`.
        """
        if wrenches:
            tau = self._forces(tau) + self.apply_wrenches(self.link_wrenches(wrenches))
        if tau is None:
            self._tau[:] = 0.0
        elif isinstance(tau, np.ndarray) and tau.shape == self._tau.shape and tau.dtype.char == "d":
            self._tau[:] = tau
        else:
            self._tau[:] = self._forces(tau)
        return self._done

    def accelerated(self, failed: int) -> Array:
        """Return the accelerations [N] that a kernel has left, or raise ModelError where it failed."""
        if failed:
            self._explain(failed)
        self._done = SWEPT
        return self._theta_ddot.copy()

    def hybrid(self, active: ArrayLike) -> HybridState:
        """Return the state in which all joints but the active ones are rigid where they stand [G06].

        It has the calls of a state, for fewer dofs, and steps, formulations and laws take it as one. Rigid
        joints lose their rates by impulses that keep the momenta of all others; see `adaptive.hybrid`.

        Args:
            active: names of joints or links, or a flag for every link [n]; those of loops always are.
        """
        from mcpframe.multibody.adaptive.hybrid import HybridState

        return HybridState(self, active)

    def keep_workspace(self, key: Hashable, space: Any) -> None:
        """Keep a workspace in `workspaces` for the next call; of many, the others are dropped."""
        if len(self.workspaces) >= REMEMBERED:
            self.workspaces.clear()
        self.workspaces[key] = space

    def compliance(self, nodes: Sequence[Node | str]) -> Array:
        """Return Lambda = J Mass^-1 J* of nodes [6 n_c, 6 n_c] [J14, Eq. (51)], in O(N) + O(n_c²).

        Each node's block is [angular; linear] in world axes at the node; the world does not give way.
        """
        IR, XR, moving, Lambda = self._space(nodes)
        failed = entries.node_compliance(self.I, self.X, IR, XR, self._done)
        if failed:
            self._explain(failed)
        self._done = SWEPT
        if moving is None:
            return Lambda.copy()
        result = np.zeros((6 * len(nodes), 6 * len(nodes)))
        rows = (6 * moving[:, None] + np.arange(6)).ravel()
        result[np.ix_(rows, rows)] = Lambda
        return result

    def node_velocities(self, nodes: Sequence[Node | str]) -> Array:
        """Return V_c = J theta_dot of nodes [n_c, 6]."""
        return self._at_nodes(nodes, entries.VELOCITIES, 6)

    def node_bias(self, nodes: Sequence[Node | str]) -> Array:
        """Return a_os = J_dot theta_dot of nodes [n_c, 6]: their acceleration for theta_ddot = 0."""
        return self._at_nodes(nodes, entries.BIAS, 6)

    def jacobian(self, nodes: Sequence[Node | str]) -> Array:
        """Return J of nodes [6 n_c, N], V_c = J theta_dot [J14, Eq. (49)]."""
        n = self._tau.size
        return self._at_nodes(nodes, entries.JACOBIAN, 6 * n).reshape(6 * len(nodes), n)

    def mass_matrix(self) -> Array:
        """Return the mass matrix by composite bodies [N, N], armature included [J14, Eq. (59)]."""
        self._place()
        n = self._tau.size
        out = np.empty(n * n)
        entries.mass_matrix(self.I, self.X, out)
        return out.reshape(n, n)

    def solve_mass(self, x: ArrayLike) -> Array:
        """Return Mass^-1 x for a vector [N] or columns [N, k], O(N) each."""
        if np.ndim(x) == 1:
            return self.respond(x)
        n = self._tau.size
        columns = values("x", x, (n, *np.shape(x)[1:2]))
        return np.array([self.respond(column) for column in columns.T]).reshape(columns.shape[::-1]).T

    def respond(self, x: ArrayLike | None = None, link_wrenches: ArrayLike | None = None) -> Array:
        """Return Mass^-1 (x + J* link_wrenches) in O(N).

        Args:
            x: forces or impulses at the hinges [N].
            link_wrenches: wrenches or impulses at the links' origins [n, 6], world axes.
        """
        self._sweep()
        out = np.empty(self._tau.size)
        pushes = self._wrench_table(link_wrenches)
        entries.respond(self.I, self.X, self.skeleton.link_body, pushes, self._forces(x), out)
        return out

    def apply_wrenches(self, link_wrenches: ArrayLike) -> Array:
        """Return J* f for wrenches at the links' origins [n, 6]."""
        self._place()
        out = np.empty(self._tau.size)
        pushes = self._wrench_table(link_wrenches)
        entries.generalized_force(self.I, self.X, self.skeleton.link_body, pushes, out)
        return out

    def inverse_dynamics(self, theta_ddot: ArrayLike) -> Array:
        """Return tau = Mass theta_ddot + C [N]."""
        self._place()
        rates = self.tree.coordinates.check_rates("theta_ddot", theta_ddot)
        out = np.empty(self._tau.size)
        entries.inverse_dynamics(self.I, self.X, rates, out)
        return out + self._armature * rates

    def bias_force(self) -> Array:
        """Return C: Coriolis, gyroscopic and gravity forces [N]."""
        return self.inverse_dynamics(np.zeros(self._tau.size))

    def passive_force(self) -> Array:
        """Return the forces of dampers and springs, -damping theta_dot - stiffness (theta - rest) [N]."""
        if not self.tree.has_passive_forces:
            return np.zeros(self._tau.size)
        stretch = self.tree.coordinates.difference(self.tree.gather("rest"), self._theta)
        return -self.tree.gather("damping") * self._theta_dot - self.tree.gather("stiffness") * stretch

    def kinetic_energy(self) -> float:
        """Return the kinetic energy, that of armature included, in joules."""
        return float(self._energies()[0])

    def potential_energy(self) -> float:
        """Return the energy in gravity, zero where the centre of mass is at the origin, in joules."""
        return float(self._energies()[1])

    def momentum(self) -> Array:
        """Return the momentum [angular; linear] about the world's origin [6]."""
        return self._energies()[2:]

    @_kept_until_update
    def link_poses(self) -> tuple[Array, Array]:
        """Return rotations [n, 3, 3] and positions [n, 3] of the links' frames; read-only."""
        bodies = self._bodies()
        inner = bodies[:, :12].reshape(-1, 3, 4)[:, :, :3].transpose(0, 2, 1)
        rotations = inner @ self.skeleton.link_rotation.transpose(0, 2, 1)
        return frozen(rotations), frozen(self.reference_points() + _vector(bodies, records.B_POSITION))

    def pose(self, body: Node | str) -> Pose:
        """Return the pose of a link, frame or node."""
        link, position, rotation = self.model.resolve(body, self.tree)
        if link < 0:
            return Pose(position, rotation)
        rotations, positions = self.link_poses()
        return Pose(positions[link] + rotations[link] @ position, rotations[link] @ rotation)

    @_kept_until_update
    def link_velocities(self) -> Array:
        """Return the velocities of the links at their origins [n, 6]; read-only."""
        bodies = self._bodies()
        x, (w, v) = _vector(bodies, records.B_POSITION), _pair(bodies, records.B_VELOCITY)
        return frozen(np.hstack([w, v + np.cross(w, x)]))

    @_kept_until_update
    def link_bias(self) -> Array:
        """Return what accelerates the links' origins while theta_dot stays, not gravity [n, 6]; read-only."""
        bodies = self._bodies()
        x, (w, v) = _vector(bodies, records.B_POSITION), _pair(bodies, records.B_VELOCITY)
        w_dot, v_dot = _pair(bodies, records.B_BIAS)
        point = v_dot + self.model.gravity + np.cross(w_dot, x) + np.cross(w, v + np.cross(w, x))
        return frozen(np.hstack([w_dot, point]))

    @_kept_until_update
    def hinge_columns(self) -> Array:
        """Return what a unit rate of each dof adds to its link's velocity at its origin [N, 6]; read-only."""
        bodies = self._bodies()
        x = _vector(bodies, records.B_POSITION)[self.tree.dof_link]
        w, v = _pair(self._part(records.DOFS), records.D_COLUMN)
        return frozen(np.hstack([w, v + np.cross(w, x)]))

    def link_wrenches(self, wrenches: Mapping[Node | str, ArrayLike]) -> Array:
        """Return wrenches given at nodes as wrenches at the links' origins [n, 6]; the world takes any."""
        table = np.zeros((len(self.tree.links), 6))
        rotations, _ = self.link_poses()
        for node, wrench in wrenches.items():
            link, position, _ = self.model.resolve(node, self.tree)
            f = values(f"wrench on {node if isinstance(node, str) else node.body!r}", wrench, (6,))
            if link >= 0:
                arm = rotations[link] @ position
                table[link] += np.concatenate([f[:3] + np.cross(arm, f[3:]), f[3:]])
        return table

    def _part(self, part: int) -> Array:
        return records.MEMORY.part(self.I, self.X, part)

    def _bodies(self) -> Array:
        """Return the records of the bodies that are links, after the kinematics."""
        self._place()
        return self._part(records.BODIES)[self.skeleton.link_body]

    def reference_points(self) -> Array:
        """Return the point about which the kernels keep each link [n, 3]; see `kernels.kinematics`."""
        self._place()
        first = records.MEMORY.part(self.I, self.X, records.TREE)[self.skeleton.link_body, records.SECTION]
        return self._part(records.REFERENCE)[first, :3]

    def _place(self) -> None:
        if self._done < PLACED:
            entries.place(self.I, self.X)
            self._done = PLACED

    def _sweep(self) -> None:
        if self._done < SWEPT:
            self.free_acceleration()

    def _explain(self, failed: int) -> None:
        """Raise ModelError for forces that are not finite, or for a dof that has no inertia."""
        self._done = NOTHING
        self._forces(self._tau)
        if failed == NOT_FINITE:
            raise ModelError("accelerations are beyond all numbers: look for huge rates, forces or inertias")
        raise ModelError(
            f"dof {self.tree.dof_names[failed - 1]!r} has no inertia to move at this configuration: give its "
            "link, or one further out, mass and inertia, or give the hinge armature"
        )

    def _forces(self, forces: ArrayLike | None) -> Array:
        if forces is None:
            return np.zeros(self._tau.size)
        return self.tree.coordinates.check_rates("force", forces)

    def _wrench_table(self, wrenches: ArrayLike | None) -> Array:
        n = len(self.tree.links)
        if wrenches is None:
            return np.zeros(6 * n)
        return np.ravel(values("link_wrenches", wrenches, (n, 6)))

    def _energies(self) -> Array:
        self._place()
        out = np.empty(8)
        entries.energies(self.I, self.X, out)
        return out

    def _at_nodes(self, nodes: Sequence[Node | str], which: int, size: int) -> Array:
        """Return what a kernel says about every node [n_c, size]; zero for nodes on the world."""
        IR, XR, moving, _ = self._space(nodes)
        self._place()
        entries.node_kinematics(self.I, self.X, IR, XR, which)
        n, at = IR[row_records.N_NODES], IR[row_records.RESULT]
        found: Array = XR[at : at + n * size].reshape(n, size).copy()
        if moving is None:
            return found
        result = np.zeros((len(nodes), size))
        result[moving] = found
        return result

    def _space(self, nodes: Sequence[Node | str]) -> NodeSpace:
        """Return the workspace of a list of nodes, kept for the next call."""
        if isinstance(nodes, (str, Node)):
            raise ModelError(f"nodes: {nodes!r} is one node; give a list of them")
        key = tuple(nodes)
        space: NodeSpace | None = self.workspaces.get(key)
        if space is None:
            space = self._new_space(key)
            self.keep_workspace(key, space)
        return space

    def _new_space(self, nodes: tuple[Node | str, ...]) -> NodeSpace:
        """Return the workspace of the nodes that move, which those are (None: all), and a view of Lambda."""
        places = [self.model.resolve(node, self.tree) for node in nodes]
        moving = [i for i, (link, _, _) in enumerate(places) if link >= 0]
        links = np.array([places[i][0] for i in moving], dtype=np.int64)
        positions = np.array([places[i][1] for i in moving]).reshape(-1, 3)
        IR, XR = node_space(self.skeleton, self._tau.size, links, positions)
        n, at = 6 * len(moving), IR[row_records.RESULT]
        which = None if len(moving) == len(nodes) else np.array(moving, dtype=np.int64)
        return IR, XR, which, XR[at : at + n * n].reshape(n, n)


def _checked_time(time: float) -> float:
    return time if type(time) is float and math.isfinite(time) else float(values("time", time, ()))


def _vector(table: Array, at: int) -> Array:
    return table[:, at : at + 3]


def _pair(table: Array, at: int) -> tuple[Array, Array]:
    return table[:, at : at + 3], table[:, at + 4 : at + 7]


def _state_again(model: Model, theta: Array, theta_dot: Array, time: float, armature: Array) -> State:
    return State(model, theta, theta_dot, time).with_armature(armature)
