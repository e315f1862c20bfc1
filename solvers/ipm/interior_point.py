"""One interior-point run, from a strictly interior point along the central path [Wright 1997, chapter 8].

In normalised units (rows, columns and q scaled, fixed variables removed) the mixed LCP reads

    M x + q = a - b,    a, s = x - l >= 0, a s = 0 (rows L with a lower bound),
                        b, t = u - x >= 0, b t = 0 (rows U with an upper bound),

and the central path replaces 0 by mu > 0. x stays strictly inside its bounds; only r = M x + q - a + b is
infeasible at the start. One Newton step for the products g_a, g_b wanted is

    (M + diag(a / s + b / t) + rho I) dx = -r + g_a / s - g_b / t,
    da = (g_a - a ds) / s,  ds = dx,        db = (g_b - b dt) / t,  dt = -dx.

Predictor and corrector are Mehrotra's; one step length serves all variables, for M couples them. rho = 0 as
long as steps are long. For problems that are not monotone the matrix may turn singular or the step may leave
the neighbourhood of the path; rho > 0 then shortens dx as the proximal-point method would.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.solvers.shared.linear import factorise

Array = NDArray[np.float64]
Index = NDArray[np.intp]

CENTRALITY = 1e-4
"""Least product a s or b t, as a share of mu, that a step may leave: the wide neighbourhood of the path."""
FRACTION = 0.995
"""Share of the way to the boundary that a step takes at most."""
SINGULAR = 1e-15
"""Condition estimate below which the Newton matrix is shifted."""
SHORT, LONG = 0.1, 0.5
"""Steps shorter than SHORT raise the shift rho tenfold, longer than LONG lower it."""
RHO_MIN, RHO_MAX = 1e-8, 1e2
ROUNDING = 1e-12
"""Size of r, beside x of size one, that rounding may leave."""
STALL = 1e-8
"""Steps this short, several in a row, end the run."""
PATIENCE = 25
"""Steps within which max(mu, |r|) must be halved."""
DIVERGED = 1e10
"""Size of x, in units where q is 1, beyond which no solution is near."""
LATE = 1e-8
"""Above this mu the answers of an iteration are accurate enough; below, and after LU, they are refined."""
DENSE_SHARE = 0.1
"""Share of nonzeros above which a sparse matrix is better factorised as a dense one."""


@dataclass(frozen=True, slots=True, eq=False)
class Normalised:
    """The problem in the units of a run: M [m, m], q, bounds [m], and the rows that have them."""

    M: Any
    q: Array
    lower: Array
    upper: Array
    L: Index
    U: Index

    @classmethod
    def make(cls, M: Any, q: Array, lower: Array, upper: Array) -> Normalised:
        """Return the problem, M dense where it is small or full."""
        if sp.issparse(M) and M.nnz > DENSE_SHARE * q.size**2:
            M = M.toarray()
        L, U = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
        return cls(M, q, lower, upper, L, U)


@dataclass(slots=True, eq=False)
class Iterate:
    """A strictly interior point: x [m], s and a on rows L, t and b on rows U."""

    x: Array
    s: Array
    a: Array
    t: Array
    b: Array

    def mu(self) -> float:
        """Return the mean of all products."""
        count = self.s.size + self.t.size
        return float(self.s @ self.a + self.t @ self.b) / count if count else 0.0

    def moved(self, step: Iterate, alpha: float) -> Iterate:
        """Return this point plus alpha times a step."""
        return Iterate(*(getattr(self, name) + alpha * getattr(step, name) for name in self.__slots__))


def start(problem: Normalised, x: Array, distance: float) -> Iterate:
    """Return an interior point near x: slacks at least `distance` (half the box at most), multipliers too."""
    lower, upper = problem.lower, problem.upper
    margin = np.minimum(distance, 0.5 * (upper - lower))
    x = np.minimum(np.maximum(x, lower + margin), upper - margin)
    w = problem.M @ x + problem.q
    s, t = np.maximum((x - lower)[problem.L], np.finfo(float).tiny), (upper - x)[problem.U]
    a, b = np.maximum(w[problem.L], distance), np.maximum(-w[problem.U], distance)
    return Iterate(x, s, a, t, b)


@dataclass(frozen=True, slots=True)
class IterationLine:
    """One iteration: mu and max |r| before it, step length, and the shift that was used."""

    iteration: int
    mu: float
    infeasibility: float
    alpha: float
    rho: float

    def __str__(self) -> str:
        return (
            f"{self.iteration:4d}  mu {self.mu:8.2e}  r {self.infeasibility:8.2e}  "
            f"alpha {self.alpha:8.2e}  rho {self.rho:8.2e}"
        )


@dataclass(slots=True, eq=False)
class Run:
    """A run in progress, and why it ended."""

    problem: Normalised
    point: Iterate
    deadline: float
    rho: float = 0.0
    iterations: int = 0
    short_steps: int = 0
    merit: float = np.inf
    halved: int = 0
    reason: str = ""
    trace: list[IterationLine] = field(default_factory=list)

    def residual(self) -> Array:
        """Return r = M x + q - a + b."""
        p = self.point
        r = np.asarray(self.problem.M @ p.x + self.problem.q)
        r[self.problem.L] -= p.a
        r[self.problem.U] += p.b
        return r

    def advance(self, accuracy: float, max_iterations: int) -> None:
        """Iterate until mu <= accuracy and r too (up to rounding), or until `reason` says why not."""
        self.reason = ""
        while not self.reason:
            r, mu = self.residual(), self.point.mu()
            size = max(1.0, float(np.abs(self.point.x).max(initial=0.0)))
            if not (np.isfinite(r).all() and np.isfinite(mu)):
                self.reason = "numbers became too large"
            elif mu <= accuracy and np.abs(r).max(initial=0.0) <= max(accuracy, ROUNDING) * size:
                return
            elif self.iterations >= max_iterations:
                self.reason = "iteration limit"
            elif self._idle(max(mu, float(np.abs(r).max(initial=0.0)))):
                self.reason = "no progress along the path"
            elif perf_counter() > self.deadline:
                self.reason = "time limit"
            else:
                self._step(r, mu)

    def _idle(self, merit: float) -> bool:
        """Return whether max(mu, |r|) has not been halved for PATIENCE steps."""
        if merit < 0.5 * self.merit:
            self.merit, self.halved = merit, self.iterations
        return self.iterations - self.halved > PATIENCE

    def _step(self, r: Array, mu: float) -> None:
        self.iterations += 1
        solve, rho = self._factor(), self.rho
        alpha = self._move(solve, r, mu) if solve is not None else 0.0
        self._adapt(alpha)
        self.trace.append(IterationLine(self.iterations, mu, float(np.abs(r).max(initial=0.0)), alpha, rho))

    def _move(self, solve: Any, r: Array, mu: float) -> float:
        """Take Mehrotra's step; return its length."""
        p = self.point
        affine = self._direction(solve, r, -p.s * p.a, -p.t * p.b)
        predicted = p.moved(affine, _longest(p, affine, 1.0)).mu()
        sigma = min((predicted / mu) ** 3, 1.0) if mu > 0.0 else 0.0
        g_a = sigma * mu - p.s * p.a - affine.s * affine.a
        g_b = sigma * mu - p.t * p.b - affine.t * affine.b
        step = self._direction(solve, r, g_a, g_b)
        alpha = self._central(step, _longest(p, step, FRACTION))
        self.point = p.moved(step, alpha)
        return alpha

    def _factor(self) -> Any:
        problem, p = self.problem, self.point
        D = np.full(problem.q.size, self.rho)
        D[problem.L] += p.a / p.s
        D[problem.U] += p.b / p.t
        K = problem.M + (sp.diags_array(D) if sp.issparse(problem.M) else np.diag(D))
        factor = factorise(K)
        if factor.rcond < SINGULAR:
            return None
        if factor.iterates and p.mu() > LATE:
            return factor.solve

        def solve(rhs: Array) -> Array:
            x = factor.solve(rhs)
            return x + factor.solve(rhs - K @ x)

        return solve

    def _direction(self, solve: Any, r: Array, g_a: Array, g_b: Array) -> Iterate:
        problem, p = self.problem, self.point
        rhs = -r
        rhs[problem.L] += g_a / p.s
        rhs[problem.U] -= g_b / p.t
        dx = solve(rhs)
        ds, dt = dx[problem.L], -dx[problem.U]
        return Iterate(dx, ds, (g_a - p.a * ds) / p.s, dt, (g_b - p.b * dt) / p.t)

    def _central(self, step: Iterate, alpha: float) -> float:
        """Return alpha, halved until every product is at least CENTRALITY times their mean."""
        for _ in range(30):
            p = self.point.moved(step, alpha)
            least = min((p.s * p.a).min(initial=np.inf), (p.t * p.b).min(initial=np.inf))
            if least >= CENTRALITY * p.mu():
                return alpha
            alpha *= 0.5
        return 0.0

    def _adapt(self, alpha: float) -> None:
        """Adapt rho to the length of the step; end the run where nothing moves or everything does."""
        if alpha < SHORT:
            self.rho = min(max(10.0 * self.rho, RHO_MIN), RHO_MAX)
        elif alpha > LONG:
            self.rho = 0.1 * self.rho if self.rho > RHO_MIN else 0.0
        self.short_steps = self.short_steps + 1 if alpha <= STALL else 0
        if self.short_steps > 12:
            self.reason = "steps became too short"
        elif np.abs(self.point.x).max(initial=0.0) > DIVERGED:
            self.reason = "the iterates diverged"


def _longest(point: Iterate, step: Iterate, fraction: float) -> float:
    """Return the largest alpha <= 1 that keeps s, a, t, b at 1 - `fraction` of their values or above."""
    shrink = 0.0
    for name in ("s", "a", "t", "b"):
        value, change = getattr(point, name), getattr(step, name)
        shrink = max(shrink, float((-change / value).max(initial=0.0)))
    return min(1.0, fraction / shrink) if shrink > 0.0 else 1.0
