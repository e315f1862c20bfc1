"""Projection: coordinates and rates that satisfy the closures, near given ones."""

import numpy as np
import pytest
from trees import random_motion, random_tree

from mcpframe.exceptions import ModelError
from mcpframe.multibody import (
    Ball,
    Distance,
    Gear,
    Hinge,
    Link,
    Model,
    Node,
    Weld,
    closure_rows,
    project_loops,
    project_rates,
)
from mcpframe.spatial.transforms import Pose
from mcpframe.systems import closed_chain, four_bar

CLOSED = 1e-12
"""What project_loops promises, times the reach of mechanisms of more than a metre."""
ROUNDING = 1e-10


def loop_error(model, theta):
    return np.abs(closure_rows(model.state(theta)).error).max()


def is_closed(model, theta):
    reach = np.abs(model.state(theta).link_poses()[1]).max()
    return loop_error(model, theta) <= CLOSED * max(1.0, reach)


@pytest.mark.parametrize(
    "model", [four_bar(), four_bar(floating=True), closed_chain(9)], ids=["4", "4 free", "9"]
)
def test_planar_loops_are_closed_again_in_space(model, rng):
    for _ in range(5):
        theta = model.integrate(model.neutral(), 0.2 * rng.standard_normal(model.n_dofs))
        assert loop_error(model, theta) > 1e-3
        assert is_closed(model, project_loops(model, theta))


def test_coordinates_that_are_closed_stay_as_they_are():
    model = four_bar()
    np.testing.assert_array_equal(project_loops(model, model.neutral()), model.neutral())


def test_a_tree_without_closures_stays_as_it_is(rng):
    model = random_tree(rng, 6)
    theta, _ = random_motion(rng, model)
    np.testing.assert_allclose(project_loops(model, theta), theta, rtol=1e-15)


def test_a_small_opening_is_closed_by_the_shortest_way():
    """Two equal hinges that must sum up to a gear's offset share the correction."""
    links = [Link(name, mass=1.0, hinge=Hinge("prismatic", (1, 0, 0))) for name in "ab"]
    model = Model(links, [Gear({"a": 1.0, "b": 1.0}, offset=1.0)])
    np.testing.assert_allclose(project_loops(model, [0.0, 0.2]), [0.4, 0.6], atol=ROUNDING)


def test_what_is_held_stays_and_the_rest_closes_the_loop():
    model = four_bar()
    theta = project_loops(model, [0.3, 0.0, 0.0], held=[0])
    assert theta[0] == 0.3
    assert is_closed(model, theta)
    state = model.state(theta, [2.0, 0.0, 0.0])
    state.update(theta_dot=project_rates(state, held=[0]))
    assert state.theta_dot[0] == 2.0
    np.testing.assert_allclose(closure_rows(state).velocity(state), 0.0, atol=ROUNDING)


def test_rates_that_a_loop_cannot_have_are_not_held():
    model = four_bar()
    state = model.state(model.neutral(), [1.0, 5.0, 0.0])
    np.testing.assert_array_equal(project_rates(state, held=[0, 1]), project_rates(state))


def test_random_loops_on_random_trees_are_closed(rng):
    for _ in range(10):
        model = random_tree(rng, 8, ("pin", "ball", "universal", "free", "prismatic"))
        theta, _ = random_motion(rng, model)
        state = model.state(theta)
        place = state.pose("link7")
        model.add_closure(Weld("link7", Node("world", place.position, place.rotation)))
        above = state.pose("link6").position + np.array([0.0, 0.0, 0.5])
        model.add_closure(Distance("link6", Node("world", above), 0.5))
        away = model.integrate(theta, 0.1 * rng.standard_normal(model.n_dofs))
        assert is_closed(model, project_loops(model, away))


def test_rates_satisfy_the_closures_after_projection(rng):
    model = four_bar(floating=True)
    theta, theta_dot = model.neutral(), rng.standard_normal(model.n_dofs)
    consistent = project_rates(model.state(theta, theta_dot))
    state = model.state(theta, consistent)
    np.testing.assert_allclose(closure_rows(state).velocity(state), 0.0, atol=ROUNDING)
    np.testing.assert_allclose(project_rates(state), consistent, atol=ROUNDING)


def test_rates_meet_a_prescribed_motion():
    model = four_bar()
    model.add_closure(Gear({"crank": 1.0}, lambda t: (3.0 * t, 3.0)))
    state = model.state(time=0.5)
    rates = project_rates(state)
    assert rates[0] == pytest.approx(1.5)
    state.update(theta_dot=rates)
    np.testing.assert_allclose(closure_rows(state).velocity(state), [0, 0, 0, 0, 0, 1.5], atol=ROUNDING)


def test_a_loop_out_of_reach_is_refused():
    arm = Link("arm", hinge=Hinge("pin", (0, 1, 0)), pose=Pose(), mass=1.0, com=(0, 0, -1))
    model = Model([arm], [Ball(Node("arm", (0, 0, -1)), Node("world", (0, 0, -3)))])
    with pytest.raises(ModelError, match="cannot be satisfied.*start nearer"):
        project_loops(model, [0.3])
