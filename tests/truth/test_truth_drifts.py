"""A minute; see examples/truth/articulated/drifts.py for answers and bounds."""

from truths import assert_known, every_way


@every_way("drifts")
def test_minutes_change_nothing_that_nature_keeps(system, way):
    assert_known(system, way)
