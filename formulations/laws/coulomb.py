"""`coulomb`: dry friction on a polyhedral cone."""

from __future__ import annotations

from typing import final

from mcpframe.contact.contact import Contact
from mcpframe.contact.frames import EXACT_CONE
from mcpframe.contact.law import LawRows, cone_rows, friction_rows
from mcpframe.formulations.laws.tangents import sliding_forces, tangent_forces
from mcpframe.solving.plugin import AbstractContactLaw, FrictionDirections


@final
class Coulomb(AbstractContactLaw):
    """Coulomb friction: a force of at most mu F_n against the slip, on a cone with n_f edges.

    With β = [F_n; β_1 .. β_nf] and one σ, the slip speed, the rows are [J14, Eqs. (12), (14)]

        v_n _|_ F_n,     d_j . v + σ _|_ β_j,     mu F_n - Σ β_j _|_ σ,

    all non-negative. Exact for slip along a direction d_j; in between the friction force is the edge nearest
    to the opposite of the slip. Two directions are friction along t_1 alone, for contact in the plane. With
    none the cone is exact: β = [F_n; f_1; f_2], |f| <= mu F_n against the slip, no slack.
    """

    name = "coulomb"
    friction_directions: FrictionDirections = None

    def rows(self, contact: Contact, dt: float) -> LawRows:
        """Return N = Ehat = [0; 1 .. 1] and P = Ebar = [mu, -1 .. -1]."""
        if self.friction_directions == EXACT_CONE:
            return cone_rows((tangent_forces(), contact.mu))
        return friction_rows((sliding_forces(self.friction_directions), contact.mu), mu=contact.mu)
