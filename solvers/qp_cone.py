"""Friction on the exact cone by convex cone programs, an outer fixed point, and a polish.

For a given slip s, min r'Sr/2 + (q + mu s e_n)'r over the cones is a convex second-order cone program
(S the symmetric part of W), whose solution solves the friction problem exactly where s_c = |u_t,c|
[Acary, Cadoux, Lemarechal, Malick 2011]. s = 0 is the convex relaxation that simulators stop at. So:

    1. relaxation: the program with s = 0;
    2. fixed point: s <- |u_t|, accelerated;
    3. where that does not settle: the central path of the friction problem, by arclength;
    4. Gauss-Seidel sweeps, and the path with other weights.

Every point goes through the Levenberg-Marquardt polish; the first one at rounding level answers.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from mcpframe.friction import FrictionProblem
from mcpframe.plugin import Request
from mcpframe.solution import Claim, Status
from mcpframe.solvers.qp_anderson import Anderson
from mcpframe.solvers.qp_cone_maps import MU_FLOOR
from mcpframe.solvers.qp_cone_newton import Point, levenberg_marquardt, scaled_system
from mcpframe.solvers.qp_cone_path import Arclength, lower_smoothing, start_point
from mcpframe.solvers.qp_cone_sweeps import gauss_seidel
from mcpframe.solvers.qp_programs import Backend, ConeProgram

Array = NDArray[np.float64]

EXACT = 1e-13
"""Norm of the natural map over the largest of |q|, |r|, |u|, in scaled units, that only rounding leaves."""
FINE = 1e-11
"""The same in the problem's units: good enough once the asked tolerance is met too."""
PROGRAM_SHARE = 0.25
"""Share of the time that the fixed point may take, so that something is left for the path."""
PATH_STEPS = 3000
"""Linear systems that one walk along the path may solve."""
POLISH_AT = (-6.0, -11.0, -16.0, -21.0, -26.0)
"""Values of log(eps) on the path, reached for the first time, at which a polish is attempted."""
SWEEPS, SWEEP_ROUNDS = 300, 4
"""Gauss-Seidel sweeps between polishes, and how often."""
SYMMETRIC = 1e-14
"""Skew part of W, relative to its symmetric part, that is rounding."""
SETTLED = 1e-12
"""Relative change of the slips at which the fixed point has settled."""
RESTARTS = 1
"""Further paths, with other weights of the contacts."""


def solve_cone(problem: FrictionProblem, request: Request, backend_name: str, max_fixed_point: int) -> Claim:
    """Return the claim of the conic route.

    Args:
        backend_name: solver that cvxpy calls.
        max_fixed_point: cone programs solved after the relaxation.
    """
    with np.errstate(all="ignore"):
        search = _Search(problem, request)
        if request.z0 is not None:
            search.offer(request.z0.reshape(-1, problem.dim) / search.system.unit, "z0")
        if search.goes_on():
            search.fixed_point(backend_name, max_fixed_point)
        if search.goes_on():
            search.lower_smoothing()
        if search.goes_on():
            search.path(np.ones(problem.n_c))
        if search.goes_on():
            search.sweeps()
        random = np.random.default_rng(0)
        for _ in range(RESTARTS):
            if search.goes_on():
                search.path(np.exp(random.standard_normal(problem.n_c)))
        return search.claim()


class _Search:
    """The best point so far, in scaled units, and the stages that look for a better one."""

    def __init__(self, problem: FrictionProblem, request: Request) -> None:
        self.problem, self.request, self.deadline = problem, request, request.deadline
        self.system = scaled_system(problem)
        zero = np.zeros_like(self.system.q)
        self.best, self.method, self.steps = Point(zero, self.system.residual(zero), 0), "rest", 0
        self.relaxed: Array | None = None
        self.said: list[str] = []

    def goes_on(self) -> bool:
        """Return whether there is something to improve and time for it."""
        if perf_counter() > self.deadline:
            return False
        r = self.best.r
        if self.best.residual <= EXACT * _largest(self.system.q, r, self.system.u(r)):
            return False
        r, u, residual = self.problem.certify(self.impulses(r))
        fine = FINE * _largest(self.problem.q, r, u)
        return residual > self.request.tol or _largest(self.problem.natural_map(r, u)) > fine

    def certified(self) -> float:
        """Return the residual that the framework will see."""
        return self.problem.certify(self.impulses(self.best.r))[2]

    def impulses(self, r: Array) -> Array:
        """Return r in the problem's units [n]."""
        return np.asarray((self.system.unit * r).ravel())

    def offer(self, r: Array, method: str) -> bool:
        """Polish a point and keep it if it is the best; return whether to stop."""
        point = levenberg_marquardt(self.system, r, self.deadline)
        self.steps += point.steps
        if point.residual < self.best.residual:
            self.best, self.method = point, method
        return not self.goes_on()

    def fixed_point(self, backend_name: str, limit: int) -> None:
        """Solve cone programs for slips s until s = |u_t|; where W is not symmetric, r lags in W - S."""
        system, mu = self.system, self.system.mu
        S = 0.5 * (system.matrix + system.matrix.T)
        skew = system.matrix - S
        lagged = abs(skew).max() > SYMMETRIC * abs(S).max() if self.problem.n else False
        program = ConeProgram(S, np.maximum(mu, MU_FLOOR), self.problem.dim)
        stop = min(self.deadline, perf_counter() + PROGRAM_SHARE * (self.deadline - perf_counter()))
        backend, anderson = Backend(backend_name, stop), Anderson()
        x = np.zeros(mu.size + (self.problem.n if lagged else 0))
        for k in range(limit + 1):
            c = system.q.copy()
            c[:, 0] += mu * np.maximum(x[: mu.size], 0.0)
            if lagged:
                c += (skew @ x[mu.size :]).reshape(c.shape)
            minimum = program.solve(c.ravel(), backend)
            self.steps += minimum.iterations
            if minimum.x is None:
                self.said.append(f"cone program {k}: {minimum.status}")
                return
            r = minimum.x.reshape(c.shape)
            self.relaxed = r if k == 0 else self.relaxed
            if self.offer(r, f"fixed point ({k})" if k else "relaxation") or perf_counter() > stop:
                return
            slip = np.linalg.norm(system.u(r)[:, 1:], axis=1)
            g = np.concatenate([slip, r.ravel()]) if lagged else slip
            if np.linalg.norm(g - x) <= SETTLED * np.linalg.norm(g):
                break
            x = anderson.next(x, g)
        self.said.append(f"fixed point: no answer after {k} programs")

    def lower_smoothing(self) -> None:
        """Lower the smoothing quickly, then polish."""
        weights = np.ones(self.problem.n_c)
        start = start_point(self.system, weights, self.deadline)
        if start is None:
            return
        r, tau, steps = start
        watch = _Watch(self)
        self.steps += steps + lower_smoothing(self.system, weights, r, tau, self.deadline, watch)
        if watch.best is not None:
            self.offer(watch.best, "smoothing")

    def path(self, weights: Array) -> None:
        """Follow the central path, polishing where eps falls below the next mark."""
        start = start_point(self.system, weights, self.deadline)
        if start is None:
            self.said.append("central path: no start")
            return
        r, tau, steps = start
        watch = _Watch(self, POLISH_AT)
        walk = Arclength(self.system, weights, r, tau)
        walk.walk(self.deadline, watch, PATH_STEPS)
        self.steps += steps + walk.steps
        if self.goes_on() and not self.offer(walk.r, "central path"):
            self.steps += lower_smoothing(self.system, weights, walk.r, walk.tau, self.deadline, watch)
        if self.goes_on() and watch.best is not None:
            self.offer(watch.best, "central path")
        self.said.append(f"central path: left at eps = {np.exp(walk.tau):.1e}")

    def sweeps(self) -> None:
        """Run Gauss-Seidel sweeps from zero with a polish now and then."""
        r = np.zeros_like(self.system.q)
        for _ in range(SWEEP_ROUNDS):
            r = gauss_seidel(self.system, r, SWEEPS)
            if self.offer(r, "Gauss-Seidel") or not np.isfinite(r).all():
                return
        self.said.append(f"Gauss-Seidel: no answer after {SWEEP_ROUNDS * SWEEPS} sweeps")

    def claim(self) -> Claim:
        """Return the best point, and how it was found or what was tried."""
        residual = self.certified()
        solved = residual <= self.request.tol
        late = perf_counter() > self.deadline
        status = Status.SOLVED if solved else Status.TIME_LIMIT if late else Status.ITERATION_LIMIT
        return Claim(
            z=self.impulses(self.best.r),
            status=status,
            iterations=self.steps,
            method=f"cone program: {self.method}, polish",
            message="" if solved else "; ".join([f"natural residual {residual:.2g}", *self.said]),
            relaxed_z=None if self.relaxed is None else self.impulses(self.relaxed),
        )


def _largest(*vectors: Array) -> float:
    """Return the largest of the 2-norms."""
    return max(float(np.linalg.norm(vector)) for vector in vectors)


class _Watch:
    """Looks at the points of a path: keeps the best, polishes where eps first falls below each mark."""

    def __init__(self, search: _Search, marks: tuple[float, ...] = ()) -> None:
        self._search, self._marks = search, list(marks)
        self.best: Array | None = None
        self._residual = np.inf

    def __call__(self, r: Array, tau: float) -> bool:
        """Return whether to stop."""
        residual = self._search.system.residual(r)
        if residual < self._residual:
            self.best, self._residual = r, residual
        if not self._marks or tau > self._marks[0]:
            return False
        self._marks.pop(0)
        return self._search.offer(r, "central path")
