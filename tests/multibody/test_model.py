"""Models: order, names, validation, coordinates and the merging of locked links."""

import numpy as np
import pytest
from trees import random_inertia, random_motion, random_tree

from mcpframe.exceptions import McpframeError, ModelError
from mcpframe.multibody import Ball, Gear, Hinge, Link, Model, Node, Weld
from mcpframe.multibody.model.shapes import Box, Geometry, Sphere
from mcpframe.spatial.transforms import Pose, rotation_from_quaternion

ROUNDING = 1e-12
"""Sums of a dozen products of numbers of size one."""
PIN = Hinge("pin", (0, 1, 0))
TRIANGLE_BROKEN = np.diag([1.0, 1.0, 2.1])


def bob(name, parent="world", hinge=PIN, **options):
    return Link(name, parent, hinge, mass=1.0, com=(0, 0, -1), inertia=0.1 * np.eye(3), **options)


def fork():
    """world - a - (b - (d), c), a second root e; added in a scrambled order."""
    return Model([bob("b", "a"), bob("e"), bob("c", "a"), bob("a"), bob("d", "b")])


def test_links_are_in_depth_first_order_children_in_the_order_of_addition():
    model = fork()
    assert [link.name for link in model.links] == ["e", "a", "b", "d", "c"]
    assert model.parents.tolist() == [-1, -1, 1, 2, 1]


def test_adding_links_one_by_one_gives_the_same_model():
    model = Model()
    for name, parent in [("e", "world"), ("a", "world"), ("b", "a"), ("c", "a"), ("d", "b")]:
        model.add_link(bob(name, parent))
    assert [link.name for link in model.links] == [link.name for link in fork().links]
    np.testing.assert_array_equal(model.parents, fork().parents)


def test_coordinates_follow_the_order_of_the_links(rng):
    model = random_tree(rng, 12, extra_roots=0.2)
    sizes = [(link.hinge.n_theta, link.hinge.n_dof) for link in model.links]
    assert model.n_theta == sum(n for n, _ in sizes)
    assert model.n_dofs == sum(n for _, n in sizes) == len(model.dof_names)
    np.testing.assert_array_equal(model.theta_start, np.cumsum([0] + [n for n, _ in sizes])[:-1])
    np.testing.assert_array_equal(model.dof_start, np.cumsum([0] + [n for _, n in sizes])[:-1])
    assert [model.dof_index(name) for name in model.dof_names] == list(range(model.n_dofs))


def test_dofs_are_named_after_their_links():
    model = Model([bob("a"), bob("b", "a", Hinge("universal", (1, 0, 0), (0, 1, 0)))])
    assert model.dof_names == ["a", "b[0]", "b[1]"]


def test_per_dof_quantities_are_gathered_and_scalars_broadcast():
    wrist = Hinge("universal", (1, 0, 0), (0, 1, 0))
    model = Model(
        [
            bob("a", lower=-1, upper=2, damping=0.1, armature=0.3, rest=0.5),
            bob("b", "a", wrist, lower=[-np.inf, 0], stiffness=[4, 5]),
        ]
    )
    assert model.lower.tolist() == [-1, -np.inf, 0]
    assert model.upper.tolist() == [2, np.inf, np.inf]
    assert model.damping.tolist() == [0.1, 0, 0]
    assert model.stiffness.tolist() == [0, 4, 5]
    assert model.armature.tolist() == [0.3, 0, 0]
    assert model.rest_theta.tolist() == [0.5, 0, 0]


def test_a_model_without_links_is_a_model():
    model = Model()
    assert (model.n_links, model.n_dofs, model.n_theta) == (0, 0, 0)
    assert model.neutral().shape == model.integrate([], [], 0.1).shape == (0,)


def test_nodes_resolve_on_links_frames_and_the_world():
    model = fork()
    tool = Pose.from_rpy((0, 0, -1), (0, 0.5, 0))
    model.add_frame("tool", "d", tool)
    model.add_frame("tip", "tool", Pose((0.1, 0, 0)))
    link, position, rotation = model.resolve("tip")
    assert link == model.link_index("d")
    np.testing.assert_allclose(position, tool.position + 0.1 * tool.rotation[:, 0])
    np.testing.assert_allclose(rotation, tool.rotation)
    assert model.resolve(Node("world", (1, 2, 3)))[0] == -1
    np.testing.assert_allclose(model.resolve(Node("world", (1, 2, 3)))[1], (1, 2, 3))
    assert model.frames["tip"][0] == link


def test_frames_follow_their_link_when_links_are_added():
    model = Model([bob("a"), bob("c")])
    model.add_frame("tool", "c")
    model.add_link(bob("b", "a"))
    assert model.resolve("tool")[0] == model.link_index("c") == 2


BAD_LINKS = {
    "mass": {"mass": -1.0},
    "mass: nan": {"mass": np.nan},
    "com": {"com": (0, 0)},
    "not symmetric": {"inertia": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]},
    "none may be negative": {"inertia": np.diag([-0.1, 1, 1])},
    "sum of two": {"inertia": TRIANGLE_BROKEN},
    "inertia: shape": {"inertia": [1, 1, 1]},
    "lies above": {"lower": 1.0, "upper": -1.0},
    "not a number": {"lower": np.nan},
    "leave no coordinate": {"lower": np.inf},
    "damping": {"damping": -0.1},
    "stiffness": {"stiffness": np.inf},
    "armature": {"armature": -1e-9},
    "rest": {"rest": np.nan},
    "reserved": {"name": "world"},
    "non-empty string": {"name": ""},
    "parent": {"parent": None},
    "not a Geometry": {"geometry": (Sphere(1.0),)},
    "upper: shape": {"upper": [1, 2]},
    "not a Hinge": {"hinge": 3},
    "not a Pose": {"pose": (1, 2, 3)},
}


@pytest.mark.parametrize("message", BAD_LINKS)
def test_bad_links_are_refused_in_words(message):
    good = {"name": "a", "hinge": PIN, "mass": 1.0, "inertia": np.eye(3)}
    with pytest.raises(ModelError, match=message):
        Link(**good | BAD_LINKS[message])


@pytest.mark.parametrize("kind", ["ball", "free"])
def test_ball_and_free_hinges_have_no_limits(kind):
    with pytest.raises(ModelError, match="no limits"):
        bob("a", hinge=Hinge(kind), lower=-1.0)


def test_rounding_of_a_file_does_not_make_an_inertia_unphysical():
    plate = Link("plate", hinge=PIN, mass=1.0, inertia=np.diag([0.123457, 0.654321, 0.777779]))
    assert plate.why_not_physical == ""


def test_an_unphysical_inertia_may_be_taken_on_demand_and_says_so():
    link = Link("a", hinge=PIN, mass=1.0, inertia=TRIANGLE_BROKEN, check_inertia=False)
    assert "sum of two" in link.why_not_physical
    assert bob("b").why_not_physical == ""


def test_links_are_values():
    link = bob("a")
    with pytest.raises(AttributeError):
        link.mass = 2.0
    with pytest.raises(ValueError, match="read-only"):
        link.com[0] = 1.0


def test_duplicate_and_reserved_names_are_refused():
    with pytest.raises(ModelError, match="'a' is taken"):
        Model([bob("a"), bob("a")])
    model = fork()
    with pytest.raises(ModelError, match="'b' is taken"):
        model.add_frame("b", "a")
    with pytest.raises(ModelError, match="'world' is taken"):
        model.add_frame("world", "a")


def test_an_unknown_parent_is_refused_with_a_suggestion():
    with pytest.raises(ModelError, match="unknown parent 'shoulder'.*did you mean 'shoulders'"):
        Model([bob("arm", "shoulder"), bob("shoulders")])
    with pytest.raises(ModelError, match="unknown parent 'x'"):
        fork().add_link(bob("y", "x"))


def test_a_cycle_is_named():
    with pytest.raises(ModelError, match="a -> c -> b -> a"):
        Model([bob("root"), bob("a", "c"), bob("b", "a"), bob("c", "b"), bob("d", "c")])
    with pytest.raises(ModelError, match="a -> a"):
        Model([bob("a", "a")])


@pytest.mark.parametrize(
    "leaf",
    [
        Link("leaf", "a", PIN),
        Link("leaf", "a", Hinge("pin", (0, 0, 1)), mass=1.0, com=(0, 0, -0.3)),
        Link("leaf", "a", Hinge("ball"), mass=1.0, inertia=np.diag([1.0, 1.0, 0.0])),
        Link("leaf", "a", Hinge("free"), mass=1.0),
        Link("leaf", "a", Hinge("universal", (1, 0, 0), (0, 1, 0)), armature=[0.1, 0.0]),
    ],
    ids=["no mass", "mass on the axis", "rod on a ball", "free point", "half an armature"],
)
def test_a_moving_leaf_without_inertia_is_refused(leaf):
    with pytest.raises(ModelError, match="'leaf'.*no inertia"):
        Model([bob("a"), leaf])
    model = Model([bob("a")])
    model.add_link(leaf)
    with pytest.raises(ModelError, match="'leaf'.*no inertia"):
        model.state()


def test_what_is_locked_to_a_massless_link_or_its_armature_lets_it_move():
    links = [
        [Link("wheel", hinge=PIN, armature=0.1)],
        [Link("mount", hinge=PIN), bob("load", "mount", Hinge("locked"))],
        [Link("frame", hinge=Hinge("locked"))],
    ]
    assert Model([Link("mount", hinge=PIN), bob("load", "mount")]).n_dofs == 2  # its axes may part later
    for model in map(Model, links):
        assert np.isfinite(model.state(theta_dot=np.ones(model.n_dofs)).free_acceleration()).all()


def test_a_refused_addition_changes_nothing():
    model = fork()
    for bad in (bob("a"), bob("y", "x")):
        with pytest.raises(ModelError):
            model.add_link(bad)
    with pytest.raises(ModelError):
        model.add_frame("tool", "nowhere")
    with pytest.raises(ModelError):
        model.add_closure(Ball("a", "nowhere"))
    with pytest.raises(ModelError):
        model.add_closure(Gear({"q": 1.0}))
    assert (model.n_links, model.frames, model.closures) == (5, {}, ())


@pytest.mark.parametrize("gravity", [(0, 0), (0, 0, np.nan), "down"])
def test_gravity_is_three_numbers(gravity):
    with pytest.raises(McpframeError, match="gravity"):
        Model(gravity=gravity)


def test_unknown_names_are_refused_with_a_suggestion():
    model = Model([bob("elbow")])
    with pytest.raises(ModelError, match="did you mean 'elbow'"):
        model.link_index("elbw")
    with pytest.raises(ModelError, match="did you mean 'elbow'"):
        model.resolve("elbw")
    with pytest.raises(ModelError, match="did you mean 'elbow'"):
        model.dof_index("elbw")


def test_theta_is_checked_and_its_quaternions_are_normalised():
    model = Model([bob("a"), bob("b", "a", Hinge("ball"))])
    checked = model.check_theta([0.1, 0, 0, 0, 1 + 5e-7])
    np.testing.assert_allclose(checked, [0.1, 0, 0, 0, 1], atol=1e-15)
    for bad, message in [
        ([0.1, 0, 0, 0, 1.1], "quaternion"),
        ([0.1], "shape"),
        ([0.1, 0, 0, 0, np.inf], "finite"),
        ([0.1, 0, 0, 0, 0], "length 0"),
    ]:
        with pytest.raises(ModelError, match=message):
            model.check_theta(bad)
    with pytest.raises(ModelError, match="theta_dot"):
        model.check_theta_dot([1, 2])


def test_difference_undoes_integrate(rng):
    model = random_tree(rng, 12, extra_roots=0.2)
    theta, tangent = random_motion(rng, model)
    there = model.integrate(theta, tangent, 0.7)
    np.testing.assert_allclose(model.difference(theta, there), 0.7 * tangent, atol=ROUNDING)
    back = model.integrate(there, model.difference(there, theta))
    np.testing.assert_allclose(model.difference(theta, back), 0.0, atol=ROUNDING)


def test_constant_rates_are_integrated_exactly(rng):
    """Two steps are one step of the sum: no error of first or second order is left."""
    model = random_tree(rng, 12, extra_roots=0.2)
    theta, theta_dot = random_motion(rng, model)
    twice = model.integrate(model.integrate(theta, theta_dot, 0.3), theta_dot, 0.9)
    once = model.integrate(theta, theta_dot, 1.2)
    np.testing.assert_allclose(model.difference(once, twice), 0.0, atol=ROUNDING)


def test_small_turns_are_as_exact_as_large_ones(rng):
    model = Model([bob("a", hinge=Hinge("free"))])
    for size in (0.0, 1e-9, 1e-4, 0.0099, 0.0101, 1.0):
        tangent = size * rng.standard_normal(6)
        there = model.integrate(model.neutral(), tangent)
        np.testing.assert_allclose(model.difference(model.neutral(), there), tangent, atol=1e-15)


def test_a_long_run_keeps_quaternions_at_length_one(rng):
    model = Model([bob("a", hinge=Hinge("ball"))])
    theta = model.neutral()
    for _ in range(2000):
        theta = model.integrate(theta, rng.standard_normal(3), 0.1)
    assert abs(np.linalg.norm(theta) - 1.0) < 1e-15


def test_a_free_hinge_moves_as_pinocchio_s_free_flyer(rng):
    pin = pytest.importorskip("pinocchio")
    flyer = pin.Model()
    flyer.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "free")
    model = Model([bob("a", hinge=Hinge("free"))])
    for _ in range(10):
        theta, theta_dot = random_motion(rng, model)
        np.testing.assert_allclose(
            rotation_from_quaternion(model.integrate(theta, theta_dot)[3:]),
            rotation_from_quaternion(pin.integrate(flyer, theta, theta_dot)[3:]),
            atol=ROUNDING,
        )
        np.testing.assert_allclose(
            model.integrate(theta, theta_dot)[:3], pin.integrate(flyer, theta, theta_dot)[:3], atol=ROUNDING
        )


def test_random_coordinates_are_valid_and_within_limits(rng):
    model = Model(
        [
            bob("a", lower=0.2, upper=0.3),
            bob("b", "a", Hinge("prismatic"), lower=5.0),
            bob("c", "b", Hinge("free")),
            bob("d", "c", Hinge("ball")),
        ]
    )
    for _ in range(50):
        theta = model.check_theta(model.random_theta(rng))
        assert 0.2 <= theta[0] <= 0.3
        assert 5.0 <= theta[1] <= 7.0


def tree_with_locked_links(rng):
    model = random_tree(rng, 14, ("pin", "ball", "locked", "prismatic", "universal"), extra_roots=0.2)
    for link in list(model.links):
        model.add_link(
            f"{link.name}_cap",
            link.name,
            "locked",
            Pose.from_rpy(rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3)),
            mass=rng.uniform(0, 2),
            com=rng.uniform(-1, 1, 3),
            inertia=random_inertia(rng),
            geometry=Geometry(Box((1, 2, 3)), Pose(rng.uniform(-1, 1, 3)), link.name),
        )
    return model


def test_merging_locked_links_changes_no_motion(rng):
    model = tree_with_locked_links(rng)
    merged = model.merged()
    theta, theta_dot = random_motion(rng, model)
    whole, fewer = model.state(theta, theta_dot), merged.state(theta, theta_dot)
    assert merged.dof_names == model.dof_names
    assert all(link.hinge.kind != "locked" for link in merged.links)
    scale = np.abs(whole.mass_matrix()).max()
    np.testing.assert_allclose(fewer.mass_matrix(), whole.mass_matrix(), atol=ROUNDING * scale)
    np.testing.assert_allclose(fewer.bias_force(), whole.bias_force(), atol=100 * ROUNDING * scale)


def test_merged_links_stay_as_frames_with_their_geometry(rng):
    model = tree_with_locked_links(rng)
    model.add_frame("tool", "link3_cap", Pose((0.1, 0.2, 0.3)))
    merged = model.merged()
    theta, _ = random_motion(rng, model)
    whole, fewer = model.state(theta), merged.state(theta)
    for body in [link.name for link in model.links] + ["tool"]:
        np.testing.assert_allclose(fewer.pose(body).position, whole.pose(body).position, atol=ROUNDING)
        np.testing.assert_allclose(fewer.pose(body).rotation, whole.pose(body).rotation, atol=ROUNDING)
    places = sorted(
        tuple((state.pose(body) @ shape.pose).position)
        for state in (whole, fewer)
        for body, shape in geometry_of(state.model)
    )
    np.testing.assert_allclose(places[0::2], places[1::2], atol=ROUNDING)


def geometry_of(model):
    yield from (("world", shape) for shape in model.geometry)
    yield from ((link.name, shape) for link in model.links for shape in link.geometry)


def test_closures_follow_a_merge(rng):
    model = tree_with_locked_links(rng)
    moving = next(link.name for link in model.links if link.hinge.kind != "locked")
    model.add_closure(Weld(f"{moving}_cap", "world"))
    theta, theta_dot = random_motion(rng, model)
    whole, fewer = model.state(theta, theta_dot), model.merged().state(theta, theta_dot)
    for a, b in zip(whole.model.closures, fewer.model.closures, strict=True):
        np.testing.assert_allclose(
            a.rows(whole).jacobian(whole), b.rows(fewer).jacobian(fewer), atol=ROUNDING
        )
