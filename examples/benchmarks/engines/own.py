"""The mechanisms in mcpframe: scenes of public parts, run by `mf.simulate` with everything recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from engines.engine import Watched, processor_time
from subjects.mechanisms import Ball, Mechanism, Pendulum

import mcpframe as mf
from mcpframe import systems
from mcpframe.contact.detection.materials import Material
from mcpframe.multibody.model.joining import joined
from mcpframe.scene.scene import Scene
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.recording.trajectory import Trajectory

WARM_UP = 5
"""Steps of a first run, which loads and compiles what the timed one needs."""


def scene_of(mechanism: Mechanism, dt: float, n_steps: int, **stepping: Any) -> Scene:
    """Return the scene of a mechanism; `stepping` are settings of `Stepping`."""
    start: dict[str, Any] = {}
    if isinstance(mechanism, Pendulum):
        p = mechanism
        model = systems.pendulum(p.n_links, p.length, p.mass, p.height, p.wall)
        start = {"theta": {"link_1": p.angle}, "theta_dot": {"link_1": p.rate}}
    elif isinstance(mechanism, Ball):
        model = systems.sphere(mechanism.radius, mechanism.mass)
        start = {"theta": {"sphere": [0.0, 0.0, mechanism.height, 0.0, 0.0, 0.0, 1.0]}}
    else:
        model = systems.box(mechanism.size, mechanism.mass)
        start = {"theta_dot": [*mechanism.velocity, 0.0, 0.0, 0.0]}
    return Scene(
        joined([model], gravity=mechanism.gravity),
        **start,
        materials=Material(mu=mechanism.mu, restitution=mechanism.restitution),
        stepping=Stepping(dt=dt, duration=n_steps * dt, **stepping),
    )


@dataclass(frozen=True)
class Own:
    """mcpframe with some settings of `Stepping`.

    Attributes:
        on_disk: keep the run in a folder as it goes, as `mcpframe simulate --out` does.
    """

    name: str
    stepping: dict[str, Any] = field(default_factory=dict)
    on_disk: bool = False
    is_peer: bool = False

    def seconds(self, mechanism: Mechanism, dt: float, n_steps: int) -> float:
        """Return the processor time of `mf.simulate`, all in: also that of recording."""
        scene = scene_of(mechanism, dt, n_steps, **self.stepping)
        mf.simulate(scene, duration=WARM_UP * dt)
        with TemporaryDirectory() as folder:
            out = Path(folder) / "run" if self.on_disk else None
            return processor_time(lambda: mf.simulate(scene, out=out))

    def watch(self, mechanism: Mechanism, dt: float, n_steps: int) -> Watched:
        """Return an episode, as its trajectory has it."""
        return watched(mf.simulate(scene_of(mechanism, dt, n_steps, **self.stepping)))


OWN = (
    Own("mcpframe, event-driven"),
    Own("mcpframe, event-driven, on disk", on_disk=True),
    Own("mcpframe, time-stepping", {"scheme": "time_stepping"}),
)


def watched(trajectory: Trajectory) -> Watched:
    """Return what a trajectory tells."""
    position, velocity = trajectory.motion_of(trajectory.last_link)
    return Watched(
        position,
        velocity[:, 3:],
        trajectory.total_energy,
        trajectory.n_contacts,
        np.concatenate([trajectory.penetration, trajectory.impacts.penetration]),
        len(trajectory.impacts),
        trajectory.impacts.time,
    )


@dataclass(frozen=True)
class Share:
    """Where the processor time of a step goes, s.

    Attributes:
        step: all of `mf.simulate`, per step.
        engine: of it, the engine alone: the same steps by one call of `Engine.advance`.
        told: of it, what the engine tells of building, solving and recovering.
    """

    step: float
    engine: float
    told: float

    @property
    def outside_engine(self) -> float:
        """Share of a step in Python around the engine: all of Python's, where the engine is compiled."""
        return max(0.0, 1.0 - self.engine / self.step)

    @property
    def outside_told(self) -> float:
        """Share of a step in neither building nor solving nor recovering."""
        return max(0.0, 1.0 - self.told / self.step)


def share_of(pendulum: Pendulum, dt: float, n_steps: int, rounds: int = 3) -> Share:
    """Return how the time of a step divides: least of some rounds, in which both ways take turns."""
    scene = scene_of(pendulum, dt, n_steps)
    mf.simulate(scene, duration=WARM_UP * dt)
    times = [_round(scene, n_steps) for _ in range(rounds)]
    return Share(*(min(column) / n_steps for column in zip(*times, strict=True)))


def _round(scene: Scene, n_steps: int) -> tuple[float, float, float]:
    state, engine, runs = scene.initial_state(), Engine(scene), list[Trajectory]()
    whole = processor_time(lambda: runs.append(mf.simulate(scene)))
    alone = processor_time(lambda: engine.advance(state, 0, n_steps))
    return whole, alone, _told(runs[0])


def _told(run: Trajectory) -> float:
    return float(run.build_seconds.sum() + run.solve_seconds.sum() + run.recover_seconds.sum())
