"""The path of a large sparse linearisation: revised pivoting, without a dictionary.

The path is that of `path.linear`,

    M z - w - tau r = -q,   tau from 1 down to 0,

but of its basis only factors are kept. Rows whose z is basic make a sparse M_BB, factorised once; the w of
the others follow from it. A pivot replaces one column of the basis B_k by another, B_k+1 = B_k E_k, and E_k
differs from the identity by the one column B_k^-1 a of the variable that entered: the product form
[Dantzig, Orchard-Hays 1954]. After MOST_UPDATES of them the basis is factorised anew and the point computed
again. The ratio test takes the largest of the pivots that are nearly first [Harris 1973].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.solvers.lemke.kernels import ENDED, PIVOT_LIMIT, RAY, SINGULAR, STOPPED
from mcpframe.solvers.path.linear import PathEnd, basis_of, complementary, drifted, on_basis
from mcpframe.solvers.shared.linear import sparse_lu
from mcpframe.solving.solution import AT_LOWER, AT_UPPER, BASIC

Array = NDArray[np.float64]
Codes = NDArray[np.int8]

MOST_UPDATES = 64
"""Columns that are replaced before the basis is factorised anew."""
TIE = 1e-9
"""By how much bounds are passed, relative to the size of the point, where that gives a larger pivot."""
LEAST_PIVOT = 1e-11
"""Of the largest entry of a column: below, an entry is rounding."""


class Factors:
    """The inverse of a basis: LU of M_BB, and the columns that have entered since.

    Position i belongs to row i: z_i where that is basic, else w_i, until a column is replaced.

    Args:
        M: by columns; basic: rows whose z is in the basis [n].
    """

    def __init__(self, M: sp.csc_array, basic: NDArray[np.bool_]) -> None:
        self._B, self._N = np.flatnonzero(basic), np.flatnonzero(~basic)
        columns = M[:, self._B]
        self._below = sp.csr_array(columns[self._N])
        self._lu = sparse_lu(columns[self._B]) if self._B.size else None
        self.singular = self._B.size > 0 and self._lu is None
        self.updates: list[tuple[int, Array]] = []

    def solve(self, b: Array) -> Array:
        """Return x, by positions, of basis x = b."""
        x = np.empty(b.size)
        x[self._B] = self._lu.solve(b[self._B]) if self._lu is not None else 0.0
        x[self._N] = self._below @ x[self._B] - b[self._N]
        for position, column in self.updates:
            value = x[position] / column[position]
            x -= value * column
            x[position] = value
        return x

    def replace(self, position: int, column: Array) -> None:
        """Let the variable whose column is basis times `column` take a position."""
        self.updates.append((position, column))


class SparsePath:
    """The path of one linearisation, as `LinearPath`, for sparse M.

    Variables are numbered: z_i is i, w_i is n + i, tau is 2 n.
    """

    def __init__(
        self, M: sp.csc_array, q: Array, lower: Array, upper: Array, z: Array, w: Array, stop: Any
    ) -> None:
        self.M, self.q, self.lower, self.upper, self.z, self.w, self.stop = M, q, lower, upper, z, w, stop
        self.r = M @ z + q - w
        self._n = q.size

    def to(self, t: float, limit: int) -> PathEnd:
        """Follow the path from 0 to t (0 < t <= 1), or as far as it goes."""
        self._codes = basis_of(self.z, self.w, self.lower, self.upper)
        factors = Factors(self.M, self._codes == BASIC)
        if factors.singular:
            return PathEnd(self.z, self.w, 0.0, SINGULAR, 0)
        self._factors, self._tau, self._goal = factors, 1.0, 1.0 - t
        self._var = np.where(self._codes == BASIC, 0, self._n) + np.arange(self._n)
        self._x = np.where(self._codes == BASIC, self.z, self.w)
        self._set_ranges()
        ended, pivots = self._follow(limit)
        return self._end(ended, pivots)

    def _follow(self, limit: int) -> tuple[int, int]:
        """Pivot until tau is at its goal; return how it ended and the number of pivots."""
        entering, direction = 2 * self._n, -1.0
        for pivots in range(limit):
            if self.stop[0] != 0:
                return STOPPED, pivots
            if len(self._factors.updates) >= MOST_UPDATES and not self._refactor(entering):
                return SINGULAR, pivots
            column = self._factors.solve(self._column(entering))
            rate = -direction * column
            length, position = self._first_blocked(rate)
            own = self._own_length(entering, direction)
            if min(length, own) == math.inf:
                return RAY, pivots
            self._x += min(length, own) * rate
            if own <= length:  # the variable that enters comes to its own end first
                if entering == 2 * self._n:
                    self._tau = self._goal
                    return ENDED, pivots
                self._codes[entering] = AT_UPPER if direction > 0.0 else AT_LOWER
                entering, direction = self._n + entering, -direction
                continue
            leaving, falling = self._var[position], rate[position] < 0.0
            self._x[position] = self._value(entering) + direction * length
            self._enter(entering, position, column)
            if leaving == 2 * self._n:
                self._tau = self._goal
                return ENDED, pivots + 1
            entering, direction = self._complement(leaving, falling)
        return PIVOT_LIMIT, limit

    def _column(self, variable: int) -> Array:
        """Return the column of a variable in M z - w - tau r."""
        n = self._n
        if variable == 2 * n:
            return np.asarray(-self.r)
        column = np.zeros(n)
        if variable >= n:
            column[variable - n] = -1.0
        else:
            part = slice(self.M.indptr[variable], self.M.indptr[variable + 1])
            column[self.M.indices[part]] = self.M.data[part]
        return column

    def _set_ranges(self) -> None:
        """Write what every basic variable may be: z within its bounds, w with the sign of its bound."""
        z_basic = self._codes == BASIC
        fixed = self.lower == self.upper
        self._low = np.where(z_basic, self.lower, np.where((self._codes == AT_LOWER) & ~fixed, 0.0, -np.inf))
        self._high = np.where(z_basic, self.upper, np.where((self._codes == AT_UPPER) & ~fixed, 0.0, np.inf))

    def _first_blocked(self, rate: Array) -> tuple[float, int]:
        """Return how far basic variables let the entering one go, and the position that stops it."""
        moving = np.abs(rate) > LEAST_PIVOT * np.abs(rate).max(initial=0.0)
        bound = np.where(rate < 0.0, self._low, self._high)
        blocks = np.flatnonzero(moving & np.isfinite(bound))
        if blocks.size == 0:
            return math.inf, -1
        room, speed = np.abs(self._x[blocks] - bound[blocks]), np.abs(rate[blocks])
        passed = (self._x[blocks] - bound[blocks]) * rate[blocks] > 0.0
        room[passed] = 0.0
        farthest = ((room + TIE * (1.0 + np.abs(bound[blocks]))) / speed).min()
        ties = np.flatnonzero(room <= farthest * speed)
        tau = ties[self._var[blocks[ties]] == 2 * self._n]
        chosen = tau[0] if tau.size else ties[np.argmax(speed[ties])]
        return float(room[chosen] / speed[chosen]), int(blocks[chosen])

    def _own_length(self, entering: int, direction: float) -> float:
        """Return how far the entering variable may go by itself."""
        if entering == 2 * self._n:
            return self._tau - self._goal if direction < 0.0 else math.inf
        return float(self.upper[entering] - self.lower[entering]) if entering < self._n else math.inf

    def _value(self, entering: int) -> float:
        """Return where a nonbasic variable rests."""
        if entering >= self._n:
            return self._tau if entering == 2 * self._n else 0.0
        return float(self.upper[entering] if self._codes[entering] == AT_UPPER else self.lower[entering])

    def _enter(self, entering: int, position: int, column: Array) -> None:
        """Put a variable into the basis, in place of the one at a position."""
        self._factors.replace(position, column)
        self._var[position] = entering
        n, i = self._n, entering % self._n
        if entering == 2 * n:
            self._low[position], self._high[position] = self._goal, math.inf
        elif entering < n:
            self._codes[i] = BASIC
            self._low[position], self._high[position] = self.lower[i], self.upper[i]
        else:
            at_upper = self._codes[i] == AT_UPPER
            self._low[position], self._high[position] = (-math.inf, 0.0) if at_upper else (0.0, math.inf)

    def _complement(self, leaving: int, falling: bool) -> tuple[int, float]:
        """Return the variable that enters after one has left at its bound, and its direction."""
        n = self._n
        if leaving >= n:
            return leaving - n, -1.0 if self._codes[leaving - n] == AT_UPPER else 1.0
        self._codes[leaving] = AT_LOWER if falling else AT_UPPER
        return n + leaving, 1.0 if falling else -1.0

    def _refactor(self, entering: int) -> bool:
        """Factorise the basis anew, row by row in its own position, and compute its point; tau is basic.

        The pair of the entering variable has nothing in the basis: tau takes its position.
        """
        n, pair = self._n, entering % self._n
        for z_in in (False, True):
            basic = self._codes == BASIC
            basic[pair] = z_in
            factors = Factors(self.M, basic)
            if factors.singular:
                continue
            column = factors.solve(-self.r)
            if abs(column[pair]) > LEAST_PIVOT * np.abs(column).max():
                break
        else:
            return False
        factors.replace(pair, column)
        self._factors = factors
        self._var = np.where(self._codes == BASIC, 0, n) + np.arange(n)
        self._var[pair] = 2 * n
        self._set_ranges()
        self._low[pair], self._high[pair] = self._goal, math.inf
        resting = on_basis(self._codes, np.zeros(n), self.lower, self.upper)
        self._x = factors.solve(-self.q - self.M @ resting)
        return True

    def _end(self, ended: int, pivots: int) -> PathEnd:
        """Return the point, complementary; the start where it is not on the path."""
        n = self._n
        held = np.flatnonzero(self._var == 2 * n)
        tau = float(self._x[held[0]]) if held.size else self._tau
        z = on_basis(self._codes, np.zeros(n), self.lower, self.upper)
        in_z = self._var < n
        z[self._var[in_z]] = self._x[in_z]
        z = np.minimum(np.maximum(z, self.lower), self.upper)
        w = self.M @ z + self.q - tau * self.r
        w = np.where(self.lower == self.upper, w, complementary(self._codes, w))
        end = PathEnd(z, w, 1.0 - tau, ended, pivots)
        if not (np.isfinite(z).all() and tau < 1.0) or drifted(self.M, self.q, self.r, end):
            return PathEnd(self.z, self.w, 0.0, RAY if ended == ENDED else ended, pivots)
        return end
