"""Pivoting without a dictionary: the same path as with one, by other linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe.solvers.lemke.kernels import ENDED, PIVOT_LIMIT, RAY
from mcpframe.solvers.path import sparse
from mcpframe.solvers.path.linear import LinearPath
from mcpframe.solvers.path.sparse import SparsePath

RUNNING = np.zeros(1, np.int64)
ROUNDING = 1e-9


def both(seed: int, n: int = 40):
    """Return a path of a random problem with bounds, free and fixed rows, in both ways."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.15)
    skew = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.1)
    M = A @ A.T + np.eye(n) + skew - skew.T  # positive definite: one path, one end
    kind = rng.integers(0, 5, n)
    lower = np.select([kind == 0, kind == 1], [-np.inf, -np.inf], rng.uniform(-1.0, 0.0, n))
    upper = np.select([kind == 0, kind == 2, kind == 4], [np.inf, np.inf, lower], rng.uniform(0.5, 1.0, n))
    z = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))
    q = 3.0 * rng.standard_normal(n)
    F = M @ z + q
    size = np.abs(F) + 0.5
    w = np.where(z <= lower, size, np.where(z >= upper, -size, 0.0))
    w = np.where(lower == upper, F, w)
    data = q, lower, upper, z, w, RUNNING
    return LinearPath(M, *data), SparsePath(sp.csc_array(M), *data)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("t", [0.3, 1.0])
def test_both_ways_come_to_the_same_point(seed, t):
    dense, without = both(seed)
    expected, end = dense.to(t, 2000), without.to(t, 2000)
    assert end.ended == expected.ended == ENDED
    assert end.t == pytest.approx(t)
    assert np.abs(end.z - expected.z).max() <= ROUNDING
    assert np.abs(end.w - expected.w).max() <= ROUNDING * (1.0 + np.abs(expected.w).max())


@pytest.mark.parametrize("most", [1, 3])
def test_a_basis_that_is_factorised_anew_leads_on_along_the_same_path(most, monkeypatch):
    monkeypatch.setattr(sparse, "MOST_UPDATES", most)
    for seed in range(4):
        dense, without = both(seed)
        expected, end = dense.to(1.0, 2000), without.to(1.0, 2000)
        assert end.pivots > most
        assert np.abs(end.z - expected.z).max() <= ROUNDING


def test_where_pivots_run_out_the_point_is_on_the_path():
    _, without = both(3)
    end = without.to(1.0, 5)
    assert end.ended == PIVOT_LIMIT
    assert 0.0 < end.t < 1.0
    off = without.M @ end.z + without.q - (1.0 - end.t) * without.r - end.w
    assert np.abs(off).max() <= ROUNDING


def test_a_path_that_ends_nowhere_is_called_a_ray():
    M = sp.csc_array([[0.0, -1.0], [-1.0, 0.0]])
    z = np.zeros(2)
    path = SparsePath(M, -np.ones(2), z, np.full(2, np.inf), z, np.ones(2), RUNNING)
    assert path.to(1.0, 100).ended == RAY


def test_large_sparse_problems_are_solved_without_dense_arrays():
    n = 30_000  # a dictionary would take 7 GB
    M = sp.diags_array([-np.ones(n - 1), 2.5 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    q = np.sin(np.arange(n) / 50.0)
    solution = mf.solve(mf.MixedLCP(M, q), "path")
    assert solution.ok
    assert 0 < np.count_nonzero(solution.z) < n


def test_free_rows_of_large_sparse_problems_stay_sparse():
    n = 3000
    rng = np.random.default_rng(0)
    M = sp.diags_array([-np.ones(n - 1), 2.5 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    lower = np.where(rng.random(n) < 0.5, -np.inf, 0.0)
    solution = mf.solve(mf.MixedLCP(M, rng.standard_normal(n), lower, np.inf), "path")
    assert solution.ok
