"""The linear systems of the semismooth Newton method, dense (LAPACK) or sparse (SuperLU).

    newton        H d = -Phi
    shifted       (H + lam diag(D_F)) d = -Phi, which is Newton's system for F(z) + lam (z - z_k)
    levenberg     (H'H + nu I) d = -H'Phi

with H = diag(D_z) + diag(D_F) J. Each returns None where the matrix is singular. Where J is a large matrix
of diffusion (`shared.multigrid`), the first two are solved as (J + diag(D_z / D_F) + lam I) d = -Phi / D_F,
which is one too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lapack

from mcpframe.solvers.newton.kernels import newton_direction, newton_matrix_dense, newton_matrix_sparse
from mcpframe.solvers.shared.linear import sparse_lu
from mcpframe.solvers.shared.multigrid import fits, multigrid_solve

Array = NDArray[np.float64]

SMALL = 48
"""Up to this order the kernel's LU is faster than the call of LAPACK's."""
LEAST_SHARE = 1e-14
"""Of D_F beside D_z: below, a row is z_i alone, to rounding."""


class DenseSystem:
    """H as a dense array."""

    def __init__(self, n: int) -> None:
        self._H, self._factors = np.empty((n, n)), np.empty((n, n))
        self._order = np.empty(n, dtype=np.int64)
        self._diagonal = np.arange(n)

    def assemble(self, J: Array, D_z: Array, D_F: Array) -> None:
        """Set H = diag(D_z) + diag(D_F) J."""
        newton_matrix_dense(J, D_z, D_F, self._H)
        self._D_F = D_F

    def gradient(self, Phi: Array) -> Array:
        """Return H'Phi, the gradient of ||Phi||^2 / 2."""
        return np.asarray(Phi @ self._H)

    def newton(self, Phi: Array) -> Array | None:
        """Return the Newton step."""
        return self._solve(self._H, Phi)

    def shifted(self, Phi: Array, lam: float) -> Array | None:
        """Return the Newton step of the proximal problem."""
        H = self._H.copy()
        H[self._diagonal, self._diagonal] += lam * self._D_F
        return self._solve(H, Phi)

    def levenberg(self, Phi: Array, nu: float) -> Array | None:
        """Return the Levenberg-Marquardt step."""
        A = self._H.T @ self._H
        A[self._diagonal, self._diagonal] += nu
        _, d, info = lapack.dposv(A, -self.gradient(Phi), overwrite_a=1)
        return d if info == 0 and np.isfinite(d).all() else None

    def _solve(self, H: Array, Phi: Array) -> Array | None:
        """Return -H^-1 Phi."""
        if Phi.size <= SMALL:
            d = np.empty(Phi.size)
            return d if newton_direction(H, Phi, self._factors, self._order, d) else None
        # H in C order is H' in Fortran's: factor that and solve with its transpose.
        np.copyto(self._factors, H)
        lu, pivots, info = lapack.dgetrf(self._factors.T, overwrite_a=1)
        if info != 0:
            return None
        d, _ = lapack.dgetrs(lu, pivots, -Phi, trans=1)
        return d if np.isfinite(d).all() else None


class SparseSystem:
    """H in compressed columns, on the pattern of J with its diagonal."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._indices: Any = None

    def assemble(self, J: sp.csc_array, D_z: Array, D_F: Array) -> None:
        """Set H = diag(D_z) + diag(D_F) J."""
        if self._indices is not J.indices:
            self._indices = J.indices
            self._rows = J.indices.astype(np.int64)
            columns = np.repeat(np.arange(self._n), np.diff(J.indptr))
            self._diagonal = np.flatnonzero(self._rows == columns)
            self._diffusion = fits(J)
        values = np.empty(J.nnz)
        newton_matrix_sparse(J.data, self._rows, self._diagonal, D_z, D_F, values)
        self._H = sp.csc_array((values, J.indices, J.indptr), shape=J.shape)
        self._J, self._D_z, self._D_F = J, D_z, D_F

    def gradient(self, Phi: Array) -> Array:
        """Return H'Phi."""
        return np.asarray(self._H.T @ Phi)

    def newton(self, Phi: Array) -> Array | None:
        """Return the Newton step."""
        return self._by_diffusion(Phi, 0.0) if self._diffusion else _solve_sparse(self._H, -Phi)

    def shifted(self, Phi: Array, lam: float) -> Array | None:
        """Return the Newton step of the proximal problem."""
        if self._diffusion:
            return self._by_diffusion(Phi, lam)
        H = self._H.copy()
        H.data[self._diagonal] += lam * self._D_F
        return _solve_sparse(H, -Phi)

    def _by_diffusion(self, Phi: Array, lam: float) -> Array | None:
        """Return the step from (J + diag(D_z / D_F) + lam I) d = -Phi / D_F."""
        D_F = np.maximum(self._D_F, LEAST_SHARE * self._D_z)
        solve = multigrid_solve(self._J + sp.diags_array(self._D_z / D_F + lam))
        return None if solve is None else solve(-Phi / D_F)

    def levenberg(self, Phi: Array, nu: float) -> Array | None:
        """Return the Levenberg-Marquardt step from r - H d = Phi, H'r + nu d = 0, without forming H'H."""
        eye = sp.eye_array(self._n)
        K = sp.block_array([[eye, -self._H], [self._H.T, nu * eye]], format="csc")
        x = _solve_sparse(K, np.concatenate([Phi, np.zeros(self._n)]))
        return None if x is None else x[self._n :]


def _solve_sparse(H: sp.csc_array, b: Array) -> Array | None:
    lu = sparse_lu(H)
    if lu is None:
        return None
    d = lu.solve(b)
    return d if np.isfinite(d).all() else None
