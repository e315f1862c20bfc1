"""Broad phase: the same contacts as all pairs tested, at a cost that grows with the number of shapes."""

import numpy as np
import pytest
from detection_scenes import free_link, random_pose, random_shape

from mcpframe.contact.detection import Detector
from mcpframe.contact.detection import records as rec
from mcpframe.contact.detection.kernels.detect import detect_contacts
from mcpframe.contact.detection.packing import LEAST_ROOM, with_room
from mcpframe.multibody import Model
from mcpframe.multibody.model.shapes import Box, Capsule, Geometry, Plane, Sphere
from mcpframe.spatial.transforms import Pose

SPHERE = Sphere(0.05)


def spheres(n):
    """Many small free spheres."""
    return Model([free_link(f"s{i}", SPHERE) for i in range(n)])


def at(model, positions):
    """A state with free links at given positions."""
    theta = model.neutral().reshape(-1, 7)
    theta[:, :3] = positions
    return model.state(theta.ravel())


def sparse_strip(rng, n):
    """Positions along a strip: one sphere every half metre, in a channel three metres wide and high."""
    return rng.uniform(0.0, 1.0, (n, 3)) * [0.5 * n, 3.0, 3.0]


def touching_pairs(positions, reach):
    """All pairs of spheres within reach, by testing every one."""
    found = set()
    for i, x in enumerate(positions):
        near = np.flatnonzero(np.linalg.norm(positions[:i] - x, axis=1) <= reach)
        found |= {(i, int(j)) for j in near}
    return found


def found_pairs(detector):
    return {(int(a), int(b)) for a, b in detector.pairs}


@pytest.mark.parametrize("n", [2, 30, 300])
def test_spheres_that_touch_are_found_and_no_others(rng, n):
    positions = rng.uniform(0.0, 0.1 * n ** (1.0 / 3.0), (n, 3)) * [1.0, 2.0, 1.0]
    model = spheres(n)
    detector = Detector(model, margin=0.01)
    detector.detect(at(model, positions))
    assert found_pairs(detector) == touching_pairs(positions, 0.11)


def test_tests_grow_with_the_number_of_spheres_not_with_its_square(rng):
    tests = {}
    for n in (300, 3000):
        model = spheres(n)
        detector = Detector(model)
        detector.detect(at(model, sparse_strip(rng, n)))
        tests[n] = detector.n_tests
    assert tests[3000] <= 1.3 * 10 * tests[300]  # chance makes a few more or less
    assert tests[3000] <= 3000


def test_half_spaces_are_tested_once_against_every_bounded_shape(rng):
    model = Model([free_link(f"s{i}", SPHERE) for i in range(50)], geometry=[Geometry(Plane())] * 3)
    detector = Detector(model)
    detector.detect(at(model, sparse_strip(rng, 50) + np.array([0.0, 0.0, 10.0])))
    assert 150 <= detector.n_tests <= 200


def mixed(rng, n=40):
    """Bodies of all kinds in a heap on a floor."""
    kinds = [Sphere, Capsule, Box]
    links = [free_link(f"b{i}", random_shape(rng, kinds[i % 3])) for i in range(n)]
    return Model(links, geometry=[Geometry(Plane()), Geometry(Box((1, 1, 1)), Pose((0, 0, 0.5)))])


def random_theta(rng, model, spread):
    poses = [random_pose(rng, spread) for _ in model.links]
    return np.concatenate([np.concatenate([pose.position, pose.quaternion()]) for pose in poses])


def test_contacts_do_not_depend_on_what_was_detected_before(rng):
    model = mixed(rng)
    used = Detector(model, margin=0.05)
    for spread in (0.5, 3.0, 1.0, 3.0):
        stretch = rng.permutation([1.0, 5.0, 1.0])
        theta = random_theta(rng, model, spread).reshape(-1, 7)
        theta[:, :3] *= stretch  # the axis of the sweep changes
        state = model.state(theta.ravel())
        fresh = Detector(model, margin=0.05)
        assert used.detect(state) == fresh.detect(state)
        assert used.record.tobytes() == fresh.record.tobytes()
        assert (used.key == fresh.key).all()


def test_contacts_are_those_of_every_pair_alone(rng):
    model = mixed(rng, 12)
    state = model.state(random_theta(rng, model, 1.5))
    together = Detector(model, margin=0.1)
    together.detect(state)
    expected = {}
    names = ["world", *(link.name for link in model.links)]
    for i, a in enumerate(names):
        for b in names[:i]:
            others = [(x, y) for k, x in enumerate(names) for y in names[:k] if {x, y} != {a, b}]
            alone = Detector(model, ignore=others, margin=0.1)
            alone.detect(state)
            expected |= dict(zip(alone.key.tolist(), alone.record, strict=True))
    assert together.key.tolist() == sorted(expected)
    for key, record in zip(together.key.tolist(), together.record, strict=True):
        assert (record == expected[key]).all()


def test_the_sweep_takes_the_axis_of_largest_spread_and_leaves_it_only_for_a_much_better_one(rng):
    model = spheres(60)
    detector = Detector(model)
    for widths, axis in (((1, 1, 9), 2), ((1, 10, 9), 2), ((1, 30, 9), 1), ((1, 1, 1), 1)):
        detector.detect(at(model, rng.uniform(-1.0, 1.0, (60, 3)) * widths))
        assert detector.ID[rec.AXIS] == axis


def test_tables_grow_when_there_are_more_contacts_than_room():
    n = LEAST_ROOM
    model = Model([free_link(f"b{i}", Box((1, 1, 1))) for i in range(n)], geometry=[Geometry(Plane())])
    state = at(model, np.tile([0.0, 0.0, 0.5], (n, 1)))  # all in one place: every pair meets
    detector = Detector(model)
    ID = detector.ID
    n_contacts = detector.detect(state)
    assert detector.ID is not ID
    assert n_contacts == 4 * n + 4 * n * (n - 1) // 2
    assert (np.diff(detector.key) > 0).all()
    assert np.isfinite(detector.record).all()


def test_more_room_keeps_the_constants(rng):
    model = mixed(rng, 6)
    state = model.state(random_theta(rng, model, 0.5))
    small, large = Detector(model), Detector(model)
    large.ID, large.XD = with_room(large.memory, large.ID, large.XD, 5000, 7000)
    assert small.detect(state) == large.detect(state) > 0
    assert (small.record == large.record).all()
    assert large.ID[rec.MAX_CONTACTS] == 7000


@pytest.mark.parametrize("links", [0, 1])
def test_models_without_pairs_have_no_contacts(links):
    model = Model([free_link("s", SPHERE)][:links])
    detector = Detector(model)
    assert detector.detect(model.state()) == 0
    assert len(detector.contacts(model.state())) == 0


def test_a_long_capsule_reaches_across_many_small_spheres():
    positions = np.column_stack([np.linspace(-4.0, 4.0, 81), np.full(81, 0.1), np.zeros(81)])
    bar = free_link("bar", Capsule(0.05, 8.0), pose=Pose.from_rpy((0, 0, 0), (0, np.pi / 2, 0)))
    model = Model([bar, *(free_link(f"s{i}", Sphere(0.03)) for i in range(81))])
    detector = Detector(model, margin=0.03)
    detector.detect(at(model, np.vstack([np.zeros(3), positions])))
    assert found_pairs(detector) == {(i, 0) for i in range(1, 82)}


def test_pairs_that_are_given_have_the_contacts_that_they_have_among_all(rng):
    shapes = [random_shape(rng, kind) for kind in (Sphere, Box, Capsule) for _ in range(6)]
    model = Model([free_link(f"s{i}", shape) for i, shape in enumerate(shapes)], geometry=[Geometry(Plane())])
    detector = Detector(model, margin=0.05)
    first, later = (at(model, rng.uniform(0.0, 0.6, (len(shapes), 3))) for _ in range(2))
    detector.detect(first)
    given = np.unique(detector.key // rec.FEATURES)[::2]
    detector.detect(later)
    chosen = np.isin(detector.key // rec.FEATURES, given)
    keys, records = detector.key[chosen].copy(), detector.record[chosen].copy()
    detector.detect(first)  # other places are in the tables now
    ID = detector.ID
    ID[rec.N_CANDIDATES], ID[rec.GIVEN] = given.size, 1
    ID[ID[rec.CANDIDATES] :][: given.size] = given
    detect_contacts(later.I, later.X, ID, detector.XD)
    ID[rec.GIVEN] = 0
    assert keys.size > 5
    np.testing.assert_array_equal(detector.key, keys)
    np.testing.assert_array_equal(detector.record, records)
