from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from mcpframe import MixedLCP
from mcpframe.problem import facts

SCALES = (1e-300, 1e-9, 1.0, 1e9, 1e300)


def gram(rng, n, rank):
    J = rng.normal(size=(n, rank))
    return J @ J.T


def has_positive_minors(M):
    """Every principal minor by its determinant: the definition."""
    n = M.shape[0]
    subsets = (list(rows) for k in range(1, n + 1) for rows in combinations(range(n), k))
    return all(np.linalg.det(M[np.ix_(rows, rows)]) > 0 for rows in subsets)


@pytest.mark.parametrize("scale", SCALES)
def test_symmetry_does_not_depend_on_scale(rng, scale):
    A = gram(rng, 6, 6) * scale
    skew = A.copy()
    skew[0, 1] *= 1 + 1e-6
    for kind in (np.asarray, sp.csr_array):
        assert facts.is_symmetric(kind(A))
        assert not facts.is_symmetric(kind(skew))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_monotone_matrices_are_recognised_at_every_scale(rng, scale, kind):
    skew = rng.normal(size=(6, 6))
    skew -= skew.T
    assert facts.is_psd(kind((gram(rng, 6, 6) + skew) * scale))
    assert facts.is_psd(kind((gram(rng, 6, 2) + skew) * scale))  # semidefinite
    assert facts.is_psd(kind(skew * scale))
    assert not facts.is_psd(kind((skew - 1e-3 * np.eye(6)) * scale))


def test_a_zero_on_the_diagonal_needs_a_zero_row():
    assert not facts.is_psd(np.array([[1.0, 1.0], [1.0, 0.0]]))
    assert facts.is_psd(np.array([[1.0, 1.0], [-1.0, 0.0]]))
    assert facts.is_psd(np.zeros((3, 3)))


def test_an_indefinite_matrix_with_positive_diagonal_is_not_monotone():
    assert not facts.is_psd(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_large_sparse_matrices_are_judged_without_being_filled_in():
    n = facts.DENSE_LIMIT + 100
    stencil = sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    assert facts.is_psd(sp.csr_array(stencil))
    assert not facts.is_psd(sp.csr_array(stencil - 0.1 * sp.eye_array(n)))


def test_the_p_matrix_test_agrees_with_all_minors(rng):
    seen = set()
    for _ in range(200):
        n = int(rng.integers(1, 6))
        M = rng.normal(size=(n, n)) + rng.uniform(0, 3) * np.eye(n)
        expected = has_positive_minors(M)
        assert facts.is_p_matrix(M) == expected
        seen.add(expected)
    assert seen == {True, False}


@pytest.mark.parametrize("scale", SCALES)
def test_the_p_matrix_test_does_not_depend_on_scale(scale):
    upper = np.eye(5) + 2 * np.triu(np.ones((5, 5)), 1)  # Murty (1978): P, far from definite
    assert facts.is_p_matrix(upper * scale)
    assert not facts.is_p_matrix(-upper * scale)


def test_a_singular_matrix_is_not_p_even_when_rounding_makes_its_minors_positive(rng):
    assert not any(facts.is_p_matrix(gram(rng, 6, 2)) for _ in range(20))


def test_the_p_matrix_test_declines_large_problems():
    n = facts.P_MATRIX_LIMIT + 1
    assert MixedLCP(np.eye(n), np.zeros(n)).is_p_matrix is None
    assert MixedLCP(np.eye(n - 1), np.zeros(n - 1)).is_p_matrix is True


def test_scaling_brings_entries_near_one_by_powers_of_two(rng):
    rows, columns = 10.0 ** rng.integers(-8, 8, size=7), 10.0 ** rng.integers(-8, 8, size=7)
    M = rng.uniform(0.5, 1.0, size=(7, 7)) * rows[:, None] * columns
    for kind in (np.asarray, sp.csr_array):
        R, C = facts.equilibrate(kind(M))
        assert (np.frexp(R)[0] == 0.5).all()
        assert (np.frexp(C)[0] == 0.5).all()
        largest = (M * R[:, None] * C).max(axis=1)
        assert 0.25 <= largest.min() <= largest.max() <= 4.0


def test_scaling_leaves_zero_rows_alone():
    R, C = facts.equilibrate(np.zeros((2, 2)))
    np.testing.assert_array_equal(R, 1.0)
    np.testing.assert_array_equal(C, 1.0)


@pytest.mark.parametrize("scale", [5e-324, *SCALES])
def test_scaling_takes_every_magnitude(scale):
    R, C = facts.equilibrate(np.array([[scale]]))
    assert 0.25 <= R[0] * scale * C[0] <= 4.0
