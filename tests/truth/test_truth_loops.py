"""Closed loops; see examples/truth/articulated/loops.py for answers and tolerances."""

from truths import assert_known, every_way


@every_way("loops")
def test_loops_stay_closed_and_move_as_in_link_velocities(system, way):
    assert_known(system, way)
