"""Chains against Lagrange's equations; see examples/truth/articulated/chains.py for answers and bounds."""

from truths import assert_known, every_way


@every_way("chains")
def test_chains_swing_rub_and_hang_as_on_paper(system, way):
    assert_known(system, way)
