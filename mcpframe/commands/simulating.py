"""``mcpframe simulate``: a scene file in, a trajectory out, with a summary and plots."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.table import Table

from mcpframe.commands.terminal import console, read_pairs
from mcpframe.exceptions import OptionError

if TYPE_CHECKING:
    from mcpframe.simulation.trajectory import Trajectory  # its kernels are loaded when a scene is run

SIMULATE_EPILOG = """
Examples:

    mcpframe simulate pendulum.toml --out run

    mcpframe simulate pendulum.toml --out run --set formulation=nmc_os --set solver=auto --set duration=2.0

The folder gets trajectory.h5, written as the run goes, and plots where matplotlib is installed. Settings are
those of the scene's [stepping] table: dt, duration, scheme, integrator, formulation, solver, tolerances.
"""

SceneFile = Annotated[Path, typer.Argument(metavar="SCENE", help="TOML file of the scene.")]
Out = Annotated[Path, typer.Option(help="Folder for the trajectory and plots; must not hold a run yet.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of the scene's stepping; repeatable."),
]
Plots = Annotated[bool, typer.Option(help="Draw motion, energy, contacts and solve time.")]


def simulate(scene: SceneFile, out: Out, settings: Changes = None, plots: Plots = True) -> None:
    """Simulate a scene and keep its trajectory."""
    from mcpframe.simulation.scene_file import load_scene
    from mcpframe.simulation.simulate import simulate as run

    if out.exists() and not out.is_dir():
        raise OptionError(f"--out {out}: is a file; give a folder")
    loaded = load_scene(scene).with_stepping(**read_pairs("--set", settings))
    clock = perf_counter()
    trajectory = run(loaded, out=out, progress=sys.stderr.isatty())
    console().print(_summary(trajectory, perf_counter() - clock, out))
    if plots:
        _draw(trajectory, out)
    if len(trajectory.failed):
        raise typer.Exit(1)


def _summary(trajectory: Trajectory, seconds: float, out: Path) -> Table:
    steps, energy = len(trajectory) - 1, trajectory.total_energy
    gains = trajectory.impacts.energy_after - trajectory.impacts.energy_before
    time, overlap = trajectory.time[-1] - trajectory.time[0], trajectory.penetration.max()
    rows = {
        "simulated": f"{time:g} s in {steps} steps, {seconds:.1f} s of wall time",
        "contacts": f"at most {trajectory.n_contacts.max()}, overlap at most {overlap:.1e} m",
        "impacts": f"{len(gains)}, kinetic energy gained at most {gains.max(initial=0.0):.1e} J",
        "energy": f"{energy[0]:.6g} J at the start, {energy[-1]:.6g} J at the end",
        "residual": f"at most {np.nanmax(trajectory.residual, initial=0.0):.1e}",
        "failed": f"{len(trajectory.failed)} steps without a certified solution",
        "written": str(out),
    }
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, text in rows.items():
        table.add_row(name, text)
    return table


def _draw(trajectory: Trajectory, out: Path) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        console().print("plots     need matplotlib: pip install 'mcpframe\\[report]'")
        return
    from mcpframe.simulation.plots import save_plots

    save_plots(trajectory, out)
