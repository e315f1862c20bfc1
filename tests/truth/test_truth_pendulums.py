"""Pendulums and a spring against closed forms; see examples/truth/articulated/pendulums.py."""

from truths import assert_known, every_way


@every_way("pendulums")
def test_pendulums_swing_and_rebound_as_the_textbook_says(system, way):
    assert_known(system, way)
