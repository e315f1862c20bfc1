"""`nmc` and `mc` against their equations, written with dense operators."""

import numpy as np
import pytest
from contact_scenes import DT, closed_tree, dual_arm, floating_four_bar, quadruped

import mcpframe as mf
from mcpframe.multibody.reference.operators import DenseOperators

EXACT = 1e-11
"""Rounding in sums over two dozen links with entries below a hundred."""


def parts(name, step):
    problem, recovery = mf.formulation(name).build(step)
    state = step.state
    return problem, recovery.terms, DenseOperators(state.model, state.theta, state.theta_dot)


def block(problem, row, column):
    return problem.M_dense[problem.layout[row], problem.layout[column]]


def own(terms, name, size):
    """What unknowns of a block do to each other: closures that repeat others have no impulse, z_i = 0."""
    repeated = np.zeros(size)
    if name == "p_b" and terms.n_b:
        repeated[terms.independent.repeated] = 1.0
    return np.diag(repeated)


@pytest.mark.parametrize("make", [dual_arm, floating_four_bar, quadruped, closed_tree])
def test_mc_is_equation_36(make):
    step = make("coulomb")
    problem, terms, dense = parts("mc", step)
    mass_matrix = dense.mass_matrix()
    np.testing.assert_allclose(block(problem, "theta_dot", "theta_dot"), mass_matrix, atol=EXACT)
    for name in ("p_b", "p_l", "beta"):
        np.testing.assert_array_equal(block(problem, "theta_dot", name), -block(problem, name, "theta_dot").T)
        square = block(problem, name, name)
        np.testing.assert_array_equal(square, own(terms, name, len(square)))
    np.testing.assert_array_equal(block(problem, "beta", "sigma"), terms.laws.N)
    np.testing.assert_array_equal(block(problem, "sigma", "beta"), terms.laws.P)
    forces = step.total_force - dense.bias_force()
    expected = -mass_matrix @ step.state.theta_dot - DT * forces
    np.testing.assert_allclose(problem.q[problem.layout["theta_dot"]], expected, atol=EXACT)
    assert not problem.q[problem.layout["beta"]].any()


@pytest.mark.parametrize("make", [dual_arm, floating_four_bar, closed_tree])
def test_nmc_is_equation_27(make):
    """Links without rotors: the mass matrix is that of the links alone, block by block."""
    problem, terms, dense = parts("nmc", make("coulomb"))
    np.testing.assert_allclose(block(problem, "V", "V"), dense.M, atol=EXACT)
    for name in ("p_h", "p_b", "p_l", "beta"):
        np.testing.assert_array_equal(block(problem, "V", name), -block(problem, name, "V").T)
        square = block(problem, name, name)
        np.testing.assert_array_equal(square, own(terms, name, len(square)))
    hinges = block(problem, "p_h", "V")
    assert np.linalg.matrix_rank(hinges) == len(hinges)
    np.testing.assert_allclose(hinges @ dense.phi.T @ dense.H.T, 0.0, atol=EXACT)
    free = problem.layout.split(problem.free)
    assert all(free[name].all() == (name in ("V", "p_h", "p_b")) for name in free if free[name].size)
