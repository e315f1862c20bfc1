"""Spinning bodies against what is kept and Euler's equations; see examples/truth/articulated/spins.py."""

from truths import assert_known, every_way


@every_way("spins")
def test_spinning_bodies_keep_what_nature_keeps(system, way):
    assert_known(system, way)
