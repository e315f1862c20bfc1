"""A problem in scaled units, as methods that linearise see it: F, its Jacobian, the residual.

    z = C y,   F_scaled(y) = R F(C y),   J_scaled = R J C,   R, C > 0 diagonal:

complementarity does not notice. For a mixed LCP the factors equilibrate M and bring F at the start to
order one; for a nonlinear problem R divides the rows of the Jacobian at the start by their largest entries.
All factors are powers of two: scaling costs no accuracy.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.problem.problems import MCP, MixedLCP
from mcpframe.solvers.newton.kernels import scaled_residual, scatter_scaled
from mcpframe.solving.solution import AT_LOWER, AT_UPPER, BASIC

Array = NDArray[np.float64]

SPARSE_SIZE = 100
"""Matrices below this order are treated as dense: LAPACK is faster there."""
SPARSE_DENSITY = 0.15
"""So are matrices with a larger share of nonzeros."""
RANGE = 2.0**40
"""Largest factor, and inverse of the smallest, by which a nonlinear row is scaled."""

LEAST, MOST = 1e-300, 1e300
"""Sizes beyond these are not scaled away: their inverses are not normal numbers."""


class ScaledModel(ABC):
    """What both kinds of problem share.

    Attributes:
        lower, upper: bounds of y [n].
        row, column: the factors R and C [n].
        evaluations: how often F was computed.
        sparse: whether `J` returns a csc_array (sorted, diagonal stored) instead of a dense array.
    """

    def __init__(self, problem: MixedLCP | MCP, row: Array, column: Array, sparse: bool) -> None:
        self.problem, self.row, self.column, self.sparse = problem, row, column, sparse
        self.n = problem.n
        self.lower, self.upper = problem.lower / column, problem.upper / column
        self.weights = problem.weights
        self.evaluations = 0

    @abstractmethod
    def F(self, y: Array) -> Array:
        """Compute the scaled function [n]; entries may be infinite or nan where it is not defined."""

    @abstractmethod
    def J(self, y: Array) -> Any:
        """Compute the scaled Jacobian, dense or csc."""

    def residual(self, y: Array, F: Array) -> float:
        """Return the residual as the problem judges it, rounding included; +inf where it is not finite."""
        return float(scaled_residual(y, F, self.lower, self.upper, self.row, self.column, self.weights))

    def project(self, y: Array) -> Array:
        """Return the nearest point within the bounds."""
        return np.minimum(np.maximum(y, self.lower), self.upper)

    def worst_row(self, y: Array, F: Array) -> str:
        """Return the name of the row with the largest residual, such as ``z[3]``."""
        if self.n == 0:
            return ""
        step = np.minimum(
            np.maximum(F / self.row, (y - self.upper) * self.column), (y - self.lower) * self.column
        )
        worst = int(np.argmax(np.abs(step) * self.weights))
        return self.problem.layout.label(worst)

    def codes(self, y: Array, F: Array) -> NDArray[np.int8]:
        """Return the basis that y and F suggest: the piece of the min-map that they lie on."""
        codes = np.full(self.n, BASIC, dtype=np.int8)
        codes[y - F >= self.upper] = AT_UPPER
        codes[y - F <= self.lower] = AT_LOWER
        return codes


class AffineModel(ScaledModel):
    """F(z) = M z + q."""

    def __init__(self, problem: MixedLCP, start: Array, *, scaled: bool = True) -> None:
        n = problem.n
        row, column = problem.scaling if scaled else (np.ones(n), np.ones(n))
        size = _power_of_two(np.abs(row * (problem.M @ start + problem.q)).max(initial=0.0))
        sparse = is_sparse(problem)
        super().__init__(problem, row / size, column * size, sparse)
        self.q = self.row * problem.q
        if sparse:
            self.M: Any = sp.csr_array(sp.diags_array(self.row) @ problem.M @ sp.diags_array(self.column))
            self._J: Any = with_diagonal(self.M)
        else:
            self.M = self._J = np.ascontiguousarray(self.row[:, None] * problem.M_dense * self.column)

    def F(self, y: Array) -> Array:
        """Compute M y + q, scaled."""
        self.evaluations += 1
        return np.asarray(self.M @ y + self.q)

    def J(self, y: Array) -> Any:
        """Return M, scaled."""
        return self._J


class NonlinearModel(ScaledModel):
    """F given by CasADi."""

    def __init__(self, problem: MCP, start: Array, *, scaled: bool = True) -> None:
        n = problem.n
        pattern = problem.jacobian_pattern
        self._evaluator = problem.evaluator()
        self._rows = pattern.indices.astype(np.int64)
        self._columns = np.repeat(np.arange(n), np.diff(pattern.indptr))
        row = self._row_factors(start, n) if scaled else np.ones(n)
        sparse = is_sparse(problem)
        super().__init__(problem, row, np.ones(n), sparse)
        if sparse:
            # Where each entry of the pattern with the diagonal comes from: 0 for one that J does not store.
            numbered = sp.csc_array(
                (np.arange(1.0, pattern.nnz + 1.0), pattern.indices, pattern.indptr), (n, n)
            )
            self._with_diagonal = with_diagonal(numbered)
            self._source = self._with_diagonal.data.astype(np.int64)

    def _row_factors(self, start: Array, n: int) -> Array:
        size = np.zeros(n)
        np.maximum.at(size, self._rows, np.abs(self._evaluator.J(start).data))
        size[~((size > 1.0 / RANGE) & (size < RANGE))] = 1.0
        return 1.0 / np.exp2(np.round(np.log2(size)))

    def F(self, y: Array) -> Array:
        """Compute F, scaled."""
        self.evaluations += 1
        return self.row * self._evaluator.F(y)

    def J(self, y: Array) -> Any:
        """Compute the Jacobian of F, scaled."""
        J = self._evaluator.J(y)
        if self.sparse:
            stored = np.concatenate([[0.0], self.row[self._rows] * J.data])
            pattern = self._with_diagonal
            return sp.csc_array((stored[self._source], pattern.indices, pattern.indptr), pattern.shape)
        dense = np.zeros((self.n, self.n))
        scatter_scaled(J.data, self._rows, self._columns, self.row, self.column, dense)
        return dense


def is_sparse(problem: MixedLCP | MCP) -> bool:
    """Return whether a problem is treated as sparse: stored so, not small, and with few entries."""
    n = problem.n
    if isinstance(problem, MixedLCP):
        entries = problem.M_csr.nnz if problem.is_sparse and n >= SPARSE_SIZE else n * n
    else:
        entries = problem.jacobian_pattern.nnz
    return n >= SPARSE_SIZE and entries <= SPARSE_DENSITY * n * n


def scaled_model(problem: MixedLCP | MCP, start: Array, *, scaled: bool = True) -> ScaledModel:
    """Return the model of a problem near a point (in the problem's units)."""
    if isinstance(problem, MixedLCP):
        return AffineModel(problem, start, scaled=scaled)
    return NonlinearModel(problem, start, scaled=scaled)


def with_diagonal(J: Any) -> sp.csc_array:
    """Return J in compressed columns, sorted, with every diagonal entry stored."""
    n = J.shape[0]
    J = sp.coo_array(J)
    ones = np.arange(n)
    rows, columns = np.concatenate([J.row, ones]), np.concatenate([J.col, ones])
    return sp.csc_array((np.concatenate([J.data, np.zeros(n)]), (rows, columns)), shape=(n, n))


def _power_of_two(size: float) -> float:
    return 2.0 ** math.floor(math.log2(size)) if LEAST <= size <= MOST else 1.0
