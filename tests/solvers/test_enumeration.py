import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe import MixedLCP, Status
from mcpframe.problem.generators import contact_lcp, random_lcp
from mcpframe.problem.infeasibility import proves_infeasible
from mcpframe.solvers.enumeration.face import face_violation
from mcpframe.solvers.enumeration.method import Enumeration
from mcpframe.solving.plugin import Request
from mcpframe.solving.solution import AT_LOWER, AT_UPPER, BASIC

INF = np.inf
TOL = 1e-9
"""The framework's default, relative to 1 + max |q|."""
ON_FACE = 1e-8
"""Share of the terms of a relation by which a point that rounding has touched may miss its face."""


def enumerate_exactly(M, q, lower, upper):
    """Return the codes of every face that holds a solution, in rational arithmetic (Fourier-Motzkin)."""
    choices = [row_codes(*bounds) for bounds in zip(lower, upper, strict=True)]
    return [codes for codes in product(*choices) if is_feasible(relations(M, q, lower, upper, codes), len(q))]


def row_codes(lower, upper):
    if lower == upper:
        return [AT_LOWER]
    return [AT_LOWER] * (lower > -math.inf) + [AT_UPPER] * (upper < math.inf) + [BASIC]


def relations(M, q, lower, upper, codes):
    """Return the relations a'z + b >= 0 of one face, as pairs (a, b)."""
    n, held = len(q), []
    for i, code in enumerate(codes):
        unit = [Fraction(int(i == j)) for j in range(n)]
        row, constant = [Fraction(x) for x in M[i]], Fraction(q[i])
        if lower[i] > -math.inf:
            held.append((unit, -Fraction(lower[i])))
        if upper[i] < math.inf:
            held.append((minus(unit), Fraction(upper[i])))
        if code == AT_LOWER:
            held.append((minus(unit), Fraction(lower[i])))
        if code == AT_UPPER:
            held.append((unit, -Fraction(upper[i])))
        if code != AT_UPPER and lower[i] != upper[i]:
            held.append((row, constant))
        if code != AT_LOWER and lower[i] != upper[i]:
            held.append((minus(row), -constant))
    return held


def minus(a):
    return [-x for x in a]


def is_feasible(held, n):
    """Eliminate one variable after the other; what is left must be constants >= 0."""
    for v in range(n):
        up = [(a, b) for a, b in held if a[v] > 0]
        down = [(a, b) for a, b in held if a[v] < 0]
        held = [(a, b) for a, b in held if a[v] == 0]
        for (a, b), (c, d) in product(up, down):
            held.append(([-c[v] * x + a[v] * y for x, y in zip(a, c, strict=True)], -c[v] * b + a[v] * d))
    return all(b >= 0 for _, b in held)


def small_integer_problem(rng):
    n, size = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    M, q = rng.integers(-size, size + 1, (n, n)), rng.integers(-size, size + 1, n)
    lower = np.where(rng.random(n) < 0.75, rng.integers(-2, 1, n), -INF)
    upper = np.where(rng.random(n) < 0.4, rng.integers(0, 3, n), INF)
    return M, q, lower, upper


def claim_of(problem):
    return Enumeration()._solve(problem, Request(TOL * problem.scale))


def points_of(claim):
    return [claim.z, *claim.alternatives] if claim.status is Status.SOLVED else []


@pytest.mark.parametrize("unit", [(1.0, 1.0), (1e-4, 1e3), (1e5, 1e-6)], ids=["plain", "small M", "large M"])
def test_agrees_with_rational_arithmetic_on_every_face(rng, unit):
    seen = set()
    for _ in range(250):
        M, q, lower, upper = small_integer_problem(rng)
        held = enumerate_exactly(M.tolist(), q.tolist(), lower.tolist(), upper.tolist())
        problem = MixedLCP(unit[0] * M, unit[0] * unit[1] * q, unit[1] * lower, unit[1] * upper)
        claim = claim_of(problem)
        assert claim.status is (Status.SOLVED if held else Status.INFEASIBLE)
        seen.add(claim.status)
        for codes in np.array(held, dtype=np.int8).reshape(len(held), problem.n):
            assert any(face_violation(problem, codes, z) <= ON_FACE for z in points_of(claim))
        assert all(problem.certify(z)[2] <= TOL * problem.scale for z in points_of(claim))
    assert len(seen) == 2


def test_finds_all_solutions_in_the_order_of_their_bases():
    """w_i = 1 - z_i: z_i is 0 or 1, row by row."""
    claim = claim_of(MixedLCP(-np.eye(3), np.ones(3)))
    np.testing.assert_array_equal(points_of(claim), list(product([0.0, 1.0], repeat=3)))


def test_a_p_matrix_has_exactly_one_solution():
    for seed in range(20):
        claim = claim_of(random_lcp("p_matrix", 8, seed=seed))
        assert claim.status is Status.SOLVED
        assert claim.alternatives == ()


def test_every_way_to_hold_a_box_row_is_found():
    """w = -z on [-1, 1]: z = -1 with w = 1, z = 1 with w = -1, z = 0 with w = 0."""
    claim = claim_of(MixedLCP([[-1.0]], [0.0], -1.0, 1.0))
    np.testing.assert_array_equal(np.ravel(points_of(claim)), [-1.0, 1.0, 0.0])


@pytest.mark.parametrize(
    "problem",
    [
        MixedLCP([[1.0, 1.0], [1.0, 1.0]], [-1.0, -1.0]),
        MixedLCP(np.zeros((3, 3)), np.zeros(3)),
        MixedLCP(np.zeros((2, 2)), np.zeros(2), -INF),
        MixedLCP([[0.0, 0.0], [0.0, 1.0]], [0.0, -1.0], [2.0, 0.0], [5.0, INF]),
        contact_lcp(1, "full", n_f=4, seed=3),
    ],
)
def test_a_continuum_of_solutions_yields_a_point_of_it(problem):
    claim = claim_of(problem)
    assert claim.status is Status.SOLVED
    assert all(problem.certify(z)[2] <= TOL * problem.scale for z in points_of(claim))


def test_a_singular_basis_alone_can_hold_the_solution():
    """M = 0: w = q + 0 z; the free row holds for every z_2, so only singular bases are left."""
    claim = claim_of(MixedLCP([[1.0, 0.0], [0.0, 0.0]], [-3.0, 0.0], [0.0, -INF]))
    assert claim.z[0] == 3.0


def test_no_solution_comes_with_a_farkas_certificate_where_there_is_one():
    problem = MixedLCP([[-1.0, 0.0], [0.0, 1.0]], [-1.0, 1.0])
    claim = claim_of(problem)
    assert claim.status is Status.INFEASIBLE
    assert proves_infeasible(problem, claim.farkas)


def test_no_solution_is_told_even_where_no_certificate_exists():
    solution = mf.solve(MixedLCP([[1.0, 1.0], [1.0, 0.0]], [1.0, -1.0]), "enum")
    assert solution.status is Status.INFEASIBLE
    assert solution.farkas is None
    assert "all 4 complementary bases are empty" in solution.message


def test_an_ill_conditioned_basis_is_solved_to_rounding():
    """Hilbert's matrix of order 8, condition 1e10: the solution is known because q is made from it."""
    H = 1.0 / (1.0 + np.add.outer(np.arange(8.0), np.arange(8.0)))
    problem = MixedLCP(H, -H @ np.ones(8), -INF)
    claim = claim_of(problem)
    assert problem.certify(claim.z)[2] <= 1e-15


def test_solutions_that_rounding_cannot_confirm_are_not_claimed():
    """The solution is z = (1e10, 1e10 - 1): w cannot be computed to 1e-9 there."""
    problem = MixedLCP([[1.0, -1.0], [-1.0 + 2e-10, 1.0]], [-1.0, -1.0 / 3.0])
    solution = mf.solve(problem, "enum")
    assert solution.status in (Status.SOLVED, Status.NUMERICAL)
    assert solution.ok == (solution.residual <= TOL * problem.scale)


def test_sparse_and_dense_problems_have_the_same_solutions():
    problem = random_lcp("arbitrary", 6, seed=4)
    sparse = MixedLCP(sp.csr_array(problem.M), problem.q, problem.lower, problem.upper)
    np.testing.assert_array_equal(points_of(claim_of(problem)), points_of(claim_of(sparse)))


def test_the_basis_belongs_to_the_first_solution():
    problem = random_lcp("mixed", 7, seed=1)
    claim = claim_of(problem)
    assert face_violation(problem, claim.basis, claim.z) <= ON_FACE


def test_larger_problems_are_refused_in_words():
    solution = mf.solve(random_lcp("monotone", 15), "enum")
    assert solution.status is Status.UNSUPPORTED
    assert "n = 15 exceeds max_n = 14" in solution.message
    assert mf.solve(random_lcp("monotone", 15), "enum", max_n=15).ok


def test_time_that_is_up_is_told():
    problem = random_lcp("infeasible", 8)
    claim = Enumeration()._solve(problem, Request(TOL, deadline=0.0))
    assert claim.status is Status.TIME_LIMIT
    assert "of 256 bases" in claim.message


def test_nothing_has_the_empty_solution():
    assert claim_of(MixedLCP(np.zeros((0, 0)), [])).status is Status.SOLVED
