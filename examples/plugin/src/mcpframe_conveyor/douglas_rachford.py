"""Douglas-Rachford splitting for mixed LCPs, with a least-squares polish.

Method. A mixed LCP is 0 in M z + q + N(z), N the normal cone of the bounds. Its two parts are easy by
themselves: (I + rho M)^-1 for the first, clip for the second. The splitting takes them in turn,

    x = clip(s, l, u),     y = (I + rho M)^-1 (2 x - s - rho q),     s <- s + y - x.

Where it stands still, w = M x + q = (x - s) / rho has the signs that a solution needs. The face in which s
lies is a guess of the active set; now and then M z = -q is solved there, which ends the iteration at
rounding level once the guess is right.

Matrix class. Converges for monotone problems (symmetric part of M positive semidefinite) that have a
solution, whatever rho. Friction makes M copositive instead: most contact problems are solved, none is
promised. No proof of infeasibility is looked for.

Limits. (I + rho M)^-1 is a dense matrix: n^3 work once, n^2 in each iteration.

References. Lions, Mercier 1979; Eckstein, Bertsekas 1992; Eckstein, Ferris 1998 (affine variational
inequalities).
"""

from dataclasses import dataclass
from time import perf_counter
from typing import Self, final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mcpframe import AbstractSolver, Claim, MixedLCP, Request, Status

Array = NDArray[np.float64]

FIRST_POLISH, POLISH_GROWTH = 4, 1.5
"""Iteration of the first polish, and how much later each next one comes."""
DIVERGED = 1e100
"""Size of s beyond which the iteration is given up, long before numbers overflow."""


@final
class DouglasRachford(AbstractSolver):
    """Douglas-Rachford splitting: clip and a linear solve in turn; certain for monotone problems."""

    name = "douglas_rachford"
    step: float = Field(3.0, gt=0.0, description="rho, for a matrix scaled to entries of about one")
    max_iterations: int = Field(2000, ge=1, description="iterations before it gives up")

    def _solve(self, problem: MixedLCP, request: Request) -> Claim:
        splitting = Splitting.of(problem, self.step)
        s, next_polish = splitting.start(request.z0), FIRST_POLISH
        for k in range(self.max_iterations):
            x = splitting.clip(s)
            z, _, residual = problem.certify(splitting.unit * x)
            if residual <= request.tol:
                return Claim(z, Status.SOLVED, iterations=k)
            if k == next_polish:
                next_polish = int(POLISH_GROWTH * k) + 1
                polished, _, residual = problem.certify(splitting.unit * splitting.polished(s, x))
                if residual <= request.tol:
                    return Claim(polished, Status.SOLVED, iterations=k, relaxed_z=z)
            if perf_counter() > request.deadline:
                return Claim(z, Status.TIME_LIMIT, iterations=k)
            s = splitting.advanced(s, x)
            if np.abs(s).max() > DIVERGED:
                return Claim(z, Status.NUMERICAL, iterations=k, message="the iteration diverges")
        return Claim(z, Status.ITERATION_LIMIT, iterations=self.max_iterations)


@dataclass(frozen=True, eq=False)
class Splitting:
    """The problem in units in which the entries of M are about one: z = unit x, D M D for M, D q for q.

    Rows and columns have the same factors D, so that a monotone problem stays monotone.
    """

    unit: Array
    M: Array
    q: Array
    lower: Array
    upper: Array
    rho: float
    resolvent: Array

    @classmethod
    def of(cls, problem: MixedLCP, rho: float) -> Self:
        """Return the problem in such units, with (I + rho M)^-1."""
        unit = np.sqrt(np.multiply(*problem.scaling))
        M = unit[:, None] * problem.M_dense * unit
        resolvent = np.asarray(np.linalg.inv(np.eye(problem.n) + rho * M), dtype=np.float64)
        return cls(unit, M, unit * problem.q, problem.lower / unit, problem.upper / unit, rho, resolvent)

    def clip(self, s: Array) -> Array:
        """Return x: s clipped into its bounds."""
        return np.clip(s, self.lower, self.upper)

    def start(self, z0: Array | None) -> Array:
        """Return zero, or s = x - rho w at z0, which stays where it is if z0 is a solution."""
        if z0 is None:
            return np.zeros(self.q.size)
        x = self.clip(z0 / self.unit)
        return x - self.rho * (self.M @ x + self.q)

    def advanced(self, s: Array, x: Array) -> Array:
        """Return s + y - x."""
        return s + self.resolvent @ (2.0 * x - s - self.rho * self.q) - x

    def polished(self, s: Array, x: Array) -> Array:
        """Return the point nearest to x with w = 0 where s is inside its bounds, the others held."""
        inside = (self.lower < s) & (s < self.upper)
        w = self.M @ x + self.q
        change = np.linalg.lstsq(self.M[np.ix_(inside, inside)], w[inside])[0]
        polished = x.copy()
        polished[inside] -= change
        return polished
