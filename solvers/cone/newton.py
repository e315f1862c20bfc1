"""Frictional contact in scaled units, and the Levenberg-Marquardt polish of its natural map.

Scaling: r_c = size d_c s_c, one positive power of two d_c per contact, keeps all cones and the friction law
while the diagonal blocks of W become of unit size; `size` makes the largest entry of q one.

The polish minimises |F|, F the natural map, by steps (J'J + lam |F| I) dr = -J'F. Redundant contacts make J
singular; the damping then picks the step of least norm, and the local error bound keeps convergence quadratic
[Fan and Yuan 2005]. F is only piecewise smooth, so the polish needs a start in the right piece.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.problem.friction import FrictionProblem
from mcpframe.solvers.cone.linear import Operator, make_operator
from mcpframe.solvers.cone.maps import Linearised, fischer, fischer_value, natural, natural_value

Array = NDArray[np.float64]

ROUNDING = 1e-16
"""Norm of the scaled natural map, per root of n, that no step can improve."""
DAMPING_FLOOR = 1e-14
"""Smallest damping relative to J'J, below which its Cholesky factor loses all digits."""
DAMPING_TRIALS = 10
"""Dampings tried at one point before it counts as a (local) minimum."""
STEADY, PATIENCE = 0.5, 8
"""Ratio of successive |F| below which the damping is lowered fast, and that so many steps must bring."""
SUFFICIENT = 1e-4
"""Relative decrease of |F| that a step must bring."""


@dataclass(frozen=True, slots=True, eq=False)
class ConeSystem:
    """A friction problem in scaled units: all vectors have one row per contact [n_c, d].

    Attributes:
        W: scaled Delassus operator.
        matrix: the same as a matrix, as the problem has it (dense or sparse).
        q: scaled free velocities [n_c, d].
        mu: friction coefficients [n_c].
        unit: r = unit * scaled r [n_c, 1].
    """

    W: Operator
    matrix: Array | sp.csr_array
    q: Array
    mu: Array
    unit: Array

    def u(self, r: Array) -> Array:
        """Return W r + q."""
        return self.W.apply(r.ravel()).reshape(r.shape) + self.q

    def residual(self, r: Array) -> float:
        """Return the 2-norm of the natural map."""
        norm = float(np.linalg.norm(natural_value(r, self.u(r), self.mu)))
        return norm if np.isfinite(norm) else np.inf

    def natural(self, r: Array) -> Linearised:
        """Return the natural map at r."""
        return natural(r, self.u(r), self.mu)

    def fischer(self, r: Array, eps: Array) -> Linearised:
        """Return the smoothed Fischer-Burmeister map at r."""
        return fischer(r, self.u(r), self.mu, eps)

    def fischer_norm(self, r: Array, eps: Array) -> float:
        """Return the 2-norm of the smoothed Fischer-Burmeister map at r."""
        norm = float(np.linalg.norm(fischer_value(r, self.u(r), self.mu, eps)))
        return norm if np.isfinite(norm) else np.inf


def scaled_system(problem: FrictionProblem) -> ConeSystem:
    """Return the problem in scaled units."""
    n_c, d = problem.n_c, problem.dim
    diagonal = np.abs(problem.W.diagonal()).reshape(n_c, d).mean(axis=1)
    typical = diagonal.max(initial=0.0) or 1.0
    # A contact that its own impulse does not move takes the unit of the others.
    root = np.sqrt(np.where(diagonal > 0.0, diagonal, typical))
    D = np.repeat(np.exp2(-np.round(np.log2(root))), d)
    q = D * problem.q
    size = np.abs(q).max(initial=0.0) or 1.0
    W = problem.W
    scaled = sp.csr_array(sp.diags_array(D) @ W @ sp.diags_array(D)) if sp.issparse(W) else D[:, None] * W * D
    unit = (size * D).reshape(n_c, d)[:, :1]
    return ConeSystem(make_operator(scaled), scaled, (q / size).reshape(n_c, d), problem.mu, unit)


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A scaled r, the norm of its natural map, and the linear systems solved to get there."""

    r: Array
    residual: float
    steps: int


def levenberg_marquardt(system: ConeSystem, r: Array, deadline: float, max_steps: int = 100) -> Point:
    """Return the point that the damped least-squares steps lead to; never worse than r."""
    residual, damping, steps, rounds = system.residual(r), 1.0, 0, 0
    floor = ROUNDING * np.sqrt(r.size) * max(1.0, float(np.abs(r).max(initial=0.0)))
    milestone = residual
    while residual > floor and steps < max_steps and perf_counter() < deadline:
        at = system.natural(r)
        solve = system.W.normal_solver(system.W.jacobian(at.A, at.B), at.F.ravel())
        trial, found, damping, trials = _damped_step(system, r, residual, solve, damping)
        steps, rounds = steps + trials, rounds + 1
        if not found < residual:
            break
        damping /= 10.0 if found < STEADY * residual else 2.0
        r, residual = trial, found
        if rounds % PATIENCE == 0:
            if residual > STEADY * milestone:
                break
            milestone = residual
    return Point(r, residual, steps)


def _damped_step(
    system: ConeSystem,
    r: Array,
    residual: float,
    solve: Callable[[float], Array | None],
    damping: float,
) -> tuple[Array, float, float, int]:
    """Raise the damping until a step lowers the residual; return the point, its residual and the damping."""
    trial, found, trials = r, np.inf, 0
    while trials < DAMPING_TRIALS:
        trials += 1
        step = solve(max(damping * min(residual, 1.0), DAMPING_FLOOR))
        if step is not None:
            trial = r + step.reshape(r.shape)
            found = system.residual(trial)
            if found < (1.0 - SUFFICIENT) * residual:
                break
        damping = max(4.0 * damping, DAMPING_FLOOR)
    return trial, found, damping, trials
