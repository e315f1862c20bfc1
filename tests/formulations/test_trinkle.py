"""`trinkle`: no equations, hinges as pairs of inequalities."""

import numpy as np
from contact_scenes import closed_tree, pendulum

import mcpframe as mf

TOL = 1e-9


def test_no_row_is_an_equation():
    for make in (pendulum, closed_tree):
        problem, _ = mf.formulation("trinkle").build(make("coulomb"))
        assert not problem.free.any()
        assert (problem.lower == 0.0).all()


def test_only_the_difference_of_a_pair_counts():
    formulation = mf.formulation("trinkle")
    problem, _ = formulation.build(pendulum("coulomb"))
    z = mf.solve(problem, throw=True).z.copy()
    for half in ("p_h_plus", "p_h_minus"):
        z[problem.layout[half]] += 0.5
    assert problem.certify(z)[2] <= TOL * problem.scale


def test_an_outcome_is_expressed_with_one_of_each_pair_at_zero():
    formulation = mf.formulation("trinkle")
    problem, recovery = formulation.build(pendulum("coulomb"))
    outcome = formulation.recover(recovery, mf.solve(problem, throw=True))
    z = formulation.express(recovery, outcome)
    plus, minus = z[problem.layout["p_h_plus"]], z[problem.layout["p_h_minus"]]
    assert not np.minimum(plus, minus).any()
