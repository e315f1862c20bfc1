"""The patch in which two supports meet: the corners of their overlap, seen along the normal.

In a plane across the normal n both supports are points, segments or polygons, with heights along n; the
corners of their overlap are corners of one that lie in the other, and crossings of their edges. The
difference of the heights there is a gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.detection.solids import Indices, Support
from mcpframe.contact.detection.thresholds import NEARLY_PARALLEL

Mask = NDArray[np.bool_]

ON_EDGE = 1e-9
"""Part of a support's size within which a corner on its edge is inside."""
MOST = 8
"""Corners of a patch that are kept, besides the deepest."""
SAME_PLACE = 1e-6
"""Part of the smaller support's size within which two corners are one."""
CORNERS = 512
"""Corners that a feature's number tells apart."""


@dataclass(frozen=True, eq=False)
class Patch:
    """Corners of an overlap.

    Attributes:
        points: in the middle between the surfaces [k, 3].
        gaps: [k].
        features: numbers [k], from 1 on.
    """

    points: Array
    gaps: Array
    features: list[int]


NO_PATCH = Patch(np.zeros((0, 3)), np.zeros(0), [])


class _Flat:
    """A support in a plane: corners [k, 2], heights as an affine function of the place."""

    def __init__(self, support: Support, axes: Array) -> None:
        seen = support[0] @ axes
        self.corners, self.height, self.ids = seen[:, :2], seen[:, 2], support[1]
        self.n = len(self.corners)
        arms = self.corners - self.corners[0]
        self.size = float(np.abs(arms).max(initial=0.0))
        self.gradient = np.linalg.lstsq(arms, self.height - self.height[0], rcond=None)[0]

    def height_at(self, places: Array) -> Array:
        """Return the heights at places [m, 2]."""
        return np.asarray(self.height[0] + (places - self.corners[0]) @ self.gradient)

    def edges(self) -> tuple[Indices, Indices]:
        """Return first and second corners of all edges: a polygon's, a segment's one, of a point none."""
        first = np.arange(self.n if self.n > 2 else self.n - 1)
        return first, (first + 1) % self.n

    def holds(self, places: Array) -> Mask:
        """Return which of places [m, 2] lie in the polygon, or beside the segment."""
        if self.n == 1:
            return np.zeros(len(places), dtype=bool)
        if self.n == 2:
            arm, d = places - self.corners[0], self.corners[1] - self.corners[0]
            t, length = arm @ d, float(d @ d)
            along = (t >= -ON_EDGE * length) & (t <= (1.0 + ON_EDGE) * length)
            return np.asarray(along & (np.abs(_cross(arm, d)) <= NEARLY_PARALLEL * length))
        ahead = self.corners[self.edges()[1]] - self.corners
        inward = _cross(ahead, places[:, None, :] - self.corners)
        turn = np.sign(_cross(self.corners, self.corners[self.edges()[1]]).sum())
        room = ON_EDGE * self.size * np.hypot(ahead[:, 0], ahead[:, 1])
        return np.asarray((turn * inward >= -room).all(axis=1))


def overlap(first: Support, second: Support, frame: Array) -> Patch:
    """Return the patch of two supports, of the first shape along n and of the second along -n.

    Args:
        first, second: supports in world axes.
        frame: rows n, t_1, t_2 [3, 3].
    """
    axes = frame[[1, 2, 0]].T
    p, q = _Flat(first, axes), _Flat(second, axes)
    found: list[tuple[Array, int]] = []
    for flat, other, start in ((p, q, 1), (q, p, 1 + CORNERS)):
        inside = np.flatnonzero(other.holds(flat.corners)).tolist()
        found += [(flat.corners[k], start + flat.ids[k] % CORNERS) for k in inside]
    found = _apart([*found, *_crossings(p, q)], SAME_PLACE * min(p.size, q.size))
    places = np.array([place for place, _ in found]).reshape(-1, 2)
    low, high = p.height_at(places), q.height_at(places)
    points = np.column_stack([places, (low + high) / 2.0]) @ axes.T
    return reduced(Patch(points, high - low, [feature for _, feature in found]), places)


def normal_of(corners: Array, n: Array) -> Array:
    """Return the direction next to n that is normal to a support: of a point n, of an edge across it."""
    if len(corners) == 1:
        return n
    e = corners[1] - corners[0]
    if len(corners) > 2:
        across = np.cross(e, corners[2] - corners[0])
        direction = across if across @ n > 0.0 else -across
    else:
        direction = n - (n @ e) / (e @ e) * e
    return np.asarray(direction / np.linalg.norm(direction))


def _apart(found: list[tuple[Array, int]], room: float) -> list[tuple[Array, int]]:
    """Return corners without those that lie where an earlier one does."""
    if not found:
        return found
    places = np.array([place for place, _ in found])
    near = np.abs(places[:, None, :] - places).max(axis=2) <= room
    kept: list[int] = []
    for k in range(len(found)):
        if not near[k, kept].any():
            kept.append(k)
    return [found[k] for k in kept]


def _crossings(p: _Flat, q: _Flat) -> list[tuple[Array, int]]:
    """Return where edges of two flats cross, apart from their corners, with the number of the crossing."""
    (i, i_next), (j, j_next) = p.edges(), q.edges()
    a, b = (p.corners[i_next] - p.corners[i])[:, None], (q.corners[j_next] - q.corners[j])[None]
    d, across = q.corners[j][None] - p.corners[i][:, None], _cross(a, b)
    sine = ON_EDGE * np.hypot(a[..., 0], a[..., 1]) * np.hypot(b[..., 0], b[..., 1])
    slope = np.where(np.abs(across) > sine, across, np.inf)  # parallel edges: at no place
    s, t = _cross(d, b) / slope, _cross(d, a) / slope
    within = (s > ON_EDGE) & (s < 1.0 - ON_EDGE) & (t > ON_EDGE) & (t < 1.0 - ON_EDGE)
    found = []
    for k, m in np.argwhere(within).tolist():
        edge = p.ids[k] % CORNERS * CORNERS + q.ids[m] % CORNERS
        found.append((p.corners[k] + s[k, m] * a[k, 0], 1 + 2 * CORNERS + edge))
    return found


def reduced(patch: Patch, places: Array) -> Patch:
    """Return a patch of few corners: of many, at places [k, 2], those furthest out and the deepest."""
    if len(places) <= MOST:
        return patch
    angle = 2.0 * np.pi * np.arange(MOST) / MOST
    outmost = (places @ np.array([np.cos(angle), np.sin(angle)])).argmax(axis=0)
    kept = sorted({*outmost.tolist(), int(patch.gaps.argmin())})
    return Patch(patch.points[kept], patch.gaps[kept], [patch.features[k] for k in kept])


def _cross(a: Array, b: Array) -> Array:
    """Return the cross products of vectors in a plane [..., 2]."""
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
