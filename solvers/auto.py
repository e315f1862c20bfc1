"""The method that fits: a warm start if there is one, then the fastest method for the facts, then the others.

Order. A mixed LCP of moderate size goes to `lemke`, whose warm start tries the given active set before it
pivots; a large sparse one to `newton` and `ipm` first. What is left unsolved is checked for a proof of
infeasibility, then handed to the others, `qp` at last. An MCP goes to `newton`, then `path`; a friction
problem with exact cones to `qp`. After each method the framework's own
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

from mcpframe.friction import FrictionProblem
from mcpframe.infeasibility import find_certificate
from mcpframe.plugin import AbstractSolver, Request
from mcpframe.problem import MCP, MixedLCP
from mcpframe.solution import Claim, Status
from mcpframe.solvers.lemke import Lemke

Array = NDArray[np.float64]

LARGE = 400
"""From this size on a sparse problem goes to the sparse methods first."""
SPARSE = 0.05
"""Share of nonzeros below which a large problem counts as sparse."""

_CLASSES = {"newton": "Newton", "path": "Path", "ipm": "IPM", "qp": "QP", "pgs": "PGS"}


@final
class Auto(AbstractSolver):
    """Warm-started active set, then the method that fits, then the others, until the certificate holds."""

    name = "auto"
    problems: ClassVar[tuple[type, ...]] = (MixedLCP, MCP, FrictionProblem)

    fallbacks: bool = Field(default=True, description="go on to other methods when the first one fails")

    def _solve(self, problem: Any, request: Request) -> Claim:
        search = _Search(problem, request)
        for method in self._methods(problem):
            if method == "infeasible":
                if search.proves_infeasible():
                    break
            elif search.run(_solver(method)) or not self.fallbacks:
                break
            if perf_counter() > request.deadline:
                break
        return search.claim()

    def _methods(self, problem: Any) -> Iterator[str]:
        """Yield methods in the order to try them; later facts are only computed when they are needed."""
        if isinstance(problem, FrictionProblem):
            yield "qp"
        elif isinstance(problem, MCP):
            yield from ("newton", "path")
        else:
            yield from self._linear_methods(problem)

    def _linear_methods(self, problem: MixedLCP) -> Iterator[str]:
        large = problem.n >= LARGE and problem.is_sparse and problem.M_csr.nnz <= SPARSE * problem.n**2
        yield from ("newton", "ipm", "lemke") if large else ("lemke",)
        yield "infeasible"
        yield from ("path",) if large else ("ipm", "newton", "path")
        yield "qp"

    def _solve_batch(self, problems: Sequence[Any], requests: Sequence[Request]) -> list[Claim]:
        """Let `lemke` take the whole batch where it is the first method; the search gets its failures."""
        if not all(isinstance(problem, MixedLCP) and problem.n < LARGE for problem in problems):
            return super()._solve_batch(problems, requests)
        claims = Lemke()._solve_batch(problems, requests)
        return [
            replace(claim, method="lemke") if claim.status is Status.SOLVED else self._solve(problem, request)
            for claim, problem, request in zip(claims, problems, requests, strict=True)
        ]


class _Search:
    """The best claim so far, and what every method said."""

    def __init__(self, problem: Any, request: Request) -> None:
        self.problem, self.request = problem, request
        self.best = Claim(np.zeros(problem.n), Status.NUMERICAL)
        self.residual = np.inf
        self.iterations = 0
        self.said: list[str] = []

    def run(self, solver: AbstractSolver) -> bool:
        """Let a method try; return whether its point meets the tolerance."""
        reason = solver.why_unsupported(self.problem)
        if reason:
            self.said.append(reason)
            return False
        claim = solver._solve(self.problem, self.request)
        self.iterations += claim.iterations
        residual = self.problem.certify(claim.z)[2]
        self.said.append(f"{solver.name}: {claim.status.name}, residual {residual:.2g}")
        if residual < self.residual or not self.said[1:]:
            self.best, self.residual = replace(claim, method=claim.method or solver.name), residual
        return self.residual <= self.request.tol

    def proves_infeasible(self) -> bool:
        """Look for a proof that there is no solution."""
        farkas = find_certificate(self.problem, max(1e-3, self.request.deadline - perf_counter()))
        if farkas is not None:
            self.best = replace(self.best, status=Status.INFEASIBLE, farkas=farkas, method="infeasibility")
            self.said = ["a Farkas certificate proves that no z has the signs of w it needs"]
        return farkas is not None

    def claim(self) -> Claim:
        """Return the best claim, with what was tried when it falls short."""
        status, message = self.best.status, self.best.message
        if self.residual <= self.request.tol:
            status = Status.SOLVED
        elif status is not Status.INFEASIBLE and perf_counter() > self.request.deadline:
            status = Status.TIME_LIMIT
        if status is not Status.SOLVED:
            message = "; ".join(self.said)
        return replace(self.best, status=status, message=message, iterations=self.iterations)


def _solver(name: str) -> AbstractSolver:
    """Return a method with its default options; modules are imported when first needed."""
    if name == "lemke":
        return Lemke()
    if name not in _CLASSES:
        raise ValueError(name)
    solver: AbstractSolver = getattr(import_module(f"mcpframe.solvers.{name}"), _CLASSES[name])()
    return solver
