"""One robot of a file on its own: dropped on the floor under PD, or falling freely with its dampers.

Its base floats, whatever it stands on in life. Its posture is the neutral one, moved into the joint limits.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from measuring.apart import doing
from measuring.run_facts import failures, largest_overlap, opening

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.contact.contact import Contact
from mcpframe.contact.detection.materials import Material
from mcpframe.exceptions import ModelWarning
from mcpframe.multibody.model.joining import joined
from mcpframe.multibody.model.shapes import Geometry, Plane
from mcpframe.multibody.projection import project_loops, project_rates
from mcpframe.scene.controllers import PD
from mcpframe.scene.scene import Scene
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.recording.energy_audit import EnergyWarning
from mcpframe.simulation.recording.trajectory import Trajectory

DT = 1e-3
"""Step, s."""
CLEARANCE = 0.05
"""Height of the lowest point above the floor at the start, m: it lands after 0.1 s."""
REACH = 50.0
"""Distance within which the floor is looked for, m."""
MU = 0.7
FREQUENCY = 30.0
"""Of every motor with the inertia that it moves, 1/s; critically damped."""
SPIN = 0.5
"""Rates of base and joints at the start of a free fall, rad/s or m/s: without them nothing would bend."""
PROBE = 3
"""Steps that are timed first, so that a run that is killed has told how long a step takes."""


@dataclass(frozen=True)
class Drop:
    """A robot that was dropped.

    Attributes:
        dofs, mass: of the robot, floating base included, kg.
        seconds: processor time of a step.
        shapes: on its links; one without any falls through the floor.
        contacts: mean over the steps.
        start_overlap: largest overlap of two of its links at the start, m.
        overlapping: pairs of links that overlap at the start, which the run ignores unless told to keep them.
        overlap: largest during the run, m.
        loops: largest opening of a loop (mimic joints among them), m or rad.
        impacts: that the run resolved.
        energy_change: kinetic, potential and springs of the PD, from start to end, J.
        energy_gain: largest rise of the same above its start, J.
        steps: that were taken.
        certificate: the worst of all steps and impacts.
        failed: steps without a certified answer, by reason.
    """

    dofs: int
    mass: float
    seconds: float
    shapes: int
    contacts: float
    start_overlap: float
    overlapping: list[str]
    overlap: float
    loops: float
    impacts: int
    energy_change: float
    energy_gain: float
    steps: int
    certificate: float
    failed: dict[str, int]


@dataclass(frozen=True)
class FreeFall:
    """Where the energy of a free fall went, J.

    Attributes:
        potential, kinetic: given up, and gained.
        dampers, limits: lost in the joints' dampers, and in impacts with joint limits.
        left: potential - kinetic - dampers - limits, as a share of the largest kinetic energy.
        limit_impacts: impacts with joint limits.
        certificate: the worst of all steps and impacts.
    """

    dofs: int
    seconds: float
    potential: float
    kinetic: float
    dampers: float
    limits: float
    left: float
    limit_impacts: int
    certificate: float
    failed: dict[str, int]


def drop(file: str, duration: float, keep_overlaps: bool = False) -> dict[str, Any]:
    """Let a robot fall on the floor, PD holding its posture, and return the fields of `Drop`."""
    model, posture = robot(file)
    doing("preparing its shapes")
    theta, overlaps = above_floor(model, posture)
    scene = Scene(
        model,
        theta,
        materials=Material(mu=MU),
        ignore=[] if keep_overlaps else sorted(overlaps),
        controllers=[holding(model, theta)],
        stepping=Stepping(dt=DT, duration=duration, on_failure="best", certify="all"),
    )
    run, seconds = timed(scene)
    energy = run.total_energy + spring_energy(scene, run)
    return asdict(
        Drop(
            dofs=model.n_dofs,
            mass=sum(link.mass for link in model.links),
            seconds=seconds,
            shapes=sum(len(link.geometry) for link in model.links),
            contacts=float(run.n_contacts.mean()),
            start_overlap=max(overlaps.values(), default=0.0),
            overlapping=[f"{a} and {b}" for a, b in sorted(overlaps)],
            overlap=largest_overlap(run),
            loops=opening(model, run.theta),
            impacts=len(run.impacts),
            energy_change=float(energy[-1] - energy[0]),
            energy_gain=float((energy - energy[0]).max()),
            steps=len(run) - 1,
            certificate=worst_certificate(run),
            failed=failures(run),
        )
    )


def free_fall(file: str, duration: float) -> dict[str, Any]:
    """Let a robot fall, spinning, through empty space, and return the fields of `FreeFall`."""
    model, posture = robot(file)
    rates = np.random.default_rng(model.n_dofs).uniform(-SPIN, SPIN, model.n_dofs)
    state = model.state(posture, rates)
    scene = Scene(
        model,
        posture,
        project_rates(state) if model.closures else rates,
        ignore=["*"],
        stepping=Stepping(dt=DT, duration=duration, on_failure="best", certify="all"),
    )
    run, seconds = timed(scene)
    potential = float(run.potential_energy[0] - run.potential_energy[-1])
    kinetic = float(run.kinetic_energy[-1] - run.kinetic_energy[0])
    dampers = float(np.trapezoid((model.damping * run.theta_dot**2).sum(axis=1), run.time))
    limits = float((run.impacts.energy_before - run.impacts.energy_after).sum())
    left = (potential - kinetic - dampers - limits) / float(run.kinetic_energy.max())
    figures = (potential, kinetic, dampers, limits, left, len(run.impacts), worst_certificate(run))
    return asdict(FreeFall(model.n_dofs, seconds, *figures, failures(run)))


def worst_certificate(run: Trajectory) -> float:
    """Return the largest certificate of steps and impacts."""
    return float(np.concatenate([run.certificate[1:], run.impacts.certificate]).max(initial=0.0))


def robot(file: str) -> tuple[mf.Model, Array]:
    """Return a robot on a floating base above a floor, and its posture."""
    doing("reading the file")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # what the file leaves out is not the matter here
        loaded = mf.load_urdf(Path(file), floating_base=True)
    model = joined([loaded], geometry=[Geometry(Plane(), name="floor")])
    theta = within_limits(model, model.neutral())
    return model, project_loops(model, theta) if model.closures else theta


def within_limits(model: mf.Model, theta: Array) -> Array:
    """Return the nearest coordinates that no joint limit forbids."""
    moved = theta.copy()
    for link, start in zip(model.links, model.theta_start, strict=True):
        if link.hinge.quaternion_start is None:
            at = slice(start, start + link.hinge.n_theta)
            moved[at] = np.clip(moved[at], link.lower, link.upper)
    return moved


def above_floor(model: mf.Model, posture: Array) -> tuple[Array, dict[tuple[str, str], float]]:
    """Return the start above the floor, and the overlap there of every two links that overlap, m."""
    state, detector = model.state(posture), Scene(model, posture).detector()
    gaps = [contact.gap for contact in detector.contacts(state, REACH) if "world" in bodies(contact)]
    theta = posture.copy()
    theta[model.theta_start[0] + 2] += CLEARANCE - min(gaps, default=0.0)
    overlaps: dict[tuple[str, str], float] = {}
    for contact in detector.contacts(state.update(theta), 0.0):
        overlaps[bodies(contact)] = max(overlaps.get(bodies(contact), 0.0), -contact.gap)
    return theta, {pair: overlap for pair, overlap in overlaps.items() if overlap > 0.0}


def bodies(contact: Contact) -> tuple[str, str]:
    """Return the names of the two bodies that meet."""
    return contact.body_a, contact.body_b


def holding(model: mf.Model, theta: Array) -> PD:
    """Return motors at all joints, each as strong as what it moves is heavy."""
    inertia = model.state(theta).mass_matrix().diagonal()
    return PD(model, FREQUENCY**2 * inertia, 2.0 * FREQUENCY * inertia, theta)


def timed(scene: Scene) -> tuple[Trajectory, float]:
    """Return a run, and the processor time of a step without what is prepared before the first.

    The run tells the wall time of its steps; of it counts the share that the processor worked on this run.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EnergyWarning)  # gains are in the row
        doing("taking the first steps")
        first = mf.simulate(scene, duration=PROBE * DT)  # loads and compiles
        doing(f"stepping, the first steps {1e6 * first.step_seconds[-1]:.0f} µs each")
        wall, clock = perf_counter(), process_time()
        run = mf.simulate(scene)
        share = (process_time() - clock) / (perf_counter() - wall)
    return run, share * float(run.step_seconds[1:].mean())


def spring_energy(scene: Scene, run: Trajectory) -> Array:
    """Return the energy of the springs of the PD after every step, kp (theta - theta_r)² / 2, J."""
    (motors,) = scene.controllers
    assert isinstance(motors, PD)
    away = np.array([scene.model.difference(theta, scene.theta) for theta in run.theta])
    return np.asarray(0.5 * (motors.kp * away**2).sum(axis=1))
