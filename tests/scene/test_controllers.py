"""Controllers: forces by name, gains, limits, references and pushes, against closed forms and dynamics."""

import pickle

import numpy as np
import pytest
from trees import random_motion, random_tree

from mcpframe import systems
from mcpframe.exceptions import ModelError
from mcpframe.multibody import Hinge, Link, Model
from mcpframe.scene.controllers import PD, ComputedTorque, Constant, Function, Push, Together
from mcpframe.scene.references import Move, Moves

ROUNDING = 1e-12
DYNAMICS = 1e-8
"""Inverse and forward dynamics of random trees, accelerations of size 1e2, mass matrices of condition 1e3."""


def body(name, parent="world", hinge="free", **options):
    return Link(name, parent, hinge, mass=1.0, inertia=np.eye(3), **options)


@pytest.fixture
def robot():
    """A free trunk, an arm of a universal hinge and a pin, a head on a ball."""
    wrist = Hinge("universal", (1, 0, 0), (0, 1, 0))
    return Model(
        [
            body("trunk"),
            body("arm", "trunk", wrist),
            body("hand", "arm", "pin"),
            body("head", "trunk", "ball"),
        ]
    )


def test_a_constant_number_goes_to_all_dofs_but_those_of_free_hinges(robot):
    tau = Constant(robot, 2.0).force(robot.state(), 0.0)
    assert tau.tolist() == [0.0] * 6 + [2.0] * 6


def test_constant_forces_are_given_by_name_of_dof_link_or_pattern(robot):
    tau = Constant(robot, {"arm[1]": 1.0, "head": [1, 2, 3], "ha*": 7}).force(robot.state(), 0.0)
    assert tau.tolist() == [0.0] * 6 + [0.0, 1.0, 7.0, 1.0, 2.0, 3.0]
    assert Constant(robot, np.arange(12.0)).force(robot.state(), 3.0).tolist() == list(range(12))


@pytest.mark.parametrize(
    ("force", "message"),
    [
        ({"amr": 1.0}, "force: no dof or moving link of model 'model' is called 'amr'; did you mean 'arm'"),
        ({"arm": [1.0, 2.0, 3.0]}, r"force of 'arm': shape \(3,\), expected \(2,\)"),
        ({"arm": "much"}, "force of 'arm'"),
        ([1.0], r"force: shape \(1,\), expected \(12,\)"),
        (np.inf, "finite"),
        (np.nan, "not a number"),
    ],
)
def test_bad_forces_are_refused_by_name(robot, force, message):
    with pytest.raises(ModelError, match=message):
        Constant(robot, force)


def test_pd_pulls_towards_the_reference_at_every_dof_for_itself(robot, rng):
    theta, theta_dot = random_motion(rng, robot)
    target = robot.integrate(theta, rng.uniform(-1, 1, robot.n_dofs))
    tau = PD(robot, 3.0, 0.5, target).force(robot.state(theta, theta_dot), 0.0)
    expected = 3.0 * robot.difference(theta, target) - 0.5 * theta_dot
    np.testing.assert_allclose(tau[6:], expected[6:], atol=ROUNDING)
    assert not tau[:6].any()


def test_gains_and_limits_are_given_by_name(robot):
    theta = robot.integrate(robot.neutral(), np.ones(12))
    gains = {"arm[0]": 5.0, "hand": 2.0}
    tau = PD(robot, gains, 0.0, robot.neutral(), limit={"hand": 0.5}).force(robot.state(theta), 0.0)
    np.testing.assert_allclose(tau, [0.0] * 6 + [-5.0, 0.0, -0.5, 0.0, 0.0, 0.0], atol=ROUNDING)


def test_only_chosen_dofs_have_motors(robot):
    theta = robot.integrate(robot.neutral(), np.ones(12))
    tau = PD(robot, 1.0, 0.0, robot.neutral(), dofs=["trunk", "hand"]).force(robot.state(theta), 0.0)
    assert np.flatnonzero(tau).tolist() == [0, 1, 2, 3, 4, 5, 8]


def test_pd_follows_a_reference_that_moves():
    model = Model([body("a", hinge="pin")])
    reference = Moves(model, [0.0], [Move(np.array([1.0]), 0.0, 1.0)])
    controller = PD(model, 2.0, 3.0, reference)
    assert controller.force(model.state(), 0.5) == pytest.approx([2.0 * 0.5 + 3.0 * 30.0 / 16.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kp": -1.0}, "kp = -1: must not be negative"),
        ({"kd": np.inf}, "kd: every number must be finite"),
        ({"kp": {"trunk": 1.0}}, r"kp: 'trunk\[0\]' is not among the dofs with a motor"),
        ({"dofs": ["foot"]}, "dofs: no dof or moving link of model 'model' is called 'foot'"),
        ({"limit": -2}, "limit = -2"),
        ({"reference": [1.0]}, r"theta: shape \(1,\)"),
    ],
)
def test_bad_options_of_pd_are_refused_by_name(robot, options, message):
    with pytest.raises(ModelError, match=message):
        PD(robot, **{"kp": 1.0, "kd": 1.0, "reference": robot.neutral()} | options)


def test_under_computed_torque_a_free_model_accelerates_as_wanted(rng):
    """Mass^-1 (tau + passive - C) = a, for any tree with springs, dampers and rotors."""
    passive = {"damping": 0.3, "stiffness": 2.0, "armature": 0.1}
    links = [body("a", "world", "ball", **passive), body("b", "a", "pin", **passive)]
    model = Model([*links, body("c", "b", "prismatic", com=(0.2, 0, 0.1), **passive)])
    theta, theta_dot = random_motion(rng, model)
    target = model.integrate(theta, rng.uniform(-0.5, 0.5, model.n_dofs))
    controller = ComputedTorque(model, 9.0, 6.0, target)
    state = model.state(theta, theta_dot)
    tau = controller.force(state, 0.0) + state.passive_force()
    expected = 9.0 * model.difference(theta, target) - 6.0 * theta_dot
    np.testing.assert_allclose(state.free_acceleration(tau), expected, atol=DYNAMICS)


def test_the_acceleration_of_the_reference_is_fed_forward(rng):
    model = random_tree(rng, 4, kinds=("pin", "prismatic", "ball"))
    theta_r, theta_dot_r = random_motion(rng, model)
    theta_ddot_r = rng.standard_normal(model.n_dofs)
    controller = ComputedTorque(model, 1.0, 1.0, lambda time: (theta_r, theta_dot_r, theta_ddot_r))
    state = model.state(theta_r, theta_dot_r)
    acceleration = state.free_acceleration(controller.force(state, 0.0))
    np.testing.assert_allclose(acceleration, theta_ddot_r, atol=DYNAMICS)


def test_dofs_without_a_motor_get_no_computed_torque(robot, rng):
    state = robot.state(*random_motion(rng, robot))
    tau = ComputedTorque(robot, 4.0, 4.0, robot.neutral(), limit=0.25).force(state, 0.0)
    assert not tau[:6].any()
    assert np.abs(tau[6:]).max() == 0.25


def test_a_push_acts_from_its_start_until_its_stop():
    model = systems.quadruped()
    push = Push(model, "trunk", force=(0, 60, 0), moment=(1, 0, 0), point=(0.2, 0, 0), start=0.5, stop=0.6)
    assert push.wrenches(0.49) == push.wrenches(0.6) == {}
    for time in (0.5, 0.55):
        ((node, wrench),) = push.wrenches(time).items()
        assert wrench.tolist() == [1.0, 0.0, 0.0, 0.0, 60.0, 0.0]
        assert (node.body, node.position.tolist()) == ("trunk", [0.2, 0.0, 0.0])
    assert not push.force(model.state(), 0.55).any()


def test_a_push_accelerates_what_it_pushes():
    model = Model([body("ball")], gravity=(0, 0, 0))
    push = Push(model, "ball", force=(0, 3, 0), point=(1, 0, 0))
    acceleration = model.state().free_acceleration(wrenches=push.wrenches(0.0))
    np.testing.assert_allclose(acceleration, [0, 3, 0, 0, 0, 3], atol=ROUNDING)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"body": "bx"}, "no link or frame 'bx'; did you mean 'box'"),
        ({"body": "world"}, "'world' does not move"),
        ({"start": 2.0, "stop": 1.0}, "stop = 1 s must come after start = 2 s"),
        ({"force": (1, 2)}, "push: force: shape"),
        ({"moment": (0, 0, np.nan)}, "push: moment"),
    ],
)
def test_bad_pushes_are_refused(options, message):
    with pytest.raises(ModelError, match=message):
        Push(systems.box(), **{"body": "box"} | options)


def test_a_function_is_called_with_state_and_time(robot):
    controller = Function(robot, lambda state, time: time * np.ones(state.model.n_dofs))
    assert controller.force(robot.state(), 2.0).tolist() == [2.0] * 12


def test_an_answer_that_is_no_force_is_refused_with_the_time(robot):
    with pytest.raises(ModelError, match=r"controller 'two' at 1.5 s: tau: shape \(2,\), expected \(12,\)"):
        Function(robot, lambda state, time: [1.0, 2.0], "two").force(robot.state(), 1.5)
    with pytest.raises(ModelError, match="not a function"):
        Function(robot, 3.0)


def test_forces_and_wrenches_add_up(robot):
    pushes = [Push(robot, "trunk", force=(0, 0, f), start=0.1 * f, stop=0.5) for f in (1.0, 2.0)]
    both = Together(robot, [Constant(robot, 1.0), Constant(robot, {"hand": 2.0}), *pushes])
    assert both.force(robot.state(), 0.0).tolist() == [0.0] * 6 + [1.0, 1.0, 3.0, 1.0, 1.0, 1.0]
    assert sum(wrench[5] for wrench in both.wrenches(0.3).values()) == 3.0


def test_wrenches_on_one_node_are_added(robot):
    push = Push(robot, "trunk", force=(0, 0, 1))
    ((_, wrench),) = Together(robot, [push, push]).wrenches(0.0).items()
    assert wrench[5] == 2.0


def test_controllers_can_be_sent_to_another_process(robot):
    theta = robot.integrate(robot.neutral(), np.ones(12))
    controllers = [Constant(robot, 1.0), PD(robot, 1.0, 1.0, robot.neutral()), Push(robot, "head", (1, 0, 0))]
    copy = pickle.loads(pickle.dumps(Together(robot, controllers)))
    state = robot.state(theta)
    np.testing.assert_array_equal(copy.force(state, 0.0), Together(robot, controllers).force(state, 0.0))
