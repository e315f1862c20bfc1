"""Runs from several starts until one is good enough: what the Newton and the path solver share.

A run ends at a point; a point near a solution is polished; the best one over all runs is the answer. The
first few runs on a mixed LCP are asked for a residual that is small beside |q| even where the tolerance is
looser, since the data may be tiny; after them the tolerance alone decides. Two failures on a mixed LCP are
followed by a search for a proof that it has no solution.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mcpframe.problem.infeasibility import find_certificate
from mcpframe.problem.problems import MCP, MixedLCP
from mcpframe.problem.residual import LAST_BITS
from mcpframe.solvers.newton.polish import polish
from mcpframe.solvers.shared.polish import strict_tolerance
from mcpframe.solvers.shared.scaled_model import scaled_model
from mcpframe.solving.plugin import Request
from mcpframe.solving.solution import Claim, Status

Array = NDArray[np.float64]
Setting = TypeVar("Setting")

ROUNDING = 1e-12
"""Runs aim at this share of |q|, or at this residual of an MCP: about what rounding leaves."""
CAREFUL_RUNS = 4
"""How many runs on a mixed LCP are asked for the stricter tolerance."""
PROOF_AFTER, PROOF_LIMIT = 2, 2000
"""After how many failures a proof of infeasibility is looked for, and up to which n."""
NEAR = 1e-2
"""A run is polished where its residual is below this share."""
REACH, REACH_GROWTH = 0.3, 4.0
"""Size of the first perturbation, relative to max(1, |z|), and its growth."""

CONVERGED, ITERATION_LIMIT, TIME_LIMIT = "converged", "iteration limit", "time limit"
UNDEFINED = "F is not defined at the start"


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Where a run ended: the best point in the problem's units, its residual, why, and the iterations."""

    z: Array
    residual: float
    reason: str
    iterations: int


class EndLine(NamedTuple):
    """The end of a run, in the trace."""

    run: int
    reason: str
    residual: float
    polished: float

    def __str__(self) -> str:
        return f"run {self.run}: {self.reason}; residual {self.residual:.3e}, polished {self.polished:.3e}"


class Multistart:
    """The best point over all runs of one solve.

    Attributes:
        first: the starting point: z0, or the point of the basis asked for, or the one nearest to zero.
        goal: natural residual at which a run may stop.
        trace: lines of all runs.
    """

    def __init__(self, problem: MixedLCP | MCP, request: Request) -> None:
        self.problem, self.request = problem, request
        self.first = _first_point(problem, request)
        self.size = _size(problem)
        self.goal = min(request.tol, max(ROUNDING * self.size, _last_bits(problem, self.first)))
        self.trace: list[object] = []
        self._reasons: Counter[str] = Counter()
        self._z, self._residual, self._iterations = self.first, math.inf, 0
        self._farkas: Array | None = None

    def run(self, settings: Iterable[Setting], attempt: Callable[[int, Setting], Outcome]) -> Claim:
        """Make attempts, numbered from 1, until one is good enough, time is up or no settings are left."""
        for number, setting in enumerate(settings, start=1):
            outcome = attempt(number, setting)
            self._iterations += outcome.iterations
            self._reasons[outcome.reason] += 1
            self._keep(number, outcome)
            if self._residual <= self._demanded(number) or perf_counter() > self.request.deadline:
                break
            if number == PROOF_AFTER and self._proves_infeasible():
                break
        return self._claim()

    def _keep(self, number: int, outcome: Outcome) -> None:
        z, _, residual = self.problem.certify(outcome.z)  # within its bounds, which may cost some residual
        if self.goal < residual <= NEAR * self.size:
            z, residual = polish(self.problem, z, residual, self.request.deadline)
        self.trace.append(EndLine(number, outcome.reason, outcome.residual, residual))
        if residual < self._residual:
            self._z, self._residual = z, residual

    def _demanded(self, number: int) -> float:
        if number < CAREFUL_RUNS and isinstance(self.problem, MixedLCP):
            return strict_tolerance(self.problem, self.request.tol)
        return self.request.tol

    def _proves_infeasible(self) -> bool:
        if (
            isinstance(self.problem, MixedLCP)
            and self.problem.n <= PROOF_LIMIT
            and self._residual > self.request.tol
        ):
            self._farkas = find_certificate(self.problem, self.request.deadline - perf_counter())
        return self._farkas is not None

    def _claim(self) -> Claim:
        runs = self._reasons.total()
        ended = ", ".join(f"{reason} ({count})" for reason, count in self._reasons.items())
        message = f"{runs} run{'s' if runs > 1 else ''}: {ended}"
        status = self._status()
        if status is Status.INFEASIBLE:
            message = "a Farkas certificate proves that no solution exists"
        elif status is Status.SOLVED and runs == 1:
            message = ""
        model = scaled_model(self.problem, self._z, scaled=False)
        basis = model.codes(self._z, model.F(self._z))
        trace = tuple(self.trace)
        return Claim(self._z, status, self._iterations, message, basis, farkas=self._farkas, trace=trace)

    def _status(self) -> Status:
        if self._residual <= self.request.tol:
            return Status.SOLVED
        if self._farkas is not None:
            return Status.INFEASIBLE
        if perf_counter() > self.request.deadline:
            return Status.TIME_LIMIT
        return Status.ITERATION_LIMIT if self._reasons[ITERATION_LIMIT] else Status.NUMERICAL


def perturbed(problem: MixedLCP | MCP, z: Array, k: int, random: np.random.Generator) -> Array:
    """Return the k-th perturbed start, within the bounds: around z or between z and zero, ever farther."""
    n, lower, upper = problem.n, problem.lower, problem.upper
    reach = np.maximum(1.0, np.abs(z)) * (REACH * REACH_GROWTH ** (k // 2))
    if k % 2 == 0:
        point = z + reach * random.uniform(-1.0, 1.0, n)
    else:
        point = z * random.uniform(0.0, 1.0, n) + reach * random.exponential(1.0, n)
    point = np.where(point < lower, np.minimum(2.0 * lower - point, upper), point)
    return np.where(point > upper, np.maximum(2.0 * upper - point, lower), point)


def _first_point(problem: MixedLCP | MCP, request: Request) -> Array:
    z = request.z0
    if z is None:
        z = np.minimum(np.maximum(np.zeros(problem.n), problem.lower), problem.upper)
    if request.basis is None:
        return z
    return polish(problem, z, math.inf, request.deadline, request.basis)[0]


def _last_bits(problem: MixedLCP | MCP, z: Array) -> float:
    """Return what rounding leaves of M z at a point, 0 for an MCP: far bounds with small q."""
    if not isinstance(problem, MixedLCP):
        return 0.0
    return LAST_BITS * float((abs(problem.M) @ np.abs(z)).max(initial=0.0))


def _size(problem: MixedLCP | MCP) -> float:
    """Return the yardstick of small residuals: |q| of a mixed LCP, 1 for an MCP or where q is zero."""
    size = float(np.abs(problem.q).max(initial=0.0)) if isinstance(problem, MixedLCP) else 1.0
    return size if size > 0.0 else 1.0
