import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe import MixedLCP, Status
from mcpframe.problem.generators import contact_lcp, random_lcp
from mcpframe.problem.infeasibility import proves_infeasible
from mcpframe.solvers.ipm.interior_point import CENTRALITY, Normalised, Run, start
from mcpframe.solvers.ipm.method import IPM
from mcpframe.solving.plugin import Request

INF = np.inf
FEW = 30
"""Newton steps within which a monotone problem of any size is solved; the docstring's promise."""
ROUNDING = 1e-13
"""Residual, relative to 1 + max |q| and the terms of w, that a polished answer has at most."""
SAME = 1e-9
"""Distance of two polished points in problems whose condition numbers are below 1e3."""


def obstacle(n):
    """A membrane over a paraboloid on an n by n grid."""
    D = sp.diags_array([-np.ones(n - 1), 2.0 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    L = sp.kron(D, sp.eye_array(n)) + sp.kron(sp.eye_array(n), D)
    x = np.linspace(-1.0, 1.0, n)
    height = 0.5 - np.add.outer(x**2, x**2).ravel()
    return MixedLCP(sp.csr_array(L), np.full(n * n, 1e-3), height, INF)


def sparse_quadratic_program(n, m, rng):
    """min x'Hx/2 + c'x over A x >= b, half of x in a box, half free, with a feasible point."""
    H = sp.diags_array(rng.integers(0, 2, n).astype(float))
    A = sp.random_array((m, n), density=3.0 / n, random_state=rng, format="csr")
    M = sp.block_array([[H + 1e-3 * sp.eye_array(n), -A.T], [A, None]], format="csr")
    b = A @ rng.uniform(-1.0, 1.0, n) - rng.random(m)
    q = np.r_[rng.standard_normal(n), -b]
    lower, upper = np.zeros(n + m), np.full(n + m, INF)
    lower[: n // 2], upper[: n // 2] = -1.0, 1.0
    lower[n // 2 : n] = -INF
    return MixedLCP(M, q, lower, upper)


def normalised(rng, n=6):
    A = rng.standard_normal((n, n))
    lower, upper = np.r_[0.0, 0.0, -INF, -1.0, -INF, 0.0], np.r_[INF, 2.0, 3.0, 1.0, INF, 1e-3]
    return Normalised.make(A @ A.T, rng.standard_normal(n), lower, upper)


def test_agrees_with_enumeration_where_the_solution_is_unique():
    for seed in range(30):
        problem = random_lcp("p_matrix", 7, seed=seed)
        found = mf.solve(problem, "ipm", throw=True)
        np.testing.assert_allclose(found.z, mf.solve(problem, "enum").z, atol=SAME, rtol=SAME)


@pytest.mark.parametrize("kind", ["monotone", "p_matrix", "free", "mixed", "contact"])
@pytest.mark.parametrize("n", [1, 6, 40])
def test_its_classes_are_solved_to_rounding_in_few_steps(kind, n):
    for seed in range(8):
        problem = random_lcp(kind, n, seed=seed)
        solution = mf.solve(problem, "ipm", throw=True)
        assert solution.iterations <= FEW
        assert solution.residual <= ROUNDING * (problem.scale + np.abs(problem.M_dense @ solution.z).max())


def test_badly_scaled_problems_are_solved():
    for seed in range(15):
        assert mf.solve(random_lcp("scaled", 12, seed=seed), "ipm").ok


@pytest.mark.parametrize("family", ["full", "redundant", "boxes", "chain"])
def test_contacts_are_solved_in_every_family(family):
    for n_u in (1, 4, 16):
        assert mf.solve(contact_lcp(n_u, family, seed=n_u), "ipm").ok


def test_a_large_sparse_problem_is_solved():
    solution = mf.solve(obstacle(40), "ipm", throw=True)
    assert solution.iterations <= FEW


def test_a_sparse_quadratic_program_is_solved(rng):
    problem = sparse_quadratic_program(600, 200, rng)
    solution = mf.solve(problem, "ipm", throw=True)
    assert solution.iterations <= FEW


def test_sparse_and_dense_problems_have_the_same_solution():
    sparse = obstacle(8)
    dense = MixedLCP(sparse.M_dense, sparse.q, sparse.lower)
    found = [mf.solve(problem, "ipm", throw=True).z for problem in (sparse, dense)]
    np.testing.assert_allclose(*found, atol=SAME)


@pytest.mark.parametrize("distance", [1e-2, 1.0, 100.0])
def test_every_start_is_strictly_interior(rng, distance):
    problem = normalised(rng)
    point = start(problem, 10.0 * rng.standard_normal(6), distance)
    assert (point.x > problem.lower).all()
    assert (point.x < problem.upper).all()
    assert min(point.s.min(), point.a.min(), point.t.min(), point.b.min()) > 0.0


def test_a_newton_step_satisfies_the_linearised_equations(rng):
    problem = normalised(rng)
    run = Run(problem, start(problem, np.zeros(6), 1.0), deadline=INF)
    p, r = run.point, run.residual()
    g_a, g_b = rng.standard_normal(p.s.size), rng.standard_normal(p.t.size)
    d = run._direction(run._factor(), r, g_a, g_b)
    change = problem.M @ d.x
    change[problem.L] -= d.a
    change[problem.U] += d.b
    np.testing.assert_allclose(change, -r, atol=1e-10)
    np.testing.assert_allclose(p.a * d.s + p.s * d.a, g_a, atol=1e-10)
    np.testing.assert_allclose(p.b * d.t + p.t * d.b, g_b, atol=1e-10)
    np.testing.assert_array_equal(d.t, -d.x[problem.U])


def test_the_run_stays_near_the_central_path(rng):
    problem = normalised(rng)
    run = Run(problem, start(problem, np.zeros(6), 1.0), deadline=INF)
    for steps in range(1, 12):
        run.advance(1e-14, max_iterations=steps)
        products = np.r_[run.point.s * run.point.a, run.point.t * run.point.b]
        assert products.min() >= 0.999 * CENTRALITY * run.point.mu()
    assert run.point.mu() < 1e-6


def test_infeasible_problems_end_with_a_proof():
    for seed in range(10):
        problem = random_lcp("infeasible", 6, seed=seed)
        solution = mf.solve(problem, "ipm")
        assert solution.status is Status.INFEASIBLE
        assert proves_infeasible(problem, solution.farkas)


def test_problems_outside_the_class_end_honestly():
    statuses = set()
    for seed in range(40):
        problem = random_lcp("arbitrary", 5, seed=seed)
        solution, known = mf.solve(problem, "ipm"), mf.solve(problem, "enum")
        assert not (solution.ok and known.status is Status.INFEASIBLE)
        assert not (known.ok and solution.status is Status.INFEASIBLE)
        statuses.add(solution.status)
    assert {Status.SOLVED, Status.INFEASIBLE} <= statuses


def test_fixed_and_free_rows_are_taken():
    problem = MixedLCP([[2.0, 1.0], [1.0, 3.0]], [-4.0, -7.0], [-INF, 1.0], [INF, 1.0])
    np.testing.assert_allclose(mf.solve(problem, "ipm", throw=True).z, [1.5, 1.0])
    assert mf.solve(MixedLCP(np.eye(2), [1.0, 1.0], 3.0, 3.0), "ipm").ok
    assert mf.solve(MixedLCP(np.zeros((0, 0)), []), "ipm").ok


def test_a_solution_given_as_a_start_costs_no_step():
    problem = contact_lcp(6, "redundant")
    known = mf.solve(problem, "ipm", throw=True)
    assert mf.solve(problem, "ipm", z0=known.z).iterations == 0


def test_a_regular_basis_given_as_a_start_costs_no_step():
    problem = random_lcp("p_matrix", 12)
    known = mf.solve(problem, "ipm", throw=True)
    assert mf.solve(problem, "ipm", basis=known.basis).iterations == 0


def test_a_poor_start_does_not_prevent_the_solution(rng):
    for seed in range(10):
        problem = random_lcp("mixed", 10, seed=seed)
        assert mf.solve(problem, "ipm", z0=1e4 * rng.standard_normal(10)).ok


def test_without_polish_the_path_alone_reaches_the_tolerance():
    problem = obstacle(10)
    assert mf.solve(problem, "ipm", polish=False, tol=1e-8).ok


def test_limits_are_kept_and_told():
    problem = obstacle(10)
    few = mf.solve(problem, "ipm", max_iterations=2, starts=1, polish=False)
    assert few.status is Status.ITERATION_LIMIT
    assert few.iterations == 2
    late = IPM()._solve(problem, Request(1e-12, deadline=0.0))
    assert late.status is Status.TIME_LIMIT


def test_every_step_is_recorded_in_print():
    solution = mf.solve(obstacle(6), "ipm", throw=True)
    assert len(solution.log().splitlines()) == solution.iterations
    assert "alpha" in solution.log()
