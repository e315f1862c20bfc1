"""Every robot of example-robot-data: dropped on the floor under PD, and falling freely with its dampers.

    python examples/benchmarks/robot_zoo.py [--quick] [--only NAME] [--kinds drop,free] [--limit 60]
                                            [--shown FILE]

`drop`: with a floating base, its lowest point 5 cm above the floor, motors holding its posture, 0.3 s in
steps of 1 ms. Links whose shapes (convex hulls of meshes) overlap at the start never meet, unless
--keep-overlaps. `free`: spinning through empty space for 1 s; what potential energy it gives up must be found
in motion, in dampers and in impacts with joint limits.

Each robot has a process of its own, killed after --limit seconds of processor time. Robots that fail stay in
the tables, with the reason. Writes out/bench/robot_zoo.json; --markdown writes the tables to robot_zoo.md,
--page into a page of the documentation. --shown runs nothing and shows the tables of such a file.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from measuring.apart import ERROR, call
from measuring.run_facts import in_words
from reporting.sheets import Sheet, show
from reporting.study import opening, parser, save_figures
from rich.console import Console
from subjects.chains import robot_files

DURATIONS = {"drop": 0.3, "free": 1.0}
"""Simulated seconds."""
QUICK_DURATION = 0.005
QUICK = ("double_pendulum/double_pendulum_simple", "simple_humanoid/simple_humanoid_classical")
LIMIT = 60.0
"""Seconds of processor time that a robot may take, all in."""

Row = Mapping[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    options = parse(arguments)
    console, facts = opening("Robot zoo", ("example-robot-data",), options.page)
    if options.shown:
        figures = json.loads(Path(options.shown).read_text())
        show(console, [SHEETS[kind](figures[kind]) for kind in options.kinds], None)
        console.put(figures["header"])
        return 0
    files = chosen(options.only)
    if not files:
        console.print("no robots: is the example-robot-data package installed, and the name right?")
        return 2
    rows = {kind: run_all(console, kind, files, options) for kind in options.kinds}
    out = Path(options.out)
    sheets = [SHEETS[kind](table) for kind, table in rows.items()]
    show(console, sheets, out / "robot_zoo.md" if options.markdown else None)
    save_figures(console, out, "robot_zoo", facts, **rows)
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    line = parser(__doc__)
    line.add_argument("--only", action="append", default=[], help="robots whose name has this in it, or fits")
    line.add_argument("--kinds", default="drop,free", help="what to do with them")
    line.add_argument(
        "--limit", type=float, default=LIMIT, help="seconds of processor time for a robot, all in"
    )
    line.add_argument("--keep-overlaps", action="store_true", help="let links meet that overlap at the start")
    line.add_argument("--markdown", action="store_true", help="write the tables as Markdown")
    line.add_argument("--shown", default="", metavar="FILE", help="show the figures of an earlier run")
    options = line.parse_args(arguments)
    options.kinds = options.kinds.split(",")
    if unknown := set(options.kinds) - set(DURATIONS):
        line.error(f"--kinds {', '.join(sorted(unknown))}: there are {', '.join(DURATIONS)}")
    if options.quick and not options.only:
        options.only = list(QUICK)
    return options


def chosen(patterns: Sequence[str]) -> dict[str, Path]:
    """Return the files of robots whose name has any of the texts in it, or fits any of the patterns."""
    files = {in_brief(name): file for name, file in robot_files().items()}
    return {
        name: file
        for name, file in files.items()
        if not patterns or any(text in name or fnmatch(name, text) for text in patterns)
    }


def in_brief(name: str) -> str:
    """Return the name of a robot without the words that all of them have."""
    return name.replace("_description", "").removesuffix(".urdf")


def run_all(
    console: Console, kind: str, files: Mapping[str, Path], options: argparse.Namespace
) -> dict[str, dict[str, Any]]:
    """Return the figures of all robots, telling each as it comes."""
    duration = QUICK_DURATION if options.quick else DURATIONS[kind]
    more = {"keep_overlaps": options.keep_overlaps} if kind == "drop" else {}
    rows: dict[str, dict[str, Any]] = {}
    for k, (name, file) in enumerate(files.items(), start=1):
        row = call(TARGETS[kind], options.limit, file=str(file), duration=duration, **more)
        rows[name] = {ERROR: row[ERROR].replace(f"{file}: ", "")} if ERROR in row else row
        told = in_short(SHEETS[kind]({name: rows[name]}))
        console.print(f"{kind} {k}/{len(files)} {told}", markup=False, highlight=False, soft_wrap=True)
    return rows


def in_short(sheet: Sheet) -> str:
    """Return the one row of a table as a line."""
    cells = zip(sheet.columns[1:], sheet.rows[0][1:], strict=True)
    return ", ".join([sheet.rows[0][0], *(f"{title} {cell}" for title, cell in cells if cell != "-")])


def drop_sheet(rows: Mapping[str, Row]) -> Sheet:
    """Return what became of robots that were dropped."""
    columns = ["robot", "dofs", "kg", "µs/step", "shapes", "contacts", "impacts", "start, mm (pairs)"]
    columns += ["overlap, mm", "loops", "energy, J", "gain, J", "certificate", "failed steps"]
    note = "Start: largest overlap of two links, and how many pairs overlap. Energy: with the PD's springs, "
    note += (
        "from start to end; gain: its largest rise above the start. Every step is certified; the certificate "
    )
    note += "is the worst."
    return Sheet("Dropped from 5 cm, PD holding the posture", columns, lines(rows, drop_cells, columns), note)


def drop_cells(row: Row) -> list[str]:
    """Return the cells of a robot that was dropped."""
    return [
        f"{row['dofs']}",
        f"{row['mass']:.3g}",
        f"{1e6 * row['seconds']:.0f}",
        f"{row['shapes']}",
        f"{row['contacts']:.1f}",
        f"{row['impacts']}",
        f"{1e3 * row['start_overlap']:.2g} ({len(row['overlapping'])})",
        f"{1e3 * row['overlap']:.2g}",
        f"{row['loops']:.0e}",
        f"{row['energy_change']:.3g}",
        f"{row['energy_gain']:.2g}",
        f"{row['certificate']:.0e}",
        f"{in_words(row['failed'])} of {row['steps']}",
    ]


def free_sheet(rows: Mapping[str, Row]) -> Sheet:
    """Return the balance of energies of free falls."""
    columns = ["robot", "dofs", "µs/step", "potential, J", "kinetic, J", "dampers, J", "limits, J", "impacts"]
    columns += ["left, %", "certificate", "failed steps"]
    note = (
        "Left: potential given up less kinetic gained and lost in dampers and limits, of the most kinetic; "
    )
    note += "steps of first order leave 0.1 % in 1 s. Every step is certified; the certificate is the worst."
    return Sheet("Free fall", columns, lines(rows, free_cells, columns), note)


def free_cells(row: Row) -> list[str]:
    """Return the cells of a robot that fell freely."""
    energies = [f"{row[name]:.4g}" for name in ("potential", "kinetic", "dampers", "limits")]
    start = [f"{row['dofs']}", f"{1e6 * row['seconds']:.0f}"]
    end = [f"{100 * row['left']:.3f}", f"{row['certificate']:.0e}", in_words(row["failed"])]
    return [*start, *energies, f"{row['limit_impacts']}", *end]


def lines(rows: Mapping[str, Row], cells: Any, columns: Sequence[str]) -> list[list[str]]:
    """Return a line per robot; those that failed have their reason in the last column."""
    empty = ["-"] * (len(columns) - 2)
    return [[name, *([*empty, row[ERROR]] if ERROR in row else cells(row))] for name, row in rows.items()]


SHEETS = {"drop": drop_sheet, "free": free_sheet}
TARGETS = {"drop": "measuring.zoo:drop", "free": "measuring.zoo:free_fall"}

if __name__ == "__main__":
    raise SystemExit(main())
