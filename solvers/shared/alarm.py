"""A deadline for kernels: a flag that they poll and another thread sets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

NEVER = np.zeros(1, np.int64)
"""The flag of a solve without a deadline: nobody sets it."""


@contextmanager
def alarm(deadline: float) -> Iterator[NDArray[np.int64]]:
    """Yield a flag that becomes 1 at the deadline, while a kernel runs without the interpreter lock."""
    if deadline == np.inf:
        yield NEVER
        return
    flag = np.zeros(1, np.int64)
    timer = threading.Timer(max(0.0, deadline - perf_counter()), flag.fill, (1,))
    timer.daemon = True
    timer.start()
    try:
        yield flag
    finally:
        timer.cancel()
