"""The grid of a study: formulations against solvers, or systems where there is only one formulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mcpframe.studies.report.entries import Entry
from mcpframe.studies.report.metrics import Rates, rates
from mcpframe.studies.report.results import Results, unique


@dataclass(frozen=True)
class Grid:
    """What was solved where formulation and solver meet.

    Attributes:
        what: a row is: "formulation" or "system".
        rows, columns: their names.
        cells: by row and column; none where nothing was run.
    """

    what: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Mapping[tuple[str, str], Rates]


def grid(results: Results) -> Grid | None:
    """Return the grid; None where one row or one column would be all of it."""
    formulations = unique(column.formulation for column in results.columns)
    starts = {column.start for column in results.columns}

    def across(entry: Entry) -> str:
        solver, start = entry.row.solver, entry.row.start
        return f"{solver} · {start}" if len(starts) > 1 else solver

    what, down = _rows(formulations)
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in results.entries:
        groups.setdefault((down(entry), across(entry)), []).append(entry)
    rows = formulations if what == "formulation" else sorted({row for row, _ in groups})
    columns = sorted({column for _, column in groups})
    if min(len(rows), len(columns)) < 2:
        return None
    cells = {place: rates(own, results.clock, results.penalty) for place, own in groups.items()}
    return Grid(what, rows, columns, cells)


def _rows(formulations: Sequence[str]) -> tuple[str, Callable[[Entry], str]]:
    if len(formulations) > 1:
        return "formulation", lambda entry: entry.row.formulation
    return "system", lambda entry: entry.family
