"""Planes are drawn as ground or as a grid, cut to what is shown and not behind one another."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.view.camera import Camera
from mcpframe.view.scenery import Region, ground, is_edge_on, is_near, nice_length, patch

FLOOR = mf.Pose()
WALL = mf.Pose.from_rpy((1.0, 0.0, 0.0), (0.0, -np.pi / 2.0, 0.0))  # x >= 1 is solid
SIDE = Camera(-90.0, 0.0)
WINDOW = np.array([(-2.0, -1.0), (2.0, -1.0), (2.0, 3.0), (-2.0, 3.0)])
UNIT = Region(np.array([-1.0, -1.0, 0.0]), np.array([1.0, 1.0, 1.0]))
ROUNDING = 1e-12


def extent(points):
    return np.array([points.min(axis=0), points.max(axis=0)])


def test_ground_is_the_part_of_the_window_behind_the_plane():
    np.testing.assert_allclose(extent(ground(FLOOR, SIDE, WINDOW)), [(-2, -1), (2, 0)], atol=ROUNDING)
    np.testing.assert_allclose(extent(ground(WALL, SIDE, WINDOW)), [(1, -1), (2, 3)], atol=ROUNDING)
    assert len(ground(mf.Pose((0, 0, -5)), SIDE, WINDOW)) == 0


def test_ground_of_an_incline_is_a_wedge():
    incline = mf.Pose.from_rpy((0, 0, 0), (0, np.pi / 4, 0))  # falls towards +x
    corners = ground(incline, SIDE, WINDOW)
    assert (corners.sum(axis=1) <= ROUNDING).all()
    assert any(np.allclose(corner, (-2, 2)) for corner in corners)


def test_a_plane_is_edge_on_where_its_normal_is_across_the_view():
    assert is_edge_on(FLOOR, SIDE)
    assert not is_edge_on(FLOOR, Camera())


def test_far_planes_and_those_that_hide_everything_are_left_out():
    assert is_near(FLOOR, UNIT)
    assert is_near(WALL, UNIT)
    assert not is_near(mf.Pose((0, 0, -10)), UNIT)
    assert not is_near(mf.Pose((0, 0, 10)), UNIT)


def test_a_patch_lies_on_its_plane_under_the_region_and_before_other_planes():
    corners, lines = patch(FLOOR, UNIT, [WALL])
    assert (corners[:, 2] == 0.0).all()
    low, high = extent(corners)
    assert (low[:2] < -1.0).all()
    assert high[0] == pytest.approx(1.0)
    assert high[1] > 1.0
    assert len(lines) > 4
    for line in lines:
        assert (line[:, 0] <= 1.0 + ROUNDING).all()
        assert (line[:, 2] == 0.0).all()


def test_nice_lengths_are_one_two_or_five_times_a_power_of_ten():
    asked = [0.011, 0.2, 0.21, 1.0, 4.9, 60.0]
    assert [nice_length(length) for length in asked] == pytest.approx([0.02, 0.2, 0.5, 1.0, 5.0, 100.0])
