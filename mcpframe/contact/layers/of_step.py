"""The layers of the contacts of one step: what they add to its rows, and what they remember after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import ContactSet
from mcpframe.contact.law import LawRows
from mcpframe.contact.layers.layer import ContactLayer
from mcpframe.multibody.model.validation import values


class StepLayers:
    """Contacts that have a layer, by layer; vectors go in and out in world axes.

    Args:
        contacts: of the step.
        laws: their rows.
        dt: seconds.
        memory: what is remembered of them, world axes [n_u, vectors, 3]; nothing where None.

    Attributes:
        soft: which contacts have a layer [n_u].
        memory: what is remembered, in the contacts' components [n_u, vectors, 3].
    """

    def __init__(
        self, contacts: ContactSet, laws: Sequence[LawRows], dt: float, memory: ArrayLike | None
    ) -> None:
        self.contacts, self.dt = contacts, dt
        layers = [law.layer for law in laws]
        self.soft = np.array([layer is not None for layer in layers], dtype=bool)
        self._groups = _groups(layers)
        vectors = max((layer.vectors for layer, _ in self._groups), default=0)
        shape = len(contacts), vectors, 3
        world = np.zeros(shape) if memory is None else values("memory", memory, shape)
        self.memory: Array = np.einsum("uki,uvi->uvk", contacts.axes, world)

    def terms(self, speed: Callable[[], Array]) -> tuple[Array, Array]:
        """Return S and s of all contacts [n_u, 3], zero where there is no layer; speed: opening, n_u."""
        S, s = np.zeros((len(self.contacts), 3)), np.zeros((len(self.contacts), 3))
        opening = speed() if self._groups else np.zeros(0)
        for layer, which in self._groups:
            parts = self.contacts.gaps[which], opening[which], self.memory[which, : layer.vectors]
            S[which], s[which] = layer.terms(self.dt, *parts)
        return S, s

    def after(self, impulses: Array) -> Array:
        """Return what is remembered after the step, world axes, of impulses on A in world axes [n_u, 3]."""
        axes, memory = self.contacts.axes, np.zeros_like(self.memory)
        own = np.einsum("uki,ui->uk", axes, impulses)
        for layer, which in self._groups:
            parts = self.contacts.gaps[which], self.memory[which, : layer.vectors], own[which]
            memory[which, : layer.vectors] = layer.after(self.dt, *parts)
        world: Array = np.einsum("uki,uvk->uvi", axes, memory)
        return world

    def energy(self) -> Array:
        """Return what the layers store where the step begins [n_u], J."""
        stored = np.zeros(len(self.contacts))
        for layer, which in self._groups:
            stored[which] = layer.energy(self.contacts.gaps[which], self.memory[which, : layer.vectors])
        return stored


def _groups(layers: Sequence[ContactLayer | None]) -> list[tuple[ContactLayer, NDArray[np.int64]]]:
    """Return every layer with the contacts that have it."""
    members: dict[int, list[int]] = {}
    for i, layer in enumerate(layers):
        if layer is not None:
            members.setdefault(id(layer), []).append(i)
    found = []
    for indices in members.values():
        layer = layers[indices[0]]
        assert layer is not None
        found.append((layer, np.array(indices, dtype=np.int64)))
    return found
