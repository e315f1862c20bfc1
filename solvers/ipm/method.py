"""Primal-dual interior point with an active-set polish.

Mehrotra's predictor-corrector from an infeasible interior start [Mehrotra 1992; Wright 1997], on problems
with bounds on either side, free and fixed rows; see `interior_point` for the equations. Each Newton matrix is
factorised by LAPACK or, for sparse M, by SuperLU. When mu is small the active set is guessed and solved for,
which turns an approximate answer into one at rounding level.

Matrix class: monotone problems (symmetric part of M positive semidefinite), where the iteration converges in
5 to 30 steps whenever there is a solution [Kojima, Megiddo, Noma, Yoshise 1991]. Other problems are tried
with shifted (proximal) steps and from several starts; there is no guarantee then, and the status says how it
ended. Frictional contact problems, which are copositive, behave almost like monotone ones.

A warm start (z0 or basis) is polished as it is; if that is not the solution, z0 is pushed into the interior.
A failure is followed by the search for a Farkas certificate, so infeasible problems end with a proof where
there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mcpframe.problem.infeasibility import find_certificate
from mcpframe.problem.problems import MixedLCP
from mcpframe.solvers.ipm.interior_point import IterationLine, Normalised, Run, start
from mcpframe.solvers.shared.linear import scaled_matrix
from mcpframe.solvers.shared.polish import active_set_polish, strict_tolerance
from mcpframe.solving.plugin import AbstractSolver, Request
from mcpframe.solving.solution import Claim, Status

Array = NDArray[np.float64]
Codes = NDArray[np.int8]

ACCURACIES = (1e-7, 1e-11, 1e-15)
"""Values of mu, in normalised units, at which the polish is tried; the last one ends the run."""
DISTANCES = (1.0, 100.0, 0.01)
"""Distances from the bounds of the cold starts, in units where q is 1."""
WARM_DISTANCE = 0.01
SIMILAR = 256.0
"""Spread of row against column factors up to which the units of rows and columns are taken to be the same."""
CERTIFICATE_LIMIT = 2000
"""Largest n for which a failure is followed by the search for a proof of infeasibility."""


@final
class IPM(AbstractSolver):
    """Primal-dual interior point for monotone problems, regularised otherwise; sparse or dense; polished."""

    name: ClassVar[str] = "ipm"

    max_iterations: int = Field(100, ge=1, description="Newton steps per start")
    starts: int = Field(3, ge=1, le=len(DISTANCES), description="starting points tried, one after the other")
    polish: bool = Field(True, description="guess the active set near the end and solve for it")

    def _solve(self, problem: MixedLCP, request: Request) -> Claim:
        return _Solve(self, problem, request).claim()


class _Solve:
    """One solve: the starts, and the best point over all of them."""

    def __init__(self, options: IPM, problem: MixedLCP, request: Request) -> None:
        self.options, self.problem, self.request = options, problem, request
        self.z, _, self.residual = problem.certify(np.zeros(problem.n))
        self.basis: Codes | None = None
        self.iterations, self.reason = 0, ""
        self.trace: list[IterationLine] = []
        self.searched = False
        self.farkas: Array | None = None

    def claim(self) -> Claim:
        """Try the warm start, then one start after the other, until the residual is met."""
        with np.errstate(all="ignore"):
            if self._warm() and self._fine():
                return self._claim(Status.SOLVED)
            for run, unit in self._runs():
                self._follow(run, unit)
                if self._fine():
                    break
                if perf_counter() > self.request.deadline:
                    return self._claim(Status.TIME_LIMIT)
                if self._infeasible():
                    return self._claim(
                        Status.INFEASIBLE, "a Farkas certificate proves that no solution exists"
                    )
        if self.residual <= self.request.tol:
            return self._claim(Status.SOLVED)
        status = Status.ITERATION_LIMIT if self.reason == "iteration limit" else Status.NUMERICAL
        return self._claim(status, f"last start: {self.reason}")

    def _claim(self, status: Status, message: str = "") -> Claim:
        return Claim(
            self.z,
            status,
            self.iterations,
            message,
            basis=self.basis,
            farkas=self.farkas,
            trace=tuple(self.trace),
        )

    def _warm(self) -> bool:
        """Offer the warm start as it is; return whether there is one."""
        z0, basis = self.request.z0, self.request.basis
        if z0 is None and basis is None:
            return False
        self._offer(self.z if z0 is None else z0, thorough=False, basis=basis)
        return True

    def _runs(self) -> Iterator[tuple[Run, Array]]:
        """Yield runs with the units of their variables: z = unit * x on rows that are not fixed."""
        deadline, z0 = self.request.deadline, self.request.z0
        similar = _spread(*self.problem.scaling) <= SIMILAR
        if z0 is not None:
            problem, unit = _normalised(self.problem, congruent=similar)
            x = z0[~self.problem.fixed] / unit
            yield Run(problem, start(problem, x, WARM_DISTANCE), deadline), unit
        for k, distance in enumerate(DISTANCES[: self.options.starts]):
            problem, unit = _normalised(self.problem, congruent=similar == (k % 2 == 0))
            yield Run(problem, start(problem, np.zeros(unit.size), distance), deadline), unit

    def _follow(self, run: Run, unit: Array) -> None:
        """Advance a run, offering its points; stop where the polish reaches rounding level."""
        for accuracy in ACCURACIES:
            final = accuracy == ACCURACIES[-1]
            run.advance(accuracy, self.options.max_iterations)
            z = np.clip(np.zeros(self.problem.n), self.problem.lower, self.problem.upper)
            z[~self.problem.fixed] = unit * run.point.x
            self._offer(z, thorough=final or bool(run.reason))
            if run.reason or self._fine():
                break
        self.iterations += run.iterations
        self.trace += run.trace
        self.reason = run.reason or "the point at the end of the path is not accurate enough"

    def _offer(self, z: Array, *, thorough: bool, basis: Codes | None = None) -> None:
        """Keep the polished z if it is better than what is known."""
        if self.options.polish:
            deadline = self.request.deadline
            found = active_set_polish(self.problem, z, basis=basis, thorough=thorough, deadline=deadline)
            z, basis, residual = found.z, found.basis, found.residual
        else:
            z, _, residual = self.problem.certify(z)
        if residual < self.residual:
            self.z, self.basis, self.residual = z, basis, residual

    def _fine(self) -> bool:
        return self.residual <= strict_tolerance(self.problem, self.request.tol)

    def _infeasible(self) -> bool:
        """Return whether there is proof that no solution exists; looked for once, after the first failure."""
        if not self.searched and self.problem.n <= CERTIFICATE_LIMIT:
            self.farkas = find_certificate(self.problem, self.request.deadline - perf_counter())
        self.searched = True
        return self.farkas is not None


def _spread(R: Array, C: Array) -> float:
    """Return by how much the ratio of row to column factors varies over the rows."""
    ratio = R / C
    return float(ratio.max() / ratio.min()) if ratio.size else 1.0


def _normalised(problem: MixedLCP, *, congruent: bool) -> tuple[Normalised, Array]:
    """Return the problem without its fixed rows in units where M and q are near one, and those units.

    Congruent scaling (the same factors for rows and columns) keeps a monotone problem monotone.
    """
    R, C = problem.scaling
    if congruent:
        R = C = np.exp2(np.round(0.5 * np.log2(R * C)))
    nearest = np.clip(np.zeros(problem.n), problem.lower, problem.upper)
    w = R * (problem.M @ nearest + problem.q)
    size = max(float(np.abs(w).max(initial=0.0)), float(np.abs(nearest / C).max(initial=0.0)))
    size = size if 0.0 < size < np.inf else 1.0
    keep = np.flatnonzero(~problem.fixed)
    fixed_part = problem.M @ np.where(problem.fixed, nearest, 0.0)
    row, column = R[keep], C[keep]
    M = problem.M[keep][:, keep]
    M = scaled_matrix(M, row, column)
    unit = column * size
    q = row * (problem.q + fixed_part)[keep] / size
    return Normalised.make(M, q, problem.lower[keep] / unit, problem.upper[keep] / unit), unit
