"""MCPModel: what is written down is what is solved, and mistakes are told by the names of variables."""

import casadi
import numpy as np
import pytest

import mcpframe as mf
from mcpframe.exceptions import ProblemError

EXACT = 1e-9
"""Answers are certified to a residual of 1e-9, and these problems are well conditioned."""


def duopoly(**bounds):
    """Return two firms with marginal cost c_i + q_i, price 10 - Q, that take the price as given: c_i = i."""
    model = mf.MCPModel("duopoly")
    c = model.parameter("c", 2, value=[1.0, 2.0])
    q = model.variable("q", 2, **bounds)
    for i in q:
        (c[i] + q[i] - (10 - sum(q.values()))).perp(q[i])
    return model, q


def test_an_affine_model_is_the_mixed_lcp_of_its_coefficients():
    model, _ = duopoly()
    problem = model.problem()
    assert isinstance(problem, mf.MixedLCP)
    assert np.array_equal(problem.M_dense, [[2.0, 1.0], [1.0, 2.0]])
    assert np.array_equal(problem.q, [-9.0, -8.0])
    assert problem.layout.sizes == {"q": 2}


@pytest.mark.parametrize("solver", ["path", "newton", "lemke", "auto", "enum"])
def test_every_solver_takes_an_affine_model(solver):
    model, q = duopoly()
    answer = model.solve(solver, throw=True)
    assert answer["q"] == pytest.approx({0: 10 / 3, 1: 7 / 3}, abs=EXACT)
    assert answer[q[0]] == answer["q"][0]
    assert answer[q] == answer["q"] == answer.values["q"]


@pytest.mark.parametrize("solver", ["path", "newton"])
def test_a_nonlinear_model_has_the_root_of_its_expression(solver):
    model = mf.MCPModel()
    x, y = model.free("x", start=1.0), model.variable("y", upper=0.5)
    (np.exp(x) - 2).perp(x)
    (y - x).perp(y)
    answer = model.solve(solver, throw=True)
    assert isinstance(model.problem(), mf.MCP)
    assert answer["x"] == pytest.approx(np.log(2.0), abs=EXACT)
    assert answer["y"] == pytest.approx(0.5, abs=EXACT), "it stops at its upper bound"
    assert answer.slack("y") == pytest.approx(0.5 - np.log(2.0), abs=EXACT), "negative there"
    assert answer[x**2 + y] == pytest.approx(np.log(2.0) ** 2 + 0.5, abs=EXACT)


def test_parameters_change_the_problem_and_answers_are_starts():
    model, _ = duopoly()
    first = model.solve("path")
    none_left = model.solve("path", parameters={"c": {0: 1.0, 1: 20.0}}, start=first)
    assert none_left["q"] == pytest.approx({0: 4.5, 1: 0.0}, abs=EXACT)
    assert none_left.slack("q")[1] == pytest.approx(14.5, abs=EXACT)
    assert model.solve("path")["q"] == first["q"], "the model keeps its own values"


def test_parameters_of_nonlinear_models_change_too():
    model = mf.MCPModel()
    a, x = model.parameter("a", value=4.0), model.variable("x", start=1.0)
    (x**2 - a).perp(x)
    roots = [model.solve("newton", parameters={"a": value})["x"] for value in (4.0, 9.0)]
    assert roots == pytest.approx([2.0, 3.0], abs=EXACT)


def test_columns_pair_with_families_in_order():
    A, b = np.array([[2.0, 1.0], [0.0, 3.0]]), np.array([4.0, 6.0])
    model = mf.MCPModel()
    x = model.free("x", ("u", "v"))
    (A @ x.vector - b).perp(x)
    assert list(model.solve()["x"].values()) == pytest.approx(np.linalg.solve(A, b), abs=EXACT)


def test_a_function_of_casadi_can_be_paired_and_operators_lead_back():
    model = mf.MCPModel()
    x, y = model.free("x"), model.free("y")
    model.pair(casadi.log(1 + x), x)
    (casadi.exp(x) * y - 3).perp(y)
    answer = model.solve("newton")
    assert (answer["x"], answer["y"]) == pytest.approx((0.0, 3.0), abs=EXACT)


def test_numbers_come_as_one_for_all_by_key_or_as_arrays():
    model = mf.MCPModel()
    model.variable("x", ("a", "b"), 2, lower=[[0, 1], [2, 3]], upper=dict.fromkeys(KEYS, 9.0))
    block = model.variables["x"]
    assert list(block.labels) == ["x[a, 0]", "x[a, 1]", "x[b, 0]", "x[b, 1]"]
    model.pair(casadi.SX(np.zeros(4)), model_family(model, "x"))
    problem = model.problem()
    assert problem.lower.tolist() == [0, 1, 2, 3]
    assert problem.upper.tolist() == [9.0] * 4


KEYS = [("a", 0), ("a", 1), ("b", 0), ("b", 1)]


def model_family(model, name):
    return model._handle(model.variables[name])


def test_a_large_affine_model_is_sparse():
    model = mf.MCPModel()
    x = model.variable("x", 500)
    for i in x:
        (2 * x[i] - (x[i - 1] if i else 0) - 1).perp(x[i])
    problem = model.problem()
    assert problem.is_sparse
    assert model.solve("path").ok


def test_answers_print_every_variable_with_its_slack():
    model, _ = duopoly()
    answer = model.solve("path", parameters={"c": [1.0, 20.0]})
    lines = str(answer).splitlines()
    assert lines[0].startswith("Answer('duopoly', SOLVED")
    assert lines[1].split() == ["variable", "lower", "value", "upper", "slack"]
    assert lines[3].split() == ["q[1]", "0", "0", "inf", "14.5"]
    assert "q[1]" in answer._repr_html_()


def test_the_log_names_variables():
    model = mf.MCPModel()
    x = model.variable("x", ("bread", "wine"), start=3.0)
    for key in x:
        (x[key] ** 3 - 2).perp(x[key])
    assert "(x[bread])" in model.solve("path").log()


def test_blocks_without_names_are_labelled_by_place():
    layout = mf.Layout({"beta": 2, "sigma": 1}, {"sigma": ["slip of the foot"]})
    assert [layout.label(i) for i in range(3)] == ["beta[0]", "beta[1]", "slip of the foot"]


def test_a_variable_without_a_pair_is_named():
    model = mf.MCPModel()
    x = model.variable("x", ("a", "b"))
    x["a"].perp(x["a"])
    with pytest.raises(ProblemError, match=r"x\[b\]: has no pair"):
        model.solve()


def test_a_second_pair_is_refused():
    _, q = duopoly()
    with pytest.raises(ProblemError, match=r"q\[0\]: is paired already"):
        q[1].perp(q[0])


def test_a_stranger_in_an_expression_is_named():
    model, other = mf.MCPModel("mine"), mf.MCPModel("other")
    x, y = model.variable("x"), other.variable("y")
    (x + y).perp(x)
    with pytest.raises(ProblemError, match="x: its expression uses 'y', which is no variable .* of 'mine'"):
        model.problem()
    with pytest.raises(ProblemError, match="is a variable of the model 'other'"):
        model.pair(x, y)


def test_an_expression_without_a_value_at_the_start_is_named_with_what_it_uses():
    model = mf.MCPModel()
    p = model.variable("price", ("bread", "wine"))
    (1 - 1 / p["bread"]).perp(p["bread"])
    p["wine"].perp(p["wine"])
    with pytest.raises(
        ProblemError, match=r"price\[bread\]: its expression is .*inf at the start \(price\[bread\] = 0\)"
    ):
        model.solve("newton")
    assert model.solve("newton", start={"price": 2.0})["price"]["bread"] == pytest.approx(1.0, abs=EXACT)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda m: m.variable("x"), "x: the model 'm' has something of that name"),
        (lambda m: m.variable("y", lower=2.0, upper=1.0), "y: lower = 2 and upper = 1"),
        (lambda m: m.variable("y", ("a", "b"), lower={"a": 1.0}), "y: lower is not given for 'b'"),
        (
            lambda m: m.variable("y", ("ab", "b"), upper={"abc": 1.0}),
            "y: upper is given for 'abc'.*mean 'ab'",
        ),
        (lambda m: m.variable("y", ("a", "a")), "y: an element of .* is there twice"),
        (lambda m: m.variable("y", 2, start=[1.0, 2.0, 3.0]), "y: start .* does not fit"),
        (lambda m: m.parameter("y", value="much"), "y: value = 'much' does not fit"),
        (lambda m: m.parameter("y", value=float("nan")), "y: value is nan"),
        (
            lambda m: m.variable("y", ("ant", "bee"))["aunt"],
            "y: there is no entry 'aunt'; did you mean 'ant'",
        ),
        (lambda m: m.variable("y", 3).vector.perp(m.variable("z", 2)), "z: 3 expressions for 2 variables"),
        (lambda m: m.variable("y").perp(3), "is not a variable; write expression.perp"),
        (lambda m: m.solve(parameters={"tx": 1}), "tx: the model has no such parameter; did you mean 'tax'"),
        (lambda m: m.solve(start={"xx": 1}), "xx: the model has no such variable"),
        (lambda m: m.solve()["xy"], "'xy': the model has no such variable"),
    ],
)
def test_mistakes_are_told_by_name(make, words):
    model = mf.MCPModel("m")
    x = model.variable("x")
    tax = model.parameter("tax", value=1.0)
    (x - tax).perp(x)
    with pytest.raises(ProblemError, match=words):
        make(model)


def test_a_solve_that_fails_is_a_status():
    model = mf.MCPModel()
    x = model.variable("x")
    (-1 - x).perp(x)  # w < 0 for every x >= 0
    answer = model.solve("path")
    assert not answer.ok
    assert answer.status is answer.solution.status
