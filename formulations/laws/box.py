"""`box`: friction with fixed bounds along each tangent, as game engines have it."""

from __future__ import annotations

from typing import final

import numpy as np
from pydantic import Field

from mcpframe.contact.contact import Contact
from mcpframe.contact.law import FORCE_1, FORCE_2, FORCE_N, LawRows
from mcpframe.solving.plugin import AbstractContactLaw


@final
class Box(AbstractContactLaw):
    """Box friction: forces along t_1 and t_2, each of at most mu load, whatever the normal force.

    β = [F_n; f_1; f_2], no slack, and the friction rows are bounded on both sides,

        v_n _|_ F_n >= 0,     t_i . v _|_ f_i,     |f_i| <= mu load dt.

    The problem is monotone and cheap to solve; the price is that friction does not know of the normal force.
    With load = 1 N, the default, mu itself is the bound in newtons, as in the Open Dynamics Engine.
    """

    name = "box"
    load: float = Field(1.0, ge=0.0, description="normal force that friction is reckoned with, N")

    def rows(self, contact: Contact, dt: float) -> LawRows:
        """Return the normal row and two rows bounded by the impulse mu load dt."""
        Wd = np.zeros((6, 3))
        Wd[[FORCE_N, FORCE_1, FORCE_2], range(3)] = 1.0
        bound = contact.mu * self.load * dt
        return LawRows(Wd, beta_lower=(0.0, -bound, -bound), beta_upper=(np.inf, bound, bound))
