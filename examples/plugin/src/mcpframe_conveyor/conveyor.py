"""`conveyor`: dry friction on a surface that runs while its body stands still."""

from typing import final

import numpy as np
from pydantic import Field

from mcpframe import AbstractContactLaw, Contact, FrictionDirections, LawRows, friction_rows
from mcpframe.contact.frames import FRICTION_DIRECTIONS, friction_directions
from mcpframe.contact.law import FORCE_1, FORCE_2


@final
class Conveyor(AbstractContactLaw):
    """Coulomb friction on a belt: the surface of body B runs at speed_1 along t_1 and speed_2 along t_2.

    Slip is measured against the running surface, V_rel - V_belt, so the rows are those of `coulomb` with
    another velocity,

        Wd* (V_rel - V_belt) + N σ  _|_  β >= 0,     mu F_n - Σ β_j  _|_  σ >= 0.

    Rows of laws have no constants of their own, so a second slack is fixed at one and brings this one:
    its column of N is -Wd* V_belt. A belt keeps its speed whatever it carries, and so adds energy.
    """

    name = "conveyor"
    adds_energy = True
    friction_directions: FrictionDirections = None
    speed_1: float = Field(1.0, allow_inf_nan=False, description="speed of the surface along t_1, m/s")
    speed_2: float = Field(0.0, allow_inf_nan=False, description="speed of the surface along t_2, m/s")

    def rows(self, contact: Contact, dt: float) -> LawRows:
        """Return Coulomb's rows with the column -Wd* V_belt beside N."""
        d = friction_directions(self.friction_directions or FRICTION_DIRECTIONS)
        forces, V_belt = np.zeros((6, d.shape[1])), np.zeros(6)
        forces[[FORCE_1, FORCE_2]] = d
        V_belt[[FORCE_1, FORCE_2]] = self.speed_1, self.speed_2
        coulomb = friction_rows((forces, contact.mu))
        N = np.column_stack([coulomb.N, -coulomb.Wd.T @ V_belt])
        P = np.vstack([coulomb.P, np.zeros(coulomb.m)])
        return LawRows(coulomb.Wd, N, P, sigma_lower=(0.0, 1.0), sigma_upper=(np.inf, 1.0))
