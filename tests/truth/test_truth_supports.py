"""What rests and rocks; see examples/truth/touching/supports.py for answers and bounds."""

from truths import assert_known, every_way


@every_way("supports")
def test_what_is_supported_stands_rocks_or_tips_as_statics_says(system, way):
    assert_known(system, way)
