"""Convex programming with cvxpy, for mixed LCPs and for friction on the exact cone.

Method. A monotone mixed LCP (symmetric part of M positive semidefinite) is one convex quadratic program,
solved exactly. Contact problems are not monotone; their convex relaxation is (polyhedral cone: a quadratic
program, exact cone: a second-order cone program), and an outer fixed point on the slip velocities removes its
bias [Acary, Cadoux, Lemarechal, Malick 2011]. Other problems go through a sequence of convex proximal
programs. What the backend returns, accurate to some digits, is polished to rounding level: mixed LCPs by an
active-set method, cones by a Levenberg-Marquardt method, with a path-following method for what the fixed
point does not settle. Both residuals are reported: `Solution.relaxed_residual` is that of the first convex
program, `residual` that of the answer. Programs are compiled once per size and sparsity, and kept.

Matrix class. Exact for monotone problems. Friction problems with W positive semidefinite up to rounding, and
mixed LCPs that say where their contacts are (`MixedLCP.contacts`). Others without guarantee.

Parts. `programs` (cvxpy), `mixed` (mixed LCPs), `friction` (the exact cone; its mathematics in
`solvers.cone`), `anderson`.

Limits. Compiling a program takes up to some seconds for thousands of unknowns. Backends for quadratic
programs only (OSQP, HiGHS) cannot take the exact cone in space. The proximal sequence may settle elsewhere
than at a solution unless M is symmetric.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from pydantic import Field, field_validator

from mcpframe.problem.friction import FrictionProblem
from mcpframe.problem.problems import MixedLCP
from mcpframe.solving.plugin import AbstractSolver, Request
from mcpframe.solving.solution import Claim

QUADRATIC_ONLY = frozenset({"OSQP", "HIGHS", "DAQP", "PIQP", "PROXQP", "QPALM"})
"""Backends without second-order cones."""


class QP(AbstractSolver):
    """Convex programs by cvxpy, with a fixed point for friction and a polish."""

    name = "qp"
    problems: ClassVar[tuple[type, ...]] = (MixedLCP, FrictionProblem)

    backend: str = Field("CLARABEL", description="solver that cvxpy calls; any installed one")
    max_programs: int = Field(
        20, ge=0, le=1000, description="convex programs after the first one, where that is not exact"
    )

    @field_validator("backend")
    @classmethod
    def _is_installed(cls, backend: str) -> str:
        import cvxpy  # takes a second, which listing plugins need not

        installed = sorted(cvxpy.installed_solvers())
        if backend.upper() not in installed:
            raise ValueError(f"not installed here; there are {', '.join(installed)}")
        return backend.upper()

    def model_post_init(self, context: Any) -> None:
        """Import what solves, with its kernels, before a clock runs."""
        _methods()

    def why_unsupported(self, problem: Any) -> str:
        """Return why the problem or the backend does not fit."""
        if isinstance(problem, FrictionProblem) and problem.dim == 3 and self.backend in QUADRATIC_ONLY:
            return (
                f"{self.backend} takes quadratic programs only, no second-order cones; use backend CLARABEL"
            )
        return super().why_unsupported(problem)

    def _solve(self, problem: Any, request: Request) -> Claim:
        solve_cone, solve_mixed = _methods()
        if isinstance(problem, FrictionProblem):
            return solve_cone(problem, request, self.backend, self.max_programs)
        return solve_mixed(problem, request, self.backend, self.max_programs)


def _methods() -> tuple[Callable[..., Claim], Callable[..., Claim]]:
    """Return what solves friction problems and mixed LCPs, imported with cvxpy."""
    from mcpframe.solvers.qp.friction import solve_cone
    from mcpframe.solvers.qp.mixed import solve_mixed

    return solve_cone, solve_mixed
