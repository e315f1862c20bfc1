"""Names: patterns, dofs by dof or link, coordinates by link, numbers that are shared out."""

import numpy as np
import pytest

from mcpframe.exceptions import ModelError
from mcpframe.multibody import Hinge, Link, Model
from mcpframe.multibody.closures import Gear
from mcpframe.multibody.model.joining import Part, joined
from mcpframe.scene.naming import actuated_dofs, dofs_named, matches, rates_by_name, theta_by_name
from mcpframe.simulation.recording.header import model_from, model_table
from mcpframe.spatial.transforms import Pose
from mcpframe.systems import sphere

ROUNDING = 1e-12


@pytest.fixture
def model():
    """A free trunk (6 dofs), a planar arm (3), a ball (3), a locked tool, a pin (1)."""
    kinds = {"trunk": "free", "arm": Hinge("planar"), "head": "ball", "tool": "locked", "tip": Hinge("pin")}
    return Model(
        [
            Link(name, "world" if name == "trunk" else "trunk", kind, mass=1.0, inertia=np.eye(3))
            for name, kind in kinds.items()
        ]
    )


@pytest.mark.parametrize(
    ("pattern", "name", "meant"),
    [
        ("link_1", "link_1", True),
        ("link_1", "link_12", False),
        ("link_*", "link_12", True),
        ("*", "", True),
        ("link_?", "link_12", False),
        ("a.c", "abc", False),
        ("arm[0]", "arm[0]", True),
        ("arm[0]", "arm0", False),
        ("left/*", "left/arm[1]", True),
    ],
)
def test_stars_and_question_marks_are_patterns_and_all_else_is_itself(pattern, name, meant):
    assert matches(pattern, name) is meant


def test_dofs_are_meant_by_their_own_name_or_their_links(model):
    assert dofs_named(model, ["arm"]).tolist() == [6, 7, 8]
    assert dofs_named(model, ["tip", "arm[1]", "t*"]).tolist() == [0, 1, 2, 3, 4, 5, 7, 12]
    assert dofs_named(model, []).size == 0
    with pytest.raises(ModelError, match="no dof or moving link of model 'model' is called 'tool'"):
        dofs_named(model, ["tool"])


def named_joints():
    """The shoulder carries a link called as the elbow's joint; the hand's hinge has no name of its own."""
    inertia = {"mass": 1.0, "inertia": np.eye(3)}
    return Model(
        [
            Link("elbow", hinge=Hinge("pin"), joint="shoulder", **inertia),
            Link("forearm", "elbow", Hinge("universal", (1, 0, 0), (0, 1, 0)), joint="elbow", **inertia),
            Link("hand", "forearm", "ball", Pose.from_rpy((0, 0, 1), (0, 0, 1)), **inertia),
        ]
    )


def test_joints_name_dofs_and_their_links_are_aliases_unless_a_joint_is_called_so():
    model = named_joints()
    hand = ["hand[0]", "hand[1]", "hand[2]"]
    assert model.dof_names == ["shoulder", "elbow[0]", "elbow[1]", *hand]
    assert [model.dof_index(name) for name in ("shoulder", "elbow[1]", "forearm[1]", "hand[2]")] == [
        0,
        2,
        2,
        5,
    ]
    assert dofs_named(model, ["elbow"]).tolist() == dofs_named(model, ["forearm"]).tolist() == [1, 2]
    theta = theta_by_name(model, "theta", {"elbow": [1, 2], "shoulder": 3}, model.neutral())
    assert theta[:3].tolist() == [3.0, 1.0, 2.0]


def test_two_joints_of_one_name_are_refused_and_a_link_gives_way_to_a_joint():
    inertia = {"mass": 1.0, "inertia": np.eye(3)}
    with pytest.raises(ModelError, match="link 'b': its joint 'j' is also that of 'a'"):
        Model([Link(name, joint="j", **inertia) for name in "ab"])
    crossed = Model(
        [Link("a", hinge=Hinge("pin"), joint="b", **inertia), Link("b", hinge=Hinge("pin"), **inertia)]
    )
    assert crossed.dof_names == ["b", "b/hinge"]


def test_names_of_joints_go_with_a_model_that_is_joined_merged_or_kept():
    model = named_joints()
    whole = joined([Part(model, "left_"), Part(model, "right_")])
    assert whole.dof_names[:2] == ["left_shoulder", "left_elbow[0]"]
    assert whole.dof_index("right_forearm[0]") == 7
    assert model.merged().dof_names == model_from(model_table(model)).dof_names == model.dof_names


def test_a_pose_says_where_a_link_is_in_its_parents_frame():
    """The hand's hinge frame is turned by 1 rad about z; the pose turns the link by 1.5."""
    model = named_joints()
    theta = theta_by_name(model, "theta", {"hand": Pose.from_rpy(rpy=(0, 0, 1.5))}, model.neutral())
    np.testing.assert_allclose(theta[3:], [0, 0, np.sin(0.25), np.cos(0.25)], atol=ROUNDING)
    ball = sphere()
    start = theta_by_name(ball, "theta", {"sphere": Pose((1, 2, 3))}, ball.neutral())
    np.testing.assert_allclose(ball.state(start).pose("sphere").position, [1, 2, 3], atol=ROUNDING)


def test_all_dofs_have_motors_but_those_of_free_hinges(model):
    assert actuated_dofs(model).tolist() == list(range(6, 13))


def test_numbers_per_dof_are_one_for_all_a_vector_or_by_name(model):
    assert rates_by_name(model, "x", 2.0).tolist() == [2.0] * 13
    assert rates_by_name(model, "x", 2.0, actuated_dofs(model), unnamed=9.0)[[0, 6]].tolist() == [9.0, 2.0]
    named = rates_by_name(model, "x", {"arm": [1, 2, 3], "arm[1]": 7, "head": 4}, unnamed=-1.0)
    assert named.tolist() == [-1.0] * 6 + [1.0, 7.0, 3.0, 4.0, 4.0, 4.0, -1.0]
    assert not named.flags.writeable


def test_coordinates_by_name_leave_the_others_where_they_are(model):
    start = model.integrate(model.neutral(), np.full(13, 0.1))
    pose = Pose.from_rpy((1, 2, 3), (0, 0, np.pi))
    theta = theta_by_name(model, "theta", {"trunk": pose, "arm[2]": 5.0, "tip": -1.0}, start)
    np.testing.assert_allclose(theta[:7], [1, 2, 3, 0, 0, 1, 0], atol=ROUNDING)
    np.testing.assert_array_equal(theta[[9, 14]], [5.0, -1.0])
    np.testing.assert_allclose(theta[[7, 8, 10, 11, 12, 13]], start[[7, 8, 10, 11, 12, 13]], atol=ROUNDING)
    np.testing.assert_allclose(
        theta_by_name(model, "theta", {"head": Pose.from_rpy(rpy=(np.pi, 0, 0))}, start)[10:14],
        [1, 0, 0, 0],
        atol=ROUNDING,
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"head[0]": 1.0}, "theta: no coordinate or moving link of model 'model' is called 'head.0.'"),
        ({"tool": 1.0}, "is called 'tool'"),
        ({"head": 1.0}, r"theta of 'head': shape \(\), expected \(4,\)"),
        ({"head": [1, 1, 1, 1]}, "quaternion"),
        ({"arm": [1, 2]}, r"theta of 'arm': shape \(2,\), expected \(3,\)"),
        ({"tip": np.inf}, "theta"),
    ],
)
def test_coordinates_that_a_hinge_does_not_have_are_refused_by_name(model, value, message):
    with pytest.raises(ModelError, match=message):
        theta_by_name(model, "theta", value, model.neutral())


def test_a_gear_takes_joints_or_links_but_a_hinge_only_once():
    model = named_joints()
    model.add_closure(Gear({"shoulder": 1.0, "forearm[0]": -2.0}))
    with pytest.raises(ModelError, match="two of the names mean one hinge"):
        model.add_closure(Gear({"elbow[0]": 1.0, "forearm[0]": -2.0}))
