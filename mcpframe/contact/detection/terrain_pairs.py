"""Convex solids on heightfields: corners on faces, edges across edges, and corners below faces.

A face meets the support of the body along its normal, where that lies over the face. Convex edges and corners
of the ground meet the body as the segments and points that they are; such a contact counts where its normal
leads out of the ground, see `terrain`. Below the surface a point belongs to the face through which the
straight way out does not leave the ground before; under the line of a valley it belongs to both sides.

Where a body is so deep in the ground that nothing of this overlaps, the normal above it, and those halfway
between the faces at edges and corners, lead it out.

Identities: the face and the corner of the body; the edge and the edge or corner of the body; the corner. So a
body that slides over triangles of one plane keeps its contacts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.detection.convex_pairs import Placed, coal_shape, meet
from mcpframe.contact.detection.patches import ON_EDGE, Patch, reduced
from mcpframe.contact.detection.records import FEATURES
from mcpframe.contact.detection.solids import Rod, Support
from mcpframe.contact.detection.terrain import Flags, Indices, Terrain
from mcpframe.contact.detection.thresholds import NEARLY_PARALLEL, REACHED
from mcpframe.contact.frames import contact_frame

ENDS = (1, 2)
"""Numbers in an overlap of the two ends of its first support: those of an edge are corners of their own."""
AT_END = 1e-6
"""Part of an edge within which a point is at its end."""
SHALLOW = 1e-6
"""Part of a cell's size up to which a point below a face needs no look at the way out."""
WAY_OUT = (0.0, 0.25, 0.5, 0.75)
"""Where on the way out to a face the ground is looked for."""
MUCH = 0.25
"""Part of a depth below which another one is much less."""
SMOOTH = 1e-6
"""How far, as a sine, a normal may lead into the ground; that of a face of the body NEARLY_PARALLEL."""
TO_THE_CENTRE = np.linspace(0.0, 1.0, 5)
"""Where on the way from its lowest point to its centre a body is looked for in the ground."""
UP = np.array([0.0, 0.0, 1.0])
KEPT_FREE = 64
APART = round(0.6180339887 * FEATURES)
"""Between the numbers of one feature of the ground and of the next, by the golden section: large grids have
more features than there are numbers, but those near each other get numbers far apart [Knuth, vol. 3, 6.4]."""


class Touch(NamedTuple):
    """Contacts with one normal."""

    n: Array
    patch: Patch


Candidate = tuple[Touch, bool]
"""Contacts with a feature, and whether they are sure."""


class TerrainPairs:
    """Contacts of one heightfield with solids.

    Args:
        coal: the module.
        terrain: the surface.
    """

    def __init__(self, coal: Any, terrain: Terrain) -> None:
        self._coal, self._terrain = coal, terrain
        self._point = Rod(0.0, 0.0), coal_shape(coal, Rod(0.0, 0.0))

    def contacts(self, R: Array, x: Array, body: Placed, margin: float) -> list[Touch]:
        """Return the contacts of a body with the heightfield at R, x; normals point to the body."""
        local = body._replace(R=R.T @ body.R, x=R.T @ (body.x - x))
        axes = np.eye(3)
        low = local.x - [local.reach(-d) for d in axes] - margin
        high = local.x + [local.reach(d) for d in axes] + margin
        features = [*self._on_edges(local, low, high, margin), *self._on_corners(local, low, high, margin)]
        found = [*self._on_faces(local, low, high, margin), *(touch for touch, sure in features if sure)]
        if not any((touch.patch.gaps < 0.0).any() for touch in found):
            found += [*self._sunk(local), *(touch for touch, sure in features if not sure)]
        return [Touch(R @ n, Patch(x + patch.points @ R.T, patch.gaps, patch.features)) for n, patch in found]

    def _on_faces(self, body: Placed, low: Array, high: Array, margin: float) -> Iterator[Touch]:
        """Yield the corners of the body that lie over a face, for every face."""
        ground = self._terrain
        near = ground.triangle_bounds.near(low, high)
        number = ground.face[near]
        for face in np.unique(number):
            part = near[number == face]
            n = ground.normals[part[0]]
            places, numbers = _lowest(body, -n)
            heights, over = self._over(part, places)
            within = np.flatnonzero((heights[0] <= margin) & over.any(axis=0))
            kept = [k for k in within if self._is_met(near, part[over[:, k]], places[k], -heights[0, k])]
            gaps = heights[0, kept]
            points = places[kept] - 0.5 * gaps[:, None] * n
            features = [_number(face, 1 + numbers[k]) for k in kept]
            yield Touch(n, reduced(Patch(points, gaps, features), points @ np.array(contact_frame(n))[1:].T))

    def _over(self, triangles: Indices, places: Array) -> tuple[Array, Flags]:
        """Return heights of places over the planes of triangles, and which lie over the triangles [m, k]."""
        ground = self._terrain
        arms = places - ground.points[ground.triangles[triangles]][:, :, None]  # [m, 3, k, 3]
        heights = np.einsum("mkd,md->mk", arms[:, 0], ground.normals[triangles])
        inside = np.einsum("mskd,msd->msk", arms, ground.inward[triangles])
        stretch = ground.stretch[triangles][:, :, None] * np.maximum(-heights, 0.0)[:, None]
        return heights, (inside >= -ON_EDGE * self._size - stretch).all(axis=1)

    def _is_met(self, near: Indices, over: Indices, place: Array, depth: float) -> bool:
        """Return whether a place at triangles of a face is above them, or leaves the ground through them.

        It does where there is ground all the way, and no face is much nearer behind whose plane they lie.
        """
        ground = self._terrain
        if depth <= SHALLOW * self._size:
            return True
        heights, held = self._over(near, place[None])
        depths = -heights[:, 0]
        nearer = near[held[:, 0] & (depths >= -SHALLOW * self._size) & (depths < MUCH * depth)]
        middle = ground.points[ground.triangles[over]].mean(axis=(0, 1))
        behind = self._over(nearer, middle[None])[0] <= ON_EDGE * self._size
        way = place + np.outer(WAY_OUT, depth * ground.normals[over[0]])
        return not behind.any() and bool(ground.holds(way).all())

    def _on_edges(self, body: Placed, low: Array, high: Array, margin: float) -> Iterator[Candidate]:
        """Yield what of the body lies on convex edges, but for their ends."""
        ground = self._terrain
        for k in ground.edge_bounds.near(low, high):
            start, end = ground.points[ground.edges[k]]
            length = float(np.linalg.norm(end - start))
            along, rod = (end - start) / length, Rod(0.0, length / 2.0)
            frame = np.array(contact_frame(along))[[1, 2, 0]].T
            edge = Placed(rod, coal_shape(self._coal, rod), frame, (start + end) / 2.0)
            normals = ground.normals[ground.edge_triangles[k]]
            hint = normals.sum(axis=0) / np.linalg.norm(normals.sum(axis=0))
            n, patch = meet(self._coal, edge, body, margin, [hint])
            place = (patch.points - start) @ along / length
            inner = (place > AT_END) & (place < 1.0 - AT_END)
            kept = [i for i, f in enumerate(patch.features) if f not in ENDS and (f or inner[i])]
            features = [_number(len(ground.triangles) + k, patch.features[i]) for i in kept]
            patch = Patch(patch.points[kept], patch.gaps[kept], features)
            yield from _judged(
                Touch(n, patch), _leads_out(n, ground.away[k], normals, body), edge, body, hint
            )

    def _on_corners(self, body: Placed, low: Array, high: Array, margin: float) -> Iterator[Candidate]:
        """Yield the corners of the ground that the body lies on."""
        ground = self._terrain
        for k in ground.corner_bounds.near(low, high):
            vertex = int(ground.corners[k])
            corner = Placed(*self._point, np.eye(3), ground.points[vertex])
            hints = ground.outward[vertex], body.R[:, 2], -body.R[:, 2]  # coal fails for points in cylinders
            n, patch = meet(self._coal, corner, body, margin, hints)
            number = _number(len(ground.triangles) + len(ground.edges) + k, 0)
            patch = Patch(patch.points[:1], patch.gaps[:1], [number] * len(patch.gaps[:1]))
            sure = _leads_out(n, *ground.around(vertex), body)
            yield from _judged(Touch(n, patch), sure, corner, body, hints[0])

    def _sunk(self, body: Placed) -> Iterator[Touch]:
        """Yield the way out of a body that lies in the ground between its lowest point and its centre."""
        ground = self._terrain
        lowest = _furthest(body, -UP)
        places = lowest + np.outer(TO_THE_CENTRE, body.x - lowest)
        held = np.flatnonzero(ground.holds(places))
        if held.size:
            above = int(ground.above(places[held[0]]))
            n = ground.normals[above]
            place = lowest if held[0] == 0 and held.size == 1 else _furthest(body, -n)
            gap = float(n @ (place - ground.points[ground.triangles[above, 0]]))
            if gap < -SHALLOW * self._size:
                point, number = place - 0.5 * gap * n, _number(ground.face[above], 0)
                yield Touch(n, Patch(point[None], np.array([gap]), [number]))

    @property
    def _size(self) -> float:
        return max(self._terrain.shape.cell)


def _lowest(body: Placed, d: Array) -> Support:
    """Return the support of a body along d, and its furthest point where that is not a corner of it."""
    corners, numbers = body.support(d)
    if ((corners - body.x) @ d).max() >= (1.0 - REACHED) * body.reach(d):
        return corners, numbers
    return np.vstack([corners, _furthest(body, d)]), [*numbers, *body.solid.furthest(body.R.T @ d)[1]]


def _furthest(body: Placed, d: Array) -> Array:
    """Return a point of a body that lies furthest along d."""
    return np.asarray(body.x + body.R @ body.solid.furthest(body.R.T @ d)[0][0])


def _judged(touch: Touch, sure: bool, feature: Placed, body: Placed, outward: Array) -> Iterator[Candidate]:
    """Yield contacts with a feature that are sure; of others that overlap what they are along `outward`."""
    if sure:
        yield touch, True
    elif (touch.patch.gaps < 0.0).any():
        deepest = int(touch.patch.gaps.argmin())
        gap = float(outward @ (body.x - feature.x)) - body.reach(-outward)
        point, number = touch.patch.points[deepest], touch.patch.features[deepest]
        yield Touch(outward, Patch(point[None], np.array([gap]), [number])), False


def _leads_out(n: Array, into: Array, normals: Array, body: Placed) -> bool:
    """Return whether a normal leads out of the ground, given directions into it and normals [., 3]."""
    room = NEARLY_PARALLEL if len(body.support(-n)[1]) > 2 else SMOOTH
    return bool((into @ n <= room).all() and (normals @ n > 0.0).any())


def _number(feature: int, place: int) -> int:
    """Return the number of a place on a feature of the ground, within the room for a pair's features."""
    return (int(feature) * APART + place) % (FEATURES - KEPT_FREE)
