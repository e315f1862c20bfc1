"""Piles of discs and spheres with exact friction cones: processor time and residual, by kind and size.

    python examples/benchmarks/piles.py [--quick] [--kinds gap,touch] [--most CONTACTS] [--seconds S]

Kinds are those of `mcpframe.problem.piles`; each solve by `cone` in a process of its own, to 1e-8 (settled
piles to 1e-6) by the framework's judge and within --seconds of wall time. What is not solved stays in the
table, with how it ended. Settled piles are made by forty steps of their own motion, not in the time.
Writes out/bench/piles.json and, with --page, the table to that page of the documentation.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

from measuring.apart import ERROR, call, doing
from reporting.study import opening, parser, save_figures
from rich.table import Table

import mcpframe as mf
from mcpframe.problem.piles import KINDS, pile_problem

CELLS = (
    ("gap", 2, 2000, 0.1), ("gap", 2, 10_000, 1.0), ("gap", 2, 50_000, 3.0), ("gap", 3, 9000, None),
    ("gap", 3, 50_000, 6.0), ("touch", 2, 2000, None), ("touch", 3, 9500, 5.0), ("shaken", 2, 700, None),
    ("shaken", 3, 600, None), ("settled", 2, 700, None), ("settled", 2, 2000, None),
    ("settled", 3, 2000, None),
)  # fmt: skip
"""Kind, dimension, about how many contacts, and processor time [s] aimed at, where there is an aim."""
TOL, SETTLED_TOL = 1e-8, 1e-6
QUICK, MOST = 500, 60_000
LIMIT = 120.0
"""Seconds of a solve."""
OVER = 6.0
"""Times its limit that a process may take in all: settled piles are made step by step."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    made = parser(__doc__, LIMIT)
    made.add_argument("--kinds", default=",".join(KINDS))
    made.add_argument("--most", type=int, default=MOST, help="contacts above which a pile is left out")
    options = made.parse_args(arguments)
    console, facts = opening("Piles", page=options.page)
    figures: list[dict[str, Any]] = []
    for kind, dim, contacts, aim in CELLS:
        if kind not in options.kinds.split(",") or contacts > options.most:
            continue
        n = min(contacts, QUICK) if options.quick else contacts
        found = call(
            "piles:measure", OVER * options.seconds, kind=kind, dim=dim, contacts=n, limit=options.seconds
        )
        figures.append({"kind": kind, "dim": dim, "contacts": n, "aim": aim, **found})
    console.print(table(figures))
    save_figures(console, Path(options.out), "piles", facts, cells=figures)
    return 0


def measure(kind: str, dim: int, contacts: int, limit: float) -> dict[str, Any]:
    """Solve one pile; return its size, how it ended, and processor time [s]."""
    problem = pile_problem(kind, contacts, dim, solve=lambda step: mf.solve(step, "cone", tol=SETTLED_TOL).z)
    mf.solve(pile_problem("gap", 700), "cone", tol=TOL)  # all that is loaded once
    doing("solving")
    clock = process_time()
    tol = SETTLED_TOL if kind == "settled" else TOL
    solution = mf.solve(problem, "cone", tol=tol, time_limit=limit)
    return {
        "seconds": process_time() - clock,
        "contacts": problem.n_c,
        "status": solution.status.name,
        "residual": solution.scaled_residual,
        "iterations": solution.iterations,
        "method": solution.method,
        "message": solution.message,
    }


def table(cells: Sequence[dict[str, Any]]) -> Table:
    """Return a row per pile."""
    shown = Table(title="solver cone: processor time and judged residual", title_justify="left")
    shown.add_column("pile")
    for head in ("contacts", "s", "aim, s", "residual"):
        shown.add_column(head, justify="right")
    shown.add_column("how")
    for cell in cells:
        name, aim = f"{cell['kind']} {cell['dim']}D", cell["aim"]
        wanted = "" if aim is None else f"{aim:g}"
        if ERROR in cell:
            shown.add_row(name, f"{cell['contacts']:,}", "", wanted, "", str(cell[ERROR]))
            continue
        ended = cell["method"] if cell["status"] == "SOLVED" else cell["status"]
        numbers = f"{cell['contacts']:,}", f"{cell['seconds']:.2g}", wanted, f"{cell['residual']:.0e}"
        shown.add_row(name, *numbers, ended)
    return shown


if __name__ == "__main__":
    raise SystemExit(main())
