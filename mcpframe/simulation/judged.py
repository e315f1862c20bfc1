"""What of laws a judge of contact models reads; see `mcpframe.simulation.step.contact_model`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mcpframe.contact.detection.materials import Material
from mcpframe.contact.law import LawRows
from mcpframe.exceptions import OptionError
from mcpframe.scene.scene import Scene
from mcpframe.simulation.memory.law_groups import pack_groups

WHY = (
    "the law {name!r} cannot be judged: beside a normal force its unknowns are neither groups that share "
    "out a part of it, nor discs, nor between bounds or free"
)


def judged_groups(
    scene: Scene, materials: Sequence[Material], laws: Sequence[LawRows]
) -> list[NDArray[np.int64]]:
    """Return the groups of all laws.

    Args:
        scene: asks for steps to be judged.
        materials: of its contacts.
        laws: rows of these, and of limits.

    Raises:
        OptionError: a law is not of such groups.
    """
    groups = [pack_groups(law) for law in laws]
    for group, material in zip(groups, materials, strict=False):
        if group is None:
            name = "coulomb" if material.law is None else material.law.name
            raise OptionError(f"{_asked(scene)}: {WHY.format(name=name)}")
    return [group for group in groups if group is not None]


def _asked(scene: Scene) -> str:
    stepping = scene.stepping
    if stepping.switches == "never":
        return "diagnose = true"
    return f"contact_model = {stepping.contact_model!r}"
