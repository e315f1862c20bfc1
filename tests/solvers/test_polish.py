import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe import MixedLCP
from mcpframe.problem.generators import contact_lcp, random_lcp
from mcpframe.solvers.shared.polish import active_set_polish, guess_basis, strict_tolerance
from mcpframe.solving.solution import AT_LOWER, AT_UPPER, BASIC

INF = np.inf
ROUNDING = 1e-13
"""Residual, as a share of the largest sum |M||z| + |q|, that only rounding leaves."""
NOISE = 1e-6
"""Relative error of a point that an iterative method may hand to the polish."""


def row_size(problem, z):
    return float((np.abs(problem.M_dense) @ np.abs(z) + np.abs(problem.q)).max(initial=1e-300))


def shaken(problem, z, rng):
    R, C = problem.scaling
    size = max(np.abs(z / C).max(initial=0.0), np.abs(R * problem.q).max(initial=0.0))
    return z + NOISE * size * C * rng.standard_normal(z.size)


@pytest.mark.parametrize(
    "kind", ["monotone", "p_matrix", "copositive", "free", "box", "mixed", "scaled", "contact"]
)
def test_a_shaken_solution_is_restored_to_rounding(kind, rng):
    for seed in range(20):
        problem = random_lcp(kind, 10, seed=seed)
        z = mf.solve(problem, "enum").z
        polished = active_set_polish(problem, shaken(problem, z, rng))
        assert polished.residual <= ROUNDING * row_size(problem, polished.z)


@pytest.mark.parametrize("family", ["full", "redundant", "boxes", "chain"])
def test_contacts_are_restored_where_they_are_redundant_too(family, rng):
    for seed in range(5):
        problem = contact_lcp(8, family, seed=seed)
        z = mf.solve(problem, "lemke", throw=True).z
        polished = active_set_polish(problem, shaken(problem, z, rng))
        assert polished.residual <= ROUNDING * row_size(problem, polished.z)


def test_the_polish_never_does_harm(rng):
    for seed in range(60):
        problem = random_lcp("arbitrary", 7, seed=seed)
        z = 10.0 * rng.standard_normal(7)
        before = problem.certify(z)[2]
        polished = active_set_polish(problem, z)
        assert polished.residual <= before
        assert polished.residual == problem.certify(polished.z)[2]


def test_a_right_basis_needs_no_good_point():
    problem = random_lcp("p_matrix", 10, seed=3)
    known = mf.solve(problem, "enum")
    polished = active_set_polish(problem, np.full(10, 1e3), basis=known.basis)
    np.testing.assert_allclose(polished.z, known.z, rtol=1e-10, atol=1e-10)
    assert polished.steps == 1


def test_sparse_problems_are_polished_like_dense_ones(rng):
    problem = random_lcp("mixed", 30, seed=2)
    sparse = MixedLCP(sp.csr_array(problem.M), problem.q, problem.lower, problem.upper)
    z = shaken(problem, mf.solve(problem, "ipm", throw=True).z, rng)
    for which in (problem, sparse):
        assert active_set_polish(which, z).residual <= ROUNDING * row_size(problem, z)


def test_the_guess_compares_distances_with_w_in_both_directions():
    problem = MixedLCP(np.eye(4), np.zeros(4), [0, 0, 0, 5], [INF, 1, 1, 5])
    z, w = np.array([1e-9, 1.0 - 1e-9, 0.5, 5.0]), np.array([1.0, -1.0, 1e-9, -3.0])
    np.testing.assert_array_equal(guess_basis(problem, z, w), [AT_LOWER, AT_UPPER, BASIC, AT_LOWER])


def test_the_weight_decides_about_degenerate_rows():
    problem = MixedLCP([[1.0]], [0.0])
    z, w = np.array([1e-8]), np.array([3e-9])
    assert guess_basis(problem, z, w)[0] == BASIC
    assert guess_basis(problem, z, w, weight=1e-3)[0] == AT_LOWER


def test_points_that_are_not_finite_are_replaced():
    problem = MixedLCP([[2.0, 0.0], [0.0, 1.0]], [-2.0, 1.0])
    polished = active_set_polish(problem, np.array([np.nan, np.inf]))
    np.testing.assert_array_equal(polished.z, [1.0, 0.0])


def test_nothing_is_solved_when_time_is_up():
    problem = random_lcp("monotone", 8)
    assert active_set_polish(problem, np.ones(8), deadline=0.0).steps == 0


def test_an_empty_problem_is_polished():
    assert active_set_polish(MixedLCP(np.zeros((0, 0)), []), np.zeros(0)).residual == 0.0


def test_the_tolerance_is_lowered_where_q_is_small():
    assert strict_tolerance(MixedLCP([[1.0]], [1e-6]), 1e-9) == pytest.approx(1e-15)
    assert strict_tolerance(MixedLCP([[1.0]], [1e6]), 1e-9) == 1e-9
    assert strict_tolerance(MixedLCP([[1.0]], [0.0]), 1e-9) == 1e-9
