"""Equations of motion on paper, integrated far more finely than any simulation: the side of truth.

Nothing here uses the project's dynamics. Chains hang in the x-z plane; their angles are absolute, from
hanging down, positive towards -x, as a pin about +y turns a link. A point at the distance s along link k is

    p = sum_(i < k) l_i e(a_i) + s e(a_k),    e(a) = (-sin a, -cos a)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from mcpframe.arrays import Array

G = 9.81
TIGHT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
"""Errors of some 1e-11 over seconds of the motions here."""


def integrated(rates: Callable[[float, Array], Array], start: Sequence[float] | Array, end: float) -> Array:
    """Return y(end) of dy/dt = rates(t, y), y(0) = start."""
    y: Array = solve_ivp(rates, (0.0, end), np.asarray(start, dtype=float), **TIGHT).y[:, -1]
    return y


def integrated_until(
    rates: Callable[[float, Array], Array], start: Sequence[float] | Array, event: Callable[[Array], float]
) -> tuple[float, Array]:
    """Return when event(y) first passes through zero, and y there."""

    def passes(_: float, y: Array) -> float:
        return event(y)

    passes.terminal = True  # type: ignore[attr-defined]
    solved = solve_ivp(rates, (0.0, 1e3), np.asarray(start, dtype=float), events=passes, **TIGHT)
    return float(solved.t_events[0][0]), solved.y_events[0][0]


@dataclass(frozen=True)
class Chain:
    """A planar chain of links: lengths, masses, centres of mass along them, inertias about these."""

    length: Array
    mass: Array
    centre: Array
    inertia: Array

    @staticmethod
    def of_rods(lengths: Sequence[float], masses: Sequence[float]) -> Chain:
        """Thin uniform rods."""
        length, mass = np.array(lengths, dtype=float), np.array(masses, dtype=float)
        return Chain(length, mass, length / 2, mass * length**2 / 12)

    @property
    def levers(self) -> Array:
        """Distance along link i on the way to the centre of mass of link k [k, i]."""
        n = len(self.length)
        return np.tril(np.broadcast_to(self.length, (n, n)), -1) + np.diag(self.centre)

    def mass_matrix(self, a: Array) -> Array:
        """Return M_ij = cos(a_i - a_j) sum_k m_k A_ki A_kj + I_i."""
        return np.cos(a[:, None] - a) * self._coupling() + np.diag(self.inertia)

    def bias(self, a: Array, rate: Array) -> Array:
        """Return -M a'': sum_j sin(a_i - a_j) (...)_ij rate_j² + g sin a_i sum_k m_k A_ki."""
        turning: Array = (np.sin(a[:, None] - a) * self._coupling()) @ rate**2
        return turning + G * np.sin(a) * (self.mass @ self.levers)

    def energy(self, a: Array, rate: Array) -> float:
        """Return kinetic and potential energy, the latter zero at the height of the first hinge."""
        height = -np.cos(a) @ (self.mass @ self.levers)
        return float(rate @ self.mass_matrix(a) @ rate / 2 + G * height)

    def tip(self, a: Array) -> Array:
        """Return x and z of the end."""
        return np.array([-np.sin(a) @ self.length, -np.cos(a) @ self.length])

    def tip_jacobian(self, a: Array) -> Array:
        """Return d tip / d a [2, n]."""
        return np.array([-np.cos(a) * self.length, np.sin(a) * self.length])

    def tip_bias(self, a: Array, rate: Array) -> Array:
        """Return the acceleration of the end at a'' = 0."""
        return np.array([np.sin(a) @ (self.length * rate**2), np.cos(a) @ (self.length * rate**2)])

    def free(self, torque: Callable[[Array, Array], Array] | None = None) -> Callable[[float, Array], Array]:
        """Return the rates of (a, a') without contact; torque(a, a') acts on the absolute angles."""

        def rates(_: float, y: Array) -> Array:
            a, rate = np.split(y, 2)
            force = -self.bias(a, rate) + (0.0 if torque is None else torque(a, rate))
            return np.concatenate([rate, np.linalg.solve(self.mass_matrix(a), force)])

        return rates

    def held(
        self, rows: Callable[[Array], Array], directions: Callable[[Array], Array] | None = None
    ) -> Callable[[float, Array], Array]:
        """Return the rates of (a, a') with the end held along rows(a) [m, 2] (constant ones).

        Forces act along directions(a) [n, m] on the angles: along the rows themselves without friction.
        """

        def rates(_: float, y: Array) -> Array:
            a, rate = np.split(y, 2)
            acceleration, _forces = self.push(a, rate, rows(a), None if directions is None else directions(a))
            return np.concatenate([rate, acceleration])

        return rates

    def push(
        self, a: Array, rate: Array, rows: Array, directions: Array | None = None
    ) -> tuple[Array, Array]:
        """Return a'' and the forces that keep rows @ (acceleration of the end) at zero."""
        J = rows @ self.tip_jacobian(a)
        D = J.T if directions is None else directions
        m = len(rows)
        K = np.block([[self.mass_matrix(a), -D], [J, np.zeros((m, m))]])
        answer = np.linalg.solve(K, np.concatenate([-self.bias(a, rate), -rows @ self.tip_bias(a, rate)]))
        return answer[:-m], answer[-m:]

    def _coupling(self) -> Array:
        A = self.levers
        return (A.T * self.mass) @ A


@dataclass(frozen=True)
class Rods:
    """Thin rods in space, end to end: points p_0, p_1, ... with a constant mass matrix.

    A rod of mass m between two points has the kinetic energy m/6 (v_i² + v_i . v_j + v_j²), and half of its
    weight at each. Its length holds, d . (v_j - v_i) = 0 with d = p_j - p_i, and so may p_0 or its height.

    Attributes:
        mass: of every rod.
        held: rows of p_0 that stand still: none of them, (2,) for its height, or (0, 1, 2).
    """

    mass: Sequence[float]
    held: Sequence[int] = ()

    def mass_matrix(self) -> Array:
        """Return that of the points [n, n], the same for x, y and z."""
        M = np.zeros((len(self.mass) + 1,) * 2)
        for k, m in enumerate(self.mass):
            M[k : k + 2, k : k + 2] += m / 6 * np.array([[2.0, 1.0], [1.0, 2.0]])
        return M

    def rates(self, _: float, y: Array) -> Array:
        """Return the rates of (p, v), flat [6 n]."""
        n = len(self.mass) + 1
        p, v = y.reshape(2, n, 3)
        d, w = np.diff(p, axis=0), np.diff(v, axis=0)
        J = np.zeros((n - 1 + len(self.held), n, 3))
        for k in range(n - 1):
            J[k, k], J[k, k + 1] = -d[k], d[k]
        for row, axis in enumerate(self.held):
            J[n - 1 + row, 0, axis] = 1.0
        J, M = J.reshape(-1, 3 * n), np.kron(self.mass_matrix(), np.eye(3))
        weight = np.kron(self.mass_matrix().sum(axis=1), [0.0, 0.0, -G])
        bias = np.concatenate([(w**2).sum(axis=1), np.zeros(len(self.held))])
        K = np.block([[M, -J.T], [J, np.zeros((len(J),) * 2)]])
        return np.concatenate([v.ravel(), np.linalg.solve(K, np.concatenate([weight, -bias]))[: 3 * n]])


def turning(J: Array, moment: Callable[[Array], Array] | None = None) -> Callable[[float, Array], Array]:
    """Return the rates of (quaternion x, y, z, w; angular velocity in body axes) by Euler's equations.

    Args:
        J: inertia about the point that the body turns about, body axes.
        moment: rotation [3, 3] to the moment about it, body axes.
    """
    inverse = np.linalg.inv(J)

    def rates(_: float, y: Array) -> Array:
        (x, y_, z, w), (a, b, c) = y[:4], y[4:]
        spin = 0.5 * np.array(
            [w * a + y_ * c - z * b, w * b + z * a - x * c, w * c + x * b - y_ * a, -x * a - y_ * b - z * c]
        )
        push = 0.0 if moment is None else moment(Rotation.from_quat(y[:4]).as_matrix())
        return np.concatenate([spin, inverse @ (push - np.cross(y[4:], J @ y[4:]))])

    return rates


def attitude(y: Array) -> Array:
    """Return the rotation, flat [9], of a state of `turning`."""
    return np.asarray(Rotation.from_quat(y[:4]).as_matrix(), dtype=float).ravel()


def with_reversals(
    rates: Callable[[float], Callable[[float, Array], Array]],
    start: Sequence[float] | Array,
    end: float,
    slip: Callable[[Array], float],
) -> Array:
    """Return y(end) where friction follows the slip: rates(sense) holds while slip(y) has that sign."""
    y, time, sense = np.asarray(start, dtype=float), 0.0, float(np.sign(slip(np.asarray(start))))
    while time < end:

        def stops(_: float, y: Array) -> float:
            return slip(y)

        stops.terminal, stops.direction = True, -sense  # type: ignore[attr-defined]
        solved = solve_ivp(rates(sense), (time, end), y, events=stops, **TIGHT)
        time, y, sense = float(solved.t[-1]), solved.y[:, -1], -sense
    return y
