"""Auto: the right method answers, says so, and the others come in when it fails."""

from dataclasses import replace

import casadi
import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe.problem.generators import FAMILIES, contact_lcp, contact_system
from mcpframe.solvers import auto
from mcpframe.solvers.auto import Auto


@pytest.mark.parametrize("family", FAMILIES)
def test_contact_problems_are_answered_by_pivoting(family):
    for seed in range(10):
        solution = mf.solve(contact_lcp(6, family, seed=seed), "auto")
        assert solution.ok
        assert (solution.solver, solution.method) == ("auto", "lemke")


def test_a_problem_without_a_solution_is_proved_to_have_none():
    problem = mf.MixedLCP([[0.0, 0.0], [0.0, 1.0]], [-1.0, -1.0])
    solution = mf.solve(problem, "auto")
    assert solution.status is mf.Status.INFEASIBLE
    y = solution.farkas
    assert (y >= 0).all()
    assert (problem.M.T @ y <= 1e-12).all()
    assert y @ problem.q < 0


def test_a_tiny_problem_is_denied_though_no_certificate_of_farkas_exists():
    # w = (z2 - 1, 1): the second row asks for z2 = 0, and then w1 = -1; z2 = 1 alone has all signs right.
    solution = mf.solve(mf.MixedLCP([[0.0, 1.0], [0.0, 0.0]], [-1.0, 1.0]), "auto")
    assert (solution.status, solution.method) == (mf.Status.INFEASIBLE, "enum")
    assert solution.farkas is None
    assert "4 complementary bases" in solution.message


def test_a_fallback_answers_where_pivoting_cannot(monkeypatch):
    # Three equations for two unknowns and a free variable that occurs nowhere: singular, but consistent.
    M = np.array([[1.0, 0.0, -1.0], [-1.0, 0.0, -1.0], [1.0, 0.0, 1.0]])
    problem = mf.MixedLCP(M, [0.0, 1.0, -1.0], [-np.inf, -np.inf, 0.0])
    pivoting = auto.Lemke(attempts=1)
    assert not mf.solve(problem, pivoting).ok
    monkeypatch.setattr(auto, "LEMKE", pivoting)
    solution = mf.solve(problem, "auto")
    assert solution.ok
    assert solution.method != "lemke"
    assert not mf.solve(problem, "auto", fallbacks=False).ok


def test_a_failure_tells_what_every_method_said():
    # z^2 + 1 = 0 has no solution; only nonlinear methods apply.
    z = casadi.SX.sym("z")
    problem = mf.MCP(casadi.Function("F", [z], [z**2 + 1]), -np.inf, np.inf)
    solution = mf.solve(problem, "auto", time_limit=20.0)
    assert not solution.ok
    assert "newton" in solution.message
    assert "path" in solution.message


def test_nonlinear_problems_go_to_newton():
    z = casadi.SX.sym("z", 2)
    F = casadi.Function("F", [z], [casadi.vertcat(z[0] ** 2 - 2, z[1] + z[0])])
    solution = mf.solve(mf.MCP(F), "auto")
    assert solution.ok
    assert solution.method == "newton"
    np.testing.assert_allclose(solution.z, [np.sqrt(2.0), 0.0], atol=1e-8)


def test_a_warm_start_is_used():
    problem = contact_lcp(16, "full", seed=0)
    cold = mf.solve(problem, "auto")
    warm = mf.solve(problem, "auto", basis=cold.basis)
    assert warm.iterations == 1
    assert cold.iterations > 10


def test_large_sparse_problems_avoid_dense_pivoting():
    # Obstacle problem on a line: tridiagonal, n = 600.
    n = 600
    M = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    problem = mf.MixedLCP(sp.csr_array(M), np.sin(np.linspace(0.0, 9.0, n)) / n)
    solution = mf.solve(problem, "auto")
    assert solution.ok
    assert solution.method == "newton"


def test_very_large_sparse_problems_go_to_the_interior_point_method():
    n = 6000
    M = sp.diags_array([-np.ones(n - 1), 2.0 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    solution = mf.solve(mf.MixedLCP(M, np.sin(np.linspace(0.0, 90.0, n)) / n), "auto")
    assert solution.ok
    assert solution.method == "ipm"


@pytest.mark.parametrize("mu", [1.0, 3.0, 10.0])
def test_contacts_between_masses_that_differ_by_twelve_decades_are_solved(mu):
    # M z + q adds up terms of 1e8 and more: solutions right to the last bit are off by 1e-8 and more.
    for family in ("full", "redundant"):
        system = contact_system(4, family, seed=103)
        unit = 1e12 ** (0.5 * np.random.default_rng([3, 4]).random(system.v_minus.size) - 0.25)
        inverse = unit[:, None] * system.mass_inverse * unit
        problem = replace(system, mass_inverse=inverse, mu=np.full(4, mu)).problem()
        assert mf.solve(problem, "auto").ok


def test_the_default_solver_is_auto():
    assert mf.solve(mf.MixedLCP([[1.0]], [-9.8])).solver == Auto.name
