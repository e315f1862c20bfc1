"""A sample of the check of time limits (examples/checks/limits.py), and proof that it sees who is late."""

import sys
import time
from pathlib import Path
from typing import final

import numpy as np
import pytest

import mcpframe as mf
from mcpframe import AbstractSolver

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "checks"))
import limits


@final
class Busy(AbstractSolver):
    """Works three times as long as it may, and a good while."""

    name = "busy"

    def _solve(self, problem, request):
        until = request.deadline + 0.3
        while time.perf_counter() < until:
            pass
        return mf.Claim(np.zeros(problem.n), mf.Status.TIME_LIMIT)


@pytest.mark.slow
def test_every_solver_keeps_its_limits(capfd):
    assert limits.main(["--quick"]) == 0, capfd.readouterr().out


def test_limits_are_kept_on_small_problems_that_nobody_watches():
    cases = [(what, problem) for what, problem in limits.problems(quick=True) if problem.n < 64]
    assert len(cases) == 7
    for name in ("lemke", "newton", "ipm", "pgs", "path", "auto", "cone"):
        row, late = limits.check(name, cases, [0.05])
        assert not late
        assert int(row[1]) > 0


def test_who_is_late_is_told():
    over, _ = limits.overrun(mf.MixedLCP(np.eye(3), -np.ones(3)), Busy(), 0.05)
    assert over.wall > 0.25
    assert over.beyond(0.05) == (over.cpu > 0.05)
    assert not limits.Overrun(0.04, 0.2).beyond(0.1)
    assert not limits.Overrun(0.09, 0.2).beyond(1.0)
    assert limits.Overrun(0.2, 0.11).beyond(1.0)
