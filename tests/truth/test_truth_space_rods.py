"""Rods in space against points; see examples/truth/articulated/space_rods.py for answers and tolerances."""

from truths import assert_known, every_way


@every_way("space_rods")
def test_rods_in_space_move_as_points_at_fixed_distances_do(system, way):
    assert_known(system, way)
