"""Major iterations of the path solver: linearise, pivot, search along the path, with a watchdog.

The iterate is a complementary pair (z, w), that is the point z - w of the normal map. Newton's point, the end
of the path, is taken when it lowers the merit ||Phi|| (Fischer-Burmeister) below the largest of the last few
checkpoints; it is also taken on trust, up to `watchdog` times in a row. When trust does not pay, the search
goes back to the last checkpoint and along its path, t = 1/2, 1/4 ..; where that fails, too, along the
projected gradient of the merit [Dirkse, Ferris 1995; Ferris, Munson 1999]. A singular basis, or a path that
ends on a ray, makes the next linearisation proximal: J + lam I, lam falling again with every good step.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.solvers.lemke.kernels import ENDED, SINGULAR, STOPPED
from mcpframe.solvers.newton.kernels import FISCHER, complementarity_rows
from mcpframe.solvers.path.linear import LinearPath, PathEnd
from mcpframe.solvers.path.log import MajorLine
from mcpframe.solvers.path.sparse import SparsePath
from mcpframe.solvers.shared.multistart import CONVERGED, ITERATION_LIMIT, TIME_LIMIT, UNDEFINED
from mcpframe.solvers.shared.scaled_model import AffineModel, ScaledModel

Array = NDArray[np.float64]

SIGMA = 1e-3
"""Share of t by which the merit must fall."""
HALVINGS = 14
"""Points of the path that a search looks at; twice as many of the gradient's."""
TRUST = 1e3
"""A Newton point is not trusted where its merit exceeds the checkpoint's by this factor."""
PATIENCE, LATE_PATIENCE = 25, 1
"""Iterations without a better residual before a run is given up; the second one late in a run."""
LATE, LATE_AFFINE = 1e-8, 1e-3
"""A run is late when ||Phi|| is below this; an affine problem is sooner left to the polish."""
BETTER = 0.7
"""The factor by which the residual must fall to count as better."""
PROX_START, PROX_FACTOR, PROX_TRIES = 1e-4, 10.0, 6
"""lam after the first singular basis; its growth and fall; tries per iteration."""
PROX_LEAST, PROX_MOST = 1e-10, 1e2
"""Below the first lam is zero; above the second it would hide the problem (the data are scaled to one)."""

SPARSE_ROWS = 2000
"""From this order on, sparse problems are pivoted without a dictionary."""

STALLED = "residual stalled"


@dataclass(slots=True, eq=False)
class Point:
    """An iterate: z and w complementary, F at z, merit ||Phi(z)|| and natural residual."""

    z: Array
    w: Array
    F: Array
    merit: float
    residual: float


class Watchdog:
    """The checkpoints of a non-monotone search.

    Attributes:
        checkpoint: the last point that lowered the merit.
        path: the path of its linearisation, None until that is made.
        trusted: Newton points taken since, on trust.
    """

    def __init__(self, at: Point, memory: int) -> None:
        self.checkpoint, self.trusted = at, 0
        self.path: LinearPath | SparsePath | None = None
        self._recent: deque[float] = deque([at.merit], maxlen=memory)

    @property
    def reference(self) -> float:
        """The largest merit of the last few checkpoints."""
        return max(self._recent)

    def lowers(self, at: Point, t: float) -> bool:
        """Return whether a point reached by the share t of a path lowers the merit enough."""
        return t > 0.0 and at.merit <= (1.0 - SIGMA * t) * self.reference

    def move_to(self, at: Point) -> None:
        """Make a point the checkpoint."""
        self.checkpoint, self.path, self.trusted = at, None, 0
        self._recent.append(at.merit)


class Majors:
    """One run of major iterations in scaled units; keeps the best point it meets.

    Args:
        memory: checkpoints that the non-monotone search looks back to.
        watchdog: Newton points taken on trust in a row.
        max_pivots: pivots of one path.
        goal: natural residual at which to stop.
        stop: flag that ends the pivoting at the deadline.
        trace: list that takes one line per iteration.
    """

    def __init__(
        self,
        model: ScaledModel,
        memory: int,
        watchdog: int,
        max_pivots: int,
        goal: float,
        deadline: float,
        stop: Any,
        trace: list[object],
    ) -> None:
        self.model, self.memory, self.watchdog, self.max_pivots = model, memory, watchdog, max_pivots
        self.goal, self.deadline, self.stop, self.trace = goal, deadline, stop, trace
        self.majors = self.gradients = 0
        self.best_z, self.best_residual = np.zeros(model.n), math.inf
        self.late = LATE_AFFINE if isinstance(model, AffineModel) else LATE
        self._lowest, self._waited = math.inf, 0
        self._rows = np.empty((3, model.n))
        self.sparse = model.sparse and model.n >= SPARSE_ROWS

    def run(self, at: Point, limit: int) -> str:
        """Iterate from a point; return why it stopped."""
        if at.merit == math.inf:
            return UNDEFINED
        prox = 0.0
        watch = Watchdog(at, self.memory)
        self.note(at, 0, 0.0, "I", prox)
        for _ in range(limit):
            if at.residual <= self.goal:
                return CONVERGED
            if self._stalled(at):
                return STALLED
            path, end, prox = self._newton(at, prox)
            if path is None or end is None:
                return "Jacobian is not defined"
            if end.ended == STOPPED or perf_counter() > self.deadline:
                return TIME_LIMIT
            watch.path = watch.path or path
            chosen = self._choose(end, watch)
            if isinstance(chosen, str):
                return chosen
            at, step, kind = chosen
            self.note(at, end.pivots, step, kind, prox)
            prox = _next_prox(prox, end)
        return CONVERGED if at.residual <= self.goal else ITERATION_LIMIT

    def _choose(self, end: PathEnd, watch: Watchdog) -> tuple[Point, float, str] | str:
        """Return the next iterate, the share of the path it takes and its kind, or why there is none."""
        newton = self.point(end.z, end.w) if end.t > 0.0 else watch.checkpoint
        if watch.lowers(newton, end.t):
            watch.move_to(newton)
            return newton, end.t, "SO"
        trust = watch.trusted < self.watchdog and newton.merit <= TRUST * watch.checkpoint.merit
        if trust and end.t == 1.0:
            watch.trusted += 1
            return newton, end.t, "W"
        if watch.checkpoint.merit < self.late:
            return STALLED
        found = self._search_path(watch) or self._search_gradient(watch)
        if found is None:
            return "local minimum of the merit"
        watch.move_to(found[0])
        return found

    def _stalled(self, at: Point) -> bool:
        """Return whether the residual has not become better for too long."""
        self._waited = 0 if at.residual < BETTER * self._lowest else self._waited + 1
        self._lowest = min(self._lowest, at.residual)
        return self._waited >= (LATE_PATIENCE if at.merit < self.late else PATIENCE)

    def _newton(self, at: Point, prox: float) -> tuple[LinearPath | SparsePath | None, PathEnd | None, float]:
        """Follow the path of the linearisation at a point; perturb it while its basis is singular."""
        J = self.jacobian(at.z)
        if J is None:
            return None, None, prox
        for _ in range(PROX_TRIES):
            M = self.shifted(J, prox)
            q = at.F - M @ at.z
            follow = SparsePath if self.sparse else LinearPath
            path = follow(M, q, self.model.lower, self.model.upper, at.z, at.w, self.stop)
            end = path.to(1.0, self.max_pivots)
            if end.ended != SINGULAR:
                break
            prox = _raised(prox)
        return path, end, prox

    def jacobian(self, z: Array) -> Any:
        """Return the scaled Jacobian, dense, or by columns where it is large; None where not defined."""
        self.gradients += 1
        J = self.model.J(z)
        if self.model.sparse and not self.sparse:
            J = np.ascontiguousarray(J.toarray())
        return J if np.isfinite(J.data if self.sparse else J).all() else None

    def shifted(self, A: Any, prox: float) -> Any:
        """Return A + prox I."""
        if prox == 0.0:
            return A
        n = A.shape[0]
        return sp.csc_array(A + prox * sp.eye_array(n)) if self.sparse else A + prox * np.eye(n)

    def _search_path(self, watch: Watchdog) -> tuple[Point, float, str] | None:
        """Return a point on the checkpoint's path that lowers the merit."""
        t = 0.5
        for _ in range(HALVINGS):
            if watch.path is None or perf_counter() > self.deadline:
                return None
            end = watch.path.to(t, self.max_pivots)
            if end.t > 0.0:
                new = self.point(end.z, end.w)
                if watch.lowers(new, end.t):
                    return new, end.t, "B"
            t *= 0.5
        return None

    def _search_gradient(self, watch: Watchdog) -> tuple[Point, float, str] | None:
        """Return a point on the projected gradient of ||Phi||^2 / 2 that lowers the merit."""
        at, model, (Phi, D_z, D_F) = watch.checkpoint, self.model, self._rows
        J = self.jacobian(at.z)
        if J is None:
            return None
        complementarity_rows(FISCHER, 0.0, at.z, at.F, model.lower, model.upper, Phi, D_z, D_F)
        gradient = D_z * Phi + J.T @ (D_F * Phi)
        t = 1.0
        for _ in range(2 * HALVINGS):
            z = model.project(at.z - t * gradient)
            new = self.start(z, 0.0)
            fall = SIGMA * float(gradient @ (at.z - z))
            if new.merit**2 <= watch.reference**2 - fall and (z != at.z).any():
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

    def start(self, z: Array, cover: float) -> Point:
        """Return the iterate at z with a w that belongs to it.

        Rows on a bound whose F has the right sign get w = F; where the sign is wrong, w = -F, so that the
        path starts inside. A positive `cover` lifts all w by that share of max |F|: the covering vector is
        then positive everywhere, as Lemke's theory wants it.
        """
        at = self.point(z, np.zeros(z.size))
        size = np.abs(at.F) + cover * float(np.abs(at.F).max(initial=0.0))
        lower, upper = self.model.lower, self.model.upper
        at.w = np.where(z <= lower, size, np.where(z >= upper, -size, 0.0))
        at.w = np.where(lower == upper, at.F, at.w)
        return at

    def note(self, at: Point, pivots: int, step: float, kind: str, prox: float) -> None:
        """Record an iteration."""
        self.majors += kind != "I"
        label = self.model.worst_row(at.z, at.F)
        func, grad = self.model.evaluations, self.gradients
        self.trace.append(
            MajorLine(self.majors, pivots, func, grad, at.merit, step, kind, prox, at.residual, label)
        )


def _next_prox(prox: float, end: PathEnd) -> float:
    """Return lam for the next iteration: larger after a path that did not reach its end, else smaller."""
    if end.ended != ENDED or end.t < 1.0:
        return _raised(prox)
    return prox / PROX_FACTOR if prox > PROX_LEAST else 0.0


def _raised(prox: float) -> float:
    return min(max(PROX_START, PROX_FACTOR * prox), PROX_MOST)
