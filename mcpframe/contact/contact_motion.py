"""How bodies move at contacts and what wrenches there do to them, without rows; for checking."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import ContactSet
from mcpframe.contact.contact_rows import point_bias
from mcpframe.multibody.memory.records import PAIR

if TYPE_CHECKING:
    from mcpframe.multibody.state import State

Indices = NDArray[np.int64]


def point_velocities(state: State, link: Indices, point: Array) -> Array:
    """Return velocities [ω; v] of links' points [n_u, 6]; zero for the world."""
    V = np.vstack([state.link_velocities(), np.zeros(6)])[link]
    origin = np.vstack([state.link_poses()[1], np.zeros(3)])[link]
    return np.hstack([V[:, :3], V[:, 3:] + np.cross(V[:, :3], point - origin)])


def bias_at(state: State, link: Indices, point: Array) -> Array:
    """Return accelerations [ω̇; a] of links' points for θ̈ = 0 [n_u, 6]; zero for the world."""
    bias = np.zeros((link.size, 6))
    moving = link >= 0
    bias[moving] = point_bias(state, link[moving], point[moving])
    return bias


def relative(contacts: ContactSet, motion: Callable[[Indices, Array], Array]) -> Array:
    """Return a motion of A less that of B, in the contacts' frames [n_u, 6]."""
    point = contacts.points[:, :3]
    return in_frames(contacts, motion(contacts.link_a, point) - motion(contacts.link_b, point))


def contact_velocities(state: State, contacts: ContactSet) -> Array:
    """Return V_rel of every contact in its frame [n_u, 6]."""
    return relative(contacts, lambda link, point: point_velocities(state, link, point))


def body_speeds(state: State, contacts: ContactSet) -> Array:
    """Return angular and linear speeds of both bodies of every contact at its point [2, n_u, 2]."""
    links, point = (contacts.link_a, contacts.link_b), contacts.points[:, :3]
    velocities = np.array([point_velocities(state, link, point) for link in links])
    speeds: Array = np.linalg.norm(velocities.reshape(2, -1, 2, 3), axis=3)
    return speeds


def longest_arm(state: State, contacts: ContactSet) -> float:
    """Return the largest distance of a contact's point from the frame of one of its links, m."""
    origins, point, longest = state.link_poses()[1], contacts.points[:, :3], 0.0
    for link in (contacts.link_a, contacts.link_b):
        arms = point[link >= 0] - origins[link[link >= 0]]
        longest = max(longest, float(np.linalg.norm(arms, axis=1).max(initial=0.0)))
    return longest


def body_pushes(state: State, contacts: ContactSet, wrenches: Array) -> Array:
    """Return what wrenches on A, and their opposites on B, are about the bodies' reference points [8 n]."""
    push = np.zeros((state.skeleton.n_bodies, PAIR))
    reference, point = state.reference_points(), contacts.points[:, :3]
    for link, sign in ((contacts.link_a, 1.0), (contacts.link_b, -1.0)):
        moving = link >= 0
        moment, force = sign * wrenches[moving, :3], sign * wrenches[moving, 3:]
        arm = point[moving] - reference[link[moving]]
        body = state.skeleton.link_body[link[moving]]
        np.add.at(push[:, :3], body, moment + np.cross(arm, force))
        np.add.at(push[:, 4:7], body, force)
    return push.ravel()


def in_frames(contacts: ContactSet, vectors: Array) -> Array:
    """Return velocities or wrenches, world axes [n_u, 6], in the contacts' frames."""
    own: Array = np.einsum("uki,uji->ujk", contacts.axes, vectors.reshape(-1, 2, 3)).reshape(-1, 6)
    return own
