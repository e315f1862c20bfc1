"""Rates that steps cannot resolve: hinges and bodies that turn by a large angle within one step.

A step sees forces once, in its middle. What turns by |w| dt within it is off by a share of about (|w| dt)²,
and beyond half a radian energy and phase are guesses: a chain that whips goes on to whirl, unseen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.multibody.model.model import Model
from mcpframe.simulation.recording.trajectory import Trajectory

MOST_TURN = 0.5
"""Radians per step; the share (|w| dt)² / 12 of a midpoint rule is then two percent, in every step."""

UNSTABLE = 1e3
"""Radians per step beyond which no dt that can be afforded helps."""


class ResolutionWarning(UserWarning):
    """Hinges or bodies of a run turn too fast for its steps."""


@dataclass(frozen=True)
class FastTurns:
    """The fastest turn of a run, and how many others are too fast.

    Attributes:
        name: of the dof, or of the body that turns on a ball or a free hinge.
        rate, time: its largest rate, rad/s, and when that was, s.
        dt: step, s.
        n_turns, n_rows: how many turn too fast at some time, and in how many of the recorded steps one does.
        since: when the first one did, s.
    """

    name: str
    rate: float
    time: float
    dt: float
    n_turns: int
    n_rows: int
    since: float

    def __str__(self) -> str:
        longest = round_down(MOST_TURN / self.rate) if self.rate * self.dt < UNSTABLE else 0.0
        advice = f"dt = {longest:g} s would resolve it" if longest else "the motion has become unstable"
        others = f", and {self.n_turns - 1} more turn too fast" if self.n_turns > 1 else ""
        return (
            f"{self.name!r} turns at {self.rate:.3g} rad/s at t = {self.time:g} s, by "
            f"{self.rate * self.dt:.2g} rad in a step of {self.dt:g} s{others}, in {self.n_rows} of the "
            f"steps recorded from t = {self.since:g} s on; above {MOST_TURN:g} rad per step its motion is "
            f"not resolved: {advice}"
        )


def round_down(value: float) -> float:
    """Return the largest number of one digit that is not above a positive value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(f"{np.floor(value / power) * power:.0e}")


def turning_rates(model: Model, theta_dot: Array) -> tuple[Array, list[str]]:
    """Return how fast hinges turn [n, m], rad/s, and their names; |w| of balls and free hinges as one."""
    plain: list[int] = []
    names, spins, bodies = [], [], []
    for link, start in zip(model.links, model.dof_start.tolist(), strict=True):
        if link.hinge.quaternion_start is not None:
            end = start + link.hinge.n_dof
            with np.errstate(over="ignore"):
                spins.append(np.linalg.norm(theta_dot[:, end - 3 : end], axis=1))
            bodies.append(link.name)
        else:
            turning = [start + d for d, (kind, _) in enumerate(link.hinge.elementary()) if kind == "pin"]
            plain += turning
            names += [model.dof_names[d] for d in turning]
    return np.column_stack([np.abs(theta_dot[:, plain]), *spins]), names + bodies


def fast_turns(run: Trajectory, dt: float) -> FastTurns | None:
    """Return what turns too fast for steps of dt; None where nothing does."""
    if np.abs(run.theta_dot).max(initial=0.0) * np.sqrt(3.0) * dt <= MOST_TURN:  # no three of them are faster
        return None
    rates, names = turning_rates(run.model, run.theta_dot)
    if not rates.size or not (rates.max() * dt > MOST_TURN):
        return None
    too_fast: NDArray[np.bool_] = rates * dt > MOST_TURN
    row, fastest = np.unravel_index(int(rates.argmax()), rates.shape)
    rows = too_fast.any(axis=1)
    return FastTurns(
        name=names[fastest],
        rate=float(rates[row, fastest]),
        time=float(run.time[row]),
        dt=dt,
        n_turns=int(too_fast.any(axis=0).sum()),
        n_rows=int(rows.sum()),
        since=float(run.time[rows.argmax()]),
    )
