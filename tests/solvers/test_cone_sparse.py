"""Thousands of contacts: each part against plain numpy, the whole against the dense method and the judge."""

from time import perf_counter

import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe import FrictionProblem
from mcpframe.problem.friction import project_cone
from mcpframe.problem.piles import SETTLING_REACH, SETTLING_STEP, packing, pile_problem, settled
from mcpframe.solvers.cone.sparse.gradient import MARGIN, Descent, largest_eigenvalue
from mcpframe.solvers.cone.sparse.interior import _answers, central_path, scaling
from mcpframe.solvers.cone.sparse.islands import find_islands, solve_small
from mcpframe.solvers.cone.sparse.proximal import _Guess, _leap, onto_discs, proximal_newton
from mcpframe.solvers.cone.sparse.system import sparse_cones

SPARSE = {"dense_rows": 1}
"""Options that send small problems the way of large ones."""
JAMMED = 1e-6
"""Residual asked of settled piles."""


def local(problem):
    return FrictionProblem(problem.W, problem.q, problem.mu, problem.dim)


@pytest.mark.parametrize("form", ["local", "global"])
@pytest.mark.parametrize("dim", [2, 3])
def test_factors_multiply_to_the_scaled_operator(rng, form, dim):
    problem = pile_problem("touch", 40, dim)
    system = sparse_cones(problem if form == "global" else local(problem))
    r = rng.standard_normal(system.q.shape)
    u = system.u(system.push(r)) * system.unit_u
    expected = problem.W @ (r * system.unit_r).ravel() + problem.q
    np.testing.assert_allclose(u.ravel(), expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def test_the_residual_is_that_of_the_judge(rng):
    problem = pile_problem("shaken", 60, 3)
    system = sparse_cones(problem)
    r = rng.standard_normal(system.q.shape)
    judged = problem.certify((r * system.unit_r).ravel())[2] / problem.scale
    assert system.residual(r) == pytest.approx(judged, rel=1e-10)


def test_linear_systems_are_those_of_impulses_that_answer_velocities(rng):
    problem = pile_problem("touch", 40, 3)
    system = sparse_cones(problem)
    B = rng.standard_normal((problem.n_c, 3, 3))
    B = B @ B.swapaxes(1, 2)
    a = rng.standard_normal(system.q.shape)
    v = system.factor(B)(system.push(a - np.einsum("cij,cj->ci", B, system.q)))
    r = a - np.einsum("cij,cj->ci", B, system.u(v))
    np.testing.assert_allclose(system.push(r), v, atol=1e-10)


def test_a_step_of_the_descent_is_a_projected_gradient_step(rng):
    problem = pile_problem("shaken", 60, 3)
    system = sparse_cones(problem)
    r = system.project(rng.standard_normal(system.q.shape))
    u_hat = system.u(system.push(r))
    u_hat[:, 0] += system.mu * np.linalg.norm(u_hat[:, 1:], axis=1)
    expected = project_cone(r - u_hat / (MARGIN * largest_eigenvalue(system)), system.mu)
    np.testing.assert_allclose(Descent(system, r).run(1), expected.ravel(), atol=1e-13)


@pytest.mark.parametrize("dim", [2, 3])
def test_the_derivative_of_the_projection_on_discs_is_its_own(rng, dim):
    x, mu, h = rng.standard_normal((200, dim)), rng.uniform(0.0, 1.0, 200), 1e-7
    _, B = onto_discs(x, mu)
    for j in range(dim):
        step = h * np.eye(dim)[j]
        numeric = (onto_discs(x + step, mu)[0] - onto_discs(x - step, mu)[0]) / (2.0 * h)
        np.testing.assert_allclose(B[:, :, j], numeric, atol=1e-5)


@pytest.mark.parametrize("dim", [2, 3])
def test_the_scaling_takes_both_points_to_one(rng, dim):
    x, y = (
        np.column_stack([np.linalg.norm(t, axis=1) + 0.1, t]) for t in rng.standard_normal((2, 50, dim - 1))
    )
    V = scaling(x, y)
    np.testing.assert_allclose(V.times(y), V.solve(x), atol=1e-12)
    np.testing.assert_allclose(V.times(V.solve(x)), x, atol=1e-12)
    np.testing.assert_allclose(np.einsum("cij,cj->ci", V.squared(), y), x, atol=1e-11)
    D = rng.standard_normal(x.shape)
    q = V.divide(D)
    np.testing.assert_allclose((V.lam * q).sum(axis=1), D[:, 0], atol=1e-10)
    np.testing.assert_allclose(V.lam[:, :1] * q[:, 1:] + q[:, :1] * V.lam[:, 1:], D[:, 1:], atol=1e-10)


def test_the_interior_point_and_newton_agree_with_the_dense_method():
    problem = pile_problem("shaken", 100, 2)
    system = sparse_cones(problem)
    *_, (r, gap) = central_path(system, 60, np.inf)
    assert gap < 1e-6
    found = proximal_newton(system, system.project(r), 1e-12, 100, np.inf)
    v = problem.velocities((system.project(found.r) * system.unit_r).ravel())
    reference = problem.velocities(mf.solve(problem, "cone").z)
    np.testing.assert_allclose(v, reference, atol=1e-7)


@pytest.mark.parametrize("dim", [2, 3])
def test_velocities_and_impulses_of_the_interior_point_hold_where_blocks_are_huge(rng, dim):
    system = sparse_cones(pile_problem("touch", 60, dim))
    n_c = len(system.mu)
    x, y = (project_cone(rng.standard_normal((n_c, dim)), np.ones(n_c)) for _ in range(2))
    x[:, 0], y[:, 0] = x[:, 0] + 1e-2, y[:, 0] + 1e-2
    y *= 1e-12  # all contacts carry: blocks of 1e12, and impulses found from velocities alone are off by 0.1
    V, T, g, eps = scaling(x, y), np.ones((n_c, dim)), rng.uniform(-0.4, 0.4, (n_c, dim - 1)), 1e-12
    b = system.u(rng.standard_normal(system.G.shape[0])) - system.q
    v, p = _answers(system, T, V, g, eps)(b)
    a = V.solve(V.solve(p))
    a[:, 0] -= np.sum(g * a[:, 1:], axis=1)
    np.testing.assert_allclose(system.push(p), v, atol=1e-3)
    np.testing.assert_allclose(system.u(v) - system.q + a + eps * p, b, atol=1e-12)


def test_the_central_path_goes_to_the_end_though_the_pile_is_jammed():
    solver = mf.solver("cone", **SPARSE)
    pile = settled(packing(200, loose=True, seed=2), lambda step: mf.solve(step, solver, tol=JAMMED).z, 25)
    system = sparse_cones(pile.problem(SETTLING_STEP, SETTLING_REACH))
    gaps = [gap for _, gap in central_path(system, 250, np.inf)]
    assert min(gaps) < 1e-8


def test_paths_of_other_weights_are_others_and_end_at_solutions_too(rng):
    problem = pile_problem("touch", 150)
    system = sparse_cones(problem)
    weights = np.exp(0.5 * rng.standard_normal(problem.n_c))
    middles = []
    for weight in (1.0, weights / weights.mean()):
        points = [
            (system.project(r), gap)
            for r, gap in central_path(system, 250, np.inf, 1.0, weight)
            if gap > 1e-9
        ]
        middles.append(next(r for r, gap in points if gap < 1e-2))
        found = proximal_newton(system, points[-1][0], 1e-9, 200, np.inf)
        assert problem.certify((found.r * system.unit_r).ravel())[2] <= 1e-8 * problem.scale
    assert np.abs(middles[0] - middles[1]).max() > 1e-3


@pytest.mark.parametrize("form", ["local", "global"])
@pytest.mark.parametrize(("kind", "dim"), [("gap", 2), ("gap", 3), ("touch", 2), ("touch", 3), ("shaken", 2)])
def test_piles_are_solved_the_sparse_way(kind, dim, form):
    problem = pile_problem(kind, 150, dim)
    problem = problem if form == "global" else local(problem)
    solution = mf.solve(problem, mf.solver("cone", **SPARSE), tol=1e-8)
    assert solution.ok, solution
    assert solution.method.startswith("cone, ")


def test_a_settled_pile_is_solved_though_it_bears_self_stress():
    solver = mf.solver("cone", **SPARSE)
    pile = settled(packing(120, loose=True), lambda step: mf.solve(step, solver, tol=JAMMED).z, steps=20)
    problem = pile.problem(SETTLING_STEP, SETTLING_REACH)
    at_rest = sparse_cones(problem)
    solution = mf.solve(problem, solver, tol=JAMMED)
    assert solution.ok, solution
    carrying = np.repeat(solution.z.reshape(-1, 2)[:, 0] > 1e-9, 2)
    W = problem.W.toarray()[carrying][:, carrying]
    assert np.linalg.matrix_rank(W) < carrying.sum(), "no self-stress: the pile has not settled"
    assert at_rest.residual(np.zeros(at_rest.q.shape)) > JAMMED


def test_every_step_of_a_pile_that_settles_is_solved():
    solver, failed = mf.solver("cone", **SPARSE), list[mf.Solution]()

    def solve(step):
        solution = mf.solve(step, solver, tol=JAMMED, time_limit=60.0)
        failed.extend([] if solution.ok else [solution])
        return solution.z

    settled(packing(200, loose=True, seed=1), solve, steps=22)
    assert not failed


def test_a_leap_goes_along_self_stress_as_far_as_it_does_no_harm():
    # Three legs under a bar: r + t (1, -2, 1) pushes as r does, until the middle one is out of its cone.
    H = np.array([[1.0, 0.0, 1.0, 0.0, 1.0, 0.0], [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0]])
    bar = FrictionProblem.from_global(
        sp.eye_array(2, format="csr"), sp.csr_array(H), [-1.0, 0.0], np.zeros(6), 0.5, 2
    )
    system = sparse_cones(bar)
    r, stress = np.full((3, 2), 0.0), np.array([[1.0, 0.0], [-2.0, 0.0], [1.0, 0.0]])
    r[:, 0] = 1.0 / 3.0 / system.unit_r[:, 0]
    creep = 1e-6 * stress / system.unit_r
    start = _Guess(system.push(r), r, np.zeros((3, 2, 2)), np.zeros(2))
    far = _leap(system, start, creep, 1e-12)
    assert far.r[1, 0] == pytest.approx(0.0, abs=0.5 * r[1, 0])
    assert system.residual(far.r) <= 1e-12
    np.testing.assert_allclose(far.v, start.v, atol=1e-12)


def test_thousands_of_contacts_are_solved_and_w_is_not_made_for_them():
    problem = pile_problem("gap", 2000)
    assert problem.n > 4000
    solution = mf.solve(problem, "cone", tol=1e-8)
    assert solution.ok, solution
    assert "W" not in vars(problem)


def test_a_warm_start_is_kept():
    problem = pile_problem("gap", 1000)
    first = mf.solve(problem, "cone", tol=1e-8)
    again = mf.solve(problem, "cone", tol=1e-8, z0=first.z)
    assert again.ok
    assert again.iterations < first.iterations / 10


def test_the_same_pile_gives_the_same_bits():
    one, two = (mf.solve(pile_problem("touch", 200), mf.solver("cone", **SPARSE), tol=1e-8) for _ in range(2))
    np.testing.assert_array_equal(one.z, two.z)


def test_the_time_limit_is_kept():
    problem = pile_problem("touch", 5000, 3)
    mf.solve(pile_problem("gap", 700), "cone", tol=1e-8)  # all that is loaded once
    start = perf_counter()
    solution = mf.solve(problem, "cone", tol=1e-13, time_limit=0.5)
    assert solution.status is mf.Status.TIME_LIMIT
    assert perf_counter() - start < 2.0  # a busy machine; the watch of `solve` is tested by itself


@pytest.mark.parametrize("dim", [2, 3])
def test_a_part_has_the_velocities_of_the_whole_where_the_others_do_nothing(rng, dim):
    system = sparse_cones(pile_problem("touch", 60, dim))
    kept = np.flatnonzero(rng.random(len(system.mu)) < 0.3)
    r = np.zeros(system.q.shape)
    r[kept] = system.project(rng.standard_normal(system.q.shape))[kept]
    part = system.part(kept)
    assert part.G.shape[0] < system.G.shape[0]
    np.testing.assert_allclose(part.u(part.push(r[kept])), system.u(system.push(r))[kept], atol=1e-13)
    np.testing.assert_allclose(part.residuals(r[kept]), system.residuals(r)[kept], atol=1e-13)


def test_few_contacts_are_solved_by_rows_of_their_own(rng):
    system = sparse_cones(pile_problem("touch", 60, 3))
    part = system.part(np.arange(0, len(system.mu), 5))
    assert part.q.size < part.G.shape[0]
    B = rng.standard_normal((len(part.mu), 3, 3))
    B = B @ B.swapaxes(1, 2)
    blocks = np.zeros((part.q.size, part.q.size))
    for c, block in enumerate(B):
        blocks[3 * c : 3 * c + 3, 3 * c : 3 * c + 3] = block
    b = rng.standard_normal(part.G.shape[0])
    K = np.eye(b.size) + part.G.toarray() @ blocks @ part.S.toarray()
    np.testing.assert_allclose(part.factor(B)(b), np.linalg.solve(K, b), atol=1e-10)


def test_contacts_that_may_close_are_solved_alone():
    solution = mf.solve(pile_problem("gap", 3000, 3), "cone", tol=1e-8)
    assert solution.ok, solution
    assert solution.method == "cone, islands"


@pytest.mark.parametrize("form", ["local", "global"])
@pytest.mark.parametrize("dim", [2, 3])
def test_islands_do_not_move_each_other_and_are_solved_apart(rng, form, dim):
    problem = pile_problem("touch", 300, dim)
    system = sparse_cones(problem if form == "global" else local(problem))
    kept = rng.random(len(system.mu)) < 0.12
    islands = find_islands(system, kept)
    assert len(islands) > 10
    assert sorted(np.concatenate(islands)) == sorted(np.flatnonzero(kept))
    W = np.abs(system.W.toarray())
    for island in islands:
        others = np.setdiff1d(np.flatnonzero(kept), island)
        assert W[np.ix_(system.rows(island), system.rows(others))].max(initial=0.0) == 0.0
    r = np.zeros(system.q.shape)
    solve_small(system, islands, r, 1e-10, np.inf)
    assert system.residuals(r)[kept].max() < 1e-9
    assert (r[~kept] == 0.0).all()


def test_trees_of_contacts_are_no_work_and_rings_are():
    def beads(n, ring):
        pairs = [(k, (k + 1) % n) for k in range(n if ring else n - 1)]
        H = sp.lil_array((3 * n, 2 * len(pairs)))
        for c, (a, b) in enumerate(pairs):
            for body, sign in ((a, 1.0), (b, -1.0)):
                H[3 * body, 2 * c], H[3 * body + 1, 2 * c + 1], H[3 * body + 2, 2 * c + 1] = sign, sign, 1.0
        M, free = sp.eye_array(3 * n, format="csc"), np.ones(3 * n)
        return sparse_cones(
            FrictionProblem.from_global(M, sp.csc_array(H), free, np.zeros(H.shape[1]), 0.5, 2)
        )

    assert beads(20, ring=False).system_work() == 0.0
    assert beads(20, ring=True).system_work() > 0.0
