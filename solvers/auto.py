"""The method that fits: a warm start if there is one, then the fastest method for the facts, then the others.

Time. As long as other methods have not been tried, one gets half of the time that is left.

Order. A mixed LCP of moderate size goes to `lemke`, whose warm start tries the given active set before it
pivots; a large sparse one to `newton` and `ipm` first, a very large one to `ipm`. What is left unsolved is
checked for a proof of infeasibility; a tiny one is then decided by `enum`, which tries every basis; any other
is handed to the other methods, `qp` at last. An MCP goes to `newton`, then
`path`; a problem with exact friction cones to `cone`, then `qp`. After each method the framework's own
residual decides whether the search is over.

Matrix class. The union of its methods' classes. Limits. Those of its methods; a problem without a solution,
and without a proof of that, costs the time of all of them.

`solution.method` names the method that answered; the message of a failure lists what each one said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from time import perf_counter
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mcpframe.problem.cone import ConeLCP
from mcpframe.problem.friction import FrictionProblem
from mcpframe.problem.infeasibility import find_certificate
from mcpframe.problem.problems import MCP, MixedLCP
from mcpframe.solvers.lemke.method import Lemke
from mcpframe.solving.plugin import AbstractSolver, Request
from mcpframe.solving.solution import Claim, Status
from mcpframe.solving.stages import SolverStage
from mcpframe.solving.watch import in_time

Array = NDArray[np.float64]

LARGE = 400
"""From this size on a sparse problem goes to the sparse methods first."""
VERY_LARGE = 5000
"""From this size on a sparse problem is not pivoted on a dense dictionary; the steps of `ipm` hardly grow."""
SPARSE = 0.05
"""Share of nonzeros below which a large problem counts as sparse."""
TINY = 8
"""Up to this size all bases, 3^n at most, are tried in milliseconds, less than what other methods take."""
SHARE = 0.5
"""Of the time that is left, what a method may take as long as others have not been tried."""

LEMKE = Lemke()
_MODULES = {"enum": "enumeration"}
"""Of methods that are not called like theirs."""
_CLASSES = {
    "enum": "Enumeration",
    "newton": "Newton",
    "path": "Path",
    "ipm": "IPM",
    "qp": "QP",
    "cone": "Cone",
}


@final
class Auto(AbstractSolver):
    """Warm-started active set, then the method that fits, then the others, until the certificate holds."""

    name = "auto"
    problems: ClassVar[tuple[type, ...]] = (MixedLCP, MCP, FrictionProblem, ConeLCP)
    chooses: ClassVar[bool] = True

    fallbacks: bool = Field(default=True, description="go on to other methods when the first one fails")

    def _solve(self, problem: Any, request: Request) -> Claim:
        search = _Search(problem, request)
        methods = list(self._methods(problem))
        for k, method in enumerate(methods):
            share = SHARE if k + 1 < len(methods) and self.fallbacks else 1.0
            if method == "infeasible":
                if search.proves_infeasible(share):
                    break
            elif search.run(_solver(method), share) or not self.fallbacks:
                break
            if perf_counter() > request.deadline:
                break
        return search.claim()

    def _methods(self, problem: Any) -> Iterator[str]:
        """Yield methods in the order to try them; later facts are only computed when they are needed."""
        if isinstance(problem, ConeLCP):
            yield "cone"
        elif isinstance(problem, FrictionProblem):
            yield from ("cone", "qp")
        elif isinstance(problem, MCP):
            yield from ("newton", "path")
        else:
            yield from self._linear_methods(problem)

    def _linear_methods(self, problem: MixedLCP) -> Iterator[str]:
        large = problem.n >= LARGE and problem.is_sparse and problem.M_csr.nnz <= SPARSE * problem.n**2
        if large:
            yield from ("ipm", "newton", "path") if problem.n >= VERY_LARGE else ("newton", "ipm", "lemke")
        else:
            yield "lemke"
        yield "infeasible"
        if problem.n <= TINY:
            yield "enum"
        if not large:
            yield from ("ipm", "newton")
        if problem.n < VERY_LARGE:
            yield "path"
        yield "qp"

    def stage(self, discs: bool = False) -> SolverStage | None:
        """Return the kernel of the first method for steps; what fails there Python solves."""
        return _solver("cone").stage(discs) if discs else LEMKE.stage()

    def _solve_batch(self, problems: Sequence[Any], requests: Sequence[Request]) -> list[Claim]:
        """Let `lemke` take the whole batch where it is the first method; the search gets its failures."""
        if not all(isinstance(problem, MixedLCP) and problem.n < LARGE for problem in problems):
            return super()._solve_batch(problems, requests)
        claims = LEMKE._solve_batch(problems, requests)
        for i, (claim, problem, request) in enumerate(zip(claims, problems, requests, strict=True)):
            claim.method = LEMKE.name
            if claim.status is not Status.SOLVED:
                claims[i] = self._solve(problem, request)
        return claims


class _Search:
    """The best claim so far, and what every method said."""

    def __init__(self, problem: Any, request: Request) -> None:
        self.problem, self.request = problem, request
        self.best = Claim(np.zeros(problem.n), Status.NUMERICAL)
        self.residual = np.inf
        self.iterations = 0
        self.said: list[str] = []
        self.ray = False

    def run(self, solver: AbstractSolver, share: float) -> bool:
        """Let a method try for its share of the time; return whether it has solved or denied the problem."""
        reason = solver.why_unsupported(self.problem)
        if reason:
            self.said.append(reason)
            return False
        request = self.request
        if request.deadline < np.inf:
            request = replace(request, deadline=self._deadline(share), kept=[])
        claim = in_time(lambda: solver._solve(self.problem, request), self.problem.n, request.deadline)
        if claim is None:  # the clock has overtaken it
            claim = request.kept[-1] if request.kept else Claim(np.zeros(self.problem.n), Status.TIME_LIMIT)
        claim.method = claim.method or solver.name
        self.iterations += claim.iterations
        residual = self.problem.certify(claim.z)[2]
        if residual < self.residual or not self.said:
            self.best, self.residual = claim, residual
            self.request.kept.append(claim)
        if self.residual <= self.request.tol:
            return True
        if claim.status is Status.INFEASIBLE:  # of all methods here, `enum` alone has a proof of its own
            self.best, self.said = claim, [claim.message]
            return True
        self.ray = self.ray or claim.status is Status.RAY
        self.said.append(f"{solver.name}: {claim.status.name}, residual {residual:.2g}")
        return False

    def _deadline(self, share: float) -> float:
        now = perf_counter()
        return now + share * (self.request.deadline - now)

    def proves_infeasible(self, share: float) -> bool:
        """Look for a proof that there is no solution."""
        farkas = find_certificate(self.problem, max(1e-3, self._deadline(share) - perf_counter()))
        if farkas is None:
            return False
        self.best.status, self.best.farkas, self.best.method = Status.INFEASIBLE, farkas, "infeasibility"
        self.said = ["a Farkas certificate proves that no z has the signs of w it needs"]
        return True

    def claim(self) -> Claim:
        """Return the best claim, with what was tried when it falls short."""
        best = self.best
        best.iterations = self.iterations
        if self.residual <= self.request.tol:
            best.status = Status.SOLVED
            return best
        if best.status is not Status.INFEASIBLE and perf_counter() > self.request.deadline:
            best.status = Status.TIME_LIMIT
        elif best.status is Status.ITERATION_LIMIT and self.ray:
            best.status = Status.RAY  # says more of the problem than that another came nearer
        best.message = "; ".join(self.said)
        return best


def _solver(name: str) -> AbstractSolver:
    """Return a method with its default options; modules are imported when first needed."""
    if name == "lemke":
        return LEMKE
    solver: AbstractSolver = getattr(
        import_module(f"mcpframe.solvers.{_MODULES.get(name, name)}"), _CLASSES[name]
    )()
    return solver
