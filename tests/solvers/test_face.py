from fractions import Fraction

import numpy as np
import pytest

from mcpframe import MixedLCP
from mcpframe.problem.generators import random_lcp
from mcpframe.solvers.enumeration.face import admissible, face_point, face_violation, regular_point
from mcpframe.solving.solution import AT_LOWER, AT_UPPER, BASIC

INF = np.inf
EXACT = 1e-12
"""Violation, relative to the terms of a relation, that refinement leaves."""


def codes(*values):
    return np.array(values, dtype=np.int8)


def test_codes_of_missing_bounds_are_replaced():
    problem = MixedLCP(np.eye(4), np.zeros(4), [-INF, 0.0, 3.0, -INF], [1.0, INF, 3.0, INF])
    asked = codes(AT_LOWER, AT_UPPER, BASIC, AT_LOWER)
    np.testing.assert_array_equal(admissible(problem, asked), codes(AT_UPPER, BASIC, AT_LOWER, BASIC))


def test_the_point_of_a_regular_basis_is_exact():
    problem = MixedLCP([[2.0, 1.0], [1.0, 3.0]], [-4.0, -7.0])
    z = regular_point(problem, codes(BASIC, BASIC))
    np.testing.assert_array_equal(z, [1.0, 2.0])
    assert face_violation(problem, codes(BASIC, BASIC), z) == 0.0


def test_a_singular_basis_has_no_regular_point():
    assert regular_point(MixedLCP(np.ones((2, 2)), [-1.0, -1.0]), codes(BASIC, BASIC)) is None


def test_refinement_makes_ill_conditioned_points_accurate():
    """Condition 1e10: without exact residuals the error would be 1e-6."""
    H = 1.0 / (1.0 + np.add.outer(np.arange(8.0), np.arange(8.0)))
    q = -H @ np.ones(8)
    z = regular_point(MixedLCP(H, q, -INF), codes(*[BASIC] * 8))
    exact = solve_rationally(H, -q)
    np.testing.assert_allclose(z, exact, rtol=1e-14)


def solve_rationally(A, b):
    rows = [[Fraction(x) for x in row] + [Fraction(y)] for row, y in zip(A.tolist(), b.tolist(), strict=True)]
    for k in range(len(rows)):
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [float(row[-1]) for row in rows]


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_a_point_of_a_singular_face_is_found_in_all_units(size):
    """z_1 + z_2 = size, z_3 = 0 with w_3 = z_1 - size / 2 >= 0."""
    problem = MixedLCP([[1, 1, 0], [1, 1, 0], [1, 0, 0]], [-size, -size, -size / 2])
    face = codes(BASIC, BASIC, AT_LOWER)
    assert face_violation(problem, face, face_point(problem, face)) <= EXACT


def test_the_best_point_of_an_empty_face_misses_it():
    problem = MixedLCP([[1, 1], [1, 1]], [-1.0, -2.0])
    face = codes(BASIC, BASIC)
    assert face_violation(problem, face, face_point(problem, face)) > 0.1


def test_a_solution_lies_on_the_face_of_its_basis_and_on_no_opposite_one():
    problem = MixedLCP([[1.0]], [-2.0])
    assert face_violation(problem, codes(BASIC), np.array([2.0])) == 0.0
    assert face_violation(problem, codes(AT_LOWER), np.array([2.0])) > 0.1
    assert face_violation(problem, codes(AT_LOWER), np.array([0.0])) > 0.1


def test_fixed_rows_ask_nothing_of_w():
    problem = MixedLCP([[1.0]], [-9.0], 2.0, 2.0)
    assert face_violation(problem, codes(AT_LOWER), np.array([2.0])) == 0.0


def test_the_best_point_of_a_face_keeps_the_bounds():
    for seed in range(20):
        problem = random_lcp("mixed", 6, seed=seed)
        z = face_point(problem, admissible(problem, codes(*[BASIC] * 6)))
        np.testing.assert_array_equal(z, np.clip(z, problem.lower, problem.upper))
