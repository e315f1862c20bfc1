"""Closed loops: they stay closed, and move as the same mechanism in link velocities does."""

from __future__ import annotations

import numpy as np

import mcpframe as mf
from mcpframe.multibody import closure_rows, project_rates
from truth.answers import Answers, Way, certified, simulated, system, ways, zero

SPEED = 1e-9
"""Radians after 40 steps with certified residuals of 1e-9 rad/s."""
CLOSED = 1e-9
"""Metres and radians: loops are closed to this at the start."""
WAYS = ways(("os", "mc", "rmc", "dca"), ("lemke", "auto"))


@system("closed four-bar", "loop error stays at its start value; motion as in nmc", WAYS)
def four_bar_stays_closed(way: Way) -> Answers:
    """Above the floor, started with a turning crank."""
    model = mf.systems.four_bar(height=2.0)
    yield from _as_in_nmc(way, model, [3.0, 0.0, 0.0])


@system("closed chain of n links", "loop error stays at its start value; motion as in nmc", WAYS)
def closed_chain_stays_closed(way: Way) -> Answers:
    """A ring of six bars that hangs by one hinge, pushed."""
    model = mf.systems.closed_chain(6)
    yield from _as_in_nmc(way, model, [1.0, 0.5, 0.0, 0.0, 0.0, 0.0])


def _as_in_nmc(way: Way, model: mf.Model, rates: list[float]) -> Answers:
    rates = project_rates(model.state(theta_dot=rates))
    ours, theirs = (
        simulated(one, model, theta_dot=rates, dt=2e-3, duration=0.08) for one in (way, Way("nmc", "lemke"))
    )
    yield certified(ours)
    yield certified(theirs)
    yield zero("loop error, m and rad", _loop_error(ours), CLOSED, "as at the start")
    yield zero("loop error in nmc, m and rad", _loop_error(theirs), CLOSED, "as at the start")
    yield zero("difference of angles, rad", ours.theta - theirs.theta, SPEED, "certified residuals")
    yield zero("difference of rates, rad/s", ours.theta_dot - theirs.theta_dot, 1e-8, "certified residuals")


def _loop_error(run: mf.Trajectory) -> np.ndarray:
    return np.array([closure_rows(run.state(k)).error for k in range(len(run))])
