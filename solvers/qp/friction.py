"""Friction on the exact cone by convex cone programs, an outer fixed point, and a polish.

For a given slip s, min r'Sr/2 + (q + mu s e_n)'r over the cones is a convex second-order cone program
(S the symmetric part of W), whose solution solves the friction problem exactly where s_c = |u_t,c|
[Acary, Cadoux, Lemarechal, Malick 2011]. s = 0 is the convex relaxation that simulators stop at. So:

    1. relaxation: the program with s = 0;
    2. fixed point: s <- |u_t|, accelerated, a few times;
    3. where that is not enough: the smoothing of the central path of the friction problem, lowered quickly;
    4. further steps of the fixed point, while it converges;
    5. the central path by arclength; Gauss-Seidel sweeps; the path with other weights.

Every point goes through the Levenberg-Marquardt polish; the first one at rounding level answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from mcpframe.problem.friction import FrictionProblem
from mcpframe.solvers.cone.maps import MU_FLOOR
from mcpframe.solvers.cone.search import Search
from mcpframe.solvers.qp.anderson import Anderson
from mcpframe.solvers.qp.programs import Backend, ConeProgram
from mcpframe.solving.plugin import Request
from mcpframe.solving.solution import Claim

Array = NDArray[np.float64]

PROGRAM_SHARE = 0.25
"""Share of the time that the fixed point may take, so that something is left for the path."""
SYMMETRIC = 1e-14
"""Skew part of W, relative to its symmetric part, that is rounding."""
FIRST_PROGRAMS, CONVERGING = 4, 4
"""Programs after the relaxation before other methods are tried; so many must halve the slips' change."""


def solve_cone(problem: FrictionProblem, request: Request, backend_name: str, max_fixed_point: int) -> Claim:
    """Return the claim of the conic route.

    Args:
        backend_name: solver that cvxpy calls.
        max_fixed_point: cone programs solved after the relaxation.
    """
    with np.errstate(all="ignore"):
        search = Search(problem, request)
        start = None
        if request.z0 is not None:
            start = request.z0.reshape(-1, problem.dim) / search.system.unit
            search.offer(start, "z0")
        fixed_point = _FixedPoint(search, backend_name, start)
        return search.run(_stages(search, fixed_point, max_fixed_point))


def _stages(search: Search, fixed_point: _FixedPoint, limit: int) -> Iterator[Callable[[], None]]:
    """Yield what to do, one after the other, until it is enough."""
    yield partial(fixed_point.run, min(limit, FIRST_PROGRAMS))
    yield search.lower_smoothing
    yield partial(fixed_point.run, limit)
    yield from search.paths()


class _FixedPoint:
    """Cone programs for slips s until s = |u_t|; where W is not symmetric, r lags in W - S as well.

    Args:
        search: gets every point.
        backend_name: solver that cvxpy calls.
        start: scaled r whose slips the first program takes; None for the relaxation, s = 0.
    """

    def __init__(self, search: Search, backend_name: str, start: Array | None) -> None:
        self._search, self._name = search, backend_name
        system = search.system
        self._S = 0.5 * (system.matrix + system.matrix.T)
        self._skew = system.matrix - self._S
        n = search.problem.n
        self._lagged = n > 0 and bool(abs(self._skew).max() > SYMMETRIC * abs(self._S).max())
        self._x = (
            np.zeros(system.mu.size + (n if self._lagged else 0)) if start is None else self._next(start)
        )
        self._anderson, self._defects, self._over = Anderson(), list[float](), n == 0

    @cached_property
    def _program(self) -> ConeProgram:
        mu = np.maximum(self._search.system.mu, MU_FLOOR)
        return ConeProgram(self._S, mu, self._search.problem.dim)

    def _next(self, r: Array) -> Array:
        """Return what the programs are made from: the slips |u_t| of r, and r itself where it lags."""
        slip = np.linalg.norm(self._search.system.u(r)[:, 1:], axis=1)
        return np.concatenate([slip, r.ravel()]) if self._lagged else slip

    def run(self, limit: int) -> None:
        """Solve programs until the search is content, so many were solved, or they lead nowhere."""
        share = PROGRAM_SHARE * (self._search.deadline - perf_counter())
        backend = Backend(self._name, min(self._search.deadline, perf_counter() + share))
        while not self._over and len(self._defects) <= limit and perf_counter() < backend.deadline:
            if self._step(backend):
                return
            recent = self._defects[-CONVERGING:]
            if len(self._defects) > FIRST_PROGRAMS and recent[-1] > 0.5 * recent[0]:
                self._over = True
        self._search.said.append(f"fixed point: no answer after {len(self._defects)} programs")

    def _step(self, backend: Backend) -> bool:
        """Solve the program for the current slips, offer its minimiser, and choose the next slips."""
        search, system, n_c = self._search, self._search.system, self._search.problem.n_c
        c = system.q.copy()
        c[:, 0] += system.mu * np.maximum(self._x[:n_c], 0.0)
        if self._lagged:
            c += (self._skew @ self._x[n_c:]).reshape(c.shape)
        minimum = self._program.solve(c.ravel(), backend)
        search.steps += minimum.iterations
        if minimum.x is None:
            search.said.append(f"cone program: {minimum.status}")
            self._over = True
            return False
        r, count = minimum.x.reshape(c.shape), len(self._defects)
        search.relaxed = r if search.relaxed is None else search.relaxed
        g = self._next(r)
        self._defects.append(float(np.linalg.norm(g - self._x)))
        self._x = self._anderson.next(self._x, g)
        return search.offer(r, f"cone fixed point ({count})" if count else "cone program")
