"""What a signal handler raises inside a solve is the user's wish, and comes out as it is."""

import functools
import signal
import time
from typing import final

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.interrupts import is_interrupt

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no alarm clock")


class TooLongError(Exception):
    """What a user's own alarm raises."""


def ring(*_):
    raise TooLongError


class Bell:
    def __call__(self, *_):
        ring()


@final
class Waits(mf.AbstractSolver):
    """Goes on until it is interrupted."""

    name = "waits"

    def _solve(self, problem, request):
        while True:
            time.sleep(0.01)


@final
class Fails(mf.AbstractSolver):
    """Raises the same error, by itself."""

    name = "fails"

    def _solve(self, problem, request):
        raise TooLongError


PROBLEM = mf.MixedLCP(np.eye(2), [-1.0, -1.0])


@pytest.fixture(params=[ring, Bell(), functools.partial(ring), lambda *_: ring()])
def alarm(request):
    before = signal.signal(signal.SIGALRM, request.param)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


def test_an_interrupt_propagates_out_of_a_solve(alarm):
    with pytest.raises(TooLongError):
        mf.solve(PROBLEM, Waits())


def test_the_same_error_of_the_solver_itself_is_a_status():
    solution = mf.solve(PROBLEM, Fails())
    assert solution.status is mf.Status.NUMERICAL
    assert "TooLongError" in solution.message


def test_errors_without_a_traceback_are_none():
    assert not is_interrupt(ValueError())
