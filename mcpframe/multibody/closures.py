"""Closures: bilateral constraints Q_b V_c = U(t) between nodes and hinges [J14, Eqs. (29), (48)].

A closure between nodes multiplies the velocity [omega; v] of node A, as seen from node B in the axes of B
(see `mcpframe.multibody.relative_motion`), with constant rows. Both bodies feel the impulse at one point,
the place of A, so that momentum is kept also where the loop has drifted open.

Where `motion` is given it is called with the time and returns U and dU/dt of the rows; the rate alone is
prescribed then, there is no position to return to, and the error is zero.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.hinge import plane_directions
from mcpframe.multibody.model.link import WORLD
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.model.validation import direction, values
from mcpframe.multibody.relative_motion import RelativeMotion
from mcpframe.multibody.rows import Rows, hinge_rate_rows
from mcpframe.spatial.transforms import rotation_vector_from_rotation

if TYPE_CHECKING:
    from mcpframe.multibody.model.model import Model
    from mcpframe.multibody.state import State

Motion = Callable[[float], tuple[ArrayLike, ArrayLike]]
"""Time to (U, dU/dt), one entry per row."""

COINCIDENT = 1e-12
"""Metres below which two points have no direction from one to the other."""


class Closure(ABC):
    """Base of all closures: a fixed number of rows, made anew for every state."""

    n_rows: int
    motion: Motion | None

    @abstractmethod
    def check(self, model: Model) -> None:
        """Raise ModelError unless the model has all that the closure names."""

    def rows(self, state: State) -> Rows:
        """Return the rows at a state: G with bias, rate, rate_dot and error."""
        rows = self._rows_at_rest(state)
        if self.motion is None:
            return rows
        rate, rate_dot = self.prescribed(state.time)
        return replace(rows, rate=rate, rate_dot=rate_dot, error=np.zeros(rows.n))

    @abstractmethod
    def _rows_at_rest(self, state: State) -> Rows:
        """Return the rows with rate and rate_dot zero."""

    def velocity(self, state: State) -> Array:
        """Return what the rows keep at their rate, G θ̇ [n_rows], where it can be had without the rows."""
        return self.rows(state).velocity(state)

    def prescribed(self, time: float) -> tuple[Array, Array]:
        """Return U and dU/dt at a time, of a closure whose motion is prescribed [n_rows] each."""
        assert self.motion is not None
        name = f"{type(self).__name__}: motion at {time:g} s"
        try:
            U, U_dot = self.motion(time)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{name}: it must return U and dU/dt ({error})") from None
        shape = (self.n_rows,)
        return (
            values(f"{name}: U", np.atleast_1d(U), shape),
            values(f"{name}: dU/dt", np.atleast_1d(U_dot), shape),
        )


class _BetweenNodes(Closure):
    """A closure between two nodes on different bodies, either of which may be the world."""

    node_a: Node | str
    node_b: Node | str

    def __post_init__(self) -> None:
        for name in ("node_a", "node_b"):
            node = getattr(self, name)
            object.__setattr__(self, name, node if isinstance(node, Node) else Node(node))

    def check(self, model: Model) -> None:
        """Raise ModelError unless the model has both bodies and they are two."""
        bodies = model.resolve(self.node_a)[0], model.resolve(self.node_b)[0]
        if bodies[0] == bodies[1]:
            raise ModelError(
                f"{type(self).__name__}: {_body(self.node_a)!r} and {_body(self.node_b)!r} are one rigid "
                "body; a closure joins two"
            )

    def _rows_at_rest(self, state: State) -> Rows:
        seen = RelativeMotion.of(state, self.node_a, self.node_b)
        directions, turning = self._directions(seen)
        bias = directions @ seen.acceleration + turning
        rows = seen.rows(directions, bias)
        return replace(rows, error=self._error(seen))

    def velocity(self, state: State) -> Array:
        """Return the velocity of node A seen from B along the closure's directions."""
        seen = RelativeMotion.of(state, self.node_a, self.node_b)
        velocity: Array = self._directions(seen)[0] @ seen.velocity
        return velocity

    @abstractmethod
    def _directions(self, seen: RelativeMotion) -> tuple[Array, float]:
        """Return the rows [n_rows, 6] that multiply [omega; v] in B's axes, and the bias of their turning."""

    @abstractmethod
    def _error(self, seen: RelativeMotion) -> Array:
        """Return how far the nodes are from where the closure wants them [n_rows]."""


@final
@dataclass(frozen=True, eq=False)
class Weld(_BetweenNodes):
    """Node A sits on node B: 6 rows, [rotation; position] in the axes of B.

    The error is [rotation vector from B to A; p]. With `motion`, U is the velocity [omega; v] of A seen
    from B.
    """

    node_a: Node | str
    node_b: Node | str
    motion: Motion | None = None
    n_rows = 6

    def _directions(self, seen: RelativeMotion) -> tuple[Array, float]:
        return np.eye(6), 0.0

    def _error(self, seen: RelativeMotion) -> Array:
        return np.concatenate([rotation_vector_from_rotation(seen.rotation), seen.position])


@final
@dataclass(frozen=True, eq=False)
class Pin(_BetweenNodes):
    """Node A sits on node B up to a turn about an axis: 5 rows, [rotation about x, y; position] of B.

    The axis has the same components in both nodes' frames; x, y are perpendicular to it, by the rule of
    `mcpframe.multibody.model.hinge.plane_directions`. The first two errors are the components of the smallest
    rotation vector that brings B's axis onto A's.
    """

    node_a: Node | str
    node_b: Node | str
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    motion: Motion | None = None
    n_rows = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "axis", direction("Pin: axis", self.axis))

    def _directions(self, seen: RelativeMotion) -> tuple[Array, float]:
        rows = np.zeros((5, 6))
        rows[:2, :3] = plane_directions(self.axis)
        rows[2:, 3:] = np.eye(3)
        return rows, 0.0

    def _error(self, seen: RelativeMotion) -> Array:
        x, y = np.array(plane_directions(self.axis))
        axis_a = seen.rotation @ self.axis
        # axis × axis_a = (-y . axis_a) x + (x . axis_a) y is the sine of the angle between, along its axis
        lean = np.array([-y @ axis_a, x @ axis_a])
        sine, cosine = float(np.linalg.norm(lean)), float(axis_a @ self.axis)
        angle = np.arctan2(sine, cosine)
        lean = angle / sine * lean if sine > 0.0 else np.array([angle, 0.0])
        return np.concatenate([lean, seen.position])


@final
@dataclass(frozen=True, eq=False)
class Ball(_BetweenNodes):
    """The origin of node A sits on that of node B: 3 rows, position in the axes of B."""

    node_a: Node | str
    node_b: Node | str
    motion: Motion | None = None
    n_rows = 3

    def _directions(self, seen: RelativeMotion) -> tuple[Array, float]:
        return np.hstack([np.zeros((3, 3)), np.eye(3)]), 0.0

    def _error(self, seen: RelativeMotion) -> Array:
        return seen.position


@final
@dataclass(frozen=True, eq=False)
class Distance(_BetweenNodes):
    """The origins of two nodes stay at a distance of `length` metres: 1 row, its rate."""

    node_a: Node | str
    node_b: Node | str
    length: float
    motion: Motion | None = None
    n_rows = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        length = float(values("Distance: length", self.length, ()))
        if length <= 0.0:
            raise ModelError(f"Distance: length {length:g} m must be positive; use Ball to join two points")
        object.__setattr__(self, "length", length)

    def _directions(self, seen: RelativeMotion) -> tuple[Array, float]:
        """With n = p / |p|: the row is n . v, and n turns by n_dot = (v - n (n . v)) / |p|."""
        n, distance = self._along(seen)
        v = seen.velocity[3:]
        turning = float(v @ v - (n @ v) ** 2) / distance
        return np.concatenate([np.zeros(3), n])[None, :], turning

    def _error(self, seen: RelativeMotion) -> Array:
        return np.array([np.linalg.norm(seen.position) - self.length])

    def _along(self, seen: RelativeMotion) -> tuple[Array, float]:
        distance = float(np.linalg.norm(seen.position))
        if distance < COINCIDENT:
            raise ModelError(
                f"Distance: the nodes on {_body(self.node_a)!r} and {_body(self.node_b)!r} coincide, so that "
                "the direction between them is undefined; start from coordinates that keep them apart"
            )
        return seen.position / distance, distance


@final
@dataclass(frozen=True, eq=False)
class Gear(Closure):
    """Hinge rates in fixed proportion: 1 row, sum of ratio_i theta_dot_i = U(t).

    The coordinates keep sum of ratio_i theta_i = offset. A hinge b that mimics a with factor k is
    ``Gear({"b": 1, "a": -k})``; a hinge whose rate is prescribed ``Gear({"a": 1}, motion)``. Rates of ball
    and free hinges belong to no coordinate: with one of them the error is zero.

    Attributes:
        ratios: ratio by name of the dof (see `Model.dof_names`).
        motion: U(t) and dU/dt.
        offset: what the sum of coordinates is.
    """

    ratios: Mapping[str, float]
    motion: Motion | None = None
    offset: float = 0.0
    n_rows = 1

    def __post_init__(self) -> None:
        if not isinstance(self.ratios, Mapping):
            raise ModelError(
                f"Gear: ratios {self.ratios!r}; give a ratio for every hinge: {{'b': 1.0, 'a': -2.0}}"
            )
        ratios = {name: float(values(f"Gear: ratio of {name!r}", r, ())) for name, r in self.ratios.items()}
        if not any(ratios.values()):
            raise ModelError(f"Gear: ratios {ratios}; at least one must not be zero")
        object.__setattr__(self, "ratios", ratios)
        object.__setattr__(self, "offset", float(values("Gear: offset", self.offset, ())))

    def check(self, model: Model) -> None:
        """Raise ModelError unless the model has all the hinges, and each is named once."""
        dofs = [model.dof_index(name) for name in self.ratios]
        if len(set(dofs)) < len(dofs):
            raise ModelError(f"Gear: ratios {self.ratios}: two of the names mean one hinge")

    def velocity(self, state: State) -> Array:
        """Return the sum of the hinge rates times their ratios."""
        dofs = [state.tree.dof_index[name] for name in self.ratios]
        return np.array([np.array(list(self.ratios.values())) @ state.theta_dot[dofs]])

    def _rows_at_rest(self, state: State) -> Rows:
        dofs = [state.tree.dof_index[name] for name in self.ratios]
        ratios = np.array(list(self.ratios.values()))
        rates = hinge_rate_rows(state, dofs)
        weighted = rates.wrench * ratios[rates.row][:, None]
        rows = Rows.of_halves(1, [(np.zeros_like(rates.row), rates.link, rates.point, weighted)])
        return replace(rows, error=self._error(state, np.array(dofs), ratios))

    def _error(self, state: State, dofs: NDArray[np.int64], ratios: Array) -> Array:
        coordinates = state.tree.coordinates
        theta_of = dict(zip(coordinates.plain_dofs.tolist(), coordinates.plain_theta.tolist(), strict=True))
        if not all(int(dof) in theta_of for dof in dofs):
            return np.zeros(1)
        theta = state.theta[[theta_of[int(dof)] for dof in dofs]]
        return np.array([ratios @ theta - self.offset])


def closure_rows(state: State) -> Rows:
    """Return the rows of all closures of the model at a state, in their order."""
    return Rows.concatenate([closure.rows(state) for closure in state.model.closures])


def length_of(model: Model) -> float:
    """Return a length of the mechanism, the farthest that a hinge or a closure is from its link's frame."""
    inner = [link.pose.position for link in model.links if link.parent != WORLD]
    ends = [getattr(closure, end, None) for closure in model.closures for end in ("node_a", "node_b")]
    inner += [node.position for node in ends if isinstance(node, Node) and node.body != WORLD]
    return float(np.linalg.norm(inner, axis=1).max()) if np.any(inner) else 1.0


def _body(node: Node | str) -> str:
    return node.body if isinstance(node, Node) else node
