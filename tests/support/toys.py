"""Small solvers that do what a test needs: right, wrong, rude."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from mcpframe import AbstractSolver, Claim, Status


class Diagonal(AbstractSolver):
    """Exact where M is diagonal and positive: z = clip(-q / m, l, u)."""

    name = "diagonal"
    sweeps: int = Field(1, ge=1, le=100, description="how many times to do the same")
    damping: float = Field(0.0, ge=0.0, lt=1.0, description="share of the old point kept")

    def why_unsupported(self, problem):
        reason = super().why_unsupported(problem)
        if reason:
            return reason
        off = problem.M_dense - np.diag(np.diag(problem.M_dense))
        return "diagonal takes diagonal matrices only" if off.any() else ""

    def _solve(self, problem, request):
        z = np.clip(-problem.q / np.diag(problem.M_dense), problem.lower, problem.upper)
        return Claim(z, Status.SOLVED, iterations=self.sweeps)


class Says(AbstractSolver):
    """Returns, or raises, what it was told."""

    name = "says"
    answer: object = None

    def _solve(self, problem, request):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer(problem, request) if callable(self.answer) else self.answer
