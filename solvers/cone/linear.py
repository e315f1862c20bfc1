"""The linear algebra of Newton's method on frictional contact: J = A + B W, dense or sparse.

A and B are block-diagonal over the contacts. Three things are asked of J: its LU factors, the damped
least-squares step of Levenberg and Marquardt, and nothing else; both kinds of W answer alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray
from scipy.linalg import blas, lapack
from scipy.sparse.csgraph import connected_components

from mcpframe.solvers.shared.linear import sparse_lu

Array = NDArray[np.float64]

DENSE_LIMIT = 400
"""Largest n at which a sparse W is treated as dense."""
PIVOTING = 0.01
"""Pivoting of LU: little, for the pattern of J is symmetric and its ordering worth keeping."""
DENSITY = 0.1
"""Share of nonzero entries above which LU of a sparse J would fill in anyway."""


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """LU of J.

    Attributes:
        solve: b -> J^-1 b.
        sign: of the determinant.
    """

    solve: Callable[[Array], Array]
    sign: float


class Operator(ABC):
    """W, and what Newton's method asks of J = A + B W."""

    W: Any

    def apply(self, r: Array) -> Array:
        """Return W r."""
        return np.asarray(self.W @ r)

    def apply_transposed(self, u: Array) -> Array:
        """Return W' u."""
        return np.asarray(self.W.T @ u)

    @abstractmethod
    def jacobian(self, A: Array, B: Array) -> Any:
        """Return A + B W for blocks A, B [n_c, d, d]."""

    @abstractmethod
    def factor(self, J: Any) -> Factor | None:
        """Return the LU factors of J, or None where it is singular."""

    @abstractmethod
    def normal_solver(self, J: Any, F: Array) -> Callable[[float], Array | None]:
        """Return lam -> -(J'J + lam I)^-1 J'F, or None where that breaks down."""


def make_operator(W: Any) -> Operator:
    """Return W as a dense operator where it is small or full, as a sparse one otherwise."""
    n = W.shape[0]
    if not sp.issparse(W):
        return DenseOperator(W)
    if n <= DENSE_LIMIT or W.nnz > DENSITY * n * n:
        return DenseOperator(W.toarray())
    return SparseOperator(W)


class DenseOperator(Operator):
    """W as a full matrix (LAPACK)."""

    def __init__(self, W: Array) -> None:
        self.W = W

    def jacobian(self, A: Array, B: Array) -> Array:
        """Return A + B W as a full matrix."""
        n_c, d, _ = A.shape
        J = (B @ self.W.reshape(n_c, d, n_c * d)).reshape(n_c, d, n_c, d)
        contact = np.arange(n_c)
        J[contact, :, contact, :] += A
        return np.asarray(J.reshape(n_c * d, n_c * d))

    def factor(self, J: Array) -> Factor | None:
        """Return the factors of LAPACK."""
        if not np.isfinite(J).all():
            return None
        lu, pivots, info = lapack.dgetrf(J)
        if info != 0:
            return None
        swaps = np.count_nonzero(pivots != np.arange(pivots.size))
        sign = float(np.prod(np.sign(lu.diagonal()))) * (-1.0) ** swaps
        return Factor(lambda b: np.asarray(lapack.dgetrs(lu, pivots, b)[0]), sign)

    def normal_solver(self, J: Array, F: Array) -> Callable[[float], Array | None]:
        """Form J'J once and shift its diagonal for every lam (Cholesky)."""
        JJ, g = blas.dsyrk(1.0, J, trans=1), J.T @ F

        def solve(lam: float) -> Array | None:
            shifted = JJ.copy(order="F")
            shifted.flat[:: len(g) + 1] += lam
            factor, info = lapack.dpotrf(shifted, overwrite_a=1)
            return None if info != 0 else -np.asarray(lapack.dpotrs(factor, g)[0])

        return solve


class SparseOperator(Operator):
    """W in compressed rows (SuperLU)."""

    def __init__(self, W: Any) -> None:
        self.W = sp.csr_array(W)

    def jacobian(self, A: Array, B: Array) -> sp.csr_array:
        """Return A + B W in compressed rows."""
        return _block_diagonal(A) + _block_diagonal(B) @ self.W

    def factor(self, J: sp.csr_array) -> Factor | None:
        """Return the factors of SuperLU."""
        lu = sparse_lu(J, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=PIVOTING)
        if lu is None:
            return None
        sign = float(np.prod(np.sign(lu.U.diagonal()))) * _parity(lu.perm_r) * _parity(lu.perm_c)
        return Factor(lu.solve, sign)

    def normal_solver(self, J: sp.csr_array, F: Array) -> Callable[[float], Array | None]:
        """Form J'J once and shift its diagonal for every lam (LU with pivots on the diagonal)."""
        JJ, g, identity = J.T @ J, J.T @ F, sp.eye_array(F.size)

        def solve(lam: float) -> Array | None:
            lu = _factor_definite(JJ + lam * identity)
            return None if lu is None else -np.asarray(lu.solve(g))

        return solve


def _block_diagonal(blocks: Array) -> sp.bsr_array:
    n_c, d, _ = blocks.shape
    index = np.arange(n_c, dtype=np.int32)
    return sp.bsr_array((blocks, index, np.arange(n_c + 1, dtype=np.int32)), shape=(n_c * d, n_c * d))


def _parity(permutation: NDArray[np.int32]) -> float:
    """Return the sign of a permutation: -1 to the number of elements less that of cycles."""
    n = permutation.size
    graph = sp.coo_array((np.ones(n), (np.arange(n), permutation)), shape=(n, n))
    return float((-1.0) ** (n - connected_components(graph, directed=False)[0]))


def _factor_definite(A: Any) -> Any:
    """Return SuperLU's factors of a symmetric, positive definite matrix; None where it is not finite."""
    A = sp.csc_array(A)
    if not np.isfinite(A.data).all():
        return None
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    try:
        return scipy.sparse.linalg.splu(
            A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError:
        return None
