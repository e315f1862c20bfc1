"""What a step costs with each integrator: pendulum, quadruped, and a free chain, which pays the most.

Processor time of the engine's steps of 1 ms, the least of some runs that take turns, so that what else the
machine does meets all of them.
"""

from __future__ import annotations

from pathlib import Path
from time import process_time

import numpy as np

import mcpframe as mf
from mcpframe.simulation.engine import Engine

SCENES = Path(__file__).parents[2] / "scenes"
DT, STEPS, TURNS = 1e-3, 1000, 15
LINKS = 10
"""Of the free chain, on ball hinges."""


def costs(integrators: tuple[str, ...], turns: int = TURNS) -> dict[str, dict[str, float]]:
    """Return microseconds per step, by scene and integrator."""
    named = {name: mf.load_scene(SCENES / f"{name}.toml") for name in ("pendulum_j14", "quadruped")}
    found: dict[str, dict[str, float]] = {}
    for name, scene in (named | {f"free chain of {LINKS} links": free_chain()}).items():
        times = [[step_time(scene, integrator) for integrator in integrators] for _ in range(turns)]
        found[name] = dict(zip(integrators, (1e6 * np.min(times, axis=0)).tolist(), strict=True))
    return found


def step_time(scene: mf.Scene, integrator: str) -> float:
    """Return the processor time of a step, s, the first left out."""
    scene = scene.with_stepping(integrator=integrator, dt=DT)
    engine, state = Engine(scene), scene.initial_state()
    engine.advance(state, 0, 1)  # what it makes room for at first
    clock = process_time()
    engine.advance(state, 1, STEPS)
    return (process_time() - clock) / STEPS


def free_chain() -> mf.Scene:
    """Return a chain that flies and bends: bias forces are all that it needs."""
    body = {"mass": 1.0, "com": (0, 0, -0.1), "inertia": np.diag([4e-3, 4e-3, 1e-3])}
    model = mf.Model(gravity=(0, 0, 0), name="free chain")
    for k in range(LINKS):
        parent, hinge = (f"link_{k - 1}", "ball") if k else ("world", "free")
        model.add_link(f"link_{k}", parent, mf.Hinge(hinge), mf.Pose((0, 0, -0.2 if k else 0.0)), **body)
    rates = np.random.default_rng(0).uniform(-1.0, 1.0, model.n_dofs)
    return mf.Scene(model, theta_dot=rates)
