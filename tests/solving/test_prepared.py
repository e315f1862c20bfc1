"""Prepared solves: new numbers in place give what `solve` gives, and are judged alike."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.problem.generators import contact_lcp

SOLVERS = [name for name, reason in mf.available_solvers().items() if not reason and name != "enum"]


@pytest.mark.parametrize("name", SOLVERS)
def test_new_numbers_in_place_give_what_solve_gives(name):
    contacts = [contact_lcp(2, "full", seed=seed) for seed in range(3)]
    problems = [mf.MixedLCP(p.M, p.q, p.lower, p.upper) for p in contacts]
    solver = mf.solver(name)
    if solver.why_unsupported(problems[0]):
        pytest.skip("takes other problems")
    prepared = solver.prepare(problems[0])
    for problem in problems:
        prepared.M[:], prepared.q[:] = problem.M, problem.q
        direct = mf.solve(problem, solver)
        assert prepared.solve() is direct.status
        assert prepared.ok
        np.testing.assert_array_equal(prepared.z, direct.z)
        np.testing.assert_array_equal(prepared.w, direct.w)
        assert prepared.residual == direct.scaled_residual


def test_a_warm_solve_begins_with_the_last_basis():
    problem = contact_lcp(6, "full", seed=1)
    prepared = mf.solver("lemke").prepare(problem)
    prepared.solve()
    cold, z = prepared.iterations, prepared.z.copy()
    prepared.q *= 1.0 + 1e-9
    prepared.solve(warm=True)
    assert prepared.ok
    assert prepared.iterations < cold
    np.testing.assert_allclose(prepared.z, z, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["lemke", "auto"])
def test_what_the_kernel_does_not_solve_the_solver_is_asked_for(name):
    # Free rows whose block is singular: no path, but a neighbouring problem leads to the solution.
    M = np.array([[1.0, 0.0, -1.0], [-1.0, 0.0, -1.0], [1.0, 0.0, 1.0]])
    problem = mf.MixedLCP(M, [0.0, 1.0, -1.0], [-np.inf, -np.inf, 0.0])
    prepared = mf.solver(name).prepare(problem)
    assert prepared.solve() is mf.Status.SOLVED
    prepared.M[:], prepared.lower[:] = 0.0, 0.0
    assert prepared.solve() in (mf.Status.RAY, mf.Status.INFEASIBLE)
    assert not prepared.ok
    assert prepared.residual == pytest.approx(0.5)  # w = -1 over 1 + |q|


def test_an_answer_becomes_a_solution_of_its_own():
    problem = contact_lcp(2, "full", seed=0)
    prepared = mf.solver("lemke").prepare(problem)
    prepared.solve()
    solution = prepared.solution()
    assert solution.ok
    assert mf.solve(problem, "lemke", basis=solution.basis).ok
    prepared.z[:] = 0.0
    assert solution.z.any()
    prepared.q[0] = np.nan
    with pytest.raises(mf.ProblemError, match="q"):
        prepared.problem()


def test_misuse_is_refused():
    with pytest.raises(mf.ProblemError, match="takes a MixedLCP"):
        mf.solver("lemke").prepare(np.eye(2))
    with pytest.raises(mf.OptionError, match="tol"):
        mf.solver("lemke").prepare(contact_lcp(1), tol=0.0)
