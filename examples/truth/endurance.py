"""Long runs: every solver drives the pendulum of the papers, `lemke` and `auto` every example scene."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mcpframe as mf
from truth.answers import SOLVERS, Answer, Answers, Way, certified, system, zero

SOFT = {"compliant", "hunt_crossley"}
"""Laws of contacts that yield."""
SCENES = Path(__file__).parents[1] / "scenes"
OVERLAP = 1e-6
"""Metres: the penetration tolerance of the scenes."""
ROUNDING = 1e-9
"""Share of the kinetic energy by which an impact may seem to add some."""
EVERY_SOLVER = tuple(Way("os", solver) for solver in SOLVERS)
SURE_SOLVERS = Way("os", "lemke"), Way("os", "auto")


def run_of(path: Path, way: Way, duration: float, **stepping: object) -> mf.Trajectory:
    """Return a run of a scene; it goes on where a solve fails, so that all failures are seen."""
    return mf.simulate(mf.load_scene(path), duration=duration, **{**way.stepping, **stepping})


@system(
    "12-link pendulum of J14",
    "every step certified, 5 s, two collisions and more",
    EVERY_SOLVER,
    EVERY_SOLVER,
)
def every_solver_drives_the_pendulum(way: Way) -> Answers:
    """Short: the first two collisions."""
    path = SCENES / "pendulum_j14.toml"
    run = run_of(path, way, 5.0) if way.full else _through_two_collisions(path, way)
    yield from _sound(run)
    yield Answer("more than one impact", 1.0, float(len(run.impacts) > 1), 0.0, "it swings into the floor")


def _through_two_collisions(path: Path, way: Way) -> mf.Trajectory:
    """Return a run that starts some steps before the first impact and ends some after the second."""
    swing, scene = run_of(path, Way(), 2.7), mf.load_scene(path)
    first, last = (swing.index_at(float(time)) for time in swing.impacts.time[:2])
    start = {"theta": swing.theta[first - 3], "theta_dot": swing.theta_dot[first - 3]}
    moved = mf.Scene(scene.model, **start, materials=scene.materials, stepping=scene.stepping)
    return mf.simulate(moved, duration=(last - first + 8) * scene.stepping.dt, **way.stepping)


@system("example scenes", "every step certified, in full length", SURE_SOLVERS, SURE_SOLVERS)
def no_step_of_an_example_fails(way: Way) -> Answers:
    """Short: 20 steps of each."""
    for path in sorted(SCENES.glob("*.toml")):
        scene = mf.load_scene(path)
        run = run_of(path, way, scene.stepping.duration if way.full else 20 * scene.stepping.dt)
        for answer in _sound(run, yields=_yields(scene)):
            yield Answer(f"{path.stem}: {answer.quantity}", 0.0, answer.got, answer.tolerance, answer.reason)


def _yields(scene: mf.Scene) -> bool:
    """Return whether contacts of a scene are soft: they are deep by what they carry, not by an error."""
    return any(
        material.law is not None and material.law.name in SOFT for material in scene.detector().materials
    )


def _sound(run: mf.Trajectory, yields: bool = False) -> Answers:
    yield certified(run)
    if not yields:
        yield zero("overlap, m", run.penetration, OVERLAP, "penetration tolerance")
    gain = (run.impacts.energy_after - run.impacts.energy_before) / np.maximum(
        run.impacts.energy_before, 1e-9
    )
    yield zero("energy that impacts add, share", np.maximum(gain, 0.0), ROUNDING, "rounding")
