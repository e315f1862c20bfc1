"""Motions that are known from elsewhere: a scene, how long it moves, and where it then is.

What is known comes from a closed form or from an ODE of `truth.equations`, never from the project's own
dynamics. The bound holds at a step of a millisecond: it is a bound on the constant, not on the order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import mcpframe as mf
from mcpframe.arrays import Array
from truth.answers import Answer, Answers, Way, certified, zero

DT = 1e-3
"""Step at which bounds are meant, s."""
SAMPLES = 200
"""States of a long run that are looked at."""


@dataclass(frozen=True)
class Motion:
    """A motion with a known end.

    Attributes:
        scene: what moves, where it starts and what acts on it.
        duration: s.
        quantity: what is compared, in words, with its unit.
        known: returns the values at the end.
        got: returns the same values of a run.
        bound: largest difference that is accepted at `DT`.
    """

    scene: mf.Scene
    duration: float
    quantity: str
    known: Callable[[], Array]
    got: Callable[[mf.Trajectory], Array]
    bound: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "known", cache(self.known))  # an ODE takes longer than a run

    def run(self, way: Way, dt: float = DT, **stepping: Any) -> mf.Trajectory:
        """Return a run of the whole motion."""
        return mf.simulate(self.scene, **{"dt": dt, "duration": self.duration, **way.stepping, **stepping})

    def error(self, run: mf.Trajectory) -> float:
        """Return the largest difference at the end."""
        return float(np.abs(np.subtract(self.got(run), self.known())).max())

    def answers(self, way: Way) -> Answers:
        """Run it and compare its end."""
        run = self.run(way)
        yield certified(run)
        yield zero(f"{self.quantity} after {self.duration:g} s", self.error(run), self.bound, "at 1 ms")


def second_order(rate: float, duration: float, size: float = 1.0) -> float:
    """Return what a rule of second order may be off by at `DT`: Ω T (Ω dt)² / 4 of a size.

    Ω, 1/s, is the largest rate of the motion, or the root of its largest acceleration if that is more. The
    phase of a harmonic motion is off by a 24th; rates in forces and contacts may have their share as well.
    """
    return size * (rate * DT) ** 2 / 4 * max(rate * duration, 1.0)


def samples(run: mf.Trajectory) -> list[mf.State]:
    """Return some states of a run from its start to its end."""
    chosen = np.unique(np.linspace(0, len(run) - 1, SAMPLES).astype(int))
    return [run.state(int(k)) for k in chosen]


def change(values: Any) -> float:
    """Return how far rows are from the first one, against its size."""
    values = np.asarray(values, dtype=float)
    rows = values.reshape(len(values), -1)
    return float(np.linalg.norm(rows - rows[0], axis=1).max() / np.linalg.norm(rows[0]))


def energy_kept(run: mf.Trajectory, bound: float, scale: float = 0.0) -> Answer:
    """Return that energy stays, as a share of the kinetic energy at the start unless a scale is given."""
    drift = run.total_energy - run.total_energy[0]
    size = scale or run.kinetic_energy[0]
    return zero(f"energy in {run.time[-1]:g} s, share", drift / size, bound, "asked for, at 1 ms")
