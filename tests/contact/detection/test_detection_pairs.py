"""Closed forms of shape pairs: signed distances, normals and frames against oracles, and degenerate cases."""

import numpy as np
import pytest
from detection_scenes import (
    EXACT,
    MU,
    REACHED,
    RESTITUTION,
    Found,
    largest_separation,
    random_pose,
    random_shape,
    signed_distance,
)

from mcpframe.contact.frames import contact_frame
from mcpframe.multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere
from mcpframe.spatial.transforms import Pose

PLANE_PAIRS = [(Plane, kind) for kind in (Sphere, Capsule, Ellipsoid, Cylinder, Box)]
BOUNDED_PAIRS = [
    *((Sphere, kind) for kind in (Sphere, Capsule, Ellipsoid, Cylinder, Box)),
    (Capsule, Capsule),
    (Capsule, Ellipsoid),
    (Ellipsoid, Box),
    (Capsule, Box),
    (Box, Box),
]
PAIRS = PLANE_PAIRS + BOUNDED_PAIRS
SPREADS = (0.2, 0.6, 1.5)
"""Metres: bodies mostly deep within each other, overlapping, and apart."""
SEARCHED = 1e-4
"""How near the search for directions comes to the best one."""
COAL = 5e-6
"""Coal's own tolerance is 1e-6; on round bodies its distances are a few times that."""
SAMPLED = 0.03
"""Metres between points when 60000 of them lie on ten square metres; the nearest is not further off."""


def name(pair):
    return "-".join(kind.__name__.lower() for kind in pair)


def samples(rng, pair, shapes=4, poses=6):
    """Random shapes at random poses."""
    for _ in range(shapes):
        found = Found(*(random_shape(rng, kind) for kind in pair))
        for spread in SPREADS:
            for _ in range(poses):
                yield found.at(random_pose(rng, spread), random_pose(rng, spread))


@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_some_normal_has_the_separation_that_its_gap_says(rng, pair):
    for found in samples(rng, pair):
        assert np.isfinite(found.record).all()
        separation = found.separation(found.n)
        deepest = found.gap <= found.gap.min() + REACHED
        np.testing.assert_allclose(separation[deepest].max(), found.gap.min(), rtol=0.0, atol=REACHED)


@pytest.mark.parametrize("pair", BOUNDED_PAIRS, ids=name)
def test_no_direction_separates_more_than_the_gap_says(rng, pair):
    for found in samples(rng, pair, shapes=3, poses=3):
        gap = found.gap.min()
        assert gap - SEARCHED <= largest_separation(found, rng) <= gap + REACHED


@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_distances_are_those_of_coal(rng, pair):
    coal = pytest.importorskip("coal")
    for found in samples(rng, pair):
        shapes = [coal_shape(coal, shape) for shape in found.shapes]
        places = [coal.Transform3s(pose.rotation, pose.position) for pose in found.poses]
        result = coal.DistanceResult()
        arguments = [shapes[0], places[0], shapes[1], places[1]]
        distance = coal.distance(*arguments, coal.DistanceRequest(), result)
        if pair == (Sphere, Cylinder) and distance < 0.0:  # from within, coal may miss the shortest way out
            assert found.gap.min() >= distance - COAL
        else:
            assert abs(found.gap.min() - distance) <= COAL


def coal_shape(coal, shape):
    if isinstance(shape, Plane):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, Ellipsoid):
        return coal.Ellipsoid(*shape.radii)
    if isinstance(shape, Box):
        return coal.Box(*shape.size)
    return (coal.Capsule if isinstance(shape, Capsule) else coal.Cylinder)(shape.radius, shape.length)


@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_half_the_gap_from_the_point_lies_the_surface_of_each_body(rng, pair):
    for found in samples(rng, pair):
        k = found.deepest
        ends = found.point[k] - found.gap[k] / 2 * found.n[k], found.point[k] + found.gap[k] / 2 * found.n[k]
        for shape, pose, end in zip(found.shapes, found.poses, ends, strict=True):
            if found.gap[k] > 0.0 or not (Box in pair and Sphere not in pair):
                assert abs(signed_distance(shape, pose, end)) <= REACHED
            else:  # deep edges: the ends of the way out are on the surfaces of the bodies, or within
                assert signed_distance(shape, pose, end) <= REACHED


@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_normals_are_unit_vectors_and_frames_follow_the_rule_of_contacts(rng, pair):
    for found in samples(rng, pair, shapes=2, poses=2):
        for contact, record in zip(found.contacts, found.record, strict=True):
            assert abs(np.linalg.norm(contact.normal) - 1.0) <= EXACT
            np.testing.assert_allclose(contact.frame.T, contact_frame(contact.normal), rtol=0.0, atol=EXACT)
            assert (record[[3, 7, 11, 15, 19]] == 0.0).all()
            assert (record[MU], record[RESTITUTION]) == (0.5, 0.25)


@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_swapping_the_bodies_turns_the_normal_and_leaves_the_gap(rng, pair):
    for found in samples(rng, pair, poses=3):
        swapped = Found(*found.shapes[::-1]).at(*found.poses[::-1])
        assert abs(found.gap.min() - swapped.gap.min()) <= REACHED
        others = swapped.gap <= swapped.gap.min() + REACHED
        distance = np.linalg.norm(found.n[found.deepest] + swapped.n[others], axis=1).min()
        assert distance <= 1e-6  # of several deepest points one is the same


@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_a_common_motion_carries_the_contacts_along(rng, pair):
    motion = Pose.from_quaternion((3.0, -2.0, 1.0), (0.1, -0.7, 0.5, 0.5))
    for found in samples(rng, pair, poses=3):
        moved = Found(*found.shapes).at(*(motion @ pose for pose in found.poses))
        assert (moved.key == found.key).all()
        np.testing.assert_allclose(moved.gap, found.gap, rtol=0.0, atol=REACHED)
        np.testing.assert_allclose(moved.point, motion @ found.point, rtol=0.0, atol=1e-6)
        np.testing.assert_allclose(moved.n, found.n @ motion.rotation.T, rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_only_gaps_within_the_margin_are_contacts_whatever_the_margin(rng, pair):
    for found in samples(rng, pair, shapes=2, poses=2):
        everything, gap, key = found.gap.copy(), found.gap.min(), found.key
        for margin in (gap - 1e-9, gap + 1e-9, gap + 0.1, -0.1, 0.0):
            found.at(*found.poses, margin=margin)
            expected = everything <= margin
            assert (found.key == key[expected]).all()


TOUCHING = {
    "sphere": (Sphere(0.5), 0.5, 1),
    "capsule": (Capsule(0.5, 2.0), 1.5, 1),
    "cylinder": (Cylinder(0.5, 2.0), 1.0, 4),
    "box": (Box((1, 1, 2)), 1.0, 4),
}


@pytest.mark.parametrize(("shape", "height", "n"), TOUCHING.values(), ids=TOUCHING)
def test_a_body_that_just_touches_a_plane_has_contacts_without_a_gap(shape, height, n):
    found = Found(Plane(), shape).at(Pose(), Pose((0.3, 0.2, height)), margin=0.0)
    assert len(found.contacts) == n
    assert (found.gap == 0.0).all()
    assert (found.n == [0.0, 0.0, 1.0]).all()


DEGENERATE = {
    "concentric spheres": (Sphere(1.0), Sphere(0.5), (0, 0, 0), -1.5),
    "sphere at the middle of a box": (Box((2, 4, 6)), Sphere(0.5), (0, 0, 0), -1.5),
    "sphere at the middle of a cube": (Box((2, 2, 2)), Sphere(0.5), (0, 0, 0), -1.5),
    "sphere centre on a face": (Box((2, 2, 2)), Sphere(0.5), (0, 0, 1), -0.5),
    "sphere centre on an edge": (Box((2, 2, 2)), Sphere(0.5), (0, 1, 1), -0.5),
    "sphere centre on a corner": (Box((2, 2, 2)), Sphere(0.5), (1, 1, 1), -0.5),
    "sphere centre on the axis of a capsule": (Capsule(0.5, 2.0), Sphere(0.25), (0, 0, 0.3), -0.75),
    "sphere centre on the axis of a cylinder": (Cylinder(0.5, 2.0), Sphere(0.25), (0, 0, 0.3), -0.75),
    "sphere centre on the cap of a cylinder": (Cylinder(0.5, 2.0), Sphere(0.25), (0, 0, 1.0), -0.25),
    "sphere centre on the rim of a cylinder": (Cylinder(0.5, 2.0), Sphere(0.25), (0.5, 0, 1.0), -0.25),
    "capsules on one axis": (Capsule(0.5, 2.0), Capsule(0.25, 1.0), (0, 0, 0.2), -0.75),
    "capsules end to end": (Capsule(0.5, 2.0), Capsule(0.5, 1.0), (0, 0, 2.5), 0.0),
    "the same capsule twice": (Capsule(0.5, 2.0), Capsule(0.5, 2.0), (0, 0, 0), -1.0),
    "capsule in the middle of a box": (Box((2, 4, 6)), Capsule(0.25, 1.0), (0, 0, 0), -1.25),
    "capsule axis in a face": (Box((2, 2, 4)), Capsule(0.25, 1.0), (1, 0, 0), -0.25),
    "capsule axis in an edge": (Box((2, 2, 4)), Capsule(0.25, 1.0), (1, 1, 0), -0.25),
    "the same box twice": (Box((1, 2, 3)), Box((1, 2, 3)), (0, 0, 0), -1.0),
    "boxes corner to corner": (Box((1, 1, 1)), Box((1, 1, 1)), (1, 1, 1), 0.0),
    "boxes edge to edge": (Box((1, 1, 1)), Box((1, 1, 1)), (1, 1, 0.2), 0.0),
    "boxes face to face": (Box((1, 1, 1)), Box((1, 1, 1)), (1, 0.2, 0.1), 0.0),
}


@pytest.mark.parametrize("turned", [False, True], ids=["upright", "turned"])
@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_cases_have_the_right_distance_and_no_nan(case, turned):
    first, second, place, gap = DEGENERATE[case]
    common = (
        Pose.from_quaternion((1.0, 2.0, 3.0), np.array([0.1, 0.2, -0.4, 0.6]) / np.sqrt(0.57))
        if turned
        else Pose()
    )
    found = Found(first, second).at(common, common @ Pose(place))
    assert np.isfinite(found.record).all()
    assert abs(found.gap.min() - gap) <= EXACT
    np.testing.assert_allclose(np.linalg.norm(found.n, axis=1), 1.0, rtol=0.0, atol=EXACT)
    assert np.unique(found.key).size == len(found.contacts)


@pytest.mark.parametrize("kind", [Box, Capsule, Cylinder], ids=lambda kind: kind.__name__)
def test_a_ball_is_as_far_away_as_the_nearest_of_many_points_of_the_surface(rng, kind):
    shape = random_shape(rng, kind)
    surface = surface_points(rng, shape, 60000)
    found = Found(shape, Sphere(0.25))
    for _ in range(30):
        x = rng.uniform(-1.5, 1.5, 3)
        distance = np.linalg.norm(surface - x, axis=1).min()
        sign = 1.0 if signed_distance(shape, Pose(), x) > 0.0 else -1.0
        found.at(Pose(), Pose(x))
        assert abs(found.gap[0] - (sign * distance - 0.25)) <= SAMPLED


def surface_points(rng, shape, n):
    """Random points of a surface, of every part of it many."""
    if isinstance(shape, Box):
        x = rng.uniform(-0.5, 0.5, (n, 3))
        x[np.arange(n), np.arange(n) % 3] = rng.choice([-0.5, 0.5], n)
        return x * shape.size
    angle, z = rng.uniform(0.0, 2.0 * np.pi, n), rng.uniform(-0.5, 0.5, n) * shape.length
    side = np.column_stack([shape.radius * np.cos(angle), shape.radius * np.sin(angle), z])
    if isinstance(shape, Capsule):
        ends = rng.standard_normal((n, 3))
        ends *= shape.radius / np.linalg.norm(ends, axis=1, keepdims=True)
    else:
        rho = np.sqrt(rng.uniform(0.0, 1.0, n))
        ends = np.column_stack([rho * side[:, 0], rho * side[:, 1], rng.choice([-1e-9, 1e-9], n)])
    ends[:, 2] += np.sign(ends[:, 2]) * shape.length / 2.0
    return np.concatenate([side, ends])
