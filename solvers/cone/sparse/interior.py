r"""Interior point for thousands of contacts: finds which of them carry load, self-stress and all.

On x = (mu r_n, r_t) and y = (u_n / mu + s, u_t), both in the second-order cone, with the slip s = |u_t|
smoothed by the gap, s^2 = |y_t|^2 + 0.01 gap^2, its derivative g included. Scaling V of Nesterov and Todd,
lam = V y = V^-1 x; predictor and corrector of Mehrotra. Steps dx, dy solve

    T (W + eps) T dx + (e g' - I) dy = -rest,   lam o (V^-1 dx + V dy) = D,   r = T x,

so that impulses answer velocities by blocks B^-1 = T^-1 (I - e g') V^-2 T^-1 + eps.

Three things keep the path going where contacts bear self-stress and slip makes it turn. Blocks B of loaded
contacts are as large as 1 / gap, and impulses found from velocities would have no digit left: so both are
corrected by what they leave of their own equations, and dy is that of the velocities. The slip is convex:
what its tangent misses moves y into its cone, and is added. At a turn of the path the matrix is singular and
steps have no length: eps, which keeps impulses near where they are [Friedlander and Orban 2012], grows until
they have, and shrinks again.

Contacts that neither carry nor open have x and y of the order of sqrt(gap): the residual falls no faster, and
`proximal` has the last word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from mcpframe.problem.friction import lengths
from mcpframe.solvers.cone.sparse.system import SparseCones

Array = NDArray[np.float64]

LEAST_MU = 1e-3
"""Friction coefficient that x is made with where there is less."""
SMOOTHING = 0.01
TO_THE_EDGE = 0.99
"""Share of the way to the edge of a cone that a step may take."""
SHORT, CENTRED = 0.3, 0.8
"""A step below the one is followed by centring of at least the other."""
LAGGING, LOST = 3.0, 300.0
"""Residual over gap from which on steps centre somewhat (0.3), and do nothing else."""
STUCK, SLOW, PATIENCE = 1e-8, 0.9, 25
"""Length of a step that leads nowhere; the gap must fall to such a share in so many steps."""
FIRST_EPS, LEAST_EPS, MOST_EPS = 1e-4, 1e-8, 10.0
"""Of the proximal term: at the start, what it grows from at least, and up to."""
GROW_BELOW, SHRINK_ABOVE, FACTOR = 0.2, 0.5, 10.0
"""Lengths of steps below which it grows, and above which it shrinks, by that factor."""
TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """V of Nesterov and Todd: V = eta (a reflection by w), V^2 = eta^2 (2 w w' - diag(1, -1, ...)).

    Attributes:
        eta: [n_c].
        w: of unit hyperbolic length [n_c, d].
        lam: V y = V^-1 x [n_c, d].
        det: of lam, lam_0^2 - |lam_t|^2 [n_c].
    """

    eta: Array
    w: Array
    lam: Array
    det: Array

    def times(self, a: Array) -> Array:
        """Return V a."""
        return self.eta[:, None] * _reflect(self.w, a)

    def solve(self, a: Array) -> Array:
        """Return V^-1 a."""
        return _reflect(_conjugate(self.w), a) / self.eta[:, None]

    def divide(self, D: Array) -> Array:
        r"""Return lam \ D of the Jordan algebra."""
        first = _hyperbolic(self.lam, D) / np.maximum(self.det, TINY)
        rest = (D[:, 1:] - first[:, None] * self.lam[:, 1:]) / self.lam[:, :1]
        return np.column_stack([first, rest])

    def squared(self) -> Array:
        """Return V^2 [n_c, d, d]."""
        flip = np.diag([1.0] + [-1.0] * (self.w.shape[1] - 1))
        return (self.eta**2)[:, None, None] * (2.0 * self.w[:, :, None] * self.w[:, None, :] - flip)


def scaling(x: Array, y: Array) -> Scaling:
    """Return the scaling with V^-1 x = V y."""
    a, b = np.sqrt(_determinant(x)), np.sqrt(_determinant(y))
    gamma = np.sqrt(0.5 * (1.0 + np.sum(x * y, axis=1) / (a * b)))
    w = (x / a[:, None] + _conjugate(y) / b[:, None]) / (2.0 * gamma)[:, None]
    eta = np.sqrt(a / b)
    return Scaling(eta, w, eta[:, None] * _reflect(w, y), a * b)


def central_path(
    system: SparseCones, steps: int, deadline: float, share: float = 1.0, weights: Array | float = 1.0
) -> Iterator[tuple[Array, float]]:
    """Yield r and the gap after every step, until one leads nowhere.

    Args:
        share: of the derivative of slips that steps know of. With less, the matrix is farther from singular
            and the residual falls more slowly.
        weights: of the contacts in the gap, x o y = gap weights e [n_c]: others make another path.
    """
    axis = np.maximum(system.mu, LEAST_MU)
    T = np.ones_like(system.q)
    T[:, 0] = 1.0 / axis
    x = np.zeros_like(system.q)
    x[:, 0] = 1.0
    y, length, eps, gaps = x.copy(), 1.0, FIRST_EPS, list[float]()
    for _ in range(steps):
        gap = float(np.sum(x * y)) / len(x)
        gaps.append(gap)
        if len(gaps) > PATIENCE and gap > SLOW * gaps[-1 - PATIENCE]:
            return
        slip = _slip(y, gap)
        g = share * y[:, 1:] / slip[:, None]
        rest = T * system.u(system.push(T * x)) - y
        rest[:, 0] += slip
        step = _step(system, T, x, y, rest, gap, g, eps, length, weights)
        if step is None or perf_counter() > deadline:
            return
        dx, dy, length = step
        if length <= STUCK:
            return
        x, y = x + length * dx, y + length * dy
        y[:, 0] += np.maximum(_slip(y, gap) - slip - length * np.sum(g * dy[:, 1:], axis=1), 0.0)
        eps = _next_eps(eps, length)
        yield T * x, float(np.sum(x * y)) / len(x)


def _slip(y: Array, gap: float) -> Array:
    return np.asarray(np.sqrt(np.sum(y[:, 1:] ** 2, axis=1) + SMOOTHING * gap * gap))


def _next_eps(eps: float, length: float) -> float:
    """Return eps of the next step, after one of such a length."""
    if length < GROW_BELOW:
        return min(max(FACTOR * eps, LEAST_EPS), MOST_EPS)
    return eps / FACTOR if length > SHRINK_ABOVE else eps


def _step(
    system: SparseCones,
    T: Array,
    x: Array,
    y: Array,
    rest: Array,
    gap: float,
    g: Array,
    eps: float,
    last: float,
    weights: Array | float,
) -> tuple[Array, Array, float] | None:
    """Return dx, dy of predictor and corrector, and how far they may go."""
    V = scaling(x, y)
    solve = _answers(system, T, V, g, eps)
    if solve is None:
        return None

    def direction(D: Array) -> tuple[Array, Array]:
        b = V.solve(V.divide(D)) - rest
        b[:, 0] -= np.sum(g * (b + rest)[:, 1:], axis=1)
        v, p = solve(b / T)
        dy = T * (system.u(v) - system.q + eps * p) + rest
        dy[:, 0] += np.sum(g * dy[:, 1:], axis=1)
        return p / T, dy

    square = _product(V.lam, V.lam)
    dx, dy = direction(-square)
    length = min(_reach(x, dx), _reach(y, dy), 1.0)
    after = max(float(np.sum((x + length * dx) * (y + length * dy))) / len(x), 0.0)
    target = -square - _product(V.solve(dx), V.times(dy))
    target[:, 0] += _centring(after / gap, float(np.abs(rest).max()) / gap, last) * gap * weights
    dx, dy = direction(target)
    return dx, dy, TO_THE_EDGE * min(_reach(x, dx), _reach(y, dy), 1.0)


def _answers(
    system: SparseCones, T: Array, V: Scaling, g: Array, eps: float
) -> Callable[[Array], tuple[Array, Array]] | None:
    """Return b -> v, p with v = G p and S v + B^-1 p = b, corrected once by what is left of both."""
    N = V.squared()
    N[:, :, 1:] += N[:, :, :1] * g[:, None, :]  # V^2 (I + e g')
    B = T[:, :, None] * N * T[:, None, :]
    B = np.asarray(np.linalg.solve(np.eye(system.dim) + eps * B, B), dtype=np.float64)
    factor = system.factor(B)
    if factor is None:
        return None

    def inverse(p: Array) -> Array:
        a = V.solve(V.solve(p / T))
        a[:, 0] -= np.sum(g * a[:, 1:], axis=1)
        return np.asarray(a / T + eps * p)

    def once(a: Array, b: Array) -> tuple[Array, Array]:
        v = factor(a + system.push(_blocks(B, b)))
        return v, _blocks(B, b - (system.u(v) - system.q))

    def solve(b: Array) -> tuple[Array, Array]:
        v, p = once(np.zeros(system.G.shape[0]), b)
        more = once(system.push(p) - v, b - (system.u(v) - system.q) - inverse(p))
        return v + more[0], p + more[1]

    return solve


def _centring(progress: float, lag: float, last: float) -> float:
    """Return sigma: what the predictor leaves of the gap, cubed; more where residual or steps fall behind."""
    sigma = min(max(progress**3, 1e-6), 1.0)
    if last < SHORT:
        sigma = max(sigma, CENTRED)
    if lag > LOST:
        return 1.0
    return max(sigma, 0.3) if lag > LAGGING else sigma


def _reach(x: Array, dx: Array) -> float:
    """Return the largest alpha <= 1 with x + alpha dx in the cones."""
    a, b, c = _hyperbolic(dx, dx), _hyperbolic(x, dx), _determinant(x)
    root = -b + np.sqrt(np.maximum(b * b - a * c, 0.0))
    leaves = ((a < 0.0) | ((b < 0.0) & (b * b >= a * c))) & (root > 0.0)
    alpha = np.min(c / np.where(leaves, root, 1.0), where=leaves, initial=1.0)
    back = dx[:, 0] < 0.0
    return float(min(alpha, np.min(x[:, 0] / np.where(back, -dx[:, 0], 1.0), where=back, initial=1.0)))


def _determinant(x: Array) -> Array:
    """Return x_0^2 - |x_t|^2 as a product: near the edge of the cone the difference would lose its digits."""
    t = lengths(x[:, 1:])
    return np.asarray(np.maximum((x[:, 0] - t) * (x[:, 0] + t), TINY))


def _hyperbolic(x: Array, y: Array) -> Array:
    return np.asarray(x[:, 0] * y[:, 0] - np.sum(x[:, 1:] * y[:, 1:], axis=1))


def _conjugate(x: Array) -> Array:
    return np.column_stack([x[:, :1], -x[:, 1:]])


def _product(x: Array, y: Array) -> Array:
    """Return x o y of the Jordan algebra."""
    return np.column_stack([np.sum(x * y, axis=1), x[:, :1] * y[:, 1:] + y[:, :1] * x[:, 1:]])


def _reflect(w: Array, a: Array) -> Array:
    """Return [[w_0, w_t'], [w_t, I + w_t w_t' / (1 + w_0)]] a."""
    along = np.sum(w[:, 1:] * a[:, 1:], axis=1)
    share = a[:, 0] + along / (1.0 + w[:, 0])
    return np.column_stack([w[:, 0] * a[:, 0] + along, a[:, 1:] + share[:, None] * w[:, 1:]])


def _blocks(B: Array, x: Array) -> Array:
    return np.asarray(np.einsum("cij,cj->ci", B, x))
