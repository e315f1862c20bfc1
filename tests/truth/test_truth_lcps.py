"""Complementarity problems with known solutions; see examples/truth/lcps.py."""

from truths import assert_known, every_way


@every_way("lcps")
def test_problems_with_a_solution_on_paper_are_solved_by_every_solver(system, way):
    assert_known(system, way)
