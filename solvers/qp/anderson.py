"""Anderson acceleration of a fixed point x = g(x) [Walker and Ni 2011].

The next point is the affine combination of the last values of g whose defects g(x) - x cancel best; without
a history it is g(x) itself. A step whose defect grew too much drops the history, so that the plain iteration
takes over where the acceleration misleads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SAFE_GROWTH = 10.0
"""Growth of the defect over its smallest value so far that makes the history worthless."""
RANK = 1e-8
"""Singular values of the history below this share of the largest are ignored."""


class Anderson:
    """The history of one fixed-point iteration.

    Args:
        depth: how many earlier points are combined.
    """

    def __init__(self, depth: int = 8) -> None:
        self._depth = depth
        self._values: list[Array] = []
        self._defects: list[Array] = []
        self._least = np.inf

    def next(self, x: Array, g: Array) -> Array:
        """Return the point to try after x, where the map took the value g."""
        defect = g - x
        size = float(np.linalg.norm(defect))
        if size > SAFE_GROWTH * self._least:
            self._values.clear()
            self._defects.clear()
        self._least = min(self._least, size)
        self._values = [*self._values[-self._depth :], g]
        self._defects = [*self._defects[-self._depth :], defect]
        if len(self._values) == 1:
            return g
        dF = np.diff(np.array(self._defects), axis=0).T
        dG = np.diff(np.array(self._values), axis=0).T
        gamma = np.linalg.lstsq(dF, defect, rcond=RANK)[0]
        return np.asarray(g - dG @ gamma)
