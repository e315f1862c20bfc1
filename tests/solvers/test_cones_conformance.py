"""What every solver of exact friction cones owes its users, tested alike for all of them."""

import json
import threading
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe import FrictionProblem, Status
from mcpframe.problem.generators import contact_system
from mcpframe.solving.registry import SOLVERS

SUITE = Path(__file__).parents[3] / "shared" / "suite" / "open"
TAKERS = [
    name
    for name, reason in mf.available_solvers().items()
    if not reason and FrictionProblem in SOLVERS.get(name).problems
]
TIGHT = 1e-9
"""Residual over the problem's scale: the framework's default."""
SAME = 1e-7
"""Distance of two answers with residuals of 1e-11 in problems whose condition numbers are below 100."""
SLACK = 5.0
"""Seconds beyond a time limit, on a busy machine: what is compiled meanwhile is not interrupted."""
SUITE_SECONDS = 20.0

every_taker = pytest.mark.parametrize("name", TAKERS)


def solved(problem, name, **options):
    """The solution, which plain numpy finds to be one: r in K, u + mu |u_t| e_n in its dual, orthogonal."""
    solution = mf.solve(problem, name, **options)
    assert solution.ok, solution
    r, u = (x.reshape(-1, problem.dim) for x in (solution.z, problem.relative_velocities(solution.z)))
    size = TIGHT * max(problem.scale, np.abs(r).max(initial=0.0), np.abs(u).max(initial=0.0))
    slip = np.linalg.norm(u[:, 1:], axis=1)
    lifted = u[:, 0] + problem.mu * slip
    assert (np.linalg.norm(r[:, 1:], axis=1) <= problem.mu * r[:, 0] + size).all()
    assert (u[:, 0] >= -size).all()  # so that lifted it is in the dual cone
    power = r[:, 0] * lifted + np.einsum("ij,ij->i", r[:, 1:], u[:, 1:])
    assert (np.abs(power) <= size * (1.0 + np.abs(r).max(initial=0.0) + np.abs(u).max(initial=0.0))).all()
    return solution


def test_those_who_take_cones_are_known():
    assert {"auto", "cone", "qp"} <= set(TAKERS)


@every_taker
@pytest.mark.parametrize(
    ("v", "r"),
    [((1.0, 3.0, 0.0), (0, 0, 0)), ((-1.0, 0.2, 0.1), (1, -0.2, -0.1)), ((-1.0, 3.0, 4.0), (1, -0.3, -0.4))],
)
def test_one_contact_leaves_sticks_or_slides_as_coulomb_says(name, v, r):
    np.testing.assert_allclose(solved(FrictionProblem(np.eye(3), v, 0.5), name).z, r, atol=1e-12)


@every_taker
@pytest.mark.parametrize("family", ["full", "redundant", "boxes", "chain"])
@pytest.mark.parametrize("n_c", [1, 8])
def test_many_contacts_are_solved(name, family, n_c):
    for seed in range(3):
        solved(contact_system(n_c, family, seed=seed).exact_problem(), name)


@every_taker
@pytest.mark.parametrize("seed", range(3))
def test_the_answer_is_that_of_convex_programs_where_there_is_one(name, seed):
    problem = contact_system(6, "full", seed=seed).exact_problem()
    np.testing.assert_allclose(
        solved(problem, name, tol=1e-11).w, solved(problem, "qp", tol=1e-11).w, atol=SAME
    )


@every_taker
@pytest.mark.parametrize("seed", range(2))
def test_in_the_plane_the_answer_is_that_of_pivoting(name, seed):
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((12, 12))
    problem = FrictionProblem(J @ J.T, rng.standard_normal(12), 0.3, dim=2)
    r = problem.impulses(mf.solve(problem.to_mixed_lcp(), "lemke", throw=True).z)
    np.testing.assert_allclose(solved(problem, name).z, r, atol=SAME)


@every_taker
@pytest.mark.parametrize("mu", [0.0, 1e-12, 0.5, 100.0])
def test_all_friction_coefficients_are_taken(name, mu):
    solved(FrictionProblem(np.eye(6) + 0.2, [-1.0, 2.0, 0.0, -1.0, -1.0, 1.0], mu), name)


@every_taker
@pytest.mark.parametrize("size", [1e-150, 1e-12, 1e12, 1e150])
def test_units_do_not_matter(name, size):
    r = np.array([1.0, -0.3, -0.4])
    scaled_W = mf.solve(FrictionProblem(size * np.eye(3), [-1.0, 3.0, 4.0], 0.5), name, throw=True)
    np.testing.assert_allclose(scaled_W.z * size, r, rtol=1e-12)
    scaled_q = mf.solve(FrictionProblem(np.eye(3), np.array([-1.0, 3.0, 4.0]) * size, 0.5), name, throw=True)
    np.testing.assert_allclose(scaled_q.z / size, r, rtol=1e-12)


@every_taker
def test_a_matrix_that_is_not_symmetric_is_solved(name):
    W = [[1.0, 0.8, 0.0], [-0.8, 1.0, 0.3], [0.0, -0.3, 1.0]]
    solved(FrictionProblem(W, [-1.0, 3.0, 1.0], 0.5), name)


@every_taker
def test_no_contact_at_all_is_solved(name):
    assert solved(FrictionProblem(np.zeros((0, 0)), [], []), name).z.size == 0


@every_taker
def test_a_contact_that_nothing_can_stop_is_not_called_solved(name):
    # W = 0 and approaching: no impulse changes the velocity.
    solution = mf.solve(FrictionProblem(np.zeros((3, 3)), [-1.0, 2.0, 0.0], 0.5), name)
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.message


@every_taker
@pytest.mark.parametrize("dim", [2, 3])
def test_global_sparse_problems_are_solved_in_their_own_form(name, rng, dim):
    H = sp.random_array(
        (30, 12 * dim), density=0.2, random_state=rng, data_sampler=lambda size: rng.standard_normal(size)
    )
    mass, f = sp.diags_array(rng.uniform(1.0, 3.0, 30)), rng.standard_normal(30)
    problem = FrictionProblem.from_global(mass, H, f, np.zeros(12 * dim), 0.6, dim)
    solution = solved(problem, name)
    v = problem.velocities(solution.z)
    np.testing.assert_allclose(mass @ v, H @ solution.z + f, atol=1e-12)


@every_taker
def test_a_warm_start_at_the_solution_is_short(name):
    problem = contact_system(8, "boxes", seed=2).exact_problem()
    assert solved(problem, name, z0=solved(problem, name).z).iterations <= 3


@every_taker
def test_the_time_limit_is_kept_and_the_best_point_returned(name):
    problem = contact_system(30, "redundant", seed=0).exact_problem()
    start = perf_counter()
    solution = mf.solve(problem, name, time_limit=0.02)
    assert solution.status in (Status.TIME_LIMIT, Status.SOLVED)
    assert perf_counter() - start < SLACK
    assert np.isfinite(solution.residual)


@every_taker
def test_the_same_problem_gives_the_same_bits_in_threads_as_well(name):
    problems = [contact_system(n, "redundant", seed=3).exact_problem() for n in (6, 9)]
    expected = [mf.solve(problem, name).z for problem in problems]
    found = {}

    def work(k):
        found[k] = mf.solve(problems[k % 2], name).z

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    for k, z in found.items():
        np.testing.assert_array_equal(z, expected[k % 2])


# ------------------------------------------------------------------------------ problems of other projects


@every_taker
@pytest.mark.skipif(not SUITE.is_dir(), reason="the suite of other projects' problems is not here")
def test_frictional_problems_of_other_projects_are_solved(name):
    manifest = json.loads((SUITE / "suite.json").read_text())["problems"]
    small = [entry for entry in manifest if "fc" in entry["kind"] and entry["n"] <= 300]
    failed = [entry["name"] for entry in small if not is_solved(suite_problem(entry), name)]
    assert len(small) > 20
    assert not failed


def is_solved(problem, name):
    """Whether the natural map of the answer is small beside it, which is how others judge."""
    solution = mf.solve(problem, name, time_limit=SUITE_SECONDS)
    size = max(np.linalg.norm(x) for x in (problem.q, solution.z, solution.w))
    return np.linalg.norm(problem.natural_map(solution.z, solution.w)) <= 1e-8 * max(size, 1e-10)


def suite_problem(entry):
    data = dict(np.load(SUITE / entry["file"]))
    for part in ("W", "M", "H"):
        if f"{part}_data" in data:
            parts = (data[f"{part}_data"], data[f"{part}_indices"], data[f"{part}_indptr"])
            data[part] = sp.csr_array(parts, shape=tuple(data[f"{part}_shape"]))
    dim = int(data["dim"])
    if "W" in data:
        return FrictionProblem(data["W"], data["q"], data["mu"], dim)
    return FrictionProblem.from_global(data["M"], data["H"], data["f"], data["w"], data["mu"], dim)
