"""The papers' pendulum and the example scenes, shortened; see examples/truth/endurance.py."""

import pytest
from truths import assert_known, every_way

import mcpframe as mf

SCENE = mf.Scene(mf.systems.box(), stepping=mf.Stepping(duration=0.005, solver="enum"))
"""Four contacts, 24 rows: more than `enum` takes."""


@every_way("endurance")
def test_every_step_of_the_papers_pendulum_and_of_the_examples_is_certified(system, way):
    assert_known(system, way)


@pytest.mark.parametrize("on_failure", ["stop", "best"])
def test_a_solver_that_does_not_take_a_step_stops_the_run_and_says_why(on_failure):
    with pytest.raises(mf.NotSolvedError, match="enum: UNSUPPORTED.*n = 24 exceeds max_n = 14"):
        mf.simulate(SCENE, on_failure=on_failure)


def test_where_a_solver_does_not_take_a_step_auto_can():
    run = mf.simulate(SCENE, on_failure="auto")
    assert len(run.failed) == 0
    assert {run.header.solvers[k] for k in run.solver[1:]} == {"auto"}
