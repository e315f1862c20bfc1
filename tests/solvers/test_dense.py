"""Factors and products of small dense matrices, in lanes that keep within their rows, beside numpy."""

import numpy as np
import pytest
from numba import types

from mcpframe.jit import IndicesOut, Matrix, MatrixOut, Vector, VectorOut, kernel
from mcpframe.problem.residual import row_dot
from mcpframe.solvers.shared.dense import lu_factor, lu_solve

EXACT = 1e-12
"""Relative to the largest entry: sums of at most thirty products."""
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 13, 24, 30)
MARK = 7.0


@kernel(MatrixOut, IndicesOut, Vector, VectorOut, types.int64)
def solved(A, order, b, x, k):
    """Solve the leading block of A; return whether it could be factored."""
    if not lu_factor(A, order, k):
        return False
    lu_solve(A, order, k, b, x)
    return True


@kernel(Matrix, Vector, types.int64, types.int64, types.int64)
def product(A, x, i, first, last):
    """Return a part of row i of A times x."""
    return row_dot(A, i, x, first, last)


@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("spare", [0, 3])
def test_factors_are_those_of_the_leading_block_and_nothing_else_is_touched(rng, k, spare):
    block = rng.normal(size=(k, k))
    A = np.full((k + spare, k + spare), MARK)
    A[:k, :k] = block
    b, x, order = rng.normal(size=k), np.zeros(k), np.zeros(k, dtype=np.int64)
    assert solved(A, order, b, x, k)
    L, U = np.tril(A[:k, :k], -1) + np.eye(k), np.triu(A[:k, :k])
    np.testing.assert_allclose(L @ U, block[order], rtol=0.0, atol=EXACT * k * abs(U).max())
    np.testing.assert_allclose(block @ x, b, rtol=0.0, atol=EXACT * abs(block).max() * k * (1 + abs(x).max()))
    assert (A[k:] == MARK).all()
    assert (A[:, k:] == MARK).all()
    assert abs(L).max() <= 1.0


def test_a_matrix_without_an_inverse_is_told(rng):
    for k in SIZES[1:]:
        A = rng.normal(size=(k, k))
        A[-1] = A[0]
        assert not solved(A, np.zeros(k, dtype=np.int64), np.ones(k), np.zeros(k), k)


def test_rows_times_a_vector_are_those_of_numpy(rng):
    A, x = rng.normal(size=(5, 23)), rng.normal(size=23)
    for first in (0, 1, 6):
        for last in range(first, 24):
            expected = A[3, first:last] @ x[first:last]
            assert product(A, x, 3, first, last) == pytest.approx(expected, rel=0.0, abs=EXACT)
