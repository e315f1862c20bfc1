"""Time limits are kept where a solver cannot keep them by itself."""

import threading
from time import perf_counter
from typing import final

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.solvers import auto
from mcpframe.solving.plugin import AbstractSolver, Request
from mcpframe.solving.watch import WATCHED, in_time

LIMIT = 0.05
"""Seconds. No test measures time: a step goes on until the test lets it end."""
RELEASED = threading.Event()


@pytest.fixture(autouse=True)
def _release():
    RELEASED.clear()
    yield
    RELEASED.set()


@final
class Stuck(AbstractSolver):
    """Leaves a point, then is busy until it is released."""

    name = "stuck"
    leaves: bool = True

    def _solve(self, problem: mf.MixedLCP, request: Request) -> mf.Claim:
        if self.leaves:
            request.kept.append(mf.Claim(np.full(problem.n, 0.5), mf.Status.NUMERICAL, 3))
        RELEASED.wait()
        return mf.Claim(np.ones(problem.n), mf.Status.SOLVED)


PROBLEM = mf.MixedLCP(np.eye(WATCHED), -np.ones(WATCHED))


def test_a_step_that_cannot_be_interrupted_does_not_break_the_limit():
    solution = mf.solve(PROBLEM, Stuck(), time_limit=LIMIT)  # comes back while the step is going on
    assert solution.status is mf.Status.TIME_LIMIT
    assert "cannot be interrupted" in solution.message
    assert (solution.z == 0.5).all()
    assert solution.iterations == 3


def test_without_a_point_on_the_way_zero_is_the_answer():
    solution = mf.solve(PROBLEM, Stuck(leaves=False), time_limit=LIMIT)
    assert solution.status is mf.Status.TIME_LIMIT
    assert not solution.z.any()


def test_who_is_in_time_is_heard():
    RELEASED.set()
    assert mf.solve(PROBLEM, Stuck(), time_limit=60.0).ok


def test_small_problems_and_solves_without_a_limit_cost_no_thread():
    call = threading.get_ident
    assert in_time(call, WATCHED - 1, perf_counter() + 60.0) == threading.get_ident()
    assert in_time(call, WATCHED, np.inf) == threading.get_ident()
    assert in_time(call, WATCHED, perf_counter() + 60.0) != threading.get_ident()


def test_an_interrupt_inside_reaches_whoever_waits():
    def call() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_time(call, WATCHED, perf_counter() + 60.0)


def test_auto_leaves_time_for_other_methods(monkeypatch):
    answering = auto.LEMKE
    monkeypatch.setattr(auto, "_solver", lambda name: Stuck() if name == "lemke" else answering)
    solution = mf.solve(PROBLEM, "auto", time_limit=3.0)  # of which the first takes half
    assert solution.ok, solution.message
    assert solution.method == "lemke"
