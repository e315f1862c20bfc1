"""Lemke's complementary pivoting for mixed LCPs, with bounds, free rows and warm starts.

Method. A dense dictionary (`shared.tableau`) is pivoted along Lemke's path (`lemke.kernels`): a covering
vector d t makes the start feasible, t falls to zero. Bounds are native: a variable may cross from one bound
to the other without a pivot. Free variables are pivoted in first and their rows set aside; fixed ones never
enter. The path's end gives a basis; its point is recomputed from M by LU with refinement whenever the
dictionary has drifted, and if the basis does not hold, the dictionary is made anew from it and the path goes
on. Failing that, other covering vectors and scaled data are tried, in a fixed order.

Cycling. The first path takes the largest pivot among ties, and among what rounding alone keeps from being
ties (Harris 1973); that is fast and accurate on redundant contacts, and has a limited number of pivots. Later
paths (and the only one, where `attempts` is 1) break ties lexicographically, so that no basis repeats.

Warm start. A basis (or the one that z0 suggests) is first tried as it is, then corrected by a few
primal-dual active-set steps, then taken as the start of a path whose covering vector lifts only what is
infeasible: the same or a neighbouring problem costs a few pivots.

Matrix class. Finds a solution for every P-matrix, strictly copositive or copositive-plus M (feasible
problem), and for contact problems whose q lies in the range of the contact map. Elsewhere it may end on a
ray: status RAY, with the ray's direction in z.

Limits. Dense, n^2 memory, n^2 work per pivot; exponentially many pivots on contrived problems.

References. Lemke 1965; Cottle, Pang, Stone, The Linear Complementarity Problem, 4.4 and 4.9 (lexicographic
rule); Sargent 1978 and Dirkse, Ferris 1995 (bounds; start from any basis).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import chain, groupby
from time import perf_counter
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mcpframe.problem.problems import MixedLCP
from mcpframe.solvers.lemke.attempts import RELATIVE, solve_dense, solve_stack
from mcpframe.solvers.lemke.kernels import ENDED, PIVOT_LIMIT, RAY, SINGULAR, STOPPED
from mcpframe.solvers.shared.alarm import NEVER, alarm
from mcpframe.solvers.shared.free_rows import eliminate_free_rows
from mcpframe.solvers.shared.polish import active_set_polish
from mcpframe.solvers.shared.workspace import thread_workspace
from mcpframe.solving.plugin import AbstractSolver, Request
from mcpframe.solving.solution import AT_LOWER, AT_UPPER, BASIC, Claim, Status
from mcpframe.solving.stages import SolverStage

Array = NDArray[np.float64]
Codes = NDArray[np.int8]
Stop = NDArray[np.int64]
Start = tuple[Array, Codes, float]

MANY_FREE_ROWS = 48
"""From here on free rows are eliminated by LAPACK or SuperLU before the dictionary is made."""
DEFAULT_ATTEMPTS = 7
BRIEF = 0.2
"""Share of the time left that all paths together may take at the worst for a solve without an alarm, which
would cost a thread, 200 µs."""
PIVOT_SECONDS, ENTRY_SECONDS = 3e-7, 6e-10
"""Of a pivot, and of each of the n² entries that it changes."""

NEIGHBOURS = (1e-6, 1e-5, 1e-8, 1e-11)
"""Shares of M's largest entry that are added to its diagonal for neighbouring problems."""
POLISH_STEPS = 10
NEARLY = 1e-3
"""Residual, over the problem's scale, of a point that is worth such a search."""
DENSE_ROWS = 20_000
"""Rows that are not free, of a dictionary that is too large to keep: 3 GB."""
FEW_ROWS = 32
"""Up to this size other bases are tried where every path ends on a ray."""

_STATUS = {
    ENDED: (Status.NUMERICAL, "every path ended on a basis that does not hold to the tolerance"),
    RAY: (Status.RAY, "the path ended on a secondary ray"),
    PIVOT_LIMIT: (Status.ITERATION_LIMIT, "the pivot limit was reached"),
    STOPPED: (Status.TIME_LIMIT, "the time limit was reached"),
    SINGULAR: (Status.NUMERICAL, "a basis is singular: free rows or contacts contradict each other"),
}


@final
class Lemke(AbstractSolver):
    """Lemke's pivoting with bounds, free rows, warm starts, and a lexicographic rule against cycling."""

    name = "lemke"

    max_pivots: int = Field(
        default=0, ge=0, description="pivots of one path; 0 means 10 n + 100, doubled at each retry"
    )
    attempts: int = Field(
        default=DEFAULT_ATTEMPTS,
        ge=1,
        le=50,
        description="cold paths to try, with other covers and scalings; 1 is the lexicographic textbook path",
    )

    def why_unsupported(self, problem: Any) -> str:
        """Return why the problem is not taken: another kind, or too large for a dense dictionary."""
        return super().why_unsupported(problem) or too_large(problem, self.name)

    def _solve(self, problem: MixedLCP, request: Request) -> Claim:
        if problem.n > MANY_FREE_ROWS and np.count_nonzero(problem.free) > MANY_FREE_ROWS:
            claim = self._solve_reduced(problem, request)
            if claim is not None:
                return claim
        return self._solve_dense(problem, request)

    def _solve_reduced(self, problem: MixedLCP, request: Request) -> Claim | None:
        """Eliminate the free rows, solve, come back and sharpen; None where they cannot be eliminated."""
        reduction = eliminate_free_rows(problem)
        if reduction is None:
            return None
        start = start_codes(problem, request)
        basis = None if start is None else start[reduction.kept]
        claim = self._solve_dense(reduction.problem, Request(request.tol, None, basis, request.deadline))
        z = reduction.point(claim.z)
        codes = None if claim.basis is None else reduction.codes(claim.basis)
        if claim.status is not Status.SOLVED:
            ray = None if claim.ray is None else reduction.direction(claim.ray)
            return Claim(z, claim.status, claim.iterations, claim.message, codes, ray)
        goal = min(request.tol, RELATIVE * float(np.abs(problem.q).max()))
        if problem.certify(z)[2] <= goal:
            return Claim(z, Status.SOLVED, claim.iterations, basis=codes)
        polished = active_set_polish(problem, z, basis=codes, max_steps=2, deadline=request.deadline)
        return Claim(polished.z, Status.SOLVED, claim.iterations, basis=polished.basis)

    def _solve_dense(self, problem: MixedLCP, request: Request) -> Claim:
        n = problem.n
        work = thread_workspace(n)
        codes = np.zeros((2, n), np.int8)
        start = start_codes(problem, request)
        if start is not None:
            codes[0] = start
        z, ray = np.empty(n), np.zeros(n)
        arguments = (
            problem.M_dense, problem.q, problem.lower, problem.upper,
            codes, start is not None, request.tol, self.max_pivots, self.attempts,
            z, ray, *work,
        )  # fmt: skip
        brief = self._most_seconds(n) < BRIEF * (request.deadline - perf_counter())
        with nullcontext(NEVER) if brief else alarm(request.deadline) as stop:
            residual, ended, pivots = solve_dense(*arguments, stop)
            claim = _claim(z, residual, ended, pivots, codes[0], ray, request.tol)
            if self.attempts > 1 and claim.status is not Status.SOLVED:
                return self._tried_again(problem, request, claim, residual, stop)
        return claim

    def _tried_again(
        self, problem: MixedLCP, request: Request, claim: Claim, residual: float, stop: Stop
    ) -> Claim:
        """Try what the failure suggests: neighbouring problems, and other bases to start from."""
        tries = list[Iterator[Start]]()
        if claim.status is Status.NUMERICAL or residual <= NEARLY * problem.scale:
            tries.append(self._from_neighbours(problem, request, stop))
        if claim.status is Status.RAY and problem.n <= FEW_ROWS:
            tries.append(self._from_other_bases(problem, request, stop))
        for z, codes, off in chain(*tries):
            if stop[0] != 0:
                break
            if claim.status is Status.RAY and off > NEARLY * problem.scale:
                continue
            polished = active_set_polish(
                problem, z, basis=codes, max_steps=POLISH_STEPS, deadline=request.deadline
            )
            if polished.residual <= request.tol:
                return Claim(polished.z, Status.SOLVED, claim.iterations, basis=polished.basis)
        return claim

    def _from_neighbours(self, problem: MixedLCP, request: Request, stop: Stop) -> Iterator[Start]:
        """Yield ends of the paths of neighbouring problems, with more on the diagonal of M.

        They lie near the point of least norm; from there an active-set polish finds the basis of redundant
        contacts, or of free rows whose block is singular, that is farthest from singular.
        """
        size, cold = float(np.abs(problem.M_dense).max()), np.zeros(problem.n, np.int8)
        for share in NEIGHBOURS:
            M = problem.M_dense + share * size * np.eye(problem.n)
            yield self._end(M, problem, request, cold, False, stop)

    def _from_other_bases(self, problem: MixedLCP, request: Request, stop: Stop) -> Iterator[Start]:
        """Yield ends of paths that start elsewhere: from all rows basic, from all but one, from one alone.

        Where a path from the cold basis leaves on a ray, another may end at a solution.
        """
        n = problem.n
        starts = [np.full(n, BASIC, np.int8)]
        for code, rest in ((BASIC, AT_LOWER), (AT_LOWER, BASIC)):
            for i in range(n):
                starts.append(np.full(n, rest, np.int8))
                starts[-1][i] = code
        for codes in starts:
            yield self._end(problem.M_dense, problem, request, codes, True, stop)

    def _end(
        self, M: Array, problem: MixedLCP, request: Request, start: Codes, warm: bool, stop: Stop
    ) -> Start:
        """Return the end of a path for another matrix, or from another basis: z, its codes and residual."""
        n, codes = problem.n, np.array([start, start])
        z, work = np.empty(n), thread_workspace(n)
        bounds = problem.lower, problem.upper
        attempts = DEFAULT_ATTEMPTS if not warm else 1
        options = codes, warm, request.tol, self.max_pivots, attempts
        residual, _, _ = solve_dense(M, problem.q, *bounds, *options, z, np.zeros(n), *work, stop)
        return z, codes[0], residual

    def _most_seconds(self, n: int) -> float:
        """Return how long all paths together can take: each has twice the pivots of the one before."""
        first = self.max_pivots or 10 * n + 100
        paths = self.attempts if self.max_pivots else 2**self.attempts
        return paths * first * (PIVOT_SECONDS + ENTRY_SECONDS * n * n)

    def stage(self, discs: bool = False) -> SolverStage | None:
        """Return a kernel by which compiled code solves mixed LCPs as this solver does; no discs."""
        from mcpframe.solvers.lemke.stage import lemke_stage  # compiled when asked for

        return None if discs else lemke_stage(self.max_pivots, self.attempts)

    def _solve_batch(self, problems: Sequence[MixedLCP], requests: Sequence[Request]) -> list[Claim]:
        """Solve runs of small problems of one size in one call, without the interpreter lock in between."""
        claims: list[Claim] = []
        pairs = zip(problems, requests, strict=True)
        for n, run in groupby(pairs, key=lambda pair: pair[0].n):
            if n <= MANY_FREE_ROWS:
                claims += self._solve_stack(*zip(*run, strict=True))
            else:
                claims += [self._solve(*pair) for pair in run]
        return claims

    def _solve_stack(self, problems: Sequence[MixedLCP], requests: Sequence[Request]) -> list[Claim]:
        k, n = len(problems), problems[0].n
        work = thread_workspace(n)
        starts = [start_codes(*pair) for pair in zip(problems, requests, strict=True)]
        codes = np.zeros((k, 2, n), np.int8)
        for code, start in zip(codes, starts, strict=True):
            if start is not None:
                code[0] = start
        z, ray, ends = np.empty((k, n)), np.zeros((k, n)), np.empty((k, 3))
        solve_stack(
            np.stack([problem.M_dense for problem in problems]),
            np.stack([problem.q for problem in problems]),
            np.stack([problem.lower for problem in problems]),
            np.stack([problem.upper for problem in problems]),
            codes, np.array([start is not None for start in starts]),
            np.array([request.tol for request in requests]), self.max_pivots, self.attempts,
            z, ray, ends, *work, NEVER,
        )  # fmt: skip
        return [
            _claim(z[i], residual, int(ended), int(pivots), codes[i, 0], ray[i], requests[i].tol)
            for i, (residual, ended, pivots) in enumerate(ends.tolist())
        ]


def _claim(
    z: Array, residual: float, ended: int, pivots: int, codes: NDArray[np.int8], ray: Array, tol: float
) -> Claim:
    if residual <= tol:
        return Claim(z, Status.SOLVED, pivots, basis=codes)
    status, message = _STATUS[ended]
    return Claim(z, status, pivots, message, codes, ray if ended == RAY else None)


def too_large(problem: Any, name: str) -> str:
    """Return in words why a dense dictionary cannot be had; empty where it can."""
    m = problem.n - int(np.count_nonzero(problem.free))
    if m <= DENSE_ROWS:
        return ""
    gigabytes = 8e-9 * m * m
    return f"{name} keeps a dense dictionary, {gigabytes:.0f} GB for {m} rows; try 'newton' or 'ipm'"


def start_codes(problem: MixedLCP, request: Request) -> NDArray[np.int8] | None:
    """Return the basis to start from: the one asked for, the one that z0 suggests, or None."""
    if request.basis is not None:
        return request.basis
    if request.z0 is None:
        return None
    return suggested_codes(problem, request.z0)


def suggested_codes(problem: MixedLCP, z: Array) -> NDArray[np.int8]:
    """Return for every row what z suggests: at the bound whose distance is below the row's w, or between."""
    z = np.clip(z, problem.lower, problem.upper)
    w = problem.M @ z + problem.q
    codes = np.full(problem.n, BASIC, np.int8)
    codes[z - problem.lower < w] = AT_LOWER
    codes[problem.upper - z < -w] = AT_UPPER
    return codes
