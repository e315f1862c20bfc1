"""Run a scene: block after block of an engine's steps into a recorder, from where it starts or was left."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from mcpframe.exceptions import NotSolvedError, OptionError
from mcpframe.io.npz import save_problem
from mcpframe.jit import ready
from mcpframe.multibody.state import State
from mcpframe.scene.scene import Scene
from mcpframe.simulation.audit.findings import warn_of_findings
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.overlaps import warn_of_overlaps
from mcpframe.simulation.progress import Show, progress_bar
from mcpframe.simulation.recording.energy_audit import warn_of_gains
from mcpframe.simulation.recording.harvest import PROBLEMS, Harvest
from mcpframe.simulation.recording.recorder import Recorder
from mcpframe.simulation.recording.resume import (
    FAILED_PROBLEM,
    N_PROBLEMS,
    STEP,
    begun,
    checkpoint_of,
    engine_part,
    header_of,
    open_recorder,
    step_count,
)
from mcpframe.simulation.recording.steps import StepBlock
from mcpframe.simulation.recording.trajectory import FILE_NAME, Trajectory
from mcpframe.simulation.recording.trajectory_file import Checkpoint
from mcpframe.simulation.stops import NoMotionError, StoppedError

PathLike = str | os.PathLike[str]

BLOCK_SECONDS = 0.25
"""Wall time that a block of steps should take: short enough for a lively progress bar and for a kill to cost
little, long enough for its bookkeeping not to show."""
BLOCK_STEPS = 4096
"""Most steps of a block."""
GROWTH = 16.0
"""Most by which a block is longer than the one before: a block costs half a millisecond of Python, and steps
that are slow of a sudden are not many."""


class RunStoppedError(NotSolvedError):
    """A run has stopped at a problem that was not solved; the message says where, and what to do.

    Attributes:
        solution, problem: what the solver returned, and what it was asked.
        trajectory: the steps before.
        problem_file: where the problem is saved, None for a run in memory.
    """

    def __init__(
        self, error: NotSolvedError, message: str, trajectory: Trajectory, problem_file: Path | None
    ) -> None:
        super().__init__(error.solution, error.problem)
        self.args = (message,)
        self.trajectory, self.problem_file = trajectory, problem_file

    def __reduce__(self) -> tuple[Any, ...]:
        plain = NotSolvedError(self.solution, self.problem)
        return type(self), (plain, self.args[0], self.trajectory, self.problem_file)


def simulate(
    scene: Scene,
    *,
    out: PathLike | None = None,
    progress: bool = False,
    overwrite: bool = False,
    harvest: PathLike | bool = False,
    tell: Callable[[str], None] | None = None,
    **stepping: Any,
) -> Trajectory:
    """Return the trajectory of a scene.

    Args:
        scene: what moves, and how it is to be stepped.
        out: folder in which the run is kept as it goes; None keeps it in memory. Where the folder holds an
            unfinished run of the same scene and settings, that one is gone on with, to the same bits.
        progress: show simulated time, contacts and residual on the terminal or in the notebook.
        overwrite: start anew in a folder that holds a run.
        harvest: keep every problem that is solved in a corpus: its file, or True for ``problems.h5`` in the
            folder of the run.
        tell: is called with a line of text when a run is resumed.
        stepping: settings of the scene's stepping to change, as ``formulation="os"``, ``solver="lemke"``,
            ``duration=5.0``, ``dt=1e-3``.

    Raises:
        RunStoppedError: a solve failed and `on_failure` says to stop. The steps before it are kept, and the
            problem is saved in the folder of the run.
        NoMotionError: a step leads nowhere, as where rates grow beyond all numbers. The steps before it are
            kept, in the folder of the run and as `error.trajectory`.
        FileFormatError: the folder holds another run, or this one and it is finished.

    >>> trajectory = simulate(scene, solver="auto", duration=2.0)
    """
    scene = scene.with_stepping(**stepping) if stepping else scene
    ready("mcpframe")  # nothing is compiled while steps are timed; what plugins bring, the registry readies
    keep = Harvest(scene, _corpus_path(out, harvest))
    keep.check_place(resumes=out is not None and Path(out, FILE_NAME).exists(), overwrite=overwrite)
    header = header_of(scene, keep.path is not None)
    with (
        begun(out),
        open_recorder(scene, header, out, overwrite) as recorder,
        keep,
        progress_bar(scene, progress) as show,
    ):
        run = _Run(scene, recorder, keep)
        if run.done and tell is not None:
            tell(f"resuming at t = {run.state.time:g} s")
        try:
            run.go(show)
        except StoppedError as stop:
            warn_of_findings(scene, recorder.finish())
            raise _stopped(scene, stop, recorder.finish(), out) from None
        except NoMotionError as error:
            error.trajectory = recorder.finish()
            warn_of_findings(scene, error.trajectory)
            raise
        trajectory = recorder.finish()
    warn_of_gains(trajectory.impacts)
    warn_of_findings(scene, trajectory)
    return trajectory


class _Run:
    """A run under way.

    Attributes:
        state: where it is.
        done: how many steps were taken, in this process and before.
    """

    def __init__(self, scene: Scene, recorder: Recorder, harvest: Harvest) -> None:
        self.scene, self.recorder, self.harvest = scene, recorder, harvest
        self.engine = Engine(scene, None if harvest.path is None else harvest)
        self.state, self.done = scene.initial_state(), 0
        if recorder.checkpoint is None or recorder.last is None:
            harvest.begin()
            warn_of_overlaps(scene, self.engine.overlaps, stacklevel=3)
            recorder.take(start_of(self.state), self._checkpoint())
        else:
            self._resume(recorder.last, recorder.checkpoint)

    def _resume(self, last: StepBlock, checkpoint: Checkpoint) -> None:
        self.done = int(checkpoint[STEP])
        time = self.scene.time + self.done * self.scene.stepping.dt
        self.state.update(last.theta[0], last.theta_dot[0], time)
        self.engine.restore(engine_part(checkpoint))
        self.harvest.begin(int(checkpoint[N_PROBLEMS]))

    def go(self, show: Show) -> None:
        """Take the steps that are left."""
        count, last = 1, step_count(self.scene)
        while self.done < last:
            count = min(_up_to_recorded(self.done, count, self.scene.output.every), last - self.done)
            clock = perf_counter()
            try:
                block = self.engine.advance(self.state, self.done, count)
            except (StoppedError, NoMotionError) as stop:
                self._keep(stop.block, stop.step - 1 - self.done, perf_counter() - clock)
                raise
            seconds = perf_counter() - clock
            self._keep(block, count, seconds)
            show(block)
            count = max(1, min(int(count * min(BLOCK_SECONDS / seconds, GROWTH)), BLOCK_STEPS))

    def _keep(self, block: StepBlock, count: int, seconds: float) -> None:
        """Record the steps of a block: the problems first, see `mcpframe.simulation.recording.harvest`."""
        self.done += count
        self.harvest.store(self.done)
        self.recorder.take(block.taking(seconds / max(count, 1)), self._checkpoint())

    def _checkpoint(self) -> Checkpoint:
        return checkpoint_of(self.done, self.harvest.count, self.engine.checkpoint())


def start_of(state: State) -> StepBlock:
    """Return the start of a run: the row before its first step."""
    return StepBlock(
        time=np.array([state.time]),
        theta=np.array([state.theta]),
        theta_dot=np.array([state.theta_dot]),
        kinetic_energy=np.array([state.kinetic_energy()]),
        potential_energy=np.array([state.potential_energy()]),
    )


def _up_to_recorded(done: int, count: int, every: int) -> int:
    """Return how many steps to take, at least `count`, for the last of them to be one that is recorded."""
    return -(-(done + count) // every) * every - done


def _corpus_path(out: PathLike | None, harvest: PathLike | bool) -> Path | None:
    if not isinstance(harvest, bool):
        return Path(harvest)
    if harvest and out is None:
        raise OptionError("harvest=True: give out too, the folder of the run; or harvest=FILE")
    return Path(out, PROBLEMS) if harvest and out is not None else None


def _stopped(
    scene: Scene, stop: StoppedError, trajectory: Trajectory, out: PathLike | None
) -> RunStoppedError:
    """Save the problem that a run has stopped at, and return the error to raise."""
    stepping, solver = scene.stepping, scene.stepping.solver
    begin = scene.time + (stop.step - 1) * stepping.dt
    message = f"{scene.name}: step {stop.step}, at t = {begin:g} s, was not solved. {stop}"
    file = None if out is None else Path(out, FAILED_PROBLEM)
    if file is not None:
        where = {"scene": scene.name, "step": stop.step, "time": begin, "dt": stepping.dt}
        where |= {"formulation": stepping.formulation.name, "solver": solver.name, "tol": stepping.tol}
        save_problem(file, stop.problem, name=f"{scene.name} step {stop.step}", provenance=where)
        options = solver.model_dump(exclude_defaults=True)
        words = "".join(f" --option {key}={value}" for key, value in options.items())
        message += (
            f" The problem is kept: mcpframe solve {shlex.quote(str(file))} --solver {solver.name}{words}"
        )
    return RunStoppedError(stop, message, trajectory, file)
