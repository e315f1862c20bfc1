"""Mixed LCPs by convex quadratic programs: exact where M is monotone, a sequence of them where it is not.

Monotone (symmetric part PSD): one program, `SaddleProgram` for symmetric M and for M that is skew between two
parts of its rows, `GapProgram` otherwise.

Contacts, M = [[A, Ehat], [Ebar, 0]] (and velocity or bilateral rows): with -mu in place of the 0 that couples
sigma into the normal rows, Ehat becomes -Ebar' and M monotone. That is the convex relaxation; its bias goes
with q_n + mu s in place of q_n, s = sigma, so sigma is iterated to a fixed point, accelerated.

Otherwise: the convex-concave procedure [Yuille and Rangarajan 2003]. With N >= 0 the negative part of the
symmetric part of M, each step solves the monotone problem (M + N + rho I, q - (N + rho I) z_k), a proximal
step; for symmetric M every step lowers z'Mz/2 + q'z, and what it settles at is a solution.

Every point goes through the active-set polish.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.problem.facts import is_psd
from mcpframe.problem.infeasibility import find_certificate
from mcpframe.problem.problems import MixedLCP
from mcpframe.solvers.qp.anderson import Anderson
from mcpframe.solvers.qp.programs import Backend, GapProgram, Minimum
from mcpframe.solvers.qp.saddle import SaddleProgram, multiplier_rows
from mcpframe.solvers.shared.polish import (
    Polished,
    active_set_polish,
    guess_basis,
    solution_basis,
    to_vertex,
)
from mcpframe.solving.plugin import Request
from mcpframe.solving.solution import Claim, Status

Array = NDArray[np.float64]
Solver = Callable[[Array, Backend], Minimum]
"""(q, backend) -> solution of a monotone problem."""

PROXIMAL = 1e-3
"""rho relative to the largest entry of M + N: keeps each step's solution unique."""
SETTLED = 1e-12
"""Relative change of the iterate at which a fixed point has settled."""
EIGEN_LIMIT = 1000
"""Largest n whose eigenvalues are worth computing."""
FAR = 1e10
"""Scaled bounds beyond this are left out of the programs, whose other digits they would cost; not of the
polish."""
PROGRAM_SHARE = 0.8
"""Share of the time left to the backend, so that its last point can still be polished."""


def solve_mixed(problem: MixedLCP, request: Request, backend_name: str, limit: int) -> Claim:
    """Return the claim of the route that fits M.

    Args:
        backend_name: solver that cvxpy calls.
        limit: convex programs solved after the first one, where M is not monotone.
    """
    with np.errstate(all="ignore"):
        search = _Search(problem, request, backend_name)
        if search.starts_at_solution() or problem.fixed.all():
            return search.claim()
        if problem.is_psd:
            search.convex()
        else:
            for fixed_point in (contact_relaxation, proximal_sequence):
                iteration = fixed_point(problem, search.scaled, request.z0)
                if iteration is not None and search.iterate(iteration, limit):
                    break
        if search.relaxed is None:
            search.offer(np.zeros(problem.n), "zero")
        return search.claim()


class _Scaled:
    """The problem without its fixed variables: x = z / (size D), D M D with entries near one."""

    def __init__(self, problem: MixedLCP) -> None:
        self._problem = problem
        self.rows = np.flatnonzero(~problem.fixed)
        R, C = (factor[self.rows] for factor in problem.scaling)
        D = np.exp2(np.round(0.5 * np.log2(R * C)))
        M = sp.csr_array(problem.M)
        at = np.where(problem.fixed, problem.lower, 0.0)
        q = D * (M @ at + problem.q)[self.rows]
        # q may be zero or tiny beside finite bounds, which are data of the problem as well.
        self.size = float(np.abs(q).max(initial=0.0)) or 1.0
        self.M = sp.csr_array(sp.diags_array(D) @ M[self.rows][:, self.rows] @ sp.diags_array(D))
        self.q = q / self.size
        self.unit = self.size * D
        lower, upper = problem.lower[self.rows] / self.unit, problem.upper[self.rows] / self.unit
        self.lower, self.upper = np.where(lower < -FAR, -np.inf, lower), np.where(upper > FAR, np.inf, upper)

    def z(self, x: Array) -> Array:
        """Return the point in the problem's units [n]."""
        z = np.array(self._problem.lower)
        z[self.rows] = self.unit * x
        return z

    def program(self, M: Any) -> Solver:
        """Return (q, backend) -> solution of the monotone problem (M, q) with our bounds."""
        M = sp.csr_array(M)
        y = multiplier_rows(M, self.lower, self.upper)
        if y is None:
            return GapProgram(M, self.lower, self.upper).solve
        return SaddleProgram(M, self.lower, self.upper, y).solve


@dataclass(frozen=True, slots=True, eq=False)
class _FixedPoint:
    """y <- part(x), x the solution of the convex program for q_of(y)."""

    name: str
    program: Solver
    q_of: Callable[[Array], Array]
    part: Callable[[Array], Array]
    start: Array


def contact_relaxation(problem: MixedLCP, scaled: _Scaled, z0: Array | None) -> _FixedPoint | None:
    """Return the iteration of sigma over the relaxed contacts; None where there is no such structure."""
    blocks = problem.contacts
    if blocks is None or not np.isin(np.r_[blocks.normal, blocks.slip], scaled.rows).all():
        return None
    normal, slip = (np.searchsorted(scaled.rows, index) for index in (blocks.normal, blocks.slip))
    mu = blocks.mu * (scaled.unit[normal] / scaled.size) * (scaled.unit[slip] / scaled.size)
    M = scaled.M - sp.csr_array((mu, (normal, slip)), shape=scaled.M.shape)
    if not is_psd(M):
        return None
    add = sp.csr_array((mu, (normal, np.arange(slip.size))), shape=(scaled.q.size, slip.size))
    start = np.zeros(slip.size) if z0 is None else z0[blocks.slip] / scaled.unit[slip]
    return _FixedPoint(
        "relaxation", scaled.program(M), lambda sigma: scaled.q + add @ sigma, lambda x: x[slip], start
    )


def proximal_sequence(problem: MixedLCP, scaled: _Scaled, z0: Array | None) -> _FixedPoint:
    """Return the iteration of proximal steps with the convex part of M."""
    N = _negative_part(0.5 * (scaled.M + scaled.M.T))
    shift = N + PROXIMAL * float(abs(scaled.M + N).max()) * sp.eye_array(scaled.q.size)
    zero = np.clip(np.zeros(scaled.q.size), scaled.lower, scaled.upper)
    start = zero if z0 is None else z0[scaled.rows] / scaled.unit
    program = scaled.program(scaled.M + shift)
    return _FixedPoint("proximal program", program, lambda x: scaled.q - shift @ x, lambda x: x, start)


def _negative_part(S: sp.csr_array) -> sp.csr_array:
    """Return N >= 0 with S + N >= 0: the negative part of S; for large S a multiple of I [Gershgorin]."""
    n = S.shape[0]
    if n > EIGEN_LIMIT:
        below = abs(S).sum(axis=1) - np.abs(S.diagonal()) - S.diagonal()
        return sp.csr_array(max(float(below.max()), 0.0) * sp.eye_array(n))
    eigenvalues, V = scipy.linalg.eigh(S.toarray(), check_finite=False)
    return sp.csr_array((V * np.maximum(-eigenvalues, 0.0)) @ V.T)


class _Search:
    """The best point so far, and the routes that look for one."""

    def __init__(self, problem: MixedLCP, request: Request, backend_name: str) -> None:
        self.problem, self.request, self.scaled = problem, request, _Scaled(problem)
        left = request.deadline - perf_counter()
        self.backend = Backend(backend_name, perf_counter() + PROGRAM_SHARE * left)
        z, w, residual = problem.certify(np.zeros(problem.n))
        self.best = Polished(z, guess_basis(problem, z, w), residual, 0)
        self.relaxed: Array | None = None
        self.method, self.said, self.iterations = "zero", "", 0

    def starts_at_solution(self) -> bool:
        """Polish the start that was asked for, if any; return whether it meets the tolerance."""
        z0, basis = self.request.z0, self.request.basis
        if z0 is None and basis is None:
            return False
        return self.offer(np.zeros(self.problem.n) if z0 is None else z0, "start", basis)

    def offer(self, z: Array, method: str, basis: NDArray[np.int8] | None = None) -> bool:
        """Polish a point and keep it if it is the best; return whether it meets the tolerance."""
        polished = active_set_polish(self.problem, z, basis=basis, deadline=self.request.deadline)
        self.iterations += polished.steps
        if polished.residual < self.best.residual:
            self.best, self.method = polished, method
        return self.best.residual <= self.request.tol

    def minimise(self, program: Solver, q: Array) -> Array | None:
        """Run a program; return its point in scaled units, or note why there is none."""
        minimum = program(q, self.backend)
        self.iterations += minimum.iterations
        if minimum.x is None:
            self.said = f"convex program: {minimum.status}"
        elif self.relaxed is None:
            self.relaxed = self.scaled.z(minimum.x)
        return minimum.x

    def convex(self) -> None:
        """Solve a monotone problem, which one program does."""
        x = self.minimise(self.scaled.program(self.scaled.M), self.scaled.q)
        if x is not None:
            self.offer(self.scaled.z(x), "convex program")

    def iterate(self, fixed_point: _FixedPoint, limit: int) -> bool:
        """Iterate a fixed point, polishing every x; return whether one of them was the solution."""
        y, anderson, name = fixed_point.start, Anderson(), fixed_point.name
        for k in range(limit + 1):
            x = self.minimise(fixed_point.program, fixed_point.q_of(y))
            if x is None:
                return False
            if self.offer(self.scaled.z(x), f"{name} ({k})" if k else name):
                return True
            g = fixed_point.part(x)
            if np.linalg.norm(g - y) <= SETTLED * np.linalg.norm(g) or perf_counter() > self.backend.deadline:
                break
            y = anderson.next(y, g)
        self.said = f"{name}: no answer after {k + 1} convex programs"
        return False

    def vertex(self) -> tuple[Array, NDArray[np.int8]]:
        """Return the solution as one that its basis determines, where that is as good, and the basis."""
        codes = solution_basis(self.problem, self.best.z)
        z, basis = to_vertex(self.problem, self.best.z, codes.copy())
        as_good = self.problem.certify(z)[2] <= max(self.best.residual, self.request.tol)
        return (z, basis) if as_good else (self.best.z, codes)

    def claim(self) -> Claim:
        """Return the best point, and how it was found or why it falls short."""
        problem, request, best = self.problem, self.request, self.best
        solved, farkas = best.residual <= request.tol, None
        if not solved and perf_counter() < request.deadline:
            farkas = find_certificate(problem, request.deadline - perf_counter())
        late = perf_counter() > request.deadline
        fallen_short = (
            Status.TIME_LIMIT
            if late
            else Status.NUMERICAL
            if self.relaxed is None
            else Status.ITERATION_LIMIT
        )
        z, basis = self.vertex() if solved else (best.z, solution_basis(problem, best.z))
        return Claim(
            z=z,
            status=Status.SOLVED if solved else Status.INFEASIBLE if farkas is not None else fallen_short,
            iterations=self.iterations,
            message="" if solved else self.said or f"natural residual {best.residual:.2g}",
            basis=basis,
            farkas=farkas,
            method=f"{self.method}, active-set polish",
            relaxed_z=self.relaxed,
        )
