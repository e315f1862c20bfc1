import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from mcpframe import MixedLCP
from mcpframe.problem.generators import SOLVABLE, random_lcp
from mcpframe.problem.infeasibility import find_certificate, proves_infeasible

INF = np.inf


def below_zero_whatever_z_is(lower=0.0, upper=INF):
    """w_2 = -z_1 - 2 z_2 - 1 < 0 for every z >= 0."""
    return MixedLCP([[1.0, 0.0], [-1.0, -2.0]], [1.0, -1.0], lower, upper)


def relations_hold_somewhere(problem):
    """Whether some l <= z <= u gives w the signs that every solution needs: the primal side, by HiGHS."""
    M, q = problem.M_dense, problem.q
    low, high = np.isfinite(problem.lower), np.isfinite(problem.upper)
    at_least, at_most, equal = low & ~high, high & ~low, ~low & ~high
    result = linprog(
        np.zeros(problem.n),
        A_ub=np.vstack([-M[at_least], M[at_most]]),
        b_ub=np.r_[q[at_least], -q[at_most]],
        A_eq=M[equal],
        b_eq=-q[equal],
        bounds=np.column_stack([problem.lower, problem.upper]),
        method="highs",
    )
    return result.status == 0


def test_a_row_that_stays_negative_is_proof():
    assert proves_infeasible(below_zero_whatever_z_is(), np.array([0.0, 1.0]))


def test_the_scale_of_a_certificate_does_not_matter():
    for size in (1e-200, 1e200):
        assert proves_infeasible(below_zero_whatever_z_is(), np.array([0.0, size]))


@pytest.mark.parametrize(
    "y", [[0.0, -1.0], [1.0, 0.0], [0.0, 0.0], [0.0, np.nan], [0.0, np.inf], [1.0], [1.0, 0.0, 0.0]]
)
def test_what_proves_nothing_is_refused(y):
    assert not proves_infeasible(below_zero_whatever_z_is(), np.array(y))


def test_a_row_with_two_bounds_takes_part_in_no_proof():
    problem = below_zero_whatever_z_is(upper=[INF, 5.0])
    assert not proves_infeasible(problem, np.array([0.0, 1.0]))
    assert find_certificate(problem) is None


def test_an_upper_bound_turns_the_sign_of_its_multiplier():
    problem = MixedLCP([[-1.0]], [1.0], -INF, 0.0)
    assert proves_infeasible(problem, np.array([-1.0]))
    assert not proves_infeasible(problem, np.array([1.0]))


def test_contradicting_equations_are_proved_infeasible():
    problem = MixedLCP([[1.0, 1.0], [2.0, 2.0]], [-1.0, -3.0], -INF)
    y = find_certificate(problem)
    assert y is not None
    assert y[0] / y[1] == pytest.approx(-2.0)


def test_a_solution_far_away_is_not_taken_for_infeasibility():
    """z = 2e10 (1, 1) solves it; M'(1, 1) = (1e-10, 0) is small, but not zero."""
    problem = MixedLCP([[1.0, -1.0], [-1.0 + 1e-10, 1.0]], [-1.0, -1.0])
    assert not proves_infeasible(problem, np.array([1.0, 1.0]))
    assert find_certificate(problem) is None


def test_numbers_that_overflow_prove_nothing():
    M = np.full((2, 2), -1.7e308)
    assert not proves_infeasible(MixedLCP(M, [-1.0, -1.0]), np.array([1.0, 1.0]))


def test_an_empty_problem_has_no_certificate():
    assert find_certificate(MixedLCP(np.zeros((0, 0)), [])) is None


def test_a_problem_whose_relations_hold_but_that_has_no_solution_has_no_certificate():
    """w_1 = z_1 + z_2 + 1 > 0 wants z_1 = 0, but w_2 = z_1 - 1 >= 0 wants z_1 >= 1; w >= 0 at z = (1, 0)."""
    problem = MixedLCP([[1.0, 1.0], [1.0, 0.0]], [1.0, -1.0])
    assert relations_hold_somewhere(problem)
    assert find_certificate(problem) is None


@pytest.mark.parametrize("kind", sorted(SOLVABLE))
def test_solvable_problems_have_no_certificate(kind):
    assert all(find_certificate(random_lcp(kind, 6, seed=seed)) is None for seed in range(10))


def test_a_certificate_is_found_exactly_where_the_relations_contradict_each_other():
    found = 0
    for seed in range(150):
        problem = random_lcp("arbitrary" if seed % 2 else "infeasible", 5, seed=seed)
        y = find_certificate(problem)
        assert (y is None) == relations_hold_somewhere(problem)
        assert y is None or (proves_infeasible(problem, y) and np.abs(y).max() == 1.0)
        found += y is not None
    assert found > 75


def test_sparse_and_dense_problems_have_the_same_certificates():
    for seed in range(10):
        problem = random_lcp("infeasible", 8, seed=seed)
        sparse = MixedLCP(sp.csr_array(problem.M), problem.q, problem.lower, problem.upper)
        np.testing.assert_array_equal(find_certificate(sparse), find_certificate(problem))


def test_units_do_not_hide_a_contradiction(rng):
    for seed in range(20):
        base = random_lcp("infeasible", 6, seed=seed)
        R, C = 10.0 ** rng.uniform(-6, 6, 6), 10.0 ** rng.uniform(-6, 6, 6)
        problem = MixedLCP(R[:, None] * base.M_dense * C, R * base.q)
        assert find_certificate(problem) is not None
