"""What a round friction cone costs beside a polygon of four directions: scenes, processor time per step.

Both ways take turns, and the least time of some rounds counts: on a machine with other work ratios hold where
times do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import pi
from pathlib import Path

from engines.engine import processor_time
from engines.own import WARM_UP, scene_of
from subjects.mechanisms import Block

import mcpframe as mf
from mcpframe.scene.scene import Scene

SCENES = Path(__file__).parents[2] / "scenes"
FILES = {"quadruped": 1.0, "box_stack": 1.0, "pendulum_j14": 5.0}
"""Scenes of this repository, and how many seconds of them."""
DT, SPEED, SLIDING = 1e-3, 2.0, 0.4
"""The block: step, s; speed, m/s, between two friction directions; s."""
ROUNDS, QUICK = 5, 0.05
"""Runs of each, of which the fastest counts; share of the seconds in a quick study."""
MOST = 1.2
"""Times of a cone over a polygon that are wanted."""


@dataclass(frozen=True)
class Cost:
    """Processor time of one scene per step, s."""

    scene: str
    steps: int
    polygon: float
    cone: float

    @property
    def ratio(self) -> float:
        """Cone over polygon."""
        return self.cone / self.polygon


def costs(quick: bool) -> Iterator[Cost]:
    """Yield what both kinds of friction cost, scene after scene."""
    share = QUICK if quick else 1.0
    for name, scene, seconds in subjects():
        yield cost_of(name, scene, share * seconds, 1 if quick else ROUNDS)


def subjects() -> Iterator[tuple[str, Scene, float]]:
    """Yield names, scenes and seconds."""
    yield "block at 45°", scene_of(Block(speed=SPEED, heading=pi / 4.0), DT, 1), SLIDING
    for name, seconds in FILES.items():
        yield name, mf.load_scene(SCENES / f"{name}.toml"), seconds


def cost_of(name: str, scene: Scene, seconds: float, rounds: int) -> Cost:
    """Return the least time per step of some rounds, in which both take turns."""
    usual = {"formulation": "os", "solver": "auto"}
    ways = [scene.with_stepping(friction=friction, **usual) for friction in ("polygon", "cone")]
    for way in ways:
        mf.simulate(way, duration=WARM_UP * scene.stepping.dt)
    times = [
        [processor_time(partial(mf.simulate, way, duration=seconds)) for way in ways] for _ in range(rounds)
    ]
    steps = round(seconds / scene.stepping.dt)
    polygon, cone = (min(column) / steps for column in zip(*times, strict=True))
    return Cost(name, steps, polygon, cone)
