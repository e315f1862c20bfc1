"""What mcpframe is for, in a minute or two: a robot lands, Table 2 of J14, solvers compared on its like.

    python examples/demo.py [--out out/demo] [--study examples/studies/demo.toml]

Every answer is certified by the framework. Ends with the name of the report to open.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from studies.table2 import EXAMPLES, PUBLISHED, STUDY, as_mapping, filled, show, simulated

import mcpframe as mf
from mcpframe.studies.report import write_report
from mcpframe.studies.report.results import Results as Summary
from mcpframe.studies.report.verdict import verdict
from mcpframe.studies.running.runner import Results
from mcpframe.studies.study.store import FILE_NAME
from mcpframe.view.strip import save_strip

SCENE = EXAMPLES / "scenes" / "quadruped_lands.toml"
MOMENTS = (0.0, 0.22, 0.3, 0.4, 0.6, 1.0)
"""Of the landing, s: in the air, one foot down, all four, sliding, at rest."""
PLAY = "play it: mcpframe view"
SWAP = '"lemke"', '"path"'
"""The word to change next, and what to."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both studies and the simulations; write one report of all."""
    options, console = parsed(arguments), Console()
    console.rule("A robot lands")
    picture = land(options.out / "robot", console)
    console.rule("Table 2 of J14: formulations of one step, the same solver")
    table2 = run(options.table2, options.out / "table2")
    asked = {row.labels["links"] for row in table2.rows}
    links = [number for number in PUBLISHED if number in asked]
    tables = [*filled(table2.header["published"], table2.rows), simulated(links)]
    for table in tables:
        show(table)
    console.rule("Solvers on contact problems of systems in motion")
    solvers = run(options.study, options.out / "solvers")
    console.print(" ".join(verdict(Summary.of(solvers.rows, solvers.header))), highlight=False)
    page = write_report(
        solvers.rows, solvers.header, solvers.folder, [as_mapping(table) for table in tables]
    )  # beside the rows, so that links to the problems that were saved hold
    console.print()
    console.print(f"Open [bold]{page}[/bold] in a browser.", soft_wrap=True)
    console.print(f"The robot is in [bold]{picture}[/bold]; {PLAY} {picture.parent}", soft_wrap=True)
    console.print(f"Then {next_step(options.study)}", soft_wrap=True, highlight=False)
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    own = EXAMPLES / "studies" / "demo.toml"
    parser.add_argument("--out", type=Path, default=Path("out/demo"), help="folder for the results")
    parser.add_argument("--study", type=Path, default=own, help="study of solvers to run")
    parser.add_argument("--table2", type=Path, default=STUDY, help="study of formulations to run")
    return parser.parse_args(arguments)


def land(folder: Path, console: Console) -> Path:
    """Simulate a quadruped that is thrown and lands, say what came of it, and return a picture."""
    run = mf.simulate(mf.load_scene(SCENE), out=folder, overwrite=True, progress=True)
    console.print(
        f"{run.time[-1]:g} s, {len(run.impacts)} impacts, up to {run.n_contacts.max()} contacts at once; "
        f"bodies overlap by {run.penetration.max():.1e} m at most, every solve is certified.",
        highlight=False,
    )
    return save_strip(run, folder / "landing.png", times=MOMENTS)


def run(study: Path, folder: Path) -> Results:
    """Run a study anew: its file may have been changed since the rows in the folder were made."""
    if (folder / FILE_NAME).is_file():
        shutil.rmtree(folder)
    return mf.run_study(study, out=folder, progress=True)


def next_step(study: Path) -> str:
    """Return what to try next: the other solver, whichever the file has now."""
    there, other = SWAP if SWAP[0] in study.read_text() else SWAP[::-1]
    place = study.relative_to(Path.cwd()) if study.is_relative_to(Path.cwd()) else study
    return f"change {there} to {other} in {place}, and run it again: one word swaps a solver."


if __name__ == "__main__":
    raise SystemExit(main())
