"""Many independent problems at once, in threads: kernels run with the interpreter lock released."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

from numpy.typing import ArrayLike

from mcpframe.exceptions import OptionError, ProblemError
from mcpframe.problem.problems import MixedLCP
from mcpframe.solving.plugin import AbstractSolver, Request
from mcpframe.solving.solution import Claim, Solution
from mcpframe.solving.solve import SolverLike, certify, make_request, resolve_solver, run_solver, unsupported

CHUNK = 64
"""Problems handed to a worker at a time; fixed, so that the number of workers changes only the clock."""


def solve_many(
    problems: Sequence[Any] | tuple[ArrayLike, ...],
    solver: SolverLike = "auto",
    *,
    workers: int | None = None,
    z0: Sequence[ArrayLike | None] | None = None,
    bases: Sequence[ArrayLike | None] | None = None,
    tol: float = 1e-9,
    time_limit: float = math.inf,
    **options: Any,
) -> list[Solution]:
    """Solve independent problems and certify every answer.

    Args:
        problems: a list of problems, or stacked arrays ``(M, q)`` or ``(M, q, lower, upper)`` with
            M [k, n, n] and q [k, n].
        solver: a name, a solver, or a config table, as for `solve`.
        workers: threads; None means one per core.
        z0, bases: starts, one per problem (None: cold).
        tol, time_limit: as for `solve`, for every problem.
        options: options of the solver, when it is given by name.

    Returns:
        One solution per problem, in order; the same bits for any number of workers. Where a solver takes a
        whole batch in one call, ``seconds`` is the batch's time divided by its size.
    """
    chosen = resolve_solver(solver, options)
    listed = _as_list(problems)
    starts, codes = _starts("z0", z0, len(listed)), _starts("bases", bases, len(listed))
    requests = [make_request(*start, tol, time_limit) for start in zip(listed, starts, codes, strict=True)]
    chunks = [slice(first, first + CHUNK) for first in range(0, len(listed), CHUNK)]

    def run(chunk: slice) -> list[Solution]:
        return _solve_chunk(chosen, listed[chunk], requests[chunk], time_limit)

    with ThreadPoolExecutor(_worker_count(workers)) as pool:
        return [solution for solutions in pool.map(run, chunks) for solution in solutions]


def _solve_chunk(
    solver: AbstractSolver, problems: list[Any], requests: list[Request], time_limit: float
) -> list[Solution]:
    """Solve one chunk by the solver's batch method; one by one where a clock, or a misfit, asks for it."""
    if time_limit < math.inf or any(solver.why_unsupported(problem) for problem in problems):
        return [_solve_one(solver, *pair, time_limit) for pair in zip(problems, requests, strict=True)]
    start = perf_counter()
    try:
        claims: list[Claim] = solver._solve_batch(problems, requests)
    except Exception:  # one bad problem must not take the others with it
        return [_solve_one(solver, *pair, time_limit) for pair in zip(problems, requests, strict=True)]
    seconds = (perf_counter() - start) / len(problems)
    parts = zip(problems, claims, requests, strict=True)
    return [certify(problem, claim, request.tol, solver.name, seconds) for problem, claim, request in parts]


def _solve_one(solver: AbstractSolver, problem: Any, request: Request, time_limit: float) -> Solution:
    reason = solver.why_unsupported(problem)
    if reason:
        return certify(problem, unsupported(problem, reason), request.tol, solver.name, 0.0)
    deadline = perf_counter() + time_limit
    claim, seconds, _ = run_solver(solver, problem, Request(request.tol, request.z0, request.basis, deadline))
    return certify(problem, claim, request.tol, solver.name, seconds)


def _as_list(problems: Any) -> list[Any]:
    stacked = isinstance(problems, tuple) and not any(hasattr(part, "certify") for part in problems)
    if not (stacked and problems):
        return list(problems)
    if len(problems) not in (2, 4):
        raise ProblemError(
            f"problems: {len(problems)} stacked arrays, expected (M, q) or (M, q, lower, upper)"
        )
    return list(MixedLCP.stack(*problems))


def _starts(name: str, given: Sequence[Any] | None, count: int) -> Sequence[Any]:
    if given is None:
        return [None] * count
    if len(given) != count:
        raise ProblemError(f"{name}: {len(given)} starts for {count} problems")
    return given


def _worker_count(workers: int | None) -> int:
    if workers is None:
        return os.cpu_count() or 1
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise OptionError(f"workers = {workers!r}: must be an integer >= 1")
    return workers
