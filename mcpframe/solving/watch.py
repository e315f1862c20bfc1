"""Keep a time limit that a solver cannot keep by itself.

Solvers look at the clock between their steps. A step of a large problem, such as the factorisation of a
sparse matrix, may take long and cannot be interrupted; so a large problem is solved in a thread of its own,
and whoever waits for it goes on shortly after the deadline, with the last point that the solver has left on
its way. The thread ends at the solver's next look at the clock; what it then says is not heard. A process
that ends before that waits for it: SuperLU does not stand an interpreter that goes away.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from time import perf_counter
from typing import Generic, TypeVar

Result = TypeVar("Result")

WATCHED = 64
"""Rows from which on a solve is watched: below, no step takes longer than a thread is worth."""
GRACE, LEAST_GRACE = 0.04, 0.02
"""Share of the time limit, and seconds, that a solver gets to come to an end by itself."""


class _Work(threading.Thread, Generic[Result]):
    """A call in a thread of its own."""

    def __init__(self, call: Callable[[], Result]) -> None:
        super().__init__(name="mcpframe-solve")
        self._call = call
        self.result: Result | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Make the call, and keep what it returns or raises."""
        try:
            self.result = self._call()
        except BaseException as error:
            self.error = error


def in_time(call: Callable[[], Result], n: int, deadline: float) -> Result | None:
    """Return what the call returns; None where it has not come to an end shortly after the deadline.

    Args:
        n: rows of the problem.
        deadline: value of ``time.perf_counter()``.
    """
    if deadline == math.inf or n < WATCHED:
        return call()
    left = max(0.0, deadline - perf_counter())
    work = _Work(call)
    work.start()
    work.join(left + max(GRACE * left, LEAST_GRACE))
    if work.is_alive():
        return None
    if work.error is not None:
        raise work.error
    return work.result
