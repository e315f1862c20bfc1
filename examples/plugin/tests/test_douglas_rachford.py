"""Douglas-Rachford splitting beside the built-in solvers, on problems whose class is known."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.problem.generators import contact_lcp, random_lcp
from mcpframe.systems.states import random_state

NAME = "douglas_rachford"
SAME = 1e-6
"""Distance of two points of residual 1e-9 in problems whose condition numbers are below 1e3."""


def definite(seed, n=12):
    """A problem with one solution, its rows bounded on one side, both or none."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n))
    skew = rng.normal(size=(n, n))
    lower = np.where(rng.random(n) < 0.3, -np.inf, rng.normal(size=n) - 1.0)
    upper = np.where(rng.random(n) < 0.5, np.inf, np.maximum(lower, 0.0) + rng.random(n))
    return mf.MixedLCP(B @ B.T / n + np.eye(n) + skew - skew.T, rng.normal(size=n), lower, upper)


@pytest.mark.parametrize("seed", range(20))
def test_it_finds_the_solution_of_lemke_where_there_is_one_only(seed):
    problem = definite(seed)
    expected = mf.solve(problem, "lemke", throw=True).z
    np.testing.assert_allclose(mf.solve(problem, NAME, throw=True).z, expected, rtol=0, atol=SAME)


@pytest.mark.parametrize("kind", ["monotone", "free"])
@pytest.mark.parametrize("n", [1, 4, 16, 64])
def test_it_solves_every_monotone_problem(kind, n):
    for seed in range(5):
        problem = random_lcp(kind, n, seed=seed)
        assert problem.is_psd
        assert mf.solve(problem, NAME).ok


@pytest.mark.parametrize("family", ["full", "redundant", "boxes", "chain"])
def test_it_solves_contact_problems_though_it_does_not_promise_to(family):
    for n_u in (1, 4, 16):
        for seed in range(3):
            assert mf.solve(contact_lcp(n_u, family, seed=seed), NAME).ok


@pytest.mark.parametrize("formulation", mf.available_formulations())
def test_it_gives_a_robot_on_a_treadmill_the_velocity_that_lemke_gives_it(formulation):
    state = random_state(mf.systems.quadruped(), np.random.default_rng(3))
    feet = mf.systems.contacts_of(state, 4, mu=0.5)
    way = mf.formulation(formulation)
    problem, recovery = way.build(
        mf.ContactStep(state, feet, 1e-3, law={"name": "conveyor", "speed_1": -0.5})
    )
    ours, theirs = (way.recover(recovery, mf.solve(problem, name, throw=True)) for name in (NAME, "lemke"))
    np.testing.assert_allclose(ours.theta_dot, theirs.theta_dot, rtol=0, atol=SAME)


def test_started_at_a_solution_it_stays_there():
    problem = definite(0)
    first = mf.solve(problem, NAME, throw=True)
    again = mf.solve(problem, NAME, z0=first.z)
    assert again.ok
    assert again.iterations == 0


def test_the_polish_takes_it_to_rounding_level():
    problem = contact_lcp(16, "boxes", seed=0)
    solution = mf.solve(problem, NAME)
    assert solution.residual <= 1e-12 * problem.scale < solution.relaxed_residual


def test_the_same_problem_gives_the_same_bits():
    problem = contact_lcp(8, "boxes", seed=1)
    assert (mf.solve(problem, NAME).z == mf.solve(problem, NAME).z).all()


@pytest.mark.parametrize(
    ("problem", "options", "status"),
    [
        (random_lcp("infeasible", 4), {"max_iterations": 50}, mf.Status.ITERATION_LIMIT),
        (contact_lcp(16, "chain", seed=0), {"max_iterations": 3}, mf.Status.ITERATION_LIMIT),
        (contact_lcp(16, "chain", seed=0), {"time_limit": 1e-9}, mf.Status.TIME_LIMIT),
        (mf.MixedLCP([[-1.0]], [-1.0]), {"step": 1.0}, mf.Status.NUMERICAL),
        (mf.MixedLCP([[-1.0]], [-1.0]), {"step": 0.4}, mf.Status.NUMERICAL),
    ],
    ids=["no solution", "few iterations", "no time", "singular", "diverges"],
)
def test_where_it_fails_it_says_so(problem, options, status):
    solution = mf.solve(problem, NAME, **options)
    assert solution.claimed is status
    assert not solution.ok


def test_a_problem_without_rows_is_solved():
    assert mf.solve(mf.MixedLCP(np.zeros((0, 0)), np.zeros(0)), NAME).ok
