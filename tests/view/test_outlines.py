"""Outlines have the areas and the outermost points of the shapes that they are of."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import mcpframe as mf
from mcpframe import ModelWarning
from mcpframe.multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from mcpframe.systems.contacts import extreme_points
from mcpframe.view.camera import Camera
from mcpframe.view.outlines import ROUND, faces, mesh_points, reach

ROUNDING = 1e-12
POLYGON = (2.0 * np.pi / ROUND) ** 2
"""Share of a circle's area and radius that a polygon of ROUND corners may miss: 1 - sin(a)/a < a²."""
CAMERAS = [Camera(-90, 0), Camera(), Camera(20, 75)]
SHAPES = [
    Sphere(0.3),
    Box((0.2, 0.5, 0.9)),
    Capsule(0.1, 0.6),
    Ellipsoid((0.2, 0.3, 0.5)),
    Cylinder(0.2, 0.5),
]


def name(shape):
    return type(shape).__name__


@pytest.fixture
def pose(rng):
    return mf.Pose.from_quaternion((0.4, -0.2, 1.0), rng.standard_normal(4))


def area(polygon):
    x, y = polygon.T
    return 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1))


def seen_area(shape, pose, camera):
    """Area of the shadow of a shape along the view, by formula."""
    along = np.abs(camera.axes[2] @ pose.rotation)
    across = np.sqrt(1.0 - along[2] ** 2)
    if isinstance(shape, Sphere):
        return np.pi * shape.radius**2
    if isinstance(shape, Ellipsoid):
        a, b, c = shape.radii
        return np.pi * np.linalg.norm(along * [b * c, a * c, a * b])
    if isinstance(shape, Box):
        a, b, c = shape.size
        return along @ [b * c, a * c, a * b]
    ends = np.pi * shape.radius**2 * (1.0 if isinstance(shape, Capsule) else along[2])
    return ends + 2.0 * shape.radius * shape.length * across


@pytest.mark.parametrize("camera", CAMERAS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=name)
def test_outlines_have_the_area_of_the_shadow(shape, camera, pose):
    corners = np.concatenate([corners for corners, _ in faces(shape, pose, camera)])
    found = ConvexHull(corners).volume
    assert found == pytest.approx(seen_area(shape, pose, camera), rel=POLYGON)


@pytest.mark.parametrize("camera", CAMERAS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=name)
def test_outlines_reach_as_far_as_the_shapes(shape, camera, pose, rng):
    corners = np.concatenate([corners for corners, _ in faces(shape, pose, camera)])
    for flat in rng.standard_normal((20, 2)):
        direction = flat / np.linalg.norm(flat) @ camera.axes[:2]
        furthest = max(point @ direction for point in extreme_points(shape, pose, direction))
        outline = (corners @ (camera.axes[:2] @ direction)).max()
        assert furthest + ROUNDING >= outline >= furthest - POLYGON * reach(shape)


def test_faces_of_a_box_fill_its_outline_without_overlap(pose):
    camera = Camera()
    seen = faces(Box((0.2, 0.5, 0.9)), pose, camera)
    assert len(seen) == 3
    assert sum(abs(area(corners)) for corners, _ in seen) == pytest.approx(
        seen_area(Box((0.2, 0.5, 0.9)), pose, camera), rel=ROUNDING
    )
    assert len(faces(Box((1, 1, 1)), mf.Pose(), Camera(-90, 0))) == 1


def test_a_ball_shows_how_it_turns():
    """The half x >= 0, seen along its own axis, is all or nothing; from the side it is half a disc."""
    ball, disc = Sphere(2.0), 4.0 * np.pi
    for azimuth, share in ((0.0, 1.0), (90.0, 0.5), (180.0, 0.0), (60.0, 0.75)):
        _, (half, _) = faces(ball, mf.Pose((1, 2, 3)), Camera(azimuth, 0.0))
        assert abs(area(half)) == pytest.approx(share * disc, abs=POLYGON * disc)


def test_a_face_that_looks_to_the_light_is_brighter():
    bright = {round(shade, 3) for _, shade in faces(Box((1, 1, 1)), mf.Pose(), Camera(-60, 30))}
    assert len(bright) == 3
    assert all(0.0 < shade <= 1.0 for shade in bright)


@pytest.mark.parametrize("shape", SHAPES, ids=name)
def test_reach_holds_the_shape(shape, rng):
    pose = mf.Pose()
    for direction in rng.standard_normal((50, 3)):
        unit = direction / np.linalg.norm(direction)
        assert all(
            np.linalg.norm(point) <= reach(shape) * (1 + ROUNDING)
            for point in extreme_points(shape, pose, unit)
        )


def test_planes_have_no_outline():
    assert faces(Plane(), mf.Pose(), Camera()) == []
    assert reach(Plane()) == 0.0


def test_a_mesh_is_drawn_as_its_hull(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / "block.stl"
    trimesh.creation.box((0.2, 0.5, 0.9)).export(path)
    mesh = Mesh(str(path), (2.0, 1.0, 1.0))
    assert mesh_points(mesh).shape == (8, 3)
    ((outline, _),) = faces(mesh, mf.Pose(), Camera(-90, 0))
    assert abs(area(outline)) == pytest.approx(0.4 * 0.9, rel=1e-6)  # an STL file holds single precision
    assert reach(mesh) == pytest.approx(np.linalg.norm([0.4, 0.5, 0.9]) / 2, rel=1e-6)


def test_a_mesh_that_is_not_there_is_left_out_with_a_warning(tmp_path):
    mesh = Mesh(str(tmp_path / "missing.stl"))
    with pytest.warns(ModelWarning, match=r"missing\.stl: is not drawn"):
        assert faces(mesh, mf.Pose(), Camera()) == []
    assert reach(mesh) == 0.0  # told once
