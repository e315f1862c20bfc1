"""Solvers that misbehave, and a formulation that does: a study imports this file by its path.

All of them take the tiny problem by which solvers are warmed up, unless their name says otherwise.
"""

import os
import time

import numpy as np

import mcpframe as mf

LEMKE = mf.solver("lemke")  # loaded with this file: not within the time limit of whoever asks first
TINY = 6
"""Rows of the problem that solvers are warmed up with."""


class Foreign(mf.AbstractSolver):
    def _solve(self, problem, request):
        if problem.n > TINY:
            self._misbehave(problem)
        return mf.Claim(np.zeros(problem.n), mf.Status.SOLVED)


@mf.register_solver
class Sleeper(Foreign):
    """Hangs in a call of the system, where no signal handler of Python is looked at for long."""

    name = "sleeper"

    def _misbehave(self, problem):
        time.sleep(1000.0)


@mf.register_solver
class Busy(Foreign):
    """Hangs with the interpreter's lock in its hands: a product of this length is one call of C."""

    name = "busy"

    def _misbehave(self, problem):
        pow(7, 10**9)


@mf.register_solver
class Aborter(Foreign):
    name = "aborter"

    def _misbehave(self, problem):
        os.abort()


@mf.register_solver
class Leaver(Foreign):
    name = "leaver"

    def _misbehave(self, problem):
        os._exit(3)


@mf.register_solver
class Raiser(Foreign):
    name = "raiser"

    def _misbehave(self, problem):
        raise MemoryError("no more")


@mf.register_solver
class Liar(Foreign):
    name = "liar"

    def _misbehave(self, problem):
        print("all is well", flush=True)


@mf.register_solver
class NeverWarm(mf.AbstractSolver):
    """Hangs on the tiny problem alone."""

    name = "never_warm"

    def _solve(self, problem, request):
        if problem.n <= TINY:
            time.sleep(1000.0)
        return LEMKE._solve(problem, request)


@mf.register_solver
class Slow(mf.AbstractSolver):
    """Solves, but takes its time, so that a study can be killed while it runs."""

    name = "slow"
    seconds: float = 0.02

    def _solve(self, problem, request):
        time.sleep(self.seconds)
        return mf.solver("lemke")._solve(problem, request)


@mf.register_formulation
class Breaks(mf.AbstractFormulation):
    name = "breaks"

    def build(self, step):
        raise ArithmeticError("it cannot be written")

    def recover(self, recovery, solution):
        raise AssertionError("there is nothing to recover")
