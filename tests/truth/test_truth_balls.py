"""Balls against closed forms; see examples/truth/touching/balls.py for answers and tolerances."""

from truths import assert_known, every_way


@every_way("balls")
def test_balls_bounce_collide_and_roll_as_the_textbook_says(system, way):
    assert_known(system, way)
