"""The path solver: its paths, its search, its log, its honesty."""

from itertools import pairwise, product
from time import perf_counter

import numpy as np
import pytest
from literature_mcps import CASES, LITERATURE, bratu_obstacle, case_name, mcp

import mcpframe as mf
from mcpframe import MixedLCP, Status
from mcpframe.problem.generators import FAMILIES, contact_lcp, random_lcp
from mcpframe.solvers.lemke.kernels import ENDED, PIVOT_LIMIT, SINGULAR
from mcpframe.solvers.path.crash import crash
from mcpframe.solvers.path.linear import LinearPath, basis_of
from mcpframe.solvers.path.log import MajorLine, RunLine
from mcpframe.solvers.path.method import PATH_NAMES
from mcpframe.solvers.path.search import Majors, Watchdog
from mcpframe.solvers.shared.multistart import EndLine
from mcpframe.solvers.shared.scaled_model import scaled_model
from mcpframe.solving.solution import AT_LOWER, AT_UPPER, BASIC

ON_PATH = 1e-9
"""Distance from the path, relative to the data (near one), that a well-conditioned dictionary may have."""
LISTED = 1e-5
"""Solutions are listed to five decimals, and singular ones are found to the root of the residual."""
LIMIT = 1000
"""Pivots: more than any of these small problems needs."""


def random_path(rng, n):
    """Return the path of a positive definite mixed LCP from a random complementary point."""
    A = rng.standard_normal((n, n))
    M, q = A @ A.T / n + 0.5 * np.eye(n) + 0.3 * (A - A.T), rng.standard_normal(n)
    lower = np.where(rng.random(n) < 0.3, -np.inf, rng.uniform(-1.0, 0.0, n))
    upper = np.where(rng.random(n) < 0.4, np.inf, rng.uniform(0.1, 1.0, n))
    z = np.clip(rng.standard_normal(n), lower, upper)
    size = rng.uniform(0.1, 2.0, n)
    w = np.where(z <= lower, size, np.where(z >= upper, -size, 0.0))
    return LinearPath(M, q, lower, upper, z, w, np.zeros(1, np.int64))


def majors(problem, z, **changes):
    """Return a run on the unscaled problem and its first iterate."""
    model = scaled_model(problem, np.asarray(z, float), scaled=False)
    options = {"memory": 5, "watchdog": 4, "max_pivots": LIMIT, "goal": 1e-11, "deadline": np.inf} | changes
    run = Majors(model, **options, stop=np.zeros(1, np.int64), trace=[])
    return run, run.start(model.project(np.asarray(z, float)), 0.0)


@pytest.mark.parametrize("n", [1, 3, 8, 20])
def test_every_point_of_a_path_solves_the_problem_of_its_parameter(n, rng):
    for _ in range(20):
        path = random_path(rng, n)
        for t in (0.1, 0.5, 0.9, 1.0):
            end = path.to(t, LIMIT)
            assert end.ended == ENDED
            assert end.t == pytest.approx(t, abs=1e-12)
            w = path.M @ end.z + path.q - (1.0 - end.t) * path.r
            np.testing.assert_allclose(w, end.w, atol=ON_PATH)
            problem = MixedLCP(path.M, path.q - (1.0 - end.t) * path.r, path.lower, path.upper)
            assert problem.certify(end.z)[2] < ON_PATH


def test_a_path_starts_at_its_point(rng):
    path = random_path(rng, 12)
    end = path.to(1e-9, LIMIT)
    np.testing.assert_allclose(end.z, path.z, atol=1e-6)
    np.testing.assert_allclose(end.w, path.w, atol=1e-6)


def test_the_end_of_a_path_as_start_needs_no_pivot_beyond_the_end(rng):
    path = random_path(rng, 12)
    end = path.to(1.0, LIMIT)
    again = LinearPath(path.M, path.q, path.lower, path.upper, end.z, end.w, path.stop).to(1.0, LIMIT)
    np.testing.assert_allclose(again.z, end.z, atol=ON_PATH)
    assert again.pivots <= 1


def test_a_path_cut_short_by_the_pivot_limit_ends_on_the_path(rng):
    path = random_path(rng, 20)
    whole = path.to(1.0, LIMIT)
    part = path.to(1.0, whole.pivots // 2)
    assert part.ended == PIVOT_LIMIT
    assert 0.0 <= part.t < 1.0
    np.testing.assert_allclose(path.M @ part.z + path.q - (1.0 - part.t) * path.r, part.w, atol=ON_PATH)


def test_a_singular_basis_is_reported_and_the_point_does_not_move():
    z = np.array([1.0, 1.0])
    path = LinearPath(
        np.ones((2, 2)), -np.ones(2), np.zeros(2), np.full(2, np.inf), z, np.zeros(2), np.zeros(1, np.int64)
    )
    end = path.to(1.0, LIMIT)
    assert (end.ended, end.t) == (SINGULAR, 0.0)
    np.testing.assert_array_equal(end.z, z)


def test_a_row_that_rests_in_z_and_w_is_nonbasic():
    codes = basis_of(np.array([0.0, 0.0, 0.5, 1.0]), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(4), np.ones(4))
    np.testing.assert_array_equal(codes, [AT_LOWER, AT_LOWER, BASIC, AT_UPPER])


def test_the_crash_finds_the_active_set_and_never_raises_the_merit():
    problem = bratu_obstacle(8)
    run, start = majors(problem, np.zeros(64))
    crashed = crash(run, start, 20)
    assert crashed.merit < 1e-2 * start.merit
    solution = mf.solve(problem, "path")
    np.testing.assert_array_equal(crashed.z == 0.45, solution.z == 0.45)
    assert [record.kind for record in run.trace] == ["C"] * len(run.trace)


def test_full_newton_steps_converge_quadratically_near_a_regular_solution():
    run, start = majors(LITERATURE[0].problem, [1.3, 0.0, 0.0, 0.6])
    assert run.run(start, 10) == "converged"
    merits = [record.merit for record in run.trace]
    assert len(merits) <= 5
    assert all(after <= 10.0 * before**2 for before, after in pairwise(merits) if before > 1e-6)


def test_the_watchdog_trusts_and_goes_back_to_its_checkpoint():
    run, start = majors(LITERATURE[0].problem, np.zeros(4))
    run.run(start, 50)
    trusting = [record.kind for record in run.trace]
    monotone, start = majors(LITERATURE[0].problem, np.zeros(4), watchdog=0, memory=1)
    monotone.run(start, 50)
    assert "W" in trusting
    assert "W" not in [record.kind for record in monotone.trace]
    merits = [record.merit for record in monotone.trace]
    assert all(after < before for before, after in pairwise(merits))


def test_a_checkpoint_compares_with_the_largest_of_the_last_merits():
    _, at = majors(LITERATURE[0].problem, np.ones(4))
    at.merit = 4.0
    watch = Watchdog(at, memory=2)
    for merit in (1.0, 2.0):
        _, other = majors(LITERATURE[0].problem, np.ones(4))
        other.merit = merit
        watch.move_to(other)
    assert watch.reference == 2.0
    assert watch.lowers(watch.checkpoint, 1.0) is False


@pytest.mark.parametrize(("entry", "start"), CASES, ids=case_name)
def test_literature_problems_are_solved_from_every_start(entry, start):
    solution = mf.solve(entry.problem, "path", z0=entry.starts[start])
    assert solution.ok
    assert entry.distance(solution.z) < LISTED


@pytest.mark.parametrize(("family", "n_u"), list(product(FAMILIES, (4, 8, 16))))
def test_one_path_solves_a_contact_problem(family, n_u):
    for seed in range(3):
        problem = contact_lcp(n_u, family, seed=seed)
        solution = mf.solve(problem, "path")
        assert solution.ok
        assert solution.iterations == 1


@pytest.mark.parametrize("n", [5, 20, 40])
def test_one_path_solves_any_problem_in_a_compact_box(n):
    for seed in range(5):  # fixed variables among them
        solution = mf.solve(random_lcp("box", n, seed=seed), "path", max_minors=100 * n)
        assert solution.ok
        assert solution.iterations <= 2


def test_a_singular_jacobian_is_met_with_a_proximal_perturbation():
    problem = mcp(2, lambda z: [z[0] + z[1] - 1.0 + (z[0] - z[1]) ** 3, z[0] + z[1] - 1.0])
    solution = mf.solve(problem, "path", z0=[2.0, 2.0])
    assert solution.ok
    assert any(record.prox > 0.0 for record in solution.trace if isinstance(record, MajorLine))


def test_the_trap_at_zero_defeats_a_single_run_and_not_the_restarts():
    trap = LITERATURE[2]
    single = mf.solve(trap.problem, "path", z0=[0.0], restarts=0)
    assert single.status is Status.NUMERICAL
    assert "local minimum" in single.message
    assert mf.solve(trap.problem, "path", z0=[0.0]).ok


def test_many_free_rows_are_eliminated_and_come_back(rng):
    n_free, n = 150, 200
    A = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.05)
    M = A @ A.T + np.eye(n)
    lower = np.where(np.arange(n) < n_free, -np.inf, 0.0)
    problem = MixedLCP(M, rng.standard_normal(n), lower)
    solution = mf.solve(problem, "path")
    assert solution.ok
    np.testing.assert_allclose(solution.z, mf.solve(problem, "newton").z, atol=1e-7)
    assert (solution.basis[:n_free] == BASIC).all()


def test_a_warm_start_takes_fewer_pivots():
    problem = contact_lcp(16, "full", seed=2)
    cold = mf.solve(problem, "path")
    near = MixedLCP(problem.M, problem.q * (1.0 + 1e-3 * np.cos(np.arange(problem.n))))
    warm, again = (mf.solve(near, "path", basis=cold.basis), mf.solve(near, "path"))
    assert warm.ok
    assert pivots(warm) < pivots(again) / 3
    assert mf.solve(problem, "path", z0=cold.z).iterations == 0


def pivots(solution):
    return sum(record.minor for record in solution.trace if isinstance(record, MajorLine))


def test_the_log_reads_like_paths():
    solution = mf.solve(LITERATURE[0].problem, "path", z0=[1.0, 0.0, 1.0, 0.0])
    run, first, *_, end = solution.trace
    assert isinstance(run, RunLine)
    assert isinstance(first, MajorLine)
    assert isinstance(end, EndLine)
    lines = solution.log().splitlines()
    assert lines[0].startswith("type: I start, C crash")
    assert lines[3].split() == [
        "major",
        "minor",
        "func",
        "grad",
        "residual",
        "step",
        "type",
        "prox",
        "inorm",
        "(label)",
    ]
    columns = lines[4].split()
    assert len(columns) == 10
    assert columns[-1] in {f"(z[{i}])" for i in range(4)}
    records = [record for record in solution.trace if isinstance(record, MajorLine)]
    assert records[-1].residual == end.residual
    assert [record.func for record in records] == sorted(record.func for record in records)


def test_an_infeasible_problem_is_proved_so():
    solution = mf.solve(MixedLCP([[0.0, 1.0], [-1.0, 0.0]], [1.0, -1.0]), "path")
    assert solution.status is Status.INFEASIBLE
    assert solution.farkas is not None


def test_a_deadline_ends_the_search_with_the_best_point(rng):
    problem = MixedLCP(rng.standard_normal((300, 300)), -np.ones(300))
    start = perf_counter()
    solution = mf.solve(problem, "path", time_limit=0.05)
    assert solution.status is Status.TIME_LIMIT
    assert np.isfinite(solution.residual)
    assert perf_counter() - start < 2.0


@pytest.mark.parametrize(
    "problem", [contact_lcp(8, "redundant", seed=3), LITERATURE[0].problem], ids=["lcp", "mcp"]
)
def test_the_same_problem_gives_the_same_bits(problem):
    first, second = (mf.solve(problem, "path") for _ in range(2))
    assert first.z.tobytes() == second.z.tobytes()
    assert [str(record) for record in first.trace] == [str(record) for record in second.trace]


def test_options_are_known_by_the_names_that_path_gives_them():
    values = {ours: 3 + k for k, ours in enumerate(PATH_NAMES)}
    theirs = {PATH_NAMES[ours]: value for ours, value in values.items()}
    assert mf.solver("path", **theirs) == mf.solver("path", **values)
    with pytest.raises(mf.OptionError, match="major_iteration_limit = 0.*greater than or equal to 1"):
        mf.solver("path", major_iteration_limit=0)
    with pytest.raises(mf.OptionError, match="convergence_tolerance.*tol of mf.solve"):
        mf.solver("path", convergence_tolerance=1e-6)
