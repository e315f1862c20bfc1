"""Lemke: literature problems, bounds and free rows, warm starts, rays, limits."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe.problem.generators import FAMILIES, contact_lcp
from mcpframe.solvers.lemke.kernels import RELAX
from mcpframe.solvers.lemke.method import suggested_codes
from mcpframe.solvers.shared.free_rows import eliminate_free_rows
from mcpframe.solving.solution import AT_LOWER, AT_UPPER, BASIC

ROUNDING = 1e-11
"""Residual relative to |q| that a basis' exact point stays below on problems of moderate condition."""


def relative_residual(problem, z):
    """Natural residual over |q|, computed apart from the framework."""
    w = problem.M @ z + problem.q
    step = z - np.clip(z - w, problem.lower, problem.upper)
    return np.abs(step).max(initial=0.0) / np.abs(problem.q).max(initial=1e-300)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_u", [1, 4, 8, 16, 32])
def test_every_contact_problem_is_solved_to_rounding(family, n_u):
    for seed in range(40 if n_u < 16 else 5):
        problem = contact_lcp(n_u, family, seed=seed)
        solution = mf.solve(problem, "lemke")
        assert solution.ok
        assert relative_residual(problem, solution.z) <= ROUNDING


def test_murtys_example_is_solved_though_the_standard_path_is_exponential():
    # Murty 1978: M lower triangular, 2 below the diagonal, q = -1; the path from d = e has 2^n - 1 pivots.
    n = 40
    M = np.tril(np.full((n, n), 2.0), -1) + np.eye(n)
    solution = mf.solve(mf.MixedLCP(M, -np.ones(n)), "lemke")
    assert solution.ok
    np.testing.assert_allclose(solution.z, np.eye(n)[0], atol=ROUNDING)


def test_kostrevas_cycling_example_does_not_cycle():
    # Kostreva 1979: the least-index-free rule cycles on this P-matrix with degenerate q.
    M = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]])
    for q in ([-1.0, -1.0, -1.0], [-1.0, 0.0, -1.0], [0.0, 0.0, -1.0]):
        solution = mf.solve(mf.MixedLCP(M, q), "lemke", attempts=1)
        assert solution.ok
        assert solution.iterations <= 8


def test_a_ray_is_reported_with_a_direction_that_keeps_all_signs():
    # w = M z + q + d t along the ray: z >= 0, M z + d tau >= 0 for some tau >= 0, complementary.
    problem = mf.MixedLCP([[0.0, 0.0], [0.0, 0.0]], [-1.0, 0.0])
    solution = mf.solve(problem, "lemke")
    assert solution.status is mf.Status.RAY
    assert solution.ray is not None
    assert (solution.ray >= 0).all()
    assert np.abs(solution.ray).max() == pytest.approx(1.0)


def test_bounds_are_native_a_variable_crosses_without_a_pivot():
    # min 1/2 z'z + q'z on a box: z = clip(-q, l, u); rows that end at u need no basis change.
    q = np.array([-10.0, 10.0, -0.5, -10.0])
    problem = mf.MixedLCP(np.eye(4), q, [0.0, 0.0, 0.0, -1.0], [1.0, 1.0, 1.0, 3.0])
    solution = mf.solve(problem, "lemke", attempts=1)
    np.testing.assert_allclose(solution.z, [1.0, 0.0, 0.5, 3.0], atol=ROUNDING)
    assert list(solution.basis) == [AT_UPPER, AT_LOWER, BASIC, AT_UPPER]


@pytest.mark.parametrize("seed", range(30))
def test_mixed_bounds_agree_with_the_flipped_and_shifted_plain_problem(seed):
    """z = s y + b with s = -1 on some rows turns lower into upper bounds; the answer must follow."""
    rng = np.random.default_rng(seed)
    n = 8
    A = rng.standard_normal((n, n))
    M, q = A @ A.T + np.eye(n), rng.standard_normal(n)
    s, b = np.where(rng.random(n) < 0.5, -1.0, 1.0), rng.standard_normal(n)
    plain = mf.solve(mf.MixedLCP(M, q), "lemke")
    flipped = mf.MixedLCP(
        s[:, None] * M * s,
        s * (q - M @ (s * b)),
        np.where(s > 0, b, -np.inf),
        np.where(s > 0, np.inf, b),
    )
    other = mf.solve(flipped, "lemke")
    assert plain.ok
    assert other.ok
    np.testing.assert_allclose(s * (other.z - b), plain.z, atol=1e-10)


def test_free_rows_are_equations_however_many_there_are(rng):
    for n_free in (3, 20, 80):  # the last one goes through the sparse elimination
        n = n_free + 12
        A = rng.standard_normal((n, n))
        lower = np.r_[np.full(n_free, -np.inf), np.zeros(12)]
        problem = mf.MixedLCP(A @ A.T / n + np.eye(n), rng.standard_normal(n), lower)
        solution = mf.solve(problem, "lemke")
        assert solution.ok
        assert np.abs(solution.w[:n_free]).max() <= ROUNDING
        assert (solution.basis[:n_free] == BASIC).all()


def test_the_order_of_free_and_bounded_rows_does_not_matter(rng):
    n = 20
    A = rng.standard_normal((n, n))
    M, q = A @ A.T + np.eye(n), rng.standard_normal(n)
    lower = np.where(np.arange(n) % 3 == 0, -np.inf, 0.0)
    mixed = mf.solve(mf.MixedLCP(M, q, lower), "lemke", attempts=1)
    order = np.argsort(lower == -np.inf, kind="stable")  # free rows last
    sorted_rows = mf.MixedLCP(M[np.ix_(order, order)], q[order], lower[order])
    last = mf.solve(sorted_rows, "lemke", attempts=1)
    assert mixed.ok
    assert mixed.iterations == last.iterations
    np.testing.assert_allclose(mixed.z[order], last.z, atol=ROUNDING)


def test_a_saddle_point_without_a_regular_free_block_is_solved_by_paired_pivots():
    # z_1 + z_2 = 1 with a free multiplier: M_ff = 0, so it can only enter together with another pair.
    M = np.array([[0.0, 1.0, 1.0], [-1.0, 2.0, 0.0], [-1.0, 0.0, 1.0]])
    problem = mf.MixedLCP(M, [-1.0, 0.0, 0.0], [-np.inf, 0.0, 0.0])
    solution = mf.solve(problem, "lemke")
    assert solution.ok
    np.testing.assert_allclose(solution.z, [2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0], atol=ROUNDING)


def test_redundant_equations_are_kept_and_contradicting_ones_are_not_solved():
    M = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    lower = [-np.inf, -np.inf, 0.0]
    assert mf.solve(mf.MixedLCP(M, [-1.0, -1.0, -1.0], lower), "lemke").ok
    assert not mf.solve(mf.MixedLCP(M, [-1.0, -2.0, -1.0], lower), "lemke").ok


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_problem_costs_one_step_from_its_own_basis_or_point(family):
    problem = contact_lcp(8, family, seed=3)
    cold = mf.solve(problem, "lemke")
    warm = mf.solve(problem, "lemke", basis=cold.basis)
    assert warm.ok
    assert warm.iterations == 1
    from_point = mf.solve(problem, "lemke", z0=cold.z)
    assert from_point.ok


def test_a_neighbour_costs_a_few_pivots(rng):
    for seed in range(20):
        problem = contact_lcp(16, "full", seed=seed)
        cold = mf.solve(problem, "lemke")
        q = problem.q + 1e-6 * np.abs(problem.q).max() * rng.standard_normal(problem.n) * (problem.q != 0)
        warm = mf.solve(mf.MixedLCP(problem.M, q), "lemke", basis=cold.basis)
        assert warm.ok
        assert warm.iterations <= cold.iterations / 5


def test_a_useless_start_does_no_harm(rng):
    problem = contact_lcp(8, "boxes", seed=1)
    for _ in range(20):
        basis = rng.integers(0, 3, problem.n)
        assert mf.solve(problem, "lemke", basis=basis).ok
        assert mf.solve(problem, "lemke", z0=rng.standard_normal(problem.n)).ok


def test_the_pivot_limit_is_a_status_with_the_best_point():
    solution = mf.solve(contact_lcp(8, "full", seed=0), "lemke", max_pivots=3, attempts=1)
    assert solution.status is mf.Status.ITERATION_LIMIT
    assert np.isfinite(solution.z).all()
    assert solution.iterations == 3


def test_the_time_limit_ends_a_long_path():
    # 2^200 pivots ahead: only the clock can end this one.
    n = 200
    M = np.tril(np.full((n, n), 2.0), -1) + np.eye(n)
    solution = mf.solve(mf.MixedLCP(M, -np.ones(n)), "lemke", max_pivots=10**9, attempts=1, time_limit=0.2)
    assert solution.status is mf.Status.TIME_LIMIT
    assert 0.1 <= solution.seconds <= 5.0  # generous: other programs may hold the processor


def test_suggested_codes_follow_the_point():
    problem = mf.MixedLCP(np.eye(3), [-1.0, 2.0, -9.0], 0.0, 5.0)
    assert list(suggested_codes(problem, np.array([1.0, 0.0, 5.0]))) == [BASIC, AT_LOWER, AT_UPPER]


def test_eliminating_free_rows_and_coming_back_gives_the_same_solution(rng):
    n_f, n_c = 30, 10
    n = n_f + n_c
    A = rng.standard_normal((n, n))
    lower = np.r_[np.full(n_f, -np.inf), np.zeros(n_c)]
    problem = mf.MixedLCP(A @ A.T + np.eye(n), rng.standard_normal(n), lower)
    reduction = eliminate_free_rows(problem)
    reduced = mf.solve(reduction.problem, "lemke")
    z = reduction.point(reduced.z)
    np.testing.assert_allclose(z, mf.solve(problem, "lemke").z, atol=1e-10)
    assert relative_residual(problem, z) <= 1e-10


def test_scales_of_150_orders_of_magnitude_do_not_matter():
    problem = contact_lcp(4, "full", seed=0)
    reference = mf.solve(problem, "lemke").z
    for factor in (1e-100, 1e-8, 1e8, 1e100):
        scaled = mf.solve(mf.MixedLCP(problem.M, factor * problem.q), "lemke", tol=1e-12)
        np.testing.assert_allclose(
            scaled.z / factor, reference, rtol=1e-9, atol=1e-9 * np.abs(reference).max()
        )


def test_an_empty_problem_and_a_fully_fixed_one_need_no_pivot():
    assert mf.solve(mf.MixedLCP(np.zeros((0, 0)), []), "lemke").ok
    fixed = mf.solve(mf.MixedLCP([[-1.0]], [3.0], 2.0, 2.0), "lemke")
    assert fixed.ok
    assert fixed.z[0] == 2.0
    assert not math.isnan(fixed.residual)


def saddle(rng):
    """[H, -B'; B, 0] with H semidefinite, rows of B repeated, free and boxed rows, and a known solution."""
    n, m = int(rng.integers(2, 9)), int(rng.integers(1, 5))
    A, B = rng.standard_normal((n, int(rng.integers(1, n + 1)))), rng.standard_normal((m, n))
    B[rng.integers(m)] = B[rng.integers(m)]
    M = np.block([[A @ A.T, -B.T], [B, np.zeros((m, m))]])
    lower = np.where(rng.random(n + m) < 0.5, -np.inf, 0.0)
    upper = np.where(rng.random(n + m) < 0.3, 1.0 + rng.random(n + m), np.inf)
    z, w = np.clip(rng.standard_normal(n + m), lower, upper), np.zeros(n + m)
    at = np.isfinite(lower) & (rng.random(n + m) < 0.4)
    z[at], w[at] = lower[at], rng.random(int(at.sum()))
    return mf.MixedLCP(M, w - M @ z, lower, upper)


def test_saddle_problems_with_singular_blocks_of_free_rows_are_solved():
    # 2 % of them have free rows whose block is singular, with no complementarity row to pair it with.
    for seed in range(300):
        solution = mf.solve(saddle(np.random.default_rng([1, seed])), "lemke")
        assert solution.ok, f"{seed}: {solution!r}"


def test_a_ray_is_called_a_ray_even_where_the_first_path_cycles():
    # Kostreva 1979, problem 2: without a lexicographic rule the path cycles; with it, it ends on a ray.
    problem = mf.MixedLCP([[1, -1, 3], [2, -1, 3], [-1, -2, 0]], [-1, -1, -1])
    for attempts in (1, 2, 7):
        solution = mf.solve(problem, "lemke", attempts=attempts)
        assert solution.status is mf.Status.RAY
        assert (solution.ray >= 0).all()
        assert solution.ray.any()


def test_a_warm_start_is_judged_within_its_bounds():
    # The basis gives z = (-1, 2): off by nothing beside q of 1e60, but at (0, 2) w has the wrong sign.
    M = 1e60 * np.array([[1.0, -0.5], [-0.5, 1.0]])
    solution = mf.solve(mf.MixedLCP(M, -M @ [-1.0, 2.0]), "lemke", basis=[2, 2])
    assert solution.ok
    np.testing.assert_allclose(solution.z, [0.0, 2.5])


def test_where_the_cold_path_ends_on_a_ray_another_start_may_find_the_solution():
    problem = mf.MixedLCP([[-1.0, 2.0], [2.0, -1.0]], [-1.0, -1.0])
    assert mf.solve(problem, "enum").ok
    assert mf.solve(problem, "lemke").ok


def test_what_no_dense_dictionary_holds_is_refused_in_words():
    n = 30_000
    solution = mf.solve(mf.MixedLCP(sp.eye_array(n, format="csr"), -np.ones(n)), "lemke")
    assert solution.status is mf.Status.UNSUPPORTED
    assert "dense dictionary" in solution.message


def test_a_contact_at_a_dead_point_does_not_end_on_a_ray():
    """Of a pendulum of 30 links: the third contact can hardly move along its normal, and all but asks to."""
    A = np.array(
        [
            [4.766370e-01, 1.897980e-01, 2.293440e-01, 3.043644e-01, -8.077320e-08, -6.483632e-01],
            [0.0, 1.440175e00, 1.683759e-01, 1.450100e00, 1.259592e-08, -5.616546e-02],
            [0.0, 0.0, 6.193433e-01, -1.230383e-02, 1.275781e-07, 1.022517e00],
            [0.0, 0.0, 0.0, 1.596807e00, -8.392954e-08, -8.302544e-01],
            [0.0, 0.0, 0.0, 0.0, 5.906386e-14, 5.462642e-07],
            [0.0, 0.0, 0.0, 0.0, 0.0, 4.380783e00],
        ]
    )
    A = A + np.triu(A, 1).T
    b = np.array([-2.325899e-02, 4.710978e-04, -2.271318e-02, 2.261931e-04, 2.472458e-10, 1.385892e-03])
    D = np.kron(np.eye(3), [[1.0, 0.0, 0.0], [0.0, 1.0, -1.0]])
    E, mu = np.kron(np.eye(3), [[0.0], [1.0], [1.0]]), np.kron(np.eye(3), [0.5, -1.0, -1.0])
    M = np.block([[D.T @ A @ D, E], [mu, np.zeros((3, 3))]])
    solution = mf.solve(mf.MixedLCP(M, np.append(D.T @ b, np.zeros(3))), "lemke")
    assert solution.ok
    assert np.abs(solution.z).max() < 1e3  # the ray led to 3e8


def nearly_at_rest(seed, n=20, noise=3e-11):
    """Rows that neither press nor open, but for rounding, beside some that do; M is positive definite."""
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((n, 2 * n))
    M, presses, opens = J @ J.T / n, rng.random(n) < 0.3, rng.random(n) < 0.3
    z, w = np.where(presses, rng.random(n), 0.0), np.where(opens & ~presses, rng.random(n), 0.0)
    return mf.MixedLCP(M, w - M @ z + noise * rng.standard_normal(n))


@pytest.mark.parametrize("seed", [*range(20), 94, 134, 160, 217])
def test_what_paths_pass_bounds_by_does_not_add_up(seed):
    """A path may pass each bound by RELAX for a larger pivot; its end is put right."""
    problem = nearly_at_rest(seed)
    assert mf.solve(problem, "lemke").residual <= RELAX * np.abs(problem.q).max()
