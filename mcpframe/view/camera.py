"""Cameras: where pictures look from. Projection is orthographic: lengths across the view are true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcpframe.arrays import Array

FLAT = 1e-6
"""Share of its width that a motion may leave a vertical plane by and still be seen from the side."""
PLANAR_VIEWS = {1: -90.0, 0: 0.0}
"""Azimuth that looks at a motion without extent along y, or along x."""


@dataclass(frozen=True)
class Camera:
    """A view from far away.

    Attributes:
        azimuth: degrees about z from x to where the camera is; -90 has x to the right.
        elevation: degrees above the horizon; 0 is a side view.
    """

    azimuth: float = -60.0
    elevation: float = 20.0

    @property
    def axes(self) -> Array:
        """Unit vectors to the right, up, and towards the camera, as rows [3, 3]."""
        (ca, ce), (sa, se) = np.cos(self._angles), np.sin(self._angles)
        right, towards = np.array([-sa, ca, 0.0]), np.array([ce * ca, ce * sa, se])
        return np.array([right, np.cross(towards, right), towards])

    def project(self, points: Array) -> Array:
        """Return points [..., 3] in the picture [..., 2], metres to the right and up."""
        projected: Array = points @ self.axes[:2].T
        return projected

    def depth(self, points: Array) -> Array:
        """Return how near points [..., 3] are to the camera [...]."""
        depth: Array = points @ self.axes[2]
        return depth

    @property
    def _angles(self) -> Array:
        return np.deg2rad([self.azimuth, self.elevation])


def view_of(points: Array) -> Camera:
    """Return a camera that looks well at points [..., 3]: from the side where they stay in a plane.

    Points on one vertical line, as those of a stack, stay in many planes; they are seen from above a corner.
    """
    extent = np.ptp(points.reshape(-1, 3), axis=0) if points.size else np.zeros(3)
    flat = extent <= FLAT * max(extent.max(), FLAT)
    for axis, azimuth in PLANAR_VIEWS.items():
        if flat[axis] and not flat[:2].all():
            return Camera(azimuth, 0.0)
    return Camera()
