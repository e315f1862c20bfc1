"""What a report is made from: the entries of a study, its columns with their names and looks, its clock."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from mcpframe.exceptions import ProblemError
from mcpframe.studies.report.entries import Clock, Column, Entry, merge
from mcpframe.studies.report.facets import Facet, facets
from mcpframe.studies.report.metrics import Rates, by_column, median, rates
from mcpframe.studies.report.profiles import Profile, profiles
from mcpframe.studies.study.row import Row
from mcpframe.view.palette import COLOURS, MARKERS

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
GIVEN = "given"
"""Formulation of problems that come as (M, q)."""
UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
"""Units of time and how many seconds each is, longest first."""


@dataclass(frozen=True)
class Look:
    """How a column is drawn, wherever it is drawn."""

    colour: str
    marker: str
    dash: str


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """The entries of one study.

    Attributes:
        header: of the study: machine, versions, settings.
        entries: one per problem and column, repeats merged.
    """

    header: Mapping[str, Any]
    entries: Sequence[Entry]

    def __repr__(self) -> str:
        return f"Results({self.header.get('name', '')!r}, entries={len(self.entries)})"

    @classmethod
    def of(cls, rows: Sequence[Row], header: Mapping[str, Any]) -> Results:
        """Merge the rows of a study."""
        if not rows:
            raise ProblemError("report: the study has no rows yet; run it first")
        return cls(header, merge(joined(rows)))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns, smallest formulation first, then by solver and start."""
        sizes: dict[str, list[float]] = {}
        for entry in self.entries:
            sizes.setdefault(entry.row.formulation, []).append(float(entry.row.n))
        size = {name: median(values) for name, values in sizes.items()}
        return tuple(sorted(self.by_column, key=lambda column: (size[column.formulation], *column)))

    @cached_property
    def by_column(self) -> dict[Column, list[Entry]]:
        """The entries of every column."""
        return by_column(self.entries)

    @cached_property
    def clock(self) -> Clock:
        """The time that counts: with building and recovery where formulations are compared."""
        formulations: dict[str, set[str]] = {}
        for entry in self.entries:
            formulations.setdefault(entry.row.case, set()).add(entry.row.formulation)
        return "total" if any(len(names) > 1 for names in formulations.values()) else "solve"

    @cached_property
    def penalty(self) -> float:
        """Time of a failure in means [s]: the time limit, or the longest time seen where there is none."""
        limit = self.header.get("time_limit")
        if isinstance(limit, int | float) and math.isfinite(limit) and limit > 0:
            return float(limit)
        return max(entry.seconds("total") for entry in self.entries)

    @cached_property
    def rates(self) -> dict[Column, Rates]:
        """How every column did."""
        return {column: rates(self.by_column[column], self.clock, self.penalty) for column in self.columns}

    @cached_property
    def profiles(self) -> dict[Column, Profile]:
        """The performance profile of every column."""
        return profiles(self.entries, self.clock)

    @cached_property
    def facets(self) -> list[Facet]:
        """The labels of the entries, in classes."""
        return facets(self.entries)

    @cached_property
    def best_first(self) -> list[Column]:
        """Columns by share of all problems solved, then by mean time."""
        solved = {column: self.rates[column].solved for column in self.columns}
        return sorted(self.columns, key=lambda column: (-solved[column], _last(self.rates[column].mean)))

    @cached_property
    def unit(self) -> tuple[str, float]:
        """Unit in which most times of this study are easy to read, and how many seconds it is."""
        typical = median([entry.seconds(self.clock) for entry in self.entries if entry.ok])
        return next((unit for unit in UNITS if typical >= unit[1]), UNITS[-1])

    def name(self, column: Column) -> str:
        """Name a column by those of its parts that differ within the study."""
        parts = [part for k, part in enumerate(column) if len(self._values[k]) > 1]
        return " · ".join(parts) or column.solver

    @cached_property
    def looks(self) -> dict[Column, Look]:
        """How every column is drawn.

        Colours tell the property with most values; where all three differ, markers tell the second and
        dashes the third, else markers go with colours and dashes tell the second.
        """
        order = sorted(range(3), key=lambda k: -len(self._values[k]))
        first, second, third = order
        every = len(self._values[third]) > 1
        looks = {}
        for column in self.columns:
            place = [self._values[k].index(column[k]) for k in range(3)]
            colour, marker = place[first], place[second if every else first]
            dash = place[third if every else second] + colour // len(COLOURS)
            looks[column] = Look(
                COLOURS[colour % len(COLOURS)], MARKERS[marker % len(MARKERS)], DASHES[dash % len(DASHES)]
            )
        return looks

    @cached_property
    def _values(self) -> tuple[list[str], list[str], list[str]]:
        """Formulations, solvers and starts, each once, in the order of the columns."""
        formulations, solvers, starts = (unique(column[k] for column in self.columns) for k in range(3))
        return formulations, solvers, starts


def joined(rows: Sequence[Row]) -> Sequence[Row]:
    """Join given problems with those of the formulation, where there is one: solvers meet both."""
    others = {row.formulation for row in rows} - {GIVEN}
    if len(others) != 1 or all(row.formulation != GIVEN for row in rows):
        return rows
    name = f"{others.pop()} + {GIVEN}"
    return [replace(row, formulation=name) for row in rows]


def unique(values: Iterable[str]) -> list[str]:
    """Return every value once, in order of first appearance."""
    return list(dict.fromkeys(values))


def _last(mean: float) -> float:
    """Put a mean of nothing behind all others."""
    return mean if mean == mean else math.inf
