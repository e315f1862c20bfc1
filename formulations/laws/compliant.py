"""`compliant`: Coulomb friction through a thin layer of springs and dampers."""

from __future__ import annotations

import math
from typing import final

from pydantic import Field

from mcpframe.contact.contact import Contact
from mcpframe.contact.law import LawRows
from mcpframe.contact.layers.springs import SpringLayer
from mcpframe.formulations.laws.coulomb import Coulomb
from mcpframe.solving.plugin import AbstractContactLaw, FrictionDirections

STIFFNESS, DAMPING = 1e5, 300.0
"""N/m and N s/m unless said: 1 kg sinks in by 0.1 mm and comes to rest within 10 ms."""


@final
class Compliant(AbstractContactLaw):
    """Kelvin-Voigt layer, F_n = K δ + C δ̇ >= 0, with Coulomb friction on its surface.

    Along the tangents the layer has springs and dampers too; its stretch is remembered from step to step, and
    |F_t| <= mu F_n, against the slip of the surface v_t + δ̇_t. In an implicit step of dt [S00, section 4]

        v_n + S F_n + K gap / (dt K + C)  _|_  F_n >= 0,       S = 1 / (dt (dt K + C)).

    Overlaps are deformations here, and what is thrown back is what the damping leaves. With a scale s,
    stiffness and damping are without units [S00], K m_0 / (s t_0²) and C m_0 / (sqrt(s) t_0), both 1 unless
    given.
    """

    name = "compliant"
    friction_directions: FrictionDirections = None
    stiffness: float | None = Field(None, gt=0.0, description="K, N/m: 1e5; without units with a scale: 1")
    damping: float | None = Field(None, ge=0.0, description="C, N s/m: 300; without units with a scale: 1")
    tangential_stiffness: float | None = Field(
        None, gt=0.0, description="as stiffness, which it is by default"
    )
    tangential_damping: float | None = Field(None, ge=0.0, description="as damping, which it is by default")
    scale: float | None = Field(None, gt=0.0, description="s, thickness of the layer without units")
    mass: float = Field(1.0, gt=0.0, description="m_0 with a scale, kg")
    time: float = Field(1.0, gt=0.0, description="t_0 with a scale, s")

    def layer(self) -> SpringLayer:
        """Return its layer."""
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

    def rows(self, contact: Contact, dt: float) -> LawRows:
        """Return Coulomb's rows on the surface of the layer."""
        rigid = Coulomb(friction_directions=self.friction_directions).rows(contact, dt)
        return rigid.softened(layer=self.layer())


def _given(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
