"""A solver of one's own, registered for this program: fixed-point projection."""

import numpy as np
from pydantic import Field

import mcpframe as mf


@mf.register_solver
class Projection(mf.AbstractSolver):
    """Fixed-point projection z = clip(z - step (M z + q), l, u), for strongly monotone problems."""

    name = "projection"
    step: float = Field(0.1, gt=0.0, description="length of a step")
    max_iterations: int = Field(1000, ge=1, description="steps to try")

    def _solve(self, problem: mf.MixedLCP, request: mf.Request) -> mf.Claim:
        z = np.zeros(problem.n)
        for k in range(self.max_iterations):
            z, w, residual = problem.certify(z)
            if residual <= request.tol:
                return mf.Claim(z, mf.Status.SOLVED, iterations=k)
            z = z - self.step * w
        return mf.Claim(z, mf.Status.ITERATION_LIMIT, iterations=self.max_iterations)


problem = mf.MixedLCP([[2.0, 1.0], [1.0, 2.0]], [-4.0, -5.0])
print(mf.solve(problem, "projection", step=0.3))
print(mf.solve(problem, "projection", step=0.3, max_iterations=3).status.remedy)
assert mf.solve(problem, "projection", step=0.3).ok
