"""The mathematics of smoothing and path following, for cones that Newton's method on modes leaves."""

import numpy as np
import pytest

from mcpframe.problem.friction import FrictionProblem
from mcpframe.problem.generators import contact_system
from mcpframe.solvers.cone.maps import fischer, fischer_value, natural, natural_value
from mcpframe.solvers.cone.newton import levenberg_marquardt, scaled_system
from mcpframe.solvers.cone.path import Arclength, start_point
from mcpframe.solvers.cone.sweeps import gauss_seidel

TIGHT = 1e-12
"""What is polished ends at rounding level."""
STEP, SLOPE = 1e-6, 1e-7
"""Central differences of smooth maps with entries of order one: error of order STEP^2 + 1e-16 / STEP."""


def central_difference(value, x, dx):
    return (value(x + STEP * dx) - value(x - STEP * dx)) / (2.0 * STEP)


@pytest.mark.parametrize("dim", [2, 3])
def test_derivatives_of_both_maps_agree_with_differences(rng, dim):
    r, u = rng.standard_normal((50, dim)), rng.standard_normal((50, dim))
    mu, eps = rng.choice([0.0, 0.3, 1.0], 50), rng.uniform(0.05, 0.2, 50)
    for at, value in (
        (natural(r, u, mu), lambda r, u: natural_value(r, u, mu)),
        (fischer(r, u, mu, eps), lambda r, u: fischer_value(r, u, mu, eps)),
    ):
        for j, e in enumerate(np.eye(dim)):
            by_r = central_difference(lambda x: value(x, u), r, e)  # noqa: B023
            by_u = central_difference(lambda x: value(r, x), u, e)  # noqa: B023
            np.testing.assert_allclose(at.A[:, :, j], by_r, atol=SLOPE)
            np.testing.assert_allclose(at.B[:, :, j], by_u, atol=SLOPE)
    slope = central_difference(lambda tau: fischer_value(r, u, mu, eps * np.exp(tau)), 0.0, 1.0)
    np.testing.assert_allclose(fischer(r, u, mu, eps).slope, slope, atol=SLOPE)


def test_both_maps_vanish_at_a_solution_and_the_smoothed_one_in_the_limit():
    r, u, mu = np.array([[1.0, -0.3, -0.4]]), np.array([[0.0, 2.7, 3.6]]), np.array([0.5])
    assert np.abs(natural_value(r, u, mu)).max() < 1e-15
    norms = [np.linalg.norm(fischer_value(r, u, mu, np.array([eps]))) for eps in (1e-2, 1e-4, 1e-8, 0.0)]
    assert norms == sorted(norms, reverse=True)
    assert norms[-1] < 1e-15


@pytest.mark.parametrize(("n_v", "n_c", "dim", "mu", "seed"), [(3, 3, 2, 4.0, 12), (6, 6, 3, 2.0, 12)])
def test_the_central_path_is_followed_around_its_turns(n_v, n_c, dim, mu, seed):
    # Contacts that wedge each other by high friction: eps must rise again before it can fall to zero.
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((n_v, dim * n_c))
    system = scaled_system(FrictionProblem(J.T @ J, J.T @ rng.standard_normal(n_v), mu, dim))
    r, tau, _ = start_point(system, np.ones(n_c), np.inf)
    walk, taus = Arclength(system, np.ones(n_c), r, tau), []
    walk.walk(np.inf, lambda r, tau: taus.append(tau) or system.residual(r) < 1e-9, 1000)
    assert np.diff(taus).max() > 0.5
    assert levenberg_marquardt(system, walk.r, np.inf).residual < TIGHT


def test_gauss_seidel_sweeps_approach_the_solution():
    problem = contact_system(8, "full", seed=0).exact_problem()
    system = scaled_system(problem)
    r = gauss_seidel(system, np.zeros_like(system.q), 400)
    assert system.residual(r) < 1e-6 * system.residual(np.zeros_like(r))
