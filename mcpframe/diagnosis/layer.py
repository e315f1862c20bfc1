"""A thin compliant layer between bodies, and whether the rigid forces are what it settles to.

Kelvin-Voigt: λ = K δ + C δ̇. In the dimensionless form of [S00], with a scale s, a mass m_0 and a time t_0,

    K = K̂ m_0/(s t_0²),     C = Ĉ m_0/(sqrt(s) t_0).

Around the rigid forces the layer moves as δ̈ + A (C δ̇ + K δ) = const, A over the contacts that carry. Its
motions are exp(r t), r² + r a C + a K = 0 for the eigenvalues a of A; where all of them die out the rigid
forces are stable. A real a > 0 is enough; P-matrices of three rows and more may have complex ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError


@dataclass(frozen=True)
class Layer:
    """Stiffness and damping of every contact.

    Attributes:
        stiffness: K, N/m.
        damping: C, N s/m.
    """

    stiffness: float
    damping: float

    def __post_init__(self) -> None:
        for name, value in (("stiffness", self.stiffness), ("damping", self.damping)):
            if not 0.0 < value < np.inf:
                raise ModelError(f"layer: {name} = {value}: must be positive and finite")

    @staticmethod
    def scaled(scale: float, mass: float, time: float = 1.0, K_hat: float = 1.0, C_hat: float = 1.0) -> Layer:
        """Return the layer of the dimensionless form [S00]."""
        for name, value in (
            ("scale", scale),
            ("mass", mass),
            ("time", time),
            ("K_hat", K_hat),
            ("C_hat", C_hat),
        ):
            if not 0.0 < value < np.inf:
                raise ModelError(f"layer: {name} = {value}: must be positive and finite")
        return Layer(K_hat * mass / (scale * time**2), C_hat * mass / (np.sqrt(scale) * time))

    def growth(self, A: Array) -> float:
        """Return the largest growth rate of a motion of the layer, 1/s: negative where all die out."""
        if len(A) == 0:
            return -np.inf
        a = np.linalg.eigvals(A).astype(complex)
        root = np.sqrt((0.5 * a * self.damping) ** 2 - a * self.stiffness)
        return float(
            np.max([-0.5 * a * self.damping + root, -0.5 * a * self.damping - root], axis=0).real.max()
        )
