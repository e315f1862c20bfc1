"""Arithmetic of coordinates: theta of all hinges together, with its quaternions.

Rates of ball and free hinges are in link axes, so a constant rate for a time dt turns and moves the link by
the exponential map on the right: R+ = R exp(omega dt), x+ = x + R V(omega dt) v dt, with
V(w) = I + (1 - cos a)/a² skew(w) + (a - sin a)/a³ skew(w)², a = |w|, the left Jacobian of rotations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array, frozen
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.validation import values
from mcpframe.spatial.transforms import (
    quaternion_from_rotation_vector,
    quaternion_product,
    rotation_from_quaternion,
    rotation_vector_from_quaternion,
    skew,
)

QUATERNION_TOLERANCE = 1e-6
"""Distance from length one within which a quaternion is rounding and is normalised; beyond, a mistake."""
SMALL_ANGLE = 1e-2
"""Radians; below, V(w) is taken from its series, whose next term is under 1e-16."""

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Where the coordinates and rates of every hinge lie, in the order of the links.

    Attributes:
        hinges: hinge of every link.
        theta_start, dof_start: first coordinate and first rate of every link [n].
        n_theta, n_dofs: lengths of theta and theta_dot.
        plain_theta, plain_dofs: coordinates that are numbers, not quaternions or free positions, and their
            rates.
        balls, frees: links with such hinges.
        quaternions: coordinates of every quaternion [k, 4].
    """

    hinges: tuple[Hinge, ...]
    theta_start: Indices
    dof_start: Indices
    n_theta: int
    n_dofs: int
    plain_theta: Indices
    plain_dofs: Indices
    balls: tuple[int, ...]
    frees: tuple[int, ...]
    quaternions: Indices

    @staticmethod
    def of(hinges: Sequence[Hinge]) -> Coordinates:
        """Lay out the coordinates of hinges one after another."""
        theta_ends = np.cumsum([0] + [hinge.n_theta for hinge in hinges])
        dof_ends = np.cumsum([0] + [hinge.n_dof for hinge in hinges])
        curved = {k for k, hinge in enumerate(hinges) if hinge.quaternion_start is not None}
        plain = [k for k in range(len(hinges)) if k not in curved]
        return Coordinates(
            hinges=tuple(hinges),
            theta_start=frozen(theta_ends[:-1].astype(np.int64)),
            dof_start=frozen(dof_ends[:-1].astype(np.int64)),
            n_theta=int(theta_ends[-1]),
            n_dofs=int(dof_ends[-1]),
            plain_theta=_ranges([(theta_ends[k], theta_ends[k + 1]) for k in plain]),
            plain_dofs=_ranges([(dof_ends[k], dof_ends[k + 1]) for k in plain]),
            balls=tuple(k for k in sorted(curved) if hinges[k].kind == "ball"),
            frees=tuple(k for k in sorted(curved) if hinges[k].kind == "free"),
            quaternions=_ranges([(theta_ends[k + 1] - 4, theta_ends[k + 1]) for k in sorted(curved)]).reshape(
                -1, 4
            ),
        )

    def neutral(self) -> Array:
        """Return the coordinates at which every link's frame is its hinge frame."""
        return np.concatenate([np.zeros(0), *(hinge.neutral() for hinge in self.hinges)])

    def check_theta(self, theta: ArrayLike) -> Array:
        """Return theta as an array of its own, quaternions normalised, or raise ModelError."""
        checked = values("theta", theta, (self.n_theta,)).copy()
        if self.quaternions.size:
            lengths = np.linalg.norm(checked[self.quaternions], axis=1)
            if np.abs(lengths - 1.0).max() > QUATERNION_TOLERANCE:
                worst = self.quaternions[int(np.abs(lengths - 1.0).argmax())]
                raise ModelError(
                    f"theta: entries {worst[0]} to {worst[3]} are a quaternion x, y, z, w of length "
                    f"{np.linalg.norm(checked[worst]):g}; it must be 1 within {QUATERNION_TOLERANCE:g}"
                )
            checked[self.quaternions] /= lengths[:, None]
        return checked

    def check_rates(self, name: str, rates: ArrayLike) -> Array:
        """Return rates as an array of its own, or raise ModelError naming them."""
        return values(name, rates, (self.n_dofs,)).copy()

    def integrate(self, theta: Array, theta_dot: Array, dt: float) -> Array:
        """Return where constant rates lead in a time dt; exact also for ball and free hinges."""
        moved = theta.copy()
        moved[self.plain_theta] += dt * theta_dot[self.plain_dofs]
        for k in self.balls:
            i, d = self.theta_start[k], self.dof_start[k]
            moved[i : i + 4] = turned(theta[i : i + 4], dt * theta_dot[d : d + 3])
        for k in self.frees:
            i, d = self.theta_start[k], self.dof_start[k]
            turn, shift = dt * theta_dot[d + 3 : d + 6], dt * theta_dot[d : d + 3]
            rotation = rotation_from_quaternion(theta[i + 3 : i + 7])
            moved[i : i + 3] += rotation @ (left_jacobian(turn) @ shift)
            moved[i + 3 : i + 7] = turned(theta[i + 3 : i + 7], turn)
        return moved

    def difference(self, theta_0: Array, theta_1: Array) -> Array:
        """Return the constant rates that lead from theta_0 to theta_1 in unit time, turning at most π."""
        tangent = np.zeros(self.n_dofs)
        tangent[self.plain_dofs] = theta_1[self.plain_theta] - theta_0[self.plain_theta]
        for k in self.balls:
            i, d = self.theta_start[k], self.dof_start[k]
            tangent[d : d + 3] = turn_between(theta_0[i : i + 4], theta_1[i : i + 4])
        for k in self.frees:
            i, d = self.theta_start[k], self.dof_start[k]
            turn = turn_between(theta_0[i + 3 : i + 7], theta_1[i + 3 : i + 7])
            shift = rotation_from_quaternion(theta_0[i + 3 : i + 7]).T @ (theta_1 - theta_0)[i : i + 3]
            tangent[d : d + 3] = np.linalg.solve(left_jacobian(turn), shift)
            tangent[d + 3 : d + 6] = turn
        return tangent


def turned(quaternion: Array, turn: Array) -> Array:
    """Return the quaternion turned further by a rotation vector in its own axes, at length one."""
    product = quaternion_product(quaternion, quaternion_from_rotation_vector(turn))
    unit: Array = product / np.linalg.norm(product)
    return unit


def turn_between(start: Array, end: Array) -> Array:
    """Return the rotation vector, in the axes of `start`, that turns one quaternion into another."""
    back = start * [-1.0, -1.0, -1.0, 1.0]
    return rotation_vector_from_quaternion(quaternion_product(back, end))


def left_jacobian(turn: Array) -> Array:
    """Return V(w) of the module's docstring."""
    angle, cross = float(np.linalg.norm(turn)), skew(turn)
    if angle < SMALL_ANGLE:
        first = 0.5 - angle**2 / 24.0 + angle**4 / 720.0
        second = 1.0 / 6.0 - angle**2 / 120.0 + angle**4 / 5040.0
    else:
        first = (1.0 - np.cos(angle)) / angle**2
        second = (angle - np.sin(angle)) / angle**3
    jacobian: Array = np.eye(3) + first * cross + second * cross @ cross
    return jacobian


def _ranges(pairs: list[tuple[int, int]]) -> Indices:
    parts = [np.arange(start, end, dtype=np.int64) for start, end in pairs]
    return frozen(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))
