"""Friction on the exact cone by convex cone programs, an outer fixed point, and a polish.

For a given slip s, min r'Sr/2 + (q + mu s e_n)'r over the cones is a convex second-order cone program
(S the symmetric part of W), whose solution solves the friction problem exactly where s_c = |u_t,c|
[Acary, Cadoux, Lemarechal, Malick 2011]. s = 0 is the convex relaxation that simulators stop at. So:

    1. relaxation: the program with s = 0;
    2. fixed point: s <- |u_t|, accelerated, a few times;
    3. where that is not enough: the smoothing of the central path of the friction problem, lowered quickly;
    4. further steps of the fixed point, while it converges;
    5. the central path by arclength; Gauss-Seidel sweeps; the path with other weights.

Every point goes through the Levenberg-Marquardt polish; the first one at rounding level answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from mcpframe.problem.friction import FrictionProblem
from mcpframe.solvers.cone.maps import MU_FLOOR
from mcpframe.solvers.cone.newton import Point, levenberg_marquardt, scaled_system
from mcpframe.solvers.cone.path import Arclength, lower_smoothing, start_point
from mcpframe.solvers.cone.sweeps import gauss_seidel
from mcpframe.solvers.qp.anderson import Anderson
from mcpframe.solvers.qp.programs import Backend, ConeProgram
from mcpframe.solving.plugin import Request
from mcpframe.solving.solution import Claim, Status

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
FIRST_PROGRAMS, CONVERGING = 4, 4
"""Programs after the relaxation before other methods are tried; so many must halve the slips' change."""
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
        start = None
        if request.z0 is not None:
            start = request.z0.reshape(-1, problem.dim) / search.system.unit
            search.offer(start, "z0")
        for stage in search.stages(_FixedPoint(search, backend_name, start), max_fixed_point):
            if not search.goes_on():
                break
            stage()
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

    def stages(self, fixed_point: _FixedPoint, limit: int) -> Iterator[Callable[[], None]]:
        """Yield what to do, one after the other, until it is enough."""
        yield partial(fixed_point.run, min(limit, FIRST_PROGRAMS))
        yield self.lower_smoothing
        yield partial(fixed_point.run, limit)
        yield partial(self.path, np.ones(self.problem.n_c))
        yield self.sweeps
        random = np.random.default_rng(0)
        for _ in range(RESTARTS):
            weights = np.exp(random.standard_normal(self.problem.n_c))
            yield partial(self.path, weights)

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
            method=f"{self.method}, polish",
            message=""
            if solved
            else "; ".join([f"natural residual {residual:.2g}", *dict.fromkeys(self.said)]),
            relaxed_z=None if self.relaxed is None else self.impulses(self.relaxed),
        )


class _FixedPoint:
    """Cone programs for slips s until s = |u_t|; where W is not symmetric, r lags in W - S as well.

    Args:
        search: gets every point.
        backend_name: solver that cvxpy calls.
        start: scaled r whose slips the first program takes; None for the relaxation, s = 0.
    """

    def __init__(self, search: _Search, backend_name: str, start: Array | None) -> None:
        self._search, self._name = search, backend_name
        system = search.system
        self._S = 0.5 * (system.matrix + system.matrix.T)
        self._skew = system.matrix - self._S
        n = search.problem.n
        self._lagged = n > 0 and bool(abs(self._skew).max() > SYMMETRIC * abs(self._S).max())
        self._x = (
            np.zeros(system.mu.size + (n if self._lagged else 0)) if start is None else self._next(start)
        )
        self._anderson, self._defects, self._over = Anderson(), list[float](), n == 0

    @cached_property
    def _program(self) -> ConeProgram:
        mu = np.maximum(self._search.system.mu, MU_FLOOR)
        return ConeProgram(self._S, mu, self._search.problem.dim)

    def _next(self, r: Array) -> Array:
        """Return what the programs are made from: the slips |u_t| of r, and r itself where it lags."""
        slip = np.linalg.norm(self._search.system.u(r)[:, 1:], axis=1)
        return np.concatenate([slip, r.ravel()]) if self._lagged else slip

    def run(self, limit: int) -> None:
        """Solve programs until the search is content, so many were solved, or they lead nowhere."""
        share = PROGRAM_SHARE * (self._search.deadline - perf_counter())
        backend = Backend(self._name, min(self._search.deadline, perf_counter() + share))
        while not self._over and len(self._defects) <= limit and perf_counter() < backend.deadline:
            if self._step(backend):
                return
            recent = self._defects[-CONVERGING:]
            if len(self._defects) > FIRST_PROGRAMS and recent[-1] > 0.5 * recent[0]:
                self._over = True
        self._search.said.append(f"fixed point: no answer after {len(self._defects)} programs")

    def _step(self, backend: Backend) -> bool:
        """Solve the program for the current slips, offer its minimiser, and choose the next slips."""
        search, system, n_c = self._search, self._search.system, self._search.problem.n_c
        c = system.q.copy()
        c[:, 0] += system.mu * np.maximum(self._x[:n_c], 0.0)
        if self._lagged:
            c += (self._skew @ self._x[n_c:]).reshape(c.shape)
        minimum = self._program.solve(c.ravel(), backend)
        search.steps += minimum.iterations
        if minimum.x is None:
            search.said.append(f"cone program: {minimum.status}")
            self._over = True
            return False
        r, count = minimum.x.reshape(c.shape), len(self._defects)
        search.relaxed = r if search.relaxed is None else search.relaxed
        g = self._next(r)
        self._defects.append(float(np.linalg.norm(g - self._x)))
        self._x = self._anderson.next(self._x, g)
        return search.offer(r, f"cone fixed point ({count})" if count else "cone program")


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
