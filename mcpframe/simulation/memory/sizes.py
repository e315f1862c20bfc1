"""Sizes of shapes: how thick they are, and how far from the origins of their links they reach."""

from __future__ import annotations

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.detection.detector import Detector
from mcpframe.contact.detection.solids import Solid
from mcpframe.multibody.model.shapes import Box

THIN = 1e-3
"""Share of its size that a segment counts as thick."""


class ShapeSizes:
    """Sizes of the shapes of a detector; see `mcpframe.simulation.step.moving.travel`.

    Args:
        detector: of the scene.

    Attributes:
        thickness: smallest extent of every shape, m; infinite for half-spaces [n_shapes].
        thinnest: the smallest of these.
        radius: how far from its own origin a point of a shape can be, m [n_shapes].
        reach: how far from its link's origin a point of a shape can be, m [n_shapes].
    """

    def __init__(self, detector: Detector) -> None:
        sizes = [_sizes(detector, i) for i in range(len(detector.shapes))]
        self.thickness = np.array([thickness for thickness, _ in sizes])
        self.thinnest = float(self.thickness.min(initial=np.inf))
        places = [np.linalg.norm(shape.geometry.pose.position) for shape in detector.shapes]
        self.radius = np.array([radius for _, radius in sizes])
        self.reach = np.array(places) + self.radius


def _sizes(detector: Detector, i: int) -> tuple[float, float]:
    """Return the thickness of a shape, and how far from its origin a point of it can be."""
    shape, terrain = detector.shapes[i].geometry.shape, detector.terrain(i)
    if terrain is not None:
        return terrain.thickness, float(np.linalg.norm(terrain.centre)) + terrain.radius
    if isinstance(shape, Box):  # hulls take milliseconds each to make
        extents = np.array(shape.size)
    else:
        solid = detector.solid(i)
        if solid is None:
            return np.inf, 0.0
        extents = _extents(solid)
    reach = float(np.linalg.norm(extents))
    return max(float(extents.min()), THIN * reach), reach


def _extents(solid: Solid) -> Array:
    """Return the extents of a shape along its own axes [3]."""
    return np.array([solid.reach(d) + solid.reach(-d) for d in np.eye(3)])
