"""Planes in a picture: ground where they are seen edge-on, a grid where they are seen from above."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from mcpframe.arrays import Array
from mcpframe.spatial.transforms import Pose
from mcpframe.view.camera import Camera

EDGE_ON = 0.02
"""Cosine between a plane's normal and the view below which the plane is seen as a line."""
FAR = 0.6
"""Share of the scene's size beyond which a plane is too far away to be drawn."""
BORDER = 0.12
"""Share of its size by which a patch of a plane reaches beyond what moves above it."""
GRID_LINES = 8
"""About how many lines a grid has in each direction."""


@dataclass(frozen=True, eq=False)
class Region:
    """The part of the world that a picture shows: corners of a box [3], metres."""

    low: Array
    high: Array

    @property
    def corners(self) -> Array:
        """Corners [8, 3]."""
        return np.array(list(product(*zip(self.low, self.high, strict=True))))

    @property
    def size(self) -> float:
        """Longest edge, m."""
        return float((self.high - self.low).max())


def is_near(pose: Pose, region: Region) -> bool:
    """Tell whether a plane comes near the region; one that would hide all of it does not count."""
    heights = (region.corners - pose.position) @ pose.rotation[:, 2]
    return bool(-FAR * region.size < heights.min() < FAR * region.size and heights.max() > 0.0)


def is_edge_on(pose: Pose, camera: Camera) -> bool:
    """Tell whether a plane is seen as a line."""
    return bool(abs(camera.axes[2] @ pose.rotation[:, 2]) < EDGE_ON)


def ground(pose: Pose, camera: Camera, window: Array) -> Array:
    """Return the part of a picture's window [m, 2] that a plane seen edge-on fills [k, 2]."""
    return _clipped(window, camera.project(pose.rotation[:, 2]), camera.project(pose.position))


def patch(pose: Pose, region: Region, planes: list[Pose]) -> tuple[Array, list[Array]]:
    """Return the corners of the part of a plane under a region [k, 3], and the lines of a grid on it.

    Args:
        pose: of the plane.
        region: what the patch lies under, with a border around it.
        planes: others; behind them there is no patch.
    """
    local = (region.corners - pose.position) @ pose.rotation[:, :2]
    low, high = local.min(axis=0), local.max(axis=0)
    border = BORDER * (high - low).max()
    low, high = low - border, high + border
    pieces = [np.array([low, (high[0], low[1]), high, (low[0], high[1])]), *_grid(low, high)]
    placed = [piece @ pose.rotation[:, :2].T + pose.position for piece in pieces]
    for plane in planes:
        placed = [_clipped(piece, -plane.rotation[:, 2], plane.position) for piece in placed]
    return placed[0], [line[:2] for line in placed[1:] if len(line) > 1]  # a cut point is there twice


def _grid(low: Array, high: Array) -> list[Array]:
    """Return lines [2, 2] along both directions of a rectangle, a nice length apart."""
    spacing = nice_length(float((high - low).max()) / GRID_LINES)
    x, y = (spacing * np.arange(np.ceil(low[i] / spacing), high[i] / spacing) for i in range(2))
    along_y = [np.array([(at, low[1]), (at, high[1])]) for at in x]
    return along_y + [np.array([(low[0], at), (high[0], at)]) for at in y]


def _clipped(polygon: Array, normal: Array, point: Array) -> Array:
    """Return the part of a polygon [m, d] below a plane through a point (Sutherland, Hodgman)."""
    height = (polygon - point) @ normal
    kept = []
    for i, j in zip(range(len(polygon)), np.roll(np.arange(len(polygon)), -1), strict=True):
        if height[i] <= 0.0:
            kept.append(polygon[i])
        if height[i] * height[j] < 0.0:
            kept.append(polygon[i] + (polygon[j] - polygon[i]) * height[i] / (height[i] - height[j]))
    return np.array(kept).reshape(-1, polygon.shape[1])


def nice_length(length: float) -> float:
    """Return the next larger of 1, 2, 5, 10, 20, ... and their tenths."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= length * (1 - 1e-9)))
