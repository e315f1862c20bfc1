"""Exact friction cones in steps: every law that has one, in every formulation, against closed forms."""

from dataclasses import replace

import numpy as np
import pytest

import mcpframe as mf
from mcpframe import ConeLCP, FrictionProblem, LawRows, ProblemError
from mcpframe.contact.impact_step import ImpactStep
from mcpframe.contact.law import FORCE_1, FORCE_2, FORCE_N, cone_rows

FORMULATIONS = [name for name, reason in mf.available_formulations().items() if not reason]
LAWS = {
    "coulomb": {},
    "anisotropic": {"mu_1": 0.2, "mu_2": 0.6},
    "torsional": {"radius": 0.02},
    "rolling": {"radius": 0.01},
}
SAME = 1e-9
"""Distance of rates of two formulations: their problems are solved to 1e-9."""
MASS, DT, GRAVITY = 2.0, 0.01, 9.81


def stepped(step, name="os", **options):
    formulation = mf.formulation(name, friction="cone", **options)
    problem, recovery = formulation.build(step)
    return formulation.recover(recovery, mf.solve(problem, "cone", tol=1e-12)), problem


def quadruped_step(law, **options):
    state = mf.systems.quadruped().state(theta_dot=[0.3, 0.2, -0.5] + [0.0] * 15)
    return mf.ContactStep(state, mf.systems.contacts_of(state, 4, mu=0.5), 1e-3, law={"name": law, **options})


@pytest.mark.parametrize("law", LAWS)
def test_every_formulation_finds_the_same_motion_and_it_holds_by_physics(law):
    step = quadruped_step(law, **LAWS[law])
    first, _ = stepped(step)
    for name in FORMULATIONS:
        outcome, problem = stepped(step, name)
        np.testing.assert_allclose(outcome.theta_dot, first.theta_dot, rtol=0, atol=SAME)
        assert isinstance(problem, ConeLCP)
        assert mf.certify_step(outcome.step, outcome).worst < 1e-8, name
        formulation = mf.formulation(name, friction="cone")
        recovery = formulation.build(step)[1]
        assert problem.certify(formulation.express(recovery, first))[2] < SAME


def test_loops_and_limits_stand_beside_cones_as_equations_and_bounds():
    state = mf.systems.four_bar().state()
    step = mf.ContactStep(state, mf.systems.contacts_of(state, 2, mu=0.5), dt=0.01)
    first, problem = stepped(step)
    assert problem.equations.sum() == step.bilateral.n
    for name in FORMULATIONS:
        np.testing.assert_allclose(stepped(step, name)[0].theta_dot, first.theta_dot, atol=1e-8)


def ball_step(velocity, spin=(0.0, 0.0, 0.0), law="coulomb", mu=0.3, **options):
    """A ball on the floor, in hinge rates [linear; angular]."""
    model = mf.systems.sphere(mass=MASS)
    state = model.state(theta_dot=[*velocity, *spin])
    point = state.pose("sphere").position - [0.0, 0.0, 0.1]
    contact = mf.Contact("sphere", "world", point, (0, 0, 1), mu=mu)
    return mf.ContactStep(state, [contact], DT, law={"name": law, **options}, contact_bias=False)


@pytest.mark.parametrize("degrees", [0.0, 17.0, 45.0, 200.0])
def test_friction_of_a_sliding_contact_is_mu_of_the_load_against_the_slip_whatever_its_heading(degrees):
    heading = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0.0])
    outcome, _ = stepped(ball_step(3.0 * heading))
    pressed = MASS * GRAVITY * DT
    np.testing.assert_allclose(outcome.impulses[0], [*(-0.3 * pressed * heading[:2]), pressed], atol=1e-12)
    assert outcome.modes == ["sliding"]


def test_an_ellipse_takes_the_most_power_from_the_slip():
    outcome, _ = stepped(ball_step((2.0, 1.0, 0.0), law="anisotropic", mu_1=0.1, mu_2=0.4))
    slip = outcome.contact_velocities[0, [FORCE_1, FORCE_2]]
    f, pressed = outcome.impulses[0, :2], outcome.impulses[0, 2]
    axes = np.array([0.1, 0.4])
    # Of all forces on the ellipse, f = -(mu_i² v_i) / |mu v| F_n.
    np.testing.assert_allclose(f, -(axes**2) * slip / np.linalg.norm(axes * slip) * pressed, rtol=1e-9)


def test_spin_is_slowed_by_radius_mu_of_the_load():
    outcome, _ = stepped(ball_step((0.0, 0.0, 0.0), spin=(0.0, 0.0, 50.0), law="torsional", radius=0.02))
    np.testing.assert_allclose(outcome.wrenches[0, 2], -0.02 * 0.3 * MASS * GRAVITY * DT, rtol=1e-9)


def test_rolling_is_slowed_by_radius_of_the_load():
    turning = np.array([2.0, -1.0, 0.0])
    velocity = np.cross(turning, [0.0, 0.0, 0.1])  # rolls without slip
    outcome, _ = stepped(ball_step(velocity, spin=turning, law="rolling", radius=0.01, mu=0.9))
    moment = outcome.wrenches[0, :2]
    expected = -0.01 * outcome.impulses[0, 2] * turning[:2] / np.linalg.norm(turning)
    np.testing.assert_allclose(moment, expected, rtol=1e-6)


def test_polygons_come_closer_to_the_cone_with_every_direction():
    step = ball_step((2.0, 1.2, 0.0))
    exact = stepped(step)[0].theta_dot
    errors = []
    for n_f in (4, 8, 16, 32):
        formulation = mf.formulation("os", friction_directions=n_f)
        problem, recovery = formulation.build(step)
        outcome = formulation.recover(recovery, mf.solve(problem, "lemke", throw=True))
        errors.append(np.abs(outcome.theta_dot - exact).max())
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.2 * errors[0]


def test_friction_leans_on_what_an_impact_gives_back():
    model = mf.systems.sphere(mass=MASS)
    state = model.state(theta_dot=[5.0, 0, -1.0, 0, 0, 0])
    point = state.pose("sphere").position - [0.0, 0.0, 0.1]
    contact = mf.Contact("sphere", "world", point, (0, 0, 1), mu=0.3)
    step = ImpactStep(state, [contact], "coulomb", given=[1.5])
    outcome, problem = stepped(step)
    np.testing.assert_allclose(problem.discs.sizes, [[0.3, 0.45]])
    np.testing.assert_allclose(outcome.impulses[0], [-0.3 * (MASS + 1.5), 0.0, MASS], atol=1e-12)
    assert mf.certify_step(outcome.step, outcome).worst < 1e-9


def test_the_exact_problem_of_a_step_is_the_same_from_both_kinds_of_cones():
    step = quadruped_step("coulomb")
    polygon = mf.formulation("os").rows(step).friction_problem()
    cone = mf.formulation("os", friction="cone").rows(step).friction_problem()
    assert isinstance(cone, FrictionProblem)
    np.testing.assert_allclose(cone.W, polygon.W, atol=1e-14)
    np.testing.assert_allclose(cone.q, polygon.q, atol=1e-14)
    np.testing.assert_array_equal(cone.mu, polygon.mu)


def test_one_law_may_be_exact_beside_others_with_edges():
    state = mf.systems.quadruped().state(theta_dot=[0.3, 0.2, -0.5] + [0.0] * 15)
    feet = list(mf.systems.contacts_of(state, 4, mu=0.5))
    round_one = {"name": "coulomb", "friction_directions": 0}
    feet[0] = mf.Contact(feet[0].body_a, feet[0].body_b, feet[0].point, feet[0].normal, mu=0.5, law=round_one)
    formulation = mf.formulation("os")
    problem, recovery = formulation.build(mf.ContactStep(state, feet, 1e-3))
    assert len(problem.discs) == 1
    outcome = formulation.recover(recovery, mf.solve(problem, "auto", throw=True))
    assert mf.certify_step(outcome.step, outcome).worst < 1e-8


@pytest.mark.parametrize(
    "wrong",
    [
        {"discs": [(0, 2, 0.5)]},
        {"discs": [(1, 3, 0.5)]},
        {"discs": [(1, 2, -0.5)]},
        {"discs": [(1, 2, 0.5)], "beta_lower": 0.0},
    ],
)
def test_discs_that_do_not_fit_their_law_are_refused(wrong):
    options = {"beta_lower": [0.0, -np.inf, -np.inf], **wrong}
    with pytest.raises(ProblemError, match="discs"):
        LawRows(np.eye(6)[:, FORCE_N:], **options)


def test_rows_of_a_cone_are_axes_and_a_disc():
    rows = cone_rows((np.eye(6)[:, [FORCE_1, FORCE_2]], 0.4))
    assert rows.discs == ((1, 2, 0.4),)
    assert (rows.m, rows.s, rows.normal) == (3, 0, 0)


def test_a_certificate_sees_friction_beyond_its_cone_or_across_the_slip():
    outcome, _ = stepped(ball_step((3.0, 0.0, 0.0)))
    assert mf.certify_step(outcome.step, outcome).worst < 1e-9
    for wrong in (outcome.beta * [1.0, 1.01, 1.0], outcome.beta + np.array([0.0, 0.0, 0.01])):
        assert mf.certify_step(outcome.step, replace(outcome, beta=wrong)).worst > 1e-4
