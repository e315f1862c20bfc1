"""Rolling and sliding against closed forms and ODEs; see examples/truth/touching/rolling.py."""

from truths import assert_known, every_way


@every_way("rolling")
def test_bodies_roll_and_slide_as_on_paper(system, way):
    assert_known(system, way)
