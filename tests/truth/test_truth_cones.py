"""Friction on round cones against closed forms; see examples/truth/touching/cones.py."""

from truths import assert_known, every_way


@every_way("cones")
def test_round_cones_know_no_directions(system, way):
    assert_known(system, way)
