"""Blocks against closed forms; see examples/truth/touching/blocks.py for answers and tolerances."""

from truths import assert_known, every_way


@every_way("blocks")
def test_blocks_slide_stick_and_topple_as_the_textbook_says(system, way):
    assert_known(system, way)
