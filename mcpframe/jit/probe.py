"""A kernel and its helper, to see whether a way to compile works with the Numba that is installed."""

from __future__ import annotations

from typing import Any

from numba import types

doubled: Any = None


def _double(x: float) -> float:
    return 2.0 * x


def _probe(x: float) -> Any:
    return doubled(x) + 1.0


def check(way: Any) -> None:
    """Raise an exception where a way to compile does not work; once it has, it is read from the cache."""
    global doubled
    doubled = way.helper(_double, inline=True)
    answer = way.kernel(_probe, (types.float64,), nogil=True)(3.0)
    if answer != 7.0:
        raise ArithmeticError(f"a kernel returned {answer}, not 7.0")
