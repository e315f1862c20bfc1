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
from mcpframe.multibody.rows import Rows, hinge_rate_rows
from mcpframe.multibody.tree import Tree

if TYPE_CHECKING:
    from mcpframe.contact.step import ContactStep

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


def limits_in_reach(step: ContactStep) -> tuple[Rows, Array]:
    """Return the rows sign * θ̇ of the limits that the step can reach, and their gaps."""
    state = step.state
    limits = all_limits(state.tree)
    gap = limits.sign * (state.theta[limits.theta] - limits.bound)
    chosen = np.zeros(0, dtype=np.int64)
    if gap.size:
        chosen = np.flatnonzero(gap <= step.limit_reach()[limits.dof])
    rows = hinge_rate_rows(state, limits.dof[chosen])
    return _signed(rows, limits.sign[chosen]), gap[chosen]


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
