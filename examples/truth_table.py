"""Run the systems with known answers: one line per system, with the answer that is nearest to its bound.

    python examples/truth_table.py [--only NAME] [--details] [--full] [--markdown FILE]
                                   [--integrator NAME] [--scheme NAME] [--formulation NAME] [--solver NAME]

The systems are those of examples/truth; the tests run them too. Settings that are named replace those of
every run, so that the same lines judge another integrator, scheme, formulation or solver. --full runs what
takes minutes: other formulations and solvers in full length, stacks for ten seconds, the pendulum of the
papers with every solver, every example scene. Exit status 1 where an answer is off.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import groupby
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table
from truth.answers import SYSTEMS, Answer, System, Way
from truth.page import page

import mcpframe as mf

MODULES = {
    "lcps": "complementarity problems",
    "articulated.spins": "spinning and tumbling",
    "touching.rolling": "rolling and sliding",
    "touching.blocks": "blocks",
    "touching.cones": "round friction cones",
    "touching.balls": "balls",
    "touching.collisions": "impacts",
    "touching.rods": "rods",
    "articulated.pendulums": "pendulums and springs",
    "articulated.chains": "chains",
    "articulated.space_rods": "rods in space",
    "articulated.mechanisms": "mechanisms",
    "articulated.loops": "loops",
    "articulated.drives": "stiff joints",
    "articulated.flights": "free flight",
    "orders": "order and constant",
    "agreement": "formulations",
    "touching.passing": "contacts that pass on",
    "touching.supports": "resting and rocking",
    "touching.standing": "standing",
    "articulated.drifts": "a minute",
    "endurance": "long runs",
}
"""Groups of systems, in the order of the table."""
SETTINGS = "formulation", "solver", "integrator", "scheme"
COLUMNS = "system", "quantity", "known", "got", "off by", "bound", "ok", "runs"


@dataclass(frozen=True)
class Line:
    """One answer of one system, run in one way."""

    system: System
    way: Way
    answer: Answer

    @property
    def rank(self) -> tuple[bool, float]:
        """How much it deserves to be shown: answers that are off first, then those near to their bounds."""
        return not self.answer.holds, self.answer.share

    def cells(self, runs: str) -> tuple[str, ...]:
        """Return what stands in the columns."""
        a = self.answer
        numbers = f"{a.known:.6g}", f"{a.got:.6g}", f"{a.error:.1e}", f"{a.tolerance:.1e}"
        return self.system.title, a.quantity, *numbers, "yes" if a.holds else "NO", runs


def main() -> int:
    options = parsed()
    for module in MODULES:
        import_module(f"truth.{module}")
    SYSTEMS.sort(key=lambda system: list(MODULES).index(system.group))
    start = perf_counter()
    runs = [run for run in chosen(options) if options.only in f"{run[0].title} {run[0].name}"]
    lines = [line for system, ways in runs for line in lines_of(system, ways)]
    rows = lines if options.details else worst(lines)
    off = sum(not line.answer.holds for line in lines)
    show(rows, options.details)
    count = sum(len(ways) for _, ways in runs)
    told = (
        f"{len(runs)} systems, {count} runs, {len(lines)} answers, {off} off, {perf_counter() - start:.0f} s"
    )
    Console().print(told)
    if options.markdown:
        Path(options.markdown).write_text(page(told, table_of(worst(lines)), named(options), options.full))
    return 1 if off or not runs else 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="NAME", help="systems with this in their title or name")
    parser.add_argument("--details", action="store_true", help="every answer of every run")
    parser.add_argument("--full", action="store_true", help="what takes minutes, and nothing else")
    parser.add_argument("--markdown", metavar="FILE", help="write the page of the documentation too")
    for setting in SETTINGS:
        parser.add_argument(f"--{setting}", metavar="NAME", help=f"of all runs: this {setting}")
    return parser.parse_args()


def named(options: argparse.Namespace) -> dict[str, str]:
    """Return the settings that replace those of every run."""
    return {key: getattr(options, key) for key in SETTINGS if getattr(options, key)}


def chosen(options: argparse.Namespace) -> Iterator[tuple[System, list[Way]]]:
    """Yield the systems with the ways to run them, each once; problems that are given have no formulation."""
    for system in SYSTEMS:
        ways = system.full_ways if options.full else system.ways
        if ways and "given" not in {way.formulation for way in ways}:
            ways = tuple(replace(way, full=options.full, **named(options)) for way in ways)
        if ways and system.missing:
            print(f"left out: {system.title}, which needs {system.missing}", file=sys.stderr)
        elif ways:
            yield system, list(dict.fromkeys(ways))


def lines_of(system: System, ways: Sequence[Way]) -> list[Line]:
    """Run a system in several ways, and tell when it is done."""
    start = perf_counter()
    lines = [Line(system, way, answer) for way in ways for answer in answered(system, way)]
    off = sum(not line.answer.holds for line in lines)
    verdict = f"{off} of {len(lines)} off" if off else f"{len(lines)} answers"
    print(f"{perf_counter() - start:6.1f} s  {system.title}: {verdict}", file=sys.stderr, flush=True)
    return lines


def answered(system: System, way: Way) -> list[Answer]:
    """Return the answers of a run; one that ends in an error has that for an answer."""
    answers: list[Answer] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # energy that grows is an answer here
            answers.extend(system.answers(way))
    except (mf.McpframeError, ArithmeticError, np.linalg.LinAlgError) as error:
        answers.append(Answer(f"stopped: {error}", 0.0, np.nan, 0.0, "runs end"))
    return answers


def worst(lines: Sequence[Line]) -> list[Line]:
    """Return the line of every system that is off most, or nearest to its bound."""
    return [max(group, key=lambda line: line.rank) for _, group in groupby(lines, lambda line: line.system)]


def show(lines: Sequence[Line], details: bool) -> None:
    """Print the table, group by group."""
    table = Table(*COLUMNS)
    for group, members in groupby(lines, lambda line: line.system.group):
        table.add_section()
        table.add_row(f"[bold]{MODULES[group]}[/bold]")
        for line in members:
            style = "" if line.answer.holds else "red"
            table.add_row(*(short(cell, details) for cell in line.cells(str(line.way))), style=style)
    Console(width=None if sys.stdout.isatty() else 220).print(table)


def short(cell: str, details: bool) -> str:
    """Return a cell that keeps its line, unless details are asked for."""
    return cell if details or len(cell) <= 60 else cell[:59] + "…"


def table_of(lines: Sequence[Line]) -> str:
    """Return the table as Markdown, a heading for every group."""
    parts: list[str] = []
    for group, members in groupby(lines, lambda line: line.system.group):
        parts += [f"## {MODULES[group].capitalize()}", "", "| " + " | ".join(COLUMNS) + " |"]
        parts += ["|" + " --- |" * len(COLUMNS)]
        parts += [
            "| " + " | ".join(cell.replace("|", "\\|") for cell in row(line)) + " |" for line in members
        ]
        parts += [""]
    return "\n".join(parts)


def row(line: Line) -> tuple[str, ...]:
    """Return the cells of a line, what is known written behind its name."""
    cells = line.cells(str(line.way))
    return f"{cells[0]}: {line.system.formula}", *(short(cell, False) for cell in cells[1:])


if __name__ == "__main__":
    sys.exit(main())
