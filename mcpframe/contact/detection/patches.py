"""The patch in which two supports meet: the corners of their overlap, seen along the normal.

In a plane across the normal n both supports are points, segments or polygons, with heights along n; the
corners of their overlap are corners of one that lie in the other, and crossings of their edges. The
difference of the heights there is a gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.detection.solids import Support
from mcpframe.contact.detection.thresholds import NEARLY_PARALLEL

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

    def height_at(self, place: Array) -> float:
        return float(self.height[0] + (place - self.corners[0]) @ self.gradient)

    def edges(self) -> list[tuple[int, int]]:
        return [(k, (k + 1) % self.n) for k in range(self.n)] if self.n > 2 else [(0, 1)][: self.n - 1]

    def holds(self, place: Array) -> bool:
        """Return whether a place lies in the polygon, or beside the segment."""
        if self.n == 1:
            return False
        arm, d = place - self.corners[0], self.corners[1] - self.corners[0]
        if self.n == 2:
            t, length = float(arm @ d), float(d @ d)
            aside = abs(arm[0] * d[1] - arm[1] * d[0])
            return -ON_EDGE * length <= t <= (1.0 + ON_EDGE) * length and aside <= NEARLY_PARALLEL * length
        ahead = np.roll(self.corners, -1, axis=0) - self.corners
        arms = place - self.corners
        inward = ahead[:, 0] * arms[:, 1] - ahead[:, 1] * arms[:, 0]
        turn = np.sign(_area(self.corners))
        return bool((turn * inward >= -ON_EDGE * self.size * np.linalg.norm(ahead, axis=1)).all())


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
        found += [
            (place, start + number % CORNERS)
            for place, number in zip(flat.corners, flat.ids, strict=True)
            if other.holds(place)
        ]
    found = _apart([*found, *_crossings(p, q)], SAME_PLACE * min(p.size, q.size))
    places = np.array([place for place, _ in found]).reshape(-1, 2)
    low, high = (np.array([flat.height_at(place) for place in places]) for flat in (p, q))
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
    kept: list[tuple[Array, int]] = []
    for place, feature in found:
        if all(np.abs(place - other).max() > room for other, _ in kept):
            kept.append((place, feature))
    return kept


def _crossings(p: _Flat, q: _Flat) -> list[tuple[Array, int]]:
    """Return where edges of two flats cross, apart from their corners, with the number of the crossing."""
    found = []
    for i, i_next in p.edges():
        for j, j_next in q.edges():
            a, b = p.corners[i_next] - p.corners[i], q.corners[j_next] - q.corners[j]
            across = a[0] * b[1] - a[1] * b[0]
            if abs(across) > ON_EDGE * np.linalg.norm(a) * np.linalg.norm(b):
                d = q.corners[j] - p.corners[i]
                s, t = (d[0] * b[1] - d[1] * b[0]) / across, (d[0] * a[1] - d[1] * a[0]) / across
                if ON_EDGE < s < 1.0 - ON_EDGE and ON_EDGE < t < 1.0 - ON_EDGE:
                    edge = p.ids[i] % CORNERS * CORNERS + q.ids[j] % CORNERS
                    found.append((p.corners[i] + s * a, 1 + 2 * CORNERS + edge))
    return found


def reduced(patch: Patch, places: Array) -> Patch:
    """Return a patch of few corners: of many, at places [k, 2], those furthest out and the deepest."""
    if len(places) <= MOST:
        return patch
    angle = 2.0 * np.pi * np.arange(MOST) / MOST
    outmost = (places @ np.array([np.cos(angle), np.sin(angle)])).argmax(axis=0)
    kept = sorted({*outmost.tolist(), int(patch.gaps.argmin())})
    return Patch(patch.points[kept], patch.gaps[kept], [patch.features[k] for k in kept])


def _area(corners: Array) -> float:
    x, y = corners.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1))
