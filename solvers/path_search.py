"""Major iterations of the path solver: linearise, pivot, search along the path, with a watchdog.

The iterate is a complementary pair (z, w), that is the point z - w of the normal map. Newton's point, the end of
the path, is taken when it lowers the merit ||Phi|| (Fischer-Burmeister) below the largest of the last few
checkpoints; it is also taken on trust, up to `watchdog` times in a row. When trust does not pay, the search goes
back to the last checkpoint and along its path, t = 1/2, 1/4 ..; where that fails, too, along the projected
gradient of the merit [Dirkse, Ferris 1995; Ferris, Munson 1999]. A singular basis, or a path that ends on a ray,
makes the next linearisation proximal: J + lam I, lam falling again with every good step.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.solvers.lemke_kernels import ENDED, SINGULAR, STOPPED
from mcpframe.solvers.multistart import CONVERGED, ITERATION_LIMIT, TIME_LIMIT, UNDEFINED
from mcpframe.solvers.newton_kernels import FISCHER, complementarity_rows
from mcpframe.solvers.path_linear import LinearPath, PathEnd
from mcpframe.solvers.path_log import MajorRecord
from mcpframe.solvers.scaled_model import AffineModel, ScaledModel

Array = NDArray[np.float64]

SIGMA = 1e-3
"""Share of t by which the merit must fall."""
HALVINGS = 14
"""Points of the path, or of the gradient's, that a search looks at."""
TRUST = 1e3
"""A Newton point is not trusted where its merit exceeds the checkpoint's by this factor."""
PATIENCE, LATE_PATIENCE = 25, 1
"""Iterations without a better residual before a run is given up; the second one late in a run."""
LATE, LATE_AFFINE = 1e-8, 1e-3
"""A run is late when ||Phi|| is below this; an affine problem is sooner left to the polish."""
STALLED = "residual stalled"
BETTER = 0.7
"""The factor by which the residual must fall to count as better."""
PROX_START, PROX_FACTOR, PROX_TRIES, PROX_ZERO = 1e-4, 10.0, 6, 1e-10
"""lam after the first singular basis; its growth and fall; tries per iteration; below the last it is zero."""


@dataclass(slots=True, eq=False)
class Point:
    """An iterate: z and w complementary, F at z, merit ||Phi(z)|| and natural residual."""

    z: Array
    w: Array
    F: Array
    merit: float
    residual: float


class Majors:
    """One run of major iterations in scaled units; keeps the best point it meets.

    Args:
        memory: checkpoints that the non-monotone search looks back to.
        watchdog: Newton points taken on trust in a row.
        goal: natural residual at which to stop.
        stop: flag that ends the pivoting at the deadline.
        trace: list that takes one record per iteration.
    """

    def __init__(
        self, model: ScaledModel, memory: int, watchdog: int, goal: float, deadline: float, stop: Any, trace: list[object]
    ) -> None:
        self.model, self.memory, self.watchdog = model, memory, watchdog
        self.goal, self.deadline, self.stop, self.trace = goal, deadline, stop, trace
        self.majors = self.minors = self.gradients = 0
        self.best_z, self.best_residual = np.zeros(model.n), math.inf
        self.late = LATE_AFFINE if isinstance(model, AffineModel) else LATE
        self._rows = np.empty((3, model.n))

    def run(self, at: Point, limit: int, max_pivots: int) -> str:
        """Iterate from a point; return why it stopped."""
        if at.merit == math.inf:
            return UNDEFINED
        prox = 0.0
        self.note(at, 0, 0.0, "I", prox)
        checkpoint, path, trusted = at, None, 0
        lowest, waited = at.residual, 0
        recent: deque[float] = deque([at.merit], maxlen=self.memory)
        for _ in range(limit):
            if at.residual <= self.goal:
                return CONVERGED
            if perf_counter() > self.deadline:
                return TIME_LIMIT
            here, end, prox = self._newton(at, prox, max_pivots)
            if end is None:
                return "Jacobian is not defined"
            if end.ended == STOPPED:
                return TIME_LIMIT
            if at is checkpoint:
                path = here
            new = self.point(end.z, end.w) if end.t > 0.0 else at
            kind, step = "SO", end.t
            if end.t > 0.0 and new.merit <= (1.0 - SIGMA * end.t) * max(recent):
                checkpoint, trusted = new, 0
                recent.append(new.merit)
            elif end.t == 1.0 and trusted < self.watchdog and new.merit <= TRUST * checkpoint.merit:
                kind, trusted = "W", trusted + 1
            elif checkpoint.merit < self.late:
                return STALLED
            else:
                found = self._search(checkpoint, path, max(recent), max_pivots)
                if found is None:
                    return "local minimum of the merit"
                new, step, kind = found
                checkpoint, trusted = new, 0
                recent.append(new.merit)
            at = new
            self.note(at, end.pivots, step, kind, prox)
            prox = _next_prox(prox, end)
            waited = 0 if at.residual < BETTER * lowest else waited + 1
            lowest = min(lowest, at.residual)
            if waited >= (LATE_PATIENCE if at.merit < self.late else PATIENCE):
                return CONVERGED if at.residual <= self.goal else STALLED
        return CONVERGED if at.residual <= self.goal else ITERATION_LIMIT

    def _newton(self, at: Point, prox: float, max_pivots: int) -> tuple[LinearPath | None, PathEnd | None, float]:
        """Follow the path of the linearisation at a point; perturb it while its basis is singular."""
        J = self.jacobian(at.z)
        if J is None:
            return None, None, prox
        for _ in range(PROX_TRIES):
            M = J if prox == 0.0 else J + prox * np.eye(at.z.size)
            path = LinearPath(M, at.F - M @ at.z, self.model.lower, self.model.upper, at.z, at.w, self.stop)
            end = path.to(1.0, max_pivots)
            self.minors += end.pivots
            if end.ended != SINGULAR:
                break
            prox = max(PROX_START, PROX_FACTOR * prox)
        return path, end, prox

    def jacobian(self, z: Array) -> Array | None:
        self.gradients += 1
        J = self.model.J(z)
        J = np.ascontiguousarray(J.toarray()) if self.model.sparse else J
        return J if np.isfinite(J).all() else None

    def _search(
        self, checkpoint: Point, path: LinearPath | None, reference: float, max_pivots: int
    ) -> tuple[Point, float, str] | None:
        """Return a point on the checkpoint's path, or on its projected gradient, that lowers the merit."""
        t = 0.5
        for _ in range(HALVINGS if path is not None else 0):
            end = path.to(t, max_pivots)
            self.minors += end.pivots
            if end.t > 0.0:
                new = self.point(end.z, end.w)
                if new.merit <= (1.0 - SIGMA * end.t) * reference:
                    return new, end.t, "B"
            t *= 0.5
        return self._gradient_step(checkpoint, reference)

    def _gradient_step(self, at: Point, reference: float) -> tuple[Point, float, str] | None:
        """Return a point on the projected gradient of ||Phi||^2 / 2 that lowers the merit, None where none does."""
        J = self.jacobian(at.z)
        if J is None:
            return None
        model, (Phi, D_z, D_F) = self.model, self._rows
        complementarity_rows(FISCHER, 0.0, at.z, at.F, model.lower, model.upper, Phi, D_z, D_F)
        gradient = D_z * Phi + J.T @ (D_F * Phi)
        t = 1.0
        for _ in range(2 * HALVINGS):
            z = model.project(at.z - t * gradient)
            new = self.start(z, 0.0)
            if new.merit**2 <= reference**2 - SIGMA * float(gradient @ (at.z - z)) and (z != at.z).any():
                return new, t, "G"
            t *= 0.5
        return None

    def point(self, z: Array, w: Array) -> Point:
        """Return the iterate at (z, w); its merit is +inf where F is not defined."""
        model, F = self.model, self.model.F(z)
        merit = complementarity_rows(FISCHER, 0.0, z, F, model.lower, model.upper, *self._rows)
        at = Point(z, w, F, math.sqrt(2.0 * merit), model.residual(z, F))
        if at.residual < self.best_residual:
            self.best_z, self.best_residual = z, at.residual
        return at

    def start(self, z: Array, cover: float, spread: Array | float = 1.0) -> Point:
        """Return the iterate at z with a w that belongs to it.

        Rows on a bound whose F has the right sign get w = F; where the sign is wrong, w = |F| of the right one,
        so that the path starts inside. A positive `cover` lifts all w by that share of max |F|: the covering
        vector is then positive everywhere, as Lemke's theory wants it.
        """
        at = self.point(z, np.zeros(z.size))
        lift = cover * float(np.abs(at.F).max(initial=0.0)) * spread
        size = np.abs(at.F) + lift
        at.w = np.where(z <= self.model.lower, size, np.where(z >= self.model.upper, -size, 0.0))
        return at

    def note(self, at: Point, pivots: int, step: float, kind: str, prox: float) -> None:
        """Record an iteration."""
        self.majors += kind not in "I"
        label = self.model.worst_row(at.z, at.F)
        func, grad = self.model.evaluations, self.gradients
        self.trace.append(
            MajorRecord(self.majors, pivots, func, grad, at.merit, step, kind, prox, at.residual, label)
        )


def _next_prox(prox: float, end: PathEnd) -> float:
    """Return lam for the next iteration: larger after a path that did not reach its end, smaller otherwise."""
    if end.ended != ENDED or end.t < 1.0:
        return max(PROX_START, PROX_FACTOR * prox)
    return prox / PROX_FACTOR if prox > PROX_ZERO else 0.0
