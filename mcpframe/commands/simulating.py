"""``mcpframe simulate``: a scene file in, a trajectory out, with a summary and plots."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from mcpframe.commands.run_summary import summary
from mcpframe.commands.terminal import AllowCode, console, quoted, read_pairs
from mcpframe.io.trust import Code

if TYPE_CHECKING:
    from mcpframe.simulation.recording.trajectory import (
        Trajectory,  # its kernels are loaded when a scene is run
    )

SIMULATE_EPILOG = """
Examples:

    mcpframe simulate pendulum.toml

    mcpframe simulate pendulum.toml --out run --set formulation=nmc_os --set solver=auto --set duration=2.0

    mcpframe simulate pendulum.toml --out run --harvest

The folder gets trajectory.h5, written as the run goes, and plots where matplotlib is installed. A run that
was killed or interrupted goes on from where it was when the same command is given again, to the same bits;
one that is finished goes on when a longer duration is set. Scenes to copy are in examples/scenes;
docs/scenes.md lists their keys.
"""

INTERRUPTED = 130
"""Exit status of what Ctrl-C has ended, as shells have it."""

SceneFile = Annotated[Path, typer.Argument(metavar="SCENE", help="TOML file of the scene.")]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder for trajectory and plots; named like the scene unless given."),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting of the scene's stepping, such as dt, duration, formulation, solver; repeatable.",
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Start anew in a folder that holds a run.")]
Harvested = Annotated[
    bool, typer.Option("--harvest", help="Keep every problem that is solved in DIR/problems.h5.")
]
Plots = Annotated[bool, typer.Option(help="Draw motion, energy, contacts and solve time.")]


def simulate(
    scene: SceneFile,
    out: Out = None,
    settings: Changes = None,
    overwrite: Overwrite = False,
    harvest: Harvested = False,
    plots: Plots = True,
    allow_code: AllowCode = False,
) -> int:
    """Simulate a scene and keep its trajectory.

    Exit status: 0 when every step is certified, 1 when one is not or the run stopped at it or leads to
    numbers that are not finite, 2 on misuse, 130 when interrupted.
    """
    from mcpframe.scene.scene_file import load_scene

    changes, code = read_pairs("--set", settings), Code.of_command(allow_code)
    loaded = load_scene(scene, allow_code=code).with_stepping(**changes)
    # Only now: a mistake in the file is told before anything is compiled for the stepper.
    from mcpframe.simulation.audit.rates import ResolutionWarning
    from mcpframe.simulation.recording.energy_audit import EnergyWarning
    from mcpframe.simulation.simulate import RunStoppedError
    from mcpframe.simulation.simulate import simulate as run
    from mcpframe.simulation.stops import NoMotionError

    folder = Path(scene.stem) if out is None else out
    notes = console(stderr=True)
    stop: RunStoppedError | NoMotionError | None = None
    try:
        with warnings.catch_warnings():
            for told in (EnergyWarning, ResolutionWarning):  # by the summary
                warnings.simplefilter("ignore", told)
            trajectory = run(
                loaded,
                out=folder,
                progress=sys.stderr.isatty(),
                overwrite=overwrite,
                harvest=harvest,
                tell=notes.print,
            )
    except RunStoppedError as error:
        trajectory, stop = error.trajectory, error
    except NoMotionError as error:
        if error.trajectory is None or len(error.trajectory) <= 1:  # nothing to tell of, nothing kept
            raise
        trajectory, stop = error.trajectory, error
    except KeyboardInterrupt:
        notes.print(f"interrupted; the same command goes on with the run in {folder}")
        return INTERRUPTED
    console().print(summary(trajectory, loaded))
    _tell_files(trajectory, folder, harvest, plots)
    if stop is not None:
        notes.print(Text(f"stopped: {stop}", style="red"))
    return 1 if stop is not None or len(trajectory.failed) else 0


def _tell_files(trajectory: Trajectory, folder: Path, harvest: bool, plots: bool) -> None:
    """Draw plots, and say what is in the folder and what to do with it."""
    written = ["trajectory.h5"] + ["problems.h5"] * harvest
    if plots and importlib.util.find_spec("matplotlib") is not None:
        from mcpframe.view.plots import save_plots

        written += [path.name for path in save_plots(trajectory, folder)]
    out = console()
    out.print(Text(f"\n{folder}: {', '.join(written)}"))
    if plots and len(written) == 1 + harvest:
        out.print("plots need matplotlib: pip install 'mcpframe\\[report]'")
    out.print(Text(f"play it: mcpframe view {quoted(folder)}"))
    if harvest:
        out.print(Text(f"solve its problems: mcpframe solve {quoted(folder / 'problems.h5')}"))
