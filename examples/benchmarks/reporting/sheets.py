"""Tables that can be printed on a terminal, in colours, and as Markdown, without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text


@dataclass(frozen=True)
class Sheet:
    """A table of texts; the first column is to the left, the others are to the right.

    Attributes:
        rows: may have the colours of rich in them.
        note: a sentence below.
    """

    title: str
    columns: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    note: str = ""

    def for_terminal(self) -> Table:
        """Return the table of rich."""
        table = Table(
            title=self.title, title_justify="left", caption=self.note or None, caption_justify="left"
        )
        for k, column in enumerate(self.columns):
            table.add_column(column, justify="right" if k else "left", no_wrap=not k)
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        """Return the table as Markdown, its title as a sentence above."""
        lines = [f"{self.title}:", "", _line(self.columns), _line(["---"] * len(self.columns))]
        lines += [_line([Text.from_markup(cell).plain for cell in row]) for row in self.rows]
        return "\n".join(lines + (["", self.note] if self.note else [])) + "\n"


def show(console: Console, sheets: Sequence[Sheet], markdown: Path | None) -> None:
    """Print the tables, or write them to a file of Markdown and print that."""
    if markdown is None:
        for sheet in sheets:
            console.print(sheet.for_terminal())
        return
    text = "\n".join(sheet.markdown() for sheet in sheets)
    markdown.parent.mkdir(parents=True, exist_ok=True)
    markdown.write_text(text, encoding="utf-8")
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
