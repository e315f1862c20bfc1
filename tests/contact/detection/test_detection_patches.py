"""Contact patches: corners of faces that meet, ends of lines that meet, and identities that last."""

import numpy as np
import pytest
from detection_scenes import REACHED, Found
from scipy.spatial import HalfspaceIntersection

from mcpframe.multibody.model.shapes import Box, Capsule, Cylinder, Plane
from mcpframe.spatial.transforms import Pose, rotation_from_rpy

NEAR = 1e-3
"""Margin of resting bodies, m."""
PLACED = 1e-6
"""Corners on a side count as inside up to 1e-9 of the size; where lines cross at an angle the crossing is off
by that over the sine."""


def assert_same_points(found, expected, tolerance=PLACED):
    """The points of contacts are the expected ones, in any order."""
    expected = np.atleast_2d(expected)
    assert len(found) == len(expected)
    distance = np.linalg.norm(found[:, None] - expected[None], axis=2)
    assert (distance.min(axis=0) <= tolerance).all()
    assert (distance.min(axis=1) <= tolerance).all()


def rectangle(x, y):
    return [[-x, -y], [-x, y], [x, -y], [x, y]]


def at_height(corners, z):
    return [[x, y, z] for x, y in corners]


def test_a_box_face_on_a_plane_gives_its_four_corners():
    found = Found(Plane(), Box((2.0, 1.0, 0.5))).at(Pose(), Pose((0, 0, 0.25)), NEAR)
    assert_same_points(found.point, at_height(rectangle(1.0, 0.5), 0.0))


@pytest.mark.parametrize(("roll", "pitch", "n"), [(0.0, 0.3, 2), (0.2, 0.3, 1)], ids=["edge", "corner"])
def test_a_tilted_box_touches_a_plane_with_an_edge_or_a_corner(roll, pitch, n):
    R = rotation_from_rpy((roll, pitch, 0.0))
    height = np.abs(R[2]) @ [1.0, 0.5, 0.25]
    found = Found(Plane(), Box((2.0, 1.0, 0.5))).at(Pose(), Pose((0, 0, height), R), NEAR)
    assert len(found.contacts) == n
    np.testing.assert_allclose(found.gap, 0.0, rtol=0.0, atol=REACHED)


def overlap_corners(size_1, size_2, x, y, yaw):
    """Corners of the overlap of a rectangle with another that is moved and turned, from Qhull."""
    c, s = np.cos(yaw), np.sin(yaw)
    planes = []
    for size, R, centre in ((size_1, np.eye(2), np.zeros(2)), (size_2, np.array([[c, -s], [s, c]]), (x, y))):
        for axis, half in zip(R.T, np.array(size) / 2.0, strict=True):
            planes += [[*axis, -half - axis @ centre], [*-axis, -half + axis @ centre]]
    return HalfspaceIntersection(np.array(planes), np.array([x, y]) / 2.0).intersections


@pytest.mark.parametrize("gap", [-1e-4, 0.0, 1e-4], ids=["overlapping", "touching", "apart"])
def test_boxes_on_each_other_meet_in_the_corners_of_their_overlap(rng, gap):
    numbers = set()
    for _ in range(60):
        sizes = rng.uniform(0.5, 2.0, (2, 3))
        x, y = rng.uniform(-0.25, 0.25, 2)
        yaw = rng.uniform(-np.pi, np.pi)
        found = Found(Box(sizes[0]), Box(sizes[1]))
        height = (sizes[0, 2] + sizes[1, 2]) / 2.0 + gap
        found.at(Pose(), Pose((x, y, height), rotation_from_rpy((0, 0, yaw))), NEAR)
        expected = overlap_corners(sizes[0, :2], sizes[1, :2], x, y, yaw)
        assert_same_points(found.point, at_height(expected, sizes[0, 2] / 2.0 + gap / 2.0))
        np.testing.assert_allclose(found.gap, gap, rtol=0.0, atol=REACHED)
        np.testing.assert_allclose(found.n, [[0.0, 0.0, 1.0]] * len(found.n), rtol=0.0, atol=REACHED)
        numbers.add(len(found.contacts))
    assert {4, 5, 6} <= numbers


def test_squares_turned_by_an_eighth_of_a_turn_meet_in_eight_corners():
    found = Found(Box((1, 1, 1)), Box((1, 1, 1)))
    found.at(Pose(), Pose((0, 0, 1), rotation_from_rpy((0, 0, np.pi / 4))), NEAR)
    expected = overlap_corners((1, 1), (1, 1), 0.0, 0.0, np.pi / 4)
    assert len(expected) == 8
    assert_same_points(found.point, at_height(expected, 0.5))


@pytest.mark.parametrize("tilt", [0.0, 1e-9, 1e-6, 1e-5], ids=str)
@pytest.mark.parametrize("axis", [0, 1], ids=["roll", "pitch"])
def test_crossing_bars_keep_their_four_corners_when_they_tilt(axis, tilt):
    found = Found(Box((4.0, 0.5, 0.5)), Box((0.5, 4.0, 0.5)))
    rpy = np.zeros(3)
    rpy[axis] = tilt
    found.at(Pose(), Pose((0, 0, 0.5), rotation_from_rpy(rpy)), NEAR)
    corners = at_height(rectangle(0.25, 0.25), 0.25)
    distance = np.linalg.norm(found.point[:, None] - np.array(corners)[None], axis=2)
    assert (distance.min(axis=0) <= 1e-4).all()  # half the tilt's height off


def test_crossed_edges_meet_in_one_point():
    quarter, half = rotation_from_rpy((np.pi / 4, 0, 0)), rotation_from_rpy((0, np.pi / 4, 0))
    found = Found(Box((2, 1, 1)), Box((1, 2, 1)))
    found.at(Pose((0, 0, 0), quarter), Pose((0.1, 0.2, np.sqrt(2.0) - 1e-5), half), NEAR)
    assert_same_points(found.point, [[0.1, 0.0, np.sqrt(0.5) - 0.5e-5]])
    assert abs(found.gap[0] + 1e-5) <= REACHED


def test_parallel_capsules_meet_at_both_ends_of_their_common_stretch():
    found = Found(Capsule(0.5, 2.0), Capsule(0.25, 2.0)).at(Pose(), Pose((0.75, 0.0, 0.5)), NEAR)
    assert_same_points(found.point, [[0.5, 0.0, -0.5], [0.5, 0.0, 1.0]])
    np.testing.assert_allclose(found.gap, 0.0, rtol=0.0, atol=REACHED)


@pytest.mark.parametrize(("shift", "n"), [(0.0, 2), (1.9, 2), (2.1, 1)], ids=["flush", "overlapping", "past"])
def test_capsules_side_by_side_share_two_points_unless_one_has_passed_the_other(shift, n):
    found = Found(Capsule(0.5, 2.0), Capsule(0.5, 2.0)).at(Pose(), Pose((1.0, 0.0, shift)), margin=0.1)
    assert len(found.contacts) == n


def test_crossed_capsules_meet_in_one_point():
    turn = rotation_from_rpy((np.pi / 2, 0, 0))
    found = Found(Capsule(0.5, 2.0), Capsule(0.5, 2.0)).at(Pose(), Pose((1.0, 0.2, 0.3), turn), NEAR)
    assert_same_points(found.point, [[0.5, 0.0, 0.3]])


LYING = rotation_from_rpy((0, np.pi / 2, 0))
"""Turns the axis z to x."""


@pytest.mark.parametrize("x", [0.0, 1.5, -1.5], ids=["on it", "over the right edge", "over the left edge"])
def test_a_capsule_lies_on_a_box_with_the_ends_of_what_is_above_the_box(x):
    found = Found(Box((3.0, 2.0, 1.0)), Capsule(0.25, 2.0)).at(Pose(), Pose((x, 0.3, 0.75), LYING), NEAR)
    low, high = max(x - 1.0, -1.5), min(x + 1.0, 1.5)
    assert_same_points(found.point, [[low, 0.3, 0.5], [high, 0.3, 0.5]])
    np.testing.assert_allclose(found.gap, 0.0, rtol=0.0, atol=REACHED)


@pytest.mark.parametrize("tilt", [1e-9, -1e-9, 1e-5, -1e-5], ids=str)
def test_a_capsule_that_overhangs_a_box_keeps_both_contacts_when_it_tilts(tilt):
    R = rotation_from_rpy((0, np.pi / 2 + tilt, 0))
    found = Found(Box((3.0, 2.0, 1.0)), Capsule(0.25, 2.0)).at(Pose(), Pose((1.5, 0.3, 0.75), R), NEAR)
    assert len(found.contacts) == 2


def test_a_capsule_beside_an_edge_of_a_box_meets_it_along_the_edge():
    found = Found(Box((3.0, 2.0, 1.0)), Capsule(0.25, 2.0))
    diagonal = 0.25 / np.sqrt(2.0)
    found.at(Pose(), Pose((1.0, 1.0 + diagonal, 0.5 + diagonal), LYING), NEAR)
    assert_same_points(found.point, [[0.0, 1.0, 0.5], [1.5, 1.0, 0.5]])


def test_a_standing_cylinder_has_four_contacts_on_its_rim():
    found = Found(Plane(), Cylinder(0.5, 2.0)).at(Pose(), Pose((0, 0, 1.0)), NEAR)
    assert_same_points(found.point, [[0.5, 0, 0], [-0.5, 0, 0], [0, 0.5, 0], [0, -0.5, 0]])


def test_a_lying_cylinder_has_two_contacts_at_its_ends():
    found = Found(Plane(), Cylinder(0.5, 2.0)).at(Pose(), Pose((0, 0, 0.5), LYING), NEAR)
    assert_same_points(found.point, [[-1.0, 0, 0], [1.0, 0, 0]])


@pytest.mark.parametrize("tilt", [1e-12, 1e-8, 1e-3, 0.1, 0.5, 1.2], ids=str)
@pytest.mark.parametrize("yaw", [0.0, 0.3, np.pi / 2])
def test_a_tilted_cylinder_rests_on_the_lowest_point_of_its_rim(tilt, yaw):
    R = rotation_from_rpy((0, 0, yaw)) @ rotation_from_rpy((tilt, 0, 0)) @ rotation_from_rpy((0, 0, 0.2))
    height = np.cos(tilt) + 0.5 * np.sin(tilt)
    found = Found(Plane(), Cylinder(0.5, 2.0)).at(Pose(), Pose((0, 0, height), R), NEAR)
    assert abs(found.gap.min()) <= 1e-9
    assert len(found.contacts) == (4 if tilt < 1e-9 else 5 if tilt < 1e-3 else len(found.contacts))


def test_a_cylinder_that_tips_about_a_fixed_point_of_its_rim_does_so_about_one_contact():
    """However steep it is: a contact that is another one from some angle on has no past there."""
    found, keys = Found(Plane(), Cylinder(0.5, 2.0)), set()
    for tilt in (1e-6, 1e-3, 0.1, 0.19, 0.21, 0.5):
        R, height = rotation_from_rpy((tilt, 0, 0)), np.cos(tilt) + 0.5 * np.sin(tilt)
        found.at(Pose(), Pose((0, 0, height), R), 1e-6 * tilt)
        keys.update(found.key[found.gap <= 1e-9])
    assert len(keys) == 1


RESTING = {
    "box on plane": (Plane(), Box((1, 1, 1)), (0.2, 0.1, 0.5), None),
    "box on box": (Box((2, 2, 1)), Box((1, 1, 1)), (0.7, 0.1, 1.0), None),
    "box over a corner": (Box((2, 2, 1)), Box((1, 1, 1)), (0.7, 0.8, 1.0), None),
    "turned box on box": (Box((2, 2, 1)), Box((1, 1, 1)), (0.7, 0.1, 1.0), (0, 0, 0.4)),
    "crossing bars": (Box((4, 0.5, 0.5)), Box((0.5, 4, 0.5)), (0, 0, 0.5), None),
    "capsule on box": (Box((2, 2, 1)), Capsule(0.25, 1.0), (0.7, 0.1, 0.75), (0, np.pi / 2, 0)),
    "capsule on plane": (Plane(), Capsule(0.25, 1.0), (0.7, 0.1, 0.25), (0, np.pi / 2, 0)),
    "parallel capsules": (Capsule(0.5, 2.0), Capsule(0.5, 2.0), (1.0, 0, 0.5), None),
    "cylinder lying": (Plane(), Cylinder(0.5, 1.0), (0, 0, 0.5), (0, np.pi / 2, 0)),
}


@pytest.mark.parametrize("case", RESTING)
def test_small_motions_keep_the_contacts_their_order_and_their_identities(rng, case):
    first, second, place, rpy = RESTING[case]
    pose = Pose(place, None if rpy is None else rotation_from_rpy(rpy))
    found = Found(first, second).at(Pose(), pose, NEAR)
    key, point = found.key, found.point.copy()
    assert len(key) >= 2
    for size in (1e-12, 1e-9, 1e-7, 1e-5):
        for _ in range(10):
            turn = rotation_from_rpy(size * rng.standard_normal(3))
            moved = Pose(np.array(place) + size * rng.standard_normal(3), turn @ pose.rotation)
            found.at(Pose(), moved, NEAR)
            assert (found.key == key).all()
            assert (np.linalg.norm(found.point - point, axis=1) <= 20.0 * size + REACHED).all()


@pytest.mark.parametrize(
    "shape", [Box((1, 1, 1)), Cylinder(0.5, 1.0)], ids=["flush boxes", "standing cylinder"]
)
def test_rounding_does_not_change_identities(rng, shape):
    first = Plane() if isinstance(shape, Cylinder) else shape
    height = 0.5 if isinstance(shape, Cylinder) else 1.0
    found = Found(first, shape).at(Pose(), Pose((0, 0, height)), NEAR)
    key = found.key
    assert len(key) == 4
    for _ in range(50):
        turn = rotation_from_rpy(1e-12 * rng.standard_normal(3))
        found.at(Pose(), Pose(np.array([0, 0, height]) + 1e-12 * rng.standard_normal(3), turn), NEAR)
        assert (found.key == key).all()


def test_keys_ascend_and_name_the_pair(rng):
    found = Found(Box((1, 1, 1)), Box((1, 1, 1)))
    found.at(Pose(), Pose((0.2, 0.1, 1.0), rotation_from_rpy((0, 0, 0.5))), NEAR)
    assert (np.diff(found.key) > 0).all()
    assert (found.detector.pairs == [1, 0]).all()
