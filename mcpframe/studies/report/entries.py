"""Rows become entries: the repeats of one solve merged, named by the column that they belong to.

A column of a study is a (formulation, solver, start). An entry is one problem in one column: solved where
every repeat was certified, its times the smallest over the repeats, each clock by itself, since all that
disturbs a clock makes it run longer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from mcpframe.studies.sources.source import GIVEN
from mcpframe.studies.study.row import Row

SOLVED, FALSE_CLAIM, CRASHED, TIME_LIMIT, FAILED, UNSUPPORTED = OUTCOMES = (
    *("solved", "false claim", "crashed", "time limit", "failed"),
    "unsupported",
)
"""How an entry ended: certified; claimed but not so; ...; stopped without a claim; not its class."""
MERGED = "minimum over the repeats"
Clock = Literal["solve", "total"]
CLOCKS: dict[Clock, str] = {"solve": "solve", "total": "build + solve + recover"}


class Column(NamedTuple):
    """One thing compared: a solver with its settings, on one formulation, from one kind of start."""

    formulation: str
    solver: str
    start: str


@dataclass(frozen=True)
class Entry:
    """One problem in one column.

    Attributes:
        row: the first repeat that was not certified; where all were, the one with the largest residual.
        build: smallest build time over the repeats [s].
        solve: smallest solve time [s].
        recover: smallest recovery time [s].
        repeats: how often it was solved.
        failures: how many of them were not certified.
    """

    row: Row
    build: float
    solve: float
    recover: float
    repeats: int
    failures: int

    @property
    def column(self) -> Column:
        """Where it stands."""
        return Column(self.row.formulation, self.row.solver, self.row.start)

    @property
    def outcome(self) -> str:
        """How it ended, one of OUTCOMES."""
        return outcome_of(self.row)

    @property
    def ok(self) -> bool:
        """Whether every repeat was certified."""
        return self.row.ok

    @property
    def family(self) -> str:
        """The system that it is of, or the source where nothing is said of a system."""
        return self.row.source if self.row.system == GIVEN else self.row.system

    def seconds(self, clock: Clock) -> float:
        """Time that counts [s]: inside the solver, or building and recovery with it."""
        return self.solve if clock == "solve" else self.build + self.solve + self.recover


def outcome_of(row: Row) -> str:
    """Say how a row ended; a false claim is one whatever else went wrong."""
    if row.ok:
        return SOLVED
    if row.claim == "SOLVED":
        return FALSE_CLAIM
    return {"UNSUPPORTED": UNSUPPORTED, "CRASHED": CRASHED, "TIME_LIMIT": TIME_LIMIT}.get(row.status, FAILED)


def merge(rows: Iterable[Row]) -> list[Entry]:
    """Merge the repeats of every solve; entries are sorted by problem, then by column."""
    groups: dict[tuple[str, Column], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.case, Column(row.formulation, row.solver, row.start)), []).append(row)
    return [_merged(groups[key]) for key in sorted(groups)]


def _merged(repeats: Sequence[Row]) -> Entry:
    """Merge the repeats of one solve."""
    failed = [row for row in repeats if not row.ok]
    return Entry(
        row=min(failed, key=lambda row: row.repeat) if failed else max(repeats, key=lambda row: row.residual),
        build=_smallest(row.build_seconds for row in repeats),
        solve=_smallest(row.solve_seconds for row in repeats),
        recover=_smallest(row.recover_seconds for row in repeats),
        repeats=len(repeats),
        failures=len(failed),
    )


def _smallest(seconds: Iterable[float]) -> float:
    """Return the smallest finite time; zero where nothing was measured."""
    return min((value for value in seconds if math.isfinite(value)), default=0.0)
