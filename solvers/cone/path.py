"""The central path of a frictional contact problem, followed from large to vanishing smoothing.

Phi_eps(r) = 0 (see `maps`) has one solution for large eps, and its solutions form smooth curves that
lead to solutions of the friction problem as eps -> 0.

* `Arclength` walks the curve from large to small eps, also where it turns back, which it does because
  friction is not monotone: with tau = log(eps) it follows the curve by its length [Keller 1977; Allgower and
  Georg 1990], predictor along the tangent, corrector on the plane across it. What Lemke's method is to the
  polyhedral cone.
* `lower_smoothing` takes over where rounding ends the walk.

Each contact may have its own weight in eps; other weights give another curve, for another attempt.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from mcpframe.solvers.cone.maps import Linearised
from mcpframe.solvers.cone.newton import ConeSystem

Array = NDArray[np.float64]

Done = Callable[[Array, float], bool]
"""Asked at every point (r, tau) whether to stop there."""

EPS_STARTS, EPS_END = (1.0, 10.0, 100.0), 1e-14
"""Smoothing to start with, in scaled units where the largest q is one, and where nothing more is gained."""
ACCURATE, ON_CURVE = 1e-1, 1e-4
"""|Phi| over |(eps, .., eps)| at which a point is near the path, and at which it is on it: the walk must not
change over to a neighbouring branch."""
NEWTON_STEPS, START_STEPS = 6, 60
"""Newton steps after eps was lowered, and to reach the path in the first place."""
SUFFICIENT, SHORTEST = 1e-4, 1e-4
"""Decrease per step length that Newton's method asks for, and its shortest step."""
SHRINK = 0.1
"""Ratio of successive eps where it is simply lowered."""
CORRECTOR_STEPS, CONTRACTION = 6, 0.8
"""Newton steps across the curve, and the decrease of |Phi| that each must bring."""
STEP_MIN, STEP_MAX = 1e-8, 4.0
"""Shortest and longest step along the curve; log(eps) counts fully, see `Arclength`."""
ASCENT = 7.0
"""How far log(eps) may rise above its start before the walk is lost."""
ROUNDING = 1e-15
"""|Phi| per root of n that no corrector can improve."""
TURN = 0.5
"""Cosine between successive tangents below which a step was too long."""


def start_point(system: ConeSystem, weights: Array, deadline: float) -> tuple[Array, float, int] | None:
    """Return r and tau = log(eps) of a first point on the path, and the systems solved; None without luck."""
    steps = 0
    for tau in np.log(EPS_STARTS):
        zero, eps = np.zeros_like(system.q), np.exp(tau) * weights
        r, taken, reached = newton(system, zero, eps, ON_CURVE, START_STEPS, deadline)
        steps += taken
        if reached:
            return r, float(tau), steps
    return None


def lower_smoothing(
    system: ConeSystem, weights: Array, r: Array, tau: float, deadline: float, done: Done
) -> int:
    """Lower eps in big steps, near the path where it allows that; return the systems solved.

    Quick, and where contacts are redundant more accurate than the walk, which rounding ends at an eps that is
    not yet small.
    """
    steps = 0
    while tau > np.log(EPS_END) and perf_counter() < deadline:
        tau += np.log(SHRINK)
        r, taken, _ = newton(system, r, np.exp(tau) * weights, ACCURATE, NEWTON_STEPS, deadline)
        steps += taken
        if done(r, tau):
            break
    return steps


def newton(
    system: ConeSystem, r: Array, eps: Array, accuracy: float, max_steps: int, deadline: float
) -> tuple[Array, int, bool]:
    """Solve Phi_eps(r) = 0 by Newton's method with step halving; return r, steps and whether it got there."""
    target = accuracy * path_size(eps, r)
    norm = system.fischer_norm(r, eps)
    for step in range(max_steps):
        if norm <= target:
            return r, step, True
        at = system.fischer(r, eps)
        factor = system.W.factor(system.W.jacobian(at.A, at.B))
        if factor is None or perf_counter() > deadline:
            return r, step, False
        direction = -factor.solve(at.F.ravel()).reshape(r.shape)
        length, found = 1.0, np.inf
        while length > SHORTEST and not found <= (1.0 - SUFFICIENT * length) * norm:
            found = system.fischer_norm(r + length * direction, eps)
            length *= 0.5
        if not found < norm:
            return r, step + 1, False
        r, norm = r + 2.0 * length * direction, found
    return r, max_steps, norm <= target


def path_size(eps: Array, r: Array) -> float:
    """Return the norm of (eps, .., eps), the measure of what |Phi_eps| is small beside."""
    return float(np.sqrt(np.sum(eps**2) * r.shape[1]))


class Arclength:
    """A walk along the path by its length.

    Length is measured per contact and relative to what it carries,

        ds^2 = dtau^2 + sum_c |dr_c|^2 / (|r_c|^2 + eps^2) + |du_c|^2 / (|u_c|^2 + eps^2),

    because the curve turns within a single contact, whose share of |r| may be tiny.

    Args:
        system: the problem in scaled units.
        weights: of the contacts in eps [n_c].
        r, tau: a point on the path.
    """

    def __init__(self, system: ConeSystem, weights: Array, r: Array, tau: float) -> None:
        self.system, self.weights = system, weights
        self.r, self.tau, self.steps = r, tau, 0
        self._length, self._highest = 1.0, tau + ASCENT
        self._t_r, self._row, self._t_tau = np.zeros(r.size), np.zeros(r.size), -1.0
        self._side = 0.0

    def walk(self, deadline: float, done: Done, max_steps: int) -> None:
        """Walk until `done` likes a point, the end is reached, or the walk gets stuck."""
        tangent = self._bordered(self._linearise(self.r, self.tau), np.zeros(self.r.size), 1.0)
        if tangent is None:
            return
        self._side = tangent[2]
        self._set_tangent(*tangent[:2])
        while self.steps < max_steps and perf_counter() < deadline:
            if not self._advance():
                self._length *= 0.35
                if self._length < STEP_MIN:
                    return
            elif done(self.r, self.tau) or not np.log(EPS_END) < self.tau < self._highest:
                return

    def _advance(self) -> bool:
        """Predict, correct, and turn into the new tangent; False where the step is too long."""
        r = self.r + self._length * self._t_r.reshape(self.r.shape)
        corrected = self._correct(r, self.tau + self._length * self._t_tau)
        if corrected is None:
            return False
        r, tau, steps, at = corrected
        tangent = self._bordered(at, np.zeros(r.size), 1.0)
        if tangent is None or tangent[2] != self._side:
            return False
        t_r, t_tau, _ = tangent
        cosine = 1.0 / np.sqrt(t_r @ self._metric(t_r) + t_tau**2)
        if cosine < TURN and self._length > 10.0 * STEP_MIN:
            return False
        self.r, self.tau = r, tau
        self._set_tangent(t_r, t_tau)
        if steps <= 2 and cosine > 0.95:
            self._length = min(2.5 * self._length, STEP_MAX)
        elif steps <= 3 and cosine > 0.8:
            self._length = min(1.6 * self._length, STEP_MAX)
        elif steps >= CORRECTOR_STEPS - 1:
            self._length *= 0.7
        return True

    def _correct(self, r: Array, tau: float) -> tuple[Array, float, int, Linearised] | None:
        """Newton's method on (Phi, t'dx) = 0 from a predicted point."""
        norm = np.inf
        for step in range(CORRECTOR_STEPS + 1):
            at = self._linearise(r, tau)
            previous, norm = norm, float(np.linalg.norm(at.F))
            reached = ON_CURVE * path_size(np.exp(tau) * self.weights, r)
            if norm <= max(reached, ROUNDING * np.sqrt(r.size)):
                return r, tau, step, at
            if step == CORRECTOR_STEPS or not norm < CONTRACTION * previous:
                return None
            solution = self._bordered(at, -at.F.ravel(), 0.0)
            if solution is None or abs(solution[1]) > 3.0:
                return None
            r, tau = r + solution[0].reshape(r.shape), tau + solution[1]
        return None

    def _bordered(self, at: Linearised, F: Array, g: float) -> tuple[Array, float, float] | None:
        """Solve [[J, slope], [row', t_tau]] (dr, dtau) = (F, g) by elimination of dr.

        Returns:
            dr, dtau and the sign of the determinant, which stays the same along the curve.
        """
        self.steps += 1
        factor = self.system.W.factor(self.system.W.jacobian(at.A, at.B))
        if factor is None or at.slope is None:
            return None
        by_tau, by_F = factor.solve(at.slope.ravel()), factor.solve(F)
        pivot = self._t_tau - self._row @ by_tau
        d_tau = (g - self._row @ by_F) / pivot if pivot != 0.0 else np.nan
        d_r = by_F - d_tau * by_tau
        return (d_r, float(d_tau), float(factor.sign * np.sign(pivot))) if np.isfinite(d_r).all() else None

    def _linearise(self, r: Array, tau: float) -> Linearised:
        return self.system.fischer(r, np.exp(tau) * self.weights)

    def _set_tangent(self, t_r: Array, t_tau: float) -> None:
        """Normalise the tangent and keep its row G t_r for the corrector."""
        row = self._metric(t_r)
        length = float(np.sqrt(t_r @ row + t_tau**2))
        self._t_r, self._row, self._t_tau = t_r / length, row / length, t_tau / length

    def _metric(self, t_r: Array) -> Array:
        """Return G t_r, G the metric of r at the current point."""
        eps, shape = np.exp(self.tau) * self.weights, self.r.shape
        u = self.system.u(self.r)
        of_r = 1.0 / (np.sum(self.r**2, axis=1) + eps**2)
        of_u = 1.0 / (np.sum(u**2, axis=1) + eps**2)
        t_u = self.system.W.apply(t_r).reshape(shape)
        by_u = self.system.W.apply_transposed((of_u[:, None] * t_u).ravel())
        return np.asarray((of_r[:, None] * t_r.reshape(shape)).ravel() + by_u)
