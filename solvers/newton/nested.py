"""Where to start on a large obstacle problem: at the solution of a smaller one.

Free boundaries move by a cell or so in a step, so that Newton's method from afar takes the more steps the
finer the grid is. The grid of the aggregates (`shared.multigrid`) has a sixth of the rows; with z = P y,

    M_c = P'M P,   q_c = P'q,   bounds of an aggregate: the means of those of its rows,

is an obstacle problem again, solved in the same way; P y, within the bounds, is nearly right everywhere but
next to free boundaries [nested iteration; Brandt, Cryer 1983].
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mcpframe.problem.problems import MCP, MixedLCP
from mcpframe.solvers.shared.multigrid import fits, next_grid

Array = NDArray[np.float64]


def nested_start(problem: MixedLCP | MCP, solved: Callable[[MixedLCP], Array]) -> Array | None:
    """Return a starting point from a smaller problem, None where there is none.

    Args:
        solved: returns the solution of a mixed LCP, or what is near it.
    """
    if not isinstance(problem, MixedLCP) or not fits(problem.M):
        return None
    grid = next_grid(problem.M)
    if grid is None:
        return None
    P, group = grid
    lower, upper = (_means(bound, group, P.shape[1]) for bound in (problem.lower, problem.upper))
    coarse = MixedLCP(P.T @ (problem.M @ P), P.T @ problem.q, lower, np.maximum(lower, upper))
    return np.asarray(np.clip(P @ solved(coarse), problem.lower, problem.upper))


def _means(bound: Array, group: NDArray[np.int64], count: int) -> Array:
    """Return the mean of the finite bounds in every aggregate, the infinite one where all are."""
    finite = np.isfinite(bound) & (group >= 0)
    number = np.bincount(group[finite], minlength=count)
    total = np.bincount(group[finite], weights=bound[finite], minlength=count)
    infinite = np.inf if np.isposinf(bound).any() else -np.inf
    return np.where(number > 0, total / np.maximum(number, 1), infinite)
