"""A mixed LCP as a pure one, x >= 0, w = M x + q >= 0, x* w = 0, and the way back: for solvers of only those.

Free rows are eliminated (`free_rows`), fixed variables put in. Every other row is counted from a bound that
it has, z = o + s x with o = l, s = 1, or o = u, s = -1 where there is no l, and D = diag(s):

    M_x = D M D,    q_x = D (q + M o).

A row with both bounds gets a multiplier y of z <= u, with E the columns of such rows:

    w = M_x x + E y + q_x _|_ x,    (u - l) - E* x _|_ y.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcpframe.exceptions import ProblemError
from mcpframe.problem.problems import MixedLCP
from mcpframe.solvers.shared.free_rows import REGULAR, Elimination, eliminate_free_rows

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PureLCP:
    """A pure LCP and what its solution says of the mixed one.

    Attributes:
        problem: the pure one, lower = 0 and upper = inf everywhere; M is dense.
        elimination: of the free rows, None where there are none.
        fixed: rows that are fixed, of those that are not free.
        origin, sign: z = origin + sign x of the others; origin holds the values of fixed ones too.
    """

    problem: MixedLCP
    elimination: Elimination | None
    fixed: NDArray[np.bool_]
    origin: Array
    sign: Array

    def point(self, x: Array) -> Array:
        """Return z of the mixed problem."""
        z = self.origin.copy()
        moving = np.flatnonzero(~self.fixed)
        z[moving] += self.sign * x[: moving.size]
        return z if self.elimination is None else self.elimination.point(z)


def pure_lcp(problem: MixedLCP) -> PureLCP:
    """Return a mixed LCP as a pure one.

    Raises:
        ProblemError: the free rows cannot be eliminated, for their block M_ff is singular.

    >>> pure = pure_lcp(MixedLCP([[2.0, 1.0], [-1.0, 1.0]], [-4.0, 1.0], lower=[0.0, -np.inf]))
    >>> pure.problem.M, pure.problem.q
    (array([[3.]]), array([-5.]))
    >>> pure.point(np.array([5.0 / 3.0]))
    array([1.66666667, 0.66666667])
    """
    elimination = _eliminated(problem) if problem.free.any() else None
    rest = problem if elimination is None else elimination.problem
    from_below = np.isfinite(rest.lower)
    origin = np.where(from_below, rest.lower, rest.upper)
    moving = np.flatnonzero(~rest.fixed)
    sign = np.where(from_below, 1.0, -1.0)[moving]
    M = sign[:, None] * rest.M_dense[np.ix_(moving, moving)] * sign
    q = sign * (rest.q + rest.M @ origin)[moving]
    width = (rest.upper - rest.lower)[moving]
    boxed = np.flatnonzero(np.isfinite(width))
    E = np.eye(moving.size)[:, boxed]
    M = np.block([[M, E], [-E.T, np.zeros((boxed.size, boxed.size))]])
    return PureLCP(MixedLCP(M, np.append(q, width[boxed])), elimination, rest.fixed, origin, sign)


def _eliminated(problem: MixedLCP) -> Elimination:
    elimination = eliminate_free_rows(problem)
    if elimination is None:
        raise ProblemError(
            f"pure_lcp: the block of the {int(problem.free.sum())} free rows of {problem!r} is singular (its "
            f"condition estimate is below {REGULAR:g}), so that they cannot be eliminated; redundant "
            "equations do that: leave them out, or take a solver that has free rows, as 'auto'"
        )
    return elimination
