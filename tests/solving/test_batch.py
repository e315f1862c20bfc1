"""Batches: the same answers as one by one, whatever the number of workers."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.problem.generators import contact_lcp


@pytest.fixture(scope="module")
def problems():
    return [contact_lcp(1 + seed % 6, "boxes", seed=seed) for seed in range(150)]


@pytest.mark.parametrize("solver", ["lemke", "auto"])
def test_batches_give_the_bits_of_single_solves_with_one_and_with_two_workers(problems, solver):
    single = [mf.solve(problem, solver) for problem in problems]
    for workers in (1, 2):
        batch = mf.solve_many(problems, solver, workers=workers)
        assert all(solution.ok for solution in batch)
        assert all(np.array_equal(a.z, b.z) for a, b in zip(single, batch, strict=True))


def test_stacked_arrays_are_the_same_as_a_list():
    listed = [contact_lcp(4, "full", seed=seed) for seed in range(20)]
    M, q = np.stack([p.M for p in listed]), np.stack([p.q for p in listed])
    for stacked in ((M, q), (M, q, 0.0, np.inf)):
        solutions = mf.solve_many(stacked, "lemke", workers=2)
        expected = mf.solve_many(listed, "lemke", workers=1)
        assert all(np.array_equal(a.z, b.z) for a, b in zip(solutions, expected, strict=True))


def test_warm_starts_go_to_their_problems(problems):
    cold = mf.solve_many(problems, "lemke")
    warm = mf.solve_many(problems, "lemke", bases=[solution.basis for solution in cold])
    assert all(solution.ok for solution in warm)
    assert sum(s.iterations for s in warm) < sum(s.iterations for s in cold) / 2


def test_one_unsolvable_problem_is_a_status_and_leaves_the_others_alone(problems):
    ray = mf.MixedLCP([[0.0]], [-1.0])
    solutions = mf.solve_many([*problems[:5], ray, *problems[5:10]], "lemke")
    assert [solution.ok for solution in solutions] == [True] * 5 + [False] + [True] * 5
    assert solutions[5].status is mf.Status.RAY


def test_a_misfit_is_unsupported_not_an_error(problems):
    casadi = pytest.importorskip("casadi")
    z = casadi.SX.sym("z")
    mcp = mf.MCP(casadi.Function("F", [z], [z - 1]))
    solutions = mf.solve_many([problems[0], mcp], "lemke")
    assert [s.status for s in solutions] == [mf.Status.SOLVED, mf.Status.UNSUPPORTED]


def test_time_limits_hold_for_every_problem_of_a_batch():
    n = 120
    M = np.tril(np.full((n, n), 2.0), -1) + np.eye(n)
    hard = mf.MixedLCP(M, -np.ones(n))
    options = {"max_pivots": 10**9, "attempts": 1}
    solutions = mf.solve_many([hard] * 3, "lemke", workers=1, time_limit=0.1, **options)
    assert [s.status for s in solutions] == [mf.Status.TIME_LIMIT] * 3


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((np.zeros((3, 2, 2)), np.zeros((3, 3))), mf.ProblemError, "expected (k, n, n) and (k, n)"),
        ((np.full((1, 1, 1), np.nan), np.zeros((1, 1))), mf.ProblemError, "M: entry (0, 0, 0) is nan"),
        ((np.ones((2, 1, 1)), np.ones((2, 1)), [[1.0], [3.0]], 2.0), mf.ProblemError, "leave no value"),
        ((np.ones((2, 1, 1)), np.ones((2, 1)), np.zeros(5), 2.0), mf.ProblemError, "does not broadcast"),
        ((np.ones((2, 1, 1)),), mf.ProblemError, "expected (M, q)"),
    ],
)
def test_bad_stacks_are_named(arguments, error, words):
    with pytest.raises(error) as caught:
        mf.solve_many(arguments, "lemke")
    assert words in str(caught.value)


def test_bad_workers_and_starts_are_named(problems):
    with pytest.raises(mf.OptionError, match="workers = 0"):
        mf.solve_many(problems, "lemke", workers=0)
    with pytest.raises(mf.ProblemError, match="2 starts for 150 problems"):
        mf.solve_many(problems, "lemke", bases=[None, None])


def test_an_empty_batch_is_an_empty_list():
    assert mf.solve_many([], "lemke") == []
