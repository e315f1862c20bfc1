"""Rods against closed forms; see examples/truth/touching/rods.py for answers and tolerances."""

from truths import assert_known, every_way


@every_way("rods")
def test_rods_slide_fall_and_jam_as_the_textbook_says(system, way):
    assert_known(system, way)
