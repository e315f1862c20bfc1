"""`torsional`: Coulomb friction, and friction against spinning on the spot."""

from __future__ import annotations

from typing import final

import numpy as np
from pydantic import Field

from mcpframe.contact.contact import Contact
from mcpframe.contact.frames import EXACT_CONE
from mcpframe.contact.law import MOMENT_N, LawRows, cone_rows, friction_rows
from mcpframe.formulations.laws.tangents import sliding_forces, tangent_forces
from mcpframe.solving.plugin import AbstractContactLaw, FrictionDirections


@final
class Torsional(AbstractContactLaw):
    """Coulomb friction with a moment of at most radius mu F_n against spin about the normal.

    A pair of moments ±n with a slack of its own, the spin's speed:

        ±ω_n + σ_s _|_ τ±,     radius mu F_n - τ+ - τ- _|_ σ_s.

    For a round patch of radius a the radius to give is 2/3 a under even pressure, 3 π / 16 a under Hertz's.
    Sliding does not weaken the moment here, as it does on a real patch.
    """

    name = "torsional"
    friction_directions: FrictionDirections = None
    radius: float = Field(0.01, ge=0.0, description="moment per friction force, m: about the patch's radius")

    def rows(self, contact: Contact, dt: float) -> LawRows:
        """Return Coulomb's rows and the pair of moments about n."""
        if self.friction_directions == EXACT_CONE:
            about_n = np.eye(6)[:, [MOMENT_N]]
            return cone_rows((tangent_forces(), contact.mu), (about_n, self.radius * contact.mu))
        spin = np.zeros((6, 2))
        spin[MOMENT_N] = 1.0, -1.0
        sliding = sliding_forces(self.friction_directions), contact.mu
        return friction_rows(sliding, (spin, self.radius * contact.mu))
