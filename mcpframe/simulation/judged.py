"""Which scenes can have their steps judged, and so their contacts switch between models."""

from __future__ import annotations

from collections.abc import Sequence

from mcpframe.contact.law import LawRows
from mcpframe.exceptions import OptionError
from mcpframe.scene.scene import Scene
from mcpframe.simulation.memory.workspace import lasting_forms


def check_judged(scene: Scene, laws: Sequence[LawRows], native: bool) -> None:
    """Raise OptionError where steps cannot be judged.

    Args:
        scene: asks for it.
        laws: of its contacts and limits.
        native: whether the formulation writes its problems in compiled code.
    """
    stepping = scene.stepping
    asked = (
        "diagnose = true" if stepping.switches == "never" else f"contact_model = {stepping.contact_model!r}"
    )
    if not native:
        raise OptionError(f"{asked}: formulation {stepping.formulation.name!r} has no kernels; os has")
    if scene.adaptive is not None:
        raise OptionError(f"{asked}: not together with [adaptive]")
    if stepping.switches != "never" and any(law.layer is not None for law in laws):
        raise OptionError(
            f"{asked}: a law has a layer of its own; give contacts that one by [stepping.layer]"
        )
    if not all(lasting_forms(law) for law in laws):
        raise OptionError(f"{asked}: contacts need Coulomb's friction or none; a law has other rows")
