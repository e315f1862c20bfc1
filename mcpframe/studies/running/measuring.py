"""What is measured of one row: building, solving and recovering apart, and what the answer is worth.

The clock of a solve runs inside the solver alone: kernels are compiled and libraries loaded before, by
solving tiny problems.
"""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from mcpframe.problem.cone import ConeLCP
from mcpframe.problem.friction import FrictionProblem
from mcpframe.problem.generators import contact_lcp
from mcpframe.solving.plugin import AbstractFormulation, AbstractSolver
from mcpframe.solving.solution import Solution, Status
from mcpframe.solving.solve import certify, make_request, run_solver, solve, unsupported
from mcpframe.studies.running.carrying import Start
from mcpframe.studies.sources.source import Case
from mcpframe.studies.study.row import CRASHED, Row


@dataclass(frozen=True, eq=False)
class Written:
    """A problem, and how its solution is read back.

    Attributes:
        problem: as a formulation wrote it, or as given.
        seconds: that the formulation took.
        recover: reads a solution back; None for given problems.
        n_contacts, n_dofs: of the step.
    """

    problem: Any
    seconds: float
    recover: Callable[[Solution], Any] | None
    n_contacts: int
    n_dofs: int


def blank_row(
    case: str, source: str, system: str, formulation: str, solver: str, start: str, repeat: int
) -> Row:
    """Return a row of which nothing is known but what it is to be."""
    return Row(
        case=case,
        source=source,
        system=system,
        formulation=formulation,
        solver=solver,
        start=start,
        repeat=repeat,
        status=CRASHED,
        reason="",
        claim="",
        ok=False,
        claim_right=True,
        residual=np.inf,
        scaled_residual=np.inf,
        iterations=0,
        build_seconds=0.0,
        solve_seconds=0.0,
        recover_seconds=0.0,
        n=0,
        n_contacts=0,
        n_dofs=0,
        nnz=0,
        z_digest="",
    )


def write(formulation: AbstractFormulation, case: Case) -> Written:
    """Return the problem of a step, and how long the formulation took."""
    assert case.make_step is not None
    step = case.make_step()
    give_way()
    clock = perf_counter()
    problem, recovery = formulation.build(step)
    seconds = perf_counter() - clock

    def recover(solution: Solution) -> Any:
        return formulation.recover(recovery, solution)

    return Written(problem, seconds, recover, step.n_u, step.state.model.n_dofs)


def as_given(case: Case) -> Written:
    """Return the problem of a case that comes as it is, as if nobody had looked at it yet."""
    problem, n_dofs = unknown(case.problem), int(case.labels.get("n_dofs", 0))
    if isinstance(problem, FrictionProblem):
        return Written(problem, 0.0, None, problem.n_c, n_dofs)
    if isinstance(problem, ConeLCP):
        return Written(problem, 0.0, None, problem.n_contacts, n_dofs)
    return Written(problem, 0.0, None, 0 if problem.contacts is None else problem.contacts.n_u, n_dofs)


def give_way() -> None:
    """Let other processes have the core now, not while the clock runs: a new slice of time begins."""
    if hasattr(os, "sched_yield"):
        os.sched_yield()


def unknown(problem: Any) -> Any:
    """Return a copy of a problem without what solvers before have found out about it."""
    twin = copy.copy(problem)
    for name in list(vars(twin)):
        if isinstance(getattr(type(twin), name, None), cached_property):
            del vars(twin)[name]
    return twin


def timed_solve(
    solver: AbstractSolver, problem: Any, start: Start, tol: float, time_limit: float
) -> tuple[Solution, Exception | None]:
    """Return a certified solution, and the exception where the solver raised one."""
    reason = solver.why_unsupported(problem)
    request = make_request(problem, *start, tol, time_limit)
    if reason:
        return certify(problem, unsupported(problem, reason), request.tol, solver.name, 0.0), None
    give_way()
    claim, seconds, error = run_solver(solver, problem, request)
    return certify(problem, claim, request.tol, solver.name, seconds), error


def judged(draft: Row, solution: Solution, error: Exception | None, time_limit: float) -> Row:
    """Return the row of a solve; an answer that comes after the time limit counts as none."""
    row = replace(
        draft,
        status=solution.status.name,
        reason="" if solution.ok else solution.message or solution.status.remedy,
        claim=solution.claimed.name,
        ok=solution.ok,
        claim_right=solution.claimed is solution.status,
        residual=solution.residual,
        scaled_residual=solution.scaled_residual,
        iterations=solution.iterations,
        solve_seconds=solution.seconds,
        z_digest=hashlib.sha256(solution.z.tobytes()).hexdigest(),
    )
    if error is not None:
        return replace(failed(row, CRASHED, f"{type(error).__name__}: {error}"), claim="", claim_right=True)
    if solution.ok and solution.seconds > time_limit:
        return failed(row, Status.TIME_LIMIT.name, "it came to an answer, but after the time limit")
    return row


def failed(draft: Row, status: str, reason: str) -> Row:
    """Return a row that has come to nothing."""
    return replace(draft, status=status, reason=reason, ok=False)


def is_failure(row: Row) -> bool:
    """Return whether the problem of a row is worth keeping: it was tried and not solved."""
    return not row.ok and row.status != Status.UNSUPPORTED.name


def warm_up(solver: AbstractSolver) -> None:
    """Solve tiny problems, dense, sparse and again warm, so that all is loaded that is loaded once."""
    dense = contact_lcp(1)
    for problem in (dense, type(dense)(sp.csr_array(dense.M), dense.q, dense.lower, dense.upper)):
        if not solver.why_unsupported(problem):
            solution = solve(problem, solver)
            solve(problem, solver, z0=np.where(np.isfinite(solution.z), solution.z, 0.0))


def recovered(row: Row, written: Written, solution: Solution) -> Row:
    """Return the row with the time that reading the solution back takes."""
    if written.recover is None or not np.isfinite(solution.z).all():
        return row
    give_way()
    clock = perf_counter()
    try:
        written.recover(solution)
    except Exception as error:
        return failed(row, CRASHED, f"recover: {type(error).__name__}: {error}")
    return replace(row, recover_seconds=perf_counter() - clock)


def sized(draft: Row, written: Written) -> Row:
    """Return a row with the sizes of its problem and the time that writing it took."""
    return replace(
        draft,
        n=written.problem.n,
        n_contacts=written.n_contacts,
        n_dofs=written.n_dofs,
        nnz=_nonzeros(written.problem),
        build_seconds=written.seconds,
    )


def _nonzeros(problem: Any) -> int:
    """Return the entries of M that are not zero; of a friction problem those of W, or of M in global form."""
    matrix: Any = getattr(problem, "M", None)
    if isinstance(problem, FrictionProblem):
        matrix = problem.W if problem.global_form is None else problem.global_form.M
    return int(matrix.count_nonzero() if sp.issparse(matrix) else np.count_nonzero(matrix))
