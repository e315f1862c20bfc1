"""Measure engines on one pendulum: processor time in turns, then an episode watched step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from engines.engine import Engine, Watched
from measuring.timing import Power, fit_power
from subjects.mechanisms import Pendulum

from mcpframe.arrays import Array

DT = 1e-3
"""Step, s [J14, section 8]."""
LEAST_ROUNDS = 2
"""Rounds that are made however long they take."""


@dataclass(frozen=True)
class Cell:
    """One engine on one pendulum.

    Attributes:
        seconds: processor time of a step, least of the rounds.
        contacts, most_contacts: mean and maximum over the steps.
        depth: largest overlap, m.
        impacts: see `engines.Watched`.
        energy_change: from start to end, relative to the start, the floor being at height zero.
        energy_gain: largest gain from one recorded step to the next, relative to the start.
    """

    engine: str
    is_peer: bool
    kind: str
    n_links: int
    seconds: float
    contacts: float
    most_contacts: int
    depth: float
    impacts: int
    energy_change: float
    energy_gain: float


@dataclass(frozen=True)
class Growth:
    """Time per step of ours, s, at several numbers of links."""

    sizes: list[int]
    times: list[float]

    @property
    def fit(self) -> Power:
        """Least squares in log-log over all sizes."""
        return fit_power(self.sizes, self.times)


def measured(
    engines: Sequence[Engine], kind: str, pendulum: Pendulum, n_steps: int, seconds: float
) -> list[Cell]:
    """Return the figures of all engines on one pendulum."""
    times = in_turns(engines, pendulum, DT, n_steps, seconds).min(axis=0)
    episodes = [engine.watch(pendulum, DT, n_steps) for engine in engines]
    return [
        cell_of(engine, kind, pendulum, float(time) / n_steps, episode)
        for engine, time, episode in zip(engines, times, episodes, strict=True)
    ]


def in_turns(engines: Sequence[Engine], pendulum: Pendulum, dt: float, n_steps: int, seconds: float) -> Array:
    """Return the processor time of an episode of every engine in every round [rounds, engines].

    Rounds, in which all take turns, are made while time is left.
    """
    readings, end = list[list[float]](), perf_counter() + seconds
    while len(readings) < LEAST_ROUNDS or perf_counter() < end:
        readings.append([engine.seconds(pendulum, dt, n_steps) for engine in engines])
    return np.array(readings)


def cell_of(engine: Engine, kind: str, pendulum: Pendulum, seconds: float, episode: Watched) -> Cell:
    """Return the figures of an episode."""
    energy = episode.energy
    return Cell(
        engine=engine.name,
        is_peer=engine.is_peer,
        kind=kind,
        n_links=pendulum.n_links,
        seconds=seconds,
        contacts=float(episode.contacts.mean()),
        most_contacts=int(episode.contacts.max()),
        depth=float(episode.depth.max()),
        impacts=episode.impacts,
        energy_change=float((energy[-1] - energy[0]) / energy[0]),
        energy_gain=float(max(0.0, np.diff(energy).max(initial=0.0)) / energy[0]),
    )
