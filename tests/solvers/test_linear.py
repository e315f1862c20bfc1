import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg

from mcpframe.solvers.shared.linear import exact_residual, factorise, least_norm, scaled_matrix, sparse_lu

ROUNDING = 1e-12
"""Relative error of a solve with condition numbers below 1e3."""
PROXIMAL = 1e-8
"""Relative error that the proximal steps of the sparse least-norm solve leave."""

SINGULAR = Path(__file__).with_name("singular_basis.npz")
"""A basis of four contacts of a box with torsional friction, of rank 28 of 48: scipy's `splu` crashes on it
where memory is not zero by chance."""
READ = """
import sys
import scipy.sparse as sp
from mcpframe.solvers.shared.linear import sparse_lu
A = sp.csc_array(sp.load_npz(sys.argv[1]))
print({sparse_lu(A) for _ in range(3)})
"""

STORAGE = pytest.mark.parametrize("store", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


@STORAGE
def test_lu_solves(rng, store):
    A, x = rng.standard_normal((20, 20)) + 5 * np.eye(20), rng.standard_normal(20)
    np.testing.assert_allclose(factorise(store(A)).solve(A @ x), x, rtol=ROUNDING, atol=ROUNDING)


@STORAGE
def test_units_change_neither_the_solution_nor_the_condition(rng, store):
    A, x = rng.standard_normal((10, 10)) + 5 * np.eye(10), rng.standard_normal(10)
    R, C = 10.0 ** rng.uniform(-8, 8, 10), 10.0 ** rng.uniform(-8, 8, 10)
    factor = factorise(store(R[:, None] * A * C))
    np.testing.assert_allclose(C * factor.solve(R * (A @ x)), x, rtol=1e3 * ROUNDING)
    assert factor.rcond > 1e-3


@STORAGE
@pytest.mark.parametrize(
    "A", [np.ones((3, 3)), np.zeros((2, 2)), np.diag([1.0, 0.0]), [[1.0, 2.0], [2.0, 4.0 + 1e-15]]]
)
def test_singular_matrices_are_seen(store, A):
    assert factorise(store(np.asarray(A))).rcond < 1e-14


@STORAGE
def test_what_overflows_is_not_factorised(store):
    assert factorise(store(np.array([[1e300, -1e300], [np.nan, 1.0]]))).rcond == 0.0


@STORAGE
def test_least_norm_is_the_pseudoinverse(rng, store):
    B = rng.standard_normal((8, 3))
    A = B @ B.T
    row = 2.0 ** rng.integers(-2, 3, 8)
    b = A @ rng.standard_normal(8)
    x = least_norm(store(A))(b)
    np.testing.assert_allclose(A @ x, b, atol=PROXIMAL)
    assert np.linalg.norm(x) <= 2.0 * np.linalg.norm(np.linalg.pinv(A) @ b)
    np.testing.assert_allclose(row[:, None] * A, scaled_matrix(A, row, np.ones(8)))


def test_sparse_matrices_stay_sparse_when_scaled():
    assert sp.issparse(scaled_matrix(sp.eye_array(3, format="csr"), np.ones(3), np.ones(3)))


def test_exact_residuals_see_what_cancels():
    """1e16 + 1 - 1e16 and (1 + eps)^2 - 1 - 2 eps = eps^2."""
    eps = 2.0**-52
    A, x = np.array([[1e16, 1.0, -1e16], [1.0 + eps, 0.0, 0.0]]), np.array([1.0 + eps, 1.0, 1.0 + eps])
    np.testing.assert_array_equal(exact_residual(A, x, np.array([0.0, -1.0 - 2.0 * eps])), [1.0, eps**2])


def test_exact_residuals_of_huge_numbers_are_plain_ones():
    A, x = np.full((1, 2), 1e200), np.array([1e100, -1e100])
    assert np.abs(exact_residual(A, x, np.zeros(1))) <= 1e-15 * 1e300


@STORAGE
def test_the_least_norm_solution_of_nothing_is_zero(store):
    np.testing.assert_array_equal(least_norm(store(np.zeros((3, 3))))(np.ones(3)), np.zeros(3))


@STORAGE
def test_what_is_not_finite_has_no_least_norm_solution(store):
    assert np.isnan(least_norm(store(np.array([[np.nan, 1.0], [1.0, 1.0]])))(np.ones(2))).all()


def test_a_large_diagonal_gets_the_order_of_minimum_degree_and_others_their_pivots(rng):
    k = 60
    T = sp.diags_array([-np.ones(k - 1), 2.0 * np.ones(k), -np.ones(k - 1)], offsets=[-1, 0, 1])
    A = sp.csc_array(sp.kron(sp.eye_array(k), T) + sp.kron(T, sp.eye_array(k)))
    b = rng.standard_normal(k * k)
    ordered, plain = sparse_lu(A), scipy.sparse.linalg.splu(A)
    assert ordered.L.nnz + ordered.U.nnz < 0.7 * (plain.L.nnz + plain.U.nnz)
    np.testing.assert_allclose(A @ ordered.solve(b), b, atol=1e-11)
    saddle = sp.csc_array(sp.block_array([[None, A], [A, sp.eye_array(k * k)]]))
    x = sparse_lu(saddle).solve(np.r_[b, b])
    np.testing.assert_allclose(saddle @ x, np.r_[b, b], atol=1e-10)


def test_a_basis_of_redundant_contacts_has_no_factors_whatever_memory_holds():
    surroundings = os.environ | {"MALLOC_PERTURB_": "165"}  # glibc fills what it gives with it
    done = subprocess.run(
        [sys.executable, "-c", READ, str(SINGULAR)], capture_output=True, text=True, env=surroundings
    )
    assert (done.returncode, done.stdout.strip()) == (0, "{None}"), done.stderr


@pytest.mark.parametrize("dominant", [True, False])
def test_factors_solve_as_dense_ones_do(rng, dominant):
    n = 60
    A = np.where(rng.random((n, n)) < 0.2, rng.normal(size=(n, n)), 0.0) + np.eye(n)
    if dominant:
        A += np.diag(np.abs(A).sum(axis=0))
    b = rng.normal(size=n)
    np.testing.assert_allclose(
        sparse_lu(sp.csc_array(A)).solve(b), np.linalg.solve(A, b), rtol=1e-9, atol=1e-11
    )
