"""LCP solvers of other projects as solvers of a study: those that are not installed take no problem."""

from __future__ import annotations

import importlib.util
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

import mcpframe as mf


class DrakeLcp(mf.AbstractSolver):
    """An LCP solver of drake, through pydrake; the way through MathematicalProgram is part of its time."""

    drake_name: ClassVar[str]
    max_n: int = Field(default=0, ge=0, description="largest number of rows taken; 0 means any")

    def why_unsupported(self, problem: Any) -> str:
        """Return why it cannot take a problem: it wants 0 <= z, and to be there."""
        if importlib.util.find_spec("pydrake") is None:
            return "drake is not installed; pip install drake"
        reason = super().why_unsupported(problem)
        if reason:
            return reason
        if 0 < self.max_n < problem.n:
            return f"{self.name} takes up to max_n = {self.max_n} rows, here {problem.n}"
        is_plain = (problem.lower == 0.0).all() and np.isposinf(problem.upper).all()
        return "" if is_plain else f"{self.name} takes problems with z >= 0 only"

    def _solve(self, problem: mf.MixedLCP, request: mf.Request) -> mf.Claim:
        from pydrake import solvers

        program = solvers.MathematicalProgram()
        z = program.NewContinuousVariables(problem.n)
        program.AddLinearComplementarityConstraint(problem.M_dense, problem.q, z)
        result = getattr(solvers, self.drake_name)().Solve(program)
        status = mf.Status.SOLVED if result.is_success() else mf.Status.RAY
        return mf.Claim(np.asarray(result.GetSolution(z), dtype=float), status)


@mf.register_solver
class DrakeLemke(DrakeLcp):
    """Drake's unrevised Lemke."""

    name = "drake_lemke"
    drake_name = "UnrevisedLemkeSolver"


@mf.register_solver
class DrakeMoby(DrakeLcp):
    """Drake's Lemke of Moby, regularised where it fails."""

    name = "drake_moby"
    drake_name = "MobyLcpSolver"
