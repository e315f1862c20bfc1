"""Joining models: names, coordinates and motions of the parts, floors once, closures and frames included."""

import numpy as np
import pytest
from trees import random_motion, random_tree

from mcpframe import systems
from mcpframe.exceptions import ModelError
from mcpframe.multibody import Closure, Gear, Hinge, Link, Model, Node, Weld, closure_rows
from mcpframe.multibody.model.joining import Part, joined
from mcpframe.multibody.model.shapes import Box, Geometry, Plane
from mcpframe.spatial.transforms import Pose

ROUNDING = 1e-12
"""Sums of a dozen products of numbers of size one."""
DYNAMICS = 1e-9
"""Accelerations of random trees, of size 1e2, by sweeps that round about other reference points."""
AWAY = Pose.from_rpy((1.0, -2.0, 0.5), (0.3, -0.2, 1.1))


def test_coordinates_are_those_of_the_parts_one_after_another(rng):
    parts = [random_tree(rng, 5), random_tree(rng, 4)]
    whole = joined([Part(parts[0], "a_"), Part(parts[1], "b_")], gravity=(0, 0, -9.81))
    names = [f"a_{name}" for name in parts[0].dof_names] + [f"b_{name}" for name in parts[1].dof_names]
    assert whole.dof_names == names
    assert whole.n_theta == sum(part.n_theta for part in parts)
    np.testing.assert_array_equal(whole.neutral(), np.concatenate([part.neutral() for part in parts]))
    for field in ("lower", "upper", "damping", "stiffness", "armature", "rest_theta"):
        np.testing.assert_array_equal(
            getattr(whole, field), np.concatenate([getattr(part, field) for part in parts])
        )


def test_parts_that_do_not_touch_move_as_they_do_alone(rng):
    """Gravity turned back into the frame of a part that is posed gives the same accelerations."""
    parts = [random_tree(rng, 5), random_tree(rng, 4)]
    motions = [random_motion(rng, part) for part in parts]
    whole = joined([parts[0], Part(parts[1], "b_", AWAY)], gravity=parts[0].gravity)
    state = whole.state(*(np.concatenate(pair) for pair in zip(*motions, strict=True)))
    turned = joined([parts[1]], gravity=AWAY.rotation.T @ parts[0].gravity)
    alone = [parts[0].state(*motions[0]), turned.state(*motions[1])]
    expected = np.concatenate([part.free_acceleration() for part in alone])
    np.testing.assert_allclose(state.free_acceleration(), expected, atol=DYNAMICS, rtol=DYNAMICS)


def test_a_pose_moves_every_body_of_its_part(rng):
    part = random_tree(rng, 6)
    theta = part.random_theta(rng)
    alone, whole = part.state(theta), joined([Part(part, "x/", AWAY)]).state(theta)
    for link in part.links:
        expected, found = AWAY @ alone.pose(link.name), whole.pose(f"x/{link.name}")
        np.testing.assert_allclose(found.position, expected.position, atol=ROUNDING)
        np.testing.assert_allclose(found.rotation, expected.rotation, atol=ROUNDING)


@pytest.mark.parametrize("floating", [False, True])
def test_closures_follow_their_part(floating):
    """Loops stay closed, and as many: a closure on the world moves with it."""
    part = systems.four_bar(floating=floating)
    whole = joined([part, Part(part, "other_", AWAY)])
    state = whole.state()
    assert len(whole.closures) == 2
    np.testing.assert_allclose(closure_rows(state).error, 0.0, atol=ROUNDING)
    G = closure_rows(state).jacobian(state)
    assert np.linalg.matrix_rank(G, tol=1e-9) == 4


def test_gears_name_the_dofs_of_their_part():
    link = {"hinge": Hinge("universal", (1, 0, 0), (0, 1, 0)), "mass": 1.0, "inertia": np.eye(3)}
    part = Model([Link("a", **link)], [Gear({"a[0]": 1.0, "a[1]": -2.0}, offset=0.1)])
    whole = joined([part, Part(part, "b_")])
    assert [dict(gear.ratios) for gear in whole.closures] == [
        {"a[0]": 1.0, "a[1]": -2.0},
        {"b_a[0]": 1.0, "b_a[1]": -2.0},
    ]
    assert whole.closures[1].offset == 0.1


def test_frames_follow_their_part():
    part = systems.box()
    part.add_frame("corner", "box", Pose((0.2, 0.15, 0.1)))
    part.add_frame("home", "world", Pose((0.0, 0.0, 1.0)))
    state = joined([Part(part, "b_", AWAY)]).state()
    alone = part.state()
    for frame in ("corner", "home"):
        np.testing.assert_allclose(
            state.pose(f"b_{frame}").position, (AWAY @ alone.pose(frame)).position, atol=ROUNDING
        )


def test_floors_stay_and_are_taken_once_while_other_shapes_move():
    pedestal = Geometry(Box((0.2, 0.2, 0.4)), Pose((0.0, 0.0, 0.2)), "pedestal")
    arm = Model(geometry=(Geometry(Plane(), name="ground"), pedestal))
    lifted = Pose((0.0, 0.0, 1.0))
    turned_floor = Geometry(Plane(), Pose.from_rpy((3.0, 1.0, 0.0), (0.0, 0.0, 0.7)), "another floor")
    whole = joined([Part(systems.box(), pose=lifted), Part(arm, pose=lifted)], geometry=[turned_floor])
    assert [shape.name for shape in whole.geometry] == ["pedestal", "another floor"]
    assert whole.geometry[0].pose.position.tolist() == [0.0, 0.0, 1.2]
    assert whole.geometry[1] is turned_floor
    slope = Geometry(Plane(), Pose.from_rpy(rpy=(0.1, 0.0, 0.0)))
    assert len(joined([systems.box()], geometry=[slope]).geometry) == 2


def test_the_environment_of_a_part_can_be_left_behind():
    assert joined([Part(systems.pendulum(2), environment=False)]).geometry == ()


def test_gravity_is_the_parts_own_or_as_given():
    pendulum, box = systems.pendulum(1), systems.box()
    assert joined([pendulum]).gravity.tolist() == [0.0, 0.0, -9.8]
    assert joined([pendulum, box], gravity=(0, 0, -1.6)).gravity.tolist() == [0.0, 0.0, -1.6]
    with pytest.raises(ModelError, match=r"gravity is \[0.0, 0.0, -9.8\] in model 'pendulum' and .*'box'"):
        joined([pendulum, box])
    with pytest.raises(ModelError, match="no parts"):
        joined([])


def test_names_that_meet_twice_are_refused():
    with pytest.raises(ModelError, match="'box' is taken"):
        joined([systems.box(), systems.box()])
    assert joined([systems.box(), Part(systems.box(), "2_")], name="pair").name == "pair"


def test_nothing_happens_to_the_parts():
    part = systems.four_bar()
    closure = part.closures[0]
    joined([Part(part, "a_", AWAY)])
    assert [link.name for link in part.links] == ["crank", "coupler", "rocker"]
    assert part.closures == (closure,)
    assert closure.node_b.body == "world"


def test_closures_by_name_of_a_body_become_nodes():
    bodies = [Link(name, mass=1.0, inertia=np.eye(3)) for name in "ab"]
    whole = joined([Part(Model(bodies, [Weld("a", Node("b"))]), "x_")])
    assert (whole.closures[0].node_a.body, whole.closures[0].node_b.body) == ("x_a", "x_b")


def test_a_closure_of_another_kind_is_refused_by_its_type():
    class Foreign(Closure):
        n_rows, motion = 1, None

        def check(self, model):
            pass

        def _rows_at_rest(self, state):
            raise NotImplementedError

    model = systems.box()
    model.add_closure(Foreign())
    with pytest.raises(ModelError, match="closure of type Foreign"):
        joined([model])
