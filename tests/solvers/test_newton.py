"""The semismooth Newton method: its functions, its systems, its runs, its honesty."""

from itertools import product
from time import perf_counter

import numpy as np
import pytest
import scipy.sparse as sp
from literature_mcps import CASES, LITERATURE, bratu_obstacle, case_name, mcp

import mcpframe as mf
from mcpframe import MixedLCP, Status
from mcpframe.problem.generators import contact_lcp, random_lcp
from mcpframe.solvers.newton.descent import DescentLine
from mcpframe.solvers.newton.kernels import FISCHER, MINIMUM, PENALIZED, complementarity_rows
from mcpframe.solvers.newton.method import StartLine
from mcpframe.solvers.newton.system import DenseSystem, SparseSystem
from mcpframe.solvers.shared.multistart import EndLine
from mcpframe.solvers.shared.scaled_model import scaled_model, with_diagonal

KINDS = (FISCHER, PENALIZED, MINIMUM)
BOUNDS = ((-np.inf, np.inf), (-1.0, np.inf), (-np.inf, 2.0), (-1.0, 2.0))
DIFFERENCE = 1e-6
"""Step of central differences: their error is its square times a third derivative."""
SLOPE = 1e-5
"""What remains of that error, relative, where third derivatives are as large as 1e3."""
LISTED = 1e-5
"""Solutions are listed to five decimals, and singular ones are found to the root of the residual."""
SOLVE = 1e-10
"""Relative: two ways to solve a well-conditioned system of order ten."""


def rows(kind, mu, z, F, lower, upper):
    """Return merit, Phi, D_z, D_F."""
    z, F = np.atleast_1d(z).astype(float), np.atleast_1d(F).astype(float)
    lower, upper = np.broadcast_to(lower, z.shape).copy(), np.broadcast_to(upper, z.shape).copy()
    out = np.empty((3, z.size))
    return complementarity_rows(kind, mu, z, F, lower, upper, *out), *out


@pytest.mark.parametrize(("kind", "bounds"), list(product(KINDS, BOUNDS)))
def test_phi_is_zero_exactly_at_the_solutions_of_a_row(kind, bounds):
    lower, upper = bounds
    z, F = (grid.ravel() for grid in np.meshgrid(np.linspace(-2.0, 3.0, 21), np.linspace(-1.0, 1.0, 9)))
    _, Phi, _, _ = rows(kind, 0.0, z, F, lower, upper)
    natural = z - np.clip(z - F, lower, upper)
    np.testing.assert_array_equal(np.abs(Phi) < 1e-14, np.abs(natural) < 1e-14)


@pytest.mark.parametrize(("kind", "bounds", "mu"), list(product(KINDS, BOUNDS, (0.0, 0.3))))
def test_partial_derivatives_are_those_of_differences(kind, bounds, mu, rng):
    z, F = rng.uniform(-1.9, 2.9, 50), rng.uniform(-1.0, 1.0, 50)
    _, _, D_z, D_F = rows(kind, mu, z, F, *bounds)
    h = DIFFERENCE
    by_z = (rows(kind, mu, z + h, F, *bounds)[1] - rows(kind, mu, z - h, F, *bounds)[1]) / (2.0 * h)
    by_F = (rows(kind, mu, z, F + h, *bounds)[1] - rows(kind, mu, z, F - h, *bounds)[1]) / (2.0 * h)
    np.testing.assert_allclose(D_z, by_z, atol=SLOPE)
    np.testing.assert_allclose(D_F, by_F, atol=SLOPE)


def test_phi_keeps_its_digits_beside_a_huge_partner():
    _, Phi, _, _ = rows(FISCHER, 0.0, 1e-14, 1e8, 0.0, np.inf)
    np.testing.assert_allclose(Phi, 1e-14, rtol=1e-9)
    merit, Phi, _, _ = rows(FISCHER, 0.0, 1.0, 1e300, 0.0, np.inf)
    assert Phi[0] == 1.0
    assert merit == 0.5


def test_a_fixed_variable_is_an_equation_for_itself():
    _, Phi, D_z, D_F = rows(FISCHER, 0.0, 1.5, 7.0, 1.0, 1.0)
    assert (Phi[0], D_z[0], D_F[0]) == (0.5, 1.0, 0.0)


def test_the_merit_of_an_undefined_function_is_infinite():
    for F in (np.nan, np.inf, -np.inf):
        assert rows(FISCHER, 0.0, 1.0, F, -np.inf, 2.0)[0] == np.inf


@pytest.mark.parametrize("n", [10, 60])
def test_dense_and_sparse_systems_give_the_same_steps(n, rng):
    J = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.3) + np.diag(rng.uniform(2.0, 3.0, n)) * 4.0
    D_z, D_F, Phi = rng.uniform(0.1, 1.0, n), rng.uniform(0.1, 1.0, n), rng.standard_normal(n)
    H = np.diag(D_z) + D_F[:, None] * J
    expected = {
        "newton": np.linalg.solve(H, -Phi),
        "shifted": np.linalg.solve(H + 0.5 * np.diag(D_F), -Phi),
        "levenberg": np.linalg.solve(H.T @ H + 0.5 * np.eye(n), -H.T @ Phi),
    }
    for system, matrix in ((DenseSystem(n), J), (SparseSystem(n), with_diagonal(sp.csr_array(J)))):
        system.assemble(matrix, D_z, D_F)
        np.testing.assert_allclose(system.gradient(Phi), H.T @ Phi, atol=SOLVE)
        np.testing.assert_allclose(system.newton(Phi), expected["newton"], rtol=SOLVE, atol=SOLVE)
        np.testing.assert_allclose(system.shifted(Phi, 0.5), expected["shifted"], rtol=SOLVE, atol=SOLVE)
        np.testing.assert_allclose(system.levenberg(Phi, 0.5), expected["levenberg"], rtol=SOLVE, atol=SOLVE)


def test_a_singular_newton_matrix_is_reported_not_divided_by():
    zero = np.zeros((3, 3))
    for system, J in ((DenseSystem(3), zero), (SparseSystem(3), with_diagonal(sp.csr_array(zero)))):
        system.assemble(J, np.array([1.0, 0.0, 1.0]), np.ones(3))
        assert system.newton(np.ones(3)) is None


@pytest.mark.parametrize("entry", LITERATURE, ids=case_name)
def test_casadi_jacobians_are_those_of_differences(entry):
    evaluator, z = entry.problem.evaluator(), np.full(entry.problem.n, 0.7)
    h = DIFFERENCE
    J = [(evaluator.F(z + h * e) - evaluator.F(z - h * e)) / (2.0 * h) for e in np.eye(z.size)]
    exact = evaluator.J(z).toarray()
    np.testing.assert_allclose(exact, np.transpose(J), rtol=SLOPE, atol=SLOPE * abs(exact).max())


@pytest.mark.parametrize("scaled", [False, True])
def test_a_scaled_model_is_the_problem_in_other_units(scaled, rng):
    for problem in (contact_lcp(2, "full", seed=1), LITERATURE[1].problem, bratu_obstacle(11)):
        z = rng.uniform(0.0, 0.4, problem.n)
        model, evaluator = scaled_model(problem, z, scaled=scaled), problem.evaluator()
        y = z / model.column
        np.testing.assert_allclose(model.F(y) / model.row, evaluator.F(z), rtol=1e-12, atol=1e-12)
        J = model.J(y).toarray() if model.sparse else model.J(y)
        unscaled = J / model.row[:, None] / model.column
        np.testing.assert_allclose(unscaled, evaluator.J(z).toarray(), rtol=1e-12, atol=1e-14)
        assert model.residual(y, model.F(y)) == pytest.approx(problem.certify(z)[2], rel=1e-12)


@pytest.mark.parametrize(("entry", "start"), CASES, ids=case_name)
def test_literature_problems_are_solved_from_every_start(entry, start):
    solution = mf.solve(entry.problem, "newton", z0=entry.starts[start])
    assert solution.ok
    assert entry.distance(solution.z) < LISTED


@pytest.mark.parametrize("function", ["penalized", "fischer_burmeister", "minimum"])
def test_every_complementarity_function_solves_contact_problems(function):
    for family, seed in product(("full", "redundant"), range(5)):
        assert mf.solve(contact_lcp(4, family, seed=seed), "newton", function=function).ok


def test_the_trap_at_zero_defeats_a_single_run_and_not_the_restarts():
    trap = LITERATURE[2]
    single = mf.solve(trap.problem, "newton", z0=[0.0], restarts=0)
    assert single.status is Status.NUMERICAL
    assert "merit" in single.message
    assert mf.solve(trap.problem, "newton", z0=[0.0]).ok


def test_a_start_where_f_is_undefined_is_left_for_another():
    firms = LITERATURE[3]
    assert not np.isfinite(firms.problem.evaluator().F(np.zeros(5))).all()
    solution = mf.solve(firms.problem, "newton")
    assert solution.ok
    assert "not defined" in solution.message


def test_sparse_and_dense_storage_lead_to_the_same_point():
    problem = bratu_obstacle(11)
    solution = mf.solve(problem, "newton")
    assert solution.ok
    assert (solution.z == 0.45).any()
    J, F = problem.evaluator().J(solution.z), problem.evaluator().F(solution.z)
    linear = [MixedLCP(M, F - J @ solution.z, 0.0, 0.45) for M in (J, J.toarray())]
    for local in linear:
        np.testing.assert_allclose(mf.solve(local, "newton").z, solution.z, atol=1e-9)


def test_the_obstacle_problem_agrees_with_projected_relaxation():
    problem = bratu_obstacle(11)
    evaluator, z = problem.evaluator(), np.zeros(problem.n)
    for _ in range(600):  # damped Jacobi, projected: slow, and nothing of Newton's in it
        z = np.clip(z - 0.24 * evaluator.F(z), 0.0, 0.45)
    np.testing.assert_allclose(mf.solve(problem, "newton").z, z, atol=1e-6)


def test_a_solution_as_start_costs_no_iteration_and_a_neighbour_few():
    problem = random_lcp("p_matrix", 40, seed=2)
    cold = mf.solve(problem, "newton")
    assert mf.solve(problem, "newton", z0=cold.z).iterations == 0
    assert mf.solve(problem, "newton", basis=cold.basis).iterations == 0
    near = MixedLCP(problem.M, problem.q * (1.0 + 1e-3 * np.cos(np.arange(problem.n))))
    for warm in (mf.solve(near, "newton", basis=cold.basis), mf.solve(near, "newton", z0=cold.z)):
        assert warm.ok
        assert warm.iterations < mf.solve(near, "newton").iterations


def test_an_infeasible_problem_is_proved_so():
    solution = mf.solve(MixedLCP([[0.0, 1.0], [-1.0, 0.0]], [1.0, -1.0]), "newton")
    assert solution.status is Status.INFEASIBLE
    assert solution.farkas is not None


def test_a_problem_without_solution_is_not_solved_and_says_how_it_was_tried():
    solution = mf.solve(mcp(2, lambda z: [-1.0 - z[0] ** 2, z[1]]), "newton", restarts=3)
    assert solution.status is Status.NUMERICAL
    assert solution.message.startswith("4 runs: ")


def test_the_trace_tells_every_run_and_every_step():
    solution = mf.solve(LITERATURE[2].problem, "newton", z0=[0.0])
    runs = [record for record in solution.trace if isinstance(record, StartLine)]
    steps = [line for line in solution.trace if isinstance(line, DescentLine)]
    ends = [record for record in solution.trace if isinstance(record, EndLine)]
    assert len(runs) == len(ends) > 1
    assert len(steps) == solution.iterations
    assert ends[-1].polished == solution.residual
    log = solution.log()
    assert "run 1: Newton from the starting point" in log
    assert "smoothing homotopy" in log
    assert len(log.splitlines()) == len(solution.trace) + len(runs)


def test_a_deadline_ends_the_search_with_the_best_point(rng):
    problem = MixedLCP(rng.standard_normal((300, 300)), -np.ones(300))
    start = perf_counter()
    solution = mf.solve(problem, "newton", time_limit=0.05)
    assert solution.status is Status.TIME_LIMIT
    assert np.isfinite(solution.residual)
    assert perf_counter() - start < 2.0


@pytest.mark.parametrize(
    "problem", [contact_lcp(8, "redundant", seed=3), LITERATURE[0].problem], ids=["lcp", "mcp"]
)
def test_the_same_problem_gives_the_same_bits(problem):
    first, second = (mf.solve(problem, "newton") for _ in range(2))
    assert first.z.tobytes() == second.z.tobytes()
    assert [str(record) for record in first.trace] == [str(record) for record in second.trace]


def test_tiny_data_are_solved_to_their_own_scale():
    problem = contact_lcp(4, "full", seed=5)
    tiny = MixedLCP(problem.M, 1e-9 * problem.q)
    assert mf.solve(tiny, "newton").residual <= 1e-9 * abs(tiny.q).max()
