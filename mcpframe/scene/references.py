"""References: where controllers want a model to be, at any time.

A reference is a function of time that returns theta, theta_dot and theta_ddot. `Moves` goes from rest to
rest along u = difference(theta_0, theta_1), the shortest way also for ball and free hinges, by the quintic
that begins and ends without speed and acceleration:

    theta(s) = integrate(theta_0, u, s),   s = 10 x³ - 15 x⁴ + 6 x⁵,   x = (t - start) / duration
    theta_dot = u ds/dt,                   theta_ddot = u d²s/dt²
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mcpframe.arrays import Array, frozen
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.validation import values

Reference = Callable[[float], tuple[Array, Array, Array]]
"""Time to (theta [n_theta], theta_dot [N], theta_ddot [N])."""


@dataclass(frozen=True, eq=False)
class Move:
    """A move from wherever the one before ended.

    Attributes:
        theta: where it ends [n_theta].
        start: when it begins, s.
        duration: how long it takes, s.
    """

    theta: Array
    start: float
    duration: float

    def __post_init__(self) -> None:
        for name in ("start", "duration"):
            object.__setattr__(self, name, float(values(f"move: {name}", getattr(self, name), ())))
        if self.duration <= 0.0:
            raise ModelError(f"move: duration = {self.duration:g}: must be positive, in seconds")


class Moves:
    """A reference that rests at theta_0 and then makes moves, one after another.

    Args:
        model: whose coordinates.
        theta_0: where it is before the first move [n_theta].
        moves: in the order of their times; none begins before the one before has ended.
    """

    def __init__(self, model: Model, theta_0: ArrayLike, moves: Sequence[Move] = ()) -> None:
        self.model, self.moves = model, tuple(moves)
        self.theta_0 = frozen(model.check_theta(theta_0))
        self._starts = [self.theta_0, *(frozen(model.check_theta(move.theta)) for move in self.moves)]
        ends = [-np.inf, *(move.start + move.duration for move in self.moves)]
        for k, move in enumerate(self.moves):
            if move.start < ends[k]:
                raise ModelError(
                    f"move {k}: start = {move.start:g} s, but the move before it ends at {ends[k]:g} s"
                )

    def __call__(self, time: float) -> tuple[Array, Array, Array]:
        """Return theta, theta_dot and theta_ddot at a time."""
        begun = sum(move.start <= time for move in self.moves)
        if not begun or time >= self.moves[begun - 1].start + self.moves[begun - 1].duration:
            at_rest = np.zeros(self.model.n_dofs)
            return self._starts[begun], at_rest, at_rest
        return self._under_way(begun - 1, time)

    @property
    def places(self) -> list[Array]:
        """Where it rests before, between and after its moves."""
        return list(self._starts)

    def _under_way(self, k: int, time: float) -> tuple[Array, Array, Array]:
        move, coordinates = self.moves[k], self.model.tree.coordinates
        x, T = (time - move.start) / move.duration, move.duration
        u = coordinates.difference(self._starts[k], self._starts[k + 1])
        s = x**3 * (10.0 + x * (-15.0 + 6.0 * x))
        s_dot = 30.0 * x**2 * (1.0 - x) ** 2 / T
        s_ddot = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / T**2
        return coordinates.integrate(self._starts[k], u, s), s_dot * u, s_ddot * u


def checked_reference(model: Model, reference: ArrayLike | Reference) -> Reference:
    """Return a reference: coordinates to hold become one, and what a function returns is checked."""
    if isinstance(reference, Moves):
        return reference
    if not callable(reference):
        return Moves(model, reference)

    def checked(time: float) -> tuple[Array, Array, Array]:
        found = reference(time)
        if not (isinstance(found, (tuple, list)) and len(found) == 3):
            raise ModelError(f"reference at {time:g} s: it must return theta, theta_dot and theta_ddot")
        theta_dot, theta_ddot = (
            values(f"reference at {time:g} s", rate, (model.n_dofs,)) for rate in found[1:]
        )
        return model.check_theta(found[0]), theta_dot, theta_ddot

    return checked
