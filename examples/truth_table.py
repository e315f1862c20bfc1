"""Run the systems with known answers and print what is known, what came out, and the tolerance.

    python examples/truth_table.py [--only NAME] [--full] [--markdown FILE]

The systems are those of examples/truth; the tests run them too. --full runs the long ones in full length: the
box on the slope for a minute, stacks for ten seconds, the pendulum of the papers with every solver, every
example scene with `lemke` and `auto`. That takes the better part of an hour. Exit status 1 where an answer is
off.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.progress import track
from rich.table import Table
from truth.answers import SYSTEMS, Answer, System, Way

MODULES = "lcps", "blocks", "balls", "rods", "pendulums", "flights", "loops", "standing", "endurance"
COLUMNS = "system", "quantity", "known", "got", "off by", "tolerance", "because of", "formulation", "solver"


@dataclass(frozen=True)
class Line:
    """One answer of one system, run in one way."""

    system: System
    way: Way
    answer: Answer

    def cells(self) -> tuple[str, ...]:
        """Return what stands in the columns."""
        a = self.answer
        numbers = f"{a.known:.7g}", f"{a.got:.7g}", f"{a.error:.1e}", f"{a.tolerance:.1e}"
        return (self.system.title, a.quantity, *numbers, a.reason, self.way.formulation, self.way.solver)


def main() -> int:
    options = parsed()
    for module in MODULES:
        import_module(f"truth.{module}")
    runs = [run for run in chosen(options.full) if options.only in f"{run[0].title} {run[0].name}"]
    lines = [line for system, way in track(runs, "systems", transient=True) for line in lines_of(system, way)]
    off = [line for line in lines if not line.answer.holds]
    show(lines)
    if options.markdown:
        Path(options.markdown).write_text(markdown(lines))
    Console().print(f"{len(runs)} runs, {len(lines)} answers, {len(off)} off")
    return 1 if off else 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="NAME", help="systems with this in their title or name")
    parser.add_argument("--full", action="store_true", help="the long ones, in full length, and nothing else")
    parser.add_argument("--markdown", metavar="FILE", help="write the table as Markdown too")
    return parser.parse_args()


def chosen(full: bool) -> Iterator[tuple[System, Way]]:
    """Yield the systems with the ways to run them."""
    for system in SYSTEMS:
        if system.has_full or not full:
            yield from ((system, replace(way, full=full)) for way in system.ways)


def lines_of(system: System, way: Way) -> list[Line]:
    start = perf_counter()
    lines = [Line(system, way, answer) for answer in system.answers(way)]
    if way.full:
        failed = sum(not line.answer.holds for line in lines)
        print(
            f"{system.name} {way}: {perf_counter() - start:.0f} s, {failed} off", file=sys.stderr, flush=True
        )
    return lines


def show(lines: list[Line]) -> None:
    table = Table(*COLUMNS)
    for line in lines:
        table.add_row(*line.cells(), style="" if line.answer.holds else "red")
    Console(width=None if sys.stdout.isatty() else 220).print(table)


def markdown(lines: list[Line]) -> str:
    """Return a table with the worst of all ways of every answer."""
    worst: dict[tuple[str, str], Line] = {}
    ways: dict[tuple[str, str], dict[str, None]] = {}
    for line in lines:
        key = line.system.name, line.answer.quantity
        ways.setdefault(key, {})[str(line.way)] = None
        if key not in worst or line.answer.error > worst[key].answer.error:
            worst[key] = line
    head = (
        "| system | quantity | known | got, worst | off by | tolerance | because of | runs |\n|"
        + " --- |" * 8
        + "\n"
    )
    rows = (
        "| " + " | ".join([*line.cells()[:7], ", ".join(ways[key])]) + " |" for key, line in worst.items()
    )
    return head + "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.exit(main())
