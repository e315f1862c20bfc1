"""Figures of a study in a page of the documentation: between its marks stand machine, commit and tables."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

BEGIN, END = "<!-- figures:begin -->", "<!-- figures:end -->"


class Remembering(Console):
    """A console that keeps the tables it prints.

    Attributes:
        page: of the documentation that gets them; none where it is empty.
    """

    def __init__(self, page: str = "", **settings: Any) -> None:
        super().__init__(**settings)
        self.page = page
        self.tables: list[Table] = []

    def print(self, *objects: Any, **settings: Any) -> None:
        """Print, and keep what is a table."""
        self.tables += [thing for thing in objects if isinstance(thing, Table)]
        super().print(*objects, **settings)

    def put(self, facts: Mapping[str, str]) -> None:
        """Put what was printed into the page, where there is one."""
        if self.page:
            told = ", ".join(f"{name} {value}" for name, value in facts.items())
            put_figures(
                Path(self.page), "\n\n".join([f"`{command()}`: {told}.", *map(markdown, self.tables)])
            )
            self.print(f"tables in {self.page}")


def command() -> str:
    """Return the command that is running, without its output files; folders of this machine are DIR."""
    words = iter(sys.argv[1:])
    kept = [word for word in words if word not in ("--page", "--json") or not next(words)]
    told = ["DIR" if Path(word).is_absolute() else word for word in kept]
    return " ".join(["python", "/".join(Path(sys.argv[0]).parts[-3:]), *told])


def markdown(table: Table) -> str:
    """Return a table as Markdown, its title above and its note below."""
    columns = [[_plain(cell) for cell in column.cells] for column in table.columns]
    heads = [_plain(column.header) for column in table.columns]
    lines = [heads, ["---"] * len(heads), *zip(*columns, strict=True)]
    rows = "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
    title, note = (_plain(text or "") for text in (table.title, table.caption))
    return "\n\n".join(part for part in (title and f"**{title}**", rows, note) if part)


def _plain(text: Any) -> str:
    return (text if isinstance(text, Text) else Text.from_markup(str(text))).plain.replace("\n", " ")


def put_figures(page: Path, text: str) -> None:
    """Replace what stands between the marks of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{page}: has no {BEGIN} ... {END}")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")
