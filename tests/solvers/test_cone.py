"""Exact friction cones in compiled code: closed forms, other methods, and plain numpy as the judge."""

import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe import ConeLCP, Discs, FrictionProblem, MixedLCP, ProblemError
from mcpframe.problem.generators import contact_system

TIGHT = 1e-9
"""Residual over the problem's scale: the framework's default."""
SAME = 1e-7
"""Distance of two answers with residuals of 1e-9 in problems whose condition numbers are below 100."""
SUMMED = 1e-12
"""Two orders of summing one residual, as shares of it."""


def solved(problem, **options):
    solution = mf.solve(problem, "cone", **options)
    assert solution.ok, solution
    return solution


def natural_error(problem, z):
    """The conditions of a ConeLCP in plain numpy, one disc at a time."""
    w, errors = problem.M @ z + problem.q, []
    on_disc = set(problem.discs.rows.tolist())
    for i in set(range(problem.n)) - on_disc:
        errors.append(abs(z[i] - np.clip(z[i] - w[i], problem.lower[i], problem.upper[i])))
    for (normal, first, width), (mu, offset) in zip(problem.discs.table, problem.discs.sizes, strict=True):
        rows = slice(first, first + width)
        reach, x = mu * z[normal] + offset, z[rows] - w[rows]
        nearest = x * min(1.0, reach / max(np.linalg.norm(x), 1e-300))
        errors.append(np.abs(z[rows] - nearest).max())
    return max(errors, default=0.0)


# ---------------------------------------------------------------------------------------- friction problems


@pytest.mark.parametrize("family", ["full", "redundant", "boxes", "chain"])
@pytest.mark.parametrize("n_c", [1, 4, 12, 24])
def test_many_contacts_are_solved(family, n_c):
    # 24 contacts that stick are 72 rows: more than loops of our own factor.
    for seed in range(3):
        solved(contact_system(n_c, family, seed=seed).exact_problem())


def test_large_sparse_problems_are_solved_as_such(rng):
    n_b = 60
    H = sp.diags_array([np.ones(3 * n_b), -np.ones(3 * n_b - 3)], offsets=[0, 3], shape=(3 * n_b, 3 * n_b))
    f = rng.standard_normal(3 * n_b)
    problem = FrictionProblem.from_global(sp.eye_array(3 * n_b), H, f, np.zeros(3 * n_b), 0.3)
    sparse, dense = solved(problem, dense_rows=100), solved(problem)
    assert dense.method.startswith("cone")
    assert sparse.method.startswith("cone, descent")


def test_a_warm_start_at_a_neighbour_takes_a_system_or_two():
    problem = contact_system(8, "boxes", seed=2).exact_problem()
    cold = solved(problem)
    again = solved(FrictionProblem(problem.W, 1.001 * problem.q, problem.mu), z0=cold.z)
    assert "warm start" in again.method
    assert again.iterations <= 3 < cold.iterations


def test_auto_takes_it():
    assert mf.solve(contact_system(4, "boxes", seed=1).exact_problem()).method.startswith("cone")


# ------------------------------------------------------------------------------------ mixed LCPs with discs


def random_rows(rng, n):
    J = rng.standard_normal((n, n))
    return J @ J.T + 0.1 * np.eye(n), rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(4))
def test_without_discs_the_answer_is_that_of_pivoting(seed):
    rng = np.random.default_rng(seed)
    M, q = random_rows(rng, 8)
    lower = np.array([0.0, -np.inf, -1.0, -0.1, -np.inf, 0.2, 0.0, -0.3])
    upper = np.array([np.inf, np.inf, 0.5, 0.1, 0.0, 0.4, 0.1, np.inf])
    z = mf.solve(MixedLCP(M, q, lower, upper), "lemke", throw=True).z
    np.testing.assert_allclose(solved(ConeLCP(M, q, lower, upper, Discs())).z, z, atol=SAME)


@pytest.mark.parametrize("seed", range(4))
def test_a_disc_of_one_row_that_leans_on_nothing_is_a_pair_of_bounds(seed):
    rng = np.random.default_rng(seed)
    M, q = random_rows(rng, 4)
    bounded = MixedLCP(M, q, [0.0, -0.2, -np.inf, 0.0], [np.inf, 0.2, np.inf, 0.3])
    discs = Discs([0], [1], 1, mu=0.0, offset=0.2)
    problem = ConeLCP(M, q, [0.0, -np.inf, -np.inf, 0.0], [np.inf, np.inf, np.inf, 0.3], discs)
    np.testing.assert_allclose(solved(problem).z, mf.solve(bounded, "lemke", throw=True).z, atol=SAME)


def contacts_with_more(rng, n_c):
    """Contacts with cones, a moment about the normal and two against rolling; equations, a bounded row."""
    n = 6 * n_c + 3
    J = rng.standard_normal((n, 4 * n_c + 8))
    M, q = J @ J.T, rng.standard_normal(n)
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    normal = 2 + 6 * np.arange(n_c) + 3  # moments stand before forces
    lower[normal], lower[-1], upper[-1] = 0.0, -0.1, 0.2
    first = np.concatenate([normal + 1, normal - 3, normal - 2])
    width = np.repeat([2, 1, 2], n_c)
    discs = Discs(np.tile(normal, 3), first, width, np.repeat([0.5, 0.05, 0.02], n_c))
    return M, q, lower, upper, discs


@pytest.mark.parametrize("n_c", [1, 2, 5, 10])
def test_several_discs_on_a_normal_with_equations_and_bounds_are_solved(n_c):
    for seed in range(5):
        problem = ConeLCP(*contacts_with_more(np.random.default_rng(seed), n_c))
        solution = solved(problem)
        assert natural_error(problem, solution.z) <= TIGHT * problem.scale


@pytest.mark.parametrize("n_c", [1, 4, 10])
def test_friction_that_leans_on_more_than_the_normal_impulse_is_solved(n_c):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        exact = contact_system(n_c, "boxes", seed=seed).exact_problem()
        n, start = exact.n, 3 * np.arange(n_c)
        lower = np.where(np.arange(n) % 3 == 0, 0.0, -np.inf)
        discs = Discs(start, start + 1, 2, exact.mu, offset=rng.uniform(0.0, 0.5, n_c))
        problem = ConeLCP(exact.W, exact.q, lower, np.inf, discs)
        assert natural_error(problem, solved(problem).z) <= TIGHT * problem.scale


def test_the_residual_of_a_cone_lcp_is_that_of_its_conditions(rng):
    problem = ConeLCP(*contacts_with_more(rng, 3))
    for _ in range(20):
        z, w, judged = problem.certify(rng.standard_normal(problem.n))
        np.testing.assert_allclose(w, problem.M @ z + problem.q, atol=1e-12)
        natural = natural_error(problem, z)
        assert problem.natural_residual(z, w) == pytest.approx(natural, rel=SUMMED)
        assert (1.0 - SUMMED) * natural <= judged <= natural * problem.scale
        parts = problem.M, problem.q, problem.lower, problem.upper, problem.discs
        assert ConeLCP(sp.csr_array(parts[0]), *parts[1:]).certify(z)[2] == pytest.approx(judged, rel=1e-9)


def beside_a_huge_row(size):
    """Two contacts, and a row of their own kind that is far larger."""
    contacts = contact_system(2, "boxes", seed=3).exact_problem()
    n, start = contacts.n, 3 * np.arange(2)
    M, q = np.eye(n + 1), np.append(contacts.q, -size)
    M[:n, :n] = contacts.W
    lower = np.append(np.where(np.arange(n) % 3 == 0, 0.0, -np.inf), 0.0)
    return ConeLCP(M, q, lower, np.inf, Discs(start, start + 1, 2, contacts.mu))


def test_contacts_beside_a_huge_row_are_judged_at_their_own_scale():
    problem = beside_a_huge_row(1e11)
    solution = solved(problem)
    alone = solved(beside_a_huge_row(1.0))
    np.testing.assert_allclose(solution.z[:-1], alone.z[:-1], atol=SAME)
    off = solution.z + np.append(np.full(problem.n - 1, 1e-3), 0.0)
    z, w, judged = problem.certify(off)
    assert judged > TIGHT * problem.scale  # though all rows at one scale would let it pass:
    assert problem.natural_residual(z, w) < TIGHT * problem.scale


def test_the_edge_of_a_disc_is_met_as_well_as_rounding_allows():
    # Slides at 5 m/s under 1e9 N s: its friction impulse is known to 1e-7 N s, and no better.
    M, q = np.diag([1e-9, 1e-9, 1e-9]), np.array([-1.0, 3.0, 4.0])
    problem = ConeLCP(M, q, [0.0, -np.inf, -np.inf], np.inf, Discs([0], [1], 2, 0.3))
    assert problem.certify([1e9, -0.18e9, -0.24e9 * (1.0 + 2e-16)])[2] <= 1e-12 * problem.scale
    assert problem.certify([1e9, -0.18e9, -0.24e9 * (1.0 - 1e-12)])[2] > 1e-6 * problem.scale


def test_a_point_outside_is_moved_to_the_edge_of_its_disc():
    problem = ConeLCP(np.eye(3), [-1.0, 0.0, 0.0], [0.0, -np.inf, -np.inf], np.inf, Discs([0], [1], 2, 0.5))
    np.testing.assert_allclose(problem.certify([2.0, 3.0, 4.0])[0], [2.0, 0.6, 0.8])
    np.testing.assert_allclose(problem.certify([-1.0, 3.0, 4.0])[0], 0.0)


@pytest.mark.parametrize(
    ("discs", "said"),
    [
        ({"normal": [0], "first": [3]}, "not among the 4"),
        ({"normal": [0, 0], "first": [1, 2], "width": 2}, "belongs to two discs"),
        ({"normal": [0], "first": [1], "width": 3}, "one row or two"),
        ({"normal": [0], "first": [1], "mu": -0.1}, "mu 0 is -0.1"),
        ({"normal": [1], "first": [2]}, "lower bound below 0"),
    ],
)
def test_discs_that_do_not_fit_are_refused_in_words(discs, said):
    with pytest.raises(ProblemError, match=said):
        ConeLCP(np.eye(4), np.zeros(4), [0.0, -np.inf, -np.inf, -np.inf], np.inf, Discs(**discs))


def test_rows_of_discs_with_bounds_are_refused():
    with pytest.raises(ProblemError, match="no bounds but the disc"):
        ConeLCP(np.eye(3), np.zeros(3), 0.0, np.inf, Discs([0], [1]))
