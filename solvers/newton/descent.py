"""One run of the damped semismooth Newton method, and the smoothing homotopy that leads to it.

Merit Psi(y) = ||Phi(y)||^2 / 2. A step takes the first of these directions that descends:

    N  Newton                      if  grad'd <= -RHO ||d||^P          [De Luca, Facchinei, Kanzow 1996]
    P  proximal Newton, J + lam I: regular for every P0 function
    L  Levenberg-Marquardt
    G  steepest descent

then the first t = 1, 1/2, 1/4 .. with Psi(y + t d) <= max of the last few Psi + SIGMA t grad'd
[Grippo, Lampariello, Lucidi 1986]. Where F is not defined the point is first drawn back into the bounds, then
the step is halved like any other failure.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcpframe.solvers.newton.kernels import FISCHER, complementarity_rows, search_affine
from mcpframe.solvers.newton.system import DenseSystem, SparseSystem
from mcpframe.solvers.shared.multistart import CONVERGED, ITERATION_LIMIT, TIME_LIMIT, UNDEFINED
from mcpframe.solvers.shared.scaled_model import AffineModel, ScaledModel

Array = NDArray[np.float64]

RHO, P = 1e-16, 2.1
SIGMA = 1e-4
SHIFT = 1e-2
"""lam of the proximal step, as a share of ||Phi|| (at most 1)."""
HALVINGS = 16
"""Step halvings before the next kind of direction is tried; the gradient is given twice as many."""
STATIONARY = 1e-14
"""||grad|| below this share of ||Phi||: a stationary point of the merit that is no solution."""
PATIENCE, LATE_PATIENCE = 20, 3
"""Steps without a fall of the merit before a run is given up; the second once ||Phi|| is below LATE."""
LATE = 1e-8
PROGRESS = 0.999
"""What counts as a fall."""
MU_START, MU_FACTOR, MU_END = 1.0, 0.2, 1e-9
"""The smoothing parameters, in scaled units."""
SMOOTH_STEPS = 8
"""Newton steps per smoothing parameter."""


class DescentLine(NamedTuple):
    """One step of a run.

    Attributes:
        run: number of the run, from 1.
        iteration: steps so far in this run.
        direction: N, P, L or G.
        step: accepted step length.
        evaluations: evaluations of F so far in this run.
        mu: smoothing parameter, 0 without smoothing.
        merit: ||Phi|| after the step.
        residual: natural residual after the step, in the problem's units.
    """

    run: int
    iteration: int
    direction: str
    step: float
    evaluations: int
    mu: float
    merit: float
    residual: float

    def __str__(self) -> str:
        return (
            f"{self.run:5d} {self.iteration:6d} {self.direction:>4s} {self.step:9.2e} {self.evaluations:6d} "
            f"{self.mu:9.2e} {self.merit:10.3e} {self.residual:10.3e}"
        )


@dataclass(slots=True, eq=False)
class Iterate:
    """A point with all that the next step needs."""

    y: Array
    F: Array
    Phi: Array
    D_z: Array
    D_F: Array
    merit: float
    residual: float


class Run:
    """Semismooth Newton steps from one start; keeps the best point it meets.

    Args:
        kind: complementarity function (FISCHER, PENALIZED, MINIMUM).
        memory: how many past merits the line search looks back to.
        goal: natural residual at which to stop.
        trace: list that takes one line per step.
        number: number of this run, for the lines.
    """

    def __init__(
        self,
        model: ScaledModel,
        kind: int,
        memory: int,
        goal: float,
        deadline: float,
        trace: list[object],
        number: int,
    ) -> None:
        self.model, self.kind, self.memory, self.goal, self.deadline = model, kind, memory, goal, deadline
        self.trace, self.number = trace, number
        self.system: DenseSystem | SparseSystem = (
            SparseSystem(model.n) if model.sparse else DenseSystem(model.n)
        )
        self.best_y, self.best_residual = np.zeros(model.n), math.inf
        self.steps = 0

    def descend(self, y: Array, limit: int) -> str:
        """Take up to `limit` steps on the unsmoothed merit; return why it stopped."""
        return self._minimise(self._evaluate(y, self.kind, 0.0), self.kind, 0.0, limit, self.memory)[1]

    def smooth(self, y: Array, mu: float = MU_START) -> Array:
        """Follow the zeros of the smoothed function from `mu` towards zero [Kanzow 1996].

        Each is found to within mu, or SMOOTH_STEPS steps; the next starts there. Smoothed matrices are
        regular for every P0 function, and the path avoids local minima of the unsmoothed merit. Returns
        the point of least residual on the way.
        """
        at = self._evaluate(y, FISCHER, mu)
        while mu > MU_END and at.merit < math.inf and perf_counter() < self.deadline:
            if self.best_residual <= self.goal:
                break
            at, _ = self._minimise(at, FISCHER, mu, SMOOTH_STEPS, 1, until=0.5 * mu * mu)
            mu *= MU_FACTOR
            at = self._rows(at.y, at.F, FISCHER, mu)
        return self.best_y if self.best_residual < math.inf else y

    def _minimise(
        self, at: Iterate, kind: int, mu: float, limit: int, memory: int, until: float = 0.0
    ) -> tuple[Iterate, str]:
        """Lower the merit of one function until it is below `until`, the goal is met, or nothing helps."""
        if at.merit == math.inf:
            return at, UNDEFINED
        self._keep(at)
        recent: deque[float] = deque(maxlen=memory)
        lowest, waited = at.merit, 0
        for _ in range(limit):
            if at.residual <= self.goal or at.merit <= until:
                return at, CONVERGED
            if perf_counter() > self.deadline:
                return at, TIME_LIMIT
            recent.append(at.merit)
            after = self._step(at, kind, mu, max(recent))
            if isinstance(after, str):
                return at, after
            at = after
            waited = 0 if at.merit < PROGRESS * lowest else waited + 1
            lowest = min(lowest, at.merit)
            if waited > (LATE_PATIENCE if lowest < LATE * LATE else PATIENCE):
                return at, "merit stalled"
        return at, CONVERGED if at.residual <= self.goal else ITERATION_LIMIT

    def _step(self, at: Iterate, kind: int, mu: float, reference: float) -> Iterate | str:
        """Return the next iterate, or why there is none."""
        J = self.model.J(at.y)
        if not np.isfinite(J.data if self.model.sparse else J).all():
            return "Jacobian is not defined"
        self.system.assemble(J, at.D_z, at.D_F)
        gradient = self.system.gradient(at.Phi)
        norm = math.sqrt(2.0 * at.merit)
        if math.sqrt(gradient @ gradient) <= STATIONARY * norm:
            return "stationary point of the merit"
        for name in "NPLG":
            d = self._direction(name, at.Phi, gradient, norm)
            if d is None:
                continue
            slope = float(gradient @ d)
            if not slope < -RHO * (d @ d) ** (P / 2.0):
                continue
            t, after = self._search(at.y, d, slope, kind, mu, reference, HALVINGS * (2 if name == "G" else 1))
            if after is not None:
                self._note(name, t, mu, after)
                return after
        return "no step lowers the merit"

    def _direction(self, name: str, Phi: Array, gradient: Array, norm: float) -> Array | None:
        if name == "N":
            return self.system.newton(Phi)
        if name == "P":
            return self.system.shifted(Phi, SHIFT * min(1.0, norm))
        if name == "L":
            return self.system.levenberg(Phi, max(1e-6, min(0.1, norm)))
        return -gradient

    def _search(
        self, y: Array, d: Array, slope: float, kind: int, mu: float, reference: float, halvings: int
    ) -> tuple[float, Iterate | None]:
        """Return the step length and the point that it leads to, None where no step is good enough."""
        if isinstance(self.model, AffineModel) and not self.model.sparse:
            return self._search_affine(self.model, y, d, slope, kind, mu, reference, halvings)
        t = 1.0
        for _ in range(halvings):
            after = self._evaluate(y + t * d, kind, mu)
            if after.merit == math.inf:
                after = self._evaluate(self.model.project(y + t * d), kind, mu)
            if after.merit <= reference + SIGMA * t * slope:
                return t, after
            t *= 0.5
        return t, None

    def _search_affine(
        self,
        model: AffineModel,
        y: Array,
        d: Array,
        slope: float,
        kind: int,
        mu: float,
        reference: float,
        halvings: int,
    ) -> tuple[float, Iterate | None]:
        """Do the same in one call, for F that is defined everywhere."""
        after, F, Phi, D_z, D_F = np.empty((5, model.n))
        data = model.M, model.q, model.lower, model.upper
        halved, merit = search_affine(
            kind, mu, *data, y, d, SIGMA * slope, reference, halvings, after, F, Phi, D_z, D_F
        )
        model.evaluations += min(halved + 1, halvings)
        found = Iterate(after, F, Phi, D_z, D_F, merit, math.inf) if halved < halvings else None
        return 0.5**halved, found

    def _evaluate(self, y: Array, kind: int, mu: float) -> Iterate:
        return self._rows(y, self.model.F(y), kind, mu)

    def _rows(self, y: Array, F: Array, kind: int, mu: float) -> Iterate:
        model = self.model
        Phi, D_z, D_F = np.empty(model.n), np.empty(model.n), np.empty(model.n)
        merit = complementarity_rows(kind, mu, y, F, model.lower, model.upper, Phi, D_z, D_F)
        return Iterate(y, F, Phi, D_z, D_F, merit, math.inf)

    def _keep(self, at: Iterate) -> None:
        """Compute the residual of an accepted point and keep it if it is the best."""
        at.residual = self.model.residual(at.y, at.F)
        if at.residual < self.best_residual:
            self.best_y, self.best_residual = at.y, at.residual

    def _note(self, direction: str, t: float, mu: float, at: Iterate) -> None:
        self._keep(at)
        self.steps += 1
        norm = math.sqrt(2.0 * at.merit)
        evaluations = self.model.evaluations
        self.trace.append(
            DescentLine(self.number, self.steps, direction, t, evaluations, mu, norm, at.residual)
        )
