"""Balls of clusters against the sweep over all shapes."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.detection import cluster_records as at
from mcpframe.contact.detection.clusters import has_clusters, take_clusters
from mcpframe.contact.detection.detector import Detector
from mcpframe.contact.detection.kernels.cluster_phase import detect_clusters, gather
from mcpframe.contact.detection.records import CANDIDATES, FEATURES, GIVEN, MARGIN, N_CANDIDATES, ROOM
from mcpframe.multibody.model.shapes import Box, Capsule, Geometry, Plane, Sphere

SHAPES = (Sphere(0.15), Capsule(0.1, 0.3), Box((0.2, 0.3, 0.15)))


def cloud(rng, n=40, on_each=3):
    """Free bodies with several shapes each, among boxes, bars and half-spaces."""

    def some(count, size):
        turns = rng.uniform(-3.0, 3.0, (count, 3))
        places = size * rng.uniform(-1.0, 1.0, (count, 3))
        kinds = rng.integers(len(SHAPES), size=count)
        return [
            Geometry(SHAPES[kind], mf.Pose.from_rpy(place, turn))
            for kind, place, turn in zip(kinds, places, turns, strict=True)
        ]

    world = [*some(12, 2.0), Geometry(Plane(), mf.Pose((0, 0, -1.5)))]
    links = [mf.Link(f"body_{k}", mass=1.0, inertia=np.eye(3), geometry=some(on_each, 0.4)) for k in range(n)]
    return mf.Model(links, geometry=world)


def found(detector):
    order = np.argsort(detector.key, kind="stable")
    return detector.key[order], detector.record[order]


@pytest.mark.parametrize("margin", [0.0, 0.05, -0.02])
def test_the_same_contacts_are_found(rng, margin):
    model = cloud(rng)
    plain, balls = Detector(model), Detector(model)
    assert has_clusters(balls)
    take_clusters(balls)
    gather(balls.ID, balls.XD, model.tree.skeleton.n_bodies)
    tests = []
    for _ in range(20):
        theta = model.random_theta(rng).reshape(-1, 7)
        theta[:, :3] *= 2.0
        state = model.state(theta.ravel())
        state.link_poses()
        plain.detect(state, margin)
        balls.XD[MARGIN] = margin
        while detect_clusters(state.I, state.X, balls.ID, balls.XD) == ROOM:
            balls.make_room()
        for a, b in zip(found(plain), found(balls), strict=True):
            np.testing.assert_array_equal(a, b)
        tests.append(plain.n_contacts)
    assert max(tests) > 5


def test_of_given_pairs_the_same_contacts_are_found_where_bodies_have_moved(rng):
    """As in the middle of a step, whose clusters are not placed yet."""
    model, met = cloud(rng), 0
    plain, balls = Detector(model), Detector(model)
    take_clusters(balls)
    gather(balls.ID, balls.XD, model.tree.skeleton.n_bodies)
    theta = model.random_theta(rng).reshape(-1, 7)
    theta[:, :3] *= 2.0
    for _ in range(20):
        plain.detect(model.state(theta.ravel()), 0.05)
        pairs = np.unique(plain.key // FEATURES)[::2]
        theta[:, :3] += 0.01 * rng.standard_normal(theta[:, :3].shape)
        state = model.state(theta.ravel())
        state.link_poses()
        plain.detect(state, 0.05)
        balls.ID[[N_CANDIDATES, GIVEN]] = pairs.size, 1
        at.MEMORY.part(balls.ID, balls.XD, CANDIDATES)[: pairs.size] = pairs
        balls.XD[MARGIN] = 0.05
        n = detect_clusters(state.I, state.X, balls.ID, balls.XD)
        kept = np.isin(plain.key // FEATURES, pairs)
        assert n == kept.sum()
        np.testing.assert_array_equal(balls.key, plain.key[kept])
        np.testing.assert_array_equal(balls.record, plain.record[kept])
        met += n
    assert met > 20


def test_members_of_clusters_are_all_moving_shapes_in_their_order(rng):
    model = cloud(rng, 7, 4)
    detector = Detector(model)
    take_clusters(detector)
    gather(detector.ID, detector.XD, 7)
    first = at.MEMORY.part(detector.ID, detector.XD, at.FIRST)[:8]
    members = at.MEMORY.part(detector.ID, detector.XD, at.MEMBERS)[:28]
    assert first.tolist() == list(range(0, 32, 4))
    assert members.tolist() == list(range(13, 41))


def test_half_spaces_that_move_are_left_to_the_sweep():
    wall = mf.Link("wall", mass=1.0, inertia=np.eye(3), geometry=Geometry(Plane()))
    assert not has_clusters(Detector(mf.Model([wall])))
