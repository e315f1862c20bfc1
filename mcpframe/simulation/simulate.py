"""Run a scene: step after step into a recorder, with a progress bar where one is wanted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from mcpframe.multibody.state import State
from mcpframe.simulation.header import Header
from mcpframe.simulation.recorder import Recorder
from mcpframe.simulation.scene import Scene
from mcpframe.simulation.stepping import Step, Stepper
from mcpframe.simulation.steps import MODES, NONE, STATUSES, ContactTable, ImpactTable, StepBlock
from mcpframe.simulation.trajectory import FILE_NAME, Trajectory


def simulate(
    scene: Scene, *, out: str | os.PathLike[str] | None = None, progress: bool = False, **stepping: Any
) -> Trajectory:
    """Return the trajectory of a scene.

    Args:
        scene: what moves, and how it is to be stepped.
        out: folder in which the run is kept as it goes, so that a kill loses little; None keeps it in memory.
        progress: show simulated time, contacts and residual on the terminal.
        stepping: settings of the scene's stepping to change, as ``formulation="os"``, ``solver="lemke"``,
            ``duration=5.0``, ``dt=1e-3``.

    >>> trajectory = simulate(scene, solver="auto", duration=2.0)
    """
    scene = scene.with_stepping(**stepping) if stepping else scene
    header = Header(scene.model, scene.text, _options(scene), solvers=(scene.stepping.solver.name, "auto"))
    with _recorder(header, out) as recorder, _bar(scene, progress) as show:
        for block, step in steps_of(scene):
            recorder.append(block)
            show(block, step)
    return recorder.finish()


def _recorder(header: Header, out: str | os.PathLike[str] | None) -> Recorder:
    if out is None:
        return Recorder(header)
    Path(out).mkdir(parents=True, exist_ok=True)
    return Recorder.create(header, Path(out) / FILE_NAME)


def steps_of(scene: Scene) -> Iterator[tuple[StepBlock, Step | None]]:
    """Yield the start and every recorded step of a scene, with the impulses of those skipped before it."""
    state, stepper, way = scene.initial_state(), Stepper(scene), scene.stepping
    yield block_of(state, None), None
    n_steps = max(1, round(way.duration / way.dt))
    skipped: list[Step] = []
    for k in range(1, n_steps + 1):
        step = stepper.step(state)
        state.update(time=scene.time + k * way.dt)  # no sum of rounding errors
        if k % scene.output.every == 0 or step.impacts or k == n_steps:
            step = step.after(skipped)
            skipped.clear()
            yield block_of(state, step), step
        else:
            skipped.append(step)


def block_of(state: State, step: Step | None) -> StepBlock:
    """Return one step as the recorder takes it."""
    start: dict[str, Any] = {
        "time": [state.time],
        "theta": [state.theta],
        "theta_dot": [state.theta_dot],
        "kinetic_energy": [state.kinetic_energy()],
        "potential_energy": [state.potential_energy()],
    }
    return StepBlock(**start) if step is None else StepBlock(**start, **_done(step))


def _done(step: Step) -> dict[str, Any]:
    """Return the columns of what a step did."""
    figures, solution = step.figures, step.figures.solution
    return {
        "residual": [figures.residual],
        "status": [NONE if solution is None else STATUSES.index(solution.status.name)],
        "solver": [NONE if solution is None else int(solution.solver == "auto")],
        "iterations": [figures.iterations],
        "build_seconds": [figures.build_seconds],
        "solve_seconds": [figures.solve_seconds],
        "recover_seconds": [figures.recover_seconds],
        "n_contacts": [len(step.touching.contacts)],
        "penetration": [max(0.0, -step.touching.gaps.min(initial=0.0))],
        "drift": [step.drift],
        "n_impacts": [len(step.impacts)],
        "contacts": _contacts(step),
        "impacts": _impacts(step),
    }


def _contacts(step: Step) -> ContactTable:
    touching = step.touching
    packed = touching.contacts
    return ContactTable(
        body_a=packed.link_a,
        body_b=packed.link_b,
        key=touching.keys,
        point=packed.points[:, :3],
        normal=packed.normals[:, :3],
        gap=touching.gaps,
        impulse=step.impulses,
        mode=np.array([MODES.index(mode) for mode in step.modes], dtype=np.int8),
    )


def _impacts(step: Step) -> ImpactTable:
    return ImpactTable(
        time=np.array([time for time, _, _ in step.impacts]),
        n_contacts=np.array([len(impact.impulses) for _, _, impact in step.impacts], dtype=np.int64),
        energy_before=np.array([impact.audit.before for _, _, impact in step.impacts]),
        energy_compressed=np.array([impact.audit.compressed for _, _, impact in step.impacts]),
        energy_after=np.array([impact.audit.after for _, _, impact in step.impacts]),
        penetration=np.array([depth for _, depth, _ in step.impacts]),
    )


def _options(scene: Scene) -> dict[str, Any]:
    """Return the settings of a run as plain values."""
    way = scene.stepping
    plain = {key: value for key, value in dict(way).items() if isinstance(value, (str, int, float, bool))}
    plugins = {"formulation": way.formulation, "solver": way.solver}
    return {**plain, **{key: {"name": p.name, **p.model_dump()} for key, p in plugins.items()}}


@contextmanager
def _bar(scene: Scene, wanted: bool) -> Iterator[Any]:
    """Yield what shows a step on the terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, disable=not wanted) as bar:
        task = bar.add_task(scene.name, total=scene.stepping.duration, note="")

        def show(block: StepBlock, step: Step | None) -> None:
            time, contacts = float(block.time[0]), int(block.n_contacts[0])
            note = f"t = {time:.3f} s, {contacts} contacts, residual {block.residual[0]:.1e}"
            bar.update(task, completed=time - scene.time, note=note)

        yield show
