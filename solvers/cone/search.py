"""The best point of a search, and the stages that look for a better one without any convex program.

The smoothing of the central path of the friction problem, lowered quickly; the path by arclength;
Gauss-Seidel sweeps; the path with other weights. Every point goes through the Levenberg-Marquardt polish; the
first one at rounding level answers. W may be dense or sparse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from mcpframe.problem.friction import FrictionProblem
from mcpframe.solvers.cone.newton import Point, levenberg_marquardt, scaled_system
from mcpframe.solvers.cone.path import Arclength, lower_smoothing, start_point
from mcpframe.solvers.cone.sweeps import gauss_seidel
from mcpframe.solving.plugin import Request
from mcpframe.solving.solution import Claim, Status

Array = NDArray[np.float64]

EXACT = 1e-13
"""Norm of the natural map over the largest of |q|, |r|, |u|, in scaled units, that only rounding leaves."""
FINE = 1e-11
"""The same in the problem's units: good enough once the asked tolerance is met too."""
PATH_STEPS = 3000
"""Linear systems that one walk along the path may solve."""
POLISH_AT = (-6.0, -11.0, -16.0, -21.0, -26.0)
"""Values of log(eps) on the path, reached for the first time, at which a polish is attempted."""
SWEEPS, SWEEP_ROUNDS = 300, 4
"""Gauss-Seidel sweeps between polishes, and how often."""
RESTARTS = 1
"""Further paths, with other weights of the contacts."""


class Search:
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

    def run(self, stages: Iterable[Callable[[], None]]) -> Claim:
        """Go through stages, one after the other, until it is enough; return the best point."""
        for stage in stages:
            if not self.goes_on():
                break
            stage()
        return self.claim()

    def paths(self) -> Iterator[Callable[[], None]]:
        """Yield the walks along the central path, and sweeps in between."""
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


def _largest(*vectors: Array) -> float:
    """Return the largest of the 2-norms."""
    return max(float(np.linalg.norm(vector)) for vector in vectors)


class _Watch:
    """Looks at the points of a path: keeps the best, polishes where eps first falls below each mark."""

    def __init__(self, search: Search, marks: tuple[float, ...] = ()) -> None:
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
