"""Joint limits in simulations: stops with known times and speeds, rest, impacts together with contacts."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.detection.materials import Material
from mcpframe.multibody.model.shapes import Geometry, Plane, Sphere
from mcpframe.scene.scene_file import parse_scene

G = 9.81
TOLERANCE = 1e-6
"""Of angles and lengths at a limit: what the stepping's penetration tolerance is."""
EXACT = 1e-9
"""Of speeds of about one: a certified solution leaves a few times 1e-12."""
FORMULATIONS = sorted(mf.available_formulations())


def slider(**link):
    """A mass of 2 kg on a vertical slide, from 1 m down to its stop at zero."""
    body = {"mass": 2.0, "inertia": np.eye(3), "hinge": mf.Hinge("prismatic", (0, 0, 1)), "lower": 0.0}
    return mf.Model([mf.Link("weight", **{**body, **link})])


def run(model, theta, theta_dot, restitution=0.0, **stepping):
    way = {"dt": 1e-3, "integrator": "rk4", "limit_restitution": restitution, **stepping}
    return mf.simulate(mf.Scene(model, theta, theta_dot, stepping=mf.Stepping(**way)))


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("restitution_model", ["poisson", "newton"])
def test_a_falling_weight_is_stopped_when_and_as_the_textbook_says(e, restitution_model):
    """It arrives after √(2h/g) with √(2 g h), and leaves with e times that."""
    fall = run(slider(), [1.0], [0.0], e, duration=0.6, restitution_model=restitution_model)
    time, speed = np.sqrt(2.0 / G), np.sqrt(2.0 * G)
    assert fall.impacts.time[0] == pytest.approx(time, abs=TOLERANCE / speed + EXACT)
    audit = fall.impacts.energy_before[0], fall.impacts.energy_after[0]
    np.testing.assert_allclose(audit, [2.0 * G, e**2 * 2.0 * G], rtol=2 * TOLERANCE, atol=EXACT)
    assert fall.impacts.n_limits.tolist()[0] == 1
    assert fall.impacts.n_contacts.tolist()[0] == 0
    assert fall.theta.min() >= -TOLERANCE


def test_a_weight_that_bounces_on_a_limit_comes_to_rest_there_in_finite_time():
    """After √(2h/g) (1 + e)/(1 - e), less bounces that would end within the step: 2 dt/(1 - e) at most."""
    fall = run(slider(), [0.1], [0.0], 0.5, duration=0.6)
    end = np.sqrt(0.2 / G) * 3.0
    assert end - 4e-3 <= fall.impacts.time[-1] <= end
    still = fall.time >= end + 1e-3
    np.testing.assert_allclose(fall.theta_dot[still], 0.0, atol=EXACT)
    assert np.abs(fall.theta[still]).max() <= TOLERANCE
    assert (fall.impacts.energy_after <= fall.impacts.energy_before).all()


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_an_arm_that_drops_onto_its_limit_stays_within_it_in_every_formulation(formulation):
    pin, inertia = mf.Hinge("pin", (0, 1, 0)), 0.1 * np.eye(3)
    arm = mf.Link("arm", hinge=pin, mass=1.0, com=(0.5, 0, 0), inertia=inertia, upper=0.4)
    body = {"mass": 0.5, "com": (0.2, 0, 0), "inertia": inertia, "lower": -0.3, "upper": 0.3}
    model = mf.Model([arm, mf.Link("hand", "arm", pin, mf.Pose((1, 0, 0)), **body)])
    fall = run(model, [0.0, 0.2], [0.0, 0.0], 0.3, duration=0.5, formulation=formulation, dt=2e-3)
    assert len(fall.impacts) >= 2
    assert fall.theta[:, 0].max() <= 0.4 + TOLERANCE
    assert np.abs(fall.theta[:, 1]).max() <= 0.3 + TOLERANCE
    assert (fall.impacts.energy_after <= fall.impacts.energy_before + EXACT).all()


def test_fixed_steps_do_not_pass_a_limit_without_restitution():
    fall = run(slider(), [0.5], [0.0], duration=0.5, scheme="time_stepping")
    assert fall.theta.min() >= -EXACT
    np.testing.assert_allclose(fall.theta[-1], 0.0, atol=EXACT)


def test_fixed_steps_pass_a_limit_with_restitution_by_a_step_and_throw_back_the_asked_share():
    """As they do with contacts; the speed is the one at the end of the step, up to g dt off."""
    fall = run(slider(), [0.5], [0.0], 0.5, duration=0.4, scheme="time_stepping")
    speed = np.sqrt(2.0 * G * 0.5)
    assert -speed * 1e-3 <= fall.theta.min() < 0.0
    ratio = fall.impacts.energy_after[0] / fall.impacts.energy_before[0]
    assert ratio == pytest.approx(0.25, abs=EXACT)


def test_limits_of_other_hinges_throw_back_by_name():
    other = mf.Link("other", hinge=mf.Hinge("prismatic", (0, 0, 1)), mass=1.0, inertia=np.eye(3), lower=0.0)
    model = mf.Model([*slider().links, other])
    fall = run(model, [0.5, 0.3], [0.0, 0.0], {"weight": 0.5}, duration=0.33)
    np.testing.assert_allclose(fall.theta_dot[-1, 1], 0.0, atol=EXACT)
    assert fall.theta_dot[-1, 0] > 1.0


@pytest.mark.parametrize(("value", "message"), [({"wait": 0.5}, "weight"), (1.5, "between 0 and 1")])
def test_a_restitution_that_cannot_be_is_refused(value, message):
    with pytest.raises((mf.ModelError, mf.OptionError), match=message):
        run(slider(), [0.5], [0.0], value)


def test_a_leg_that_lands_with_its_knee_at_the_limit_keeps_both():
    """The foot's impact drives the knee into its stop at the same instant."""
    thigh = mf.Link(
        "thigh",
        hinge=mf.Hinge("prismatic", (0, 0, 1)),
        pose=mf.Pose((0, 0, 1.0)),
        mass=5.0,
        inertia=np.eye(3),
    )
    foot = Geometry(Sphere(0.05), mf.Pose((0.4, 0, -0.4)))
    body = {"mass": 1.0, "com": (0.2, 0, -0.2), "inertia": 0.02 * np.eye(3), "lower": 0.0}
    shank = mf.Link("shank", "thigh", mf.Hinge("pin", (0, 1, 0)), **body, geometry=foot)
    model = mf.Model([thigh, shank], geometry=[Geometry(Plane(), name="floor")])
    stepping = mf.Stepping(dt=1e-3, duration=0.6, limit_restitution=0.2)
    scene = mf.Scene(model, [0.3, 0.0], materials=Material(mu=0.0, restitution=0.4), stepping=stepping)
    landing = mf.simulate(scene)
    both = (landing.impacts.n_contacts > 0) & (landing.impacts.n_limits > 0)
    assert both.any()
    assert landing.theta[:, 1].min() >= -TOLERANCE
    assert landing.penetration.max() <= TOLERANCE
    assert (landing.impacts.energy_after <= landing.impacts.energy_before + EXACT).all()


def test_a_hinge_pressed_against_its_limit_rests_there_without_impacts():
    weight = run(slider(), [0.0], [0.0], 0.8, duration=0.1)
    assert len(weight.impacts) == 0
    np.testing.assert_allclose(weight.theta, 0.0, atol=EXACT)


SCENE = """
[[model]]
[[model.link]]
name = "weight"
hinge = { kind = "prismatic", axis = [0, 0, 1] }
mass = 2.0
lower = 0.0

[stepping]
limit_restitution = VALUE
"""


@pytest.mark.parametrize(("value", "expected"), [("0.5", 0.5), ("1", 1.0), ('{ "w*" = 0.25 }', 0.25)])
def test_a_scene_file_gives_one_restitution_for_all_limits_or_some_by_name(value, expected):
    scene = parse_scene(SCENE.replace("VALUE", value))
    np.testing.assert_array_equal(scene.limit_restitution, [expected])


@pytest.mark.parametrize("value", ["1.5", "{ weigth = 0.5 }", '"much"'])
def test_a_scene_file_with_a_bad_restitution_is_refused_with_the_line(value):
    with pytest.raises(mf.exceptions.McpframeError, match=r"line 10.*limit_restitution"):
        parse_scene(SCENE.replace("VALUE", value))
