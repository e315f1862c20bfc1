"""Motions of the whole-arm grasp and the torques that make them: computed torque along a path [S00].

The object moves on a line in (x, y, angle) by a quintic in time; all links keep touching it, which gives the
motion of the fingers. The object's equation leaves one of the four sliding contact forces open, which is
chosen as the largest sum of f_0 ln λ - λ: smooth, and positive whenever that is possible. Torques follow from
the equation of the fingers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mcpframe.arrays import Array, frozen
from mcpframe.contact.acceleration_step import AccelerationStep, curved_bias
from mcpframe.contact.contact import Contact, ContactSet
from mcpframe.contact.contact_motion import contact_velocities
from mcpframe.contact.contact_rows import contact_rows
from mcpframe.contact.law import FORCE_1, FORCE_N
from mcpframe.multibody.model.model import Model
from mcpframe.systems.grasp import grasp_theta, whole_arm_grasp

if TYPE_CHECKING:
    from mcpframe.contact.detection.detector import Detector
    from mcpframe.multibody.state import State

OBJECT, FINGERS = slice(0, 3), slice(3, 7)
NEAR = 1e-9
"""Gap within which links touch, m: they do so to rounding."""
REMEMBERED = 8192
"""Times whose torques are kept: runs of one motion ask for the same."""
INSIDE = 1e-4
"""Time before the start and after the end of a motion at which directions of slip are taken, s."""


@dataclass(frozen=True)
class GraspMotion:
    """A motion of the object that all four links follow.

    Attributes:
        start, end: x, y (m) and angle (rad) of the object.
        mu: friction of the four links, in their order.
        duration: s.
        grip: f_0, N.
    """

    start: Sequence[float]
    end: Sequence[float]
    mu: Sequence[float]
    duration: float = 1.0
    grip: float = 1.0
    model: Model = field(default_factory=whole_arm_grasp)

    def path(self, time: float) -> tuple[Array, Array, Array]:
        """Return place, velocity and acceleration of the object [3]."""
        T, u = self.duration, min(max(time / self.duration, 0.0), 1.0)
        way = np.subtract(self.end, self.start)
        s = 10 * u**3 - 15 * u**4 + 6 * u**5
        s_dot, s_ddot = (30 * u**2 - 60 * u**3 + 30 * u**4) / T, (60 * u - 180 * u**2 + 120 * u**3) / T**2
        return np.asarray(self.start) + s * way, s_dot * way, s_ddot * way

    @cached_property
    def detector(self) -> Detector:
        """Finds the contacts of the four links, in their order."""
        from mcpframe.contact.detection.detector import Detector  # brings kernels

        return Detector(self.model, ignore=["palm"])

    def state(self, time: float) -> State:
        """Return the state at a time: all links touch, and keep doing so."""
        place, velocity, _ = self.path(time)
        state = self.model.state(grasp_theta(*place))
        rows = self._rows(state)[0]
        rates = np.concatenate([velocity, np.linalg.solve(rows[:, FINGERS], -rows[:, OBJECT] @ velocity)])
        return self.model.state(state.theta, rates, time)

    def _contacts(self, state: State) -> ContactSet:
        return self.detector.contacts(state, NEAR)

    def _rows(self, state: State) -> tuple[Array, Array]:
        """Return normal rows [4, 7] and tangential ones, along t_1 and t_2 of each contact [4, 2, 7]."""
        contacts = self._contacts(state)
        used = [np.arange(FORCE_N, FORCE_N + 3)] * len(contacts)
        G = contact_rows(state, contacts, used).jacobian(state).reshape(-1, 3, state.model.n_dofs)
        return G[:, 0], G[:, 1:]

    def acceleration(self, state: State, time: float) -> Array:
        """Return θ̈ that keeps all links in touch [7]."""
        acceleration = self.path(time)[2]
        rows, contacts = self._rows(state)[0], self._contacts(state)
        bias = curved_bias(state, self.detector, contacts)[:, 0]
        fingers = np.linalg.solve(rows[:, FINGERS], -rows[:, OBJECT] @ acceleration - bias)
        return np.concatenate([acceleration, fingers])

    def slip(self, time: float) -> Array:
        """Return directions in which links slip on the object [4, 3]; at rest, those just after."""
        state = self.state(min(max(time, INSIDE), self.duration - INSIDE))
        contacts = self._contacts(state)
        along = contact_velocities(state, contacts)[:, FORCE_1:]
        slip: Array = np.einsum("uki,uk->ui", contacts.axes[:, 1:], along)
        unit: Array = slip / np.linalg.norm(slip, axis=1, keepdims=True)
        return unit

    def sliding_rows(self, state: State, slip: Array) -> Array:
        """Return the directions of the sliding contact forces on θ̇, G_n - mu e G_t [4, 7]."""
        normal, tangential = self._rows(state)
        e = np.einsum("uki,ui->uk", self._contacts(state).axes[:, 1:], slip)
        friction = np.einsum("uk,ukd->ud", e, tangential)
        rows: Array = normal - np.asarray(self.mu)[:, None] * friction
        return rows

    def forces(self, time: float) -> Array:
        """Return the normal forces that move the object [4], N."""
        state = self.state(time)
        rows = self.sliding_rows(state, self.slip(time))
        return self._gripped(state, rows, time)

    def _gripped(self, state: State, rows: Array, time: float) -> Array:
        momentum = (state.mass_matrix() @ self.acceleration(state, time) + state.bias_force())[OBJECT]
        return gripping_forces(rows[:, OBJECT].T, momentum, self.grip)

    def step(self, time: float) -> AccelerationStep:
        """Return accelerations and forces under the torques of a time as a step."""
        state = self.state(time)
        found = self._contacts(state)
        contacts = [
            Contact(one.body_a, one.body_b, one.point, one.normal, mu)
            for one, mu in zip(found, self.mu, strict=True)
        ]
        bias = curved_bias(state, self.detector, found)
        return AccelerationStep(state, contacts, self.torques(time), slip=self.slip(time), bias=bias)

    def torques(self, time: float) -> Array:
        """Return hinge forces [7], zero on the object, N m."""
        state = self.state(time)
        rows = self.sliding_rows(state, self.slip(time))
        forces = self._gripped(state, rows, time)
        needed = state.mass_matrix() @ self.acceleration(state, time) + state.bias_force() - rows.T @ forces
        needed[OBJECT] = 0.0
        return needed


@lru_cache
def _motion(*parts: Any) -> GraspMotion:
    return GraspMotion(*parts)


@lru_cache(REMEMBERED)
def _torques(time: float, *parts: Any) -> Array:
    return frozen(_motion(*parts).torques(time))


def grasp_torques(
    state: State,
    time: float,
    *,
    start: Sequence[float],
    end: Sequence[float],
    mu: Sequence[float],
    duration: float = 1.0,
    grip: float = 1.0,
) -> Array:
    """Return the hinge forces of a motion [7] at a time, whatever the state: a controller for scenes.

    Args:
        state: is not looked at.
        time: s.
        start, end, mu, duration, grip: as of `GraspMotion`.
    """
    return _torques(min(time, duration), tuple(start), tuple(end), tuple(mu), duration, grip)


def gripping_forces(G: Array, load: Array, grip: float) -> Array:
    """Return λ with G λ = load, G [3, 4], and the largest Σ (grip ln λ_i - λ_i).

    λ = λ_0 + η ν along the null vector ν; the derivative falls with η. Where no positive λ exists, the one
    whose least entry is largest.
    """
    from scipy.optimize import brentq  # takes a third of a second to import

    null = np.linalg.svd(G)[2][-1]
    least = np.linalg.lstsq(G, load, rcond=None)[0]
    bounds = -least / null
    low, high = bounds[null > 0.0].max(initial=-np.inf), bounds[null < 0.0].min(initial=np.inf)
    if low >= high:
        pairs = [(i, j) for i in range(4) for j in range(i) if null[i] != null[j]]
        crossings = [(least[j] - least[i]) / (null[i] - null[j]) for i, j in pairs]
        return np.asarray(least + max(crossings, key=lambda eta: (least + eta * null).min()) * null)

    def derivative(eta: float) -> float:
        return float((grip * null / (least + eta * null) - null).sum())

    size = float(np.abs(least).max() + grip)
    first = low + 1e-12 * size if np.isfinite(low) else _further(derivative, high - size, -1.0)
    last = high - 1e-12 * size if np.isfinite(high) else _further(derivative, low + size, 1.0)
    return np.asarray(least + brentq(derivative, first, last, xtol=1e-15, rtol=1e-15) * null)


def _further(derivative: Callable[[float], float], eta: float, way: float) -> float:
    """Return a place beyond the root, doubling the way."""
    step = 1.0
    while way * derivative(eta) > 0.0:
        eta, step = eta + way * step, 2.0 * step
    return eta
