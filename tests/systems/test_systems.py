"""Ready systems: sizes and dimensions as published, closed loops, and contacts to try them with."""

import numpy as np
import pytest

from mcpframe import systems
from mcpframe.contact.detection.detector import Detector
from mcpframe.exceptions import ModelError
from mcpframe.multibody import Node, closure_rows
from mcpframe.multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere
from mcpframe.spatial.transforms import Pose
from mcpframe.systems.bodies import bar_inertia, box_inertia, sphere_inertia
from mcpframe.systems.contacts import extreme_points

ROUNDING = 1e-12
SAMPLING = 0.02
"""Relative error of a mean over 200,000 random points, with room to spare."""
NAMES = [
    "pendulum",
    "branched_tree",
    "cable",
    "net",
    "dual_arm",
    "four_bar",
    "closed_chain",
    "parallelogram",
    "bennett",
    "bricard",
    "quadruped",
    "humanoid",
    "sphere",
    "box",
    "rod",
    "whole_arm_grasp",
]


def lowest(state):
    contacts = systems.contacts_of(state, 1)
    return contacts[0].point[2]


def test_all_systems_are_named_with_a_line_each():
    assert list(systems.available()) == NAMES
    assert all(line.endswith((".", "].")) or ":" in line for line in systems.available().values())


@pytest.mark.parametrize("name", NAMES)
def test_every_system_can_move(name, rng):
    """Neutral coordinates are valid, the mass matrix positive definite, and closures hold."""
    model = systems.make(name)
    assert model.name == name
    state = model.state(theta_dot=rng.standard_normal(model.n_dofs))
    assert np.linalg.eigvalsh(state.mass_matrix())[0] > 0.0
    assert np.isfinite(state.free_acceleration()).all()
    np.testing.assert_allclose(closure_rows(state).error, 0.0, atol=ROUNDING)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_u", [1, 4])
def test_every_system_has_contacts(name, n_u):
    model = systems.make(name)
    state = model.state()
    contacts = systems.contacts_of(state, n_u, mu=0.7)
    assert len(contacts) == n_u
    heights = [contact.point[2] for contact in contacts if contact.normal[2] == 1.0]
    assert heights == pytest.approx(sorted(heights))
    for contact in contacts:
        assert contact.body_b == "world"
        assert contact.mu == 0.7
        assert contact.body_a in model.tree.index


@pytest.mark.parametrize("n", [1, 3, 12, 30])
def test_the_pendulum_is_twelve_metres_of_touching_spheres_ten_metres_up(n):
    model = systems.pendulum(n)
    state = model.state()
    assert model.n_links == model.n_dofs == n
    assert [link.mass for link in model.links] == [1.0] * n
    centres = np.array([state.pose(Node(link.name, link.com)).position for link in model.links])
    radius = model.links[0].geometry[0].shape.radius
    assert radius == pytest.approx(6.0 / n)
    np.testing.assert_allclose(centres[:, 2], 10.0 - radius * (2 * np.arange(n) + 1), atol=ROUNDING)
    assert centres[-1, 2] - radius == pytest.approx(10.0 - 12.0)
    assert model.gravity.tolist() == [0.0, 0.0, -9.8]


def test_the_pendulum_swings_in_the_plane_of_its_wall():
    model = systems.pendulum(3)
    state = model.state([np.pi / 2, 0.0, 0.0])
    np.testing.assert_allclose(state.pose("link_3").position, [-8.0, 0.0, 10.0], atol=ROUNDING)
    floor, wall = model.geometry
    np.testing.assert_allclose(floor.pose.rotation[:, 2], [0, 0, 1], atol=ROUNDING)
    np.testing.assert_allclose(wall.pose.rotation[:, 2], [-1, 0, 0], atol=ROUNDING)
    assert wall.pose.position.tolist() == [4.0, 0.0, 0.0]


def test_the_dual_arm_has_26_links_and_26_dofs_in_its_parts():
    model = systems.dual_arm()
    assert model.n_links == model.n_dofs == 26
    names = [link.name for link in model.links]
    for part, links in {
        "head": 4,
        "left_arm": 7,
        "right_arm": 7,
        "left_finger": 3,
        "right_finger": 3,
    }.items():
        assert sum(name.startswith(part) for name in names) == links
    assert not model.closures


def test_the_dual_arm_touches_with_two_fingers_of_each_hand():
    contacts = systems.contacts_of(systems.dual_arm().state())
    assert sorted({contact.body_a for contact in contacts}) == [
        "left_finger_2",
        "left_finger_3",
        "right_finger_2",
        "right_finger_3",
    ]


@pytest.mark.parametrize("floating", [False, True])
def test_the_four_bar_closes_with_one_dof_and_touches_the_floor(floating):
    model = systems.four_bar(floating=floating)
    state = model.state()
    G = closure_rows(state).jacobian(state)
    assert G.shape == (5, 9 if floating else 3)
    assert np.linalg.matrix_rank(G, tol=1e-9) == 2
    assert lowest(state) == pytest.approx(0.0, abs=ROUNDING)


def test_a_four_bar_that_cannot_close_is_refused():
    with pytest.raises(ModelError, match="cannot span"):
        systems.four_bar(ground=5.0)


@pytest.mark.parametrize("n", [3, 4, 8, 25])
def test_the_closed_chain_is_a_regular_polygon_below_its_hinge(n):
    model = systems.closed_chain(n)
    state = model.state()
    np.testing.assert_allclose(closure_rows(state).error, 0.0, atol=n * ROUNDING)
    corners = state.link_poses()[1]
    middle = corners.mean(axis=0)
    np.testing.assert_allclose(middle[[0, 1]], 0.0, atol=ROUNDING)
    assert middle[2] < 2.0
    radii = np.linalg.norm(corners - middle, axis=1)
    np.testing.assert_allclose(radii, 0.3 / (2 * np.sin(np.pi / n)), atol=ROUNDING)


def test_the_quadruped_stands_on_its_four_feet():
    model = systems.quadruped()
    assert (model.n_links, model.n_dofs) == (13, 18)
    contacts = systems.contacts_of(model.state())
    assert [contact.body_a for contact in contacts] == ["FL_shank", "FR_shank", "RL_shank", "RR_shank"]
    np.testing.assert_allclose([contact.point[2] for contact in contacts], 0.0, atol=ROUNDING)
    corners = np.array([contact.point[:2] for contact in contacts])
    np.testing.assert_allclose(corners.mean(axis=0), 0.0, atol=ROUNDING)


def test_the_humanoid_stands_on_the_corners_of_its_feet_and_nothing_else_touches():
    model = systems.humanoid()
    assert (model.n_links, model.n_dofs) == (23, 28)
    contacts = Detector(model).contacts(model.state(), 0.01)
    assert {(contact.body_a, contact.body_b) for contact in contacts} == {
        ("left_foot", "world"),
        ("right_foot", "world"),
    }
    points = np.array([contact.point for contact in contacts])
    np.testing.assert_allclose(points[:, 2], 0.0, atol=ROUNDING)
    np.testing.assert_allclose(points[:, 1].mean(), 0.0, atol=ROUNDING)
    assert sum(link.mass for link in model.links) == pytest.approx(53.0)


@pytest.mark.parametrize(("links", "branching"), [(1, 2), (7, 2), (13, 3), (20, 1)])
def test_the_branched_tree_branches_as_asked(links, branching):
    model = systems.branched_tree(links, branching)
    children = np.bincount(model.parents[1:], minlength=links)
    assert model.n_links == links
    assert children.max(initial=0) <= branching
    assert (children > 0).sum() == -(-(links - 1) // branching)


@pytest.mark.parametrize("name", ["sphere", "box", "rod"])
def test_single_bodies_rest_on_the_floor(name):
    model = systems.make(name)
    assert model.n_dofs == 6
    assert lowest(model.state()) == pytest.approx(0.0, abs=ROUNDING)


def test_a_box_touches_with_its_corners_up_to_eight():
    state = systems.box().state()
    contacts = systems.contacts_of(state, 8)
    points = np.array([contact.point for contact in contacts])
    assert len(np.unique(points.round(9), axis=0)) == 8
    np.testing.assert_allclose(points[:4, 2], 0.0, atol=ROUNDING)


def test_more_contacts_than_points_below_use_walls():
    contacts = systems.contacts_of(systems.sphere().state(), 3)
    normals = [contact.normal.tolist() for contact in contacts]
    assert normals == [[0, 0, 1], [-1, 0, 0], [1, 0, 0]]


def test_contacts_beyond_the_geometry_are_refused():
    with pytest.raises(ModelError, match="points for 5 only"):
        systems.contacts_of(systems.sphere().state(), 6)
    with pytest.raises(ModelError, match="n_u"):
        systems.contacts_of(systems.sphere().state(), -1)


@pytest.mark.parametrize(
    "shape",
    [Sphere(0.3), Box((0.2, 0.4, 0.6)), Capsule(0.1, 0.5), Ellipsoid((0.3, 0.5, 0.8)), Cylinder(0.2, 0.7)],
)
def test_extreme_points_lie_on_the_shape_and_nothing_lies_beyond(shape, rng):
    pose = Pose.from_rpy(rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3))
    support = rng.standard_normal(3)
    support /= np.linalg.norm(support)
    reach = max(point @ support for point in extreme_points(shape, pose, support))
    inside = pose @ points_in(shape, rng)
    assert (inside @ support).max() <= reach + ROUNDING
    assert (inside @ support).max() > reach - 0.2


def points_in(shape, rng):
    """Random points of a shape in its frame: those of a cube around it that lie inside."""
    points = rng.uniform(-1.0, 1.0, (200_000, 3))
    x, y, z = points.T
    if isinstance(shape, Sphere):
        kept = x**2 + y**2 + z**2 <= shape.radius**2
    elif isinstance(shape, Box):
        kept = (np.abs(points) <= np.array(shape.size) / 2).all(axis=1)
    elif isinstance(shape, Ellipsoid):
        kept = ((points / shape.radii) ** 2).sum(axis=1) <= 1.0
    elif isinstance(shape, Cylinder):
        kept = (x**2 + y**2 <= shape.radius**2) & (np.abs(z) <= shape.length / 2)
    else:
        beyond = np.maximum(np.abs(z) - shape.length / 2, 0.0)
        kept = x**2 + y**2 + beyond**2 <= shape.radius**2
    return points[kept]


def test_planes_have_no_extreme_points():
    assert extreme_points(Plane(), Pose(), np.array([0.0, 0.0, -1.0])) == []


@pytest.mark.parametrize(
    ("shape", "inertia"),
    [
        (Sphere(0.9), sphere_inertia(2.0, 0.9)),
        (Box((0.8, 1.2, 1.9)), box_inertia(2.0, (0.8, 1.2, 1.9))),
        (Cylinder(0.6, 1.8), bar_inertia(2.0, 0.6, 1.8)),
    ],
    ids=["sphere", "box", "bar"],
)
def test_inertias_are_those_of_solid_bodies(shape, inertia, rng):
    points = points_in(shape, rng)
    squares = (points**2).sum(axis=1)
    by_sampling = 2.0 * (squares.mean() * np.eye(3) - points.T @ points / len(points))
    np.testing.assert_allclose(by_sampling, inertia, atol=SAMPLING * inertia.max())


@pytest.mark.parametrize("links", [0, -1, 2.5, True, "many"])
def test_numbers_of_links_are_whole_and_positive(links):
    for make in (systems.pendulum, systems.branched_tree, systems.closed_chain):
        with pytest.raises(ModelError, match="links"):
            make(links)


def test_unknown_systems_and_options_are_refused_with_a_suggestion():
    with pytest.raises(ModelError, match="did you mean 'pendulum'"):
        systems.make("pendulun")
    with pytest.raises(ModelError, match="did you mean 'links'"):
        systems.make("pendulum", link=3)
    assert systems.make("pendulum", links=3).n_links == 3


@pytest.mark.parametrize(
    ("model", "rank"),
    [
        (systems.bennett(), 2),
        (systems.bennett(a=0.3, alpha=2.0, beta=0.4, crank=-1.0), 2),
        (systems.bricard(), 4),
        (systems.bricard(a=1.5, crank=-0.5), 4),
        (systems.parallelogram(), 3),
        (systems.parallelogram(bars=5), 5),
        (systems.four_bar(), 2),
        (systems.four_bar(weld=True), 3),
    ],
    ids=lambda case: getattr(case, "name", str(case)),
)
def test_overconstrained_linkages_are_closed_and_have_one_degree_of_freedom(model, rank):
    state = model.state()
    rows = closure_rows(state)
    np.testing.assert_allclose(rows.error, 0.0, atol=ROUNDING)
    assert np.linalg.matrix_rank(rows.jacobian(state), tol=1e-9) == rank == model.n_dofs - 1 < rows.n


@pytest.mark.parametrize(
    "make",
    [
        lambda: systems.bennett(alpha=1.0, beta=1.0),
        lambda: systems.bennett(alpha=4.0),
        lambda: systems.bricard(crank=2.2),
        lambda: systems.parallelogram(bars=1),
    ],
)
def test_linkages_that_cannot_be_are_refused(make):
    with pytest.raises(ModelError):
        make()
