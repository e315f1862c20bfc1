"""A heightfield as the closed surface of a solid: triangles above, walls along the border, a floor below.

What bodies can touch are its *faces* (adjoining triangles in one plane), those of its *edges* at which it is
convex, and *corners*, where such edges bend or meet. A contact with one of them has a normal n that leaves
the solid on its other side: with the directions d from an edge into its two faces, or from a corner along
its edges,

    d . n <= 0.

So nothing catches at the lines between triangles of one plane, and at the bottom of valleys only the faces
are met.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mcpframe.arrays import Array
from mcpframe.multibody.model.shapes import HeightField

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

COPLANAR = 1e-9
"""Difference of unit normals within which adjoining triangles are one face, and edges one straight line."""
STEEPEST = 10.0
"""Tangent of the steepest turn in a valley for which the faces on both sides hold a point below its line."""


class Bounds(NamedTuple):
    """Bounding boxes: lowest and highest corners [k, 3]."""

    low: Array
    high: Array

    def near(self, low: Array, high: Array) -> Indices:
        """Return which of them meet a box."""
        return np.flatnonzero(((self.low <= high) & (self.high >= low)).all(axis=1))


@dataclass(frozen=True, eq=False)
class Terrain:
    """Faces, edges and corners, in a frame at the centre of the bounding box.

    Attributes:
        shape: the heightfield.
        centre: of the bounding box, in the heightfield's frame [3].
        points: vertices [n, 3].
        triangles: outward [m, 3].
        normals: of the triangles [m, 3].
        inward: of every side of a triangle the direction across it into the triangle [m, 3, 3].
        stretch: how far beyond a side the triangle holds points, over their depth [m, 3].
        face: number of every triangle's face [m].
        edges: vertices of convex edges between faces [k, 2].
        edge_triangles: on their two sides [k, 2].
        away: directions from these edges into the two triangles [k, 2, 3].
        corners: vertices at which convex edges bend or meet [c].
        sides: of triangles that begin at a vertex, as 3 triangle + side, vertex by vertex; `first` has where
            those of each begin [n + 1].
        outward: mean normal about every vertex [n, 3].
    """

    shape: HeightField
    centre: Array
    points: Array
    triangles: Indices
    normals: Array
    inward: Array
    stretch: Array
    face: Indices
    edges: Indices
    edge_triangles: Indices
    away: Array
    corners: Indices
    sides: Indices
    first: Indices
    outward: Array

    @staticmethod
    def of(shape: HeightField) -> Terrain:
        """Return the surface of a heightfield."""
        points, triangles = surface_of(shape)
        centre = (points.min(axis=0) + points.max(axis=0)) / 2.0
        points = points - centre
        sides = points[np.roll(triangles, -1, axis=1)] - points[triangles]
        normals = _unit(np.cross(sides[:, 0], sides[:, 1]))
        inward = _unit(np.cross(normals[:, None], sides))
        pairs = _adjoining(triangles)
        flat, rise = _turns(points, triangles, normals, pairs)
        face = _components(len(triangles), pairs[flat] // 3)
        stretch = np.zeros(triangles.size)
        stretch[pairs[flat]] = 1.0
        valley = ~flat & (rise > 0.0)
        stretch[pairs[valley]] = _tangents(normals, pairs[valley] // 3)[:, None]
        convex = pairs[~flat & (rise < 0.0)]
        edges = _ends(triangles, convex[:, 0])
        outward = np.zeros_like(points)
        np.add.at(outward, triangles.ravel(), np.repeat(normals, 3, axis=0))
        return Terrain(
            shape,
            centre,
            points,
            triangles,
            normals,
            inward,
            stretch.reshape(-1, 3),
            face,
            edges,
            convex // 3,
            inward.reshape(-1, 3)[convex],
            _corners(points, edges, _ends(triangles, pairs[~flat][:, 0])),
            np.argsort(triangles.ravel(), kind="stable"),
            np.append(0, np.bincount(triangles.ravel(), minlength=len(points)).cumsum()),
            _unit(outward),
        )

    @cached_property
    def triangle_bounds(self) -> Bounds:
        """Bounding boxes of the triangles."""
        return _bounds(self.points[self.triangles])

    @cached_property
    def edge_bounds(self) -> Bounds:
        """Bounding boxes of the convex edges."""
        return _bounds(self.points[self.edges])

    @cached_property
    def corner_bounds(self) -> Bounds:
        """Bounding boxes, without extent, of the corners."""
        return Bounds(self.points[self.corners], self.points[self.corners])

    @cached_property
    def bounds(self) -> Bounds:
        """The bounding box of it all."""
        return _bounds(self.points)

    @cached_property
    def cells(self) -> tuple[int, int]:
        """How many cells there are along x and y."""
        nx, ny = self.shape.grid.shape
        return nx - 1, ny - 1

    @property
    def radius(self) -> float:
        """Of the bounding sphere about the centre."""
        return float(np.linalg.norm(self.points, axis=1).max())

    @property
    def thickness(self) -> float:
        """Smallest of the spacings and the depth below the lowest point."""
        return min(*self.shape.cell, self.shape.thickness)

    def around(self, vertex: int) -> tuple[Array, Array]:
        """Return the directions of all edges at a vertex, and the normals of all triangles there [., 3]."""
        sides = self.sides[self.first[vertex] : self.first[vertex + 1]]
        ends = _ends(self.triangles[sides // 3], 3 * np.arange(sides.size) + sides % 3)[:, 1]
        return _unit(self.points[ends] - self.points[vertex]), self.normals[sides // 3]

    def holds(self, places: Array) -> Flags:
        """Return whether places [..., 3] lie in the solid."""
        above = self.above(places)
        heights = np.einsum("...i,...i", places - self.points[self.triangles[above, 0]], self.normals[above])
        within = (places >= self.bounds.low) & (places <= self.bounds.high)
        return np.asarray((heights <= 0.0) & within.all(axis=-1))

    def above(self, places: Array) -> Indices:
        """Return the upper triangle at the x and y of places [..., 3]; beyond the grid the next one."""
        (dx, dy), (nx, ny) = self.shape.cell, self.cells
        u, v = places[..., 0] / dx + nx / 2.0, places[..., 1] / dy + ny / 2.0
        i, j = np.clip(np.floor(u), 0, nx - 1), np.clip(np.floor(v), 0, ny - 1)
        return np.asarray(2 * (i * ny + j) + (u - i < v - j), dtype=np.int64)


def surface_of(shape: HeightField) -> tuple[Array, Indices]:
    """Return vertices [n, 3] and outward triangles [m, 3] of a heightfield; the upper ones come first.

    A cell is parted by the diagonal from its lowest x and y to its highest.
    """
    heights = shape.grid
    nx, ny = heights.shape
    x, y = (step * (np.arange(n) - (n - 1) / 2.0) for n, step in zip((nx, ny), shape.cell, strict=True))
    top = np.column_stack([np.repeat(x, ny), np.tile(y, nx), heights.ravel()])
    number = np.arange(nx * ny).reshape(nx, ny)
    a, b, c, d = (
        part.ravel() for part in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:])
    )
    above = np.stack([np.column_stack([a, b, c]), np.column_stack([a, c, d])], axis=1).reshape(-1, 3)
    rim = np.concatenate([number[:-1, 0], number[-1, :-1], number[:0:-1, -1], number[0, :0:-1]])
    foot = nx * ny + np.arange(rim.size)
    rim_next, foot_next, middle = np.roll(rim, -1), np.roll(foot, -1), np.full(rim.size, nx * ny + rim.size)
    corners = [(foot, foot_next, rim_next), (foot, rim_next, rim), (middle, foot_next, foot)]
    points = np.vstack([top, top[rim], np.zeros(3)])
    points[nx * ny :, 2] = shape.base
    return points, np.concatenate([above, *(np.column_stack(part) for part in corners)]).astype(np.int64)


def _adjoining(triangles: Indices) -> Indices:
    """Return sides of triangles, as 3 triangle + side, that are the same edge [k, 2]."""
    ends = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    order = np.lexsort((np.arange(len(ends)), ends[:, 1], ends[:, 0]))
    return np.asarray(order.reshape(-1, 2))  # the surface is closed: two sides at every edge


def _turns(points: Array, triangles: Indices, normals: Array, pairs: Indices) -> tuple[Flags, Array]:
    """Return which adjoining triangles lie in one plane, and how the second one rises over the first."""
    (a, b), side = (pairs // 3).T, pairs % 3
    flat = np.abs(normals[a] - normals[b]).max(axis=1) < COPLANAR
    opposite = points[triangles[b, (side[:, 1] + 2) % 3]]
    return flat, np.einsum("ij,ij->i", normals[a], opposite - points[triangles[a, side[:, 0]]])


def _components(n: int, pairs: Indices) -> Indices:
    graph = coo_array((np.ones(len(pairs)), pairs.T), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _tangents(normals: Array, pairs: Indices) -> Array:
    """Return the tangents of the angles between normals, those of right angles and more cut off."""
    first, second = normals[pairs].transpose(1, 0, 2)
    cosine, sine = np.einsum("ij,ij->i", first, second), np.linalg.norm(np.cross(first, second), axis=1)
    return np.asarray(sine / np.maximum(cosine, sine / STEEPEST))


def _ends(triangles: Indices, sides: Indices) -> Indices:
    """Return the vertices at which sides, given as 3 triangle + side, begin and end [k, 2]."""
    return np.column_stack([triangles.ravel()[sides], np.roll(triangles, -1, axis=1).ravel()[sides]])


def _corners(points: Array, convex: Indices, folds: Indices) -> Indices:
    """Return the ends of convex edges, but those at which one of all folds goes straight on."""
    along = _unit(points[folds[:, 1]] - points[folds[:, 0]])
    total = np.zeros_like(points)
    for end, sign in ((0, 1.0), (1, -1.0)):
        np.add.at(total, folds[:, end], sign * along)
    count = np.bincount(folds.ravel(), minlength=len(points))
    straight = (count == 2) & (np.abs(total).max(axis=1) < COPLANAR)
    ends = np.unique(convex)
    return np.asarray(ends[~straight[ends]])


def _bounds(places: Array) -> Bounds:
    """Return the bounding boxes of places [..., m, 3]."""
    return Bounds(places.min(axis=-2), places.max(axis=-2))


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))
