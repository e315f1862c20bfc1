"""The mechanisms in mcpframe: scenes of public parts, run by `mf.simulate` with everything recorded.

`ConeBlock` slides a block on the exact friction cone, which scenes do not offer: its steps are problems
(W, q, mu) made of a step's contact rows, and `qp` solves them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from engines import Watched, processor_time
from mechanisms import Ball, Block, Mechanism, Pendulum

import mcpframe as mf
from mcpframe import systems
from mcpframe.arrays import Array
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


@dataclass(frozen=True)
class ConeBlock:
    """A block on level ground or a slope, by semi-implicit Euler with the exact cone at its four corners."""

    name: str = "mcpframe, exact cone"
    is_peer: bool = False

    def watch(self, block: Block, dt: float, n_steps: int) -> Watched:
        """Return an episode; contacts are those of the start, which a sliding block keeps."""
        scene = scene_of(block, dt, n_steps)
        state, detector = scene.initial_state(), scene.detector()
        rows = []
        for _ in range(n_steps + 1):
            rows.append((state.pose("box").position, state.node_velocities(["box"])[0, 3:]))
            contacts = detector.contacts(state, scene.stepping.penetration_tolerance)
            theta_dot = cone_rates(mf.ContactStep(state, contacts, dt))
            state.update(scene.model.integrate(state.theta, theta_dot, dt), theta_dot)
        position, velocity = (np.array(column) for column in zip(*rows, strict=True))
        none = np.zeros(n_steps + 1)
        return Watched(position, velocity, none, none, none, 0)


def cone_rates(step: mf.ContactStep) -> Array:
    """Return the hinge rates after a step with the exact cone.

    M v = H r + f, u = H' v, with r and u as in `mcpframe.problem.friction`; H' has the rows normal, tangent,
    tangent of every contact.
    """
    state = step.state
    H = step.contact_rows.jacobian(state).T
    free = state.theta_dot + step.dt * step.free_acceleration
    if not step.n_u:
        return free
    mass, mu = state.mass_matrix(), [contact.mu for contact in step.contacts]
    problem = mf.FrictionProblem.from_global(mass, H, mass @ free, np.zeros(H.shape[1]), mu)
    return problem.velocities(mf.solve(problem, "qp", throw=True).z)
