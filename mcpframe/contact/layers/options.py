"""What users say of a layer of springs: stiffness and damping, or the dimensionless form of [S00]."""

from __future__ import annotations

import math

from pydantic import BaseModel, Field

from mcpframe.contact.layers.springs import SpringLayer

STIFFNESS, DAMPING = 1e5, 300.0
"""N/m and N s/m unless said: 1 kg sinks in by 0.1 mm and comes to rest within 10 ms."""


class SpringOptions(BaseModel):
    """Options of a Kelvin-Voigt layer, for the law of a contact or for all contacts of a scene.

    With a scale s, stiffness and damping are without units [S00], K m_0 / (s t_0²) and C m_0 / (sqrt(s) t_0).
    """

    stiffness: float | None = Field(
        default=None, gt=0.0, description="K, N/m: 1e5; without units with a scale: 1"
    )
    damping: float | None = Field(
        default=None, ge=0.0, description="C, N s/m: 300; without units with a scale: 1"
    )
    tangential_stiffness: float | None = Field(
        default=None, gt=0.0, description="as stiffness, which it is by default"
    )
    tangential_damping: float | None = Field(
        default=None, ge=0.0, description="as damping, which it is by default"
    )
    scale: float | None = Field(default=None, gt=0.0, description="s, thickness of the layer without units")
    mass: float = Field(default=1.0, gt=0.0, description="m_0 with a scale, kg")
    time: float = Field(default=1.0, gt=0.0, description="t_0 with a scale, s")

    def springs(self) -> SpringLayer:
        """Return the layer."""
        s, units, ones = self.scale, (1.0, 1.0), (STIFFNESS, DAMPING)
        if s is not None:
            units, ones = (self.mass / (s * self.time**2), self.mass / (math.sqrt(s) * self.time)), (1.0, 1.0)
        K, C = _given(self.stiffness, ones[0]), _given(self.damping, ones[1])
        K_t, C_t = _given(self.tangential_stiffness, K), _given(self.tangential_damping, C)
        return SpringLayer(
            stiffness=units[0] * K,
            damping=units[1] * C,
            tangential_stiffness=units[0] * K_t,
            tangential_damping=units[1] * C_t,
        )


def _given(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
