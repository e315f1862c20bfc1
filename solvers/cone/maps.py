"""Equations whose zeros are the solutions of frictional contact, with their derivatives, contact by contact.

All take r and u of every contact as rows (normal, tangents) [n_c, d]. Derivatives come as blocks
A = dF/dr and B = dF/du [n_c, d, d], so that the Jacobian of r -> F(r, W r + q) is A + B W.

* `natural`: r - P_K(r - u_hat), u_hat = u + mu |u_t| e_n. Piecewise smooth; exact at the end.
* `fischer`: smoothed Fischer-Burmeister on the second-order cone [Fukushima, Luo, Tseng 2002],

      Phi_eps = x + y - (x^2 + y^2 + 2 eps^2 e)^(1/2),  x = (mu r_n, r_t),  y = (u_n + mu |u_t|_eps, mu u_t),

  powers being those of the cone's Jordan algebra and |u_t|_eps = (|u_t|^2 + eps^2)^(1/2). Zero at eps > 0
  means x o y = eps^2 e: the central path of the friction problem; smooth, and exact as eps -> 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcpframe.problem.friction import project_cone

Array = NDArray[np.float64]

MU_FLOOR = 1e-8
"""Friction coefficient below which x = (mu r_n, r_t) would lose sight of r_n; the cone's axis is kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Linearised:
    """A map at a point.

    Attributes:
        F: its value [n_c, d].
        A, B: dF/dr and dF/du [n_c, d, d].
        slope: dF / d log(eps) of a smoothed map [n_c, d], or None.
    """

    F: Array
    A: Array
    B: Array
    slope: Array | None = None


def natural_value(r: Array, u: Array, mu: Array) -> Array:
    """Return r - P_K(r - u_hat)."""
    return r - project_cone(r - _lifted(u, mu, 0.0), mu)


def natural(r: Array, u: Array, mu: Array) -> Linearised:
    """Return the natural map with A = I - P, B = P (I + mu e_n s'); P = P_K'(r - u_hat), s = u_t / |u_t|."""
    d = r.shape[1]
    x = r - _lifted(u, mu, 0.0)
    P = _projection_derivative(x, mu)
    return Linearised(r - project_cone(x, mu), np.eye(d) - P, P @ _lift_derivative(u, mu, 0.0))


def fischer_value(r: Array, u: Array, mu: Array, eps: Array) -> Array:
    """Return Phi_eps; eps is a number per contact [n_c]."""
    x, y = _cone_pair(r, u, mu, eps)
    return x + y - _root(x, y, eps).value()


def fischer(r: Array, u: Array, mu: Array, eps: Array) -> Linearised:
    """Return Phi_eps with derivatives: d(root) = L^-1 (L_x dx + L_y dy + 2 eps d(eps) e), L = L_root."""
    x, y = _cone_pair(r, u, mu, eps)
    root = _root(x, y, eps)
    L_inverse = root.inverse_arrow()
    identity = np.eye(r.shape[1])
    axis = np.maximum(mu, MU_FLOOR)
    by_x = identity - L_inverse @ _arrow(x)
    by_y = identity - L_inverse @ _arrow(y)
    A = by_x.copy()
    A[:, :, 0] *= axis[:, None]
    lift = _lift_derivative(u, mu, eps)
    lift[:, 1:] *= axis[:, None, None]
    u_t = np.sqrt(np.sum(u[:, 1:] ** 2, axis=1) + eps**2)
    slope = by_y[:, :, 0] * (mu * eps**2 / u_t)[:, None] - 2.0 * (eps**2)[:, None] * L_inverse[:, :, 0]
    return Linearised(x + y - root.value(), A, by_y @ lift, slope)


@dataclass(frozen=True, slots=True, eq=False)
class _Root:
    """Square root of x^2 + y^2 + 2 eps^2 e by its spectrum: low and high on (1, -c)/2 and (1, c)/2."""

    low: Array
    high: Array
    c: Array

    def value(self) -> Array:
        return np.column_stack(
            [0.5 * (self.low + self.high), (0.5 * (self.high - self.low))[:, None] * self.c]
        )

    def inverse_arrow(self) -> Array:
        """Return the inverse of the arrow matrix of the root [n_c, d, d]."""
        c, n_c, d = self.c, self.c.shape[0], self.c.shape[1] + 1
        a, b = 0.5 / self.high, 0.5 / self.low
        outer = c[:, :, None] * c[:, None, :]
        L = np.empty((n_c, d, d))
        L[:, 0, 0] = a + b
        L[:, 0, 1:] = L[:, 1:, 0] = (a - b)[:, None] * c
        across = 2.0 / (self.low + self.high)
        L[:, 1:, 1:] = (a + b)[:, None, None] * outer + across[:, None, None] * (np.eye(d - 1) - outer)
        return L


def _root(x: Array, y: Array, eps: Array) -> _Root:
    """Return the spectrum of (x^2 + y^2 + 2 eps^2 e)^(1/2).

    The small eigenvalue is written as a sum of squares, |x|^2 + |y|^2 - |w| having no digits left there.
    """
    w = x[:, :1] * x[:, 1:] + y[:, :1] * y[:, 1:]
    length = np.linalg.norm(w, axis=1)
    c = w / np.where(length > 0.0, length, 1.0)[:, None]
    c[length == 0.0, 0] = 1.0
    low, high = 2.0 * eps**2, 2.0 * eps**2
    for part in (x, y):
        along = np.sum(part[:, 1:] * c, axis=1)
        across = np.sum((part[:, 1:] - along[:, None] * c) ** 2, axis=1)
        low = low + (part[:, 0] - along) ** 2 + across
        high = high + (part[:, 0] + along) ** 2 + across
    return _Root(np.sqrt(low), np.sqrt(high), c)


def _cone_pair(r: Array, u: Array, mu: Array, eps: Array) -> tuple[Array, Array]:
    """Return x = (mu r_n, r_t), y = (u_n + mu |u_t|_eps, mu u_t), both in the standard cone at a solution."""
    axis = np.maximum(mu, MU_FLOOR)
    x, y = r.copy(), _lifted(u, mu, eps)
    x[:, 0] *= axis
    y[:, 1:] *= axis[:, None]
    return x, y


def _lifted(u: Array, mu: Array, eps: Array | float) -> Array:
    """Return u + mu |u_t|_eps e_n."""
    lifted = u.copy()
    lifted[:, 0] += mu * np.sqrt(np.sum(u[:, 1:] ** 2, axis=1) + np.square(eps))
    return lifted


def _lift_derivative(u: Array, mu: Array, eps: Array | float) -> Array:
    """Return I + mu e_n s', s = u_t / |u_t|_eps (zero where that is 0 / 0)."""
    d = u.shape[1]
    length = np.sqrt(np.sum(u[:, 1:] ** 2, axis=1) + np.square(eps))
    S = np.broadcast_to(np.eye(d), (u.shape[0], d, d)).copy()
    S[:, 0, 1:] = (mu / np.where(length > 0.0, length, 1.0))[:, None] * u[:, 1:]
    return S


def _projection_derivative(x: Array, mu: Array) -> Array:
    """Return an element of the derivative of P_K at every x [n_c, d, d]."""
    n_c, d = x.shape
    t = np.linalg.norm(x[:, 1:], axis=1)
    y_n = (mu * t + x[:, 0]) / (1.0 + mu * mu)
    inside, outside = t <= mu * x[:, 0], y_n <= 0.0
    s = x[:, 1:] / np.where(t > 0.0, t, 1.0)[:, None]
    edge = np.column_stack([np.ones(n_c), mu[:, None] * s]) / np.sqrt(1.0 + mu * mu)[:, None]
    P = edge[:, :, None] * edge[:, None, :]
    turn = (mu * y_n / np.where(t > 0.0, t, 1.0))[:, None, None]
    P[:, 1:, 1:] += turn * (np.eye(d - 1) - s[:, :, None] * s[:, None, :])
    P[inside] = np.eye(d)
    P[outside & ~inside] = 0.0
    return P


def _arrow(x: Array) -> Array:
    """Return the arrow matrices of x: x o y = arrow(x) y [n_c, d, d]."""
    d = x.shape[1]
    L = x[:, :1, None] * np.eye(d)
    L[:, 0, 1:] = x[:, 1:]
    L[:, 1:, 0] = x[:, 1:]
    return np.asarray(L)
