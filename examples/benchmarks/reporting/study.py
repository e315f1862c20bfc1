"""What the studies of dynamics share: the command line, the heading, the file of figures."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from measuring.solvers import header
from reporting.pages import Remembering
from rich.console import Console

OUT = Path("out/bench")
WIDTH = 150
"""Columns of text, at least: tables that are cut off tell nothing."""


def parser(description: str | None, seconds: float = 0.0) -> argparse.ArgumentParser:
    """Return a command line with the options of every study.

    Args:
        description: the help text.
        seconds: default time to spend; no such option if zero.
    """
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--quick", action="store_true", help="few and small sizes, a fraction of the time")
    if seconds:
        made.add_argument("--seconds", type=float, default=seconds, help="time to spend, see above")
    made.add_argument("--out", default=str(OUT), help="folder for the results")
    made.add_argument(
        "--page", default="", metavar="FILE", help="page of the documentation that gets the tables"
    )
    return made


def numbers(text: str) -> list[int]:
    """Return whole numbers separated by commas."""
    return [int(number) for number in text.split(",") if number]


def opening(title: str, peers: Sequence[str] = (), page: str = "") -> tuple[Remembering, dict[str, str]]:
    """Print and return what the figures depend on: machine, commit, versions; peers that are missing too.

    The console puts its tables into the page, where there is one, as soon as the figures are saved.
    """
    console = Remembering(page, width=max(Console().width, WIDTH))
    facts = header(peers)
    console.print(f"[bold]{title}[/bold]  " + ", ".join(f"{name} {value}" for name, value in facts.items()))
    return console, facts


def write(console: Remembering, out: Path, name: str, facts: dict[str, str], **figures: object) -> None:
    """Write all figures, times in seconds, and say where they and the plot are."""
    save_figures(console, out, name, facts, **figures)
    console.print(f"plot in {out}/{name}.png")


def save(out: Path, name: str, facts: dict[str, str], **figures: object) -> None:
    """Write figures to a file of that name."""
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.json").write_text(json.dumps({"header": facts, **figures}, indent=1))


def save_figures(
    console: Remembering, out: Path, name: str, facts: dict[str, str], **figures: object
) -> None:
    """Write all figures, times in seconds, and say where they are."""
    save(out, name, facts, **figures)
    console.print(f"figures in {out}/{name}.json")
    console.put(facts)
