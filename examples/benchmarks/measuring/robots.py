"""Measure engines on one robot: processor time in turns, then an episode watched step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from measuring.simulation import DT, LEAST_ROUNDS, in_turns

if TYPE_CHECKING:
    from engines.robots import Episode, MujocoRobots, OwnRobots, Robot  # need mujoco

PROBE = 40
"""Steps that tell how long a step takes, before the number of steps is chosen."""


@dataclass(frozen=True)
class RobotCell:
    """One engine on one robot.

    Attributes:
        native: whether the motors are the engine's own, not a function in Python.
        dofs, steps: of the robot, and of the episode.
        readings: processor time of a step in every round, s.
        contacts: mean over the steps.
        depth: largest overlap, m.
        opening: largest opening of a loop, m.
        impacts: see `engines.Watched`.
        failed: steps without a certified answer, by reason.
    """

    engine: str
    is_peer: bool
    native: bool
    robot: str
    dofs: int
    steps: int
    readings: list[float]
    contacts: float
    depth: float
    opening: float
    impacts: int
    failed: dict[str, int]


def measured(
    engines: Sequence[OwnRobots | MujocoRobots], robot: Robot, duration: float, seconds: float
) -> list[RobotCell]:
    """Return the figures of all engines on one robot.

    Args:
        engines: that take turns.
        robot: what they move.
        duration: simulated time, s, if the slowest engine can.
        seconds: for one engine, all rounds and the episode that is watched together.
    """
    n_steps = steps_within(engines, robot, round(duration / DT), seconds)
    times = in_turns(engines, robot, DT, n_steps, seconds if n_steps * DT >= duration else 0.0)
    return [
        cell_of(engine, robot, n_steps, (own / n_steps).tolist(), engine.episode(robot, DT, n_steps))
        for engine, own in zip(engines, times.T, strict=True)
    ]


def steps_within(
    engines: Sequence[OwnRobots | MujocoRobots], robot: Robot, n_steps: int, seconds: float
) -> int:
    """Return how many steps, of those wanted, the slowest engine can take in all rounds and once more."""
    if n_steps <= PROBE:
        return n_steps
    slowest = max(engine.seconds(robot, DT, PROBE) / PROBE for engine in engines)
    return max(PROBE, min(n_steps, int(seconds / (LEAST_ROUNDS + 1) / slowest)))


def cell_of(
    engine: OwnRobots | MujocoRobots, robot: Robot, n_steps: int, readings: list[float], episode: Episode
) -> RobotCell:
    """Return the figures of an episode."""
    return RobotCell(
        engine=engine.name,
        is_peer=engine.is_peer,
        native=engine.native,
        robot=robot.name,
        dofs=robot.model.n_dofs,
        steps=n_steps,
        readings=readings,
        contacts=float(episode.watched.contacts.mean()),
        depth=max(0.0, float(episode.watched.depth.max())),  # not -0.0
        opening=episode.opening,
        impacts=episode.watched.impacts,
        failed=episode.failed,
    )
