"""A layer between the surfaces of a contact: soft, without inertia, and with a memory.

In the components n, t_1, t_2 of the contact, with V the velocity of A relative to B, p the impulse on A in a
step of dt, and S, s what the layer says of this step, the rows of the contact's law see

    V + S p + s

in place of V: the velocity of the surface itself, which yields. What a layer remembers of a contact from step
to step (how far it is stretched) are vectors in these components; they are kept in world axes, and turned as
the normal turns, so that components along n stay as they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from mcpframe.arrays import Array

REVERSED = 1e-6
"""1 + cosine of the angle between two normals below which the one is no turned version of the other."""


class ContactLayer(ABC):
    """What lies between the surfaces of contacts of one law; all methods take n contacts at once.

    Attributes:
        vectors: how many vectors (n, t_1, t_2) it remembers of a contact; at first they are zero.
    """

    vectors: ClassVar[int] = 1

    @abstractmethod
    def terms(self, dt: float, gap: Array, speed: Array, memory: Array) -> tuple[Array, Array]:
        """Return S, m/s per N s, not negative, and s, m/s, along n, t_1, t_2 [n, 3], in a step of dt.

        Args:
            dt: seconds, positive.
            gap: distance of the bodies [n], m; negative where they overlap.
            speed: at which gaps open before the step [n], m/s.
            memory: what it remembers [n, vectors, 3].
        """

    @abstractmethod
    def after(self, dt: float, gap: Array, memory: Array, impulse: Array) -> Array:
        """Return what it remembers after a step of dt with these impulses on A [n, 3], N s."""

    def energy(self, gap: Array, memory: Array) -> Array:
        """Return the energy that it stores [n], J; runs count that of springs alone."""
        return np.zeros(gap.size)


def carried(memory: Array, before: Array, after: Array) -> Array:
    """Return vectors in world axes [..., 3], turned the shortest way that takes one normal to another.

    A normal that is reversed says nothing about the vectors: they stay.

    Args:
        memory: vectors [..., 3].
        before, after: unit normals [..., 3].
    """
    cosine = (before * after).sum(axis=-1, keepdims=True)
    axis = np.cross(before, after)
    along = (axis * memory).sum(axis=-1, keepdims=True) / np.maximum(1.0 + cosine, REVERSED)
    turned: Array = cosine * memory + np.cross(axis, memory) + along * axis
    return np.where(1.0 + cosine < REVERSED, memory, turned)
