"""The problems: mixed LCP (M, q, l, u) and its nonlinear form, MCP (F, l, u) [SPEC 1].

Find z, l <= z <= u, with w = M z + q (or w = F(z; p)) and, row by row,
    w >= 0 where z = l,   w <= 0 where z = u,   w = 0 in between.
A row with l = -inf, u = inf is an equation; a row with l = u is a fixed variable.

Problems are values: their arrays are copies, read-only, and checked once, here.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import casadi
import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from mcpframe import facts
from mcpframe.exceptions import ProblemError
from mcpframe.layout import ContactBlocks, Layout
from mcpframe.residual import certify_dense, certify_sparse, natural_residual

Array = NDArray[np.float64]


class Evaluator(Protocol):
    """F and its Jacobian at a point, for solvers that linearise; one per solve, not shared by threads."""

    def F(self, z: Array) -> Array:
        """Return F(z) [n]."""
        ...

    def J(self, z: Array) -> sp.csc_array:
        """Return dF/dz [n, n]."""
        ...


class MixedLCP:
    """Mixed linear complementarity problem (M, q, l, u).

    Args:
        M: matrix [n, n], dense or scipy.sparse.
        q: vector [n].
        lower, upper: bounds [n] or scalars; infinities allowed, equal bounds fix a variable.
        layout: names of consecutive blocks of z.
        contacts: where the contact unknowns lie, if the problem comes from contacts.
    """

    def __init__(
        self,
        M: ArrayLike | sp.sparray | sp.spmatrix,
        q: ArrayLike,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
        *,
        layout: Layout | None = None,
        contacts: ContactBlocks | None = None,
    ) -> None:
        self.q = _vector("q", q)
        self.M: Array | sp.csr_array = _matrix(M, self.q.size)
        self.lower, self.upper = _bounds(lower, upper, self.q.size)
        self.layout = _checked_layout(layout, self.q.size)
        self.contacts = contacts
        if contacts is not None:
            contacts.check(self.n)

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        return f"MixedLCP(n={self.n}, {kind}, free={int(self.free.sum())}, blocks={dict(self.layout.sizes)})"

    @property
    def n(self) -> int:
        """Number of rows, which is the length of z."""
        return int(self.q.size)

    @property
    def is_sparse(self) -> bool:
        """Whether M is stored in compressed rows."""
        return sp.issparse(self.M)

    @cached_property
    def scale(self) -> float:
        """1 + ||q||_inf: solved means r <= tol * scale."""
        return 1.0 + float(np.abs(self.q).max(initial=0.0))

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Rows that are equations (no bounds)."""
        return np.isneginf(self.lower) & np.isposinf(self.upper)

    @cached_property
    def fixed(self) -> NDArray[np.bool_]:
        """Rows whose variable is fixed (l = u)."""
        return self.lower == self.upper

    @cached_property
    def M_dense(self) -> Array:
        """M as a contiguous dense array."""
        return self.M if isinstance(self.M, np.ndarray) else _frozen(self.M.toarray())

    @cached_property
    def M_csr(self) -> sp.csr_array:
        """M in compressed rows, with 64-bit indices for the kernels."""
        M = sp.csr_array(self.M)
        M.indices, M.indptr = M.indices.astype(np.int64), M.indptr.astype(np.int64)
        return M

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether M equals its transpose up to rounding."""
        return facts.is_symmetric(self.M)

    @cached_property
    def is_psd(self) -> bool:
        """Whether the symmetric part of M is positive semidefinite up to rounding: a monotone problem."""
        return facts.is_psd(self.M)

    @cached_property
    def is_p_matrix(self) -> bool | None:
        """Whether every principal minor of M is positive (exact test); None where n is too large for it."""
        return facts.is_p_matrix(self.M_dense) if self.n <= facts.P_MATRIX_LIMIT else None

    @cached_property
    def scaling(self) -> tuple[Array, Array]:
        """Positive row and column factors (R, C), powers of two, that bring R M C close to unit entries."""
        return facts.equilibrate(self.M)

    def certify(self, z: Array) -> tuple[Array, Array, float]:
        """Return z clipped into its bounds, w = M z + q, and the natural residual of that z."""
        z = np.array(z, dtype=np.float64)
        w = np.empty(self.n)
        if isinstance(self.M, np.ndarray):
            return z, w, certify_dense(self.M, self.q, self.lower, self.upper, z, w)
        M = self.M_csr
        residual = certify_sparse(M.data, M.indices, M.indptr, self.q, self.lower, self.upper, z, w)
        return z, w, residual

    def evaluator(self) -> Evaluator:
        """Return F(z) = M z + q and its constant Jacobian."""
        return _Affine(self)


class MCP:
    """Mixed complementarity problem (F, l, u), F a CasADi function.

    Args:
        F: ``casadi.Function``, z -> F(z) or (z, p) -> F(z, p), z and F(z) column vectors of length n.
        lower, upper: bounds [n] or scalars.
        p: values of the parameters, if F has any.
        layout: names of consecutive blocks of z.
    """

    def __init__(
        self,
        F: casadi.Function,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
        *,
        p: ArrayLike | None = None,
        layout: Layout | None = None,
    ) -> None:
        n, n_p = _function_sizes(F)
        self.F = F
        self.n = n
        self.p = _parameters(p, n_p)
        self.lower, self.upper = _bounds(lower, upper, n)
        self.layout = _checked_layout(layout, n)
        self.contacts = None

    def __repr__(self) -> str:
        return f"MCP({self.F.name()}, n={self.n}, parameters={self.p.size})"

    @property
    def scale(self) -> float:
        """1: solved means r <= tol, for F has no vector q to be measured against."""
        return 1.0

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Rows that are equations (no bounds)."""
        return np.isneginf(self.lower) & np.isposinf(self.upper)

    @cached_property
    def fixed(self) -> NDArray[np.bool_]:
        """Rows whose variable is fixed (l = u)."""
        return self.lower == self.upper

    def with_parameters(self, p: ArrayLike) -> MCP:
        """Return the same problem with other parameters; derivatives are shared, not made again."""
        other = object.__new__(MCP)
        other.__dict__.update(self.__dict__)
        other.p = _parameters(p, self.p.size)
        return other

    @cached_property
    def jacobian(self) -> casadi.Function:
        """CasADi function (z, p) -> dF/dz, sparse."""
        z, p = casadi.MX.sym("z", self.n), casadi.MX.sym("p", self.p.size)
        F = self.F(z, p) if self.F.n_in() == 2 else self.F(z)
        return casadi.Function("J", [z, p], [casadi.jacobian(F, z)])

    def certify(self, z: Array) -> tuple[Array, Array, float]:
        """Return z clipped into its bounds, w = F(z), and the natural residual of that z."""
        z = np.clip(np.asarray(z, dtype=np.float64), self.lower, self.upper)
        w = self.evaluator().F(z)
        return z, w, natural_residual(z, w, self.lower, self.upper)

    def evaluator(self) -> Evaluator:
        """Return F and its sparse Jacobian at the current parameters."""
        return _Nonlinear(self)


Problem = MixedLCP | MCP


class _Affine:
    def __init__(self, problem: MixedLCP) -> None:
        self._q = problem.q
        self._M = problem.M
        self._J = sp.csc_array(problem.M)

    def F(self, z: Array) -> Array:
        return np.asarray(self._M @ z + self._q)

    def J(self, z: Array) -> sp.csc_array:
        return self._J


class _Nonlinear:
    def __init__(self, problem: MCP) -> None:
        self._inputs = () if problem.F.n_in() == 1 else (problem.p,)
        self._p = problem.p
        self._F = problem.F
        self._J = problem.jacobian
        pattern = self._J.sparsity_out(0)
        self._indptr = np.array(pattern.colind(), dtype=np.int32)
        self._indices = np.array(pattern.row(), dtype=np.int32)
        self._shape = (problem.n, problem.n)

    def F(self, z: Array) -> Array:
        return np.array(self._F(z, *self._inputs), dtype=np.float64).ravel()

    def J(self, z: Array) -> sp.csc_array:
        values = np.array(self._J(z, self._p).nonzeros(), dtype=np.float64)
        return sp.csc_array((values, self._indices, self._indptr), shape=self._shape)


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _first_bad(array: Array) -> str:
    index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
    return f"entry {index[0] if len(index) == 1 else index} is {array[index]}"


def _numbers(name: str, value: Any) -> Array:
    try:
        array = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ProblemError(f"{name}: cannot be read as an array of real numbers ({error})") from None
    return array


def _vector(name: str, value: ArrayLike) -> Array:
    vector = _numbers(name, value)
    if vector.ndim != 1:
        raise ProblemError(f"{name}: shape {vector.shape}, expected a vector")
    if not np.isfinite(vector).all():
        raise ProblemError(f"{name}: {_first_bad(vector)}; every entry must be finite")
    return _frozen(vector)


def _matrix(M: Any, n: int) -> Array | sp.csr_array:
    if sp.issparse(M):
        matrix = sp.csr_array(M, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        values = matrix.data
    else:
        matrix = _numbers("M", M)
        if n == 0 and matrix.size == 0:
            matrix = matrix.reshape(0, 0)
        values = matrix
    if matrix.shape != (n, n):
        raise ProblemError(f"M: shape {matrix.shape}, expected ({n}, {n}) because q has {n} entries")
    if not np.isfinite(values).all():
        raise ProblemError(f"M: {_first_bad(matrix.toarray() if sp.issparse(matrix) else values)}; every entry must be finite")
    _frozen(values)
    return matrix


def _bounds(lower: ArrayLike, upper: ArrayLike, n: int) -> tuple[Array, Array]:
    bounds = []
    for name, value in (("lower", lower), ("upper", upper)):
        array = _numbers(name, value)
        if array.ndim == 0:
            array = np.full(n, array)
        if array.shape != (n,):
            raise ProblemError(f"{name}: shape {array.shape}, expected ({n},) or a scalar")
        if np.isnan(array).any():
            raise ProblemError(f"{name}: entry {int(np.argmax(np.isnan(array)))} is nan")
        bounds.append(_frozen(array))
    low, high = bounds
    bad = (low > high) | (low == np.inf) | (high == -np.inf)
    if bad.any():
        i = int(np.argmax(bad))
        raise ProblemError(f"bounds: lower[{i}] = {low[i]} and upper[{i}] = {high[i]} leave no value for z[{i}]")
    return low, high


def _checked_layout(layout: Layout | None, n: int) -> Layout:
    if layout is None:
        return Layout({"z": n})
    if layout.n != n:
        raise ProblemError(f"layout: blocks {dict(layout.sizes)} add up to {layout.n}, but z has {n} entries")
    return layout


def _function_sizes(F: Any) -> tuple[int, int]:
    if not isinstance(F, casadi.Function):
        raise ProblemError(f"F: expected a casadi.Function, got {type(F).__name__}")
    if F.n_in() not in (1, 2) or F.n_out() != 1:
        raise ProblemError(f"F: {F.n_in()} inputs and {F.n_out()} outputs; expected z -> F(z) or (z, p) -> F(z, p)")
    n = F.size1_in(0)
    if F.size_in(0) != (n, 1) or F.size_out(0) != (n, 1):
        raise ProblemError(f"F: z has shape {F.size_in(0)} and F(z) {F.size_out(0)}; both must be (n, 1)")
    return n, F.numel_in(1) if F.n_in() == 2 else 0


def _parameters(p: ArrayLike | None, n_p: int) -> Array:
    values = np.zeros(0) if p is None else np.atleast_1d(_numbers("p", p))
    values = _vector("p", values)
    if values.size != n_p:
        raise ProblemError(f"p: {values.size} values, but F takes {n_p} parameters")
    return values
