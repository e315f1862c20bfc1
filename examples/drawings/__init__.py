"""Pictures of the documentation, by name: what `examples/pictures.py` draws."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from drawings import adaptive, concepts, grasps, page, scenes

PICTURES: dict[str, Callable[[Path], object]] = {
    "robot": scenes.robot,
    "report": page.report,
    **{f"concepts/{name}": draw for name, draw in concepts.PICTURES.items()},
    **{f"adaptive/{name}": draw for name, draw in adaptive.PICTURES.items()},
    **{f"s00/{name}": draw for name, draw in grasps.PICTURES.items()},
    **{f"gallery/{name}": draw for name, draw in scenes.gallery().items()},
}
"""By the name of the file in docs/pictures, without its ending: what writes it."""
