"""Controllers: forces at the hinges and wrenches on bodies, as functions of state and time.

A controller belongs to a model and is immutable; several in one scene add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array, frozen
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.model.validation import values
from mcpframe.scene.naming import ByName, actuated_dofs, dofs_named, rates_by_name
from mcpframe.scene.references import Reference, checked_reference

if TYPE_CHECKING:
    from mcpframe.multibody.state import State  # its kernels are loaded when a state is made

Wrenches = dict[Node | str, Array]
"""[moment; force] at nodes, world axes."""
Law = Callable[..., ArrayLike]
"""f(state, time) -> tau [N]."""


class Controller:
    """What acts on a model: forces at its hinges and wrenches on its bodies.

    Attributes:
        model: on which it acts.
    """

    model: Model

    def force(self, state: State, time: float) -> Array:
        """Return the forces at the hinges [N]."""
        return np.zeros(self.model.n_dofs)

    def wrenches(self, time: float) -> Wrenches:
        """Return the wrenches on bodies."""
        return {}


@final
class Constant(Controller):
    """Forces at the hinges that never change.

    Args:
        model: on which they act.
        force: a number for all dofs but those of free hinges, a vector [N], or a table by name; N or N m.
    """

    def __init__(self, model: Model, force: ByName) -> None:
        self.model = model
        self.tau = _finite("force", rates_by_name(model, "force", force, actuated_dofs(model)))

    def force(self, state: State, time: float) -> Array:
        """Return the forces at the hinges [N]."""
        return self.tau.copy()


class _Follower(Controller):
    """A controller with gains towards a reference, at the dofs that have a motor.

    Args:
        model: on which it acts.
        kp, kd: gains; a number for all dofs with a motor, a vector [N], or a table by name.
        reference: coordinates to hold [n_theta], or a `Reference`.
        dofs: names, or patterns of them, of the dofs that have a motor; all but those of free hinges unless
            given.
        limit: largest force, as kp; none unless given.
    """

    def __init__(
        self,
        model: Model,
        kp: ByName,
        kd: ByName,
        reference: ArrayLike | Reference,
        dofs: Iterable[str] | None = None,
        limit: ByName = np.inf,
    ) -> None:
        self.model = model
        self.dofs = frozen(actuated_dofs(model) if dofs is None else dofs_named(model, dofs))
        self.kp, self.kd = (
            _finite(name, self._gain(name, value, 0.0)) for name, value in (("kp", kp), ("kd", kd))
        )
        self.limit = self._gain("limit", limit, np.inf)
        self.reference = checked_reference(model, reference)

    def _gain(self, name: str, value: ByName, unnamed: float) -> Array:
        """Return a number per dof [N], zero where there is no motor; to name such a dof is a mistake."""
        given = rates_by_name(self.model, name, value, self.dofs, unnamed)
        if (given < 0.0).any():
            raise ModelError(f"{name} = {given.min():g}: must not be negative")
        if isinstance(value, Mapping):
            for d in set(dofs_named(self.model, value, name)) - set(self.dofs):
                raise ModelError(f"{name}: {self.model.dof_names[d]!r} is not among the dofs with a motor")
        result = np.zeros(self.model.n_dofs)
        result[self.dofs] = given[self.dofs]
        return frozen(result)

    def _wanted(self, state: State, time: float) -> tuple[Array, Array]:
        """Return kp difference(theta, theta_r) + kd (theta_dot_r - theta_dot), and theta_ddot_r."""
        theta_r, theta_dot_r, theta_ddot_r = self.reference(time)
        away = self.model.tree.coordinates.difference(state.theta, theta_r)
        return self.kp * away + self.kd * (theta_dot_r - state.theta_dot), theta_ddot_r

    def _limited(self, tau: Array) -> Array:
        """Return forces within the limits, which are zero where there is no motor."""
        return np.asarray(np.clip(tau, -self.limit, self.limit))


@final
class PD(_Follower):
    """Springs and dampers towards a reference, at every dof for itself.

    tau = clip(kp difference(theta, theta_r) + kd (theta_dot_r - theta_dot), -limit, limit)

    at the dofs that have a motor.
    """

    def force(self, state: State, time: float) -> Array:
        """Return the forces at the hinges [N]."""
        return self._limited(self._wanted(state, time)[0])


@final
class ComputedTorque(_Follower):
    """Forces that make the model, if nothing touches it, follow a reference as a linear system would.

        a   = theta_ddot_r + kd (theta_dot_r - theta_dot) + kp difference(theta, theta_r)
        tau = Mass a + C - passive force

    at the dofs that have a motor; what the others would need is left out, and so are contacts and loops.
    kp (1/s²) is the square of the frequency with which an error dies out; kd = 2 sqrt(kp) (1/s) is
    critical damping.
    """

    def force(self, state: State, time: float) -> Array:
        """Return the forces at the hinges [N]."""
        correction, theta_ddot_r = self._wanted(state, time)
        tau = state.inverse_dynamics(theta_ddot_r + correction) - state.passive_force()
        return self._limited(tau)


@final
class Push(Controller):
    """A constant wrench on a body from a time on until another.

    Args:
        model: on which it acts.
        body: name of a link or frame.
        force: N, world axes [3].
        moment: N m, world axes [3].
        point: where the force acts, in the frame of the body [3], m.
        start, stop: s; it acts while start <= time < stop.
    """

    def __init__(
        self,
        model: Model,
        body: str,
        force: ArrayLike = (0.0, 0.0, 0.0),
        moment: ArrayLike = (0.0, 0.0, 0.0),
        point: ArrayLike = (0.0, 0.0, 0.0),
        start: float = -np.inf,
        stop: float = np.inf,
    ) -> None:
        self.model = model
        self.node = Node(body, values("push: point", point, (3,)))
        if model.resolve(self.node)[0] < 0:
            raise ModelError(f"push: body {body!r} does not move; push a link")
        parts = values("push: moment", moment, (3,)), values("push: force", force, (3,))
        self.wrench = frozen(np.concatenate(parts))
        self.start, self.stop = (
            float(values(f"push: {name}", value, (), finite=False))
            for name, value in (("start", start), ("stop", stop))
        )
        if not self.start < self.stop:
            raise ModelError(f"push: stop = {self.stop:g} s must come after start = {self.start:g} s")

    def wrenches(self, time: float) -> Wrenches:
        """Return the wrench while it acts."""
        return {self.node: self.wrench} if self.start <= time < self.stop else {}


@final
class Function(Controller):
    """Forces at the hinges by a Python function.

    Args:
        model: on which it acts.
        function: f(state, time) -> tau [N]; it must not change the state.
        name: for messages; that of the function unless given.
    """

    def __init__(self, model: Model, function: Law, name: str | None = None) -> None:
        if not callable(function):
            raise ModelError(f"controller: {function!r} is not a function of state and time")
        self.model, self.function = model, function
        self._nothing = np.zeros(model.n_dofs)
        self.name = getattr(function, "__qualname__", repr(function)) if name is None else name

    def force(self, state: State, time: float) -> Array:
        """Return what the function returns [N], or raise ModelError where that is not one force per dof."""
        tau = self.function(state, time)
        if isinstance(tau, np.ndarray) and self._are_forces(tau):
            return tau
        return values(f"controller {self.name!r} at {time:g} s: tau", tau, self._nothing.shape)

    def _are_forces(self, tau: NDArray[Any]) -> bool:
        """Return whether these are finite numbers, one per dof; asked every step: no copy, no closer look."""
        nothing = self._nothing
        return tau.dtype.char == "d" and tau.shape == nothing.shape and bool(tau.dot(nothing) == 0.0)


@final
class Together(Controller):
    """Several controllers of one model, added up.

    Args:
        model: on which they act.
        controllers: any number of them.
    """

    def __init__(self, model: Model, controllers: Sequence[Controller]) -> None:
        self.model, self.controllers = model, tuple(controllers)

    @property
    def pushes(self) -> bool:
        """Whether any of them can have wrenches on bodies."""
        return any(type(controller).wrenches is not Controller.wrenches for controller in self.controllers)

    def force(self, state: State, time: float) -> Array:
        """Return the sum of the forces [N]."""
        if len(self.controllers) == 1:
            return self.controllers[0].force(state, time)
        tau = np.zeros(self.model.n_dofs)
        for controller in self.controllers:
            tau += controller.force(state, time)
        return tau

    def wrenches(self, time: float) -> Wrenches:
        """Return all wrenches; those on one node are added."""
        found: Wrenches = {}
        for controller in self.controllers:
            for node, wrench in controller.wrenches(time).items():
                found[node] = found[node] + wrench if node in found else wrench
        return found


def _finite(name: str, array: Array) -> Array:
    if not np.isfinite(array).all():
        raise ModelError(f"{name}: every number must be finite")
    return array
