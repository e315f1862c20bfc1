"""Impacts on paper; see examples/truth/touching/collisions.py for answers and bounds."""

from truths import assert_known, every_way


@every_way("collisions")
def test_impacts_are_those_on_paper_in_every_numbering(system, way):
    assert_known(system, way)
