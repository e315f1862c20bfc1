"""Heightfields: contacts against planes, closed forms and coal's distances of triangles; bodies that rest.

     o            ball in a valley: two contacts;    on a ridge: one, along the line to its centre
\\   / \\   /
 \\ (   ) /
  \\ \\_/ /
   \\   /
    \\_/
"""

import sys

import numpy as np
import pytest
from detection_scenes import Found, free_link, random_pose, random_shape

import mcpframe as mf
from mcpframe.contact.detection import Detector, Material
from mcpframe.contact.detection.convex_pairs import coal_shape
from mcpframe.contact.detection.solids import solid_of
from mcpframe.contact.detection.terrain import Terrain, surface_of
from mcpframe.exceptions import FileFormatError, ModelError, OptionError, PluginError
from mcpframe.multibody import Model
from mcpframe.multibody.model.shapes import Box, Capsule, Cylinder, Geometry, HeightField, Mesh, Plane, Sphere
from mcpframe.scene.scene_file import parse_scene
from mcpframe.simulation.memory.sizes import ShapeSizes
from mcpframe.simulation.recording.header import geometry_from, geometry_table
from mcpframe.spatial.transforms import Pose, rotation_from_rpy
from mcpframe.view.camera import Camera
from mcpframe.view.outlines import faces, reach
from mcpframe.view.viewer_meshes import solids

coal = pytest.importorskip("coal")

EXACT = 1e-12
"""Rounding of closed forms on bodies of less than a metre."""
ITERATED = 2e-9
"""What coal's iterations leave open at 1e-10, on bodies of less than a metre."""
NEAR, FAR = 1e-3, 1.5
RESTING = 1e-6
"""The penetration tolerance of scenes, m."""
KINDS = [Sphere, Box, Capsule, Cylinder]
FLAT = HeightField(np.zeros((31, 31)), 0.2)
X = 0.1 * (np.arange(21) - 10.0)
VALLEY = HeightField(np.abs(X)[:, None] * np.ones(21), 0.1)
RIDGE = HeightField(-np.abs(X)[:, None] * np.ones(21), 0.1)


def rough(rng, size=0.1):
    return HeightField(size * rng.standard_normal((6, 5)), (0.3, 0.25))


def distance_to_triangles(field, shape, pose):
    """Distance of a body outside to the surface, by coal's tree of triangles: another algorithm than ours."""
    vertices, triangles = surface_of(field)
    points, corners = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for point in vertices:
        points.append(point)
    for triangle in triangles.tolist():
        corners.append(coal.Triangle(*triangle))
    tree = coal.BVHModelOBBRSS()
    tree.beginModel(len(triangles), len(vertices))
    tree.addSubModel(points, corners)
    tree.endModel()
    request = coal.DistanceRequest()
    request.gjk_tolerance = 1e-10
    body = coal_shape(coal, solid_of(shape)), coal.Transform3s(pose.rotation, pose.position)
    return coal.distance(tree, coal.Transform3s(), *body, request, coal.DistanceResult())


def lowered(field, shape, pose, gap):
    """The pose moved down from high above until the gap is at most the one that is asked for."""
    height, d = float(field.grid.max()) + 1.5, np.inf
    while d > gap:
        place = Pose((*pose.position[:2], height), pose.rotation)
        d = distance_to_triangles(field, shape, place)
        height -= max(d - 0.9 * gap, 1e-9)
    return place, d


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("slope", [(0.0, 0.0), (0.3, -0.2)], ids=["flat", "inclined"])
def test_a_field_in_one_plane_is_that_plane(rng, kind, slope):
    x = 0.2 * (np.arange(31) - 15.0)
    field = HeightField(slope[0] * x[:, None] + slope[1] * x, 0.2)
    n = np.array([-slope[0], -slope[1], 1.0]) / np.linalg.norm([-slope[0], -slope[1], 1.0])
    frame = Pose(rotation=rotation_between(n))
    for _ in range(15):
        shape = random_shape(rng, kind)
        pose = random_pose(rng, 0.4)
        pose = Pose(pose.position + 0.3 * n, pose.rotation)
        ours, theirs = Found(field, shape).at(Pose(), pose, FAR), Found(Plane(), shape).at(frame, pose, FAR)
        assert ours.gap.min() == pytest.approx(theirs.gap.min(), abs=EXACT)
        np.testing.assert_allclose(ours.n, [n] * len(ours.n), atol=EXACT)
        deepest = ours.point[ours.deepest] @ n
        assert deepest == pytest.approx(ours.gap.min() / 2.0, abs=EXACT)  # halfway between the surfaces


def rotation_between(n):
    """A rotation that turns z to n."""
    x = np.cross([0.0, 1.0, 0.0], n)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(n, x), n])


RESTS = {
    "sphere": (Sphere(0.1), 0.1, (0, 0, 0), 1),
    "box": (Box((0.5, 0.3, 0.2)), 0.1, (0, 0, 0.4), 4),
    "box on an edge": (Box((0.5, 0.2, 0.2)), 0.1 * np.sqrt(2), (np.pi / 4, 0, 0), 2),
    "lying capsule": (Capsule(0.1, 0.5), 0.1, (0, np.pi / 2, 0.3), 2),
    "standing capsule": (Capsule(0.1, 0.5), 0.35, (0, 0, 0), 1),
    "lying cylinder": (Cylinder(0.1, 0.5), 0.1, (0, np.pi / 2, 0.3), 2),
    "standing cylinder": (Cylinder(0.1, 0.5), 0.25, (0, 0, 0), 8),
}


@pytest.mark.parametrize("case", RESTS)
def test_bodies_rest_on_enough_points_and_keep_them_while_they_slide_over_cells(case):
    shape, height, turn, n = RESTS[case]
    found, keys = Found(FLAT, shape), set()
    for x in np.linspace(-0.37, 0.41, 13):
        found.at(Pose(), Pose((x, 0.3 * x, height), rotation_from_rpy(turn)), NEAR)
        assert len(found.contacts) == n
        assert np.abs(found.gap).max() <= EXACT
        np.testing.assert_allclose(found.n, [[0.0, 0.0, 1.0]] * n, atol=EXACT)
        keys.add(tuple(found.key))
    assert len(keys) == 1


@pytest.mark.parametrize("gap", [1e-4, 0.0, -1e-4, -0.02])
def test_a_ball_in_a_valley_has_a_contact_on_either_side(gap):
    r, h = 0.1, np.sqrt(2.0) * (0.1 + gap)
    found = Found(VALLEY, Sphere(r)).at(Pose(), Pose((0.0, 0.03, h)), NEAR)
    np.testing.assert_allclose(found.gap, [gap, gap], atol=EXACT)
    sides = np.array([[1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]]) / np.sqrt(2.0)
    np.testing.assert_allclose(sorted(found.n.tolist()), sorted(sides.tolist()), atol=EXACT)


@pytest.mark.parametrize("depth", [1e-5, 1e-3])
def test_a_corner_below_the_line_of_a_valley_is_led_out_on_both_sides(depth):
    upon_its_corner = rotation_from_rpy((np.pi / 4, -np.arctan(np.sqrt(0.5)), 0.0))
    valley = HeightField(0.3 * VALLEY.grid, 0.1)
    low = Pose((0.0, 0.03, 0.1 * np.sqrt(3.0) - depth), upon_its_corner)
    found = Found(valley, Box((0.2, 0.2, 0.2))).at(Pose(), low, 0.0)
    sides = np.array([[0.3, 0.0, 1.0], [-0.3, 0.0, 1.0]]) / np.hypot(0.3, 1.0)
    np.testing.assert_allclose(sorted(found.n.tolist()), sorted(sides.tolist()), atol=EXACT)
    np.testing.assert_allclose(found.gap, -depth / np.hypot(0.3, 1.0), atol=EXACT)


@pytest.mark.parametrize("gap", [1e-4, 0.0, -1e-4])
def test_a_ball_on_a_ridge_touches_along_the_line_to_its_centre(gap):
    for angle in (-0.7, 0.0, 0.4):
        n = np.array([np.sin(angle), 0.0, np.cos(angle)])
        found = Found(RIDGE, Sphere(0.1)).at(Pose(), Pose((0.1 + gap) * n + [0.0, 0.03, 0.0]), NEAR)
        np.testing.assert_allclose(found.gap, [gap], atol=EXACT)
        np.testing.assert_allclose(found.n, [n], atol=1e-10)


def test_a_box_across_a_ridge_lies_on_two_points_and_a_capsule_on_one_or_along_it_on_two():
    across = Found(RIDGE, Box((0.3, 0.25, 0.2))).at(Pose(), Pose((0.0, 0.03, 0.1)), NEAR)
    assert sorted(across.point.round(9).tolist()) == [[0.0, -0.095, 0.0], [0.0, 0.155, 0.0]]
    for yaw, n in ((0.2, 1), (np.pi / 2, 2)):
        lying = Pose((0.0, 0.03, 0.1), rotation_from_rpy((0.0, np.pi / 2, yaw)))
        found = Found(RIDGE, Capsule(0.1, 0.4)).at(Pose(), lying, NEAR)
        assert len(found.gap) == n
        np.testing.assert_allclose(found.gap, 0.0, atol=ITERATED)


@pytest.mark.parametrize("shape", [Box((0.3, 0.3, 0.2)), Cylinder(0.2, 0.2)], ids=["box", "cylinder"])
@pytest.mark.parametrize("gap", [1e-4, 0.0, -1e-5, -1e-3])
def test_a_peak_holds_a_flat_face_at_one_point(shape, gap):
    heights = np.zeros((5, 5))
    heights[2, 2] = 0.1
    found = Found(HeightField(heights, 0.5), shape).at(Pose(), Pose((0.02, 0.03, 0.2 + gap)), NEAR)
    np.testing.assert_allclose(found.gap, [gap], atol=EXACT)
    np.testing.assert_allclose(found.point[:, :2], [[0.0, 0.0]], atol=EXACT)


@pytest.mark.parametrize("depth", [0.0, 1e-5, 1e-3])
def test_a_box_over_the_border_rests_on_the_corners_of_the_overlap(depth):
    found = Found(FLAT, Box((0.3, 0.3, 0.2))).at(Pose(), Pose((3.0, 0.03, 0.1 - depth)), NEAR)
    corners = {(2.85, -0.12), (2.85, 0.18), (3.0, -0.12), (3.0, 0.18)}
    assert set(map(tuple, found.point[:, :2].round(9).tolist())) == corners
    np.testing.assert_allclose(found.gap, -depth, atol=EXACT)


def test_walls_and_floor_of_the_ground_are_met_too():
    field = HeightField(np.zeros((3, 3)), 1.0, thickness=0.5)
    beside = Found(field, Sphere(0.1)).at(Pose(), Pose((1.1, 0.2, -0.2)), NEAR)
    below = Found(field, Sphere(0.1)).at(Pose(), Pose((0.1, 0.2, -0.6)), NEAR)
    np.testing.assert_allclose([*beside.n, *below.n], [[1, 0, 0], [0, 0, -1]], atol=EXACT)
    np.testing.assert_allclose([*beside.gap, *below.gap], 0.0, atol=EXACT)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_on_rough_ground_the_gap_is_the_distance_to_the_nearest_triangle(rng, kind):
    for size in (0.02, 0.1, 0.3) * 3:
        field, shape = rough(rng, size), random_small(rng, kind)
        pose, d = lowered(field, shape, random_pose(rng, 0.4), 0.02)
        found = Found(field, shape).at(Pose(), pose, 0.1)
        assert found.gap.min() == pytest.approx(d, abs=ITERATED)


def random_small(rng, kind):
    sizes = rng.uniform(0.08, 0.3, 3)
    return {Box: Box, Sphere: lambda s: Sphere(s[0])}.get(kind, lambda s: kind(s[0], s[1]))(sizes)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_body_lowered_into_rough_ground_overlaps_by_no_more_than_that(rng, kind):
    for size in (0.02, 0.1, 0.3) * 3:
        field, shape = rough(rng, size), random_small(rng, kind)
        pose, d = lowered(field, shape, random_pose(rng, 0.4), 1e-6)
        found = Found(field, shape)
        for depth in (1e-5, 1e-4, 1e-3):
            found.at(Pose(), Pose(pose.position - [0.0, 0.0, depth + d], pose.rotation), 0.0)
            assert -depth - ITERATED <= found.gap.min() < 0.0


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_body_anywhere_in_rough_ground_is_led_out(rng, kind):
    field = rough(rng)
    for _ in range(20):
        place = rng.uniform([-0.6, -0.4, -0.6], [0.6, 0.4, 0.0])
        place[2] += field.grid.min()
        found = Found(field, random_small(rng, kind)).at(Pose(), Pose(place, random_pose(rng, 1).rotation), 0)
        assert found.gap.min(initial=0.0) < 0.0


def test_the_normal_points_from_b_to_a_and_fields_on_links_move_with_them(rng):
    shape, pose = Box((0.3, 0.2, 0.1)), Pose((0.03, 0.05, 0.1))
    tray = HeightField(0.01 * rng.standard_normal((7, 7)), 0.1, thickness=0.1)
    ours = Found(tray, shape).at(Pose(), pose, 0.2)
    moved = random_pose(rng, 1.0)
    swapped = Found(shape, tray).at(moved @ pose, moved, 0.2)
    assert len(ours.gap) == len(swapped.gap) > 0
    np.testing.assert_allclose(swapped.gap, ours.gap, atol=ITERATED)
    np.testing.assert_allclose(swapped.n, -ours.n @ moved.rotation.T, atol=1e-9)
    np.testing.assert_allclose(swapped.point, moved @ ours.point, atol=1e-8)


def test_a_mesh_rests_on_a_field_with_its_corners(tmp_path):
    pytest.importorskip("trimesh")
    corners = [[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]
    sides = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + ["f " + " ".join(map(str, side)) for side in sides]
    (tmp_path / "cube.obj").write_text("\n".join(lines) + "\n")
    found = Found(FLAT, Mesh(str(tmp_path / "cube.obj"))).at(Pose(), Pose((0.03, 0.01, 0.1)), NEAR)
    assert len(found.gap) == 4
    np.testing.assert_allclose(found.gap, 0.0, atol=EXACT)


def scene_on(field, shape, pose, velocity=(0.0,) * 6, **stepping):
    """One free body of a kilogram above a field."""
    model = Model(
        [free_link("body", shape)], geometry=[Geometry(field, name="ground")], gravity=(0, 0, -9.81)
    )
    theta = np.concatenate([pose.position, pose.quaternion()])
    materials = {"default": Material(mu=0.5)}
    settings = {"dt": 2e-3, "duration": 0.2, **stepping}
    return mf.Scene(
        model, theta=theta, theta_dot=velocity, materials=materials, stepping=mf.Stepping(**settings)
    )


def test_a_box_stands_on_a_flat_field_without_moving():
    start = Pose((0.03, 0.05, 0.1), rotation_from_rpy((0, 0, 0.3)))
    run = mf.simulate(scene_on(FLAT, Box((0.3, 0.3, 0.2)), start))
    assert np.abs(run.theta - run.theta[0]).max() <= 1e-9
    assert run.penetration.max() <= RESTING
    assert (run.steps.n_contacts[1:] == 4).all()


def test_a_box_on_a_sloping_field_sticks():
    x = 0.2 * (np.arange(21) - 10.0)
    angle = np.deg2rad(20.0)
    field = HeightField(np.tan(angle) * x[:, None] * np.ones(21), 0.2)
    turn = rotation_from_rpy((0.0, -angle, 0.0))
    run = mf.simulate(scene_on(field, Box((0.3, 0.3, 0.2)), Pose(turn @ [0.03, 0.05, 0.1], turn)))
    assert np.abs(run.theta[-1] - run.theta[0]).max() <= 1e-9


def test_a_box_falls_onto_rough_ground_and_does_not_sink(rng):
    field = HeightField(0.02 * rng.standard_normal((9, 9)), 0.15)
    run = mf.simulate(scene_on(field, Box((0.3, 0.3, 0.2)), Pose((0.02, 0.01, 0.2)), duration=0.4))
    assert len(run.impacts) > 0
    assert run.penetration.max() <= RESTING


@pytest.mark.parametrize("shape", [Sphere(0.05), Box((0.1, 0.1, 0.1))], ids=["ball", "box"])
@pytest.mark.filterwarnings("ignore::mcpframe.simulation.audit.rates.ResolutionWarning")
def test_what_is_shot_at_a_thin_field_does_not_pass_through(shape):
    field = HeightField(np.zeros((5, 5)), 0.25, thickness=0.02)
    shot = scene_on(field, shape, Pose((0.01, 0.02, 0.6)), (0, 0, 0, 0, 0, -200.0), dt=1e-2, duration=0.02)
    run = mf.simulate(shot)
    assert run.theta[:, 2].min() >= 0.05 - RESTING
    assert run.penetration.max() <= RESTING


def test_travel_takes_a_cell_or_the_depth_for_the_thickness():
    model = Model([free_link("a", Sphere(1.0))], geometry=[Geometry(HeightField(np.eye(3), (0.3, 0.2), 0.4))])
    sizes = ShapeSizes(Detector(model))
    assert sizes.thickness.tolist() == [0.2, 2.0]
    assert not Detector(model).has_kernels


@pytest.mark.parametrize("other", [Plane(), HeightField(np.zeros((2, 2)), 1.0)], ids=["plane", "heightfield"])
def test_fields_that_move_against_planes_or_each_other_are_refused_unless_ignored(other):
    model = Model([free_link("tray", FLAT)], geometry=[Geometry(other, name="floor")])
    with pytest.raises(ModelError, match=r"heightfield.*'floor/world' and 'tray'.*ignore"):
        Detector(model)
    assert Detector(model, ignore=["tray"]).detect(model.state()) == 0
    fixed = Model([free_link("ball", Sphere(0.1))], geometry=[Geometry(FLAT), Geometry(Plane())])
    assert Detector(fixed).detect(fixed.state([0, 0, 0.1, 0, 0, 0, 1])) == 2


def test_without_coal_a_field_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "coal", None)
    model = Model([free_link("ball", Sphere(0.1))], geometry=[Geometry(FLAT)])
    with pytest.raises(PluginError, match=r"(?s)HeightField of 'world'.*'ball'.*coal.*mcpframe\[robots\]"):
        Detector(model)


def test_the_surface_is_closed_and_looks_outwards(rng):
    field = HeightField(rng.standard_normal((4, 6)), (0.5, 0.2), thickness=0.3)
    vertices, triangles = surface_of(field)
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    cell, columns = 0.5 * 0.2, field.grid - field.base
    prisms = [
        columns[:-1, :-1] + columns[1:, :-1] + columns[1:, 1:],
        columns[:-1, :-1] + columns[:-1, 1:] + columns[1:, 1:],
    ]
    volume = sum(part.sum() for part in prisms) * cell / 6.0
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0 == pytest.approx(volume, rel=1e-12)
    terrain = Terrain.of(field)
    inside = rng.uniform(terrain.points.min(axis=0), terrain.points.max(axis=0), (200, 3))
    x, y = 0.5 * (np.arange(4) - 1.5), 0.2 * (np.arange(6) - 2.5)
    for place, held in zip(inside + terrain.centre, terrain.holds(inside), strict=True):
        i, j = min(np.searchsorted(x, place[0]) - 1, 2), min(np.searchsorted(y, place[1]) - 1, 4)
        s, t = (place[0] - x[i]) / 0.5, (place[1] - y[j]) / 0.2
        corners = field.grid[[i, i + 1, i + 1, i], [j, j, j + 1, j + 1]]
        shares = (1 - s, s - t, t, 0.0) if s >= t else (1 - t, 0.0, s, t - s)
        assert held == (place[2] <= corners @ shares)


SCENE = """
[[model]]
system = "sphere"
environment = false
[[environment]]
shape = "heightfield"
name = "ground"
"""


def test_heights_are_read_in_line_and_from_files(tmp_path):
    rows = [[0.0, 0.1, 0.2], [0.3, 0.4, 0.5]]
    np.save(tmp_path / "h.npy", rows)
    (tmp_path / "h.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    expected = HeightField(rows, (0.5, 0.25), 0.3)
    for heights in (rows, '"h.npy"', '"h.csv"'):
        for size in ("spacing = [0.5, 0.25]", "extent = [0.5, 0.5]"):
            text = f"{SCENE}heights = {heights}\n{size}\nthickness = 0.3\n"
            scene = parse_scene(text, folder=tmp_path)
            assert scene.environment[-1].shape == expected
    assert HeightField(rows, 0.5).cell == (0.5, 0.5)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("h.txt", "1,2", "a file .npy or .csv"),
        ("h.csv", "1,2\n3,x", "cannot be read"),
        ("h.npy", "1", "cannot be"),
    ],
)
def test_files_of_heights_that_cannot_be_read_are_named_with_the_line(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(
        (OptionError, FileFormatError), match=rf"line 8: environment\[0\]\.heights: '{name}': {message}"
    ):
        parse_scene(f'{SCENE}heights = "{name}"\nspacing = 1.0\n', folder=tmp_path)


def test_a_trajectory_keeps_the_field(rng):
    geometry = Geometry(HeightField(rng.standard_normal((3, 4)), (0.1, 0.2), 0.5), Pose((1, 2, 3)), "ground")
    back = geometry_from(geometry_table(geometry))
    assert back.shape == geometry.shape
    assert back.name == "ground"


def test_it_is_drawn_from_behind_to_the_front_and_as_its_surface():
    field = HeightField(np.zeros((3, 4)), 0.5)
    camera = Camera()
    seen = faces(field, Pose(), camera)
    assert len(seen) == 2 * 3 + 2 + 3  # cells, and the two walls towards the camera
    assert all(0.0 < brightness <= 1.0 for _, brightness in seen)
    assert len(faces(HeightField(np.zeros((200, 3)), 0.1), Pose(), Camera(0.0, 90.0))) == 40 * 2
    assert reach(field) == pytest.approx(np.linalg.norm([0.5, 0.75, 1.0]))
    (solid,) = solids(field)
    assert len(solid.faces) == len(surface_of(field)[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.0, 1.0]], 0.1), "two by two"),
        (([[0.0, 1.0], [0.0]], 0.1), "all of one length"),
        (([[0.0, 1.0], [0.0, np.nan]], 0.1), r"heights\[1\]\[1\] nan is not finite"),
        (([[0.0, 1.0], [0.0, 1.0]], 0.0), "spacing 0; lengths are positive"),
        (([[0.0, 1.0], [0.0, 1.0]], (0.1, 0.1, 0.1)), "a number or two"),
        (([[0.0, 1.0], [0.0, 1.0]], 0.1, -1.0), "thickness -1"),
        (("hills", 0.1), "rows of numbers"),
    ],
)
def test_fields_are_checked(arguments, message):
    with pytest.raises(ModelError, match=message):
        HeightField(*arguments)
