"""The tree that links form: depth-first order, and what can be wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array, frozen
from mcpframe.exceptions import ModelError, nearest
from mcpframe.multibody.memory.skeleton import Skeleton
from mcpframe.multibody.model.coordinates import Coordinates
from mcpframe.multibody.model.link import WORLD, Link
from mcpframe.spatial.transforms import Pose, skew

SINGULAR = 1e-12
"""Smallest eigenvalue of a hinge's inertia, scaled to a unit diagonal, that still counts as positive."""
NO_INERTIA = 1e-14
"""Part of a body's mass and inertia below which what a hinge feels of it is rounding."""


@dataclass(frozen=True, eq=False)
class Tree:
    """Links in depth-first order, children in the order of addition; a value, made once.

    Attributes:
        links: parents before children.
        parents: index of every parent, -1 for the world [n].
        index: index of every link by name.
        coordinates: where theta and theta_dot of every link lie.
    """

    links: tuple[Link, ...]
    parents: NDArray[np.int64]
    index: Mapping[str, int]
    coordinates: Coordinates

    @staticmethod
    def of(links: Mapping[str, Link]) -> Tree:
        """Order links, or raise ModelError where a parent is unknown or links form a cycle."""
        order = depth_first(links)
        index = {name: k for k, name in enumerate(order)}
        ordered = tuple(links[name] for name in order)
        parents = [index.get(link.parent, -1) for link in ordered]
        return Tree(
            links=ordered,
            parents=frozen(np.array(parents, dtype=np.int64)),
            index=index,
            coordinates=Coordinates.of([link.hinge for link in ordered]),
        )

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """What every link's hinge is called: as its joint, as the link itself where that has no name.

        A link without one that is called as the joint of another gets ``link/hinge``; joints that are called
        alike are refused.
        """
        taken: dict[str, str] = {}
        for link in self.links:
            other = taken.setdefault(link.joint, link.name) if link.joint else link.name
            if other != link.name:
                raise ModelError(f"link {link.name!r}: its joint {link.joint!r} is also that of {other!r}")
        own = (f"{link.name}/hinge" if link.name in taken else link.name for link in self.links)
        return tuple(link.joint or name for link, name in zip(self.links, own, strict=True))

    @cached_property
    def dof_names(self) -> tuple[str, ...]:
        """Name of the joint for its only dof, ``name[i]`` for one of several."""
        return tuple(
            name
            for joint, link in zip(self.joints, self.links, strict=True)
            for name in _dofs_of(joint, link)
        )

    @cached_property
    def dof_index(self) -> Mapping[str, int]:
        """Index of every dof by name, with the names of links in the place of their joints' where free."""
        by_link = (name for link in self.links for name in _dofs_of(link.name, link))
        index = {name: d for d, name in enumerate(by_link)}
        return index | {name: d for d, name in enumerate(self.dof_names)}

    @cached_property
    def dof_link(self) -> NDArray[np.int64]:
        """Index of the link that every dof belongs to [N]."""
        counts = [link.hinge.n_dof for link in self.links]
        return frozen(np.repeat(np.arange(len(self.links), dtype=np.int64), counts))

    @cached_property
    def skeleton(self) -> Skeleton:
        """The tree as the kernels see it."""
        return Skeleton.of(self.links, self.parents)

    def gather(self, field: str) -> Array:
        """Return a field of all links, one after another."""
        if field not in self._gathered:
            parts = [getattr(link, field) for link in self.links]
            self._gathered[field] = frozen(np.concatenate([np.zeros(0), *parts]))
        return self._gathered[field]

    @cached_property
    def _gathered(self) -> dict[str, Array]:
        return {}

    @cached_property
    def has_passive_forces(self) -> bool:
        """Whether any hinge has a spring or a damper."""
        return bool(self.gather("damping").any() or self.gather("stiffness").any())

    @cached_property
    def has_limits(self) -> bool:
        """Whether any hinge has a limit."""
        return bool(np.isfinite(self.gather("lower")).any() or np.isfinite(self.gather("upper")).any())

    @cached_property
    def why_immovable(self) -> str:
        """Which link's hinge would move nothing, so that no acceleration is defined; empty if none.

        Looks at links that move without a moving link further out: with the inertia M of all that is
        locked to it, the hinge feels D = H M H* + armature, and D must be positive definite.
        """
        composites, moves = _locked_composites(self.links, self.parents)
        for link, M, moves_further in zip(self.links, composites, moves, strict=True):
            if moves_further or not link.hinge.n_dof:
                continue
            H = link.hinge.neutral_map().T
            if not _is_positive(H @ M @ H.T + np.diag(link.armature), float(np.trace(M))):
                return (
                    f"link {link.name!r} moves on a {link.hinge.kind} hinge, but it and all that is locked "
                    f"to it (mass {M[5, 5]:g} kg) have no inertia against some of that motion: give it mass "
                    "and inertia, or armature, or lock its hinge"
                )
        return ""


def _dofs_of(name: str, link: Link) -> list[str]:
    n_dof = link.hinge.n_dof
    return [name] if n_dof == 1 else [f"{name}[{i}]" for i in range(n_dof)]


def depth_first(links: Mapping[str, Link]) -> list[str]:
    """Return the names with every link after its parent, each subtree in one piece."""
    children: dict[str, list[str]] = {name: [] for name in (WORLD, *links)}
    for name, link in links.items():
        if link.parent not in children:
            raise ModelError(f"link {name!r}: unknown parent {link.parent!r};{nearest(link.parent, links)}")
        children[link.parent].append(name)
    order: list[str] = []
    waiting = children[WORLD][::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += children[order[-1]][::-1]
    if len(order) < len(links):
        raise ModelError(
            f"links form a cycle: {_cycle(links, set(order))}; one of them must hang on the world"
        )
    return order


def _cycle(links: Mapping[str, Link], reached: set[str]) -> str:
    """Return a cycle in words: climbing from any link that the world does not reach must end in one."""
    path = [next(name for name in links if name not in reached)]
    while path.count(path[-1]) < 2:
        path.append(links[path[-1]].parent)
    return " -> ".join(path[path.index(path[-1]) :])


def _locked_composites(links: tuple[Link, ...], parents: NDArray[np.int64]) -> tuple[list[Array], list[bool]]:
    """Return for every link the inertia of what is locked to it, and whether a moving link hangs on that."""
    composites = [link.spatial_inertia() for link in links]
    moves = [False] * len(links)
    for k in range(len(links) - 1, -1, -1):
        parent = int(parents[k])
        if parent < 0:
            continue
        if links[k].hinge.n_dof:
            moves[parent] = True
            continue
        X = _force_transform(links[k].pose)
        composites[parent] = composites[parent] + X @ composites[k] @ X.T
        moves[parent] = moves[parent] or moves[k]
    return composites, moves


def _force_transform(pose: Pose) -> Array:
    """Return the map of spatial forces from a frame to the one it is posed in [6, 6]."""
    R = pose.rotation
    return np.block([[R, skew(pose.position) @ R], [np.zeros((3, 3)), R]])


def _is_positive(D: Array, scale: float) -> bool:
    diagonal = np.diag(D)
    if (diagonal <= NO_INERTIA * scale).any():
        return False
    unit = np.sqrt(diagonal)
    return bool(np.linalg.eigvalsh(D / np.outer(unit, unit))[0] > SINGULAR)
