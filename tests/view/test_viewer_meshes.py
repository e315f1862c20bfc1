"""Triangles have the extent and the volume of their shapes."""

import numpy as np
import pytest

pytest.importorskip("trimesh")

import trimesh

from mcpframe.multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from mcpframe.view.viewer_meshes import disc_of, solids

FACETS = 0.02
"""Volume that round shapes lose between their corners, relative: (2 pi / 24)^2 / 6 = 1.1 % across."""

SHAPES = [
    (Ellipsoid((0.1, 0.2, 0.3)), (0.2, 0.4, 0.6), 4 / 3 * np.pi * 0.006),
    (Sphere(0.3), (0.6, 0.6, 0.6), 4 / 3 * np.pi * 0.3**3),
    (Box((0.1, 0.2, 0.4)), (0.1, 0.2, 0.4), 0.008),
    (Cylinder(0.1, 0.5), (0.2, 0.2, 0.5), np.pi * 0.1**2 * 0.5),
    (Capsule(0.1, 0.5), (0.2, 0.2, 0.7), np.pi * 0.1**2 * 0.5 + 4 / 3 * np.pi * 0.1**3),
]


def volume(parts):
    """Of all triangles of a closed surface, by the divergence theorem."""
    return sum(np.linalg.det(part.vertices[part.faces]).sum() / 6.0 for part in parts)


@pytest.mark.parametrize(("shape", "size", "expected"), SHAPES, ids=lambda one: type(one).__name__)
def test_a_shape_has_its_size_about_its_centre_and_its_volume(shape, size, expected):
    parts = solids(shape)
    corners = np.concatenate([part.vertices for part in parts])
    np.testing.assert_allclose(corners.max(axis=0), np.array(size) / 2.0, rtol=FACETS)
    np.testing.assert_allclose(corners.min(axis=0), -np.array(size) / 2.0, rtol=FACETS)
    assert volume(parts) == pytest.approx(expected, rel=FACETS)


def test_a_ball_has_two_halves_that_tell_how_it_turns():
    back, front = solids(Sphere(1.0))
    assert front.brightness < back.brightness
    assert front.vertices[front.faces].mean(axis=1)[:, 0].min() >= 0.0


def test_a_mesh_keeps_its_hollows(tmp_path):
    path = tmp_path / "two.stl"
    apart = [trimesh.creation.box((1, 1, 1)), trimesh.creation.box((1, 1, 1)).apply_translation((3, 0, 0))]
    trimesh.util.concatenate(apart).export(path)
    assert volume(solids(Mesh(str(path), (1.0, 1.0, 2.0)))) == pytest.approx(4.0)


def test_planes_have_no_triangles_and_discs_are_flat():
    assert solids(Plane()) == []
    disc = disc_of(0.5, 0.01)
    assert np.ptp(disc.vertices, axis=0) == pytest.approx([1.0, 1.0, 0.01], rel=FACETS)
