import pickle
from fractions import Fraction

import casadi
import numpy as np
import pytest
import scipy.sparse as sp

from mcpframe import MCP, ContactBlocks, Layout, MixedLCP, ProblemError

ROUNDING = 1e-14
"""A few units in the last place of numbers of size one."""


def test_scalar_bounds_are_broadcast():
    problem = MixedLCP(np.eye(3), np.zeros(3), -1.0, 2)
    np.testing.assert_array_equal(problem.lower, [-1.0] * 3)
    np.testing.assert_array_equal(problem.upper, [2.0] * 3)


def test_the_default_is_a_linear_complementarity_problem():
    problem = MixedLCP([[1]], [-9.8])
    assert (problem.lower[0], problem.upper[0]) == (0.0, np.inf)
    assert not problem.free.any()
    assert not problem.fixed.any()


def test_free_and_fixed_rows_are_told_apart():
    problem = MixedLCP(np.eye(3), np.zeros(3), [-np.inf, 1.0, 0.0], [np.inf, 1.0, np.inf])
    assert problem.free.tolist() == [True, False, False]
    assert problem.fixed.tolist() == [False, True, False]


@pytest.mark.parametrize("M", [np.zeros((0, 0)), [], sp.csr_array((0, 0))])
def test_the_empty_problem_is_a_problem(M):
    problem = MixedLCP(M, [])
    z, w, residual = problem.certify(np.zeros(0))
    assert (problem.n, z.size, w.size, residual, problem.scale) == (0, 0, 0, 0.0, 1.0)
    assert problem.is_psd
    assert problem.is_symmetric
    assert problem.is_p_matrix
    assert problem.scaling[0].shape == (0,)


def test_arrays_are_copies_that_nobody_can_change():
    M, q = np.eye(2), np.ones(2)
    problem = MixedLCP(M, q)
    M[0, 0] = q[0] = 7.0
    assert problem.M[0, 0] == problem.q[0] == 1.0
    for array in (problem.M, problem.q, problem.lower, problem.upper):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_a_sparse_matrix_is_copied_and_frozen_with_its_pattern():
    M = sp.csr_array(np.array([[1.0, 2.0], [0.0, 3.0]]))
    problem = MixedLCP(M, np.ones(2))
    M.data[0] = 9.0
    assert problem.M[0, 0] == 1.0
    for array in (problem.M.data, problem.M.indices, problem.M.indptr):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_every_sparse_format_is_taken_and_duplicates_are_summed():
    entries = sp.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    for M in (entries, entries.tocsc(), entries.tolil(), sp.coo_matrix(entries)):
        np.testing.assert_array_equal(MixedLCP(M, np.ones(2)).M_dense, [[3.0, 0.0], [0.0, 4.0]])


def test_stored_zeros_of_a_sparse_matrix_are_kept():
    M = sp.csr_array(([0.0, 1.0], ([0, 1], [1, 1])), shape=(2, 2))
    assert MixedLCP(M, np.zeros(2)).M.nnz == 2


def test_a_matrix_in_columns_is_stored_in_rows():
    M = np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])
    problem = MixedLCP(M, np.zeros(2))
    assert problem.M.flags.c_contiguous
    np.testing.assert_array_equal(problem.M, M)


def test_the_residual_is_the_definition_for_dense_and_sparse(rng):
    for _ in range(50):
        n = int(rng.integers(1, 9))
        M, q = rng.normal(size=(n, n)), rng.normal(size=n)
        lower = np.where(rng.random(n) < 0.3, -np.inf, rng.normal(size=n))
        upper = np.where(rng.random(n) < 0.3, np.inf, np.maximum(lower, 0.0) + rng.random(n))
        point = 3.0 * rng.normal(size=n)
        expected_z = np.clip(point, lower, upper)
        w = M @ expected_z + q
        off, size = np.abs(expected_z - np.clip(expected_z - w, lower, upper)), 1.0 + np.abs(q)
        for matrix in (M, sp.csr_array(M)):
            problem = MixedLCP(matrix, q, lower, upper)
            z, w, judged = problem.certify(point)
            np.testing.assert_array_equal(z, expected_z)
            np.testing.assert_allclose(w, M @ z + q, atol=10 * n * ROUNDING)
            assert abs(judged - size.max() * (off / size).max()) <= 10 * n * ROUNDING
            assert abs(problem.natural_residual(z, w) - off.max()) <= 10 * n * ROUNDING


@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_array])
def test_rows_beside_a_huge_one_are_judged_at_their_own_scale(matrix):
    q = np.r_[-1e11, -np.ones(20)]
    problem = MixedLCP(matrix(np.eye(21)), q)
    right, wrong = -q, -q + np.r_[0.0, np.full(20, 0.24)]
    assert problem.certify(right)[2] == 0.0
    assert problem.certify(wrong)[2] == pytest.approx(0.12 * problem.scale)
    assert problem.natural_residual(wrong, wrong + q) < 1e-9 * problem.scale


@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_array])
def test_what_rounding_alone_does_to_a_row_is_excused_at_any_tolerance(matrix, rng):
    # Heavy things: M is small, z = 1e9 / 3, and the third row adds up what nearly cancels.
    third = 1e9 / 3.0
    M = np.array([[3e-9, 0.0, 0.0], [0.0, 3e-9, 0.0], [1.0, -1.0, 1.0]])
    problem = MixedLCP(matrix(M), [-1.0, -1.0, 0.0], -np.inf, np.inf)
    ulp = np.spacing(third)
    assert problem.certify(np.array([third + ulp, third, 0.0]))[2] <= 1e-15
    assert problem.certify(np.array([third + 1e3 * ulp, third, 0.0]))[2] > 1e-5


@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_array])
def test_a_point_on_its_way_to_infinity_is_excused_nothing(matrix):
    # w_1 + w_2 = -2 whatever z is: no solution, but at z = (t, t) rounding hides it from t = 1e16 on.
    problem = MixedLCP(matrix(np.array([[1.0, -1.0], [-1.0, 1.0]])), [-1.0, -1.0])
    assert problem.certify(np.array([1e16, 1e16]))[2] == 1.0


@pytest.mark.parametrize("matrix", [np.array, sp.csr_array])
def test_the_double_next_to_an_exact_solution_is_one_however_ill_conditioned_the_data(matrix):
    # M of condition 1e13 made for z = (1e5, -1e5 + 1 / 3, ..): far beyond what 1 + |q| = 2 suggests.
    a, b = 1.0 + 2.0**-43, 1.0 - 2.0**-44
    M = [[a, 1.0], [1.0, b]]
    exact = [Fraction(x) for x in (1e5, -1e5)]
    exact[1] += Fraction(1, 3)
    q = [-float(Fraction(row[0]) * exact[0] + Fraction(row[1]) * exact[1]) for row in M]
    determinant = Fraction(a) * Fraction(b) - 1
    z = [
        float((-Fraction(b) * Fraction(q[0]) + Fraction(q[1])) / determinant),
        float((Fraction(q[0]) - Fraction(a) * Fraction(q[1])) / determinant),
    ]
    problem = MixedLCP(matrix(M), q, -np.inf, np.inf)
    assert problem.certify(np.array(z))[2] <= 1e-14
    assert problem.certify(np.array([z[0] + 1e-9, z[1]]))[2] > 1e-10


@pytest.mark.parametrize("matrix", [np.array, sp.csr_array])
def test_far_out_only_the_last_bits_are_excused_and_never_much(matrix):
    problem = MixedLCP(matrix([[1.0, -1.0], [-1.0, 1.0]]), [-1.0, 1.0 - 1e-4])  # w_1 + w_2 = -1e-4
    for size in (1e3, 1e9, 1e14):
        assert problem.certify(np.array([size + 1.0, size]))[2] >= 5e-5


@pytest.mark.parametrize("matrix", [np.array, sp.csr_array])
def test_a_wrong_w_is_not_excused_because_z_is_near_its_bound(matrix):
    # z_2 is 1e-8 below its bound 0: less than rounding of terms of 1e9, but w_2 = -1e9 asks for the bound.
    problem = MixedLCP(matrix([[1.0, 0.0], [-1.0, 1.0]]), [-1e9, 0.0], -np.inf, [np.inf, 0.0])
    assert problem.certify(np.array([1e9, 0.0]))[2] == 0.0
    assert problem.certify(np.array([1e9, -1e-8]))[2] == pytest.approx(1e-8 * problem.scale)


def test_rounding_is_excused_in_a_nonlinear_row_up_to_a_limit():
    z = casadi.SX.sym("z")
    problem = MCP(casadi.Function("F", [z], [1e6 * (z - 3) + 1e-10]), -np.inf, np.inf)
    assert problem.certify(np.array([3.0]))[2] == 0.0
    assert problem.natural_residual(np.array([3.0]), np.array([1e-10])) == 1e-10
    far = MCP(casadi.Function("F", [z], [1e300 * (z - z) + 1.0]), -np.inf, np.inf)
    assert far.certify(np.array([1e16]))[2] == 1.0


def test_a_small_w_beside_a_huge_z_still_counts():
    _, _, residual = MixedLCP([[1e-17]], [0.5]).certify(np.array([1e16]))
    assert residual == pytest.approx(0.6)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_point_that_is_not_finite_has_an_infinite_residual(bad):
    problem = MixedLCP(np.eye(2), np.zeros(2), -np.inf, np.inf)
    assert problem.certify(np.array([0.0, bad]))[2] == np.inf


def test_certify_leaves_the_given_point_alone():
    point = np.array([-5.0])
    MixedLCP([[1.0]], [1.0]).certify(point)
    assert point[0] == -5.0


def test_the_evaluator_of_a_linear_problem_is_affine():
    M, q = np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([-1.0, 4.0])
    for matrix in (M, sp.csr_array(M)):
        evaluator = MixedLCP(matrix, q).evaluator()
        np.testing.assert_array_equal(evaluator.F(np.array([2.0, 5.0])), [11.0, 19.0])
        np.testing.assert_array_equal(evaluator.J(np.zeros(2)).toarray(), M)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0, 2.0]], [1.0]), r"M: shape \(1, 2\), expected \(1, 1\) because q has 1 entries"),
        ((np.eye(2), [1.0]), r"M: shape \(2, 2\)"),
        ((sp.eye_array(2), [1.0]), r"M: shape \(2, 2\)"),
        ((1.0, [1.0]), r"M: shape \(\)"),
        (([[1.0]], [[1.0]]), r"q: shape \(1, 1\), expected a vector"),
        (([[1.0]], 1.0), r"q: shape \(\)"),
        (([[np.nan]], [1.0]), r"M: entry \(0, 0\) is nan"),
        ((sp.csr_array([[0.0, 1.0], [0.0, np.inf]]), [1.0, 1.0]), r"M: entry \(1, 1\) is inf"),
        (([[1.0]], [np.inf]), "q: entry 0 is inf"),
        (([[1j]], [1.0]), "M: cannot be read as real numbers"),
        ((sp.csr_array([[1j]]), [1.0]), "M: cannot be read as real numbers"),
        (([[1.0]], ["one"]), "q: cannot be read"),
        (([[1.0], [1.0, 2.0]], [1.0, 1.0]), "M: cannot be read"),
        (([[1.0]], [1.0], [0.0, 0.0]), r"lower: shape \(2,\), expected \(1,\) or a scalar"),
        (([[1.0]], [1.0], 0.0, np.nan), "upper: entry 0 is nan"),
        (([[1.0]], [1.0], 2.0, 1.0), r"lower\[0\] = 2.0 and upper\[0\] = 1.0 leave no value"),
        (([[1.0]], [1.0], np.inf, np.inf), r"lower\[0\] = inf"),
        (([[1.0]], [1.0], -np.inf, -np.inf), r"upper\[0\] = -inf"),
        (([[10**400]], [1.0]), "M: cannot be read"),
    ],
)
def test_bad_data_is_refused_with_field_and_value(arguments, message):
    with pytest.raises(ProblemError, match=message):
        MixedLCP(*arguments)


def test_the_layout_must_cover_z():
    with pytest.raises(ProblemError, match="add up to 3, but z has 2"):
        MixedLCP(np.eye(2), np.zeros(2), layout=Layout({"beta": 3}))


def test_contacts_must_lie_in_z():
    contacts = ContactBlocks([0], [[1, 2]], [3], [0.5])
    with pytest.raises(ProblemError, match="outside z of length 2"):
        MixedLCP(np.eye(2), np.zeros(2), contacts=contacts)


def test_a_problem_survives_pickling():
    for M in (np.eye(2), sp.eye_array(2)):
        again = pickle.loads(pickle.dumps(MixedLCP(M, [1.0, -2.0], layout=Layout({"a": 2}))))
        assert again.certify(np.array([0.0, 2.0]))[2] == 0.0
        assert again.layout == Layout({"a": 2})


def quadratic(parameters=0):
    """F(z) = z^2 - c, with c = 4 or the parameter."""
    z, p = casadi.SX.sym("z", 2), casadi.SX.sym("p", parameters)
    return casadi.Function("F", [z, p], [z**2 - p]) if parameters else casadi.Function("F", [z], [z**2 - 4])


def test_an_mcp_certifies_like_its_definition():
    problem = MCP(quadratic())
    z, w, residual = problem.certify(np.array([2.0, -1.0]))
    np.testing.assert_array_equal(z, [2.0, 0.0])
    np.testing.assert_array_equal(w, [0.0, -4.0])
    assert residual == 4.0
    assert problem.scale == 1.0


def test_parameters_change_the_problem_and_not_its_derivatives():
    problem = MCP(quadratic(1), p=9.0)
    other = problem.with_parameters([16.0])
    assert problem.certify(np.array([3.0, 3.0]))[2] == 0.0
    assert other.certify(np.array([4.0, 4.0]))[2] == 0.0
    assert other.jacobian is problem.jacobian


def test_the_jacobian_equals_finite_differences(rng):
    z = casadi.MX.sym("z", 3)
    F = casadi.Function("F", [z], [casadi.vertcat(casadi.sin(z[1]), z[0] * z[2], casadi.exp(z[0]))])
    evaluator = MCP(F, -np.inf).evaluator()
    point, h = rng.normal(size=3), 1e-6
    columns = [(evaluator.F(point + h * e) - evaluator.F(point - h * e)) / (2 * h) for e in np.eye(3)]
    truncation = 1e-8  # central differences of functions of size one: h^2 and rounding / h
    np.testing.assert_allclose(evaluator.J(point).toarray(), np.column_stack(columns), atol=truncation)


def test_structural_zeros_of_F_and_its_jacobian_are_values():
    z = casadi.SX.sym("z", 2)
    problem = MCP(casadi.Function("F", [z], [casadi.vertcat(casadi.SX(1, 1), z[0])]), -np.inf)
    np.testing.assert_array_equal(problem.evaluator().F(np.array([3.0, 4.0])), [0.0, 3.0])
    np.testing.assert_array_equal(problem.evaluator().J(np.zeros(2)).toarray(), [[0.0, 0.0], [1.0, 0.0]])


def test_the_empty_mcp_is_a_problem():
    z = casadi.SX.sym("z", 0)
    problem = MCP(casadi.Function("F", [z], [z]))
    assert problem.certify(np.zeros(0))[2] == 0.0
    assert problem.evaluator().J(np.zeros(0)).shape == (0, 0)


def test_a_function_that_blows_up_is_not_finite():
    z = casadi.SX.sym("z")
    assert MCP(casadi.Function("F", [z], [1 / z])).certify(np.zeros(1))[2] == np.inf


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MCP(lambda z: z), "F: expected a casadi.Function, got function"),
        (lambda: MCP(casadi.Function("F", [], [casadi.SX(1)])), "F: 0 inputs"),
        (lambda: MCP(quadratic(1)), "p: 0 values, but F takes 1 parameters"),
        (lambda: MCP(quadratic(), p=[1.0]), "p: 1 values, but F takes 0 parameters"),
        (lambda: MCP(quadratic(1), p=[np.nan]), "p: entry 0 is nan"),
        (lambda: MCP(quadratic(), lower=[0.0]), r"lower: shape \(1,\)"),
        (lambda: MCP(quadratic(), layout=Layout({"a": 1})), "layout"),
    ],
)
def test_bad_functions_are_refused_with_field_and_value(make, message):
    with pytest.raises(ProblemError, match=message):
        make()


def test_a_function_must_map_columns_to_columns_of_the_same_length():
    z, p = casadi.SX.sym("z", 2), casadi.SX.sym("p", 2, 2)
    with pytest.raises(ProblemError, match=r"F\(z\)"):
        MCP(casadi.Function("F", [z], [z[0]]))
    with pytest.raises(ProblemError, match="column vector"):
        MCP(casadi.Function("F", [z, p], [p @ z]), p=np.zeros(4))
