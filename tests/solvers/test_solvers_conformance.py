"""What every solver owes its users, tested alike for all of them.

A problem belongs to classes, a solver claims classes; on a claimed class it must succeed. Everywhere else
it must be honest: whatever it returns, SOLVED stands only beside a point that plain numpy finds to be a
solution. `why_unsupported` is the only excuse.
"""

import time
from dataclasses import dataclass

import casadi
import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe import MCP, MixedLCP, Status

SOLVERS = [name for name, reason in mf.available_solvers().items() if not reason]
TOL = 1e-9
"""Asked of every solver, relative to 1 + max |q|: the framework's default."""
ROUNDING = 1e-12
"""Share of 1 + max |q| by which two ways to sum M z + q may differ in these small problems."""
SAME = 1e-6
"""Distance of two points of residual 1e-9 in problems whose condition numbers are below 1e3."""
SLACK = 2.0
"""Seconds that a step which cannot be interrupted may take beyond the time limit, on a busy machine."""

CLAIMS = {
    "auto": {"definite", "monotone", "p_matrix", "contact", "any"},
    "enum": {"definite", "monotone", "p_matrix", "contact", "any"},
    "ipm": {"definite", "monotone"},
    "lemke": {"definite", "monotone", "p_matrix", "contact"},
    "newton": {"definite", "monotone"},
    "path": {"definite", "monotone", "p_matrix", "contact"},
    "qp": {"definite", "monotone"},
}
"""What the solvers' docstrings promise; one that is not listed promises symmetric definite problems."""


def claims(name):
    return CLAIMS.get(name, {"definite"})


@dataclass(frozen=True)
class Case:
    """A problem, the narrowest class it belongs to, and its only solution where it has one."""

    name: str
    kind: str
    problem: MixedLCP
    z: tuple | None = None


def lcp(M, q, lower=0.0, upper=np.inf):
    return MixedLCP(M, q, lower, upper)


def murty(n):
    """Murty (1978): a P-matrix on which pivoting from the wrong end takes 2^n steps; z = e_n."""
    return lcp(np.eye(n) + 2 * np.triu(np.ones((n, n)), 1), -np.ones(n))


def fathi(n):
    """Fathi (1979): its symmetric positive definite relative."""
    A = np.eye(n) + 2 * np.tril(np.ones((n, n)), -1)
    return lcp(A @ A.T, -np.ones(n))


def block_on_a_slope(mu):
    """One contact, two friction directions: [[A, E], [mu, -E', 0]] with mass one; slides unless mu >= 1."""
    D = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -1.0]])
    M = np.zeros((4, 4))
    M[:3, :3] = D.T @ D
    M[1:3, 3] = 1.0
    M[3, :3] = [mu, -1.0, -1.0]
    return lcp(M, np.r_[D.T @ [-1.0, 1.0], 0.0])


INF = np.inf
LITERATURE = [
    Case("a weight on the floor", "definite", lcp([[1.0]], [-9.8]), (9.8,)),
    Case(
        "a monotone problem of four rows",
        "monotone",
        lcp([[0, 0, -1, -1], [0, 0, 1, -2], [1, -1, 2, -2], [1, 2, -2, 4]], [2, 2, -2, -6]),
        (2.8, 0.0, 0.8, 1.2),
    ),
    Case(
        "Murty 1988, example 2.8",
        "monotone",
        lcp([[1, -1, -1, -1], [-1, 1, -1, -1], [1, 1, 2, 0], [1, 1, 0, 2]], [3, 5, -9, -5]),
        (2.0, 1.0, 3.0, 1.0),
    ),
    Case("Murty 1978, n = 8", "p_matrix", murty(8), (0.0,) * 7 + (1.0,)),
    Case("Fathi 1979, n = 8", "definite", fathi(8), (1.0,) + (0.0,) * 7),
    Case(
        "Kostreva 1979: pivoting cycles without a tie rule",
        "monotone",
        lcp([[1, 2, 0], [0, 1, 2], [2, 0, 1]], [-1, -1, -1]),
    ),
    Case(
        "Cottle, Pang, Stone 1992, example 4.4.16: the covering variable must leave in a tie",
        "monotone",
        lcp([[1, -1], [-1, 1]], [1, -1]),
    ),
    Case(
        "Floudas et al. 1999, 10.2.2: a continuum of solutions", "monotone", lcp([[1, 1], [1, 1]], [-1, -1])
    ),
    Case(
        "Floudas et al. 1999, 10.2.3",
        "any",
        lcp([[0, -1, 2], [2, 0, -2], [-1, 1, 0]], [-3, 6, -1]),
        (0.0, 1.0, 3.0),
    ),
    Case(
        "Floudas et al. 1999, 10.2.4: a bimatrix game",
        "any",
        lcp([[0, 0, 10, 20], [0, 0, 30, 15], [10, 20, 0, 0], [30, 15, 0, 0]], [-1, -1, -1, -1]),
    ),
    Case("two solutions, 0 and 1", "any", lcp([[-1.0]], [1.0])),
    Case("a block that sticks", "contact", block_on_a_slope(2.0)),
    Case("a block that slides", "contact", block_on_a_slope(0.5)),
    Case("a block on ice", "contact", block_on_a_slope(0.0)),
]

BOUNDS = [
    Case("nothing at all", "definite", lcp(np.zeros((0, 0)), []), ()),
    Case("one equation", "definite", lcp([[2.0]], [-6.0], -INF), (3.0,)),
    Case("equations only", "definite", lcp([[2, 1], [1, 3]], [-4, -7], -INF), (1.0, 2.0)),
    Case("all fixed", "definite", lcp([[2, 1], [1, 3]], [-4, -7], [5, -6], [5, -6]), (5.0, -6.0)),
    Case("fixed and free", "definite", lcp([[2, 1], [1, 3]], [-4, -7], [-INF, 1.0], [INF, 1.0]), (1.5, 1.0)),
    Case("stopped by the upper bound", "definite", lcp([[2.0]], [-6.0], 0.0, 1.0), (1.0,)),
    Case("upper bounds only", "definite", lcp([[2, 1], [1, 3]], [-4, -7], -INF, [INF, 0.0]), (2.0, 0.0)),
    Case(
        "every kind of row",
        "definite",
        lcp(
            np.diag([2.0, 1.0, 4.0, 1.0, 1.0, 1.0]),
            [-2.0, 3.0, -2.0, 5.0, -9.0, 1.0],
            [-INF, 0.0, 0.0, 7.0, -INF, -2.0],
            [INF, INF, 5.0, 7.0, 3.0, -1.0],
        ),
        (1.0, 0.0, 0.5, 7.0, 3.0, -1.0),
    ),
    Case(
        "a quadratic program by its conditions: min x'x / 2 - 3 x_1, x_1 + x_2 = 1, x >= 0",
        "monotone",
        lcp([[1, 0, -1], [0, 1, -1], [1, 1, 0]], [-3, 0, -1], [0, 0, -INF]),
        (1.0, 0.0, -2.0),
    ),
    Case("degenerate: z and w vanish together", "definite", lcp([[2, 1], [1, 2]], [0, 0]), (0.0, 0.0)),
    Case("the zero matrix", "monotone", lcp(np.zeros((2, 2)), [1.0, 0.0])),
    Case("the zero matrix in a box", "monotone", lcp(np.zeros((2, 2)), [1.0, -2.0], -1.0, 3.0), (-1.0, 3.0)),
]

WITHOUT_SOLUTION = [
    Case("w = -1 whatever z is", "any", lcp([[0.0]], [-1.0])),
    Case("w = -z - 1", "any", lcp([[-1.0]], [-1.0])),
    Case("an equation that cannot hold", "any", lcp([[0.0]], [1.0], -INF)),
    Case("two equations that contradict each other", "any", lcp([[1, 1], [1, 1]], [-1, -2], -INF)),
    Case(
        "Murty 1988, example 2.9: ends on a ray",
        "any",
        lcp([[-1, 0, -3], [1, -2, -5], [-2, -1, -2]], [-3, -2, -1]),
    ),
    Case(
        "Kostreva 1979, second example: cycles, then ends on a ray",
        "any",
        lcp([[1, -1, 3], [2, -1, 3], [-1, -2, 0]], [-1, -1, -1]),
    ),
    Case("feasible, but never complementary", "any", lcp([[2, 1], [1, -1]], [2, -2])),
]


def natural_residual(problem, z):
    """The definition, with plain numpy."""
    w = problem.M_dense @ z + problem.q
    return np.abs(z - np.clip(z - w, problem.lower, problem.upper)).max(initial=0.0)


def assert_solution(problem, z, tol=TOL):
    scale = 1.0 + np.abs(problem.q).max(initial=0.0)
    assert (z >= problem.lower).all()
    assert (z <= problem.upper).all()
    assert natural_residual(problem, z) <= (tol + ROUNDING) * scale


def solved(name, case, **request):
    """Solve, check that the status is honest, and return the solution where the solver owes one."""
    solver = mf.solver(name)
    if solver.why_unsupported(case.problem):
        pytest.skip(solver.why_unsupported(case.problem))
    solution = mf.solve(case.problem, solver, **request)
    if solution.ok:
        assert_solution(case.problem, solution.z, request.get("tol", TOL))
    elif case.kind in claims(name):
        pytest.fail(f"{name} claims {case.kind} problems: {solution!r} {solution.message}")
    else:
        assert natural_residual(case.problem, solution.z) > 0 or not np.isfinite(solution.z).all()
        pytest.skip(f"honest: {solution.status.name}")
    return solution


def named(cases):
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


every_solver = pytest.mark.parametrize("name", SOLVERS)


def random_definite(rng, n, *, symmetric=True):
    """Eigenvalues between 1 and 10, so that the solution is unique and well conditioned."""
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    M = (Q * rng.uniform(1.0, 10.0, size=n)) @ Q.T
    M = 0.5 * (M + M.T)
    if symmetric:
        return M
    skew = rng.normal(size=(n, n))
    return M + (skew - skew.T)


def random_bounds(rng, n):
    """Every kind of row: free, fixed, one-sided either way, boxed."""
    lower = np.where(rng.random(n) < 0.3, -INF, rng.normal(size=n))
    upper = np.where(rng.random(n) < 0.4, INF, np.where(np.isfinite(lower), lower, 0.0) + rng.random(n))
    fixed = rng.random(n) < 0.1
    return np.where(fixed, 0.5, lower), np.where(fixed, 0.5, upper)


def definite_case(rng, n, kind="definite"):
    M = random_definite(rng, n, symmetric=kind == "definite")
    return Case(f"{kind} {n}", kind, lcp(M, 3.0 * rng.normal(size=n), *random_bounds(rng, n)))


@every_solver
@named(LITERATURE + BOUNDS)
def test_known_problems_are_solved(name, case):
    solution = solved(name, case)
    if case.z is not None:
        np.testing.assert_allclose(solution.z, case.z, atol=SAME)


@every_solver
@named(WITHOUT_SOLUTION)
def test_a_problem_without_a_solution_is_never_solved(name, case):
    solution = mf.solve(case.problem, name, time_limit=5.0)
    assert not solution.ok
    assert solution.status is not Status.INACCURATE, "the solver claimed a solution where there is none"
    assert solution.message or solution.status.remedy


@every_solver
@pytest.mark.parametrize("kind", ["definite", "monotone"])
def test_random_problems_have_the_solution_that_enumeration_finds(name, kind, rng):
    for _ in range(8):
        case = definite_case(rng, int(rng.integers(1, 7)), kind)
        expected = mf.solve(case.problem, "enum")
        assert expected.ok
        assert not expected.alternatives
        np.testing.assert_allclose(solved(name, case).z, expected.z, atol=SAME)


@every_solver
@named(LITERATURE + BOUNDS)
def test_sparse_and_dense_give_the_same_answer(name, case):
    problem = case.problem
    sparse = MixedLCP(sp.csr_array(problem.M_dense), problem.q, problem.lower, problem.upper)
    solution = solved(name, Case(case.name, case.kind, sparse))
    if case.z is not None:
        np.testing.assert_allclose(solution.z, case.z, atol=SAME)


@every_solver
@pytest.mark.parametrize("w_scale", [1e-6, 1e6])
@pytest.mark.parametrize("z_scale", [1e-4, 1.0, 1e4])
def test_units_do_not_matter(name, w_scale, z_scale, rng):
    """With z in other units and w in others, the scaled point solves the scaled problem."""
    case = definite_case(rng, 5)
    problem = case.problem
    M, q = problem.M_dense * w_scale / z_scale, problem.q * w_scale
    scaled = lcp(M, q, problem.lower * z_scale, problem.upper * z_scale)
    # Nine digits in the smaller unit of z and w, but never below the rounding of w.
    tol = max(1e-9 * min(1.0, w_scale, z_scale), 1e2 * ROUNDING * w_scale) / scaled.scale
    solution = solved(name, Case(case.name, case.kind, scaled), tol=tol)
    expected = mf.solve(problem, "enum").z
    np.testing.assert_allclose(solution.z / z_scale, expected, atol=SAME)


@every_solver
def test_a_solution_is_a_fixed_point_of_solving(name, rng):
    for kind in ("definite", "monotone"):
        case = definite_case(rng, 6, kind)
        first = solved(name, case)
        again = solved(name, case, z0=first.z)
        np.testing.assert_allclose(again.z, first.z, atol=SAME)
        if first.basis is not None:
            np.testing.assert_allclose(solved(name, case, basis=first.basis).z, first.z, atol=SAME)


@every_solver
def test_a_bad_start_does_no_harm(name, rng):
    case = definite_case(rng, 6)
    expected = mf.solve(case.problem, "enum").z
    for z0 in (np.full(6, 1e6), np.full(6, -1e6), np.zeros(6)):
        np.testing.assert_allclose(solved(name, case, z0=z0).z, expected, atol=SAME)
    for basis in (np.zeros(6, int), np.ones(6, int), np.full(6, 2)):
        np.testing.assert_allclose(solved(name, case, basis=basis).z, expected, atol=SAME)


@every_solver
@named([*LITERATURE, *WITHOUT_SOLUTION])
def test_the_same_problem_gives_the_same_bits(name, case):
    problem = case.problem
    first = mf.solve(problem, name)
    again = mf.solve(lcp(problem.M, problem.q, problem.lower, problem.upper), name)
    assert first.z.tobytes() == again.z.tobytes()
    assert (first.status, first.iterations, first.message) == (again.status, again.iterations, again.message)


@every_solver
def test_renumbering_the_rows_renumbers_the_solution(name, rng):
    for kind in ("definite", "monotone"):
        case = definite_case(rng, 7, kind)
        order = rng.permutation(7)
        p = case.problem
        shuffled = lcp(p.M_dense[np.ix_(order, order)], p.q[order], p.lower[order], p.upper[order])
        one, other = solved(name, case), solved(name, Case(case.name, kind, shuffled))
        np.testing.assert_allclose(other.z, one.z[order], atol=SAME)


@every_solver
def test_the_time_limit_is_kept(name):
    rng = np.random.default_rng(1)
    n, limit = 400, 0.02
    problem = lcp(random_definite(rng, n, symmetric=False), rng.normal(size=n), -1.0, 1.0)
    if mf.solver(name).why_unsupported(problem):
        pytest.skip("takes smaller problems only")
    start = time.perf_counter()
    solution = mf.solve(problem, name, time_limit=limit)
    assert time.perf_counter() - start < limit + SLACK
    assert solution.ok or solution.status is Status.TIME_LIMIT


@every_solver
def test_a_solver_leaves_the_problem_as_it_was(name, rng):
    case = definite_case(rng, 5)
    before = [
        array.copy() for array in (case.problem.M, case.problem.q, case.problem.lower, case.problem.upper)
    ]
    z0 = np.ones(5)
    mf.solve(case.problem, name, z0=z0)
    after = (case.problem.M, case.problem.q, case.problem.lower, case.problem.upper)
    assert all((a == b).all() for a, b in zip(after, before, strict=True))
    assert (z0 == 1.0).all()


def exponential():
    """exp(z) - p complementary to z >= 0: z = log p where p > 1."""
    z, p = casadi.SX.sym("z", 2), casadi.SX.sym("p", 2)
    return MCP(casadi.Function("F", [z, p], [casadi.exp(z) - p]), p=[2.0, 0.5])


def rosenbrock_conditions():
    """Stationarity of Rosenbrock's function in a box that cuts off its minimum: z = (0.5, 0.25)."""
    z = casadi.SX.sym("z", 2)
    f = 100 * (z[1] - z[0] ** 2) ** 2 + (1 - z[0]) ** 2
    return MCP(casadi.Function("F", [z], [casadi.gradient(f, z)]), [-1.0, -1.0], [0.5, 2.0])


@every_solver
@pytest.mark.parametrize(
    ("make", "z"), [(exponential, [np.log(2.0), 0.0]), (rosenbrock_conditions, [0.5, 0.25])]
)
def test_nonlinear_problems_are_solved_or_declined(name, make, z):
    problem = make()
    if mf.solver(name).why_unsupported(problem):
        assert mf.solve(problem, name).status is Status.UNSUPPORTED
        return
    for z0 in (None, np.array([0.3, 0.7])):
        solution = mf.solve(problem, name, z0=z0)
        assert solution.ok, solution
        np.testing.assert_allclose(solution.z, z, atol=SAME)


@every_solver
@pytest.mark.parametrize(
    ("q", "r"),
    [
        ([-1.0, 0.3, 0.4], [1.0, -0.3, -0.4]),  # sticks: |r_t| = 0.5 = mu r_n
        ([-1.0, 1.2, 1.6], [1.0, -0.3, -0.4]),  # slides: friction opposes the slip (0.9, 1.2)
        ([1.0, 1.2, 1.6], [0.0, 0.0, 0.0]),  # takes off
    ],
)
def test_one_contact_on_the_exact_cone_is_solved_or_declined(name, q, r):
    problem = mf.FrictionProblem(np.eye(3), q, mu=0.5)
    solution = mf.solve(problem, name)
    if mf.solver(name).why_unsupported(problem):
        assert solution.status is Status.UNSUPPORTED
        return
    assert solution.ok, solution
    np.testing.assert_allclose(solution.z, r, atol=SAME)


@every_solver
def test_what_is_not_supported_is_said_in_words(name):
    class Strange:
        n, scale = 1, 1.0

        def certify(self, z):
            return z, z, np.inf

    solution = mf.solve(Strange(), name)
    assert solution.status is Status.UNSUPPORTED
    assert "not Strange" in solution.message
