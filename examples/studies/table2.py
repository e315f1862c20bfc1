"""Table 2 of J14 whole: sizes, speed-ups, and how fast the pendulum is simulated.

    python examples/studies/table2.py [--out out/table2_j14] [--nmc-os]

Runs examples/studies/table2_j14.toml, simulates 5 s of the pendulum at every number of links of the paper,
and writes one report. --nmc-os simulates in free links too, which takes a minute.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

import mcpframe as mf
from mcpframe.studies.report import write_report
from mcpframe.studies.report.entries import merge
from mcpframe.studies.report.published import Published, tables_of

EXAMPLES = Path(__file__).parents[1]
STUDY, SCENE = EXAMPLES / "studies" / "table2_j14.toml", EXAMPLES / "scenes" / "pendulum_j14.toml"
PUBLISHED = {
    3: (0.63, 2.20),
    6: (1.0, 4.44),
    12: (1.88, 15.7),
    15: (2.91, 33.59),
    24: (4.76, 127.94),
    30: (5.13, 257.72),
}
"""Seconds that 5 s of simulation took, with os and with nmc_os [J14, Table 2]."""
DURATION = 5.0
WARM_UP = 0.01
"""Seconds simulated before the clock starts: kernels are loaded."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study and the simulations, print both tables, name the report."""
    options = parsed(arguments)
    results = mf.run_study(STUDY, out=options.out, progress=True)
    names = ("os", "nmc_os") if options.nmc_os else ("os",)
    tables = [*filled(results.header["published"], results.rows), simulated(PUBLISHED, names)]
    for table in tables:
        show(table)
    page = write_report(results.rows, results.header, results.folder, [as_mapping(table) for table in tables])
    Console().print(f"report     {page}  (open it in a browser)")
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", default="out/table2_j14", help="folder of the study and its report")
    parser.add_argument("--nmc-os", action="store_true", help="simulate with nmc_os as well")
    return parser.parse_args(arguments)


def simulated(links: Iterable[int], formulations: Sequence[str] = ("os",)) -> Published:
    """Return how much time is simulated in a second, beside the published figures."""
    columns = ["links"]
    for name in formulations:
        columns += [f"{name}, published", f"ours, {name}"]
    rows = []
    for n in track(list(links), "simulating 5 s of the pendulum", transient=True):
        speeds = [[DURATION / PUBLISHED[n][k], speed(n, name)] for k, name in enumerate(formulations)]
        rows.append([n, *(value for pair in speeds for value in pair)])
    return Published.of(
        {
            "title": "Simulated seconds per second of wall clock",
            "columns": columns,
            "rows": rows,
            "source": f"J14, section 8 and Table 2: {DURATION:g} s in steps of 1 ms, impacts and all, lemke.",
        }
    )


def speed(links: int, formulation: str) -> float:
    """Return the seconds of the pendulum's motion that are simulated in one second."""
    scene = mf.load_scene(SCENE, {"model.options.links": links, "formulation.name": formulation})
    mf.simulate(scene.with_stepping(duration=WARM_UP))
    scene = scene.with_stepping(duration=DURATION)
    clock = perf_counter()
    mf.simulate(scene)
    return DURATION / (perf_counter() - clock)


def filled(published: Any, rows: Sequence[Any]) -> list[Published]:
    """Return published tables with our columns read from the rows of a study."""
    return [table.filled(merge(rows)) for table in tables_of(published)]


def as_mapping(table: Published) -> dict[str, Any]:
    """Return a table as `write_report` takes it."""
    return {name: getattr(table, name) for name in ("title", "columns", "rows", "source")}


def show(table: Published) -> None:
    """Print a table."""
    console, printed = Console(), Table()
    for column in table.columns:
        printed.add_column(column, justify="right")
    for row in table.rows:
        printed.add_row(*row)
    console.print(f"[bold]{table.title}[/bold]", printed, table.source, "", sep="\n", highlight=False)


if __name__ == "__main__":
    raise SystemExit(main())
