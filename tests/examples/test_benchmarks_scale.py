"""The large sparse problems, made small: monotone, and solved alike by pivoting and by interior points."""

import numpy as np
import pytest
from benchmark_modules import load

import mcpframe as mf

scale = load("subjects.sparse")


@pytest.mark.parametrize("name", ["obstacle", "bearing", "option"])
def test_a_small_one_is_solved_alike_by_two_methods(name):
    problem = scale.PROBLEMS[name](144)
    pivoting, interior = mf.solve(problem, "lemke"), mf.solve(problem, "ipm")
    assert pivoting.ok
    assert interior.ok
    np.testing.assert_allclose(interior.z, pivoting.z, rtol=1e-7, atol=1e-7)
    at_bound = np.isclose(pivoting.z, problem.lower)
    assert 0 < at_bound.sum() < problem.n  # an obstacle that is touched, and not everywhere


def test_one_measurement_says_time_memory_and_how_it_ended():
    cell = scale.measure("option", 100, "ipm", 60.0)
    assert cell["status"] == "SOLVED"
    assert cell["residual"] <= 1e-8
    assert cell["megabytes"] > 10
