"""The contact space of a problem: W and q against closed forms, dense algebra and every formulation."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.exceptions import ProblemError
from mcpframe.problem.delassus import contact_space
from mcpframe.problem.friction import FrictionProblem

DT = 1e-3
ROUNDING = 1e-12
"""Relative; a dozen operations on numbers near one."""
ELIMINATION = 1e-8
"""Relative; equations with masses from 0.2 to 6 kg beside unit rows, eliminated one way and another."""


def step_of(model, n_u=4, theta_dot=None, **options):
    state = model.state(theta_dot=theta_dot)
    return mf.ContactStep(state, mf.systems.contacts_of(state, n_u, mu=0.6), DT, **options)


def problem_of(step, name="os", **options):
    return mf.formulation(name, **options).build(step)[0]


def random_friction(rng, n_c=3, dim=3):
    J = rng.standard_normal((dim * n_c, dim * n_c + 2))
    return FrictionProblem(J @ J.T, rng.standard_normal(dim * n_c), rng.uniform(0.1, 1.0, n_c), dim)


def dense_compliance(step):
    """J Mass^-1 J* of the contacts on the rates that the closures allow, by numpy alone."""
    state, model = step.state, step.state.model
    J = step.contact_rows.jacobian(state)
    basis = np.eye(model.n_dofs)
    if model.closures:
        _, s, V = np.linalg.svd(step.bilateral.jacobian(state))
        basis = V[(s > 1e-10 * s[0]).sum() :].T
    mass = basis.T @ state.mass_matrix() @ basis
    return J @ basis @ np.linalg.solve(mass, basis.T @ J.T)


def test_a_ball_on_the_floor_has_the_compliance_of_the_textbook():
    mass = 2.0
    space = contact_space(problem_of(step_of(mf.systems.sphere(0.1, mass), 1)))
    np.testing.assert_allclose(space.W, np.diag([1.0, 3.5, 3.5]) / mass, atol=ROUNDING)  # 1/m, 1/m + r²/I
    np.testing.assert_allclose(space.q, [-9.81 * DT, 0.0, 0.0], atol=ROUNDING)
    assert (space.mu == [0.6]).all()


@pytest.mark.parametrize("n_f", [4, 8, 12])
def test_at_right_angles_w_and_q_are_entries_of_the_problem_to_the_bit(rng, n_f):
    problem = random_friction(rng).to_mixed_lcp(n_f)
    read, where = contact_space(problem), problem.contacts
    rows = np.column_stack([where.normal, where.friction[:, 0], where.friction[:, n_f // 4]]).ravel()
    assert (problem.M[np.ix_(rows, rows)] == read.W).all()
    assert (read.q == problem.q[rows]).all()
    assert (read.mu == where.mu).all()


@pytest.mark.parametrize(("n_f", "dim"), [(4, 3), (6, 3), (8, 3), (10, 3), (2, 2)])
def test_any_number_of_directions_gives_w_back(rng, n_f, dim):
    exact = random_friction(rng, dim=dim)
    read = contact_space(exact.to_mixed_lcp(n_f))
    assert read.dim == dim
    np.testing.assert_allclose(read.W, exact.W, rtol=0.0, atol=ROUNDING * np.abs(exact.W).max())
    np.testing.assert_allclose(read.q, exact.q, rtol=0.0, atol=ROUNDING * np.abs(exact.q).max())


@pytest.mark.parametrize("name", ["os", "dca", "rmc", "mc", "nmc_os", "nmc"])
@pytest.mark.parametrize(
    "model", [mf.systems.quadruped(), mf.systems.four_bar(floating=True)], ids=["quadruped", "four_bar"]
)
def test_every_formulation_has_the_same_contact_space(name, model):
    step = step_of(model)
    space = contact_space(problem_of(step, name))
    oracle = dense_compliance(step)
    np.testing.assert_allclose(space.W, oracle, rtol=0.0, atol=ELIMINATION * np.abs(oracle).max())


def test_a_joint_limit_is_a_contact_without_friction():
    model = mf.systems.quadruped()
    theta = model.neutral()
    theta[model.theta_start[model.link_index("FL_hip")]] = 0.8  # its upper limit
    state = model.state(theta, np.r_[0.0, 0.0, -0.5, np.zeros(3), 2.0, np.zeros(11)])
    step = mf.ContactStep(state, mf.systems.contacts_of(state, 3, mu=0.6), DT)
    formulation = mf.formulation("os")
    problem, recovery = formulation.build(step)
    solution = mf.solve(problem, "lemke")
    outcome = formulation.recover(recovery, solution)
    space = contact_space(problem)
    assert (space.n_c, space.mu[-1]) == (4, 0.0)
    local = np.einsum("uij,uj->ui", step.contacts.axes, outcome.impulses)
    u = space.W @ np.r_[local.ravel(), outcome.p_l, 0.0, 0.0] + space.q
    assert outcome.p_l[0] > 0.0
    np.testing.assert_allclose(u[:9], outcome.contact_velocities[:, 3:].ravel(), atol=1e-9)
    np.testing.assert_allclose(u[9:], [solution.w[problem.layout["p_l"]][0], 0.0, 0.0], atol=1e-9)


def test_what_has_no_contact_space_says_why():
    with pytest.raises(ProblemError, match="no Coulomb contacts"):
        contact_space(mf.MixedLCP([[1.0]], [-1.0]))
    law = {"name": "anisotropic", "mu_1": 0.8, "mu_2": 0.2}
    with pytest.raises(ProblemError, match="contact space"):
        contact_space(problem_of(step_of(mf.systems.box(), law=law)))
    cone = random_friction(np.random.default_rng(0), 1).to_mixed_lcp(4)
    M = np.block([[cone.M, np.zeros((6, 1))], [np.zeros((1, 6)), np.eye(1)]])
    upper = np.r_[np.full(6, np.inf), 2.0]
    two_sided = mf.MixedLCP(M, np.r_[cone.q, 1.0], 0.0, upper, contacts=cone.contacts)
    with pytest.raises(ProblemError, match=r"row 6 has bounds \[0, 2\]"):
        contact_space(two_sided)
