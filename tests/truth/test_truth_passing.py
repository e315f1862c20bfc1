"""Contacts that pass on; see examples/truth/touching/passing.py for answers and tolerances."""

from truths import assert_known, every_way


@every_way("passing")
def test_contacts_wander_and_pass_on_as_paper_says(system, way):
    assert_known(system, way)
