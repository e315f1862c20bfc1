"""Stiff joints against closed forms and ODEs; see examples/truth/articulated/drives.py."""

from truths import assert_known, every_way


@every_way("drives")
def test_stiff_joints_are_stable_and_right(system, way):
    assert_known(system, way)
