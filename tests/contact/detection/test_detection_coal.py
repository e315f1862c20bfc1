"""Pairs without a closed form: distances against a search and against boxes, patches, missing modules."""

import sys

import numpy as np
import pytest
from detection_scenes import Found, free_link, largest_separation, random_pose, random_shape

from mcpframe.contact.detection import Detector, Material
from mcpframe.contact.detection import records as rec
from mcpframe.contact.detection.convex_pairs import coal_shape
from mcpframe.contact.detection.solids import Bar, Hull, Rod, solid_of
from mcpframe.exceptions import ModelError, PluginError
from mcpframe.multibody import Model
from mcpframe.multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere
from mcpframe.spatial.transforms import Pose, rotation_from_rpy

pytest.importorskip("coal")
pytest.importorskip("trimesh")

NEAR = 1e-3
SEARCHED = 1e-4
"""How near the search for directions comes to the best one."""
ITERATED = 2e-8
"""What coal's iterations leave open at 1e-10, on bodies of a metre."""
HULL = 1e-6
"""Distances of a mesh, found by iteration, against those of the box that it is."""
LYING = rotation_from_rpy((np.pi / 2, 0, 0))
"""Turns the axis z to -y."""
ROUND_PAIRS = [(Capsule, Cylinder), (Cylinder, Cylinder), (Cylinder, Box), (Box, Cylinder)]
ROUND_PAIRS += [(Ellipsoid, Ellipsoid), (Ellipsoid, Cylinder)]


def pair_name(pair):
    return "-".join(kind.__name__.lower() for kind in pair)


@pytest.fixture
def box_mesh(tmp_path):
    """Write a block as a mesh, perhaps off its origin, with points inside it that the hull leaves out."""

    def write(size=(1.0, 1.0, 1.0), centre=(0.0, 0.0, 0.0)):
        corners = [[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
        points = np.array([*corners, [0.1, 0.0, 0.2]]) * size + centre
        faces = [
            (1, 2, 4, 3),
            (5, 7, 8, 6),
            (1, 5, 6, 2),
            (3, 4, 8, 7),
            (1, 3, 7, 5),
            (2, 6, 8, 4),
            (9, 1, 2, 3),
        ]
        lines = [f"v {x:.17g} {y:.17g} {z:.17g}" for x, y, z in points]
        lines += ["f " + " ".join(map(str, face)) for face in faces]
        path = tmp_path / f"box{len(list(tmp_path.iterdir()))}.obj"
        path.write_text("\n".join(lines) + "\n")
        return str(path)

    return write


@pytest.mark.parametrize("pair", ROUND_PAIRS, ids=pair_name)
def test_no_direction_separates_round_bodies_more_than_the_gap_says(rng, pair):
    for _ in range(12):
        found = Found(*(random_shape(rng, kind) for kind in pair))
        for spread in (0.5, 1.5):
            found.at(random_pose(rng, spread), random_pose(rng, spread))
            gap = found.gap.min()
            assert gap - SEARCHED <= largest_separation(found, rng) <= gap + ITERATED
            assert found.separation(found.n).max() >= gap - ITERATED
            assert not found.detector.has_kernels


@pytest.mark.parametrize("pair", ROUND_PAIRS, ids=pair_name)
def test_swapping_round_bodies_turns_the_normal_and_leaves_the_gap(rng, pair):
    for _ in range(12):
        found = Found(*(random_shape(rng, kind) for kind in pair))
        found.at(random_pose(rng, 1.5), random_pose(rng, 1.5))
        swapped = Found(*found.shapes[::-1]).at(*found.poses[::-1])
        assert abs(found.gap.min() - swapped.gap.min()) <= ITERATED
        if found.gap.min() > 0.01:
            np.testing.assert_allclose(found.n[0], -swapped.n[0], rtol=0.0, atol=1e-4)


@pytest.mark.parametrize("other", [Sphere, Capsule, Box, Plane], ids=lambda kind: kind.__name__)
def test_a_mesh_of_a_box_is_as_far_away_as_the_box(rng, box_mesh, other):
    size, centre = (1.0, 0.6, 0.4), np.array([0.3, -0.2, 0.1])
    mesh = Mesh(box_mesh(size, centre))
    for _ in range(10):
        shape = random_shape(rng, other)
        poses = random_pose(rng, 1.0), random_pose(rng, 1.0)
        found = Found(shape, mesh).at(*poses)
        expected = Found(shape, Box(size)).at(poses[0], poses[1] @ Pose(centre))
        assert abs(found.gap.min() - expected.gap.min()) <= HULL


def test_scale_and_mirror_of_a_mesh_are_taken(box_mesh):
    mesh = Mesh(box_mesh((1.0, 1.0, 1.0), (0.5, 0.0, 0.0)), (-2.0, 1.0, 3.0))  # from x = -2 to 0, 3 high
    found = Found(Plane(), mesh).at(Pose(), Pose((0, 0, 1.5)), NEAR)
    assert sorted(found.point[:, 0]) == pytest.approx([-2.0, -2.0, 0.0, 0.0], abs=1e-12)
    assert np.abs(found.gap).max() <= 1e-12


SUPPORTED = {
    "cylinder standing on a box": (Box((4, 4, 1)), Cylinder(0.5, 1.0), (0, 0, 1.0), None, 8),
    "cylinder standing over an edge": (Box((4, 4, 1)), Cylinder(0.5, 1.0), (1.8, 0, 1.0), None, 7),
    "cylinder lying on a box": (Box((4, 4, 1)), Cylinder(0.5, 1.0), (0, 0, 1.0), LYING, 2),
    "cylinder lying on a cylinder": (Cylinder(0.5, 1.0), Cylinder(0.5, 1.0), (0, 0.2, 1.0), LYING, 2),
    "capsule lying on a cylinder": (Cylinder(0.5, 1.0), Capsule(0.5, 1.0), (0, 0.2, 1.0), LYING, 2),
}


@pytest.mark.parametrize("case", SUPPORTED)
def test_round_bodies_rest_on_enough_points_and_keep_them(rng, case):
    first, second, place, turn, n = SUPPORTED[case]
    below = Pose((0, 0, 0), LYING if isinstance(first, Cylinder) else None)
    pose = Pose(place, turn)
    found = Found(first, second).at(below, pose, NEAR)
    assert len(found.contacts) == n
    assert np.abs(found.gap).max() <= ITERATED
    np.testing.assert_allclose(found.n, [[0.0, 0.0, 1.0]] * n, rtol=0.0, atol=1e-6)
    assert found.point[:, 2] == pytest.approx(np.full(n, 0.5), abs=1e-6)
    centre = found.point.mean(axis=0)
    key = found.key
    assert np.linalg.norm(found.point - centre, axis=1).max() > 0.3
    for _ in range(5):
        motion = Pose(1e-7 * rng.standard_normal(3), rotation_from_rpy(1e-7 * rng.standard_normal(3)))
        found.at(below, motion @ pose, NEAR)
        assert set(key) <= set(found.key)


@pytest.mark.parametrize("other", ["box", "mesh"])
def test_the_face_of_a_mesh_meets_a_face_in_the_corners_of_the_overlap(box_mesh, other):
    below = Box((4, 4, 1)) if other == "box" else Mesh(box_mesh((4, 4, 1)))
    found = Found(below, Mesh(box_mesh())).at(Pose(), Pose((1.8, 0, 1.0)), NEAR)
    assert sorted(map(tuple, found.point.round(9).tolist())) == [
        (1.3, -0.5, 0.5),
        (1.3, 0.5, 0.5),
        (2.0, -0.5, 0.5),
        (2.0, 0.5, 0.5),
    ]


def test_a_mesh_on_a_plane_has_the_corners_of_its_face(box_mesh):
    found = Found(Plane(), Mesh(box_mesh())).at(Pose(), Pose((0, 0, 0.5)), NEAR)
    assert len(found.contacts) == 4
    assert (found.gap == 0.0).all()


def test_a_plane_that_is_body_a_has_its_normal_turned(box_mesh):
    found = Found(Mesh(box_mesh()), Plane()).at(Pose((0, 0, 0.5)), Pose(), NEAR)
    np.testing.assert_allclose(found.n, [[0, 0, -1]] * 4, rtol=0.0, atol=1e-12)


def test_round_faces_of_meshes_keep_few_corners(tmp_path):
    angle = np.linspace(0.0, 2.0 * np.pi, 65)[:-1]
    ring = np.column_stack([0.5 * np.cos(angle), 0.5 * np.sin(angle)])
    points = [*(f"v {x:.17g} {y:.17g} {z}" for z in (-0.5, 0.5) for x, y in ring), "v 0 0 -0.5", "v 0 0 0.5"]
    sides = [f"f {i + 1} {(i + 1) % 64 + 1} {i + 65}" for i in range(64)]
    path = tmp_path / "drum.obj"
    path.write_text("\n".join([*points, *sides]) + "\n")
    for below, height in ((Plane(), 0.5), (Box((4, 4, 1)), 1.0)):
        found = Found(below, Mesh(str(path))).at(Pose(), Pose((0, 0, height)), NEAR)
        assert 8 <= len(found.contacts) <= 9
        assert np.linalg.norm(found.point[:, :2], axis=1).min() > 0.49


def test_their_contacts_are_merged_into_the_table_in_order(box_mesh):
    shapes = [Box((1, 1, 1)), Cylinder(0.5, 1.0), Mesh(box_mesh()), Sphere(0.5)]
    links = [free_link(f"b{i}", shape) for i, shape in enumerate(shapes * 3)]
    model = Model(links, geometry=[Geometry(Plane()), Geometry(Box((9, 9, 1)), Pose((0, 0, -0.5)))])
    theta = model.neutral().reshape(-1, 7)
    theta[:, 0] = 0.6 * np.arange(len(links)) - 3.0
    theta[:, 2] = 0.5
    materials = {"default": Material(0.5), ("b1", "world"): Material(0.25, law="frictionless")}
    detector = Detector(model, materials=materials)
    state = model.state(theta.ravel())
    contacts = detector.contacts(state, NEAR)
    assert (np.diff(detector.key) > 0).all()
    assert len(contacts) == detector.n_contacts > 50
    for contact, (a, b) in zip(contacts, detector.pairs, strict=True):
        special = {a, b} in ({3, 0}, {3, 1})  # b1 wears the shape after the two of the world and that of b0
        assert contact.mu == (0.25 if special else 0.5)
    before = contacts.record.copy()
    detector.ID, detector.XD = detector.ID.copy(), detector.XD.copy()
    detector.ID[rec.MAX_CONTACTS] = 30  # too little even for those of the kernel
    assert (detector.contacts(state, NEAR).record == before).all()


def test_tables_grow_for_contacts_of_coal(box_mesh):
    model = Model([free_link("a", Mesh(box_mesh()))], geometry=[Geometry(Box((4, 4, 1)))])
    detector = Detector(model)
    detector.ID[rec.MAX_CONTACTS] = 2
    assert detector.detect(model.state([0, 0, 1, 0, 0, 0, 1]), NEAR) == 4


@pytest.mark.parametrize("ignored", [False, True])
def test_without_coal_only_pairs_that_need_it_are_refused(monkeypatch, ignored):
    monkeypatch.setitem(sys.modules, "coal", None)
    model = Model(
        [free_link("can", Cylinder(0.5, 1.0)), free_link("crate", Box((1, 1, 1)))],
        geometry=[Geometry(Plane())],
    )
    if ignored:
        assert Detector(model, ignore=[("can", "crate")]).has_kernels
    else:
        with pytest.raises(PluginError, match=r"(?s)'can'.*'crate'.*coal.*mcpframe\[robots\]"):
            Detector(model)


def test_without_trimesh_meshes_are_refused_unless_ignored(monkeypatch, box_mesh):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    model = Model([free_link("part", Mesh(box_mesh()))], geometry=[Geometry(Plane())])
    with pytest.raises(PluginError, match=r"trimesh.*mcpframe\[robots\]"):
        Detector(model)
    assert Detector(model, ignore=["part"]).detect(model.state()) == 0


def test_a_mesh_on_a_plane_needs_no_coal(monkeypatch, box_mesh):
    monkeypatch.setitem(sys.modules, "coal", None)
    model = Model([free_link("part", Mesh(box_mesh()))], geometry=[Geometry(Plane())])
    assert Detector(model).detect(model.state([0, 0, 0.5, 0, 0, 0, 1])) == 4


def test_meshes_that_cannot_be_read_or_have_no_volume_are_named(tmp_path):
    flat = tmp_path / "flat.obj"
    flat.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n")
    broken = tmp_path / "broken.stl"
    broken.write_bytes(b"nothing")
    for path, message in (
        (flat, "no volume"),
        (broken, "cannot be read"),
        (tmp_path / "none.obj", "there is no such file"),
    ):
        model = Model([free_link("part", Mesh(str(path)))], geometry=[Geometry(Plane())])
        with pytest.raises(ModelError, match=rf"{path.name}.*{message}"):
            Detector(model)


def test_a_box_as_a_hull_has_six_faces_and_three_edges_at_every_corner():
    hull = solid_of(Box((1, 2, 3)))
    assert isinstance(hull, Hull)
    assert [len(face) for face in hull.faces] == [4] * 6
    assert [len(others) for others in hull.neighbours] == [3] * 8
    centre = hull.points.mean(axis=0)
    for a, b, c in hull.triangles:
        normal = np.cross(hull.points[b] - hull.points[a], hull.points[c] - hull.points[a])
        assert normal @ (hull.points[a] - centre) > 0.0


def test_faces_of_a_hull_are_convex_polygons_about_their_normals(rng):
    drum = np.array([[np.cos(a), np.sin(a), z] for z in (-1, 1) for a in np.linspace(0, 6, 12)])
    for points in (drum, rng.standard_normal((60, 3))):
        hull = Hull.of(points, "points")
        edges = {(a, b) for face in hull.faces for a, b in zip(face, [*face[1:], face[0]], strict=True)}
        assert len(edges) == sum(map(len, hull.faces))
        assert {(b, a) for a, b in edges} == edges  # every edge has a face on both of its sides
        for face, n in zip(hull.faces, hull.normals, strict=True):
            assert face[0] == min(face)
            assert (hull.points @ n).max() == pytest.approx((hull.points[face] @ n).min(), abs=1e-12)
            for a, b, c in zip(face, [*face[1:], *face[:1]], [*face[2:], *face[:2]], strict=True):
                arms = hull.points[b] - hull.points[a], hull.points[c] - hull.points[b]
                assert np.cross(*arms) @ n > 0.0


def test_a_round_face_of_many_corners_has_no_corner_with_many_triangles():
    ring = np.linspace(0.0, 2.0 * np.pi, 601)[:-1]
    disc = np.column_stack([np.cos(ring), np.sin(ring)])
    hull = Hull.of(np.vstack([np.insert(disc, 2, z, axis=1) for z in (0.0, 0.1)]), "disc")
    assert np.bincount(np.ravel(hull.triangles)).max() <= 7  # three in the disc, two in each of two sides
    corners = hull.points[np.array(hull.triangles)]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    volume = np.einsum("ij,ij->", across, corners[:, 0]) / 6.0
    assert volume == pytest.approx(0.1 * np.pi, rel=1e-4)
    found = coal_shape(pytest.importorskip("coal"), hull)
    assert found.num_points == 1200


def test_a_mesh_is_read_once_and_anew_after_an_edit(box_mesh):
    path = box_mesh()
    hull = solid_of(Mesh(path))
    assert solid_of(Mesh(path)) is hull
    assert solid_of(Mesh(path, (2, 2, 2))) is not hull
    with open(path, "a") as file:
        file.write("v 0 0 3\nf 1 2 10\n")
    assert solid_of(Mesh(path)).points.max() == 3.0


def test_shapes_that_were_far_apart_meet_all_the_same(box_mesh):
    found = Found(Mesh(box_mesh()), Mesh(box_mesh()))
    for x in (3.0, 1.5, 1.0, 0.9, 2.0, 1.0):
        contacts = found.at(Pose(), Pose((x, 0.1, 0.0)), NEAR).contacts
        assert len(contacts) == (4 if x <= 1.0 else 0)
        assert all(contact.gap == pytest.approx(x - 1.0, abs=1e-9) for contact in contacts)


def stone(tmp_path, rng):
    """Return a mesh of random points of about a metre."""
    path = tmp_path / f"stone{len(list(tmp_path.iterdir()))}.obj"
    points = rng.standard_normal((60, 3)) * rng.uniform(0.2, 0.6, 3)
    lines = [f"v {x:.17g} {y:.17g} {z:.17g}" for x, y, z in points]
    path.write_text("\n".join([*lines, *(f"f {i + 1} {i + 2} {i + 3}" for i in range(58))]) + "\n")
    return Mesh(str(path))


@pytest.mark.parametrize(
    "kinds", [*ROUND_PAIRS, (Mesh, Mesh), (Sphere, Mesh), (Mesh, Cylinder)], ids=pair_name
)
def test_kernels_leave_to_coal_what_is_within_the_margin_and_little_else(rng, tmp_path, kinds):
    """Never less; of pairs that are further apart by more than a hundredth of their sizes nothing."""
    told, far = 0, 0
    for _ in range(6):
        shapes = [stone(tmp_path, rng) if kind is Mesh else random_shape(rng, kind) for kind in kinds]
        found, near = Found(*shapes), Found(*shapes)
        for spread in (0.8, 1.2, 1.8, 2.5):
            poses = random_pose(rng, spread), random_pose(rng, spread)
            gap = near.at(*poses, margin=20.0).gap.min()
            for margin in (0.0, 0.05, 0.3):
                found.at(*poses, margin)
                left = int(found.detector.ID[rec.N_FOREIGN])
                assert left or gap > margin
                far += gap > margin + 0.01
                told += gap > margin + 0.01 and not left
    assert told == far > 10


@pytest.mark.parametrize(
    "solid", [Rod(0.5, 0.0), Rod(0.5, 1.0), Bar(0.5, 1.0), solid_of(Box((1, 2, 3)))], ids=str
)
def test_supports_lie_as_far_out_as_the_solid_reaches(rng, solid):
    for _ in range(200):
        d = rng.standard_normal(3)
        d /= np.linalg.norm(d)
        corners, numbers = solid.support(d)
        assert len(corners) == len(numbers) == len(set(numbers))
        assert (corners @ d).max() <= solid.reach(d) + 1e-12
        if len(corners) == 1:
            assert (corners @ d).max() == pytest.approx(solid.reach(d), abs=1e-12)


@pytest.mark.parametrize("pair", ROUND_PAIRS, ids=pair_name)
def test_concentric_round_bodies_have_finite_contacts(rng, pair):
    found = Found(*(random_shape(rng, kind) for kind in pair)).at(Pose(), Pose())
    assert np.isfinite(found.record).all()
    assert found.gap.min() < 0.0
