"""The search for thousands of contacts: descent, proximal Newton's method, interior point, in turns.

A descent finds who carries load in piles with gaps, a proximal Newton's method ends it; in jammed piles an
interior point finds out, by one path after the other, Newton's method ends that too, and goes all the way in
between. Where most contacts stay open, those that close are solved alone, island by island, and again with
all that would overlap then, until nothing does. What a factorisation costs is guessed from the graph of
closed contacts, and none is begun that costs more than the descent so far: in space factors fill in, steps of
a descent do not. The order depends on the problem alone, not on clocks: the same problem gives the same bits.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from mcpframe.problem.friction import FrictionProblem
from mcpframe.solvers.cone.sparse.gradient import Descent
from mcpframe.solvers.cone.sparse.interior import central_path
from mcpframe.solvers.cone.sparse.islands import SMALL, Contacts, find_islands, solve_small
from mcpframe.solvers.cone.sparse.proximal import proximal_newton
from mcpframe.solvers.cone.sparse.system import SparseCones, sparse_cones
from mcpframe.solving.plugin import Request
from mcpframe.solving.solution import Claim, Status

Array = NDArray[np.float64]

ROUND = 50
"""Steps of a descent between looks at the residual and the clock."""
DESCENTS = 300, 1000, 3000, 10_000, 40_000
"""Steps, in all, after which other methods have a turn."""
NEAR, FAST = 1e-2, 1e-5
"""Residual after the first descent from which Newton's method has a chance; and after the second one, from
which a third may well end it."""
BRIEF, LONG, WHOLE, LOOK = 30, 200, 1500, 10
"""Linear systems of a proximal Newton's method on trial, after the interior point, and of one that goes all
the way of a jammed pile; how many must be affordable by the guess for one to be made that tells better."""
JAMMED = 1
"""Number of the descent after which a pile counts as jammed."""
CENTRAL_STEPS, TYPICAL_STEPS, FIRST_GAP, CLOSER = 250, 60, 1e-5, 1e-2
"""Steps of the interior point at most, and as a rule; the gap at which Newton's method is tried, and the next
ones over the last."""
KINDS = (1.0, 0.0), (0.9, 0.0), (0.95, 0.5)
"""Of paths, the last one again and again: share of the derivative of slips; by how much weights of contacts
differ, as the deviation of their logarithm."""
PATHS = 4
"""Paths in one turn, at most."""
AFFORDABLE = 10.0
"""Work of linear systems over that of the descent before."""
GLANCE, FEW, JAM, ROUNDS = 100, 0.7, 0.3, 20
"""Steps of a descent that tell which contacts may close; the share of all up to which they are solved alone,
and up to which one island may have them; how often."""
SHARE = 0.5
"""Of the tolerance, what is aimed at."""


class Search:
    """The best point so far of one system, and the methods that look for a better one."""

    def __init__(self, system: SparseCones, start: Array, goal: float, deadline: float) -> None:
        self.system, self.goal, self.deadline = system, goal, deadline
        self.best, self.residual = start, system.residual(start)
        self.iterations, self.method, self.said = 0, "rest", dict[str, float]()
        self.descent, self.jammed, self.paths = Descent(system, start), False, 0

    def run(self) -> None:
        """Go through the methods until one meets the goal."""
        flowed = np.inf
        for k, steps in enumerate(DESCENTS):
            self.descend(steps)
            work = AFFORDABLE * self.descent.steps * self.descent.work
            start = self.descent.r.reshape(self.best.shape).copy()
            affords = self.near(k) and self.affords_newton(work)
            if affords:
                self.newton(start, BRIEF, "descent, proximal Newton")
            if (k == 1 and self.residual < FAST) or k < JAMMED or not self.goes_on():
                continue
            self.jammed = True
            self.interior(work)
            if affords and k > JAMMED and self.goes_on():
                self.newton(self.best if self.residual < flowed else start, WHOLE, "proximal Newton")
                flowed = self.residual

    def near(self, k: int) -> bool:
        """Return whether Newton's method may find the end from the best point, after descent number k."""
        return self.goes_on() and (k > 0 or self.residual < NEAR)

    def affords_newton(self, work: float) -> bool:
        """Return whether Newton's method is within so many multiplications, by a guess or by a look."""
        guess = self.system.system_work(self.best)
        look = LOOK * guess <= work < BRIEF * guess
        return BRIEF * (self.system.factor_work(self.best) if look else guess) <= work

    def goes_on(self) -> bool:
        """Return whether there is something to improve and time for it."""
        return self.residual > self.goal and perf_counter() < self.deadline

    def descend(self, steps: int) -> None:
        """Take steps of the descent up to so many in all."""
        while self.descent.steps < steps and self.goes_on():
            self.offer(self.descent.run(ROUND).reshape(self.best.shape), "descent")
            self.iterations += ROUND

    def newton(self, r: Array, systems: int, method: str) -> None:
        """Take proximal Newton steps from r."""
        found = proximal_newton(self.system, r, self.goal, systems, self.deadline)
        self.iterations += found.steps
        self.said[method] = min(found.residual, self.said.get(method, np.inf))
        self.offer(found.r, method)

    def interior(self, work: float) -> None:
        """Follow the next central paths, as many as are within so many multiplications."""
        path = max(TYPICAL_STEPS * self.system.system_work(), 1.0)
        for _ in range(int(min(PATHS, work / path))):
            if self.goes_on():
                self.follow(self.paths)
                self.paths += 1

    def follow(self, k: int) -> None:
        """Follow central path number k, with Newton's method from some of its points, longer from the end.

        From the third one on contacts have weights: where one path meets a turn that it does not get around,
        another one may not.
        """
        share, spread = KINDS[min(k, len(KINDS) - 1)]
        weights = np.exp(spread * np.random.default_rng(k).standard_normal(len(self.best)))
        weights /= weights.mean()
        mark, point = FIRST_GAP, self.best
        for r, gap in central_path(self.system, CENTRAL_STEPS, self.deadline, share, weights):
            self.iterations, point = self.iterations + 1, self.system.project(r)
            if gap < mark and self.goes_on():
                self.newton(point, BRIEF, "interior point, proximal Newton")
                mark = CLOSER * gap
            if not self.goes_on():
                return
        self.newton(point, LONG, "interior point, proximal Newton")

    def offer(self, r: Array, method: str) -> None:
        """Keep a point if it is the best."""
        residual = self.system.residual(r)
        if residual < self.residual:
            self.best, self.residual, self.method = r.copy(), residual, method


class Pile(Search):
    """The search of a whole problem, which is told about as it goes on."""

    def __init__(self, problem: FrictionProblem, request: Request) -> None:
        system = sparse_cones(problem)
        start = np.zeros(system.q.shape)
        if request.z0 is not None:
            start = request.z0.reshape(start.shape) / system.unit_r
        super().__init__(system, start, SHARE * request.tol / problem.scale, request.deadline)
        self.request = request

    def solve(self) -> Claim:
        """Try the start, the contacts that may close, and all of them."""
        if self.request.z0 is not None:
            self.newton(self.best, BRIEF, "warm start")
        self.descend(GLANCE)
        self.few()
        if self.jammed:
            self.newton(self.best, WHOLE, "proximal Newton")
        self.run()
        return self.claim()

    def few(self) -> None:
        """Solve contacts that may close alone, island by island, and again with those that overlap then.

        What an island does not solve is left to the search of the whole, and so is a pile that is one island.
        """
        kept = np.zeros(len(self.best), dtype=bool)
        r = self.best.copy()
        for k in range(ROUNDS):
            off = self.system.residuals(r) > self.goal
            if not self.goes_on() or off[kept].any():
                return
            u = self.system.u(self.system.push(r))
            kept |= (r[:, 0] > 0.0) | (u[:, 0] < 0.0)
            if kept.mean() > FEW:
                return
            islands = find_islands(self.system, kept)
            if max(map(len, islands)) > JAM * len(kept):
                return
            islands = [island for island in islands if off[island].any()]
            small = [island for island in islands if len(island) <= SMALL]
            solve_small(self.system, small, r, self.goal, self.deadline)
            for island in islands:
                if len(island) > SMALL:
                    r[island] = self.island(island, r[island], again=k > 0)
            self.offer(r, "islands")

    def island(self, contacts: Contacts, r: Array, again: bool) -> Array:
        """Return the best point of an island, from one that is solved but for contacts that are new."""
        search = Search(self.system.part(contacts), r, self.goal, self.deadline)
        if again:
            search.newton(search.best, WHOLE if self.jammed else BRIEF, "proximal Newton")
        search.run()
        self.jammed |= search.jammed
        self.iterations += search.iterations
        self.said |= search.said
        return search.best

    def offer(self, r: Array, method: str) -> None:
        """Keep a point if it is the best, for those too who may have to stop the search."""
        before = self.residual
        super().offer(r, method)
        if self.residual < before:
            claim = Claim(self.impulses(), Status.TIME_LIMIT, self.iterations, method=method)
            self.request.kept[:] = [claim]

    def impulses(self) -> Array:
        """Return the best point in the problem's units [n]."""
        return np.asarray((self.best * self.system.unit_r).ravel())

    def claim(self) -> Claim:
        """Return the best point, and how it was found or what was tried."""
        solved = self.residual <= self.goal / SHARE
        late = perf_counter() > self.deadline
        status = Status.SOLVED if solved else Status.TIME_LIMIT if late else Status.ITERATION_LIMIT
        tried = [f"{method}: {residual:.1e}" for method, residual in self.said.items()]
        said = "" if solved else "; ".join([f"residual {self.residual:.1e}", *tried])
        return Claim(self.impulses(), status, self.iterations, said, method=f"cone, {self.method}")
