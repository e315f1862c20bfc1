"""`compliant`: Coulomb friction through a thin layer of springs and dampers."""

from __future__ import annotations

from typing import final

from mcpframe.contact.contact import Contact
from mcpframe.contact.law import LawRows
from mcpframe.contact.layers.options import SpringOptions
from mcpframe.formulations.laws.coulomb import Coulomb
from mcpframe.solving.plugin import AbstractContactLaw, FrictionDirections


@final
class Compliant(SpringOptions, AbstractContactLaw):
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

    def rows(self, contact: Contact, dt: float) -> LawRows:
        """Return Coulomb's rows on the surface of the layer."""
        rigid = Coulomb(friction_directions=self.friction_directions).rows(contact, dt)
        return rigid.softened(layer=self.springs())
