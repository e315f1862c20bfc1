"""A tree into the arrays of adaptive bodies; the layout is written down in `records`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array
from mcpframe.jit.memory import Memory
from mcpframe.multibody.adaptive import records as at
from mcpframe.multibody.adaptive.assembly import Assembly
from mcpframe.multibody.adaptive.locking import Flags, loop_links
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.tree import Tree

Indices = NDArray[np.int64]
NO_LIMIT = 1 << 40
"""A number of joints that no body has."""
NO_BOUND = -1.0
"""Below all errors."""


@dataclass(frozen=True)
class Measure:
    """What joints are judged by, and how many may be active.

    Attributes:
        most: active joints, pinned ones counted; None for no limit.
        bound: error that is good enough; None for none.
        rate, span: joints are judged by rate θ̇ + span θ̈.
        by_inertia: weigh dofs by the inertia that they move, else all alike.
        patience: choices running in which an active joint must be passed over to become rigid.
    """

    most: int | None = None
    bound: float | None = None
    rate: float = 0.0
    span: float = 1.0
    by_inertia: bool = False
    patience: int = 1


def pinned_links(model: Model, asked: Flags) -> Flags:
    """Return which joints are always active: those asked for, those on the world, those of loops."""
    return asked | loop_links(model) | (model.parents < 0)


def pack_whole(
    model: Model, pinned: Flags, measure: Measure, memory: Memory = at.MEMORY, **counts: int
) -> tuple[Indices, Array]:
    """Return IA and XA of a model; all its joints that can move are active.

    Args:
        model: the whole.
        pinned: joints that are always active [n].
        measure: how joints are chosen.
        memory: that of `records`, or one that begins as it does.
        counts: of what else is in the memory.
    """
    tree = model.tree
    skeleton, assembly = tree.skeleton, Assembly.of(tree.parents)
    IA, XA = memory.arrays(
        link=len(tree.links),
        body=skeleton.n_bodies,
        node=len(assembly),
        root=len(assembly.roots),
        dof=tree.coordinates.n_dofs,
        **counts,
    )
    movable = movable_links(tree)
    contents: dict[int, ArrayLike] = {
        at.FIRST_BODY: np.searchsorted(skeleton.body_link, np.arange(len(tree.links) + 1)),
        at.BODY_LINK: skeleton.body_link,
        at.NODES: np.column_stack([assembly.joint, assembly.a, assembly.b]),
        at.ROOTS: assembly.roots,
        at.PINNED: pinned & movable,
        at.ACTIVE: movable,
    }
    for part, values in contents.items():
        view = memory.part(IA, XA, part)
        view[:] = np.reshape(values, view.shape)
    take_measure(IA, XA, measure)
    IA[at.N_ACTIVE] = movable.sum()
    return IA, XA


def take_measure(IA: Indices, XA: Array, measure: Measure) -> None:
    """Write how joints are chosen."""
    IA[at.MOST] = NO_LIMIT if measure.most is None else measure.most
    IA[at.PATIENCE], IA[at.BY_INERTIA] = measure.patience, measure.by_inertia
    XA[at.RATE_SHARE], XA[at.SPAN] = measure.rate, measure.span
    XA[at.BOUND] = NO_BOUND if measure.bound is None else measure.bound**2


def movable_links(tree: Tree) -> Flags:
    """Return which links have a hinge that moves [n]."""
    return np.array([link.hinge.n_dof > 0 for link in tree.links], dtype=bool)
