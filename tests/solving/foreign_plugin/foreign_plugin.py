"""A solver as a stranger would package it: one class, one entry point."""

from typing import final

import numpy as np
from pydantic import Field

from mcpframe import AbstractSolver, Claim, MixedLCP, Request, Status


@final
class Projection(AbstractSolver):
    """Fixed-point projection z = clip(z - step (M z + q), l, u), for strongly monotone problems."""

    name = "projection"

    step: float = Field(0.1, gt=0.0, description="length of a step")
    max_iterations: int = Field(1000, ge=1, description="steps to try")

    def _solve(self, problem: MixedLCP, request: Request) -> Claim:
        z = np.clip(np.zeros(problem.n), problem.lower, problem.upper)
        for k in range(self.max_iterations):
            z_next = np.clip(z - self.step * (problem.M @ z + problem.q), problem.lower, problem.upper)
            if np.abs(z_next - z).max(initial=0.0) <= 0.1 * self.step * request.tol:
                return Claim(z_next, Status.SOLVED, iterations=k + 1)
            z = z_next
        return Claim(z, Status.ITERATION_LIMIT, iterations=self.max_iterations)
