"""``mcpframe compare``: one scene with several formulations, solvers and steps; plots and a table."""

from __future__ import annotations

import csv
import importlib.util
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from mcpframe.arrays import Array
from mcpframe.commands import completion
from mcpframe.commands.terminal import AllowCode, console, read_pairs
from mcpframe.exceptions import OptionError
from mcpframe.io.trust import Code

if TYPE_CHECKING:
    from mcpframe.scene.scene import Scene
    from mcpframe.view.comparison import Comparison  # kernels are loaded when a scene is run

COMPARE_EPILOG = """
Examples:

    mcpframe compare pendulum_j14.toml --out compared

    mcpframe compare pendulum_j14.toml --links 3 --solver lemke --solver path --dt 1e-3 --out solvers

Without --formulation, --solver and --dt: os and nmc_os, with the scene's step and with that twice and four
times. The folder gets comparison.png (as figure 6 of J14: A. Jain, Contact dynamics formulation using minimal
coordinates, 2014), comparison.csv and one folder for each run, which mcpframe view plays.
"""
FORMULATIONS = ("os", "nmc_os")
STEPS = (4.0, 2.0, 1.0)
"""What is compared unless something else is asked for; steps over the scene's own."""
QUANTITIES = {"height": "m", "velocity": "m/s"}

SceneFile = Annotated[Path, typer.Argument(metavar="SCENE", help="TOML file of the scene.")]
Out = Annotated[Path, typer.Option(help="Folder for the plot, the table and the runs; must not hold runs.")]
Formulations = Annotated[
    list[str] | None,
    typer.Option(
        "--formulation",
        metavar="NAME",
        autocompletion=completion.formulations,
        help="Formulation by name; repeatable.",
    ),
]
Solvers = Annotated[
    list[str] | None,
    typer.Option(
        "--solver", metavar="NAME", autocompletion=completion.solvers, help="Solver by name; repeatable."
    ),
]
Steps = Annotated[
    list[float] | None, typer.Option("--dt", metavar="SECONDS", help="Length of a step; repeatable.")
]
Duration = Annotated[float | None, typer.Option(help="Simulated time, s; the scene's unless given.")]
Links = Annotated[int | None, typer.Option(help="Number of links, where the scene's model has that option.")]
Collisions = Annotated[int, typer.Option(min=0, help="How many collisions the table goes through.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Start anew where there are runs already.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of the scene's stepping; repeatable."),
]


def compare(
    scene: SceneFile,
    out: Out,
    formulations: Formulations = None,
    solvers: Solvers = None,
    dts: Steps = None,
    duration: Duration = None,
    links: Links = None,
    collisions: Collisions = 6,
    settings: Changes = None,
    overwrite: Overwrite = False,
    allow_code: AllowCode = False,
) -> None:
    """Run a scene with several formulations, solvers and steps, and compare the motions of the last link."""
    from mcpframe.view.comparison import compare_runs

    if out.exists() and not out.is_dir():
        raise OptionError(f"--out {out}: is a file; give a folder")
    changes, code = read_pairs("--set", settings), Code.of_command(allow_code)
    loaded = _scene(scene, links, code).with_stepping(**changes)
    loaded = loaded if duration is None else loaded.with_stepping(duration=duration)
    if not formulations and not solvers:
        formulations = list(FORMULATIONS)
    steps = dts or [factor * loaded.stepping.dt for factor in STEPS]
    plugins, seen = (formulations or (), solvers or ()), sys.stderr.isatty()
    compared = compare_runs(loaded, *plugins, steps, out, seen, overwrite, _tell if seen else None)
    for k, quantity in enumerate(QUANTITIES):
        console().print(_table(compared, collisions, k, quantity))
    _write(compared, collisions, out / "comparison.csv")
    _draw(compared, out / "comparison.png")
    if any(len(run.trajectory.failed) for run in compared.runs):
        raise typer.Exit(1)


def _scene(path: Path, links: int | None, code: Code) -> Scene:
    """Return the scene of a file, with another number of links in its text, if one is asked for."""
    from mcpframe.scene.scene_file import load_scene, parse_scene

    if links is None:
        return load_scene(path, allow_code=code)
    text = load_scene(path, allow_code=code).text
    changed, n = re.subn(r"(?m)^([^#\n]*\blinks\s*=\s*)\d+", rf"\g<1>{links}", text)
    if n != 1:
        raise OptionError(f"--links {links}: {path} gives no number of links, or several")
    return parse_scene(changed, path.parent, str(path), allow_code=code)


def _table(compared: Comparison, n: int, k: int, quantity: str) -> Table:
    """Return the largest distances in one quantity, a row for each pair; then orders."""
    title = escape(f"last link: largest distance in {quantity} [{QUANTITIES[quantity]}] before collision")
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", *(str(i) for i in range(1, n + 1)), "end of run"):
        table.add_column(heading, justify="left" if not heading else "right")
    for pair in compared.same_step + compared.same_setting:
        table.add_row(pair.label, *(_cell(value, ".1e") for value in pair.largest(n)[k]))
    for setting, order in compared.orders(n).items():
        name = f"{setting}, order in dt" if setting else "order in dt"
        table.add_row(name, *(_cell(p, ".2f") for p in order[k, :n]), "-")  # in the end there are jumps too
    return table


def _tell(label: str) -> None:
    print(label, file=sys.stderr)


def _cell(value: float, form: str) -> str:
    return format(value, form) if np.isfinite(value) else "-"


def _write(compared: Comparison, n: int, path: Path) -> None:
    """Write what the tables say, a row for each number."""
    rows: list[tuple[str, Array]] = [
        (p.label, p.largest(n)) for p in compared.same_step + compared.same_setting
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["runs", "quantity", "unit", "before collision", "largest distance"])
        for label, largest in rows:
            for (quantity, unit), values in zip(QUANTITIES.items(), largest, strict=True):
                for i, value in enumerate(values, start=1):
                    writer.writerow(
                        [label, quantity, unit, i if i <= n else "end of run", repr(float(value))]
                    )


def _draw(compared: Comparison, path: Path) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        console().print("plots need matplotlib: pip install 'mcpframe\\[report]'")
        return
    from mcpframe.view.comparison_plots import save_comparison

    console().print(f"written to {save_comparison(compared, path).parent}")
