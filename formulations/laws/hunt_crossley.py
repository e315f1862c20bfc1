"""`hunt_crossley`: Coulomb friction through a layer that hardens, and damps the more it is pressed."""

from __future__ import annotations

from typing import final

from pydantic import Field

from mcpframe.contact.contact import Contact
from mcpframe.contact.law import LawRows
from mcpframe.contact.layers.springs import SpringLayer
from mcpframe.formulations.laws.coulomb import Coulomb
from mcpframe.solving.plugin import AbstractContactLaw, FrictionDirections


@final
class HuntCrossley(AbstractContactLaw):
    """Layer of Hunt and Crossley, F_n = k δ^e (1 + d δ̇) >= 0, with Coulomb friction on its surface.

    Damping vanishes with the depth, so that forces begin and end at none; what is thrown back at small
    speeds v is about 1 - 2/3 d v. The force is linearised where a step begins, and then implicit, as that of
    `compliant`; along the tangents there are springs and dampers with constants of their own.
    """

    name = "hunt_crossley"
    friction_directions: FrictionDirections = None
    stiffness: float = Field(1e7, gt=0.0, description="k, N/m^e")
    exponent: float = Field(1.5, ge=1.0, description="e: 1.5 is Hertz's for spheres")
    dissipation: float = Field(1.0, ge=0.0, description="d, s/m")
    tangential_stiffness: float = Field(1e5, gt=0.0, description="N/m")
    tangential_damping: float = Field(300.0, ge=0.0, description="N s/m")

    def rows(self, contact: Contact, dt: float) -> LawRows:
        """Return Coulomb's rows on the surface of the layer."""
        layer = SpringLayer(
            stiffness=self.stiffness,
            exponent=self.exponent,
            dissipation=self.dissipation,
            tangential_stiffness=self.tangential_stiffness,
            tangential_damping=self.tangential_damping,
        )
        return Coulomb(friction_directions=self.friction_directions).rows(contact, dt).softened(layer=layer)
