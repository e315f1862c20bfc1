"""Mechanisms against equations of one coordinate; see examples/truth/articulated/mechanisms.py."""

from truths import assert_known, every_way


@every_way("mechanisms")
def test_mechanisms_move_as_on_paper(system, way):
    assert_known(system, way)
