"""Nodes: frames fixed to bodies, where constraints and forces act."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError
from mcpframe.spatial.transforms import Pose


@dataclass(frozen=True, eq=False, init=False)
class Node:
    """A frame fixed to a link, to a named frame, or to the world.

    Attributes:
        body: name of the link or frame, or "world".
        position: origin of the node in the body's frame [3], metres.
        rotation: axes of the node in the body's frame, as columns [3, 3].
    """

    body: str
    position: Array
    rotation: Array

    def __init__(
        self, body: str, position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None
    ) -> None:
        if not isinstance(body, str) or not body:
            raise ModelError(f"node: body {body!r}; give the name of a link or frame, or 'world'")
        pose = Pose(position, rotation)
        object.__setattr__(self, "body", body)
        object.__setattr__(self, "position", pose.position)
        object.__setattr__(self, "rotation", pose.rotation)

    @property
    def pose(self) -> Pose:
        """The node in the body's frame."""
        return Pose(self.position, self.rotation)
