"""Published figures beside ours: a table as it is given, and columns that are read from the study's rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcpframe.exceptions import OptionError, nearest
from mcpframe.papers import in_full
from mcpframe.studies.report.entries import Entry
from mcpframe.studies.report.ours import Ours, line
from mcpframe.studies.report.wording import NOTHING, number

KEYS = ("title", "columns", "rows", "source", "by", "ours")


@dataclass(frozen=True)
class Published:
    """A table: the first column names the line, columns that begin with "ours" stand out.

    Attributes:
        by: label, or property of a row, whose value the first cell of a line is; for the columns `ours`.
        keys: the first cells, as values.
        ours: columns that `filled` puts behind the given ones.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    source: str
    by: str = ""
    keys: tuple[object, ...] = ()
    ours: tuple[Ours, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Published:
        """Check a table given as a mapping."""
        _check_keys(given)
        columns = tuple(str(name) for name in given["columns"])
        rows = tuple(tuple(_cell(value) for value in row) for row in given["rows"])
        for k, row in enumerate(rows):
            if len(row) != len(columns):
                raise OptionError(f"published: row {k} has {len(row)} cells for {len(columns)} columns")
        return cls(
            title=str(given.get("title", "Published figures")),
            columns=columns,
            rows=rows,
            source=str(given.get("source", "")),
            by=str(given.get("by", "")),
            keys=tuple(row[0] for row in given["rows"]),
            ours=tuple(Ours.of(column) for column in given.get("ours", ())),
        )

    def check_labels(self, labels: Mapping[str, Sequence[str]]) -> None:
        """Refuse a column of ours that asks for what the study does not have.

        Args:
            labels: of the study, by what they label: formulation, solver, source.
        """
        for column in self.ours:
            for choice in (column, column.over or column):
                for key, known in labels.items():
                    name = getattr(choice, key)
                    if name is not None and name not in known:
                        raise OptionError(
                            f"ours: {key} = {name!r} is not in this study;{nearest(name, known)} "
                            f"it has {', '.join(known)}"
                        )

    def filled(self, entries: Sequence[Entry]) -> Published:
        """Return the table with our columns read from the entries of a study."""
        if not self.ours:
            return self
        lines = [line(entries, self.by, key) for key in self.keys]
        rows = tuple(
            (*row, *(column.cell(own) for column in self.ours))
            for row, own in zip(self.rows, lines, strict=True)
        )
        columns = (*self.columns, *(column.column for column in self.ours))
        return replace(self, columns=columns, rows=rows, ours=())

    def look(self, k: int) -> str:
        """Return the class of the cells in a column."""
        return "text" if k == 0 else "bold" if self.columns[k].lower().startswith("ours") else ""


def tables_of(published: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None) -> list[Published]:
    """Return the tables of one mapping or several, or none."""
    if published is None:
        return []
    return [Published.of(each) for each in ([published] if isinstance(published, Mapping) else published)]


def named_in_full(tables: Sequence[Published]) -> list[Published]:
    """Return tables whose sources name every paper in full where it comes first."""
    sources = in_full(table.source for table in tables)
    return [replace(table, source=source) for table, source in zip(tables, sources, strict=True)]


def _check_keys(given: Mapping[str, Any]) -> None:
    for key in given:
        if key not in KEYS:
            raise OptionError(
                f"published: unknown key {key!r};{nearest(key, KEYS)} keys are {', '.join(KEYS)}"
            )
    needed = ("columns", "rows", "by") if given.get("ours") else ("columns", "rows")
    missing = [key for key in needed if key not in given]
    if missing:
        raise OptionError(f"published: {missing[0]!r} is missing; keys are {', '.join(KEYS)}")


def _cell(value: object) -> str:
    if value is None or value == "":
        return NOTHING
    return number(value) if isinstance(value, float) else str(value)
