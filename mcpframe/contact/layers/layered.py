"""Any law on the surface of a layer: how all contacts of a scene become compliant at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

from mcpframe.contact.contact import Contact
from mcpframe.contact.detection.materials import DEFAULT, Material, Names
from mcpframe.contact.law import ContactLaw, LawRows, find_law
from mcpframe.contact.layers.layer import ContactLayer


@final
@dataclass(frozen=True)
class LayeredLaw:
    """A law whose contacts yield: its rows on the surface of a layer, unless it has one of its own.

    Attributes:
        law: what the surface may do.
        layer: what lies below it.
    """

    name: ClassVar[str] = "layered"
    law: ContactLaw
    layer: ContactLayer

    @property
    def adds_energy(self) -> bool:
        """Whether contacts can drive what they touch."""
        return bool(getattr(self.law, "adds_energy", False))

    def rows(self, contact: Contact, dt: float) -> LawRows:
        """Return the rows of the law, softened."""
        rows = self.law.rows(contact, dt)
        return rows if rows.layer else rows.softened(compliance=rows.compliance, layer=self.layer)

    def with_options(self, options: Mapping[str, Any]) -> LayeredLaw:
        """Return it with some options of its law changed."""
        return replace(self, law=self.law.with_options(options))

    def with_friction_directions(self, n_f: int) -> LayeredLaw:
        """Return it with n_f directions, unless the options of its law say how many."""
        return replace(self, law=self.law.with_friction_directions(n_f))


def on_layer(materials: Mapping[Names, Material], layer: ContactLayer) -> dict[Names, Material]:
    """Return materials whose contacts yield, that of all other pairs among them."""
    coulomb = find_law("coulomb")
    return {
        names: Material(one.mu, one.restitution, LayeredLaw(one.law or coulomb, layer))
        for names, one in {DEFAULT: Material(), **materials}.items()
    }
