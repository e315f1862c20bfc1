"""Semismooth Newton method on a complementarity function, for mixed LCPs and MCPs.

Method. The problem is written as Phi(z) = 0 with Billups' form of the (penalised) Fischer-Burmeister function
or of the min-map (`newton_kernels`) and solved by a damped, non-monotone Newton method with proximal,
Levenberg-Marquardt and gradient steps to fall back on (`newton_descent`). A run that ends in a local minimum
of the merit is followed by others, in a fixed order: a smoothing homotopy from the same point, the same two
with the other choice of scaling, then perturbed starting points from a seeded generator. An active-set polish
(`newton_polish`) takes a point near a solution to rounding level.

Matrix class. Every stationary point of the merit solves the problem where F is a P0 function (all monotone
problems) with mild regularity; elsewhere, contact problems with friction among them, the homotopy and the
restarts do the work and success is likely, not certain. A mixed LCP on which two runs fail is checked for a
proof of infeasibility.

Derivatives come from the problem (CasADi for an MCP). Dense matrices go to LAPACK, large sparse ones to
SuperLU, those of large obstacle problems to conjugate gradients with multigrid; these problems are first
solved on coarser grids (`newton.nested`). F need not be defined everywhere: steps to where it is not are
shortened.

References. Fischer 1992; Billups 1995; De Luca, Facchinei, Kanzow 1996; Kanzow 1996 (smoothing); Munson,
Facchinei, Ferris, Fischer, Kanzow 2001 (proximal steps, restarts); Chen, Chen, Kanzow 2000 (penalised
function).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mcpframe.problem.problems import MCP, MixedLCP
from mcpframe.solvers.newton.descent import Run
from mcpframe.solvers.newton.kernels import FISCHER, MINIMUM, PENALIZED
from mcpframe.solvers.newton.nested import nested_start
from mcpframe.solvers.shared.multistart import Multistart, Outcome, perturbed
from mcpframe.solvers.shared.scaled_model import scaled_model
from mcpframe.solving.plugin import AbstractSolver, Request
from mcpframe.solving.solution import Claim

Array = NDArray[np.float64]

KINDS = {"penalized": PENALIZED, "fischer_burmeister": FISCHER, "minimum": MINIMUM}


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Where a run starts and how.

    Attributes:
        z: the point, in the problem's units.
        smooth: whether the smoothing homotopy comes first.
        scaled: whether the problem is scaled.
        origin: the point in words.
    """

    z: Array
    smooth: bool
    scaled: bool
    origin: str


class StartLine(NamedTuple):
    """The beginning of a run, in the trace; prints the header of the lines that follow."""

    run: int
    smooth: bool
    scaled: bool
    origin: str

    def __str__(self) -> str:
        method = "smoothing homotopy, then Newton," if self.smooth else "Newton"
        scaling = "scaled" if self.scaled else "not scaled"
        return (
            f"run {self.run}: {method} from {self.origin}, {scaling}\n"
            "  run   iter  dir      step   func        mu    ||Phi||   residual"
        )


@final
class Newton(AbstractSolver):
    """Semismooth Newton with smoothing homotopy and restarts, for mixed LCPs and MCPs."""

    name: ClassVar[str] = "newton"
    problems: ClassVar[tuple[type, ...]] = (MixedLCP, MCP)

    function: Literal["penalized", "fischer_burmeister", "minimum"] = Field(
        "penalized", description="complementarity function of the merit"
    )
    max_iterations: int = Field(
        100, ge=1, description="Newton steps per run, those of the homotopy not counted"
    )
    memory: int = Field(
        8, ge=1, description="past merits that the line search may go back up to; 1 is monotone"
    )
    restarts: int = Field(10, ge=0, description="runs after the first; 0 is the plain method")
    seed: int = Field(0, ge=0, description="seed of the perturbed starting points")

    def _solve(self, problem: MixedLCP | MCP, request: Request) -> Claim:
        with np.errstate(all="ignore"):
            search = Multistart(problem, request)
            if request.z0 is None and request.basis is None:
                near = nested_start(problem, lambda coarse: self._solve(coarse, request).z)
                search.first = search.first if near is None else near

            def attempt(number: int, start: Start) -> Outcome:
                return self._attempt(search, number, start)

            return search.run(self._starts(search), attempt)

    def _attempt(self, search: Multistart, number: int, start: Start) -> Outcome:
        """Run from one start."""
        model = scaled_model(search.problem, start.z, scaled=start.scaled)
        search.trace.append(StartLine(number, start.smooth, start.scaled, start.origin))
        deadline = search.request.deadline
        run = Run(model, KINDS[self.function], self.memory, search.goal, deadline, search.trace, number)
        y = start.z / model.column
        if start.smooth:
            y = run.smooth(y)
        reason = run.descend(y, self.max_iterations)
        return Outcome(run.best_y * model.column, run.best_residual, reason, run.steps)

    def _starts(self, search: Multistart) -> Iterator[Start]:
        """Yield the runs in order: Newton and homotopy, in either scaling, then from perturbed points."""
        z, scaled = search.first, isinstance(search.problem, MixedLCP)
        random = np.random.default_rng(self.seed)
        for k in range(1 + self.restarts):
            smooth, other = k % 2 == 1, k % 4 >= 2
            point, origin = z, "the starting point"
            if k >= 4:
                point, origin = perturbed(search.problem, z, k - 4, random), f"perturbed point {k - 3}"
            yield Start(point, smooth, scaled != other, origin)
