"""Facts about M that decide which solver fits: symmetry, definiteness, P-matrix, scaling."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numba import types
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from mcpframe.jit import Indices, Vector, VectorOut, inline, kernel

Array = NDArray[np.float64]
Matrix: TypeAlias = "Array | sp.csr_array"

P_MATRIX_LIMIT = 16
"""Largest n for the exact P-matrix test, which looks at 2^n - 1 principal minors."""

ROUNDING = 1e-12
"""Relative size below which a defect of symmetry or definiteness is taken for rounding."""

PIVOT_ROUNDING = 1e-14
"""A pivot this small beside the terms it is the difference of is rounding: it may as well be zero."""

DENSE_LIMIT = 400
"""Above this n a sparse matrix is factorised sparse."""


def is_symmetric(M: Matrix) -> bool:
    """Return whether max |M - M'| <= ROUNDING max |M|."""
    A = _normalised(M)
    return A is None or bool(abs(A - A.T).max() <= ROUNDING)


def is_psd(M: Matrix) -> bool:
    """Return whether x'Mx >= 0 for all x, up to rounding.

    Cholesky of the symmetric part, shifted by n * ROUNDING * max |M|, exists iff it is PSD up to that shift.
    """
    A = _normalised(M)
    if A is None:
        return True
    symmetric = 0.5 * (A + A.T)
    diagonal = symmetric.diagonal()
    if diagonal.min() < -ROUNDING:
        return False
    # A zero diagonal entry of a PSD matrix has a zero row: the cheap refusal of most contact problems.
    zero = diagonal <= ROUNDING
    if zero.any() and abs(symmetric[zero]).max() > np.sqrt(ROUNDING):
        return False
    if sp.issparse(symmetric) and M.shape[0] > DENSE_LIMIT:
        return _is_definite_sparse(symmetric)
    return _is_definite_dense(symmetric.toarray() if sp.issparse(symmetric) else symmetric)


def is_p_matrix(M: Array) -> bool:
    """Return whether all principal minors of M are positive [Tsatsomeros and Li 2000].

    M is P iff M[0,0] > 0 and both M without its first row and column and the Schur complement of M[0,0]
    are P. All 2^k matrices of recursion level k are kept in one array. A minor that is zero up to
    rounding is not positive; `size` bounds the terms that were subtracted to make each entry.
    """
    A = _normalised(M)
    if A is None:
        return len(M) == 0
    level, size = A[None], np.abs(A)[None]
    while level.shape[1]:
        pivot = level[:, 0, 0]
        if not (pivot > PIVOT_ROUNDING * size[:, 0, 0]).all():
            return False
        update = level[:, 1:, :1] * level[:, :1, 1:] / pivot[:, None, None]
        rest, rest_size = level[:, 1:, 1:], size[:, 1:, 1:]
        level = np.concatenate([rest, rest - update])
        size = np.concatenate([rest_size, rest_size + np.abs(update)])
    return True


def equilibrate(M: Any, passes: int = 10) -> tuple[Array, Array]:
    """Return row and column factors (R, C), powers of two, with the entries of R M C near one [Ruiz 2001].

    Powers of two scale without rounding, so a scaled solve loses nothing. Each pass halves the number of
    digits that rows and columns are apart; it ends when their largest entries lie within a factor of two.
    """
    if sp.issparse(M):
        entries = sp.coo_array(M)
        rows, columns, values = entries.row.astype(np.int64), entries.col.astype(np.int64), entries.data
    else:
        every = np.arange(M.shape[0])
        rows, columns, values = np.repeat(every, every.size), np.tile(every, every.size), M.ravel()
    factors = np.ones((2, M.shape[0]))
    equilibrate_entries(np.abs(values), rows, columns, passes, *factors, *np.empty_like(factors))
    row, column = np.exp2(np.round(np.log2(factors)))
    return row, column


@kernel(Vector, Indices, Indices, types.int64, VectorOut, VectorOut, VectorOut, VectorOut)
def equilibrate_entries(size, rows, columns, passes, row, column, row_max, column_max):  # type: ignore[no-untyped-def]
    """Divide the factors of rows and columns by the roots of their largest entries, pass by pass, in place.

    Args:
        size: |M_ij| of all entries, at (rows, columns).
        row, column: factors, one at first [n].
        row_max, column_max: workspace [n].
    """
    n = row.shape[0]
    for _ in range(passes):
        for i in range(n):
            row_max[i] = column_max[i] = 0.0
        for k in range(size.shape[0]):
            i, j = rows[k], columns[k]
            scaled = size[k] * row[i] * column[j]
            row_max[i] = larger(scaled, row_max[i])
            column_max[j] = larger(scaled, column_max[j])
        even = True
        for i in range(n):
            even &= divide_by_root(row, row_max, i)
            even &= divide_by_root(column, column_max, i)
        if even:
            break


@inline
def larger(x: Any, y: Any) -> Any:
    """Return the larger of two numbers, or the one that is none."""
    return x if x > y or x != x else y


@inline
def divide_by_root(factor: Any, largest: Any, i: Any) -> Any:
    """Divide by the root of a largest entry, if there is one; return whether it is within a factor of two."""
    if not largest[i] > 0.0:
        return True
    factor[i] /= math.sqrt(largest[i])
    return 0.5 <= largest[i] <= 2.0


def _normalised(M: Any) -> Any:
    """Return M / max |M|, whose sums cannot overflow; None where M is empty or zero."""
    largest = abs(M).max() if M.shape[0] else 0.0
    if largest == 0.0:
        return None
    exponent = -int(np.frexp(largest)[1])
    half = exponent // 2  # 2^exponent itself overflows beside the tiniest numbers
    return M * 2.0**half * 2.0 ** (exponent - half)


def _is_definite_dense(symmetric: Array) -> bool:
    n = symmetric.shape[0]
    try:
        scipy.linalg.cholesky(symmetric + n * ROUNDING * np.eye(n), check_finite=False)
    except scipy.linalg.LinAlgError:
        return False
    return True


def _is_definite_sparse(symmetric: sp.csr_array) -> bool:
    """Return whether LU with pivots on the diagonal meets positive ones only, which makes it a Cholesky."""
    n = symmetric.shape[0]
    shifted = sp.csc_array(symmetric + n * ROUNDING * sp.eye_array(n))
    symmetric_mode = {"SymmetricMode": True}
    try:
        factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=symmetric_mode)
    except RuntimeError:  # exactly singular
        return False
    return bool((factor.perm_r == factor.perm_c).all() and (factor.U.diagonal() > 0).all())
