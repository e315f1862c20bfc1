"""Figures of merit of a column: rates of success and of right claims, mean times, growth with size.

Success and correctness are two numbers: a solver that says "I could not" is right and has no success, one
that claims what does not hold is worse than both. The page computes the same figures for what its filters
leave; `template/metrics.js` mirrors this file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mcpframe.studies.report.entries import (
    CRASHED,
    FAILED,
    FALSE_CLAIM,
    OUTCOMES,
    SOLVED,
    TIME_LIMIT,
    UNSUPPORTED,
    Clock,
    Column,
    Entry,
)

SHIFT = 1e-4
"""Shift of the geometric mean [s]; contact problems take microseconds to milliseconds, so differences far
below a tenth of a millisecond should not decide. (Benchmarks of optimisers, with seconds to hours, use 1 to
10 s.)"""
FEWEST_SIZES = 3
"""Different sizes that an exponent needs; through two points every line fits."""

MOST_SIZES, SIZE_CLASSES = 24, 16
"""Different sizes that a drawing can show, and into how many classes more of them are put."""


@dataclass(frozen=True)
class Rates:
    """How one column did.

    Attributes:
        total: problems tried, those that the solver does not take among them.
        unsupported: problems of a class that the solver does not take; they are no failures.
        solved: certified in every repeat.
        false_claims: claimed solved, but are not.
        crashed: the solver, or its process, died.
        time_limit: stopped by the clock.
        failed: ended without a solution and said so.
        right: claims that agree with the certificate.
        claims: claims made; a crash makes none.
        median: median time of the solved [s], NaN where there is none.
        mean: shifted geometric mean time, failures at the penalty [s], NaN where nothing was taken.
    """

    total: int
    unsupported: int
    solved: int
    false_claims: int
    crashed: int
    time_limit: int
    failed: int
    right: int
    claims: int
    median: float
    mean: float

    @property
    def taken(self) -> int:
        """Problems that the solver takes."""
        return self.total - self.unsupported

    @property
    def success(self) -> float:
        """Share solved of those taken; NaN where none was."""
        return self.solved / self.taken if self.taken else math.nan

    @property
    def correctness(self) -> float:
        """Share of right claims; NaN where none was made."""
        return self.right / self.claims if self.claims else math.nan


@dataclass(frozen=True)
class Fit:
    """Time = factor · size^exponent, least squares of the logarithms over the medians of every size.

    Attributes:
        exponent: slope in the log-log plane.
        factor: time at size 1 [s].
        lowest: smallest size of the fit.
        highest: largest size of the fit.
        count: different sizes.
        r2: share of the variance of log time that the line explains.
    """

    exponent: float
    factor: float
    lowest: int
    highest: int
    count: int
    r2: float


def rates(entries: Sequence[Entry], clock: Clock, penalty: float, shift: float = SHIFT) -> Rates:
    """Count and average the entries of one column.

    Args:
        entries: of one column.
        clock: which time counts.
        penalty: time of a failure in the mean [s].
        shift: of the geometric mean [s].
    """
    count = dict.fromkeys(OUTCOMES, 0)
    for entry in entries:
        count[entry.outcome] += 1
    taken = [entry for entry in entries if entry.outcome != UNSUPPORTED]
    times = [entry.seconds(clock) for entry in taken if entry.ok]
    claimed = [entry.row for entry in taken if entry.row.claim]
    return Rates(
        total=len(entries),
        unsupported=count[UNSUPPORTED],
        solved=count[SOLVED],
        false_claims=count[FALSE_CLAIM],
        crashed=count[CRASHED],
        time_limit=count[TIME_LIMIT],
        failed=count[FAILED],
        right=sum(row.claim_right for row in claimed),
        claims=len(claimed),
        median=median(times),
        mean=shifted_geometric_mean(times + [penalty] * (len(taken) - len(times)), shift),
    )


def by_column(entries: Iterable[Entry]) -> dict[Column, list[Entry]]:
    """Sort entries into their columns."""
    columns: dict[Column, list[Entry]] = {}
    for entry in entries:
        columns.setdefault(entry.column, []).append(entry)
    return columns


def shifted_geometric_mean(seconds: Sequence[float], shift: float = SHIFT) -> float:
    """Return exp(mean(log(t + s))) − s; NaN of nothing."""
    if not seconds:
        return math.nan
    return float(np.exp(np.mean(np.log(np.asarray(seconds) + shift))) - shift)


def median(values: Sequence[float]) -> float:
    """Return the median; NaN of nothing."""
    return float(np.median(values)) if values else math.nan


def medians_by_size(sizes: Sequence[int], seconds: Sequence[float]) -> dict[int, float]:
    """Return the median time at every size, smallest size first."""
    groups: dict[int, list[float]] = {}
    for size, value in zip(sizes, seconds, strict=True):
        groups.setdefault(size, []).append(value)
    return {size: median(groups[size]) for size in sorted(groups)}


def in_classes(medians: dict[int, float]) -> list[tuple[float, float]]:
    """Return sizes and times to draw; of many sizes, the medians of classes of equal ratio."""
    points = [(float(size), value) for size, value in sorted(medians.items()) if size > 0]
    if len(points) <= MOST_SIZES:
        return points
    low, high = math.log(points[0][0]), math.log(points[-1][0])
    groups: dict[int, list[tuple[float, float]]] = {}
    for point in points:
        place = int(SIZE_CLASSES * (math.log(point[0]) - low) / (high - low))
        groups.setdefault(min(place, SIZE_CLASSES - 1), []).append(point)
    return [(median([p[0] for p in own]), median([p[1] for p in own])) for own in groups.values()]


def fit_exponent(medians: dict[int, float]) -> Fit | None:
    """Fit time = factor · size^exponent to positive medians; None with fewer than three different sizes."""
    points = [(size, value) for size, value in sorted(medians.items()) if size > 0 and value > 0.0]
    if len(points) < FEWEST_SIZES:
        return None
    x, y = np.log(np.array(points, dtype=float)).T
    exponent = float((x - x.mean()) @ (y - y.mean()) / ((x - x.mean()) @ (x - x.mean())))
    offset = float(y.mean() - exponent * x.mean())
    spread = float((y - y.mean()) @ (y - y.mean()))
    left = float(np.sum((y - offset - exponent * x) ** 2))
    return Fit(
        exponent=exponent,
        factor=math.exp(offset),
        lowest=points[0][0],
        highest=points[-1][0],
        count=len(points),
        r2=1.0 - left / spread if spread > 0.0 else 1.0,
    )
