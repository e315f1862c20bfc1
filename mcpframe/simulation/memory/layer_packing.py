"""Layers of laws for the stepping kernels: springs as numbers, all others by name of Python's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.law import LawRows
from mcpframe.contact.layers.springs import SpringLayer
from mcpframe.exceptions import ModelError
from mcpframe.jit.memory import VECTOR
from mcpframe.simulation.memory import slots as at


@dataclass(frozen=True, eq=False)
class LayerTables:
    """What the laws of a run yield.

    Attributes:
        kinds: NO_LAYER, SPRUNG, HOSTED or SWITCHED [n_laws].
        numbers: of springs [n_laws, LAYER_ROOM].
        yields: compliance of each component in an impact, and what that grows by with dt [n_laws, 12].
        width: numbers that a contact remembers: its normal, and vectors.
    """

    kinds: NDArray[np.int64]
    numbers: Array
    yields: Array
    width: int

    @staticmethod
    def of(
        laws: Sequence[LawRows],
        half: Sequence[LawRows],
        quarter: Sequence[LawRows],
        dt: float,
        switched: SpringLayer | None = None,
        n_switched: int = 0,
    ) -> LayerTables:
        """Return the tables of laws in steps of dt, given those in half and in a quarter of it.

        Of the first `n_switched` those without a layer get one that they have for a time.
        """
        kinds = np.full(len(laws), at.NO_LAYER)
        numbers, vectors = np.zeros((len(laws), at.LAYER_ROOM)), 1
        for k, law in enumerate(laws):
            if isinstance(law.layer, SpringLayer):
                kinds[k], numbers[k, : law.layer.numbers.size] = at.SPRUNG, law.layer.numbers
            elif law.layer is not None:
                kinds[k], vectors = at.HOSTED, max(vectors, law.layer.vectors)
            elif switched is not None and k < n_switched:
                kinds[k], numbers[k, : switched.numbers.size] = at.SWITCHED, switched.numbers
        return LayerTables(kinds, numbers, _yields(laws, half, quarter, dt), VECTOR * (1 + vectors))

    @property
    def soft(self) -> bool:
        """Whether anything yields."""
        return bool(self.kinds.any() or self.yields.any())

    @property
    def hosted(self) -> bool:
        """Whether some layer is Python's."""
        return bool((self.kinds == at.HOSTED).any())


def _yields(laws: Sequence[LawRows], half: Sequence[LawRows], quarter: Sequence[LawRows], dt: float) -> Array:
    whole, less, least = (np.array([law.compliance for law in some]) for some in (laws, half, quarter))
    if not np.allclose(whole - less, 2.0 * (less - least), rtol=1e-9, atol=1e-15):
        raise ModelError("law: its compliance grows with dt in no straight line; in runs that takes a layer")
    growth = (whole - less) / (0.5 * dt)
    return np.hstack([whole - dt * growth, growth])


def pressed(layer: SpringLayer, axes: Array, gap: Array, speed: Array, force: Array) -> Array:
    """Return what contacts remember whose layers press as hard: normals, o n + δ_1 t_1 + δ_2 t_2 [n, 8].

    So nothing jumps where layers take over from rigid contacts [S00, section 4]: with the springs at rest but
    for what bodies approach, λ_n = k δ^e - c v, δ = o - gap, and λ_t = k_t δ_t.

    Args:
        layer: of these contacts.
        axes: n, t_1, t_2 [n, 3, 3].
        gap, speed: distances and opening speeds [n].
        force: on A, world axes [n, 3], N.
    """
    own = np.einsum("uki,ui->uk", axes, force)
    normal = np.maximum(own[:, 0] + layer.damping * speed, 0.0) / layer.stiffness
    memory = own / max(layer.tangential_stiffness, np.finfo(float).tiny)
    memory[:, 0] = gap + normal ** (1.0 / layer.exponent)
    rows = np.zeros((len(gap), 2, VECTOR))
    rows[:, 0, :3], rows[:, 1, :3] = axes[:, 0], np.einsum("uki,uk->ui", axes, memory)
    return rows.reshape(len(gap), -1)
