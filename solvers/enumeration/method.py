"""Enumeration: every solution of a tiny mixed LCP, and proof where there is none.

A solution belongs to a complementary basis: each row is AT_LOWER (z = l, w >= 0), AT_UPPER (z = u, w <= 0)
or BASIC (l <= z <= u, w = 0) [Murty 1988, chapter 1; Cottle, Pang, Stone 1992, section 1.3]. Free rows are
always BASIC, fixed rows have one state, rows with one bound two, rows with two bounds three. Every basis is
tried:

- M_BB regular: one candidate, solved for with refinement by exact residuals, and checked;
- M_BB singular: the solutions of the basis form a polyhedron (a face); the linear program of `face_point`
  finds a point of it, or shows that it is empty. A face that holds a solution found earlier is not searched
  again: of a continuum of solutions at least one point is returned, not every vertex.

Matrix class: any. Cost: 2^a 3^b linear systems for a rows with one bound and b with two. INFEASIBLE means
that every basis was shown to be empty. Order of the solutions: that of the bases in which they were found,
compared row by row from the first, AT_LOWER before AT_UPPER before BASIC; `z` is the first one,
`alternatives` are the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mcpframe.problem.infeasibility import find_certificate
from mcpframe.problem.problems import MixedLCP
from mcpframe.solvers.enumeration.face import face_point, face_violation, regular_point
from mcpframe.solvers.enumeration.kernels import FACE, POINT, screen_bases
from mcpframe.solving.plugin import AbstractSolver, Request
from mcpframe.solving.solution import AT_LOWER, AT_UPPER, BASIC, Claim, Status

Array = NDArray[np.float64]
Codes = NDArray[np.int8]

CHUNK = 8192
"""Bases per call of the kernel: a few milliseconds, between which the clock is read."""
EXACT = 1e-9
"""Violation, relative to the terms of a relation, that refinement leaves to a true solution at most."""
UNDECIDED = 1e-6
"""Violation of a face's best point above which the face is empty; in between, it cannot be said."""
SAME = 1e-8
"""Distance, relative to the size of z in scaled units, below which two solutions are one."""


@final
class Enumeration(AbstractSolver):
    """All solutions of a tiny problem, by trying every complementary basis."""

    name: ClassVar[str] = "enum"

    max_n: int = Field(
        14, ge=0, le=20, description="largest number of rows taken; the work grows as 2^n to 3^n"
    )

    def why_unsupported(self, problem: Any) -> str:
        """Return why the problem cannot be enumerated: its type or its size."""
        reason = super().why_unsupported(problem)
        if reason or problem.n <= self.max_n:
            return reason
        return f"enum tries every basis: n = {problem.n} exceeds max_n = {self.max_n}; choose another solver"

    def _solve(self, problem: MixedLCP, request: Request) -> Claim:
        with np.errstate(all="ignore"):
            found = _Enumerated(problem, request.deadline)
            found.run()
        return _claim(problem, found, request.tol)


@dataclass(eq=False)
class _Enumerated:
    """The solutions found so far, by the number of their basis."""

    problem: MixedLCP
    deadline: float
    solutions: dict[int, Array] = field(default_factory=dict)
    tried: int = 0
    undecided: int = 0
    complete: bool = False

    def run(self) -> None:
        """Try all bases: regular ones first, so that most singular faces are known to hold a solution."""
        table, count = _choices(self.problem)
        heaps = self._screen(table, count)
        for kind, decide in ((POINT, self._point), (FACE, self._face)):
            for k, heap in heaps:
                if heap == kind and not self._late():
                    decide(k, _codes(k, table, count))
        self.complete = not self._late()

    def _screen(self, table: NDArray[np.int64], count: NDArray[np.int64]) -> list[tuple[int, int]]:
        problem, n = self.problem, self.problem.n
        R, C = problem.scaling
        scaled = (np.ascontiguousarray(R[:, None] * problem.M_dense * C), R * problem.q)
        bounds = (problem.lower / C, problem.upper / C)
        work = (np.empty(n), np.empty(n, np.int64), np.empty((n, n + 2)), np.empty(n, np.int64), np.empty(n))
        codes, numbers, heap = np.empty(n, np.int8), np.empty(CHUNK, np.int64), np.empty(CHUNK, np.int8)
        total, heaps = int(np.prod(count)), []
        while self.tried < total and not self._late():
            stop = min(self.tried + CHUNK, total)
            kept = screen_bases(
                *scaled, *bounds, table.ravel(), count, self.tried, stop, *work, codes, numbers, heap
            )
            heaps += list(zip(numbers[:kept].tolist(), heap[:kept].tolist(), strict=True))
            self.tried = stop
        return heaps

    def _point(self, k: int, codes: Codes) -> None:
        z = regular_point(self.problem, codes)
        if z is None:
            self._face(k, codes)
        elif face_violation(self.problem, codes, z) <= EXACT:
            self._add(k, z)

    def _face(self, k: int, codes: Codes) -> None:
        if any(face_violation(self.problem, codes, z) <= EXACT for z in self.solutions.values()):
            return
        z = face_point(self.problem, codes)
        violation = np.inf if z is None else face_violation(self.problem, codes, z)
        if z is not None and violation <= EXACT:
            self._add(k, z)
        elif z is None or violation <= UNDECIDED:
            self.undecided += 1

    def _add(self, k: int, z: Array) -> None:
        z = np.clip(z, self.problem.lower, self.problem.upper)
        C = self.problem.scaling[1]
        for known in self.solutions.values():
            if np.abs((z - known) / C).max(initial=0.0) <= SAME * np.abs(known / C).max(initial=0.0):
                return
        self.solutions[k] = z

    def _late(self) -> bool:
        return perf_counter() > self.deadline


def _choices(problem: MixedLCP) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the codes that each row may have [n, 3] and how many they are [n]."""
    table, count = np.full((problem.n, 3), BASIC, dtype=np.int64), np.zeros(problem.n, dtype=np.int64)
    for i in range(problem.n):
        codes = [AT_LOWER] if np.isfinite(problem.lower[i]) else []
        if not problem.fixed[i]:
            codes += [AT_UPPER] if np.isfinite(problem.upper[i]) else []
            codes += [BASIC]
        table[i, : len(codes)], count[i] = codes, len(codes)
    return table, count


def _codes(k: int, table: NDArray[np.int64], count: NDArray[np.int64]) -> Codes:
    """Return the codes of basis number k, whose last digit belongs to the last row."""
    codes = np.empty(count.size, dtype=np.int8)
    for i in range(count.size - 1, -1, -1):
        k, digit = divmod(k, int(count[i]))
        codes[i] = table[i, digit]
    return codes


def _claim(problem: MixedLCP, found: _Enumerated, tol: float) -> Claim:
    """Say what was found; a solution whose residual rounding keeps above tol does not count as one."""
    table, count = _choices(problem)
    exact = [k for k in sorted(found.solutions) if problem.certify(found.solutions[k])[2] <= tol]
    points = [found.solutions[k] for k in exact]
    if points:
        basis, others = _codes(exact[0], table, count), tuple(points[1:])
        return Claim(
            points[0], Status.SOLVED, found.tried, _tally(found, len(points)), basis, alternatives=others
        )
    nearest = np.clip(np.zeros(problem.n), problem.lower, problem.upper)
    if found.solutions:
        message = "there is a solution, but the data are too large or too small to give it to the tolerance"
        return Claim(found.solutions[min(found.solutions)], Status.NUMERICAL, found.tried, message)
    if not found.complete:
        total = int(np.prod(count))
        return Claim(
            nearest, Status.TIME_LIMIT, found.tried, f"no solution in {found.tried} of {total} bases"
        )
    if found.undecided:
        message = f"no solution found, but rounding hides whether {found.undecided} singular faces are empty"
        return Claim(nearest, Status.NUMERICAL, found.tried, message)
    message = f"all {found.tried} complementary bases are empty: there is no solution"
    return Claim(nearest, Status.INFEASIBLE, found.tried, message, farkas=find_certificate(problem))


def _tally(found: _Enumerated, number: int) -> str:
    known = "all" if found.complete and not found.undecided else "perhaps not all"
    return f"{number} solution{'s' * (number > 1)}, {known} (one of each continuum)"
