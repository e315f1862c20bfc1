"""Eigenvalues by LAPACK from compiled code, against numpy's."""

import numpy as np
import pytest
from numba import types

from mcpframe.jit import IndicesOut, MatrixOut, VectorOut, kernel
from mcpframe.jit.lapack import (
    EIGENVALUE_WORK,
    INFO,
    NO,
    ONE,
    SCRATCH,
    SIZE,
    eigenvalue_address,
    lapack_eigenvalues,
)


@kernel(types.int64, MatrixOut, VectorOut, IndicesOut)
def eigenvalues(address, A, scratch, work):
    """Call LAPACK."""
    lapack_eigenvalues(address, A, scratch, work)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_they_are_numpys(n):
    A = np.random.default_rng(n).normal(size=(n, n))
    work, scratch = np.zeros(EIGENVALUE_WORK, dtype=np.int64), np.zeros(8 * n)
    work[[SIZE, ONE, SCRATCH, NO]] = n, 1, 6 * n, ord("N")
    eigenvalues(eigenvalue_address(), A.copy(), scratch, work)
    assert work[INFO] == 0
    found = np.sort_complex(scratch[:n] + 1j * scratch[n : 2 * n])
    np.testing.assert_allclose(found, np.sort_complex(np.linalg.eigvals(A).astype(complex)), atol=1e-12)
