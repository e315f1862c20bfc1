"""A tree into the arrays of adaptive bodies; the layout is written down in `records`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array
from mcpframe.jit.memory import Memory
from mcpframe.multibody.adaptive import piece_records as pieces
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
        by_nodes: open nodes of the assembly tree from the root, or take joints one by one; None: nodes where
            a body is so long that a sweep over all joints would cost more than the steps between choices.
    """

    most: int | None = None
    bound: float | None = None
    rate: float = 0.0
    span: float = 1.0
    by_inertia: bool = False
    patience: int = 1
    by_nodes: bool | None = None


def pinned_links(model: Model, asked: Flags) -> Flags:
    """Return which joints are always active: those asked for, those on the world, those of loops."""
    return asked | loop_links(model) | (model.parents < 0)


def pack_whole(
    model: Model,
    pinned: Flags,
    measure: Measure,
    memory: Memory = pieces.MEMORY,
    by_pieces: bool | None = None,
    **counts: int,
) -> tuple[Indices, Array]:
    """Return IA and XA of a model; all its joints that can move are active.

    Args:
        model: the whole.
        pinned: joints that are always active [n].
        measure: how joints are chosen.
        memory: that of `piece_records`, or one that begins as it does.
        by_pieces: whether choices are made by pieces, or by sweeps of the whole; None for what is faster.
        counts: of what else is in the memory.
    """
    tree = model.tree
    skeleton, assembly = tree.skeleton, Assembly.of(tree.parents)
    if by_pieces is None:
        by_pieces = is_long(model, measure) and has_pieces(model, pinned, measure)
    by_nodes = by_pieces or bool(measure.by_nodes)
    IA, XA = memory.arrays(
        link=len(tree.links),
        body=skeleton.n_bodies,
        node=len(assembly),
        root=len(assembly.roots),
        dof=tree.coordinates.n_dofs,
        piece=len(assembly) if by_pieces else 0,
        form=len(assembly) - len(tree.links) if by_pieces else 0,
        **counts,
    )
    movable = movable_links(tree)
    flags = pinned & movable
    contents: dict[int, ArrayLike] = {
        at.FIRST_BODY: np.searchsorted(skeleton.body_link, np.arange(len(tree.links) + 1)),
        at.BODY_LINK: skeleton.body_link,
        at.NODES: assembly.table(),
        at.ROOTS: assembly.roots,
        at.PINNED: flags,
        at.HEAD: np.full(skeleton.n_bodies, -1),
    }
    if by_pieces:
        contents |= _places(assembly, len(tree.links))
    for part, values in contents.items():
        view = memory.part(IA, XA, part)
        view.flat[: np.size(values)] = np.ravel(values)
    take_measure(IA, XA, measure)
    IA[at.BY_NODES] = by_nodes
    IA[at.N_PINNED] = flags.sum()
    take_active(IA, XA, movable)
    return IA, XA


def take_active(IA: Indices, XA: Array, active: Flags) -> None:
    """Make joints active, and no others."""
    links = np.flatnonzero(active)
    pieces.MEMORY.part(IA, XA, at.ACTIVE)[:] = active
    pieces.MEMORY.part(IA, XA, at.ACTIVE_LIST)[: links.size] = links
    IA[at.N_ACTIVE] = links.size


FEW, MANY = 8, 20
"""Links for each active joint from which on pieces cost less than a sweep of the whole; from which on that is
so much less that nodes are opened though joints taken one by one are the better choice."""


def is_long(model: Model, measure: Measure) -> bool:
    """Return whether there are so many links that choices are made by pieces where there are any."""
    if measure.most is None or measure.by_nodes is False:
        return False
    return model.n_links > (FEW if measure.by_nodes else MANY) * measure.most


def has_pieces(model: Model, pinned: Flags, measure: Measure) -> bool:
    """Return whether a body has pieces: pins and sliders but on the world, none pinned; all joints alike.

    What a joint weighs must not change while it is rigid, and the inertia that it moves does.
    """
    links, carried = model.tree.links, model.tree.parents >= 0
    plain = all(link.hinge.kind in ("pin", "prismatic") for link, c in zip(links, carried, strict=True) if c)
    single = model.tree.skeleton.n_bodies == len(links)
    return bool(single and plain and not measure.by_inertia and not (pinned & carried).any())


def _places(assembly: Assembly, n: int) -> dict[int, ArrayLike]:
    """Return the nodes of links and of joints."""
    joint, link = np.array(assembly.joint), np.array(assembly.link)
    leaf, node = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    leaf[link[joint < 0]] = np.flatnonzero(joint < 0)
    node[joint[joint >= 0]] = np.flatnonzero(joint >= 0)
    return {pieces.LEAF_OF: leaf, pieces.JOINT_NODE: node, pieces.FRONT_OF: np.full(n, -1)}


def take_measure(IA: Indices, XA: Array, measure: Measure) -> None:
    """Write how joints are chosen."""
    IA[at.MOST] = NO_LIMIT if measure.most is None else measure.most
    IA[at.PATIENCE], IA[at.BY_INERTIA] = measure.patience, measure.by_inertia
    XA[at.RATE_SHARE], XA[at.SPAN] = measure.rate, measure.span
    XA[at.BOUND] = NO_BOUND if measure.bound is None else measure.bound**2


def movable_links(tree: Tree) -> Flags:
    """Return which links have a hinge that moves [n]."""
    return np.array([link.hinge.n_dof > 0 for link in tree.links], dtype=bool)
