"""Cameras see lengths across the view as they are, and look at plane motions from the side."""

import numpy as np
import pytest

from mcpframe.view.camera import Camera, view_of

ROUNDING = 1e-15


@pytest.mark.parametrize("camera", [Camera(), Camera(-90, 0), Camera(30, 80), Camera(200, -40)])
def test_axes_are_right_handed_unit_vectors(camera):
    right, up, towards = camera.axes
    np.testing.assert_allclose(camera.axes @ camera.axes.T, np.eye(3), atol=ROUNDING)
    np.testing.assert_allclose(np.cross(right, up), towards, atol=ROUNDING)
    assert right[2] == 0.0
    assert up[2] >= 0.0


def test_a_side_view_has_x_to_the_right_and_z_up(rng):
    points = rng.standard_normal((4, 5, 3))
    camera = Camera(-90.0, 0.0)
    np.testing.assert_allclose(camera.project(points), points[..., [0, 2]], atol=ROUNDING * 10)
    np.testing.assert_allclose(camera.depth(points), -points[..., 1], atol=ROUNDING * 10)


def test_plane_motions_are_seen_from_the_side(rng):
    points = rng.standard_normal((10, 2, 3))
    assert view_of(points * [1, 0, 1]) == Camera(-90.0, 0.0)
    assert view_of(points * [0, 1, 1]) == Camera(0.0, 0.0)
    assert view_of(points) == Camera()


def test_a_stack_is_seen_from_above_a_corner(rng):
    assert view_of(rng.standard_normal((10, 2, 3)) * [0, 0, 1]) == Camera()
    assert view_of(np.zeros((0, 3))) == view_of(np.zeros((1, 3))) == Camera()
