"""Solvers on large sparse problems: processor time and memory, by solver.

    python examples/benchmarks/scale.py [--quick] [--sizes 10000,100000] [--solvers newton,ipm] [--seconds S]

Obstacle problem, journal bearing and American option (`subjects/sparse.py`), each solve in a process of its
own, to 1e-8, within --seconds of wall time and --memory gigabytes. What is not solved stays in the table,
with how it ended. Memory is the peak of the whole process, some 200 MB of which are Python and its libraries.
Writes out/bench/scale.json after every solve; --resume takes over what stands there. With --page the tables
go to that page of the documentation.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measuring.apart import ERROR, call
from reporting.study import numbers, opening, parser, save_figures
from rich.table import Table
from subjects.sparse import PROBLEMS

SOLVERS = "newton", "ipm", "qp", "pgs", "auto", "path", "lemke"
SIZES, QUICK = (10_000, 100_000, 1_000_000), (400,)
LIMIT = 120.0
"""Seconds of a solve."""
OVER = 4.0
"""Times its limit that a process may take in all: it makes the problem, and its last step may be long."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    made = parser(__doc__, LIMIT)
    made.add_argument("--sizes", type=numbers, default=None, help="numbers of unknowns")
    made.add_argument("--solvers", default=",".join(SOLVERS))
    made.add_argument("--memory", type=float, default=8.0, help="gigabytes that a process may ask for")
    made.add_argument("--resume", action="store_true", help="keep the cells of the last run")
    options = made.parse_args(arguments)
    sizes = options.sizes or (QUICK if options.quick else SIZES)
    console, facts = opening("Large sparse problems", page=options.page)
    known = Path(options.out) / "scale.json"
    cells: list[dict[str, Any]] = json.loads(known.read_text())["cells"] if options.resume else []
    for problem in PROBLEMS:
        for n in sizes:
            for solver in options.solvers.split(","):
                place = {"problem": problem, "size": n, "solver": solver}
                if any(place.items() <= cell.items() for cell in cells):
                    continue
                limits = {"limit": options.seconds, "memory": options.memory}
                found = call(
                    "subjects.sparse:measure",
                    OVER * options.seconds,
                    problem=problem,
                    n=n,
                    solver=solver,
                    **limits,
                )
                cells.append({**place, **found})
                save_cells(known, facts, cells)
        console.print(table(problem, [cell for cell in cells if cell["problem"] == problem]))
    save_figures(console, Path(options.out), "scale", facts, cells=cells)
    return 0


def save_cells(path: Path, facts: dict[str, str], cells: list[dict[str, Any]]) -> None:
    """Write what has been measured so far."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"header": facts, "cells": cells}, indent=1))


def table(problem: str, cells: Sequence[dict[str, Any]]) -> Table:
    """Return time and memory of every solver at every size that was measured."""
    sizes = sorted({cell["size"] for cell in cells})
    shown = Table(title=f"{problem}: processor time, memory", title_justify="left")
    shown.add_column("solver")
    for n in sizes:
        shown.add_column(f"n = {n:,}", justify="right")
    for solver in dict.fromkeys(cell["solver"] for cell in cells):
        own = {cell["size"]: cell for cell in cells if cell["solver"] == solver}
        shown.add_row(solver, *(words(own[n]) if n in own else "" for n in sizes))
    return shown


def words(cell: dict[str, Any]) -> str:
    """Return one cell: time and memory of what was solved, else how it ended."""
    if ERROR in cell:
        return str(cell[ERROR])
    if cell["status"] != "SOLVED":
        return str(cell["status"])
    return f"{cell['seconds']:.2g} s, {cell['megabytes']:.0f} MB"


if __name__ == "__main__":
    raise SystemExit(main())
