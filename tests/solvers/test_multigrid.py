"""Conjugate gradients with algebraic multigrid, against sparse LU, and who may use it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe.solvers.shared import multigrid
from mcpframe.solvers.shared.linear import factorise, sparse_lu
from mcpframe.solvers.shared.multigrid import fits, multigrid_solve

CLOSE = 1e-6
"""Error of a solve relative to its size: the accuracy asked for, times the condition of the matrices here."""


@pytest.fixture(autouse=True)
def from_few_rows_on(monkeypatch):
    """Let it take matrices of a size that tests can afford."""
    monkeypatch.setattr(multigrid, "LEAST_ROWS", 500)
    monkeypatch.setattr(multigrid, "COARSEST", 50)


def diffusion(k: int, spread: float = 1.0) -> sp.csr_array:
    """Return -Laplace on k by k points, rows and columns in units that differ by so many decades."""
    rng = np.random.default_rng(0)
    line = sp.diags_array([-np.ones(k - 1), 2.0 * np.ones(k), -np.ones(k - 1)], offsets=[-1, 0, 1])
    A = sp.csr_array(sp.kron(line, sp.eye_array(k)) + sp.kron(sp.eye_array(k), line))
    a = sp.diags_array(10.0 ** rng.uniform(0.0, spread, k * k))
    return sp.csr_array(a @ A @ a)


@pytest.mark.parametrize(
    "shift",
    [
        lambda rng, n: np.zeros(n),
        lambda rng, n: np.where(rng.random(n) < 0.4, 10.0 ** rng.uniform(-9.0, 12.0, n), 0.0),
        lambda rng, n: np.where(np.arange(n) < n // 2, 1e14, 1e-9),
    ],
    ids=["none", "of all sizes", "half of it fixed"],
)
def test_it_finds_what_lu_finds(shift):
    rng = np.random.default_rng(1)
    A = diffusion(40)
    A = sp.csr_array(A + sp.diags_array(shift(rng, A.shape[0])))
    b = rng.standard_normal(A.shape[0])
    x, expected = multigrid_solve(A)(b), sparse_lu(A).solve(b)
    assert np.abs(x - expected).max() <= CLOSE * np.abs(expected).max()


def test_steps_hardly_grow_with_the_size():
    steps = []
    for k in (30, 120):
        solve = multigrid_solve(diffusion(k))
        counted = Counting(solve.preconditioner)
        multigrid._Solve(solve.A, counted)(np.ones(k * k))
        steps.append(counted.cycles)
    assert steps[1] <= 2 * steps[0]


class Counting:
    """A preconditioner that counts how often it is asked."""

    def __init__(self, inner):
        self.inner, self.cycles = inner, 0

    def cycle(self, b):
        self.cycles += 1
        return self.inner.cycle(b)


def obstacle(k: int) -> mf.MixedLCP:
    """Return a membrane over bumps on k by k points."""
    x = np.arange(1, k + 1) / (k + 1)
    bumps = 0.5 * np.outer(np.sin(9.0 * x), np.sin(7.0 * x)) - 0.2
    return mf.MixedLCP(diffusion(k, spread=0.0), np.full(k * k, 8.0 / (k + 1) ** 2), bumps.ravel())


@pytest.mark.parametrize("name", ["newton", "ipm", "path", "auto"])
def test_obstacle_problems_are_solved_by_it_as_by_factors(name, monkeypatch):
    problem = obstacle(40)
    found = mf.solve(problem, name)
    monkeypatch.setattr(multigrid, "LEAST_ROWS", 10**9)
    expected = mf.solve(problem, "ipm")
    assert found.ok
    assert np.abs(found.z - expected.z).max() <= 1e-9


def test_a_start_from_a_coarser_grid_saves_newton_steps(monkeypatch):
    problem = obstacle(80)
    nested = mf.solve(problem, "newton")
    monkeypatch.setattr(multigrid, "LEAST_ROWS", 10**9)
    assert nested.iterations < mf.solve(problem, "newton").iterations


def test_other_matrices_are_left_to_lu():
    A = diffusion(30)
    assert fits(A)
    assert not fits(A.toarray())
    assert not fits(-A)
    assert not fits(sp.csr_array(sp.triu(A)))
    assert not fits(sp.csr_array(A + 10.0 * (sp.eye_array(900, k=5) + sp.eye_array(900, k=-5))))
    assert not fits(diffusion(10))


def test_what_is_not_definite_is_factorised_in_the_end():
    A = diffusion(30)
    A = sp.csr_array(A - sp.diags_array(0.5 * A.diagonal()))
    assert fits(A)
    b = np.random.default_rng(0).standard_normal(900)
    x = factorise(A).solve(b)
    assert np.abs(A @ x - b).max() <= CLOSE


def test_factorising_a_matrix_out_of_order_leaves_it_as_it_was():
    A = sp.csc_array(diffusion(5))
    A.indices, A.data = A.indices[::-1].copy(), A.data[::-1].copy()
    A.indptr = (A.indptr[-1] - A.indptr[::-1]).astype(A.indptr.dtype)
    b = np.arange(25.0)
    before = A @ b
    shared = sp.csc_array((2.0 * A.data, A.indices, A.indptr), shape=A.shape)
    assert sparse_lu(A) is not None
    assert (A @ b == before).all()
    assert (shared @ b == 2.0 * before).all()
