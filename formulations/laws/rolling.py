"""`rolling`: Coulomb friction, and a moment that resists rolling."""

from __future__ import annotations

from typing import final

from pydantic import Field

from mcpframe.contact.contact import Contact
from mcpframe.contact.frames import EXACT_CONE
from mcpframe.contact.law import LawRows, cone_rows, friction_rows
from mcpframe.formulations.laws.tangents import (
    rolling_moments,
    sliding_forces,
    tangent_forces,
    tangent_moments,
)
from mcpframe.solving.plugin import AbstractContactLaw, FrictionDirections


@final
class Rolling(AbstractContactLaw):
    """Coulomb friction with a moment of at most radius F_n against rolling about t_1 and t_2.

    Moments a_j = n × d_j in the tangent plane, with a slack of their own, the rolling speed:

        a_j . ω + σ_r _|_ τ_j,     radius F_n - Σ τ_j _|_ σ_r.

    With two directions, contact in the plane of n and t_1, it is the moment about t_2 that resists.
    """

    name = "rolling"
    friction_directions: FrictionDirections = None
    radius: float = Field(
        0.001, ge=0.0, description="moment per normal force, m: how far the load's centre runs ahead"
    )

    def rows(self, contact: Contact, dt: float) -> LawRows:
        """Return Coulomb's rows and the moments in the tangent plane."""
        n_f = self.friction_directions
        if n_f == EXACT_CONE:
            return cone_rows((tangent_forces(), contact.mu), (tangent_moments(), self.radius))
        return friction_rows((sliding_forces(n_f), contact.mu), (rolling_moments(n_f), self.radius))
