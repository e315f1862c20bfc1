"""Join models into one: an arm and the box that it pushes, a robot and its surroundings.

Every part keeps its links, closures and frames; names get the part's prefix, and all that stands on the
world is moved by the part's pose. Half-spaces are the exception: floors and walls stay where they are, so
that a robot can be lifted off the floor that came with it, and a floor that several bring is taken once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError
from mcpframe.multibody.closures import Ball, Closure, Distance, Gear, Pin, Weld
from mcpframe.multibody.model.link import WORLD
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.model.shapes import Geometry, Plane
from mcpframe.spatial.transforms import Pose

if TYPE_CHECKING:
    from mcpframe.multibody.model.model import Model

SAME_PLANE = 1e-12
"""Metres, and sine of the angle, within which two half-spaces are one."""


@dataclass(frozen=True, eq=False)
class Part:
    """A model on its way into a larger one.

    Attributes:
        model: what to take; it stays as it is.
        prefix: put before the names of its links, joints and frames.
        pose: where the origin of its world comes to lie.
        environment: whether shapes that it has on the world come along.
    """

    model: Model
    prefix: str = ""
    pose: Pose = field(default_factory=Pose)
    environment: bool = True

    def name(self, body: str) -> str:
        """Return what a body of the part is called in the whole."""
        return WORLD if body == WORLD else self.prefix + body


def joined(
    parts: Iterable[Part | Model],
    *,
    geometry: Iterable[Geometry] = (),
    gravity: ArrayLike | None = None,
    name: str | None = None,
) -> Model:
    """Return one model of all parts; theta and theta_dot are theirs, one after another.

    Args:
        parts: models, or `Part` with a prefix and a pose.
        geometry: further shapes fixed to the world.
        gravity: acceleration [3], m/s²; the parts' own, which must agree, unless given.
        name: of the whole; that of the first part unless given.

    Raises:
        ModelError: names meet twice, or the parts disagree about gravity and none is given.
    """
    from mcpframe.multibody.model.model import Model

    whole = [part if isinstance(part, Part) else Part(part) for part in parts]
    links = [
        replace(
            link,
            name=part.name(link.name),
            parent=part.name(link.parent),
            joint=part.prefix + link.joint if link.joint else "",
            pose=part.pose @ link.pose if link.parent == WORLD else link.pose,
        )
        for part in whole
        for link in part.model.links
    ]
    model = Model(
        links,
        gravity=_gravity(whole) if gravity is None else gravity,
        name=name if name is not None else (whole[0].model.name if whole else "model"),
        geometry=_surroundings(whole, geometry),
    )
    for part in whole:
        _add_frames(model, part)
        for closure in part.model.closures:
            model.add_closure(_moved(part, closure))
    return model


def _gravity(parts: Sequence[Part]) -> Array:
    if not parts:
        raise ModelError("joined: there are no parts; give at least one model, or gravity")
    first = parts[0].model
    for part in parts[1:]:
        if not np.array_equal(part.model.gravity, first.gravity):
            raise ModelError(
                f"joined: gravity is {first.gravity.tolist()} in model {first.name!r} and "
                f"{part.model.gravity.tolist()} in {part.model.name!r}; say which holds for the whole"
            )
    return first.gravity


def _surroundings(parts: Sequence[Part], further: Iterable[Geometry]) -> list[Geometry]:
    """Return all shapes on the world, each half-space once: the last of equals, by its name there."""
    brought = [
        shape if isinstance(shape.shape, Plane) else replace(shape, pose=part.pose @ shape.pose)
        for part in parts
        if part.environment
        for shape in part.model.geometry
    ]
    kept: list[Geometry] = []
    for shape in reversed((*brought, *further)):
        if not any(_same_plane(shape, other) for other in kept):
            kept.insert(0, shape)
    return kept


def _same_plane(a: Geometry, b: Geometry) -> bool:
    """Return whether two shapes are the same half-space n . x <= d."""
    if not (isinstance(a.shape, Plane) and isinstance(b.shape, Plane)):
        return False
    n_a, n_b = a.pose.rotation[:, 2], b.pose.rotation[:, 2]
    apart = n_a @ (a.pose.position - b.pose.position)
    return bool(np.abs(n_a - n_b).max() <= SAME_PLANE and abs(apart) <= SAME_PLANE)


def _add_frames(model: Model, part: Part) -> None:
    for name, (index, pose) in part.model.frames.items():
        if index < 0:
            model.add_frame(part.name(name), WORLD, part.pose @ pose)
        else:
            model.add_frame(part.name(name), part.name(part.model.links[index].name), pose)


def _moved(part: Part, closure: Closure) -> Closure:
    """Return a closure with the names of the whole, its nodes on the world moved with the part."""
    if isinstance(closure, Gear):
        return replace(closure, ratios={part.name(dof): ratio for dof, ratio in closure.ratios.items()})
    if isinstance(closure, (Weld, Pin, Ball, Distance)):
        return replace(closure, node_a=_node(part, closure.node_a), node_b=_node(part, closure.node_b))
    raise ModelError(
        f"joined: model {part.model.name!r} has a closure of type {type(closure).__name__}, which cannot be "
        "renamed; add it to the joined model instead"
    )


def _node(part: Part, node: Node | str) -> Node:
    place = node if isinstance(node, Node) else Node(node)
    pose = part.pose @ place.pose if place.body == WORLD else place.pose
    return Node(part.name(place.body), pose.position, pose.rotation)
