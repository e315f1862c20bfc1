"""Many solves of one size: arrays that stay where they are, a call of a few microseconds over the kernel.

What `solve` does anew each time, looking up the solver, checking the data, making a problem and a solution,
is done once; new numbers are written into the arrays. The answer is judged as everywhere.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import types
from numpy.typing import NDArray

from mcpframe.exceptions import OptionError, ProblemError
from mcpframe.jit import CodesOut, IndicesOut, Matrix, Vector, VectorOut, kernel
from mcpframe.problem.problems import MixedLCP
from mcpframe.problem.residual import clip_into, judge_dense
from mcpframe.solving.solution import BASIC, Claim, Solution, Status
from mcpframe.solving.solve import certify, make_request, run_solver, unsupported
from mcpframe.solving.stages import call_solve

if TYPE_CHECKING:
    from mcpframe.solving.plugin import AbstractSolver

Array = NDArray[np.float64]


@kernel(
    types.intp, Matrix, Vector, Vector, Vector, CodesOut, types.boolean, types.float64,
    VectorOut, VectorOut, VectorOut, IndicesOut,
)  # fmt: skip
def solve_prepared(solve, M, q, lower, upper, codes, warm, tol, z, w, W, IW):
    """Solve by the code at `solve`, judge; return (scaled residual, iterations)."""
    scale = 1.0
    for i in range(q.shape[0]):
        scale = max(scale, 1.0 + abs(q[i]))
    iterations = call_solve(solve, (M, q, lower, upper, codes, warm, tol * scale, z, W, IW))
    clip_into(lower, upper, z)
    return judge_dense(M, q, lower, upper, z, w, True) / scale, iterations


class Prepared:
    """A mixed LCP whose numbers change and whose size does not, with a solver.

    Args:
        solver: any; those that offer a kernel (`AbstractSolver.stage`) are called through it.
        problem: the first problem; M is kept dense.
        tol: as for `solve`.

    Attributes:
        M, q, lower, upper: the problem, to be written to; bounds must leave every z a value.
        z, w: the answer of the last solve, overwritten by the next.
        residual: of its worst row, as it is judged (`Solution.scaled_residual`).
        status, iterations: how it ended.
    """

    def __init__(self, solver: AbstractSolver, problem: MixedLCP, tol: float = 1e-9) -> None:
        if not isinstance(problem, MixedLCP):
            raise ProblemError(f"prepare: takes a MixedLCP, not {type(problem).__name__}")
        if not 0.0 < tol < np.inf:
            raise OptionError(f"tol = {tol!r}: must be a positive number")
        n = problem.n
        self.solver, self.tol, self._layout = solver, tol, problem.layout
        self.M, self.q = np.array(problem.M_dense), np.array(problem.q)
        self.lower, self.upper = np.array(problem.lower), np.array(problem.upper)
        self.z, self.w = np.zeros(n), np.zeros(n)
        self.residual, self.iterations, self.status = np.inf, 0, Status.NUMERICAL
        self._codes = np.zeros(2 * n, np.int8)
        self._warm = False
        stage = solver.stage()
        self._stage = None if stage is None else (stage.solve, *stage.room(n))

    @property
    def ok(self) -> bool:
        """Whether the last answer is certified."""
        return self.status is Status.SOLVED

    def solve(self, *, warm: bool = False) -> Status:
        """Solve the problem that is in the arrays.

        Args:
            warm: begin with the basis of the last answer.
        """
        if self._stage is not None:
            address, W, IW = self._stage
            self.residual, self.iterations = solve_prepared(
                address, self.M, self.q, self.lower, self.upper, self._codes, warm and self._warm, self.tol,
                self.z, self.w, W, IW,
            )  # fmt: skip
            if self.residual <= self.tol:
                self.status, self._warm = Status.SOLVED, True
                return Status.SOLVED
        solution = self._solved_anew(warm)
        self.z[:], self.w[:], self.residual = solution.z, solution.w, solution.scaled_residual
        self.status, self.iterations = solution.status, solution.iterations
        self._warm = solution.ok and solution.basis is not None
        self._codes[: self.q.size] = BASIC if solution.basis is None else solution.basis
        return solution.status

    def problem(self) -> MixedLCP:
        """Return the problem that is in the arrays, checked."""
        return MixedLCP(self.M, self.q, self.lower, self.upper, layout=self._layout)

    def solution(self) -> Solution:
        """Return the last answer as a solution of its own, certified again."""
        claim = Claim(self.z.copy(), self.status, self.iterations)
        if self._warm:
            claim.basis = self._codes[: self.q.size].copy()
        problem = self.problem()
        return certify(problem, claim, self.tol * problem.scale, self.solver.name, 0.0)

    def _solved_anew(self, warm: bool) -> Solution:
        """Solve as `solve` does: all attempts of the solver, with all that it has to say."""
        problem = self.problem()
        basis = self._codes[: problem.n].copy() if warm and self._warm else None
        request = make_request(problem, None, basis, self.tol, np.inf)
        reason = self.solver.why_unsupported(problem)
        claim = unsupported(problem, reason) if reason else run_solver(self.solver, problem, request)[0]
        return certify(problem, claim, request.tol, self.solver.name, 0.0)
