"""Proof that a mixed LCP has no solution: a Farkas certificate that anyone can check.

Every solution has w_i >= 0 where u_i = inf (l_i finite), w_i <= 0 where l_i = -inf (u_i finite) and
w_i = 0 where row i is free. If y has those signs (any on free rows, zero where both bounds are finite) and

    max over l <= z <= u of  y'(M z + q)  <  0,

then no z can do it, for every solution has y'w >= 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mcpframe.problem import MixedLCP

Array = NDArray[np.float64]

MARGIN = 1e-9
"""How far below zero, relative to the sizes of the terms, the maximum must lie to count as proof."""


def proves_infeasible(problem: MixedLCP, y: Array) -> bool:
    """Return whether y is a Farkas certificate for the problem."""
    if y.shape != (problem.n,) or not np.isfinite(y).all() or not y.any():
        return False
    low, high = np.isfinite(problem.lower), np.isfinite(problem.upper)
    signs_hold = (y[low & ~high] >= 0).all() and (y[high & ~low] <= 0).all() and not y[low & high].any()
    if not signs_hold:
        return False
    y = y / np.abs(y).max()
    column = np.asarray(problem.M.T @ y)
    size = np.asarray(abs(problem.M).T @ np.abs(y))
    column[np.abs(column) <= MARGIN * size] = 0.0
    with np.errstate(invalid="ignore"):
        reach = np.where(column > 0, column * problem.upper, column * problem.lower)
    reach[column == 0] = 0.0
    constant = y @ problem.q
    return bool(constant + reach.sum() < -MARGIN * (np.abs(y) @ np.abs(problem.q) + np.abs(reach).sum()))
