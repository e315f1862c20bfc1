"""Facts about M that decide which solver fits: symmetry, definiteness, P-matrix, scaling."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]

P_MATRIX_LIMIT = 16
"""Largest n for the exact P-matrix test, which looks at 2^n - 1 principal minors."""

ROUNDING = 1e-12
"""Relative size below which a defect of symmetry or definiteness is taken for rounding."""


def is_symmetric(M: Array | sp.csr_array) -> bool:
    """Return whether max |M - M'| <= ROUNDING max |M|."""
    if M.shape[0] == 0:
        return True
    return bool(abs(M - M.T).max() <= ROUNDING * abs(M).max())


def is_psd(M: Array | sp.csr_array) -> bool:
    """Return whether x'Mx >= 0 for all x, up to rounding.

    Cholesky of the symmetric part, shifted by n * ROUNDING * max |M|, exists iff it is PSD up to that shift.
    """
    n = M.shape[0]
    if n == 0:
        return True
    size = float(abs(M).max())
    diagonal = M.diagonal()
    if diagonal.min() < -ROUNDING * size:
        return False
    symmetric = M.toarray() if sp.issparse(M) else M
    symmetric = 0.5 * (symmetric + symmetric.T)
    # A zero diagonal entry of a PSD matrix has a zero row: the cheap refusal of most contact problems.
    zero = diagonal <= ROUNDING * size
    if zero.any() and np.abs(symmetric[zero]).max() > np.sqrt(ROUNDING) * size:
        return False
    try:
        scipy.linalg.cholesky(symmetric + n * ROUNDING * max(size, 1e-300) * np.eye(n), check_finite=False)
    except scipy.linalg.LinAlgError:
        return False
    return True


def is_p_matrix(M: Array) -> bool:
    """Return whether all principal minors of M are positive [Tsatsomeros and Li 2000].

    M is P iff M[0,0] > 0 and both M without its first row and column and the Schur complement
    of M[0,0] are P: 2^n scalars in all, exact up to rounding.
    """
    n = M.shape[0]
    if n == 0:
        return True
    pivot = M[0, 0]
    if not pivot > 0.0:
        return False
    rest = M[1:, 1:]
    return is_p_matrix(rest) and is_p_matrix(rest - np.outer(M[1:, 0], M[0, 1:]) / pivot)


def equilibrate(M: Any, passes: int = 3) -> tuple[Array, Array]:
    """Return row and column factors (R, C), powers of two, with the entries of R M C near one [Ruiz 2001].

    Powers of two scale without rounding, so a scaled solve loses nothing.
    """
    n = M.shape[0]
    row, column = np.ones(n), np.ones(n)
    size = abs(M)
    for _ in range(passes):
        scaled = size * row[:, None] * column[None, :] if not sp.issparse(M) else _scaled(size, row, column)
        row_max, column_max = _maxima(scaled)
        row /= np.sqrt(np.where(row_max > 0, row_max, 1.0))
        column /= np.sqrt(np.where(column_max > 0, column_max, 1.0))
    return np.exp2(np.round(np.log2(row))), np.exp2(np.round(np.log2(column)))


def _scaled(M: sp.csr_array, row: Array, column: Array) -> sp.csr_array:
    return sp.diags_array(row) @ M @ sp.diags_array(column)


def _maxima(M: Any) -> tuple[Array, Array]:
    if M.shape[0] == 0:
        return np.zeros(0), np.zeros(0)
    if sp.issparse(M):
        return M.max(axis=1).toarray().ravel(), M.max(axis=0).toarray().ravel()
    return M.max(axis=1), M.max(axis=0)
