"""Boxes on a slope and in stacks, shortened; see examples/truth/touching/standing.py."""

from truths import assert_known, every_way


@every_way("standing")
def test_what_stands_stays(system, way):
    assert_known(system, way)
