"""Four doubles as a Python object: what `mcpframe.jit.lanes` does where kernels are not compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Four:
    """Four doubles on which `a + b`, `a - b`, `a * b`, `a / b`, `s * a` and `-a` act at once."""

    __slots__ = ("values",)
    __array_ufunc__ = None  # a number of numpy's leaves `s * a` to this class

    def __init__(self, values: Array) -> None:
        self.values = values

    def __add__(self, other: Four) -> Four:
        return Four(self.values + other.values)

    def __sub__(self, other: Four) -> Four:
        return Four(self.values - other.values)

    def __mul__(self, other: Four) -> Four:
        return Four(self.values * other.values)

    def __truediv__(self, other: Four) -> Four:
        return Four(self.values / other.values)

    def __rmul__(self, scale: float) -> Four:
        return Four(scale * self.values) if isinstance(scale, float) else NotImplemented

    def __neg__(self) -> Four:
        return Four(-self.values)

    def __repr__(self) -> str:
        return f"Four({', '.join(f'{x:g}' for x in self.values)})"


def load(array: Array, index: int) -> Four:
    """Return array[index : index + 4]."""
    return Four(array[index : index + 4].copy())


def store(array: Array, index: int, value: Four) -> None:
    """Write array[index : index + 4]."""
    array[index : index + 4] = value.values


def get(array: Any, index: int) -> Any:
    """Return array[index]."""
    return array[index]


def put(array: Any, index: int, value: Any) -> None:
    """Write array[index]."""
    array[index] = value


def zero() -> Four:
    """Return (0, 0, 0, 0)."""
    return Four(np.zeros(4))


def vector(x: float, y: float, z: float) -> Four:
    """Return (x, y, z, 0)."""
    return Four(np.array([x, y, z, 0.0]))


def reordered(order: list[int]) -> Callable[[Four], Four]:
    """Return what puts lanes in an order."""
    return lambda a: Four(a.values[order])


def lane(index: int) -> Callable[[Four], Any]:
    """Return what takes one lane out."""
    return lambda a: a.values[index]


def total(a: Four) -> Any:
    """Return (x + z) + (y + w)."""
    x, y, z, w = a.values
    return (x + z) + (y + w)


def spread_total(a: Four) -> Four:
    """Return the total in every lane."""
    return Four(np.full(4, total(a)))


def transpose(a: Four, b: Four, c: Four, d: Four) -> tuple[Four, ...]:
    """Return the columns of the matrix whose rows are a, b, c, d."""
    return tuple(map(Four, np.column_stack([a.values, b.values, c.values, d.values])))
