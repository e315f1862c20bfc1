"""The folder of a run: started, resumed, or refused.

A folder that holds an unfinished run of the same scene and settings is gone on with, to the same bits as if
it had never stopped; so is a finished one when a longer duration is asked for. Anything else is refused with
what differs, and `overwrite` starts anew.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcpframe.arrays import Array
from mcpframe.exceptions import FileFormatError, McpframeError, OptionError
from mcpframe.io.folders import make_folder
from mcpframe.io.journal import remove
from mcpframe.scene.fingerprint import Fingerprints
from mcpframe.scene.scene import Scene
from mcpframe.simulation.recording.harvest import PROBLEMS
from mcpframe.simulation.recording.header import Header
from mcpframe.simulation.recording.recorder import Recorder
from mcpframe.simulation.recording.trajectory import FILE_NAME, Trajectory

ANEW = "or start anew with overwrite=True (--overwrite)"
FAILED_PROBLEM = "failed_problem.npz"
"""What the problem that a run has stopped at is called in its folder."""
FILES = (FILE_NAME, PROBLEMS, FAILED_PROBLEM)
"""What of a folder belongs to the run in it."""
STEP, N_PROBLEMS, ENGINE = "step", "n_problems", "engine."
"""Names in a checkpoint: steps taken, problems harvested, and what precedes the engine's own."""


class ResumeWarning(UserWarning):
    """A run is resumed with other versions than it was started with: its bits may be others."""


def step_count(scene: Scene) -> int:
    """Return how many steps the duration of a scene makes."""
    return max(1, round(scene.stepping.duration / scene.stepping.dt))


def header_of(scene: Scene, harvested: bool = False) -> Header:
    """Return what is told of a run."""
    stepping = scene.stepping
    kinds = (str, int, float, bool, dict)
    plain = {key: value for key, value in dict(stepping).items() if isinstance(value, kinds)}
    plugins = {"formulation": stepping.formulation, "solver": stepping.solver}
    tables = {key: {"name": p.name, **p.model_dump()} for key, p in plugins.items()}
    options = {**plain, **tables, "every": scene.output.every, "harvest": harvested}
    options |= {key: getattr(stepping, key).model_dump() for key in ("layer", "switching")}
    if scene.adaptive is not None:
        options["adaptive"] = scene.adaptive.model_dump()
    solvers = (stepping.solver.name, "auto")
    return Header(scene.model, scene.text, options, solvers=solvers, fingerprints=Fingerprints(scene))


def open_recorder(
    scene: Scene, header: Header, out: str | os.PathLike[str] | None, overwrite: bool
) -> Recorder:
    """Return a recorder in memory, on a new file, or on that of the run to go on with.

    Raises:
        FileFormatError: the folder holds something that is not to be gone on with; it is left as it is.
    """
    if out is None:
        return Recorder(header)
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"out: {folder}: is a file; give a folder")
    made = make_folder(folder, "out:")
    try:
        return _open_in(folder, scene, header, overwrite)
    except BaseException:
        remove_folders(made)
        raise


def _open_in(folder: Path, scene: Scene, header: Header, overwrite: bool) -> Recorder:
    place = folder / FILE_NAME
    if overwrite:
        for name in FILES:
            remove(folder / name)
    if not place.exists() or not place.stat().st_size:
        return Recorder.create(header, place)
    recorder = Recorder.resume(place)
    try:
        _check_same(scene, header, recorder, place)
        recorder.take_header(replace(header, model=scene.model))
    except BaseException:
        recorder.close()
        raise
    return recorder


@contextlib.contextmanager
def begun(out: str | os.PathLike[str] | None) -> Iterator[None]:
    """Leave nothing new behind where a run fails before its first step."""
    folder = Path(os.devnull if out is None else out)
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    is_new = not (folder / FILE_NAME).exists()
    try:
        yield
    except Exception:
        with contextlib.suppress(McpframeError, OSError):
            stopped = (folder / FAILED_PROBLEM).exists()
            if is_new and not stopped and len(Trajectory.load(folder)) <= 1:  # only where it starts from
                for name in FILES:
                    (folder / name).unlink(missing_ok=True)
                remove_folders(made)
        raise


def remove_folders(made: Sequence[Path]) -> None:
    """Remove folders that were made for nothing, as long as they are empty."""
    with contextlib.suppress(OSError):
        for path in made:
            path.rmdir()


def checkpoint_of(step: int, n_problems: int, engine: Mapping[str, Array]) -> dict[str, Any]:
    """Return the checkpoint of a run after a step."""
    own = {f"{ENGINE}{name}": array for name, array in engine.items()}
    return {STEP: step, N_PROBLEMS: n_problems, **own}


def engine_part(checkpoint: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a checkpoint is the engine's."""
    return {name.removeprefix(ENGINE): array for name, array in checkpoint.items() if ENGINE in name}


def _check_same(scene: Scene, header: Header, recorder: Recorder, place: Path) -> None:
    """Raise FileFormatError unless a run can be gone on with as the one that is asked for."""
    other = "; ".join(differences(recorder.header, header))
    if other:
        raise FileFormatError(f"{place}: holds another run ({other}); choose another folder, {ANEW}")
    if recorder.n_steps == 0:
        return
    if recorder.checkpoint is None or STEP not in recorder.checkpoint:
        raise FileFormatError(f"{place}: has no checkpoint to go on from; choose another folder, {ANEW}")
    done, asked = int(recorder.checkpoint[STEP]), step_count(scene)
    if done == asked:
        look = f"mcpframe view {shlex.quote(str(place.parent))}"
        raise FileFormatError(
            f"{place}: holds this run, finished; look at it ({look}), go on with a longer duration, {ANEW}"
        )
    if done > asked:
        reached = done * scene.stepping.dt
        raise FileFormatError(
            f"{place}: holds this run up to {reached:g} s, beyond the duration {scene.stepping.duration:g} s "
            f"that is asked for; choose another folder, {ANEW}"
        )
    _warn_of_versions(recorder.header, header, place)


def differences(found: Header, asked: Header) -> Iterator[str]:
    """Yield in words how the scene and the settings of two runs differ; the duration does not count."""
    there, here = (_leaves(json.loads(json.dumps(dict(header.options)))) for header in (found, asked))
    for key in sorted({*there, *here} - {"duration"}):
        plugin = key.partition(".")[0]
        same_plugin = there.get(plugin) == here.get(plugin)  # else its options mean something else
        if there.get(key) != here.get(key) and (key == plugin or same_plugin):
            yield f"{key} is {there.get(key)} there, {here.get(key)} here"
    for name in sorted({*found.fingerprints, *asked.fingerprints}):
        if found.fingerprints.get(name) != asked.fingerprints.get(name):
            yield f"other {name}"


def _leaves(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by name: a plugin's own name under its kind, its options under "kind.option"."""
    flat: dict[str, Any] = {}
    for key, value in options.items():
        table = value if isinstance(value, dict) else {"name": value}
        flat |= {f"{key}.{option}".removesuffix(".name"): setting for option, setting in table.items()}
    return flat


def _warn_of_versions(found: Header, asked: Header, place: Path) -> None:
    there, here = found.versions, asked.versions
    changed = [
        f"{name} {there.get(name)} is {here[name]} now" for name in here if there.get(name) != here[name]
    ]
    if changed:
        message = f"{place}: {', '.join(changed)}: the steps to come may differ in their last bits"
        warnings.warn(message, ResumeWarning, stacklevel=5)
