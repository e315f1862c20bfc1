"""PATH-like solver for mixed LCPs and MCPs: Newton's method on the normal map, with pivoting inside.

Method. Each major iteration linearises F at z and follows the path of the linearised problem by Lemke's
pivoting from the current basis (`path_linear`); its end is Newton's point for the normal map
F(pi(x)) + x - pi(x), which keeps z within the bounds. A non-monotone search along the path with a watchdog
makes it global, singular bases are met with a proximal perturbation (`path_search`), and a crash phase of
projected Newton steps finds most of the active set first (`path_crash`). A run that fails is followed by
others, in a fixed order: without crash and with a covering vector that is positive everywhere, with a
smoothing homotopy in place of the crash (`newton_descent`), with the other choice of scaling, then from
perturbed starting points. An active-set polish ends each run that comes near a solution. Every iteration is
kept in the trace, which prints like PATH's log.

A mixed LCP is its own linearisation, so from a cold start one path, Lemke's, solves it; many free rows are
eliminated first.

Matrix class. Linearised problems are solved for certain where Lemke's method solves them (P, copositive-plus,
strictly copositive); the iteration converges locally and quadratically at regular solutions. Elsewhere
success is likely, not certain. A mixed LCP on which two runs fail is checked for a proof of infeasibility.

Limits. Up to some thousand rows the dictionary is dense: n^2 memory, n^2 work per pivot. Larger sparse
problems keep factors of the basis instead (`path.sparse`): a pivot is a solve with them, so that what the
crash phase leaves to be pivoted decides about the time.

References. Robinson 1992 (normal maps); Ralph 1994 (path search); Dirkse, Ferris 1995 (PATH; non-monotone
stabilisation) and 1997 (crash); Ferris, Munson 1999 (merit function, restarts).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray
from pydantic import AliasChoices, Field

from mcpframe.problem.problems import MCP, MixedLCP
from mcpframe.solvers.lemke.method import MANY_FREE_ROWS, too_large
from mcpframe.solvers.newton.descent import Run
from mcpframe.solvers.newton.kernels import FISCHER
from mcpframe.solvers.newton.polish import polish
from mcpframe.solvers.path.crash import crash
from mcpframe.solvers.path.log import RunLine
from mcpframe.solvers.path.search import SPARSE_ROWS, Majors
from mcpframe.solvers.shared.alarm import alarm
from mcpframe.solvers.shared.free_rows import Elimination, eliminate_free_rows
from mcpframe.solvers.shared.multistart import Multistart, Outcome, perturbed
from mcpframe.solvers.shared.scaled_model import is_sparse, scaled_model
from mcpframe.solving.plugin import AbstractSolver, Request
from mcpframe.solving.solution import Claim, Status

Array = NDArray[np.float64]
PATH_NAMES = {
    "max_majors": "major_iteration_limit",
    "max_minors": "minor_iteration_limit",
    "crash_steps": "crash_iteration_limit",
    "memory": "nms_memory_size",
    "restarts": "restart_limit",
}
"""What PATH calls options that mean the same there; both names are taken."""
SPARSE_CRASH = 200
"""Steps of the crash phase of a large sparse problem, at least: cheap beside pivots there."""
_PATH = {name: AliasChoices(name, other) for name, other in PATH_NAMES.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """How a run differs from the others.

    Attributes:
        z: where it starts, in the problem's units.
        origin: that point in words.
        opening: what comes before the major iterations.
        cover: share of max |F| by which the covering vector is lifted.
        scaled: whether the problem is scaled.
    """

    z: Array
    origin: str
    opening: Literal["none", "crash", "smoothing"]
    cover: float
    scaled: bool

    def __str__(self) -> str:
        opening = {"none": "no crash", "crash": "crash", "smoothing": "smoothing homotopy"}[self.opening]
        cover = "covering vector positive everywhere" if self.cover else "covering vector from the residual"
        return f"from {self.origin}, {opening}, {cover}, {'scaled' if self.scaled else 'not scaled'}"


@final
class Path(AbstractSolver):
    """PATH-like Newton method with pivoting and path search, for mixed LCPs and MCPs."""

    name: ClassVar[str] = "path"
    problems: ClassVar[tuple[type, ...]] = (MixedLCP, MCP)

    elsewhere: ClassVar[Mapping[str, str]] = {
        "convergence_tolerance": "it is tol of mf.solve, on the natural residual of every row over 1 + |q_i|",
        "crash_method": "crash_steps = 0 leaves the crash phase out",
        "cumulative_iteration_limit": "max_minors bounds a major iteration, time_limit of mf.solve the whole",
        "output": "nothing is printed; solution.log() is the log",
    }

    max_majors: int = Field(
        100, ge=1, description="major iterations per run", validation_alias=_PATH["max_majors"]
    )
    max_minors: int = Field(
        0,
        ge=0,
        description="pivots per major iteration; 0 means 20 n + 200",
        validation_alias=_PATH["max_minors"],
    )
    crash_steps: int = Field(
        20,
        ge=0,
        description="projected Newton steps before the major iterations",
        validation_alias=_PATH["crash_steps"],
    )
    memory: int = Field(
        5,
        ge=1,
        description="checkpoints that the non-monotone search looks back to",
        validation_alias=_PATH["memory"],
    )
    watchdog: int = Field(4, ge=0, description="Newton points taken on trust before going back")
    restarts: int = Field(
        10, ge=0, description="runs after the first, with other settings", validation_alias=_PATH["restarts"]
    )
    seed: int = Field(0, ge=0, description="seed of the perturbed starting points")

    def why_unsupported(self, problem: Any) -> str:
        """Return why the problem is not taken: another kind, or dense and too large for a dictionary."""
        reason = super().why_unsupported(problem)
        return reason or ("" if _large_and_sparse(problem) else too_large(problem, self.name))

    def _solve(self, problem: MixedLCP | MCP, request: Request) -> Claim:
        many_free = isinstance(problem, MixedLCP) and np.count_nonzero(problem.free) > MANY_FREE_ROWS
        if isinstance(problem, MixedLCP) and many_free and not _large_and_sparse(problem):
            with np.errstate(all="ignore"):
                reduction = eliminate_free_rows(problem)
            if reduction is not None:
                return self._solve_reduced(problem, reduction, request)
        return self._solve_whole(problem, request)

    def _solve_reduced(self, problem: MixedLCP, reduction: Elimination, request: Request) -> Claim:
        """Solve without the free rows, come back, and polish what elimination has lost."""
        z0 = None if request.z0 is None else request.z0[reduction.kept]
        basis = None if request.basis is None else request.basis[reduction.kept]
        claim = self._solve_whole(reduction.problem, replace(request, z0=z0, basis=basis))
        z, _, residual = problem.certify(reduction.point(claim.z))
        codes = None if claim.basis is None else reduction.codes(claim.basis)
        with np.errstate(all="ignore"):
            z, residual = polish(problem, z, residual, request.deadline, codes)
        status = Status.SOLVED if residual <= request.tol else claim.status
        return replace(claim, z=z, status=status, basis=codes)

    def _solve_whole(self, problem: MixedLCP | MCP, request: Request) -> Claim:
        with np.errstate(all="ignore"), alarm(request.deadline) as stop:
            search = Multistart(problem, request)

            def attempt(number: int, settings: Settings) -> Outcome:
                return self._attempt(search, number, settings, stop)

            return search.run(self._settings(search), attempt)

    def _attempt(self, search: Multistart, number: int, settings: Settings, stop: Any) -> Outcome:
        """Make one run: opening, then major iterations."""
        model = scaled_model(search.problem, settings.z, scaled=settings.scaled)
        deadline, trace = search.request.deadline, search.trace
        trace.append(RunLine(number, str(settings)))
        max_minors = self.max_minors or 20 * model.n + 200
        run = Majors(model, self.memory, self.watchdog, max_minors, search.goal, deadline, stop, trace)
        z, steps = settings.z / model.column, 0
        if settings.opening == "smoothing":
            homotopy = Run(model, FISCHER, 1, search.goal, deadline, trace, number)
            z, steps = homotopy.smooth(z), homotopy.steps
        at = run.start(model.project(z), settings.cover)
        if settings.opening == "crash":
            at = crash(run, at, max(self.crash_steps, SPARSE_CRASH) if run.sparse else self.crash_steps)
        reason = run.run(at, self.max_majors)
        return Outcome(run.best_z * model.column, run.best_residual, reason, run.majors + steps)

    def _settings(self, search: Multistart) -> Iterator[Settings]:
        """Yield the runs in order."""
        z, affine = search.first, isinstance(search.problem, MixedLCP)
        cold = affine and search.request.z0 is None and search.request.basis is None
        cold = cold and not _large_and_sparse(search.problem)  # one path would be n pivots long
        here, scaled = "the starting point", affine
        lemke = Settings(_vertex(search.problem), "a vertex", "none", 1.0, scaled)
        crashed = Settings(z, here, "crash", 0.0, scaled)
        runs = [
            lemke if cold else crashed,
            crashed if cold else Settings(z, here, "none", 1.0, scaled),
            Settings(z, here, "smoothing", 0.0, scaled),
            Settings(z, here, "none", 1.0, not scaled),
        ]
        yield from runs[: 1 + self.restarts]
        random = np.random.default_rng(self.seed)
        for k in range(1 + self.restarts - len(runs)):
            point, origin = perturbed(search.problem, z, k, random), f"perturbed point {k + 1}"
            opening: Literal["crash", "smoothing"] = "crash" if k % 2 == 0 else "smoothing"
            yield Settings(point, origin, opening, 0.0, scaled != (k % 4 >= 2))


def _large_and_sparse(problem: MixedLCP | MCP) -> bool:
    """Return whether a problem is pivoted without a dictionary."""
    return problem.n >= SPARSE_ROWS and is_sparse(problem)


def _vertex(problem: MixedLCP | MCP) -> Array:
    """Return the point with every variable on a bound, where it has one: where Lemke's method starts."""
    lower, upper = problem.lower, problem.upper
    return np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))
