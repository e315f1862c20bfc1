"""Closures: their rows are the rates of their errors, their bias the rate of those, and momentum is kept."""

import numpy as np
import pytest
from trees import random_motion, random_tree

from mcpframe.exceptions import ModelError
from mcpframe.multibody import Ball, Distance, Gear, Hinge, Link, Model, Node, Pin, Weld, closure_rows
from mcpframe.spatial.transforms import Pose, rotation_from_axis_angle

STEP = 1e-5
"""Seconds on either side in central differences: truncation and rounding both stay near 1e-9."""
DIFFERENCE_TOLERANCE = 1e-6
ROUNDING = 1e-12
KINDS = ("pin", "prismatic", "universal", "planar", "ball", "free", "cylindrical")
NODE_KINDS = ("Weld", "Pin", "Ball", "Distance")
PIN = Hinge("pin", (0, 1, 0))
AXIS = (0.6, 0.0, 0.8)


def bar(name, parent="world", hinge=PIN):
    return Link(name, parent, hinge, Pose((0, 0, -1)), mass=1.0, com=(0, 0, -0.5), inertia=0.1 * np.eye(3))


def closed_case(rng, kind, on_world=False, drift=0.0):
    """A random tree with nodes on two links, and a closure that holds there up to a drift."""
    model = random_tree(rng, 9, KINDS, extra_roots=0.2)
    theta, theta_dot = random_motion(rng, model)
    names = [model.links[k].name for k in rng.choice(model.n_links, 2, replace=False)]
    node_a = Node(names[0], rng.uniform(-1, 1, 3), Pose.from_rpy(rpy=rng.uniform(-3, 3, 3)).rotation)
    body_b = "world" if on_world else names[1]
    state = model.state(theta)
    place = state.pose(body_b).inverse() @ state.pose(node_a)
    shift, turn = drift * rng.standard_normal(3), drift * rng.standard_normal(3)
    rotation = place.rotation @ Pose.from_rpy(rpy=turn).rotation
    if kind == "Pin":  # free to turn about the axis
        rotation = rotation @ rotation_from_axis_angle(np.array(AXIS), rng.uniform(-3, 3))
    node_b = Node(body_b, place.position + shift, rotation)
    if kind == "Distance":
        node_b = Node(body_b, place.position + rng.uniform(0.5, 1.0, 3), rotation)
        length = np.linalg.norm(state.pose(node_b).position - state.pose(node_a).position)
        return model, theta, theta_dot, Distance(node_a, node_b, length + drift)
    closure = {
        "Weld": lambda: Weld(node_a, node_b),
        "Pin": lambda: Pin(node_a, node_b, AXIS),
        "Ball": lambda: Ball(node_a, node_b),
    }[kind]()
    return model, theta, theta_dot, closure


def error_of(closure):
    return lambda state: closure.rows(state).error


def velocity_of(closure):
    return lambda state: closure.rows(state).velocity(state)


def rate_by_differences(model, theta, theta_dot, quantity):
    """The rate of a quantity of the state while theta_dot stays."""
    before, after = (
        quantity(model.state(model.integrate(theta, theta_dot, dt), theta_dot)) for dt in (-STEP, STEP)
    )
    return (after - before) / (2 * STEP)


@pytest.mark.parametrize("on_world", [False, True], ids=["links", "world"])
@pytest.mark.parametrize("kind", NODE_KINDS)
def test_a_closed_loop_has_no_error(kind, on_world, rng):
    model, theta, _, closure = closed_case(rng, kind, on_world)
    rows = closure.rows(model.state(theta))
    assert rows.n == closure.n_rows == rows.error.size
    np.testing.assert_allclose(rows.error, 0.0, atol=ROUNDING)


@pytest.mark.parametrize("on_world", [False, True], ids=["links", "world"])
@pytest.mark.parametrize("kind", NODE_KINDS)
def test_rows_are_the_rate_of_the_error_on_the_constraint(kind, on_world, rng):
    for _ in range(5):
        model, theta, theta_dot, closure = closed_case(rng, kind, on_world)
        state = model.state(theta, theta_dot)
        by_difference = rate_by_differences(model, theta, theta_dot, error_of(closure))
        np.testing.assert_allclose(
            closure.rows(state).velocity(state), by_difference, atol=DIFFERENCE_TOLERANCE
        )


@pytest.mark.parametrize("kind", ["Ball", "Distance"])
def test_rows_of_positions_are_the_rate_of_the_error_everywhere(kind, rng):
    for _ in range(5):
        model, theta, theta_dot, closure = closed_case(rng, kind, drift=0.3)
        state = model.state(theta, theta_dot)
        by_difference = rate_by_differences(model, theta, theta_dot, error_of(closure))
        np.testing.assert_allclose(
            closure.rows(state).velocity(state), by_difference, atol=DIFFERENCE_TOLERANCE
        )


@pytest.mark.parametrize("drift", [0.0, 0.3])
@pytest.mark.parametrize("on_world", [False, True], ids=["links", "world"])
@pytest.mark.parametrize("kind", NODE_KINDS)
def test_velocities_without_rows_are_those_of_the_rows(kind, on_world, drift, rng):
    model, theta, theta_dot, closure = closed_case(rng, kind, on_world, drift)
    state = model.state(theta, theta_dot)
    np.testing.assert_allclose(closure.velocity(state), velocity_of(closure)(state), atol=1e-12)


@pytest.mark.parametrize("drift", [0.0, 0.3])
@pytest.mark.parametrize("on_world", [False, True], ids=["links", "world"])
@pytest.mark.parametrize("kind", NODE_KINDS)
def test_bias_is_the_rate_of_the_rows_while_theta_dot_stays(kind, on_world, drift, rng):
    for _ in range(5):
        model, theta, theta_dot, closure = closed_case(rng, kind, on_world, drift)
        by_difference = rate_by_differences(model, theta, theta_dot, velocity_of(closure))
        bias = closure.rows(model.state(theta, theta_dot)).bias
        np.testing.assert_allclose(bias, by_difference, atol=10 * DIFFERENCE_TOLERANCE)


@pytest.mark.parametrize("kind", NODE_KINDS)
def test_the_two_halves_are_equal_and_opposite_also_where_the_loop_is_open(kind, rng):
    model, theta, _, closure = closed_case(rng, kind, drift=0.3)
    rows = closure.rows(model.state(theta))
    moment = rows.wrench[:, :3] + np.cross(rows.point, rows.wrench[:, 3:])
    total = np.zeros((rows.n, 6))
    np.add.at(total, rows.row, np.hstack([moment, rows.wrench[:, 3:]]))
    assert rows.row.size == 2 * rows.n
    np.testing.assert_allclose(total, 0.0, atol=ROUNDING)


@pytest.mark.parametrize("turn", [0.0, 1.0, -2.5, np.pi])
def test_a_pin_lets_its_axis_turn_and_a_weld_does_not(turn):
    model = Model([bar("a", hinge=Hinge("pin", AXIS))])
    state = model.state([turn], [1.0])
    pin, weld = (kind.rows(state) for kind in (Pin("a", Node("world", (0, 0, -1)), AXIS), Weld("a", "world")))
    np.testing.assert_allclose(pin.velocity(state), 0.0, atol=ROUNDING)
    np.testing.assert_allclose(pin.error, 0.0, atol=ROUNDING)
    np.testing.assert_allclose(np.abs(weld.error[:3]), np.abs(turn) * np.array(AXIS), atol=ROUNDING)
    np.testing.assert_allclose(weld.velocity(state)[:3], AXIS, atol=ROUNDING)


def test_a_pin_with_opposite_axes_is_half_a_turn_open():
    model = Model([bar("a", hinge=Hinge("pin", (1, 0, 0)))])
    rows = Pin("a", Node("world", (0, 0, -1))).rows(model.state([np.pi]))
    assert np.linalg.norm(rows.error[:2]) == pytest.approx(np.pi)


def test_a_gear_weighs_rates_and_coordinates():
    model = Model([bar("a"), bar("b", "a", Hinge("prismatic", (1, 0, 0))), bar("c", "b")])
    gear = Gear({"b": 2.0, "c": -3.0}, offset=0.5)
    state = model.state([0.1, 0.2, 0.3], [1.0, 5.0, 7.0])
    rows = gear.rows(state)
    np.testing.assert_allclose(rows.velocity(state), [2 * 5 - 3 * 7], atol=ROUNDING)
    np.testing.assert_allclose(rows.jacobian(state), [[0.0, 2.0, -3.0]], atol=ROUNDING)
    np.testing.assert_allclose(rows.error, [2 * 0.2 - 3 * 0.3 - 0.5], atol=ROUNDING)
    np.testing.assert_allclose(rows.bias, 0.0)


def test_a_gear_weighs_rates_without_rows(rng):
    model = random_tree(rng, 5)
    state = model.state(model.random_theta(rng), rng.standard_normal(model.n_dofs))
    gear = Gear(dict(zip(model.dof_names[:3], (1.0, -2.0, 0.5), strict=True)))
    np.testing.assert_allclose(gear.velocity(state), velocity_of(gear)(state), atol=1e-12)


def test_a_gear_holds_by_differences_on_any_hinges(rng):
    model = random_tree(rng, 9, KINDS)
    theta, theta_dot = random_motion(rng, model)
    names = rng.choice(model.dof_names, 4, replace=False)
    gear = Gear(dict(zip(names, rng.standard_normal(4), strict=True)))
    state = model.state(theta, theta_dot)
    expected = sum(ratio * theta_dot[model.dof_index(name)] for name, ratio in gear.ratios.items())
    np.testing.assert_allclose(gear.rows(state).velocity(state), [expected], atol=ROUNDING)
    rate = rate_by_differences(model, theta, theta_dot, velocity_of(gear))
    np.testing.assert_allclose(rate, gear.rows(state).bias, atol=DIFFERENCE_TOLERANCE)


def test_a_gear_s_error_has_its_rows_as_rate(rng):
    model = random_tree(rng, 9, ("pin", "prismatic", "planar"))
    theta, theta_dot = random_motion(rng, model)
    gear = Gear({model.dof_names[1]: 2.0, model.dof_names[4]: -1.0}, offset=0.1)
    state = model.state(theta, theta_dot)
    rate = rate_by_differences(model, theta, theta_dot, error_of(gear))
    np.testing.assert_allclose(rate, gear.rows(state).velocity(state), atol=DIFFERENCE_TOLERANCE)


def test_rates_without_coordinates_have_no_position_error():
    model = Model([bar("a", hinge=Hinge("ball"))])
    assert Gear({"a[1]": 1.0}).rows(model.state()).error.tolist() == [0.0]


def test_a_prescribed_motion_is_the_rate_of_its_rows_at_the_time_of_the_state():
    model = Model([bar("a")], [Gear({"a": 1.0}, lambda t: (np.sin(t), np.cos(t)))])
    rows = closure_rows(model.state([0.7], time=2.0))
    assert rows.rate.tolist() == [np.sin(2.0)]
    assert rows.rate_dot.tolist() == [np.cos(2.0)]
    assert rows.error.tolist() == [0.0]


def test_closures_are_stacked_in_their_order():
    model = Model([bar("a"), bar("b", "a"), bar("c", "b")])
    model.add_closure(Ball("c", "world"))
    model.add_closure(Gear({"a": 1.0, "b": 1.0}))
    state = model.state([0.1, 0.2, 0.3])
    rows = closure_rows(state)
    parts = [closure.rows(state).jacobian(state) for closure in model.closures]
    assert rows.n == 4
    np.testing.assert_allclose(rows.jacobian(state), np.vstack(parts), atol=ROUNDING)


@pytest.mark.parametrize("motion", [lambda t: 1.0, lambda t: ([1.0, 2.0], [0.0]), lambda t: (np.nan, 0.0)])
def test_a_motion_of_the_wrong_form_is_refused(motion):
    model = Model([bar("a")], [Gear({"a": 1.0}, motion)])
    with pytest.raises(ModelError, match="Gear: motion at 0 s"):
        closure_rows(model.state())


BAD_CLOSURES = {
    "no link or frame 'x'": lambda: Weld("a", "x"),
    "one rigid body": lambda: Pin("a", Node("a", (1, 0, 0))),
    "no dof 'x'": lambda: Gear({"a": 1.0, "x": 1.0}),
    "must be positive": lambda: Distance("a", "world", 0.0),
    "length: nan is not finite": lambda: Distance("a", "world", np.nan),
    "no direction": lambda: Pin("a", "world", (0, 0, 0)),
    "at least one": lambda: Gear({"a": 0.0}),
    "ratio of 'a': inf": lambda: Gear({"a": np.inf}),
    "node: body": lambda: Ball("a", 3),
}


@pytest.mark.parametrize("message", BAD_CLOSURES)
def test_bad_closures_are_refused_in_words(message):
    with pytest.raises(ModelError, match=message):
        Model([bar("a")], [BAD_CLOSURES[message]()])


def test_a_distance_between_coincident_points_is_refused_when_asked_for():
    model = Model([bar("a")], [Distance("a", Node("world", (0, 0, -1)), 1.0)])
    with pytest.raises(ModelError, match="coincide"):
        closure_rows(model.state())


def test_what_is_no_closure_and_what_is_no_table_of_ratios_is_refused_with_its_value():
    with pytest.raises(ModelError, match="Gear: ratios 'a'"):
        Gear("a", "b", -2.0)
    with pytest.raises(ModelError, match="closure 'weld'"):
        Model([bar("a")], ["weld"])
