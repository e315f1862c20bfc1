"""Check, time, certify: the one place where a claim becomes a solution."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import index_array, real_array
from mcpframe.exceptions import NotSolvedError, OptionError, ProblemError
from mcpframe.interrupts import is_interrupt
from mcpframe.problem.infeasibility import proves_infeasible
from mcpframe.problem.problems import MixedLCP
from mcpframe.solving.plugin import AbstractSolver, Request
from mcpframe.solving.registry import SOLVERS
from mcpframe.solving.solution import AT_LOWER, AT_UPPER, BASIC, Claim, Solution, Status
from mcpframe.solving.watch import in_time

Array = NDArray[np.float64]
VALID_CODES = bytes((AT_LOWER, AT_UPPER, BASIC))
SolverLike = str | AbstractSolver | Mapping[str, Any]


def solve(
    problem: Any,
    solver: SolverLike = "auto",
    *,
    z0: ArrayLike | None = None,
    basis: ArrayLike | None = None,
    tol: float = 1e-9,
    time_limit: float = math.inf,
    throw: bool = False,
    **options: Any,
) -> Solution:
    """Solve a problem and certify the answer.

    Args:
        problem: `MixedLCP`, `MCP`, or another problem type that the solver takes.
        solver: a name, a solver, or a config table ``{"name": ..., option: value}``.
        z0: point to start from [n].
        basis: codes to start from [n], such as ``previous.basis``; goes before z0.
        tol: solved means that every row is off by no more than tol (1 + |q_i|), or by rounding.
        time_limit: seconds after which the solver should stop.
        throw: raise `NotSolvedError` unless the answer is certified.
        options: options of the solver, when it is given by name.

    Returns:
        The certified answer. Look at ``solution.ok`` or ``solution.status``: a solve that fails is a
        status, not an exception.
    """
    chosen = resolve_solver(solver, options)  # first: what it imports and loads, once, takes nobody's time
    request = make_request(problem, z0, basis, tol, time_limit)
    reason = chosen.why_unsupported(problem)
    if reason:
        claim, seconds, error = unsupported(problem, reason), 0.0, None
    else:
        claim, seconds, error = run_solver(chosen, problem, request)
    solution = certify(problem, claim, request.tol, chosen.name, seconds)
    if throw and not solution.ok:
        raise NotSolvedError(solution) from error
    return solution


def resolve_solver(solver: SolverLike, options: Mapping[str, Any]) -> AbstractSolver:
    """Return the solver behind a name with options, a config table, or a solver itself."""
    if isinstance(solver, str):
        return SOLVERS.create(solver, options)
    if options:
        names = ", ".join(sorted(options))
        raise OptionError(f"{names}: options go with a solver's name; here they belong to the solver itself")
    if isinstance(solver, AbstractSolver):
        return solver
    return SOLVERS.from_table(solver)


def make_request(
    problem: Any, z0: ArrayLike | None, basis: ArrayLike | None, tol: float, time_limit: float
) -> Request:
    """Check what a user asks of a solve and put it into the solver's terms."""
    if not (_is_number(tol) and 0.0 < tol < math.inf):
        raise OptionError(f"tol = {tol!r}: must be a positive number")
    if not (_is_number(time_limit) and time_limit > 0.0):
        raise OptionError(f"time_limit = {time_limit!r}: must be a positive number of seconds")
    if not hasattr(problem, "certify"):
        kind = type(problem).__name__
        raise ProblemError(f"problem: got {kind}; build a MixedLCP(M, q, lower, upper) or an MCP(F)")
    deadline = perf_counter() + time_limit if time_limit < math.inf else math.inf
    return Request(
        tol=tol * problem.scale,
        z0=None if z0 is None else _start_point(z0, problem.n),
        basis=None if basis is None else _start_basis(basis, problem.n),
        deadline=deadline,
    )


def _is_number(value: Any) -> bool:
    return type(value) is float or (isinstance(value, Real) and not isinstance(value, bool))


def certify(problem: Any, claim: Claim, tol: float, solver: str, seconds: float) -> Solution:
    """Recompute w and the residual of a claim, and set the status they deserve.

    Args:
        tol: tolerance of the judged residual, tol * problem.scale of `solve`.
    """
    z, w, judged = _residual(problem, claim.z)
    status, message = _judge(problem, claim, judged, tol)
    return Solution(
        z=z,
        w=w,
        residual=_natural(problem, z, w, judged),
        scaled_residual=judged / problem.scale,
        status=status,
        claimed=claim.status,
        solver=solver,
        method=claim.method or solver,
        iterations=claim.iterations,
        seconds=seconds,
        message=message,
        basis=claim.basis,
        ray=claim.ray,
        farkas=claim.farkas if status is Status.INFEASIBLE else None,
        relaxed_residual=None
        if claim.relaxed_z is None
        else _natural(problem, *_residual(problem, claim.relaxed_z)),
        alternatives=tuple(_certified_only(problem, claim.alternatives, tol)) if claim.alternatives else (),
        trace=claim.trace,
    )


def _judge(problem: Any, claim: Claim, residual: float, tol: float) -> tuple[Status, str]:
    """Return status and message: the residual decides, then the claim."""
    if residual <= tol and math.isfinite(residual):
        return Status.SOLVED, claim.message
    if claim.status is Status.SOLVED or claim.status is Status.INACCURATE:
        if not math.isfinite(residual):
            return Status.NUMERICAL, claim.message or "the solver returned a point that is not finite"
        return Status.INACCURATE, claim.message or f"residual {residual:.3g} exceeds {tol:.3g}"
    if claim.status is Status.INFEASIBLE and not _holds(problem, claim.farkas):
        return Status.NUMERICAL, "the solver claimed infeasibility with a certificate that does not hold"
    return claim.status, claim.message


def _holds(problem: Any, farkas: Array | None) -> bool:
    """Return whether a certificate of infeasibility, where there is one, proves it."""
    return farkas is None or (isinstance(problem, MixedLCP) and proves_infeasible(problem, farkas))


def _certified_only(problem: Any, points: Iterable[Any], tol: float) -> Iterator[Array]:
    """Yield those points that are solutions by the same standard as the answer itself."""
    for point in points:
        z, _, residual = _residual(problem, point)
        if residual <= tol and math.isfinite(residual):
            yield z


def _residual(problem: Any, z: Any) -> tuple[Array, Array, float]:
    try:
        point = z if type(z) is np.ndarray and z.dtype == np.float64 else np.asarray(z, dtype=np.float64)
    except (TypeError, ValueError):
        point = np.empty(0)
    if point.shape != (problem.n,):
        missing = np.full(problem.n, np.nan)
        return missing, missing.copy(), math.inf
    certified: tuple[Array, Array, float] = problem.certify(point)
    return certified


def _natural(problem: Any, z: Array, w: Array, judged: float) -> float:
    """Return the residual with all rows at one scale; as judged for problems that know no other."""
    if math.isinf(judged) or not hasattr(problem, "natural_residual"):
        return judged
    return float(problem.natural_residual(z, w))


def run_solver(
    solver: AbstractSolver, problem: Any, request: Request
) -> tuple[Claim, float, Exception | None]:
    """Run the solver; an exception inside it becomes a NUMERICAL claim. Interrupts propagate.

    A solver that does not end with its time limit is left behind, see `mcpframe.solving.watch`.
    """
    start = perf_counter()
    try:
        claim = in_time(lambda: solver._solve(problem, request), problem.n, request.deadline)
        seconds = perf_counter() - start
        if claim is None:
            return _overtaken(problem, request), seconds, None
        if not (isinstance(claim, Claim) and isinstance(claim.status, Status)):
            raise TypeError(f"_solve must return a Claim with a Status, not {claim!r}")
        return claim, seconds, None
    except Exception as error:
        if is_interrupt(error):
            raise
        return _crashed(problem, error), perf_counter() - start, error


def _crashed(problem: Any, error: Exception) -> Claim:
    return Claim(np.full(problem.n, np.nan), Status.NUMERICAL, message=f"{type(error).__name__}: {error}")


def _overtaken(problem: Any, request: Request) -> Claim:
    """Return the claim of a solver that the clock has overtaken: the last point that it left on its way."""
    message = "the time limit was reached within a step that cannot be interrupted"
    if not request.kept:
        return Claim(np.zeros(problem.n), Status.TIME_LIMIT, message=message)
    return replace(request.kept[-1], status=Status.TIME_LIMIT, message=message)


def unsupported(problem: Any, reason: str) -> Claim:
    """Return the claim of a solver that does not take a problem."""
    return Claim(np.full(problem.n, np.nan), Status.UNSUPPORTED, message=reason)


def _start_point(z0: ArrayLike, n: int) -> Array:
    point = real_array("z0", z0)
    if point.shape != (n,):
        raise ProblemError(f"z0: shape {point.shape}, expected ({n},)")
    if not np.isfinite(point).all():
        raise ProblemError(f"z0: entry {int(np.argmin(np.isfinite(point)))} is not finite")
    return point


def _start_basis(basis: ArrayLike, n: int) -> NDArray[np.int8]:
    # What a solution carries is an int8 array already; to convert it would cost more than a warm solve.
    if isinstance(basis, np.ndarray) and basis.dtype == np.int8:
        codes: NDArray[np.int8] = basis.copy()
    else:
        codes = index_array("basis", basis).clip(AT_LOWER - 1, BASIC + 1).astype(np.int8)
    if codes.shape != (n,):
        raise ProblemError(f"basis: shape {codes.shape}, expected ({n},)")
    if codes.tobytes().strip(VALID_CODES):
        raise ProblemError("basis: codes are 0 (z at lower), 1 (z at upper) and 2 (in between)")
    return codes
