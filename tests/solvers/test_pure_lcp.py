"""A mixed LCP becomes a pure one, and every solution of the one is a solution of the other."""

import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe.problem.generators import random_lcp
from mcpframe.solvers.shared.pure_lcp import pure_lcp

CERTIFIED = 1e-9
"""Residual over scale; a solution goes through one linear solve with a well-conditioned block."""


def mixed(rng, kinds):
    """A problem with free, fixed and bounded rows (below, above, both); M = A A* + 0.1 I + skew."""
    n = len(kinds)
    A, B = rng.standard_normal((2, n, n))
    low = np.array([{"f": -np.inf, "u": -np.inf, "x": 0.3, "l": -0.7, "b": -0.2}[kind] for kind in kinds])
    high = np.array([{"f": np.inf, "l": np.inf, "x": 0.3, "u": 0.4, "b": 0.5}[kind] for kind in kinds])
    return mf.MixedLCP(A @ A.T / n + 0.1 * np.eye(n) + B - B.T, 3.0 * rng.standard_normal(n), low, high)


@pytest.mark.parametrize(
    "kinds", ["l", "u", "b", "x", "f", "fl", "llll", "uuff", "bbbb", "xfbul" * 2, "fffx", "bulf" * 4]
)
def test_a_solution_of_the_pure_problem_is_one_of_the_mixed(rng, kinds):
    """The oracle is the natural residual of the mixed problem, and its own solution, which is unique."""
    for _ in range(10):
        problem = mixed(rng, kinds)
        pure = pure_lcp(problem)
        assert (pure.problem.lower == 0.0).all()
        assert np.isposinf(pure.problem.upper).all()
        x = mf.solve(pure.problem, "lemke", throw=True).z
        z, _, residual = problem.certify(pure.point(x))
        assert residual <= CERTIFIED * problem.scale
        np.testing.assert_allclose(z, mf.solve(problem, "lemke", throw=True).z, atol=1e-6)


def test_all_solutions_of_the_mixed_problem_are_found_and_no_others():
    """min(z, w) problems with several solutions: those of enumeration, pure and mixed, are the same set."""
    problem = mf.MixedLCP([[0.0, 2.0], [1.0, -1.0]], [-1.0, 0.5], [-1.0, -np.inf], [2.0, 1.0])
    pure = pure_lcp(problem)

    def all_of(asked):
        solution = mf.solve(asked, "enum", throw=True)
        return [solution.z, *solution.alternatives]

    found = {tuple(np.round(pure.point(x), 9)) for x in all_of(pure.problem)}
    assert found == {tuple(np.round(z, 9)) for z in all_of(problem)}
    assert len(found) > 1


def test_velocities_of_a_formulation_are_eliminated_and_come_back():
    """`nmc` keeps link velocities and hinge impulses as free rows; `os` has none and moves the same."""
    state = mf.systems.quadruped().state()
    step = mf.ContactStep(state, mf.systems.contacts_of(state, 4, mu=0.5), dt=0.01)
    formulation = mf.formulation("nmc")
    problem, recovery = formulation.build(step)
    pure = pure_lcp(problem)
    assert pure.problem.n == problem.n - problem.free.sum() < problem.n
    z = pure.point(mf.solve(pure.problem, "lemke", throw=True).z)
    assert problem.certify(z)[2] <= CERTIFIED * problem.scale
    with_os, own = mf.formulation("os").build(step)
    expected = mf.formulation("os").recover(own, mf.solve(with_os, throw=True)).theta_dot
    found = formulation.recover(recovery, mf.solve(problem, z0=z, throw=True)).theta_dot
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_sparse_problems_are_taken(rng):
    problem = mixed(rng, "fflbu" * 3)
    sparse = mf.MixedLCP(sp.csr_array(problem.M), problem.q, problem.lower, problem.upper)
    np.testing.assert_allclose(pure_lcp(sparse).problem.M, pure_lcp(problem).problem.M, atol=1e-12)


def test_a_pure_problem_stays_as_it_is():
    problem = random_lcp("p_matrix", 5, seed=1)
    pure = pure_lcp(problem)
    np.testing.assert_array_equal(pure.problem.M, problem.M_dense)
    np.testing.assert_array_equal(pure.problem.q, problem.q)


def test_redundant_equations_are_named():
    problem = mf.MixedLCP(
        [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [1.0, 1.0, -1.0], [-np.inf, -np.inf, 0.0]
    )
    with pytest.raises(mf.ProblemError, match="the block of the 2 free rows of MixedLCP.* is singular"):
        pure_lcp(problem)
