"""Time several ways to do the same in turns, all readings or the least; fit how a time grows with a size.

On a machine with other work every reading is too long by what it met. Short readings often meet nothing; in
turns, all contestants meet the same machine, so that ratios hold even where times do not.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Name = TypeVar("Name", bound=Hashable)
Run = Callable[[int], object]
"""Does something as often as it is told."""

READING = 3e-4
"""Seconds that one reading lasts: enough for the clock, little enough to slip between other work."""
LEAST_ROUNDS = 5
"""Rounds that are made however long they take."""


def repeated(call: Callable[[], object]) -> Run:
    """Return a run that calls from Python, with what the interpreter adds."""

    def run(count: int) -> None:
        for _ in range(count):
            call()

    return run


def in_turns(runs: Mapping[Name, Run], seconds: float) -> dict[Name, NDArray[np.float64]]:
    """Return the times of one call of every run in many rounds, in which all take turns.

    Args:
        runs: by name.
        seconds: to spend on all of them together; `LEAST_ROUNDS` are made however long they take.
    """
    counts = {name: _count(run) for name, run in runs.items()}
    rounds: list[list[float]] = []
    end = perf_counter() + seconds
    with _no_garbage_collection():
        while len(rounds) < LEAST_ROUNDS or perf_counter() < end:
            rounds.append([_reading(run, counts[name]) for name, run in runs.items()])
    return dict(zip(runs, np.array(rounds).T, strict=True))


def fastest(runs: Mapping[Name, Run], seconds: float) -> dict[Name, float]:
    """Return the time of one call of every run: the least of those `in_turns`."""
    return {name: float(times.min()) for name, times in in_turns(runs, seconds).items()}


def _count(run: Run) -> int:
    """Return how often to call per reading; the first call loads and compiles, and is not counted."""
    run(1)
    count = 1
    while (each := _reading(run, count)) * count < READING / 2:
        count = max(2 * count, int(READING / max(each, 1e-9)))
    return count


def _reading(run: Run, count: int) -> float:
    run(1)  # others had the caches meanwhile
    clock = perf_counter()
    run(count)
    return (perf_counter() - clock) / count


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass(frozen=True)
class Power:
    """A fit t = factor size^exponent.

    Attributes:
        exponent, factor: least squares in log-log.
        deviation: largest share by which a time is off the fit.
    """

    exponent: float
    factor: float
    deviation: float


def fit_power(sizes: Sequence[float], times: Sequence[float]) -> Power:
    """Return the power of the size that times grow with, by least squares of log t over log size."""
    x, y = np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(times, dtype=float))
    exponent, offset = np.polyfit(x, y, 1)
    deviation = np.expm1(np.abs(y - (exponent * x + offset)).max())
    return Power(float(exponent), float(np.exp(offset)), float(deviation))
