"""What the kernels see of a tree: elementary bodies, each hinge along or about its own z axis.

A hinge with several axes becomes a chain of one-axis hinges with massless bodies in between. The *inner*
axes of a body are turned so that its hinge axis is z; `link_rotation` leads back to the link's own axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.multibody.memory import records
from mcpframe.multibody.memory.packing import Bodies, pack
from mcpframe.multibody.model.link import Link
from mcpframe.spatial.transforms import skew

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

KINDS = {
    "pin": records.PIN,
    "prismatic": records.PRISMATIC,
    "ball": records.BALL,
    "free": records.FREE,
    "locked": records.LOCKED,
}


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Packed constants of a tree, shared by its states.

    Attributes:
        I: integers of the kernels, never written to.
        X: doubles of the kernels with the constants in place; every state works on a copy.
        link_body: the body that is the link itself, the last of its hinge's chain [n].
        link_rotation: inner axes of that body in the link's axes, as columns [n, 3, 3].
        body_link: the link that each body belongs to [n_bodies].
    """

    I: Indices
    X: Array
    link_body: Indices
    link_rotation: Array
    body_link: Indices

    @property
    def n_bodies(self) -> int:
        """Number of bodies."""
        return int(self.body_link.size)

    @staticmethod
    def of(links: Sequence[Link], parents: Indices) -> Skeleton:
        """Return the skeleton of links in depth-first order."""
        chains = [_chain(link) for link in links]
        lengths = [len(kinds) for kinds, _ in chains]
        link_body = np.cumsum(lengths, dtype=np.int64) - 1
        link_rotation = np.array([turns[-1] for _, turns in chains]).reshape(-1, 3, 3)
        bodies = _massless_bodies(links, parents, chains, link_body)
        for k, link in enumerate(links):
            b, Q = link_body[k], link_rotation[k]
            bodies.mass[b], bodies.com[b] = link.mass, Q.T @ link.com
            bodies.inertia[b] = Q.T @ link.inertia @ Q
        I, X = pack(bodies)
        return Skeleton(I, X, link_body, link_rotation, np.repeat(np.arange(len(links)), lengths))


def _chain(link: Link) -> tuple[list[int], list[Array]]:
    """Return kinds and inner axes (in hinge axes at theta = 0) of the bodies that a link's hinge becomes."""
    steps = link.hinge.elementary() or (("locked", None),)
    kinds = [KINDS[kind] for kind, _ in steps]
    return kinds, [np.eye(3) if axis is None else turn_to(axis) for _, axis in steps]


def _massless_bodies(
    links: Sequence[Link], parents: Indices, chains: list[tuple[list[int], list[Array]]], link_body: Indices
) -> Bodies:
    """Return all bodies with hinges and frames in place, and no mass yet."""
    parent, kind, rotation, position = [], [], [], []
    for k, (link, (kinds, turns)) in enumerate(zip(links, chains, strict=True)):
        above = int(parents[k])
        Q = chains[above][1][-1] if above >= 0 else np.eye(3)
        parent.append(int(link_body[above]) if above >= 0 else -1)
        parent += [len(parent) - 1 + i for i in range(len(kinds) - 1)]
        rotation.append(Q.T @ link.pose.rotation @ turns[0])
        rotation += [turns[i].T @ turns[i + 1] for i in range(len(kinds) - 1)]
        position += [Q.T @ link.pose.position] + [np.zeros(3)] * (len(kinds) - 1)
        kind += kinds
    n = len(kind)
    return Bodies(
        parent=np.array(parent, dtype=np.int64),
        kind=np.array(kind, dtype=np.int64),
        rotation=np.array(rotation).reshape(n, 3, 3),
        position=np.array(position).reshape(n, 3),
        mass=np.zeros(n),
        com=np.zeros((n, 3)),
        inertia=np.zeros((n, 3, 3)),
        armature=np.concatenate([np.zeros(0), *(link.armature for link in links)]),
        gravity=np.zeros(3),
    )


def turn_to(axis: ArrayLike) -> Array:
    """Return a rotation that takes z to a unit axis [3, 3]: the shortest one, from -z for an axis below."""
    a = np.asarray(axis, dtype=np.float64)
    if a[2] < 0.0:  # near -z the shortest turn from z is ill-conditioned
        return np.asarray(turn_to(-a) @ np.diag([1.0, -1.0, -1.0]))
    K = skew(np.cross([0.0, 0.0, 1.0], a))
    return np.asarray(np.eye(3) + K + K @ K / (1.0 + a[2]))
