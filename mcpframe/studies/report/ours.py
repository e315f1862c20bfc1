"""Our figures in a table of published ones: what to read from the entries of a study, line by line."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from mcpframe.exceptions import OptionError
from mcpframe.scene.settings import Settings
from mcpframe.studies.report.entries import Entry
from mcpframe.studies.report.metrics import median
from mcpframe.studies.report.wording import NOTHING, number, percent, time

Figure = Literal["time", "build", "solve", "recover", "rows", "iterations", "residual", "solved"]

FIGURES: dict[str, Callable[[Entry], float]] = {
    "time": lambda entry: entry.seconds("total"),
    "build": lambda entry: entry.build,
    "solve": lambda entry: entry.solve,
    "recover": lambda entry: entry.recover,
    "rows": lambda entry: float(entry.row.n),
    "iterations": lambda entry: float(entry.row.iterations),
    "residual": lambda entry: entry.row.scaled_residual,
    "solved": lambda entry: float(entry.ok),
}
"""What is read of one entry."""
SECONDS = ("time", "build", "solve", "recover")
COUNTED = ("rows", "solved")
"""Figures of all entries; the others are of those that were solved."""


class Choice(Settings):
    """Which entries are meant: those that agree in all that is said."""

    formulation: str | None = Field(None, description="label of a formulation")
    solver: str | None = Field(None, description="label of a solver")
    start: Literal["cold", "warm"] | None = Field(None, description="cold or warm")
    source: str | None = Field(None, description="name of a source of problems")
    system: str | None = Field(None, description="what the problems come from")

    def chosen(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return the entries that are meant."""
        said = {key: value for key, value in dict(self).items() if key in Choice.model_fields and value}
        return [entry for entry in entries if all(getattr(entry.row, key) == said[key] for key in said)]


class Ours(Choice):
    """A column of our own figures: the median over the problems of a line, or of ratios, problem by problem.

    A ratio is taken on the problems that both sides solve.
    """

    column: str = Field(description="its heading")
    figure: Figure = Field("time", description="what is shown; time is that to build, solve and recover")
    over: Choice | None = Field(None, description="show the ratio to the same figure of these entries")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Ours:
        """Check a column given as a mapping."""
        over = given.get("over")
        if over is not None and not isinstance(over, Mapping):
            raise OptionError(f'over = {over!r}: a table is expected, as over = {{ formulation = "os" }}')
        return cls(**{**given, "over": None if over is None else Choice(**over)})

    def cell(self, entries: Sequence[Entry]) -> str:
        """Return what a line shows, of the entries of that line."""
        values = self._values(self.chosen(entries))
        if self.over is not None:
            below = self._values(self._other().chosen(entries))
            ratios = [values[case] / below[case] for case in values if below.get(case)]
            return number(median(ratios))
        return self._written(list(values.values()))

    def _other(self) -> Choice:
        """Return the other side of a ratio: as this one, but for what `over` says."""
        assert self.over is not None
        said = {key: value for key, value in dict(self.over).items() if value is not None}
        return Choice(**{**{key: getattr(self, key) for key in Choice.model_fields}, **said})

    def _values(self, entries: Sequence[Entry]) -> dict[str, float]:
        """Return the median by problem, over the columns that are meant."""
        found: dict[str, list[float]] = {}
        for entry in entries:
            if entry.ok or self.figure in COUNTED:
                found.setdefault(entry.row.case, []).append(FIGURES[self.figure](entry))
        return {case: median(values) for case, values in found.items()}

    def _written(self, values: Sequence[float]) -> str:
        if not values:
            return NOTHING
        if self.figure == "rows":
            low, high = int(min(values)), int(max(values))
            return str(low) if low == high else f"{low} to {high}"
        if self.figure == "solved":
            return f"{percent(math.fsum(values) / len(values))} %"
        middle = median(values)
        if self.figure == "residual":
            return f"{middle:.1e}"
        return time(middle) if self.figure in SECONDS else number(middle)


def line(entries: Sequence[Entry], by: str, value: object) -> list[Entry]:
    """Return the entries of a line: those whose label, or property of the row, has a value."""
    return [entry for entry in entries if _property(entry, by) == value]


def _property(entry: Entry, name: str) -> object:
    return entry.row.labels.get(name, getattr(entry.row, name, None) if name in Choice.model_fields else None)
