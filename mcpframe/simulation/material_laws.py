"""What contacts of every material of a scene may do, as the steps of a run ask for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcpframe.contact.contact import Contact
from mcpframe.contact.detection.materials import Material
from mcpframe.contact.law import LawRows, find_law, law_rows
from mcpframe.scene.scene import Scene


def material_rows(scene: Scene, materials: Sequence[Material], dt: float) -> list[LawRows]:
    """Return the rows of every material's contacts in a step of dt."""
    n_f, rows = scene.stepping.formulation.directions, []
    for material in materials:
        contact = Contact("world", "world", np.zeros(3), (0.0, 0.0, 1.0), material.mu, material.restitution)
        rows.append(law_rows(material.law or find_law("coulomb"), contact, dt, n_f))
    return rows
