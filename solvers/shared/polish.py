"""Active-set polish: from a point near a solution to the solution itself, at rounding level.

Near a solution, z and w = M z + q tell which rows are active: AT_LOWER where z - l is small beside w,
AT_UPPER where u - z is small beside -w, BASIC otherwise. With the basis fixed, what remains is linear,

    z_N = l or u,    M_BB z_B = -(q_B + M_BN z_N),

and its solution shows which rows were guessed wrongly: the primal-dual active-set iteration [Hintermueller,
Ito, Kunisch 2002], which is Newton's method on the min-map. Rows whose z - l and w both vanish (degenerate)
can go either way, so other guesses are tried where the first one does not lead to the solution. Singular M_BB
(redundant contacts) are solved with the least change of z, and at last by a linear program over the face.

Comparisons are made in scaled units, z / C and R w, with the factors of `MixedLCP.scaling`. A point is
accepted only if its natural residual is smaller, so the polish never does harm.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.problem.problems import MixedLCP
from mcpframe.solvers.enumeration.face import admissible, face_point, on_face, refined
from mcpframe.solvers.shared.linear import factorise, least_norm
from mcpframe.solving.solution import AT_LOWER, AT_UPPER, BASIC

Array = NDArray[np.float64]
Codes = NDArray[np.int8]

WEIGHTS = (1.0, 1e-3, 1e3)
"""Weights of z - l against w in successive guesses; the small one sends degenerate rows to their bound."""
REGULAR = 1e-10
"""Condition estimate below which the least-change solution is tried beside that of LU."""
ROUNDING = 4.0 * np.finfo(np.float64).eps
"""Residual, relative to the largest sum |M||z| + |q| of a row, that no step can improve."""
LP_LIMIT = 400
"""Largest n for the linear program over a singular face."""
VERTEX_LIMIT = 400
"""Largest M_BB whose undetermined directions are found by singular values."""


@dataclass(frozen=True, slots=True, eq=False)
class Polished:
    """What the polish found.

    Attributes:
        z: the best point, within its bounds [n]; the given one where nothing was better.
        basis: codes of that point [n].
        residual: its natural residual.
        steps: linear systems solved.
    """

    z: Array
    basis: Codes
    residual: float
    steps: int


def active_set_polish(
    problem: MixedLCP,
    z: Array,
    *,
    basis: Codes | None = None,
    max_steps: int = 8,
    thorough: bool = True,
    deadline: float = math.inf,
) -> Polished:
    """Improve a point by guessing its active set and solving for it.

    Args:
        z: a point near a solution [n]; entries that are not finite are replaced by the bound next to zero.
        basis: codes to try first, such as those of a pivoting method.
        max_steps: active-set steps per guess.
        thorough: try other guesses, and linear programs on singular faces, where the first guess fails.
        deadline: value of ``time.perf_counter()`` after which no further system is solved.
    """
    search = _Search(problem, z, deadline)
    with np.errstate(all="ignore"):
        for codes in search.guesses(basis, thorough):
            search.descend(codes, max_steps)
            if search.finished():
                break
    return Polished(search.z, search.basis, problem.certify(search.z)[2], search.steps)


def strict_tolerance(problem: MixedLCP, tol: float) -> float:
    """Return tol, lowered where q is small: a residual worth stopping at should also be small beside q."""
    size = float(np.abs(problem.q).max(initial=0.0))
    return tol * min(1.0, size) if size > 0.0 else tol


def guess_basis(problem: MixedLCP, z: Array, w: Array, weight: float = 1.0) -> Codes:
    """Return the codes that z and w suggest, `weight` times z - l (or u - z) being compared with w."""
    R, C = problem.scaling
    scaled_w, weight_z = R * w, weight / C
    codes = np.full(problem.n, BASIC, dtype=np.int8)
    codes[weight_z * (problem.upper - z) <= -scaled_w] = AT_UPPER
    codes[weight_z * (z - problem.lower) <= scaled_w] = AT_LOWER
    codes[problem.fixed] = AT_LOWER
    return codes


def solution_basis(problem: MixedLCP, z: Array) -> Codes:
    """Return codes of a solution from which its point can be found again.

    Rows on which z and w both vanish, up to rounding, rest on their bound where M_BB is regular then; else
    they are basic: slips of open contacts are determined by friction impulses that are zero.
    """
    w = problem.M @ z + problem.q
    vanishing = np.abs(w) <= ROUNDING * (abs(problem.M) @ np.abs(z) + np.abs(problem.q))
    rounding = ROUNDING * np.abs(z).max(initial=0.0)
    for bound in (problem.lower, problem.upper):
        z = np.where(np.abs(z - bound) <= rounding, bound, z)
    codes = guess_basis(problem, z, np.where(vanishing, 0.0, w))
    B = np.flatnonzero(codes == BASIC)
    if B.size and factorise(problem.M[B][:, B]).rcond < REGULAR:
        codes[vanishing & ~problem.fixed] = BASIC
    return codes


def to_vertex(problem: MixedLCP, z: Array, codes: Codes) -> tuple[Array, Codes]:
    """Return a solution whose basis determines it, and that basis, from one that may lie on a face.

    While M_BB x = 0 for some x, moving along it keeps w_B = 0; it is followed until a z_i meets its bound or
    a w_j vanishes, which then changes sides. So slips of open contacts shrink to the least that there can be.
    """
    M: Any = problem.M
    for _ in range(problem.n):
        B = np.flatnonzero(codes == BASIC)
        if not 0 < B.size <= VERTEX_LIMIT or factorise(M[B][:, B]).rcond >= REGULAR:
            break
        columns = M[:, B].toarray() if sp.issparse(M) else M[:, B]
        x = np.linalg.svd(columns[B])[2][-1]
        x[np.abs(x) <= REGULAR] = 0.0
        row, length = _first_met(problem, z, codes, B, x, columns @ x)
        if row < 0:
            break
        z, met = z.copy(), codes[row] == BASIC
        z[B] += length * x
        lower = abs(z[row] - problem.lower[row]) <= abs(problem.upper[row] - z[row])
        codes[row] = (AT_LOWER if lower else AT_UPPER) if met else BASIC
    return z, codes


def _first_met(
    problem: MixedLCP, z: Array, codes: Codes, B: NDArray[np.int64], x: Array, change: Array
) -> tuple[int, float]:
    """Return the first row that z_B + t x brings to its bound, or whose w to zero, and that t of least size.

    Row -1 where there is none.
    """
    w = problem.M @ z + problem.q
    room, speed = np.where(codes == AT_UPPER, -w, w), np.where(codes == AT_UPPER, -change, change)
    best = -1, math.inf
    for sign in (1.0, -1.0):
        along = np.where(codes == BASIC, 0.0, sign * speed)
        left = np.maximum(room, 0.0)
        along[B] = -np.abs(x)
        ahead = np.where(sign * x < 0.0, z[B] - problem.lower[B], problem.upper[B] - z[B])
        left[B] = np.maximum(ahead, 0.0)
        meets = (along < 0.0) & ~problem.fixed & np.isfinite(left)
        if meets.any():
            lengths = np.where(meets, left / np.where(meets, -along, 1.0), math.inf)
            row = int(np.argmin(lengths))
            if lengths[row] < abs(best[1]):
                best = row, sign * float(lengths[row])
    return best


class _Search:
    """The best point so far, and the steps that look for a better one."""

    def __init__(self, problem: MixedLCP, z: Array, deadline: float) -> None:
        self.problem, self.deadline, self.steps, self.singular = problem, deadline, 0, False
        self.M_size = abs(problem.M)
        start = np.where(np.isfinite(z), z, 0.0)
        self.z, self.w, _ = problem.certify(start)
        self.off = self.distances(self.z, self.w)
        with np.errstate(all="ignore"):
            self.basis = guess_basis(problem, self.z, self.w)
        self.start = self.z, self.w
        self.seen: set[bytes] = set()

    def guesses(self, basis: Codes | None, thorough: bool) -> Iterator[Codes]:
        """Yield codes to start from: the given ones, those of z, those of the LP where a face is singular."""
        if basis is not None:
            yield admissible(self.problem, basis)
        for weight in WEIGHTS if thorough else WEIGHTS[:1]:
            yield guess_basis(self.problem, *self.start, weight)
        if thorough and self.singular and self.problem.n <= LP_LIMIT:
            guesses = [guess_basis(self.problem, *self.start, weight) for weight in WEIGHTS]
            for codes in {codes.tobytes(): codes for codes in guesses}.values():
                point = face_point(self.problem, codes)
                if point is not None:
                    self.accept(point, codes)
                    yield guess_basis(self.problem, point, self.problem.certify(point)[1])

    def finished(self) -> bool:
        """Return whether the residual is at rounding level or time is up."""
        size = self.M_size @ np.abs(self.z) + np.abs(self.problem.q)
        floor = ROUNDING * float(size.max(initial=0.0))
        return bool(self.off.max(initial=0.0) <= floor) or perf_counter() > self.deadline

    def distances(self, z: Array, w: Array) -> Array:
        """Return |z - clip(z - w, l, u)| row by row [n]."""
        return np.abs(np.minimum(np.maximum(w, z - self.problem.upper), z - self.problem.lower))

    def residual(self, off: Array) -> float:
        """Return the residual as it is judged, rounding included: here it can still be improved on."""
        worst = float((self.problem.weights * off).max(initial=0.0))
        return worst if math.isfinite(worst) else math.inf

    def descend(self, codes: Codes, max_steps: int) -> None:
        """Take active-set steps until the codes repeat or nothing is left to improve."""
        for _ in range(max_steps):
            if codes.tobytes() in self.seen or perf_counter() > self.deadline:
                return
            self.seen.add(codes.tobytes())
            z = self.solve(codes)
            if z is None or self.finished():
                return
            codes = guess_basis(self.problem, z, self.problem.M @ z + self.problem.q)

    def solve(self, codes: Codes) -> Array | None:
        """Return z on the face of the codes, not clipped, after offering it as the new best point."""
        problem = self.problem
        z = on_face(problem, codes, self.z)
        B = np.flatnonzero(codes == BASIC)
        self.steps += 1
        if B.size == 0:
            return self.accept(z, codes)
        rows = problem.M[B]
        A = rows[:, B]
        factor = factorise(A)
        best = None
        if factor.rcond > 0.0:
            best = self.accept(refined(rows, problem.q[B], z, B, factor.solve), codes)
        if factor.rcond < REGULAR and not self.finished():
            self.singular = True
            nearest = self.accept(refined(rows, problem.q[B], z, B, least_norm(A)), codes)
            best = nearest if nearest is not None else best
        return best

    def accept(self, z: Array, codes: Codes) -> Array | None:
        """Keep the clipped z if its residual is smaller; return z, or None where it is not finite."""
        if not np.isfinite(z).all():
            return None
        clipped, w, _ = self.problem.certify(z)
        off = self.distances(clipped, w)
        if self.residual(off) < self.residual(self.off):
            self.z, self.w, self.off, self.basis = clipped, w, off, codes
        return z
