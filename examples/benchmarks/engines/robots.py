"""A robot of one MJCF file in two engines: ours by `mf.simulate`, MuJoCo by `mj_step`; same start, motors.

What `mf.load_mjcf` names as left out is taken from the file here: motors (position actuators), the start
(keyframe), friction, and pairs that do not meet.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from engines.engine import Peer, Watched, processor_time
from engines.own import WARM_UP, watched
from measuring.run_facts import failures, opening
from peers.mujoco import MujocoRun

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.contact.detection.materials import Material
from mcpframe.exceptions import ModelWarning
from mcpframe.io.mjcf import theta_dot_from_qvel, theta_from_qpos
from mcpframe.scene.controllers import PD, Controller, Function
from mcpframe.scene.scene import Scene
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.recording.energy_audit import EnergyWarning
from mcpframe.simulation.recording.trajectory import Trajectory

STARTS = 3
"""Runs of a few steps, of which the least time is what a run takes before its first step, at that moment."""


@dataclass(frozen=True, eq=False)
class Motors:
    """Position actuators: tau = kp (target - theta) - kd theta_dot at some dofs.

    Attributes:
        places, dofs: of the joints among coordinates and rates; a slice where they follow one another, which
            numpy reads faster.
    """

    places: Array | slice
    dofs: Array | slice
    kp: Array
    kd: Array
    target: Array


@dataclass(frozen=True)
class Robot:
    """A file, and what both engines read from it."""

    name: str
    file: Path

    @cached_property
    def compiled(self) -> Any:
        """The model in MuJoCo."""
        return mujoco.MjModel.from_xml_path(str(self.file))

    @cached_property
    def model(self) -> mf.Model:
        """The model here."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # what it leaves out is taken over below
            return mf.load_mjcf(self.file)

    @cached_property
    def motors(self) -> Motors:
        """The motors of the file, their targets those of the keyframe."""
        m = self.compiled
        joints = m.actuator_trnid[:, 0]
        gains = m.actuator_gainprm[:, 0], -m.actuator_biasprm[:, 2]
        places, dofs = (_as_slice(index[joints]) for index in (m.jnt_qposadr, m.jnt_dofadr))
        return Motors(places, dofs, *gains, m.key_ctrl[0])

    @property
    def ignore(self) -> list[tuple[str, str]]:
        """Pairs of bodies that the file excludes."""
        pairs = [(int(pair) >> 16, int(pair) & 0xFFFF) for pair in self.compiled.exclude_signature]
        return [(self.compiled.body(a).name, self.compiled.body(b).name) for a, b in pairs]

    def start(self) -> tuple[Array, Array]:
        """Return theta and theta_dot of the keyframe."""
        theta = theta_from_qpos(self.model, self.compiled.key_qpos[0])
        return theta, theta_dot_from_qvel(self.model, theta, self.compiled.key_qvel[0])

    def scene(self, dt: float, n_steps: int, native: bool) -> Scene:
        """Return the scene; its motors are a `PD`, or a function in Python."""
        return Scene(
            self.model,
            *self.start(),
            materials=Material(mu=float(self.compiled.geom_friction[0, 0])),
            ignore=self.ignore,
            controllers=self._controllers(native),
            stepping=Stepping(dt=dt, duration=n_steps * dt, on_failure="best"),
        )

    def _controllers(self, native: bool) -> list[Controller]:
        motors, model = self.motors, self.model
        if not len(motors.kp):
            return []
        if not native:
            return [Function(model, partial(forces, motors))]
        target = self.start()[0].copy()
        target[motors.places] = motors.target
        kp, kd = np.zeros(model.n_dofs), np.zeros(model.n_dofs)
        kp[motors.dofs], kd[motors.dofs] = motors.kp, motors.kd
        return [PD(model, kp, kd, target, dofs=list(np.array(model.dof_names)[motors.dofs]))]


def forces(motors: Motors, state: Any, time: float) -> Array:
    """Return what the motors do, as a user writes it."""
    tau = np.zeros(len(state.theta_dot))
    away = motors.target - state.theta[motors.places]
    tau[motors.dofs] = motors.kp * away - motors.kd * state.theta_dot[motors.dofs]
    return tau


@dataclass(frozen=True)
class Episode:
    """A robot's episode.

    Attributes:
        opening: largest opening of a loop, m.
        failed: steps without a certified answer, by reason.
    """

    watched: Watched
    opening: float
    failed: dict[str, int]


@dataclass(frozen=True)
class OwnRobots:
    """mcpframe, event-driven, everything recorded in memory."""

    name: str
    native: bool
    is_peer: bool = False

    def seconds(self, robot: Robot, dt: float, n_steps: int) -> float:
        """Return the processor time of the steps of `mf.simulate`, without that of what comes before them."""
        before = start_time(robot, dt, self.native)  # now: other work slows it as it does the steps
        whole = processor_time(partial(simulated, scene_of(robot, dt, n_steps, self.native)))
        return (whole - before) * n_steps / (n_steps - WARM_UP)

    def episode(self, robot: Robot, dt: float, n_steps: int) -> Episode:
        """Return an episode, as its trajectory has it."""
        run = simulated(scene_of(robot, dt, n_steps, self.native))
        return Episode(watched(run), opening(robot.model, run.theta), failures(run))


@cache
def scene_of(robot: Robot, dt: float, n_steps: int, native: bool) -> Scene:
    """Return the scene of a robot, made once for all rounds."""
    return robot.scene(dt, n_steps, native)


def start_time(robot: Robot, dt: float, native: bool) -> float:
    """Return what a run takes up to its first steps, the least of a few."""
    few = partial(simulated, scene_of(robot, dt, WARM_UP, native))
    return min(processor_time(few) for _ in range(STARTS))


def simulated(scene: Scene, **stepping: Any) -> Trajectory:
    """Return the run of a scene; gains of energy are not the matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EnergyWarning)
        return mf.simulate(scene, **stepping)


class MujocoRobotRun(MujocoRun):
    """A robot in MuJoCo; its motors are MuJoCo's own, or a function in Python."""

    def __init__(self, native: bool, robot: Robot, dt: float) -> None:
        self.model = copy(robot.compiled)
        self.data, self.motors = mujoco.MjData(self.model), robot.motors
        self.native = native or not len(self.motors.kp)
        self.model.opt.timestep = dt
        if not self.native:
            self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
        mujoco.mj_resetDataKeyframe(self.model, self.data, 0)
        mujoco.mj_forward(self.model, self.data)

    def advance(self, n_steps: int) -> None:
        """Take steps, in one call where no function in Python has to be asked."""
        if self.native:
            super().advance(n_steps)
            return
        data, motors, step = self.data, self.motors, mujoco.mj_step
        for _ in range(n_steps):
            away = motors.target - data.qpos[motors.places]
            data.qfrc_applied[motors.dofs] = motors.kp * away - motors.kd * data.qvel[motors.dofs]
            step(self.model, data)


def _as_slice(index: Array) -> Array | slice:
    """Return consecutive places as a slice."""
    if not len(index) or (np.diff(index) != 1).any():
        return index
    return slice(int(index[0]), int(index[-1]) + 1)


@dataclass(frozen=True)
class MujocoRobots:
    """MuJoCo with its default contacts."""

    name: str
    native: bool
    is_peer: bool = True

    @property
    def _peer(self) -> Peer:
        return Peer(self.name, "", partial(MujocoRobotRun, self.native))

    def seconds(self, robot: Robot, dt: float, n_steps: int) -> float:
        """Return the processor time of an episode in which nothing is read."""
        return self._peer.seconds(robot, dt, n_steps)

    def episode(self, robot: Robot, dt: float, n_steps: int) -> Episode:
        """Return an episode, read after every step; its loops are measured in another one."""
        run, places = MujocoRobotRun(self.native, robot, dt), []
        for _ in range(n_steps if robot.model.closures else 0):
            run.advance(1)
            places.append(theta_from_qpos(robot.model, run.data.qpos))
        return Episode(self._peer.watch(robot, dt, n_steps), opening(robot.model, places), {})


def contestants() -> Sequence[OwnRobots | MujocoRobots]:
    """Return ours and the installed MuJoCo, each with its own motors and with those of a Python function."""
    version = f"MuJoCo {mujoco.__version__}"
    return (
        OwnRobots("mcpframe, PD", native=True),
        OwnRobots("mcpframe, Python", native=False),
        MujocoRobots(f"{version}, actuators", native=True),
        MujocoRobots(f"{version}, Python", native=False),
    )
