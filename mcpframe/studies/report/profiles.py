"""Performance profiles [Dolan, Moré: Benchmarking optimization software with performance profiles, 2002].

With t_ps the time of column s on problem p, infinite where it is not solved, the ratio is
r_ps = t_ps / min_s t_ps, and the profile ρ_s(τ) the share of all problems with r_ps ≤ τ: at τ = 1 how often
the column is fastest, at large τ how many problems it solves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mcpframe.arrays import Array
from mcpframe.studies.report.entries import Clock, Column, Entry

TICK = 1e-9
"""Shortest time that counts [s]: a clock that read zero does not win by an infinite factor."""
FAR = 100.0
"""Ratio up to which the area under a profile is taken."""


@dataclass(frozen=True, eq=False)
class Profile:
    """ρ of one column.

    Attributes:
        ratios: finite ratios to the fastest, sorted [solved].
        problems: how many there are, solved or not.
    """

    ratios: Array
    problems: int

    def share(self, tau: float) -> float:
        """Return ρ(τ)."""
        return float(np.searchsorted(self.ratios, tau, side="right")) / self.problems

    def area(self, far: float = FAR) -> float:
        """Return the mean of ρ over log τ from 1 to `far`: one number to order profiles by."""
        within = np.clip(1.0 - np.log(self.ratios) / math.log(far), 0.0, None)
        return float(np.sum(within)) / self.problems


def profiles(entries: Sequence[Entry], clock: Clock) -> dict[Column, Profile]:
    """Return the profile of every column over all problems of the entries.

    A problem that a column was not run on, or does not take, counts as not solved by it.
    """
    best: dict[str, float] = {}
    for entry in entries:
        best.setdefault(entry.row.case, math.inf)
        if entry.ok:
            best[entry.row.case] = min(best[entry.row.case], _time(entry, clock))
    ratios: dict[Column, list[float]] = {entry.column: [] for entry in entries}
    for entry in entries:
        if entry.ok:
            ratios[entry.column].append(_time(entry, clock) / best[entry.row.case])
    return {column: Profile(np.sort(np.array(values)), len(best)) for column, values in ratios.items()}


def run_by_all(entries: Sequence[Entry]) -> list[Entry]:
    """Keep the problems that every column was run on."""
    columns = {entry.column for entry in entries}
    met: dict[str, int] = {}
    for entry in entries:
        met[entry.row.case] = met.get(entry.row.case, 0) + 1
    return [entry for entry in entries if met[entry.row.case] == len(columns)]


def ranking(curves: dict[Column, Profile]) -> list[Column]:
    """Order columns by the area under their profiles, largest first."""
    return sorted(curves, key=lambda column: (-curves[column].area(), column))


def problems_of(entries: Iterable[Entry]) -> set[str]:
    """Return the problems of the entries."""
    return {entry.row.case for entry in entries}


def _time(entry: Entry, clock: Clock) -> float:
    """Time that a ratio is made of [s]."""
    return max(entry.seconds(clock), TICK)
