"""The example scenes: all load, start without overlap, and are what the papers and their comments say."""

from pathlib import Path

import numpy as np
import pytest

from mcpframe.multibody import Node, closure_rows
from mcpframe.multibody.model.shapes import Plane, Sphere
from mcpframe.scene.controllers import PD, ComputedTorque, Push
from mcpframe.scene.scene_file import load_scene
from mcpframe.simulation.simulate import simulate
from mcpframe.systems.contacts import extreme_points

FOLDER = Path(__file__).parents[2] / "examples/scenes"
FILES = sorted(FOLDER.glob("*.toml"))
CONTACT_MODELS = sorted((FOLDER / "contact_models").glob("*.toml"))
ROUNDING = 1e-12
NINE_DIGITS = 1e-8
"""Angles written with nine digits, times arms of less than a metre."""


def scene_of(name):
    return load_scene(FOLDER / f"{name}.toml")


def plane_gaps(scene):
    """Gap of every link's shapes to every plane of the world: its lowest points, in closed form."""
    state = scene.initial_state()
    for plane in scene.environment:
        if isinstance(plane.shape, Plane):
            normal = plane.pose.rotation[:, 2]
            for link in scene.model.links:
                for geometry in link.geometry:
                    pose = state.pose(link.name) @ geometry.pose
                    points = extreme_points(geometry.shape, pose, -normal)
                    yield from ((point - plane.pose.position) @ normal for point in points)


def test_all_examples_are_here():
    assert {path.stem for path in FILES} == {
        *("pendulum_j11", "pendulum_j12", "pendulum_j14", "dual_arm", "quadruped", "box_stack"),
        *("quadruped_lands", "soft_table"),
        *("four_bar", "arm_pushes_box", "hills"),
    }


@pytest.mark.parametrize("path", [*FILES, *CONTACT_MODELS], ids=lambda path: path.stem)
def test_an_example_says_what_it_is_and_starts_without_overlap(path):
    scene = load_scene(path)
    assert scene.name == path.stem
    assert scene.text.startswith("# ")
    deepest = scene.stepping.penetration_tolerance
    contacts = scene.detector(margin=0.01).contacts(scene.initial_state())
    assert min((contact.gap for contact in contacts), default=0.0) >= -deepest
    assert min(plane_gaps(scene), default=0.0) >= -deepest


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_forces_at_the_start_are_finite_and_loops_closed(path):
    scene = load_scene(path)
    state = scene.initial_state()
    tau = scene.controller.force(state, 0.0)
    acceleration = state.free_acceleration(tau + state.passive_force(), scene.controller.wrenches(0.0))
    assert np.isfinite(acceleration).all()
    rows = closure_rows(state)
    np.testing.assert_allclose(rows.error, 0.0, atol=ROUNDING)
    np.testing.assert_allclose(rows.velocity(state), 0.0, atol=ROUNDING)


@pytest.mark.parametrize(
    ("name", "links", "angle", "rate", "dt", "restitution"),
    [
        ("pendulum_j11", 3, np.pi / 2, -1.0, 1e-3, 0.0),
        ("pendulum_j12", 12, np.pi / 2, 1.0, 1e-4, 0.5),
        ("pendulum_j14", 12, np.pi / 4, 1.0, 1e-3, 0.5),
    ],
)
def test_the_pendulums_are_those_of_the_papers(name, links, angle, rate, dt, restitution):
    """12 m of touching spheres of 1 kg, 10 m up, wall at 4 m, g = 9.8, 5 s; straight, away from the wall."""
    scene = scene_of(name)
    state, model = scene.initial_state(), scene.model
    assert (model.n_links, scene.gravity.tolist()) == (links, [0.0, 0.0, -9.8])
    assert state.theta.tolist() == [angle] + [0.0] * (links - 1)
    assert state.theta_dot.tolist() == [rate] + [0.0] * (links - 1)
    centres = np.array([state.pose(Node(link.name, link.com)).position for link in model.links])
    away = 12.0 * (np.arange(links) + 0.5) / links
    expected = np.outer(away, [-np.sin(angle), 0.0, -np.cos(angle)])
    np.testing.assert_allclose(centres - [0.0, 0.0, 10.0], expected, atol=ROUNDING * 12.0)
    assert {link.geometry[0].shape for link in model.links} == {Sphere(6.0 / links)}
    assert {link.mass for link in model.links} == {1.0}
    assert (scene.stepping.dt, scene.stepping.duration, scene.stepping.scheme) == (dt, 5.0, "event_driven")
    assert (scene.materials["default"].restitution, scene.materials["default"].mu) == (restitution, 0.5)
    assert scene.stepping.formulation.name == "os"
    assert min(plane_gaps(scene)) > 0.0


def test_the_quadruped_stands_on_four_feet_and_is_pushed_for_a_tenth_of_a_second():
    scene = scene_of("quadruped")
    contacts = scene.detector(margin=1e-9).contacts(scene.initial_state())
    feet = [f"{leg}_shank" for leg in ("FL", "FR", "RL", "RR")]
    assert sorted(contact.body_a for contact in contacts) == feet
    posture, push = scene.controllers
    assert isinstance(posture, PD)
    assert isinstance(push, Push)
    assert not posture.force(scene.initial_state(), 0.0).any()
    assert scene.controller.wrenches(0.55).keys() == {push.node}


def test_the_boxes_touch_each_other_with_four_corners_at_every_face():
    scene = scene_of("box_stack")
    contacts = scene.detector(margin=1e-9).contacts(scene.initial_state())
    assert len(contacts) == 4 * 5
    np.testing.assert_allclose([contact.gap for contact in contacts], 0.0, atol=ROUNDING)
    for link in scene.model.links:
        np.testing.assert_allclose(link.inertia, link.mass * 0.2**2 / 6.0 * np.eye(3), rtol=ROUNDING)


def test_the_four_bar_falls_from_above_the_floor():
    scene = scene_of("four_bar")
    assert scene.model.n_dofs == 9
    assert min(plane_gaps(scene)) > 0.1
    assert scene.initial_state().kinetic_energy() > 0.0


def test_the_hand_is_two_centimetres_from_the_box_and_goes_through_where_it_stands():
    scene = scene_of("arm_pushes_box")
    state, controller = scene.initial_state(), scene.controllers[0]
    contacts = scene.detector(margin=0.03).contacts(state)
    gaps = [contact.gap for contact in contacts if "forearm" in (contact.body_a, contact.body_b)]
    assert gaps == [pytest.approx(0.02, abs=NINE_DIGITS)]
    assert isinstance(controller, ComputedTorque)
    assert not controller.force(state, 0.0)[2:].any()
    state.update(theta=controller.reference(scene.stepping.duration)[0])
    np.testing.assert_allclose(state.pose("hand").position, [0.55, 0.0, 0.07], atol=NINE_DIGITS)


def test_the_fingertips_of_the_dual_arm_are_sent_below_the_top_of_the_table():
    scene = scene_of("dual_arm")
    tips = [Node(f"{side}_finger_2", (0.0, 0.0, -0.09)) for side in ("left", "right")]
    state = scene.initial_state()
    assert min(state.pose(tip).position[2] for tip in tips) - 0.008 > 0.38
    state.update(theta=scene.controllers[0].reference(scene.stepping.duration)[0])
    assert max(state.pose(tip).position[2] for tip in tips) - 0.008 < 0.37


def test_the_box_on_the_hills_comes_to_rest_and_the_ball_stays_in_its_valley():
    scene = scene_of("hills")
    run = simulate(scene, duration=0.9)
    assert run.penetration.max() <= scene.stepping.penetration_tolerance
    assert np.abs(run.theta_dot[-1, 6:]).max() <= 1e-6
    _, places = run.link_poses(np.arange(len(run)))
    assert (np.abs(places[:, 0, :2] + 0.8) < 0.8).all()  # between the hills around (-0.8, -0.8)
