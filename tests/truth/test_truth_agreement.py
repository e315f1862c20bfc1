"""Formulations against each other; see examples/truth/agreement.py for answers and bounds."""

from truths import assert_known, every_way


@every_way("agreement")
def test_every_formulation_makes_the_same_motion(system, way):
    assert_known(system, way)
