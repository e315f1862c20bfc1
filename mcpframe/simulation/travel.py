"""How often to look within a step, so that no body passes through another unseen.

A trial is judged by the contacts where it ends. Two bodies that move against each other by no more than the
mean of their thicknesses between two looks cannot have met and parted in between, but for grazing corners.
So a step is looked at

    n = ceil( (s_A + s_B) h / ((w_A + w_B)/2) )

times, for the worst pair of shapes that can meet within it: s is the largest speed of any point of a shape,
w its thickness, the smallest of its extents along its own axes; of a heightfield the smallest of its spacings
and its depth, for a ridge is about as wide as a cell. A half-space is infinitely thick. A pair can
meet where its gap is at most h times the speed at which it can close along the contact's normal, so that fast
bodies cost nothing while nothing is ahead of them. Speeds are those at the start of the step or at its end.
"""

from __future__ import annotations

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.contact import GAP, NORMAL
from mcpframe.contact.detection.detector import Detector
from mcpframe.contact.detection.solids import Solid
from mcpframe.multibody.state import State
from mcpframe.simulation.rules import MOST_LOOKS


class Travel:
    """Sizes of the shapes of a detector, and how far they move.

    Args:
        detector: of the scene; its tables are written by `looks`.

    Attributes:
        thickness: smallest extent of every shape, m; infinite for half-spaces [n_shapes].
        thinnest: the smallest of these.
        reach: how far from its link's origin a point of a shape can be, m [n_shapes].
    """

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self._link = np.array([shape.link for shape in detector.shapes], dtype=np.int64)
        sizes = [_sizes(detector, i) for i in range(len(detector.shapes))]
        self.thickness = np.array([thickness for thickness, _ in sizes])
        self.thinnest = float(self.thickness.min(initial=np.inf))
        places = [np.linalg.norm(shape.geometry.pose.position) for shape in detector.shapes]
        self.reach = np.array(places) + np.array([radius for _, radius in sizes])

    def looks(self, state: State, theta: Array, theta_dot: Array, h: float) -> int:
        """Return how often to look within a step of h that leads to theta, theta_dot; once at least."""
        if not np.isfinite(self.thinnest):
            return 1
        before = state.theta, state.theta_dot
        moving = [self._velocities(state), self._velocities(state.update(theta, theta_dot))]
        state.update(*before)
        speeds = np.max([np.linalg.norm(v, axis=1) + turning for v, turning in moving], axis=0)
        if 2.0 * h * float(speeds.max()) <= self.thinnest:
            return 1
        self._detector.detect(state, 2.0 * h * float(speeds.max()))
        a, b = self._detector.pairs.T
        n, gap = self._detector.record[:, NORMAL][:, :3], self._detector.record[:, GAP]
        closing = [np.einsum("ui,ui->u", n, v[b] - v[a]) + turn[a] + turn[b] for v, turn in moving]
        meet = gap <= h * np.max(closing, axis=0)
        shares = h * (speeds[a] + speeds[b]) / (0.5 * (self.thickness[a] + self.thickness[b]))
        return int(np.clip(np.ceil(shares[meet].max(initial=1.0)), 1, MOST_LOOKS))

    def _velocities(self, state: State) -> tuple[Array, Array]:
        """Return the velocity of every shape's link [n_shapes, 3], and what turning can add to its points."""
        V = np.vstack([state.link_velocities(), np.zeros(6)])[self._link]  # the world is the last row
        return V[:, 3:], np.linalg.norm(V[:, :3], axis=1) * self.reach


def _sizes(detector: Detector, i: int) -> tuple[float, float]:
    """Return the thickness of a shape, and how far from its origin a point of it can be."""
    solid, terrain = detector.solid(i), detector.terrain(i)
    if terrain is not None:
        return terrain.thickness, float(np.linalg.norm(terrain.centre)) + terrain.radius
    if solid is None:
        return np.inf, 0.0
    extents = _extents(solid)
    return float(extents.min()), float(np.linalg.norm(extents))


def _extents(solid: Solid) -> Array:
    """Return the extents of a shape along its own axes [3]."""
    return np.array([solid.reach(d) + solid.reach(-d) for d in np.eye(3)])
