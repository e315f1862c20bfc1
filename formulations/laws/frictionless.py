"""`frictionless`: a normal impulse and nothing else."""

from __future__ import annotations

from typing import final

from mcpframe.contact.contact import Contact
from mcpframe.contact.law import LawRows, friction_rows
from mcpframe.solving.plugin import AbstractContactLaw


@final
class Frictionless(AbstractContactLaw):
    """No friction: 0 <= v_n _|_ F_n >= 0, whatever the contact's mu."""

    name = "frictionless"

    def rows(self, contact: Contact, dt: float) -> LawRows:
        """Return the normal row [J14, Eq. (10a)]."""
        return friction_rows()
