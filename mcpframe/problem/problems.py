"""The problems: mixed LCP (M, q, l, u) and its nonlinear form, MCP (F, l, u).

Find z, l <= z <= u, with w = M z + q (or w = F(z; p)) and, row by row,
    w >= 0 where z = l,   w <= 0 where z = u,   w = 0 in between.
A row with l = -inf, u = inf is an equation; a row with l = u is a fixed variable.

Problems are values: their arrays are copies, read-only, and checked once, here.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import check_finite, frozen, real_array, real_matrix, real_vector
from mcpframe.exceptions import ProblemError
from mcpframe.notebook import html
from mcpframe.problem import facts
from mcpframe.problem.layout import ContactBlocks, Layout
from mcpframe.problem.residual import EXCUSED, ROUNDING, certify_dense, certify_sparse, natural_residual

if TYPE_CHECKING:
    import casadi  # where it is used, it is imported: mixed LCPs need none of it

Array = NDArray[np.float64]


SHOWN_ENTRIES, SHOWN_WHOLE = 6, 400
"""Rows up to which a notebook shows M itself, and where it is not zero."""


class Evaluator(Protocol):
    """F and its Jacobian at a point, for solvers that linearise; one per solve, not shared by threads."""

    def F(self, z: Array) -> Array:
        """Return F at z [n]."""
        ...

    def J(self, z: Array) -> sp.csc_array:
        """Return the Jacobian dF/dz at z [n, n]."""
        ...


class MixedLCP:
    """Mixed linear complementarity problem (M, q, l, u).

    Args:
        M: matrix [n, n], dense or scipy.sparse.
        q: vector [n].
        lower, upper: bounds [n] or scalars; infinities allowed, equal bounds fix a variable.
        layout: names of consecutive blocks of z.
        contacts: where the contact unknowns lie, if the problem comes from contacts.

    Attributes:
        n: number of rows, which is the length of z.
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
        self.q = real_vector("q", q)
        self.n = int(self.q.size)
        self.M: Array | sp.csr_array = _square(M, self.q.size)
        self.lower, self.upper = _bounds(lower, upper, self.q.size)
        self.layout = _checked_layout(layout, self.q.size)
        self.contacts = contacts
        if contacts is not None:
            contacts.check(self.n)

    @classmethod
    def stack(
        cls, M: ArrayLike, q: ArrayLike, lower: ArrayLike = 0.0, upper: ArrayLike = np.inf
    ) -> list[MixedLCP]:
        """Return the problems of stacked arrays, checked all at once.

        Args:
            M: matrices [k, n, n].
            q: vectors [k, n].
            lower, upper: bounds [k, n], or anything that broadcasts to it.
        """
        Ms, qs = real_array("M", M), real_array("q", q)
        if qs.ndim != 2 or Ms.shape != (*qs.shape, qs.shape[1]):
            raise ProblemError(f"stack: M {Ms.shape} and q {qs.shape}, expected (k, n, n) and (k, n)")
        for name, array in (("M", Ms), ("q", qs)):
            check_finite(name, array)
        lows, highs = (_stacked_bound(name, b, qs.shape) for name, b in (("lower", lower), ("upper", upper)))
        low, high = _bounds(lows.ravel(), highs.ravel(), qs.size)
        layout = Layout({"z": qs.shape[1]})
        stacked = frozen(Ms), frozen(qs), low.reshape(qs.shape), high.reshape(qs.shape)
        return [cls.of_checked(*parts, layout) for parts in zip(*stacked, strict=True)]

    @classmethod
    def of_checked(
        cls,
        M: Array,
        q: Array,
        lower: Array,
        upper: Array,
        layout: Layout,
        contacts: ContactBlocks | None = None,
    ) -> MixedLCP:
        """Return the problem of arrays that need no check and that nobody else writes to: nothing is copied.

        For kernels that make such arrays by the ten thousand; `MixedLCP(...)` is the door for everyone else.
        """
        problem = object.__new__(cls)
        problem.M, problem.q, problem.lower, problem.upper = M, q, lower, upper
        problem.n = q.shape[0]
        problem.layout, problem.contacts = layout, contacts
        return problem

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        return f"MixedLCP(n={self.n}, {kind}, free={int(self.free.sum())}, blocks={dict(self.layout.sizes)})"

    def _repr_html_(self) -> str:
        kind = f"sparse, {self.M_csr.nnz} entries" if self.is_sparse else "dense"
        contacts = "" if self.contacts is None else self.contacts.mu.size
        if self.n <= SHOWN_ENTRIES:
            rows = zip(self.M_dense, self.q, self.lower, self.upper, strict=True)
            cells = [[f"{value:.4g}" for value in (*M, q, low, high)] for M, q, low, high in rows]
            seen = html.grid(["M", *[""] * (self.n - 1), "q", "lower", "upper"] if self.n else [], cells)
        else:
            seen = html.pattern(self.M) if self.n <= SHOWN_WHOLE else html.Markup("")
        return html.card(f"Mixed LCP, n = {self.n}, {kind}", {**_shape(self), "contacts": contacts}, seen)

    @property
    def is_sparse(self) -> bool:
        """Whether M is stored in compressed rows."""
        return not isinstance(self.M, np.ndarray)

    @cached_property
    def scale(self) -> float:
        """1 + ||q||_inf: solved means judged residual <= tol * scale, every row at its own 1 + |q_i|."""
        return 1.0 + float(np.abs(self.q).max(initial=0.0))

    @cached_property
    def weights(self) -> Array:
        """What each row's residual counts where it is compared with tol * scale: scale / (1 + |q_i|) [n]."""
        return self.scale / (1.0 + np.abs(self.q))

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Rows that are equations (no bounds)."""
        return np.asarray(np.isneginf(self.lower) & np.isposinf(self.upper))

    @cached_property
    def fixed(self) -> NDArray[np.bool_]:
        """Rows whose variable is fixed (l = u)."""
        return np.asarray(self.lower == self.upper)

    @cached_property
    def M_dense(self) -> Array:
        """M as a contiguous dense array."""
        return self.M if isinstance(self.M, np.ndarray) else frozen(self.M.toarray())

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
        """Return z clipped into its bounds, w = M z + q, and the judged residual (see `problem.residual`).

        It is to be compared with tol * scale; `natural_residual` is the plain figure.
        """
        z = np.array(z, dtype=np.float64)
        w = np.empty(self.n)
        if isinstance(self.M, np.ndarray):
            return z, w, certify_dense(self.M, self.q, self.lower, self.upper, z, w)
        M = self.M_csr
        residual = certify_sparse(M.data, M.indices, M.indptr, self.q, self.lower, self.upper, z, w)
        return z, w, residual

    def natural_residual(self, z: Array, w: Array) -> float:
        """Return max |z - clip(z - w, l, u)|, all rows at one scale."""
        residual: float = natural_residual(z, w, self.lower, self.upper)
        return residual

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

    def _repr_html_(self) -> str:
        return html.card(f"MCP, n = {self.n}", {"F": self.F, **_shape(self), "p": html.vector(self.p)})

    @property
    def scale(self) -> float:
        """1: solved means r_i <= tol in every row, for F has no vector q to be measured against."""
        return 1.0

    @property
    def weights(self) -> Array:
        """Ones: every row counts the same [n]."""
        return np.ones(self.n)

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Rows that are equations (no bounds)."""
        return np.asarray(np.isneginf(self.lower) & np.isposinf(self.upper))

    @cached_property
    def fixed(self) -> NDArray[np.bool_]:
        """Rows whose variable is fixed (l = u)."""
        return np.asarray(self.lower == self.upper)

    def with_parameters(self, p: ArrayLike) -> MCP:
        """Return the same problem with other parameters; derivatives are shared, not made again."""
        _ = self.dense_F, self.jacobian_pattern  # made here once, then part of what the copy takes over
        other = object.__new__(MCP)
        other.__dict__.update(self.__dict__)
        other.p = _parameters(p, self.p.size)
        return other

    @cached_property
    def dense_F(self) -> casadi.Function:
        """CasADi function (z, p) -> F with every entry stored, also those that are zero."""
        import casadi

        z, p, F = self._symbols()
        return self._compiled("F", [z, p], [casadi.densify(F)])

    @cached_property
    def jacobian(self) -> casadi.Function:
        """CasADi function (z, p) -> dF/dz, sparse."""
        import casadi

        z, p, F = self._symbols()
        return self._compiled("J", [z, p], [casadi.jacobian(F, z)])

    @cached_property
    def jacobian_pattern(self) -> sp.csc_array:
        """The sparsity of dF/dz, as a matrix of ones."""
        pattern = self.jacobian.sparsity_out(0)
        indices = np.array(pattern.row(), dtype=np.int32)
        indptr = np.array(pattern.colind(), dtype=np.int32)
        return sp.csc_array((np.ones(indices.size), indices, indptr), shape=(self.n, self.n))

    def _symbols(self) -> tuple[casadi.MX, casadi.MX, casadi.MX]:
        import casadi

        z, p = casadi.MX.sym("z", self.n), casadi.MX.sym("p", self.p.size)
        return z, p, self.F(z, p) if self.F.n_in() == 2 else self.F(z)

    def _compiled(self, name: str, inputs: list[casadi.MX], outputs: list[casadi.MX]) -> casadi.Function:
        """Return the function, flattened into scalar operations where F is made of them (much faster)."""
        import casadi

        function = casadi.Function(name, inputs, outputs)
        return function.expand() if self.F.is_a("SXFunction") else function

    def certify(self, z: Array) -> tuple[Array, Array, float]:
        """Return z clipped into its bounds, w = F(z), and the judged residual of that z.

        As for a mixed LCP, with 1 as the scale of every row, and the terms |dF/dz| |z| for rounding.
        """
        z = np.clip(np.asarray(z, dtype=np.float64), self.lower, self.upper)
        w = _Buffered(self.dense_F, self.p)(z)
        residual = self.natural_residual(z, w)
        return z, w, self._less_rounding(z, w) if ROUNDING < residual <= EXCUSED else residual

    def natural_residual(self, z: Array, w: Array) -> float:
        """Return max |z - clip(z - w, l, u)|."""
        residual: float = natural_residual(z, w, self.lower, self.upper)
        return residual

    def _less_rounding(self, z: Array, w: Array) -> float:
        """Return the natural residual of the rows that are off by more than rounding."""
        J = self.evaluator().J(z)
        terms = abs(J) @ np.abs(z)
        r = np.abs(np.minimum(np.maximum(w, z - self.upper), z - self.lower))
        excused = (r > ROUNDING) & (np.abs(w) <= ROUNDING * terms)
        return float(np.max(r, where=~excused, initial=0.0))

    def evaluator(self) -> Evaluator:
        """Return F and its sparse Jacobian at the current parameters."""
        return _Nonlinear(self)


Problem = MixedLCP | MCP


def _shape(problem: Problem) -> dict[str, object]:
    """Return how many rows of each kind there are, and the blocks of z, as a notebook shows them."""
    boxed = np.isfinite(problem.lower) & np.isfinite(problem.upper) & ~problem.fixed
    counts = {"free rows": problem.free, "fixed": problem.fixed, "with both bounds": boxed}
    blocks = [f"{name} {size}" for name, size in problem.layout.sizes.items() if size]
    return {
        "blocks": ", ".join(blocks) if len(blocks) > 1 else "",
        **{name: int(rows.sum()) or "" for name, rows in counts.items()},
    }


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
        self._F = _Buffered(problem.dense_F, problem.p)
        self._J = _Buffered(problem.jacobian, problem.p)
        self._pattern = problem.jacobian_pattern

    def F(self, z: Array) -> Array:
        return self._F(z)

    def J(self, z: Array) -> sp.csc_array:
        # The pattern was checked once; a copy with other values need not be checked again.
        matrix = object.__new__(sp.csc_array)
        matrix.__dict__.update(self._pattern.__dict__)
        matrix.data = self._J(z)
        return matrix


class _Buffered:
    """A CasADi function (z, p) -> values, called through its own buffers: a microsecond instead of thirty."""

    def __init__(self, function: casadi.Function, p: Array) -> None:
        self._z, self._values = np.empty(function.nnz_in(0)), np.empty(function.nnz_out(0))
        # Buffer and trigger keep bare addresses: what they point to must live as long as they do.
        self._buffer, self._run = function.buffer()
        self._p = np.array(p)
        for index, argument in enumerate((self._z, self._p)):
            if argument.size:
                self._buffer.set_arg(index, argument.data)
        if self._values.size:
            self._buffer.set_res(0, self._values.data)

    def __call__(self, z: Array) -> Array:
        self._z[:] = z
        self._run()
        return self._values.copy()


def _square(M: Any, n: int) -> Array | sp.csr_array:
    matrix: Array | sp.csr_array = real_matrix("M", M, (n, n), f"because q has {n} entries")
    return matrix


def _bounds(lower: ArrayLike, upper: ArrayLike, n: int) -> tuple[Array, Array]:
    bounds = []
    for name, value in (("lower", lower), ("upper", upper)):
        array = real_array(name, value)
        if array.ndim == 0:
            array = np.full(n, array)
        if array.shape != (n,):
            raise ProblemError(f"{name}: shape {array.shape}, expected ({n},) or a scalar")
        if np.isnan(array).any():
            raise ProblemError(f"{name}: entry {int(np.argmax(np.isnan(array)))} is nan")
        bounds.append(frozen(array))
    low, high = bounds
    bad = (low > high) | (low == np.inf) | (high == -np.inf)
    if bad.any():
        i = int(np.argmax(bad))
        raise ProblemError(
            f"bounds: lower[{i}] = {low[i]} and upper[{i}] = {high[i]} leave no value for z[{i}]"
        )
    return low, high


def _stacked_bound(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    try:
        return np.broadcast_to(real_array(name, value), shape)
    except ValueError:
        raise ProblemError(f"{name}: shape {np.shape(value)} does not broadcast to {shape}") from None


def _checked_layout(layout: Layout | None, n: int) -> Layout:
    if layout is None:
        return Layout({"z": n})
    if layout.n != n:
        raise ProblemError(f"layout: blocks {dict(layout.sizes)} add up to {layout.n}, but z has {n} entries")
    return layout


def _function_sizes(F: Any) -> tuple[int, int]:
    import casadi

    if not isinstance(F, casadi.Function):
        raise ProblemError(f"F: expected a casadi.Function, got {type(F).__name__}")
    if F.n_in() not in (1, 2) or F.n_out() != 1:
        raise ProblemError(
            f"F: {F.n_in()} inputs and {F.n_out()} outputs; expected z -> F(z) or (z, p) -> F(z, p)"
        )
    n = F.size1_in(0)
    if F.size_in(0) != (n, 1) or F.size_out(0) != (n, 1):
        raise ProblemError(f"F: z has shape {F.size_in(0)} and F(z) {F.size_out(0)}; both must be (n, 1)")
    if F.n_in() == 2 and F.size2_in(1) > 1:
        raise ProblemError(f"F: p has shape {F.size_in(1)}; it must be a column vector")
    return n, F.numel_in(1) if F.n_in() == 2 else 0


def _parameters(p: ArrayLike | None, n_p: int) -> Array:
    values = real_vector("p", np.zeros(0) if p is None else np.atleast_1d(real_array("p", p)))
    if values.size != n_p:
        raise ProblemError(f"p: {values.size} values, but F takes {n_p} parameters")
    return values
