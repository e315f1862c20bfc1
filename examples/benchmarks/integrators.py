"""Integrators on twelve systems: error against work, and energy for a minute, at four steps.

    python examples/benchmarks/integrators.py [--quick] [--cost] [--only NAME] [--page FILE]

Every system (`subjects/systems.py`) is run with `midpoint`, `semi_implicit_euler` and `rk4` at 4, 2, 1 and
1/2 ms, event-driven, `os` with `lemke`. The error is the largest at the end of its motion, work is the
processor's time of the engine's steps, the least of some runs, per simulated second; order is that of the two
shortest steps. Energy is followed for 60 s: the largest change where it stays, the largest growth where it is
dissipated, both as shares of the energy that moves. A run that ends early stays in the tables with the time
at which it did. What a step costs (`measuring/integrator_cost.py`) is a table of its own, --cost prints it
alone. Writes out/bench/integrators.json, two plots beside it, and, with --page, tables and plots to that page
of the documentation, between its marks.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import math
import sys
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from measuring.integrator_cost import costs
from plots.integrators import plot_energy, plot_work
from reporting.pages import put_figures
from reporting.study import opening, parser, save_figures
from rich.console import Console
from subjects.systems import Subject, subjects

import mcpframe as mf
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.simulate import RunStoppedError
from mcpframe.simulation.stops import NoMotionError

INTEGRATORS = "midpoint", "semi_implicit_euler", "rk4"
STEPS = 4e-3, 2e-3, 1e-3, 5e-4
MINUTE, QUICK = 60.0, 1.0
REPEATS = 5
CURVE = 300
"""Points of an energy curve that are kept."""
EXACT = 1e-10
"""Errors below which an order means nothing: certified residuals of some thousand steps."""


@dataclass
class Cell:
    """One system with one integrator and step.

    Attributes:
        error: at the end of the motion; NaN where it was not reached.
        work: microseconds per simulated second.
        energy: share by which energy is wrong within a minute; infinite where it is no number.
        ended: why and when a run ended early, in words; empty where none did.
        curve: times and shares of the run of a minute.
    """

    system: str
    integrator: str
    dt: float
    error: float = math.nan
    work: float = math.nan
    energy: float = math.nan
    ended: str = ""
    curve: tuple[list[float], list[float]] = field(default=([], []))


def main() -> int:
    options = arguments()
    console, facts = opening("Integrators")
    prices = costs(INTEGRATORS)
    console.print(f"\nCost of a step\n{cost_table(prices)}", soft_wrap=True, markup=False)
    if options.cost:
        return 0
    chosen = [subject for subject in subjects() if options.only in subject.name]
    cells = [cell for subject in chosen for cell in measured(subject, options.quick, console)]
    for title, table in tables(cells).items():
        console.print(f"\n{title}\n{table}", soft_wrap=True, markup=False)
    out = Path(options.out)
    save_figures(console, out, "integrators", facts, costs=prices, cells=[asdict(cell) for cell in cells])
    folder = Path(options.page).parent if options.page else out
    plot_work(cells, folder / "integrators_work.png")
    plot_energy(cells, folder / "integrators_energy.png")
    if options.page:
        put_figures(Path(options.page), figures(cells, prices, facts))
    return 0 if cells else 1


def arguments() -> argparse.Namespace:
    made = parser(__doc__)
    made.add_argument("--only", default="", metavar="NAME", help="systems with this in their name")
    made.add_argument("--cost", action="store_true", help="what a step costs, and nothing else")
    return made.parse_args()


def measured(subject: Subject, quick: bool, console: Console) -> list[Cell]:
    """Return the cells of a system."""
    steps = STEPS[1:3] if quick else STEPS
    cells = [Cell(subject.name, integrator, dt) for integrator in INTEGRATORS for dt in steps]
    for cell in cells:
        follow(subject, cell, QUICK if quick else MINUTE)
    for _ in range(REPEATS):  # in turns, so that what else the machine does meets all of them
        for cell in cells:
            if np.isfinite(cell.error):
                cell.work = float(np.fmin(cell.work, work(subject, cell)))
    console.print(subject.name, style="dim")
    return cells


def follow(subject: Subject, cell: Cell, long: float) -> None:
    """Run the motion for its error, then a minute for its energy."""
    scene, way = subject.motion.scene, {"integrator": cell.integrator, "dt": cell.dt}
    run, cell.ended = tried(scene, duration=subject.motion.duration, **way)
    if not cell.ended:
        cell.error = subject.motion.error(run)
    run, ended = tried(scene, duration=long, **way)
    cell.ended = cell.ended or ended
    with np.errstate(all="ignore"):
        shares = subject.lost(run)
    cell.energy = float(shares[-1]) if np.isfinite(shares[-1]) else math.inf
    kept = np.unique(np.linspace(0, len(run) - 1, CURVE).astype(int))
    cell.curve = run.time[kept].tolist(), shares[kept].tolist()


def work(subject: Subject, cell: Cell) -> float:
    """Return the microseconds of the processor that steps of the motion take, per simulated second."""
    scene = subject.motion.scene.with_stepping(integrator=cell.integrator, dt=cell.dt)
    engine, state = Engine(scene), scene.initial_state()
    engine.advance(state, 0, 1)  # what it makes room for at first
    steps = round(subject.motion.duration / cell.dt) - 1
    clock = process_time()
    engine.advance(state, 1, steps)
    return 1e6 * (process_time() - clock) / (steps * cell.dt)


def tried(scene: mf.Scene, **stepping: object) -> tuple[mf.Trajectory, str]:
    """Return a run, or what there is of it and why it ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tables tell
        try:
            return mf.simulate(scene, **stepping), ""
        except RunStoppedError as error:
            return error.trajectory, f"not solved at {error.trajectory.time[-1]:.3g} s"
        except NoMotionError as error:
            kept: Any = error.trajectory
            return kept, f"no numbers at {kept.time[-1]:.3g} s"


def tables(cells: Sequence[Cell]) -> dict[str, str]:
    """Return the tables as Markdown, by title."""
    steps = sorted({cell.dt for cell in cells}, reverse=True)
    heads = [f"{1e3 * dt:g} ms" for dt in steps]
    rows = {
        (cell.system, cell.integrator): [c for c in cells if (c.system, c.integrator) == key]
        for cell in cells
        for key in [(cell.system, cell.integrator)]
    }
    errors = [[*key, *map(error_text, row), order_text(row), work_text(row)] for key, row in rows.items()]
    energies = [[*key, *map(energy_text, row)] for key, row in rows.items()]
    head = ["system", "integrator", *heads]
    return {
        "Error at the end of the motion, order, and work": markdown(
            [*head, "order", "µs per simulated s, 1 ms"], errors
        ),
        "Energy in 60 s": markdown(head, energies),
    }


def cost_table(prices: dict[str, dict[str, float]]) -> str:
    """Return the cost of a step, and its ratio to that of semi_implicit_euler."""
    rows = [
        [name, *(f"{cost:.2f} ({cost / each['semi_implicit_euler']:.2f})" for cost in each.values())]
        for name, each in prices.items()
    ]
    return markdown(["µs per step (of semi_implicit_euler)", *INTEGRATORS], rows)


def error_text(cell: Cell) -> str:
    return f"{cell.error:.1e}" if np.isfinite(cell.error) else cell.ended or "no number"


def energy_text(cell: Cell) -> str:
    shown = f"{cell.energy:.1e}" if np.isfinite(cell.energy) else "no number"
    return f"{shown}; {cell.ended}" if cell.ended else shown


def order_text(row: Sequence[Cell]) -> str:
    one, two = (cell.error for cell in row[-2:])
    if not (np.isfinite(one) and np.isfinite(two)):
        return "-"
    return f"{math.log2(one / two):.1f}" if two > EXACT else "exact"


def work_text(row: Sequence[Cell]) -> str:
    return next((f"{cell.work:.0f}" for cell in row if cell.dt == 1e-3 and np.isfinite(cell.work)), "-")


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; the name of a system stands in its first row alone."""
    lines, last = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)], ""
    for row in rows:
        name, last = ("" if row[0] == last else row[0]), row[0]
        lines.append("| " + " | ".join([name, *row[1:]]) + " |")
    return "\n".join(lines)


def figures(cells: Sequence[Cell], prices: dict[str, dict[str, float]], facts: dict[str, str]) -> str:
    """Return what stands between the marks of the page."""
    told = ", ".join(f"{name} {facts[name]}" for name in ("machine", "commit", "python", "numba"))
    parts = [
        f"`make bench-integrators`: {told}.",
        "![Error against work on twelve systems](integrators_work.png)",
        "![Energy over a minute on twelve systems](integrators_energy.png)",
    ]
    for title, table in ({"Cost of a step": cost_table(prices)} | tables(cells)).items():
        parts += [f"### {title}", table]
    return "\n\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())
