"""Square linear systems as active-set and interior-point methods meet them.

LU of the equilibrated matrix, dense (LAPACK) or sparse (SuperLU), with an estimate of its condition;
conjugate gradients for large matrices of diffusion (`shared.multigrid`); the solution of least norm where
the matrix is singular; residuals without rounding, for refinement. Scaling is by powers of two [Ruiz 2001],
so it costs no accuracy, and the condition estimate speaks of the matrix rather than of its units.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse.csgraph import structural_rank

from mcpframe.arrays import canonical
from mcpframe.problem.facts import equilibrate
from mcpframe.solvers.shared.multigrid import multigrid_solve

Array = NDArray[np.float64]

RANK = 1e-12
"""Singular values below this share of the largest one, after scaling, count as zero."""
PROXIMAL = 1e-8
"""Shift that makes the augmented system of a sparse singular matrix factorisable; removed by iteration."""
PROXIMAL_STEPS = 6
SPLITTER = 2.0**27 + 1.0
"""Factor that splits a double into two halves of 26 bits."""
DIAGONAL, THRESHOLD = 0.1, 0.01
"""A diagonal with this share of each column's largest entry is good for pivots; what counts as one then."""
NOTHING_DROPPED = {"drop_tol": 0.0, "drop_rule": "basic", "fill_factor": 20.0, "diag_pivot_thresh": 1.0}
"""Options of an incomplete factorisation that is complete; it grows beyond its fill factor where it must."""
LARGE = 1e300
"""Products from here on may overflow when they are added."""


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """LU of one matrix, or what serves as such.

    Attributes:
        solve: b -> A^-1 b.
        rcond: estimate of 1 / cond(A) after scaling; 0 where LU broke down, and `solve` must not be called.
        iterates: whether A was not factorised and `solve` goes on until it is accurate; rcond is 1 then.
    """

    solve: Callable[[Array], Array]
    rcond: float
    iterates: bool = False


def factorise(A: Array | sp.csr_array) -> Factor:
    """Return the LU factors of a square matrix of order >= 1, or conjugate gradients where they fit."""
    iterate = multigrid_solve(A) if sp.issparse(A) else None
    return _factorise(A) if iterate is None else Factor(_with_factors_behind(A, iterate), 1.0, iterates=True)


def _with_factors_behind(
    A: sp.csr_array, iterate: Callable[[Array], Array | None]
) -> Callable[[Array], Array]:
    """Return b -> A^-1 b by iteration, and by LU from the first b on for which that does not converge."""
    factors: list[Factor] = []

    def solve(b: Array) -> Array:
        x = None if factors else iterate(b)
        if x is not None:
            return x
        if not factors:
            factors.append(_factorise(A))
        return factors[0].solve(b) if factors[0].rcond > 0.0 else np.full(b.size, np.nan)

    return solve


def _factorise(A: Array | sp.csr_array) -> Factor:
    row, column = equilibrate(A)
    if sp.issparse(A):
        return _factorise_sparse(A, row, column)
    S = scaled_matrix(A, row, column)
    if not np.isfinite(S).all():
        return _broken()
    lu, pivots, info = lapack.dgetrf(S, overwrite_a=1)
    if info != 0:
        return _broken()
    rcond, _ = lapack.dgecon(lu, np.abs(S).sum(axis=0).max())
    return Factor(lambda b: column * lapack.dgetrs(lu, pivots, row * b)[0], float(rcond))


def least_norm(A: Array | sp.csr_array) -> Callable[[Array], Array]:
    """Return b -> x with A x = b in the least-squares sense and x of least (scaled) norm."""
    row, column = equilibrate(A)
    S = scaled_matrix(A, row, column)
    if not np.isfinite(S.data if sp.issparse(S) else S).all():
        return _broken().solve
    solve = _least_norm_sparse(S) if sp.issparse(S) else _least_norm_dense(S)
    return lambda b: column * solve(row * b)


def exact_residual(A: Array, x: Array, b: Array) -> Array:
    """Return A x + b, each entry rounded once: products without error [Dekker 1971], sums by ``math.fsum``.

    Refinement with such residuals makes x itself accurate to rounding, however ill-conditioned A is, as long
    as LU still gets a digit right [Higham 2002, section 12.1]. For small dense matrices.
    """
    product = A * x
    A_high, x_high = _high_part(A), _high_part(x)
    A_low, x_low = A - A_high, x - x_high
    error = ((A_high * x_high - product) + A_high * x_low + A_low * x_high) + A_low * x_low
    if not (np.isfinite(error).all() and np.abs(product).max(initial=0.0) < LARGE):
        return np.asarray(A @ x + b)
    terms = np.column_stack([product, error, b])
    return np.array([math.fsum(row) for row in terms.tolist()])


def _high_part(a: Array) -> Array:
    """Return the leading 26 bits of each number."""
    c = SPLITTER * a
    return c - (c - a)


def scaled_matrix(A: Any, row: Array, column: Array) -> Any:
    """Return diag(row) A diag(column), sparse where A is."""
    if sp.issparse(A):
        return sp.diags_array(row) @ A @ sp.diags_array(column)
    return row[:, None] * A * column


def _factorise_sparse(A: sp.csr_array, row: Array, column: Array) -> Factor:
    lu = sparse_lu(scaled_matrix(A, row, column))
    if lu is None:
        return _broken()
    pivots = np.abs(lu.U.diagonal())
    return Factor(lambda b: column * lu.solve(row * b), float(pivots.min() / pivots.max()))


def _least_norm_dense(S: Array) -> Callable[[Array], Array]:
    """Factorise S P = Q [T' W'; 0], T triangular of the rank's order, W' with orthonormal rows."""
    Q, R, order = scipy.linalg.qr(S, pivoting=True, check_finite=False)
    size = np.abs(R.diagonal())
    rank = int(np.count_nonzero(size > RANK * size[0]))
    W, T = scipy.linalg.qr(R[:rank].T, mode="economic", check_finite=False)

    def solve(b: Array) -> Array:
        x = np.zeros(b.size)
        if rank:
            y = scipy.linalg.solve_triangular(T, Q[:, :rank].T @ b, trans="T", check_finite=False)
            x[order] = W @ y
        return x

    return solve


def _least_norm_sparse(S: sp.csr_array) -> Callable[[Array], Array]:
    """Solve min |x|^2 with S x = b by [I, S'; S, -delta] and a few proximal steps, which remove delta."""
    n = S.shape[0]
    lu = sparse_lu(sp.block_array([[sp.eye_array(n), S.T], [S, -PROXIMAL * sp.eye_array(n)]]))
    if lu is None:
        return _broken().solve

    def solve(b: Array) -> Array:
        x = np.zeros(n)
        for _ in range(PROXIMAL_STEPS):
            x += lu.solve(np.concatenate([np.zeros(n), b - S @ x]))[:n]
        return x

    return solve


def sparse_lu(A: Any, **ordering: Any) -> Any:
    """Return SuperLU's factors, or None where A is singular (structurally so, SuperLU misbehaves).

    Where a pivot may be exactly zero they are those of its incomplete factorisation, nothing dropped: on what
    is left of such a column the complete one reads memory that nobody has written, and crashes. It takes up
    to twice as long; columns that the diagonal dominates have no such pivots. `ordering` are its options, if
    others than those that suit A.
    """
    A = canonical(A)
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)  # as SuperLU has them
    if not np.isfinite(A.data).all() or structural_rank(A) < A.shape[0]:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ordering = ordering or _ordering(A)
        try:
            if _is_dominant(A):
                return scipy.sparse.linalg.splu(A, **ordering)
            return scipy.sparse.linalg.spilu(A, **NOTHING_DROPPED | ordering)
        except RuntimeError:
            return None


def _is_dominant(A: sp.csc_array) -> bool:
    """Return whether every diagonal entry is larger than all others of its column together."""
    diagonal = np.abs(A.diagonal())
    return bool((2.0 * diagonal > np.asarray(np.abs(A).sum(axis=0))).all())


def _ordering(A: sp.csc_array) -> dict[str, Any]:
    """Return SuperLU's options: minimum degree on A + A' where the diagonal may serve as pivots.

    On obstacle problems that halves the entries of the factors.
    """
    diagonal = np.abs(A.diagonal())
    largest = np.maximum.reduceat(np.abs(A.data), A.indptr[:-1]) if A.nnz else diagonal
    if not (diagonal >= DIAGONAL * largest).all():
        return {}
    return {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": THRESHOLD, "options": {"SymmetricMode": True}}


def _broken() -> Factor:
    return Factor(lambda b: np.full(b.size, np.nan), 0.0)
