"""Joint limits that a step can reach: unilateral rows without friction.

A limit is in reach where its gap can be used up within the step, twice over, at the hinge's present rate and
free acceleration,

    gap <= REACH_MARGIN * dt (|θ̇| + dt |θ̈_f|) + REACH_SLACK.

The margin and the slack are for impulses that make the hinge faster than both. A limit that is missed in
spite of them is overrun for one step: then its gap is negative and it is in reach. A row too many changes
nothing, since its impulse is zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array, frozen
from mcpframe.multibody.model.tree import Tree
from mcpframe.multibody.rows import Rows, hinge_rate_rows

if TYPE_CHECKING:
    from mcpframe.contact.step import ContactStep
    from mcpframe.multibody.state import State

REACH_MARGIN = 2.0
REACH_SLACK = 1e-3
"""Radians or metres."""


@dataclass(frozen=True, eq=False)
class Limits:
    """Every finite limit of a tree: sign * (theta - bound) >= 0.

    Attributes:
        dof, theta: index of the rate and of the coordinate [k].
        sign: 1 for a lower, -1 for an upper limit [k].
        bound: [k], radians or metres.
    """

    dof: NDArray[np.int64]
    theta: NDArray[np.int64]
    sign: Array
    bound: Array


@dataclass(frozen=True, eq=False)
class ChosenLimits:
    """Limits that take part in a step.

    Attributes:
        index: which of `all_limits` [n_l].
        gap: way left to each [n_l], negative beyond it, radians or metres.
    """

    index: NDArray[np.int64]
    gap: Array


def limit_gaps(state: State) -> Array:
    """Return the way left to every limit, in the order of `all_limits`; negative beyond it."""
    limits = all_limits(state.tree)
    gap: Array = limits.sign * (state.theta[limits.theta] - limits.bound)
    return gap


def limits_in_reach(step: ContactStep) -> ChosenLimits:
    """Return the limits that the step can reach."""
    if not step.state.tree.has_limits:
        return NO_LIMITS
    gap = limit_gaps(step.state)
    chosen = np.flatnonzero(gap <= step.limit_reach()[all_limits(step.state.tree).dof])
    return ChosenLimits(chosen, gap[chosen])


def closed_limits(state: State, tolerance: float) -> ChosenLimits:
    """Return the limits that are reached, their gaps being at most a tolerance."""
    if not state.tree.has_limits:
        return NO_LIMITS
    gap = limit_gaps(state)
    chosen = np.flatnonzero(gap <= tolerance)
    return ChosenLimits(chosen, gap[chosen])


def limit_rows(state: State, index: NDArray[np.int64]) -> Rows:
    """Return the rows sign * θ̇ of some of `all_limits`."""
    limits = all_limits(state.tree)
    return _signed(hinge_rate_rows(state, limits.dof[index]), limits.sign[index])


@lru_cache(maxsize=16)
def all_limits(tree: Tree) -> Limits:
    """Return the limits of a tree, lower ones first."""
    places = tree.coordinates
    lower, upper = (tree.gather(name)[places.plain_dofs] for name in ("lower", "upper"))
    below, above = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
    chosen = np.concatenate([below, above])
    return Limits(
        dof=frozen(places.plain_dofs[chosen]),
        theta=frozen(places.plain_theta[chosen]),
        sign=frozen(np.repeat([1.0, -1.0], [below.size, above.size])),
        bound=frozen(np.concatenate([lower[below], upper[above]])),
    )


def _signed(rows: Rows, sign: Array) -> Rows:
    return replace(rows, wrench=rows.wrench * sign[rows.row, None], bias=rows.bias * sign)


NO_LIMITS = ChosenLimits(frozen(np.zeros(0, dtype=np.int64)), frozen(np.zeros(0)))
