"""`anisotropic`: dry friction that is stronger along one tangent than along the other."""

from __future__ import annotations

from typing import final

import numpy as np
from pydantic import Field

from mcpframe.contact.contact import Contact
from mcpframe.contact.frames import EXACT_CONE
from mcpframe.contact.law import FORCE_1, FORCE_2, LawRows, cone_rows, friction_rows
from mcpframe.formulations.laws.tangents import sliding_forces, tangent_forces
from mcpframe.solving.plugin import AbstractContactLaw, FrictionDirections


@final
class Anisotropic(AbstractContactLaw):
    """Elliptic friction cone: mu_1 along t_1, mu_2 along t_2, a polygon with n_f corners on the ellipse.

    Friction is the force f that takes most power from the slip v among those that the contact can bear,

        f = argmin f . v    over    (f_1 / mu_1)² + (f_2 / mu_2)² <= F_n².

    The ellipse is replaced by the polygon of its points e_j = (mu_1 cos a_j, mu_2 sin a_j) at equal a_j: the
    image of the regular polygon of `coulomb`, so as good an approximation. Every f of the polygon is
    Σ β_j e_j with β >= 0, Σ β_j <= F_n, and the optimality conditions of the linear program in β are

        e_j . v + σ _|_ β_j,     F_n - Σ β_j _|_ σ:

    σ F_n is the power taken. The force is the corner that opposes the slip most; in general it is not
    antiparallel to the slip. Without directions it is the ellipse itself, a disc in components f_i / mu_i.
    """

    name = "anisotropic"
    friction_directions: FrictionDirections = None
    mu_1: float | None = Field(None, ge=0.0, description="friction along t_1; None takes the contact's mu")
    mu_2: float | None = Field(None, ge=0.0, description="friction along t_2; None takes the contact's mu")

    def rows(self, contact: Contact, dt: float) -> LawRows:
        """Return the rows of the corners e_j, which share out F_n itself."""
        mu = [contact.mu if own is None else own for own in (self.mu_1, self.mu_2)]
        if self.friction_directions == EXACT_CONE:
            return cone_rows((tangent_forces() * mu, 1.0))
        corners = sliding_forces(self.friction_directions)
        corners[[FORCE_1, FORCE_2]] *= np.array(mu)[:, None]
        return friction_rows((corners, 1.0))
