"""The layer of springs and dampers: Kelvin-Voigt, or hardening as it is pressed [Hunt, Crossley 1975]."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from mcpframe.arrays import Array, frozen
from mcpframe.contact.layers.kernels import spring_energy, spring_stretch, spring_terms
from mcpframe.contact.layers.layer import ContactLayer
from mcpframe.exceptions import ProblemError


@final
@dataclass(frozen=True)
class SpringLayer(ContactLayer):
    """Springs and dampers along n, t_1, t_2: λ_n = k δ^e (1 + d δ̇) + c δ̇ >= 0, λ_t = k_t δ_t + c_t δ̇_t.

    It remembers (o, δ_1, δ_2): the depth is δ = o - gap, and o is zero unless somebody sets it.

    Attributes:
        stiffness: k, N/m^e.
        damping: c, N s/m.
        exponent: e, at least 1.
        dissipation: d, s/m.
        tangential_stiffness: k_t, N/m.
        tangential_damping: c_t, N s/m.
    """

    stiffness: float
    damping: float = 0.0
    exponent: float = 1.0
    dissipation: float = 0.0
    tangential_stiffness: float = 0.0
    tangential_damping: float = 0.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0.0 <= value < np.inf:
                raise ProblemError(f"layer: {name} = {value}: must be finite and not negative")
        if self.exponent < 1.0:
            raise ProblemError(f"layer: exponent = {self.exponent}: must be at least 1")
        if not (self.stiffness > 0.0 and self.tangential_stiffness + self.tangential_damping > 0.0):
            raise ProblemError("layer: it needs a stiffness, and stiffness or damping along the tangents")

    @cached_property
    def numbers(self) -> Array:
        """Its row for kernels, see `mcpframe.contact.layers.kernels`."""
        normal = self.stiffness, self.exponent, self.damping, self.dissipation
        return frozen(np.array([*normal, self.tangential_stiffness, self.tangential_damping]))

    def terms(self, dt: float, gap: Array, speed: Array, memory: Array) -> tuple[Array, Array]:
        """Return S and s along n, t_1, t_2 [n, 3]."""
        S, s = np.empty(3 * gap.size), np.empty(3 * gap.size)
        spring_terms(self.numbers, dt, _flat(gap), _flat(speed), _flat(memory), S, s)
        return S.reshape(-1, 3), s.reshape(-1, 3)

    def after(self, dt: float, gap: Array, memory: Array, impulse: Array) -> Array:
        """Return offsets as they were, and stretches after a step with these impulses."""
        stretch = _flat(memory).copy()
        spring_stretch(self.numbers, dt, _flat(impulse), stretch)
        return stretch.reshape(-1, 1, 3)

    def energy(self, gap: Array, memory: Array) -> Array:
        """Return what its springs store [n], J."""
        stored = np.empty(gap.size)
        spring_energy(self.numbers, _flat(gap), _flat(memory), stored)
        return stored


def _flat(array: Array) -> Array:
    return np.ascontiguousarray(array, dtype=np.float64).reshape(-1)
