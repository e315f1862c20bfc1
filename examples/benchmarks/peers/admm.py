"""Pinocchio's ADMM for frictional contact on a dense Delassus matrix.

It takes tangents first, the normal last, and one constraint per contact of which only the cone counts.
"""

from __future__ import annotations

import importlib.util
from time import perf_counter
from typing import Any

import numpy as np

from mcpframe import FrictionProblem

TOLERANCE = 1e-9
ITERATIONS = 10000


def why_missing() -> str:
    """Return why there is no ADMM to compare with; empty if there is one."""
    found = importlib.util.find_spec("pinocchio") is not None
    return "" if found else "no Pinocchio: the pin package is not installed; `make install EXTRAS=dev,peers`"


class Admm:
    """Its solver, settings and result for problems of one size."""

    def __init__(self, contacts: int) -> None:
        import pinocchio

        self.pin = pinocchio
        self.order = (3 * np.arange(contacts)[:, None] + [1, 2, 0]).ravel()
        self.solver = pinocchio.ADMMConstraintSolver(3 * contacts)
        self.settings = pinocchio.ADMMSolverSettings()
        for name in ("absolute_feasibility_tol", "absolute_complementarity_tol"):
            setattr(self.settings, name, TOLERANCE)
        for name in ("relative_feasibility_tol", "relative_complementarity_tol"):
            setattr(self.settings, name, 0.0)
        self.settings.max_iterations, self.settings.solve_ncp = ITERATIONS, True
        self.body = pinocchio.buildSampleModelManipulator()

    def __call__(self, problem: FrictionProblem) -> tuple[np.ndarray, bool, float]:
        """Return impulses, whether it says that it has converged, and its time, s: setup is not in it."""
        models, data = self._cones(problem.mu)
        W = np.asfortranarray(problem.W[np.ix_(self.order, self.order)])
        g, result = problem.q[self.order].copy(), self.pin.ADMMSolverResult()
        delassus = self.pin.DelassusOperatorDense(W)
        start = perf_counter()
        converged = self.solver.solve(delassus, g, models, data, self.settings, result)
        seconds = perf_counter() - start
        r = np.empty(problem.n)
        r[self.order] = np.asarray(result.retrieveConstraintImpulses()).ravel()
        return r, bool(converged), seconds

    def _cones(self, mu: np.ndarray) -> tuple[Any, Any]:
        pin = self.pin
        models, data = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for friction in mu:
            model = pin.PointContactConstraintModel(self.body, 0, pin.SE3.Identity(), 1, pin.SE3.Identity())
            model.setFriction(float(friction))
            models.append(pin.ConstraintModel(model))
            data.append(models[len(models) - 1].createData())
        return models, data
