import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe import Layout, MixedLCP, OptionError, Status
from mcpframe.problem.generators import contact_lcp, random_lcp
from mcpframe.solvers.pgs.blocks import contact_groups, coupled_groups, make_blocks
from mcpframe.solvers.pgs.method import PGS
from mcpframe.solving.plugin import Request

INF = np.inf
SAME = 1e-7
"""Distance of two points of residual 1e-9 in problems whose condition numbers are below 100."""
ROUNDING = 1e-13
"""Residual, relative to 1 + max |q|, that a polished answer has at most in these problems."""


def definite(n, rng, **bounds):
    A = rng.standard_normal((n, n))
    return MixedLCP(A @ A.T + n * np.eye(n), rng.standard_normal(n), **bounds)


def obstacle(n):
    """A string over an obstacle: tridiagonal, n rows."""
    K = sp.diags_array([-np.ones(n - 1), 2.0 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1], format="csr")
    x = np.linspace(-1.0, 1.0, n)
    return MixedLCP(K, np.full(n, 0.5 / n**2), 0.3 - x**2, INF)


def step_with_velocities(rng, n_u=3):
    """A contact step that keeps its velocities: free rows Mass v = G beta + f, zero diagonals elsewhere."""
    G, mass = rng.standard_normal((6, 3 * n_u)), np.diag(rng.uniform(1.0, 3.0, 6))
    E_hat = np.kron(np.eye(n_u), [[0.0], [1.0], [1.0]])
    E_bar = np.kron(np.eye(n_u), [[0.5, -1.0, -1.0]])
    G[:, 2::3] = -G[:, 1::3]
    zero = np.zeros
    M = np.block(
        [
            [mass, -G, zero((6, n_u))],
            [G.T, zero((3 * n_u, 3 * n_u)), E_hat],
            [zero((n_u, 6)), E_bar, zero((n_u, n_u))],
        ]
    )
    q = np.r_[-mass @ rng.standard_normal(6), zero(4 * n_u)]
    return MixedLCP(M, q, np.r_[np.full(6, -INF), zero(4 * n_u)])


@pytest.mark.parametrize("omega", [0.5, 1.0, 1.5])
def test_sweeps_alone_converge_on_definite_problems(rng, omega):
    for _ in range(10):
        problem = definite(8, rng, lower=np.r_[-INF, -np.ones(7)], upper=np.r_[INF, np.full(7, 0.01)])
        found = mf.solve(problem, "pgs", omega=omega, polish=False, throw=True)
        np.testing.assert_allclose(found.z, mf.solve(problem, "enum").z, atol=SAME)


@pytest.mark.parametrize("kind", ["p_matrix", "monotone", "free", "box", "mixed", "contact", "scaled"])
def test_small_problems_are_solved_to_rounding(kind):
    for seed in range(15):
        problem = random_lcp(kind, 8, seed=seed)
        solution = mf.solve(problem, "pgs", throw=True)
        assert solution.residual <= ROUNDING * (problem.scale + np.abs(problem.M_dense @ solution.z).max())


@pytest.mark.parametrize("family", ["full", "redundant", "boxes", "chain"])
def test_contacts_are_solved_in_every_family(family):
    for n_u in (1, 4, 12):
        assert mf.solve(contact_lcp(n_u, family, seed=n_u), "pgs").ok


def test_contact_sweeps_converge_without_polish():
    problem = contact_lcp(6, "full", seed=1)
    solution = mf.solve(problem, "pgs", polish=False, tol=1e-8, throw=True)
    exact = mf.solve(problem, "lemke", throw=True)
    np.testing.assert_allclose(solution.w, exact.w, atol=1e-5)


def test_contacts_that_are_not_named_are_found_by_their_zero_diagonal():
    problem = contact_lcp(5, "full", n_f=4)
    found = {frozenset(group.tolist()) for group in coupled_groups(problem, max_block=32)}
    assert found == {frozenset(group.tolist()) for group in contact_groups(problem)}


def test_the_same_blocks_give_the_same_bits_whether_named_or_found():
    named = contact_lcp(4, "boxes", seed=2)
    unnamed = MixedLCP(named.M, named.q)
    request = {"polish": False, "max_sweeps": 20}
    found = [mf.solve(problem, "pgs", **request).z for problem in (named, unnamed)]
    np.testing.assert_array_equal(*found)


def test_layout_blocks_are_solved_exactly(rng):
    """Two blocks that do not touch each other: one sweep solves them."""
    A, B = definite(4, rng), definite(5, rng)
    M = np.zeros((9, 9))
    M[:4, :4], M[4:, 4:] = A.M, B.M
    problem = MixedLCP(M, np.r_[A.q, B.q], layout=Layout({"a": 4, "b": 5}))
    assert mf.solve(problem, "pgs", blocks="layout", polish=False, max_sweeps=1).ok


def test_sparse_sweeps_equal_dense_ones():
    problem = obstacle(40)
    dense = MixedLCP(problem.M_dense, problem.q, problem.lower)
    found = [mf.solve(which, "pgs", polish=False, max_sweeps=30).z for which in (problem, dense)]
    np.testing.assert_allclose(*found, atol=1e-14)


def test_overrelaxation_takes_fewer_sweeps_on_an_obstacle_problem():
    """Young's theory: the best omega of a tridiagonal system is well above one."""
    sweeps = [
        mf.solve(obstacle(40), "pgs", omega=omega, polish=False, throw=True).iterations
        for omega in (1.0, 1.8)
    ]
    assert sweeps[1] < 0.5 * sweeps[0]


def test_velocities_are_eliminated(rng):
    for _ in range(5):
        problem = step_with_velocities(rng)
        assert mf.solve(problem, "pgs").ok
        assert mf.solve(MixedLCP(sp.csr_array(problem.M), problem.q, problem.lower), "pgs").ok


def test_fixed_rows_are_never_visited():
    problem = MixedLCP(np.eye(3), [-1.0, -1.0, -1.0], [0.0, 7.0, 0.0], [INF, 7.0, INF])
    assert make_blocks(problem, [np.array([0, 1])]).order.tolist() == [-1, 2]
    np.testing.assert_array_equal(mf.solve(problem, "pgs", throw=True).z, [1.0, 7.0, 1.0])


def test_rows_need_a_positive_diagonal():
    problem = MixedLCP([[1.0, 1.0], [-1.0, 0.0]], [-1.0, 1.0])
    solution = mf.solve(problem, "pgs", blocks="rows")
    assert solution.status is Status.UNSUPPORTED
    assert "M[1, 1] = 0.0 is not positive" in solution.message
    assert mf.solve(problem, "pgs").ok


def test_contact_blocks_need_contacts():
    assert mf.solve(random_lcp("p_matrix", 3), "pgs", blocks="contacts").status is Status.UNSUPPORTED
    assert mf.solve(contact_lcp(2), "pgs", blocks="contacts").ok


def test_groups_too_large_take_damped_steps_and_say_so(rng):
    M = rng.standard_normal((12, 12))
    np.fill_diagonal(M, 0.0)
    problem = MixedLCP(M, -np.ones(12))
    assert make_blocks(problem, coupled_groups(problem, max_block=4)).damped == 12
    solution = mf.solve(problem, "pgs", max_block=4, polish=False, max_sweeps=30)
    assert solution.ok or "12 rows without positive diagonal" in solution.message


def test_a_known_solution_costs_no_sweep():
    problem = random_lcp("p_matrix", 12)
    first = mf.solve(problem, "pgs", throw=True)
    assert mf.solve(problem, "pgs", z0=first.z).iterations == 0
    assert mf.solve(problem, "pgs", basis=first.basis).iterations == 0


def test_the_point_before_the_polish_is_reported():
    solution = mf.solve(obstacle(60), "pgs", throw=True)
    assert solution.relaxed_residual > solution.residual


def test_limits_are_kept_and_told():
    problem = contact_lcp(8, "redundant")
    few = mf.solve(problem, "pgs", max_sweeps=7, polish=False)
    assert few.status is Status.ITERATION_LIMIT
    assert few.iterations == 7
    late = PGS()._solve(problem, Request(1e-12, deadline=0.0))
    assert late.status is Status.TIME_LIMIT


def test_problems_without_solution_end_honestly():
    for seed in range(10):
        solution = mf.solve(random_lcp("infeasible", 5, seed=seed), "pgs")
        assert solution.status in (Status.ITERATION_LIMIT, Status.NUMERICAL)


@pytest.mark.parametrize("options", [{"omega": 2.0}, {"omega": 0.0}, {"blocks": "some"}, {"max_sweeps": 0}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        mf.solve(random_lcp("p_matrix", 2), "pgs", **options)
