"""Ready contacts: the lowest points of a system, each resting on the world."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.contact import Contact
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.link import WORLD
from mcpframe.multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from mcpframe.spatial.transforms import Pose
from mcpframe.systems.bodies import count

if TYPE_CHECKING:
    from mcpframe.multibody.state import State

SUPPORTS = ((0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0))
"""Where supports are, in the order in which they are used: below, then on the four sides."""
SAME_HEIGHT = 1e-9
"""Metres within which heights count as equal, so that rounding does not choose among them."""


def contacts_of(state: State, n_u: int = 4, mu: float = 0.5, restitution: float = 0.0) -> list[Contact]:
    """Return contacts of a system's lowest points with the world, normals up, gaps zero.

    Every point rests on a support of its own, as if the floor were just there, so that any system in any
    state has contacts to try a formulation on. Points are the corners of boxes and the lowest points of
    spheres and of the ends of capsules and cylinders; of equal heights the first link's come first. Where
    these are too few, walls on the four sides are touched in the same manner.

    Args:
        state: of a model whose links have such geometry.
        n_u: how many.
        mu: friction coefficient.
        restitution: share of the normal impulse that comes back.
    """
    wanted = count("contacts_of: n_u", n_u, 0)
    contacts: list[Contact] = []
    for support in SUPPORTS:
        if len(contacts) < wanted:
            normal = -np.array(support)
            places = support_points(state, support)[: wanted - len(contacts)]
            contacts += [Contact(name, WORLD, point, normal, mu, restitution) for name, point in places]
    if len(contacts) < wanted:
        raise ModelError(
            f"contacts_of: {wanted} contacts are wanted, but the geometry of model {state.model.name!r} has "
            f"points for {len(contacts)} only"
        )
    return contacts


def support_points(state: State, support: Sequence[float]) -> list[tuple[str, Array]]:
    """Return links and points in the world that a support in some direction would meet, the first first."""
    places = [
        (link.name, point)
        for link in state.model.links
        for geometry in link.geometry
        for point in extreme_points(geometry.shape, state.pose(link.name) @ geometry.pose, np.array(support))
    ]
    return sorted(places, key=lambda place: -np.round(place[1] @ support / SAME_HEIGHT))


def extreme_points(shape: Shape, pose: Pose, support: Array) -> list[Array]:
    """Return the corners of a shape, or its outermost points in a direction; none for planes and meshes."""
    if isinstance(shape, Box):
        corners = np.array(list(product((-0.5, 0.5), repeat=3))) * shape.size
        return list(pose @ corners)
    if isinstance(shape, Sphere):
        return [pose.position + shape.radius * support]
    if isinstance(shape, Ellipsoid):
        reaching = np.array(shape.radii) ** 2 * (pose.rotation.T @ support)
        return [pose @ (reaching / np.linalg.norm(reaching / shape.radii))]
    if isinstance(shape, (Capsule, Cylinder)):
        ends = pose @ np.array([[0.0, 0.0, -shape.length / 2.0], [0.0, 0.0, shape.length / 2.0]])
        outwards = support if isinstance(shape, Capsule) else _across(pose.rotation, support)
        return list(ends + shape.radius * outwards)
    return []


def _across(axes: Array, support: Array) -> Array:
    """Return the unit vector across z of the axes that is nearest to a direction; x where none is nearer."""
    across = support - (axes[:, 2] @ support) * axes[:, 2]
    length = float(np.linalg.norm(across))
    return across / length if length > SAME_HEIGHT else axes[:, 0]
