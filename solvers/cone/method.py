"""Contacts on exact friction cones, in compiled code from one contact to a hundred and more.

Method. A few Gauss-Seidel sweeps find most of the modes (open, sticking, sliding), Newton's method on modes
[Alart and Curnier 1991] the others and the answer to rounding level, one linear system a step with no unknown
for an open contact, two for a sliding and three for a sticking one. Where that fails: more sweeps, an
interior point whose gap need not close before Newton's method takes over, proximal steps for contacts that
bear self-stress, other treatments of the slip, convex programs with frozen slips (`chain`). Last, smoothing
and path following with a Levenberg-Marquardt polish (`search`). Sparse friction problems past the dense
size, up to tens of thousands of contacts, take a way of their own (`sparse`): accelerated projected gradient,
proximal Newton's method, interior point. No cvxpy.

Warm start. From z0 Newton's method alone: the next step of a simulation takes one or two systems.

Takes. `FrictionProblem`, local or global, in space or in the plane; `ConeLCP`, which has bounds, equations
and further discs beside the cones.

Class. Finds a solution in all but a few of thousands of contact problems with W positive semidefinite;
nothing is proved: the problem is not monotone, and with wedging friction it may have no solution.

Limits. Dense up to `dense_rows`, with n² memory and n³ work a step; `ConeLCP` always. Beyond, jammed piles of
spheres with more than some hundred contacts may end at residuals of 1e-5, of discs with thousands near 1e-6.

References. De Saxce, Feng 1998; Alart, Curnier 1991; Jean 1999; Acary, Cadoux, Lemarechal, Malick 2011;
Nesterov, Todd 1998; Mehrotra 1992.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, ClassVar, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field

from mcpframe.problem.cone import ConeLCP
from mcpframe.problem.friction import FrictionProblem
from mcpframe.solvers.cone import memory as at
from mcpframe.solvers.cone.chain import BY_NOTHING, METHODS, solve_cones
from mcpframe.solvers.cone.equations import eliminate_equations
from mcpframe.solvers.cone.workspace import cone_bounds, thread_workspace
from mcpframe.solvers.shared.alarm import NEVER, alarm
from mcpframe.solving.plugin import AbstractSolver, Request
from mcpframe.solving.solution import Claim, Status
from mcpframe.solving.stages import SolverStage

Array = NDArray[np.float64]

FINER = 0.05
"""Share of the tolerance to ask for where a friction problem's own residual, on whole cones, is not met."""
SWEEP_SECONDS, STEP_SECONDS = 1e-9, 1e-9
"""Of all that the compiled chain may do: per entry of W and sweep, and per n³ and linear system."""
MOST_SWEEPS, MOST_STEPS = 2300, 920
SEARCH_ROWS = 3000
"""Rows up to which path following tries what the sparse route has left. A step of it costs a factor, and in
larger piles the path turns so often that thousands of steps end at a smoothing of 1e-3."""
BRIEF = 0.2
"""Share of the time left that the chain may take at the worst for a solve without an alarm, which costs a
thread, 200 µs."""


@final
class Cone(AbstractSolver):
    """Exact friction cones: sweeps, Newton's method on modes, interior point, path following; compiled."""

    name = "cone"
    problems: ClassVar[tuple[type, ...]] = (FrictionProblem, ConeLCP)

    dense_rows: int = Field(
        1200, ge=1, description="rows up to which a problem is solved as a dense one, in compiled code"
    )

    def stage(self, discs: bool = False) -> SolverStage | None:
        """Return a kernel by which compiled code solves mixed LCPs with discs as this solver does."""
        from mcpframe.solvers.cone.stage import cone_stage  # compiled when asked for

        return cone_stage() if discs else None

    def _solve(self, problem: Any, request: Request) -> Claim:
        if isinstance(problem, FrictionProblem) and problem.n > self.dense_rows and problem.is_sparse:
            return _pile(problem, request)
        if isinstance(problem, ConeLCP) and problem.has_equations:
            return _without_equations(problem, request)
        claim = _dense(problem, request, request.z0, request.tol)
        if not isinstance(problem, FrictionProblem) or claim.status is Status.TIME_LIMIT:
            return claim
        if problem.certify(claim.z)[2] <= request.tol:
            claim.status = Status.SOLVED
            return claim
        if claim.status is Status.SOLVED:
            claim = _dense(problem, request, claim.z, FINER * request.tol)
            if problem.certify(claim.z)[2] <= request.tol:
                claim.status = Status.SOLVED
                return claim
        return _search(problem, request, claim.z, claim.iterations)


def _dense(problem: Any, request: Request, start: Array | None, tol: float) -> Claim:
    """Return the claim of the compiled chain."""
    M, q, *bounds = _rows(problem)
    n, k = q.size, bounds[-1].size // 2
    z = np.zeros(n) if start is None else np.array(start)
    X, I = thread_workspace(n, k)
    arguments = M, q, *bounds, start is not None, tol, z, X, I
    longest = (MOST_SWEEPS * SWEEP_SECONDS + MOST_STEPS * STEP_SECONDS * n) * n * n
    if longest < BRIEF * (request.deadline - perf_counter()):
        error = solve_cones(*arguments, NEVER)
    else:
        with alarm(request.deadline) as stop:
            error = solve_cones(*arguments, stop)
    iterations = int(I[at.N_STEPS] + I[at.N_SWEEPS] + I[at.N_CENTRAL])
    if error <= tol:
        return Claim(z, Status.SOLVED, iterations, method=f"cone, {METHODS[I[at.STAGE]]}")
    late = perf_counter() > request.deadline
    status = Status.TIME_LIMIT if late else Status.ITERATION_LIMIT
    what = f"{I[at.N_SWEEPS]} sweeps, {I[at.N_CENTRAL]} interior steps, {I[at.N_STEPS]} of Newton's method"
    return Claim(
        z, status, iterations, f"natural residual {error:.2g} after {what}", method=METHODS[BY_NOTHING]
    )


def _without_equations(problem: ConeLCP, request: Request) -> Claim:
    """Eliminate the equations, solve, come back."""
    reduction = eliminate_equations(problem)
    if reduction is None:
        return _dense(problem, request, request.z0, request.tol)
    start = None if request.z0 is None else request.z0[reduction.kept]
    claim = _dense(reduction.problem, request, start, request.tol)
    claim.z = reduction.point(claim.z)
    if claim.status is Status.SOLVED and problem.certify(claim.z)[2] > request.tol:
        claim = _dense(problem, request, claim.z, request.tol)
    return claim


def _rows(problem: Any) -> tuple[NDArray[Any], ...]:
    """Return M, q, bounds and discs of the problem, as kernels take them."""
    if isinstance(problem, ConeLCP):
        discs = problem.discs.table.ravel(), problem.discs.sizes.ravel()
        return problem.rows.M_dense, problem.q, problem.lower, problem.upper, *discs
    W = problem.W.toarray() if sp.issparse(problem.W) else problem.W
    return np.ascontiguousarray(W), problem.q, *cone_bounds(problem.mu, problem.dim)


def _pile(problem: FrictionProblem, request: Request) -> Claim:
    """Return the claim of the sparse route."""
    from mcpframe.solvers.cone.sparse.method import Pile

    with np.errstate(all="ignore"):
        claim = Pile(problem, request).solve()
    if claim.status is not Status.ITERATION_LIMIT or problem.n > SEARCH_ROWS:
        return claim
    return _search(problem, request, claim.z, claim.iterations)


def _search(problem: FrictionProblem, request: Request, start: Array | None, iterations: int) -> Claim:
    """Return the claim of smoothing and path following."""
    from mcpframe.solvers.cone.search import Search

    with np.errstate(all="ignore"):
        search = Search(problem, request)
        if start is not None and np.isfinite(start).all():
            search.offer(start.reshape(-1, problem.dim) / search.system.unit, "start")
        claim = search.run([search.lower_smoothing, *search.paths()])
    claim.iterations += iterations
    return claim
