"""Scenes in Python: defaults, values by name, materials and neighbours, checks when they are made."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import mcpframe as mf
from mcpframe import systems
from mcpframe.contact.detection.materials import Material
from mcpframe.exceptions import ModelError, OptionError, PluginError
from mcpframe.multibody import Hinge, Link, Model, project_loops
from mcpframe.multibody.model.shapes import Geometry, Sphere
from mcpframe.scene.controllers import Constant, Function
from mcpframe.scene.scene import Scene
from mcpframe.scene.settings import Output, Stepping
from mcpframe.spatial.transforms import Pose

ROUNDING = 1e-12


def test_a_model_alone_is_a_scene():
    model = systems.pendulum(3)
    scene = Scene(model)
    state = scene.initial_state()
    assert state.theta.tolist() == state.theta_dot.tolist() == [0.0] * 3
    assert (state.time, scene.name, scene.text) == (0.0, "pendulum", "")
    assert scene.gravity.tolist() == [0.0, 0.0, -9.8]
    assert [shape.name for shape in scene.environment] == ["floor", "wall"]
    assert (scene.stepping.formulation.name, scene.stepping.solver.name) == ("os", "auto")
    assert scene.controller.controllers == ()
    assert repr(scene) == (
        "Scene('pendulum', Model('pendulum', links=3, dofs=3, closures=0), formulation='os', solver='auto', "
        "dt=0.001, duration=1)"
    )


def test_every_initial_state_is_a_new_one():
    scene = Scene(systems.pendulum(1))
    scene.initial_state().update(theta=[1.0])
    assert scene.initial_state().theta.tolist() == [0.0]
    assert not scene.theta.flags.writeable


def test_the_start_is_given_as_a_whole_or_by_name():
    model = systems.quadruped()
    tilt = Pose.from_rpy((0.0, 0.0, 0.5), (0.1, 0.0, 0.0))
    rates = {"FL_shank": 1.0, "trunk": [0, 0, 1, 0, 0, 0]}
    scene = Scene(model, theta={"trunk": tilt, "*_hip": 0.2}, theta_dot=rates, time=2.0)
    state = scene.initial_state()
    np.testing.assert_allclose(state.pose("trunk").position, tilt.position, atol=ROUNDING)
    np.testing.assert_allclose(state.theta[3:7], tilt.quaternion(), atol=ROUNDING)
    assert [state.theta[model.theta_start[model.link_index(f"{leg}_hip")]] for leg in ("FL", "RR")] == [
        0.2,
        0.2,
    ]
    assert state.theta_dot[2] == state.theta_dot[model.dof_index("FL_shank")] == 1.0
    assert state.time == 2.0
    again = Scene(model, theta=scene.theta, theta_dot=scene.theta_dot)
    np.testing.assert_array_equal(again.theta, scene.theta)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"theta": [0.0]}, r"theta: shape \(1,\), expected \(19,\)"),
        ({"theta": {"trnk": 1.0}}, "theta: no coordinate or moving link .*'trnk'; did you mean 'trunk'"),
        ({"theta": {"trunk": [0, 0, 1]}}, r"theta of 'trunk': shape \(3,\), expected \(7,\)"),
        ({"theta": {"trunk": 1.0}}, r"theta of 'trunk': shape \(\), expected \(7,\)"),
        ({"theta": {"trunk": [0, 0, 1, 0, 0, 0, 2]}}, "quaternion"),
        ({"theta": {"FL_hip": Pose()}}, "theta of 'FL_hip': a pose is for ball and free hinges"),
        ({"theta_dot": {"FL_hip": np.inf}}, "theta_dot"),
        ({"time": np.nan}, "time"),
        ({"ignore": [("trunk", "flor")]}, "'flor'; did you mean 'floor'"),
        ({"ignore": [("a", "b", "c")]}, "give a name, or a pair of names"),
        ({"materials": {("trunk", "flor"): Material()}}, "'flor'; did you mean 'floor'"),
        ({"materials": {"default": 0.5}}, "material of 'default': 0.5 is not a Material"),
        ({"controllers": [3.0]}, "3.0 is not a function of state and time"),
        ({"stepping": {"dt": 1.0}}, "stepping: .* is not a Stepping"),
    ],
)
def test_what_does_not_fit_the_model_is_refused_by_name(options, message):
    with pytest.raises(ModelError, match=message):
        Scene(systems.quadruped(), **options)


def test_a_function_is_a_controller_and_one_of_another_model_is_refused():
    model = systems.pendulum(2)
    scene = Scene(model, controllers=[Constant(model, 1.0), lambda state, time: [time, 0.0]])
    assert isinstance(scene.controllers[1], Function)
    assert scene.controller.force(scene.initial_state(), 3.0).tolist() == [4.0, 1.0]
    with pytest.raises(ModelError, match="Constant: made for another model"):
        Scene(systems.pendulum(2), controllers=scene.controllers)


def test_loops_must_be_closed_at_the_start():
    model = systems.four_bar()
    with pytest.raises(ModelError, match="loops of model 'four_bar' are open by .*project_loops closes them"):
        Scene(model, theta={"crank": 0.3})
    closed = project_loops(model, [0.3, 0.0, 0.0])
    np.testing.assert_array_equal(Scene(model, theta=closed).theta, closed)


def test_one_material_is_for_all_and_others_are_by_name():
    model = systems.pendulum(4)
    assert Scene(model, materials=Material(0.3)).materials["default"].mu == 0.3
    slippery = Material(0.1, 0.9, {"name": "torsional", "radius": 0.02})
    materials = {"default": Material(0.5), ("link_*", "wall"): slippery}
    scene = Scene(model, theta=[0.0, -0.9, 0.0, 0.0], materials=materials)
    contacts = scene.detector(margin=20.0).contacts(scene.initial_state())
    by_wall = {contact.normal[0] == -1.0: contact for contact in contacts if contact.body_b == "world"}
    assert (by_wall[True].mu, by_wall[True].restitution) == (0.1, 0.9)
    assert by_wall[True].law == mf.contact_law("torsional", radius=0.02)
    assert (by_wall[False].mu, by_wall[False].law) == (0.5, None)


def touching(scene):
    """Pairs of bodies whose shapes overlap and may meet."""
    contacts = scene.detector().contacts(scene.initial_state())
    return {tuple(sorted((contact.body_a, contact.body_b))) for contact in contacts}


def test_neighbours_meet_only_if_asked_for_and_others_unless_ignored():
    ball = Geometry(Sphere(1.0))
    pin = Hinge("pin", (0, 1, 0))
    links = [
        Link(name, parent, pin, Pose((0.5, 0, 0)), 1.0, inertia=np.eye(3), geometry=ball)
        for name, parent in (("a", "world"), ("b", "a"), ("c", "b"))
    ]
    model = Model(links)
    assert touching(Scene(model)) == {("a", "c")}
    assert touching(Scene(model, neighbours=True)) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert touching(Scene(model, neighbours=[("a", "b")])) == {("a", "b"), ("a", "c")}
    assert touching(Scene(model, ignore=[("c", "a")])) == set()


def test_stepping_is_changed_by_name_and_everything_else_stays():
    scene = Scene(systems.pendulum(2), theta=[0.3, 0.0], materials=Material(0.2), text="text")
    other = scene.with_stepping(dt=0.01, solver="auto", formulation={"name": "mc", "friction_directions": 6})
    assert (other.stepping.dt, other.stepping.solver.name) == (0.01, "auto")
    assert other.stepping.formulation == mf.formulation("mc", friction_directions=6)
    assert scene.stepping == Stepping()
    assert (other.model, other.materials, other.text) == (scene.model, scene.materials, "text")
    np.testing.assert_array_equal(other.theta, scene.theta)
    assert replace(scene, name="other").name == "other"


def test_a_scene_can_be_sent_to_another_process():
    scene = Scene(systems.four_bar(), materials=Material(0.2), stepping=Stepping(duration=2.0))
    copy = pickle.loads(pickle.dumps(scene))
    np.testing.assert_array_equal(copy.theta, scene.theta)
    assert copy.stepping == scene.stepping
    assert copy.materials["default"].mu == 0.2


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"dt": 0.0}, OptionError, "dt = 0.0: input should be greater than 0"),
        ({"dt": np.inf}, OptionError, "dt = inf"),
        ({"duration": "long"}, OptionError, "duration = 'long'"),
        ({"scheme": "event"}, OptionError, "scheme = 'event': .*'event_driven' or 'time_stepping'"),
        ({"integrator": "rk45"}, OptionError, "'semi_implicit_euler' or 'rk4'"),
        ({"restitution_model": "poison"}, OptionError, "'poisson' or 'newton'"),
        ({"on_failure": "ignore"}, OptionError, "'stop', 'auto' or 'best'"),
        ({"max_impacts": 0}, OptionError, "max_impacts = 0"),
        ({"step": 1.0}, OptionError, r"unknown key 'step'; .*\(keys: dt, duration"),
        ({"solver": "lemk"}, PluginError, "unknown solver 'lemk'; did you mean 'lemke'"),
        ({"solver": {"name": "lemke", "pivots": 3}}, OptionError, "solver: lemke: unknown option 'pivots'"),
        ({"solver": 3}, OptionError, "solver: 3: give the name of a solver, or a table with a name"),
        ({"formulation": {"name": "os", "friction_directions": 3}}, OptionError, "friction_directions = 3"),
        ({"formulation": mf.solver("lemke")}, OptionError, "formulation"),
        (
            {"formulation": {"name": "os", "baumgarte": 0.2}},
            OptionError,
            "'baumgarte' .* belongs to the step",
        ),
        ({"baumgarte": 1.5}, OptionError, "baumgarte = 1.5"),
        ({"closure_bias": "yes please"}, OptionError, "closure_bias = 'yes please'"),
    ],
)
def test_bad_settings_are_refused_by_name(options, error, message):
    with pytest.raises(error, match=message):
        Stepping(**options)


@pytest.mark.parametrize(
    ("options", "closure_bias", "baumgarte"),
    [
        ({}, False, 0.0),
        ({"drift_control": "none"}, True, 0.0),
        ({"drift_control": "baumgarte"}, True, 0.2),
        ({"drift_control": "baumgarte", "baumgarte": 0.5, "closure_bias": False}, False, 0.5),
        ({"closure_bias": True, "baumgarte": 0.1}, True, 0.1),
    ],
)
def test_drift_control_decides_what_closures_are_asked_unless_it_is_said(options, closure_bias, baumgarte):
    asked = Stepping(**options).asks
    assert (asked["closure_bias"], asked["baumgarte"]) == (closure_bias, baumgarte)


def test_settings_are_values():
    assert Stepping(solver="auto") == Stepping(solver=mf.solver("auto")) == Stepping()
    assert Output(every=5).with_options(every=2) == Output(every=2)
    with pytest.raises(OptionError, match="every = 0"):
        Output(every=0)
