"""P-matrices: the tests that decide against all minors, and the margin in any units."""

import itertools

import numpy as np
import pytest

from mcpframe.diagnosis.layer import Layer
from mcpframe.diagnosis.p_matrix import (
    CHOLESKY,
    DIAGONAL,
    H_MATRIX,
    MINORS,
    RUMP,
    decided,
    least_margin,
    margin_of,
    work_size,
)
from mcpframe.exceptions import ModelError
from mcpframe.jit import Matrix, VectorOut, kernel

P_BUT_UNSTABLE = np.array([[1, 0.0563, -4.3491], [2.3121, 1, -0.1534], [1.7217, -2.8164, 1]])
"""P, with the eigenvalues -0.155 ± 3.305 i."""


def least_minor(A):
    """By determinants of all principal blocks."""
    n, d = len(A), np.abs(np.diag(A))
    subsets = itertools.chain.from_iterable(itertools.combinations(range(n), k) for k in range(1, n + 1))
    return min(np.linalg.det(A[np.ix_(s, s)]) / d[list(s)].prod() for s in subsets)


def matrices(rng, count=600):
    for k in range(count):
        n = 2 + k % 5
        yield rng.uniform(0.1, 2.0, n)[:, None] * (
            np.eye(n) + rng.uniform(0.1, 0.9) * rng.standard_normal((n, n))
        )


def test_every_test_agrees_with_all_minors(rng):
    seen = set()
    for A in matrices(rng):
        test, least = decided(A), least_minor(A)
        assert (test > 0) == (least > 0.0)
        seen.add(test)
    assert seen == {-DIAGONAL, -MINORS, CHOLESKY, H_MATRIX, RUMP, MINORS}


def test_the_margin_is_the_least_minor_in_any_units(rng):
    for A in matrices(rng, 200):
        least = least_minor(A)
        assert margin_of(A) == pytest.approx(min(least, 1.0), rel=1e-9, abs=1e-12)
        rows, columns = rng.uniform(0.01, 100.0, (2, len(A)))
        assert margin_of(rows[:, None] * A * columns) == pytest.approx(margin_of(A), rel=1e-9, abs=1e-12)


def test_edges_of_the_margin():
    assert margin_of(np.zeros((0, 0))) == 1.0
    assert margin_of(np.eye(3)) == 1.0
    assert margin_of(-np.eye(1)) == -1.0
    assert margin_of(np.zeros((2, 2))) == 0.0
    assert np.isnan(margin_of(np.eye(17)))
    assert decided(np.eye(40)) == CHOLESKY
    assert decided(np.array([[1.0, 1.0], [1.0, 1.0]])) == -MINORS


def test_a_layer_may_leave_the_unique_answer_of_a_p_matrix():
    assert decided(P_BUT_UNSTABLE) > 0
    assert Layer(1e4, 1.0).growth(P_BUT_UNSTABLE) > 0.0


def test_growth_is_that_of_the_layers_equation(rng):
    for _ in range(50):
        n, layer = int(rng.integers(1, 5)), Layer(rng.uniform(10, 1e4), rng.uniform(0.1, 100))
        A = rng.standard_normal((n, n))
        none, one = np.zeros((n, n)), np.eye(n)
        companion = np.block([[none, one], [-layer.stiffness * A, -layer.damping * A]])
        assert layer.growth(A) == pytest.approx(np.linalg.eigvals(companion).real.max(), rel=1e-6)


def test_the_layer_of_the_paper_and_bad_ones():
    layer = Layer.scaled(1e-3, 1.69)
    assert (layer.stiffness, layer.damping) == pytest.approx((1690.0, 53.4425))
    for bad in ({"scale": 0.0}, {"scale": 1e-3, "mass": -1.0}, {"scale": 1e-3, "time": np.nan}):
        with pytest.raises(ModelError, match="must be positive"):
            Layer.scaled(**{"mass": 1.0, **bad})
    with pytest.raises(ModelError, match="damping = 0"):
        Layer(1.0, 0.0)


@pytest.mark.parametrize("n", [9, 12])
def test_the_bound_for_many_rows_lies_below_the_margin(n):
    """det S <= det A_αα for all principal submatrices of unit diagonal, where S = (A + A*)/2 is definite."""
    rng, bounded = np.random.default_rng(n), 0
    for _ in range(20):
        skew = rng.normal(size=(n, n))
        A = np.eye(n) + 0.02 * rng.normal(size=(n, n)) + 0.3 * (skew - skew.T) / np.sqrt(n)
        bound = margin_bound(A, np.zeros(work_size(n)))
        bounded += bound < margin_of(A) - 1e-12
        assert 0.0 < bound <= margin_of(A) + 1e-12
    assert bounded == 20


@kernel(Matrix, VectorOut)
def margin_bound(A, work):
    return least_margin(A, work, 0.0)
