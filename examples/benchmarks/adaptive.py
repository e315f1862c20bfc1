"""Adaptive bodies: what steps, choices and collisions cost, and how far runs are from full ones [G06].

    python examples/benchmarks/adaptive.py [--quick] [--only PART ...] [--page FILE]

Cables of n links with d active joints, one thread; readings in turns: ratios are medians of those of pairs,
times the least, those of runs in processor time. Figures that were asked for stand beside.

    steps      kinematics and free acceleration of a hybrid body, by n and d
    choices    choosing, by a sweep or by pieces, and writing the clusters, in full sweeps
    runs       cables that swing and that lie on eight bars, in the compiled loop, beside all joints active
    contacts   what a collision costs, by active joints (n = 300) [G06, figure 7]
    accuracy   300 links of 2 cm that swing for 2 s beside the full run, by active joints and interval
    patience   the same by patience and damping
    pegs       the scene of that name beside the full run, by interval and patience
    branches   the net by active joints and damping, and beside itself with half the dt
    scenes     the scenes of examples/scenes/adaptive beside full runs [G06, figures 4 to 6]
    problems   contact problems of full and hybrid bodies in the same states

Writes out/bench/adaptive.json, part by part; a run goes on with parts that are there of the same commit.
"""

from __future__ import annotations

import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measuring.adaptive_costs import Rows, choices, contacts, runs, steps
from measuring.adaptive_runs import accuracy, branches, patience, pegs, problems, scenes
from reporting.study import opening, parser, save, save_figures
from rich.console import Console
from rich.table import Table

COSTS, RUNS = (steps, choices, runs, contacts), (accuracy, patience, pegs, branches, scenes, problems)
Part = Callable[[bool], tuple[list[str], Rows]]
PARTS: dict[str, Part] = {part.__name__: part for part in (*COSTS, *RUNS)}


def show(console: Console, title: str, head: Sequence[str], rows: Rows) -> None:
    """Print a table."""
    table = Table(*head, title=title)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = parser(__doc__)
    options.add_argument("--only", choices=PARTS, nargs="+", help="some parts")
    chosen = options.parse_args(arguments)
    console, facts = opening("adaptive bodies", page=chosen.page)
    facts |= {"quick": "yes"} if chosen.quick else {}
    warnings.simplefilter("ignore")  # runs that are not resolved say so in every scene
    out = Path(chosen.out)
    tables = measured(out, facts)
    for name, part in PARTS.items():
        if chosen.only is None or name in chosen.only:
            table = tables.get(name) or measure(part, chosen.quick)
            show(console, table["title"], table["head"], table["rows"])
            tables = measured(out, facts) | tables | {name: table}
            save(out, "adaptive", facts, **tables)
    save_figures(console, out, "adaptive", facts, **tables)
    return 0


def measure(part: Part, quick: bool) -> dict[str, Any]:
    """Measure a part."""
    head, rows = part(quick)
    return {"title": (part.__doc__ or "").rstrip("."), "head": head, "rows": rows}


def measured(out: Path, facts: dict[str, str]) -> dict[str, Any]:
    """Return the tables that are there of this machine and commit, none where files have changed since."""
    file = out / "adaptive.json"
    if facts["commit"].endswith("-dirty") or not file.exists():
        return {}
    kept: dict[str, Any] = json.loads(file.read_text())
    return kept if kept.pop("header") == facts else {}


if __name__ == "__main__":
    sys.exit(main())
