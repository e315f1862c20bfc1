"""Accelerations with contacts that last: known ones, in every formulation, against dense equations."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.detection import Detector, Material
from mcpframe.contact.limits import all_limits
from mcpframe.exceptions import ModelError
from mcpframe.multibody import Hinge, Link, Model
from mcpframe.multibody.model.shapes import Geometry, Plane, Sphere

G = 9.81
EXACT = 1e-9
DIFFERENCED = 1e-7
FORMULATIONS = [name for name, why in mf.available_formulations().items() if not why]


def solved(step, formulation="os", solver="lemke"):
    chosen = mf.formulation(formulation)
    problem, recovery = chosen.build(step)
    return chosen.recover(recovery, mf.solve(problem, solver, throw=True))


def sphere_on_incline(angle, mu, speed=0.0, spin=0.0, radius=0.1):
    model = mf.systems.sphere(radius=radius)
    turned = Model(model.links, geometry=model.geometry, gravity=(G * np.sin(angle), 0.0, -G * np.cos(angle)))
    state = turned.state(theta_dot=[speed, 0, 0, 0, spin, 0])
    contact = mf.Contact("sphere", "world", (0, 0, 0), (0, 0, 1), mu, tangent=(1, 0, 0))
    return state, [contact]


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_sphere_rolls_with_two_sevenths_of_the_pull_as_friction(name):
    angle = 0.3
    state, _ = sphere_on_incline(angle, mu=0.5, speed=0.2, spin=2.0)
    detector = Detector(state.model, materials={"default": Material(mu=0.5)})
    step = mf.AccelerationStep.detected(state, detector)
    outcome = solved(step, name)
    assert step.modes == ["sticking"]
    assert step.acceleration(outcome)[0] == pytest.approx(5 / 7 * G * np.sin(angle), abs=EXACT)
    np.testing.assert_allclose(
        outcome.impulses[0], [-2 / 7 * G * np.sin(angle), 0.0, G * np.cos(angle)], rtol=0.0, atol=EXACT
    )


@pytest.mark.parametrize("name", FORMULATIONS)
def test_friction_is_against_the_slip_that_there_is(name):
    angle, mu = 0.3, 0.2
    step = mf.AccelerationStep(*sphere_on_incline(angle, mu, speed=-1.0))
    outcome = solved(step, name)
    assert step.modes == ["sliding"]
    down = G * (np.sin(angle) + mu * np.cos(angle))  # it slips uphill: friction pulls down
    assert step.acceleration(outcome)[0] == pytest.approx(down, abs=EXACT)
    assert mf.certify_step(step, outcome).worst < 1e-9


def test_a_sticking_contact_that_cannot_hold_begins_to_slip():
    angle, mu = 0.6, 0.05
    step = mf.AccelerationStep(*sphere_on_incline(angle, mu))
    outcome = solved(step)
    assert step.acceleration(outcome)[0] == pytest.approx(G * (np.sin(angle) - mu * np.cos(angle)), abs=EXACT)


def test_directions_of_slip_may_be_given_for_contacts_at_rest():
    angle, mu = 0.1, 0.5
    sticking = mf.AccelerationStep(*sphere_on_incline(angle, mu))
    about_to = mf.AccelerationStep(*sphere_on_incline(angle, mu), slip=[[1.0, 0.0, 0.0]])
    assert (sticking.modes, about_to.modes) == (["sticking"], ["sliding"])
    down = G * (np.sin(angle) - mu * np.cos(angle))
    assert about_to.acceleration(solved(about_to))[0] == pytest.approx(down, abs=EXACT)


def test_a_ball_on_a_ball_feels_that_contacts_wander_and_turn():
    """A ball that slips without friction over a fixed one of radius R: m v²/(R + r) is what gravity lacks."""
    R, r, angle, speed = 0.5, 0.1, 0.4, 0.7
    ball = Link("ball", mass=1.0, inertia=0.004 * np.eye(3), geometry=Geometry(Sphere(r)))
    model = Model([ball], geometry=(Geometry(Sphere(R)),), gravity=(0, 0, -G))
    n = np.array([np.sin(angle), 0.0, np.cos(angle)])
    theta = np.concatenate([(R + r) * n, [0, 0, 0, 1]])
    state = model.state(theta, [speed * n[2], 0, -speed * n[0], 0, 0, 0])
    detector = Detector(model, materials={"default": Material(mu=0.0)})
    step = mf.AccelerationStep.detected(state, detector, law="frictionless")
    force = np.linalg.norm(solved(step).impulses[0])
    assert force == pytest.approx(G * np.cos(angle) - speed**2 / (R + r), abs=DIFFERENCED)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_loops_and_contacts_agree_with_the_dense_equations(name, rng):
    """Every contact closed and sliding: M θ̈ - J* λ = τ - C, J θ̈ = -J̇ θ̇, friction in the columns alone."""
    model = mf.systems.four_bar()
    state = model.state()
    rows = mf.ContactStep(state, [], 1.0).bilateral.jacobian(state)
    rates = np.linalg.svd(rows)[2][-1] * 0.8  # the one motion that the loop allows
    state = model.state(state.theta, rates)
    contacts = mf.systems.contacts_of(state, 1, mu=0.3)
    step = mf.AccelerationStep(state, contacts, tau=[2.0, -1.0, 0.5])
    assert step.modes == ["sliding"]
    outcome = solved(step, name)
    acceleration = step.acceleration(outcome)
    force = outcome.impulses[0]
    on_links = state.link_wrenches({})
    known = state.mass_matrix() @ acceleration + state.bias_force() - step.total_force
    push = state.jacobian([mf.Node(contacts[0].body_a, _local(state, contacts[0]))])[3:].T @ force
    loop = known - push - state.apply_wrenches(on_links)
    G_b = step.bilateral.jacobian(state)
    fitted = np.linalg.lstsq(G_b.T, loop, rcond=None)[0]
    np.testing.assert_allclose(G_b.T @ fitted, loop, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(G_b @ acceleration, -step.bilateral.bias, rtol=0.0, atol=1e-7)


def _local(state, contact):
    pose = state.pose(contact.body_a)
    return pose.rotation.T @ (contact.point - pose.position)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_limit_that_is_touched_is_not_accelerated_into(name):
    arm = Link("arm", hinge=Hinge("pin", (0, 1, 0)), mass=1.0, com=(0, 0, -0.5), inertia=np.eye(3), upper=0.3)
    model = Model([arm])
    state = model.state([0.3])
    assert all_limits(model.tree).bound.tolist() == [0.3]
    pushed = mf.AccelerationStep(state, [], tau=[50.0])
    outcome = solved(pushed, name)
    assert abs(pushed.acceleration(outcome)[0]) < EXACT
    assert outcome.p_l[0] > 0.0
    pulled = mf.AccelerationStep(state, [], tau=[-50.0])
    assert pulled.acceleration(solved(pulled, name))[0] < -1.0


def test_other_laws_and_contacts_with_edges_are_refused():
    state, _ = sphere_on_incline(0.1, 0.5)
    contact = mf.Contact("sphere", "world", (0, 0, 0), (0, 0, 1), 0.5, law="rolling")
    with pytest.raises(ModelError, match="contact 0: at acceleration level"):
        solved(mf.AccelerationStep(state, [contact]))
    with pytest.raises(ModelError, match="bias"):
        mf.AccelerationStep(state, [contact], bias=[1.0])


def test_on_a_plane_points_have_the_acceleration_that_turning_axes_give_them():
    """Rates of a free body are in its axes: for θ̈ = 0 its middle accelerates by ω × v."""
    model = Model(mf.systems.sphere().links, geometry=(Geometry(Plane()),))
    state = model.state(theta_dot=[0.3, 0.1, 0.0, 0.5, -0.2, 0.4])
    detector = Detector(model, materials={"default": Material(mu=0.5)})
    step = mf.AccelerationStep.detected(state, detector, margin=1e-6)
    turned = np.cross([0.5, -0.2, 0.4], [0.3, 0.1, 0.0])
    velocity = [0.0, 0.3 + 0.02, 0.1 + 0.05]
    np.testing.assert_allclose(step.contact_shift[0] + velocity, turned[[2, 0, 1]], rtol=0.0, atol=1e-10)
