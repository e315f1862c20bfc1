"""Projected Gauss-Seidel and SOR, by rows or by blocks, with an active-set polish.

Sweep over the rows, each solved for its own unknown with the others held and clipped into its bounds
[Cryer 1971; Mangasarian 1977]. In contact mechanics the rows of one contact are solved together: the
nonsmooth Gauss-Seidel of Moreau and Jean [Jean 1999]. Option `blocks`:

- contacts: F_n, beta_1..beta_nf and sigma of each contact, from `MixedLCP.contacts`;
- layout: the named blocks of z;
- rows: every row alone; needs a positive diagonal;
- auto: contacts where the problem has them, else rows, a row without positive diagonal being joined to the
  rows it is coupled with (which finds the contacts of a frictional problem that does not name them). Where
  such a group would exceed `max_block`, its rows take damped steps w_i / sum_j |M_ij|, without guarantee.

Blocks are solved exactly, by Lemke's method from their last basis. Free rows are eliminated first where some
diagonal is not positive, for an equation such as Mass v = J p + f is no business of a relaxation.

Matrix class: row sweeps converge for symmetric positive semidefinite M with positive diagonal (0 < omega < 2)
and for H-matrices with positive diagonal (0 < omega <= 1). Contact problems usually converge, in hundreds to
thousands of sweeps, more where they are redundant or ill-conditioned. At 10, 40, 160, ... sweeps the active
set is guessed and solved for; when the guess is right the answer is exact. Without `polish` the result is
what the sweeps reach. Warm start: z0. No proof of infeasibility is looked for.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mcpframe.problem.problems import MixedLCP
from mcpframe.solvers.pgs.blocks import Blocks, contact_groups, coupled_groups, layout_groups, make_blocks
from mcpframe.solvers.pgs.kernels import N_BLOCK_ROWS, sweep
from mcpframe.solvers.shared.alarm import NEVER
from mcpframe.solvers.shared.free_rows import Elimination, eliminate_free_rows
from mcpframe.solvers.shared.polish import active_set_polish, strict_tolerance
from mcpframe.solvers.shared.workspace import new_workspace
from mcpframe.solving.plugin import AbstractSolver, Request
from mcpframe.solving.solution import Claim, Status

Array = NDArray[np.float64]

CHUNK = 10
"""Sweeps between two looks at the residual and the clock."""
QUICK_STEPS, THOROUGH_STEPS = 3, 8
"""Active-set steps of the polish between sweeps and at the end: a step costs as much as many sweeps."""
PROGRESS = 0.99
"""The residual must fall by this factor within `patience` sweeps; otherwise omega is halved."""
OMEGA_MIN = 0.1
"""Smallest omega that is tried before giving up."""


@final
class PGS(AbstractSolver):
    """Projected Gauss-Seidel / SOR over rows, contacts or blocks, with an active-set polish."""

    name: ClassVar[str] = "pgs"

    omega: float = Field(1.0, gt=0.0, lt=2.0, description="relaxation: 1 is Gauss-Seidel, more is SOR")
    max_sweeps: int = Field(5000, ge=1, description="sweeps over all rows")
    blocks: Literal["auto", "rows", "contacts", "layout"] = Field("auto", description="rows solved together")
    max_block: int = Field(32, ge=2, le=500, description="largest group that `auto` forms by itself")
    patience: int = Field(
        500, ge=CHUNK, description="sweeps without one per cent of progress before omega is halved"
    )
    polish: bool = Field(True, description="guess the active set now and then and solve for it")

    def why_unsupported(self, problem: Any) -> str:
        """Return why the blocks asked for do not fit the problem."""
        reason = super().why_unsupported(problem)
        if reason:
            return reason
        if self.blocks == "contacts" and problem.contacts is None:
            return "blocks = 'contacts', but the problem does not say where its contacts are; try 'auto'"
        hollow = ~(problem.M.diagonal() > 0.0) & ~problem.fixed
        if self.blocks == "rows" and hollow.any():
            i = int(np.argmax(hollow))
            return f"blocks = 'rows', but M[{i}, {i}] = {problem.M.diagonal()[i]} is not positive; try 'auto'"
        return ""

    def _solve(self, problem: MixedLCP, request: Request) -> Claim:
        with np.errstate(all="ignore"):
            return _Solve(self, problem, request).claim()


class _Solve:
    """One solve: sweeps on the problem without its free rows, polish on the whole one."""

    def __init__(self, options: PGS, problem: MixedLCP, request: Request) -> None:
        self.options, self.problem, self.request = options, problem, request
        self.elimination = _elimination(problem)
        self.swept = self.elimination.problem if self.elimination else problem
        self.blocks = make_blocks(self.swept, _groups(options, problem, self.elimination, self.swept))
        self.sweep = _sweeper(self.swept, self.blocks)
        self.goal = strict_tolerance(problem, request.tol)
        z0 = _start(problem, request)
        self.x = z0[self.elimination.kept] if self.elimination else z0.copy()
        self.x = np.clip(self.x, self.swept.lower, self.swept.upper)
        self.z, _, self.residual = problem.certify(z0)
        self.basis: NDArray[np.int8] | None = None
        self.relaxed: Array | None = None
        self.sweeps = 0

    def claim(self) -> Claim:
        """Sweep until the residual is met, time or patience is over."""
        status, message = self._iterate()
        if self.options.polish:
            self._polish(thorough=self.residual > self.goal)
        if self.residual <= self.request.tol:
            status, message = Status.SOLVED, ""
        return Claim(self.z, status, self.sweeps, message, basis=self.basis, relaxed_z=self.relaxed)

    def _iterate(self) -> tuple[Status, str]:
        """Sweep until there is a reason to stop; halve omega where the sweeps run in circles."""
        omega, last, since, next_polish = self.options.omega, np.inf, 0, CHUNK
        while self.residual > self.goal and self.sweeps < self.options.max_sweeps:
            if perf_counter() > self.request.deadline:
                return Status.TIME_LIMIT, ""
            residual = self._advance(omega)
            if not np.isfinite(residual):
                return Status.NUMERICAL, "the sweeps diverged: M lies outside the method's class"
            if self.sweeps >= next_polish and self.options.polish and residual > self.goal:
                next_polish *= 4
                self._polish(thorough=False)
            if residual < PROGRESS * last:
                last, since = residual, self.sweeps
            elif self.sweeps - since >= self.options.patience:
                omega, last, since = 0.5 * omega, np.inf, self.sweeps
                if omega < OMEGA_MIN:
                    return Status.ITERATION_LIMIT, f"the sweeps make no progress; {self._advice()}"
        return Status.ITERATION_LIMIT, f"{self.sweeps} sweeps were not enough; {self._advice()}"

    def _advance(self, omega: float) -> float:
        """Sweep a few times, keep the point if it is the best; return its residual."""
        count = min(CHUNK, self.options.max_sweeps - self.sweeps)
        self.sweep(self.x, omega, count)
        self.sweeps += count
        z, _, residual = self.problem.certify(self._point())
        if residual < self.residual:
            self.z, self.residual, self.basis = z, residual, None
        return residual

    def _advice(self) -> str:
        damped = self.blocks.damped
        taken = f"{damped} rows without positive diagonal took damped steps; " if damped else ""
        return f"{taken}try 'lemke' or 'ipm'"

    def _point(self) -> Array:
        return self.elimination.point(self.x) if self.elimination else self.x

    def _polish(self, *, thorough: bool) -> None:
        deadline = self.request.deadline
        steps = THOROUGH_STEPS if thorough else QUICK_STEPS
        found = active_set_polish(
            self.problem, self._point(), max_steps=steps, thorough=thorough, deadline=deadline
        )
        if found.residual <= self.residual:
            self.relaxed = self._point().copy()
            self.z, self.residual, self.basis = found.z, found.residual, found.basis


def _start(problem: MixedLCP, request: Request) -> Array:
    """Return the point to start from: that of the basis asked for, z0, or zero."""
    z0 = np.zeros(problem.n) if request.z0 is None else request.z0
    if request.basis is None:
        return z0
    return active_set_polish(problem, z0, basis=request.basis, max_steps=1, thorough=False).z


def _elimination(problem: MixedLCP) -> Elimination | None:
    """Return the problem without free rows where a row that is not fixed lacks a positive diagonal."""
    hollow = ~(problem.M.diagonal() > 0.0) & ~problem.fixed
    return eliminate_free_rows(problem) if problem.free.any() and hollow.any() else None


def _groups(
    options: PGS, problem: MixedLCP, elimination: Elimination | None, swept: MixedLCP
) -> list[NDArray[np.int64]]:
    """Return the rows of the swept problem that are solved together."""
    if options.blocks == "rows":
        return []
    if options.blocks == "layout":
        groups = layout_groups(problem)
    else:
        groups = contact_groups(problem)
        if not groups:
            return coupled_groups(swept, options.max_block)
    if elimination is None:
        return groups
    place = np.full(problem.n, -1, dtype=np.int64)
    place[elimination.kept] = np.arange(elimination.kept.size)
    return [place[group][place[group] >= 0] for group in groups]


def _sweeper(problem: MixedLCP, blocks: Blocks) -> Callable[[Array, float, int], None]:
    """Return (z, omega, count) -> None, which sweeps z in place, with workspaces of its own."""
    m = blocks.members.shape[1]
    work = (
        np.empty((N_BLOCK_ROWS, m)),
        *new_workspace(m),
        NEVER,
    )
    codes = np.zeros((blocks.members.shape[0], 2, m), np.int8)
    rows = (problem.q, problem.lower, problem.upper, blocks.divisor)
    what = (blocks.order, blocks.members, blocks.matrices, codes)
    M = _storage(problem)
    return lambda z, omega, count: sweep(*M, *rows, omega, count, *what, z, *work)


def _storage(problem: MixedLCP) -> tuple[Array, Array, NDArray[np.int64], NDArray[np.int64]]:
    """Return M as the kernel takes it: (dense, data, indices, indptr), what is not used being empty."""
    if isinstance(problem.M, np.ndarray):
        return problem.M, np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64)
    M = problem.M_csr
    return np.empty((0, 0)), M.data, M.indices, M.indptr
