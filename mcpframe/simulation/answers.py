"""Answers to the problems of steps by solvers in Python: from the last one, from nothing, by other solvers.

What a failure means is the scene's choice; where something was asked that cannot be done, it is an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.exceptions import NotSolvedError
from mcpframe.problem.cone import StepProblem
from mcpframe.problem.residual import LAST_BITS
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.memory.workspace import Workspace
from mcpframe.simulation.recording.steps import STATUSES
from mcpframe.simulation.warm_start import COLD, Names, Start, WarmStart
from mcpframe.solving.solution import AT_LOWER, AT_UPPER, BASIC, Solution, Status
from mcpframe.solving.solve import solve

UNSOLVABLE = frozenset({Status.RAY, Status.INFEASIBLE, Status.NUMERICAL})
"""What solvers say of problems without a solution; else they have not come far enough."""
MISSED = 1e-3
"""Share of the speed of rising by which the best point of such a problem is off at least."""


class Answers:
    """Solves problems as a scene says, and counts that in the arrays of a run.

    Args:
        stepping: solver, tolerance, what a failure means.

    Attributes:
        last: the last solution of a step, to start the next solve from.
    """

    def __init__(self, stepping: Stepping) -> None:
        self.stepping, self.last = stepping, WarmStart()

    def recall(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Take the last solution from a checkpoint."""
        kept = {name[5:]: array for name, array in memory.items() if name.startswith("last_")}
        self.last = WarmStart.of_checkpoint(kept) if kept else WarmStart()

    def from_last(self, work: Workspace, problem: StepProblem, names: Names, rise: float) -> Solution | None:
        """Solve a problem from the last step's solution, and remember its own; impacts start cold."""
        h = float(work.XS[at.TRIAL])
        if h == 0.0:
            return self.answer(work, problem, COLD, rise)
        solution = self.answer(work, problem, self.last.start(h, problem.layout, names), rise)
        if solution is not None and solution.ok:
            self.last = WarmStart.of(h, problem.layout, solution, names)
        return solution

    def answer(self, work: Workspace, problem: StepProblem, start: Start, rise: float) -> Solution | None:
        """Return what solves a problem; None where nothing can rise at such a speed.

        What a failure means is the scene's choice.
        """
        solution = solve(problem, self.stepping.solver, z0=start.z, basis=start.basis, tol=self.stepping.tol)
        if not solution.ok and start is not COLD:
            solution = solve(problem, self.stepping.solver, tol=self.stepping.tol)
        if rise > 0.0 and is_impossible(problem, solution, rise, self.stepping.tol):
            return None
        if not solution.ok and self.stepping.on_failure == "auto":
            point = solution.z if _has_point(solution) else None
            solution = solve(problem, "auto", z0=point, tol=self.stepping.tol)
        if not solution.ok and (self.stepping.on_failure != "best" or not _has_point(solution)):
            if rise > 0.0 and solution.status in UNSOLVABLE:  # everything can be held, at least
                return None
            raise NotSolvedError(solution, problem)
        self._count(work, solution)
        return solution

    def _count(self, work: Workspace, solution: Solution) -> None:
        """Add a solve to the figures; the first failure and the worst residual are told."""
        IS, XS = work.IS, work.XS
        IS[at.ITERATIONS] += solution.iterations
        IS[at.N_SOLVES] += 1
        if not solution.ok and not IS[at.STATUS]:
            IS[at.STATUS] = 1 + STATUSES.index(solution.status.name)
        if solution.solver == "auto" and self.stepping.solver.name != "auto":
            IS[at.BY_AUTO] = 1
        XS[at.RESIDUAL] = max(float(XS[at.RESIDUAL]), solution.residual)


def basis_of(problem: StepProblem, solution: Solution) -> NDArray[np.int8]:
    """Return the basis of a solution: the solver's own, or read off the point."""
    if solution.basis is not None:
        return solution.basis
    codes = np.full(problem.n, BASIC, dtype=np.int8)
    codes[solution.z <= problem.lower] = AT_LOWER
    codes[solution.z >= problem.upper] = AT_UPPER
    return codes


def is_drowned(problem: StepProblem, z: Array, tol: float) -> bool:
    """Return whether impulses are so large that rounding alone breaks the tolerance of a row.

    As in `step.pushing.solve`: so are those of a problem without a solution, on their way to infinity.
    """
    if np.abs(z).max(initial=0.0) <= 1.0:
        return False
    terms = np.abs(problem.M) @ np.abs(z)
    return bool((LAST_BITS * terms > tol * (1.0 + np.abs(problem.q))).any())


def is_impossible(problem: StepProblem, solution: Solution, rise: float, tol: float) -> bool:
    """Return whether nothing can rise at such a speed; that a solve is not accurate enough is no sign of it.

    So it is too where that takes impulses whose rounding alone is as large as the residual, or breaks the
    tolerance; a proof needs no figures.
    """
    if solution.ok:
        return is_drowned(problem, solution.z, tol)
    if solution.status not in UNSOLVABLE or not _has_point(solution):
        return False
    if solution.status is Status.INFEASIBLE:
        return True
    rounding = np.finfo(float).eps * float((np.abs(problem.M) @ np.abs(solution.z)).max(initial=0.0))
    return bool(solution.residual > MISSED * rise or rounding > MISSED * solution.residual)


def _has_point(solution: Solution) -> bool:
    """Return whether there is a point to go on with; a solver that does not take a problem has none."""
    return bool(np.isfinite(solution.z).all())
