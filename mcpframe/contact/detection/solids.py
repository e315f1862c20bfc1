"""Convex shapes as pairs without a closed form see them: what of them lies furthest along a direction.

The *support* of a shape along d is a face, an edge or a vertex: the polygon, segment or point that touches a
plane with normal d first. A face counts up to a small angle between its normal and d, an edge up to a small
angle against the plane; so a patch does not vanish when a body tilts a little. Round shapes give lines along
their sides and polygons in their caps. Corners have numbers that stay with the shape.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.detection.thresholds import NEARLY_FACE, NEARLY_PARALLEL
from mcpframe.exceptions import ModelError, PluginError
from mcpframe.multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere

RIM = 8
"""Corners of a cap."""
COPLANAR = 1e-6
"""Difference of unit normals, and of offsets relative to the size, within which triangles are one face."""

KEPT = 256
"""Hulls of meshes that are kept: detectors of one robot, or of many alike, share them."""

Indices = NDArray[np.int64]
Support = tuple[Array, list[int]]
"""Corners in order [k, 3] and their numbers."""


class Solid(Protocol):
    """A convex shape in a frame of its own."""

    def reach(self, d: Array) -> float:
        """Return how far the shape reaches from its origin along a unit vector."""

    def support(self, d: Array) -> Support:
        """Return what lies furthest along a unit vector."""

    def furthest(self, d: Array) -> Support:
        """Return one point that lies furthest along a unit vector; a support of several may leave it out."""


@dataclass(frozen=True, eq=False)
class Rod:
    """Sphere (half = 0) or capsule."""

    radius: float
    half: float

    def reach(self, d: Array) -> float:
        """Return radius + half |d_z|."""
        return self.radius + self.half * abs(float(d[2]))

    def support(self, d: Array) -> Support:
        """Return the line along the side, or a point of an end."""
        ends = np.array([[0.0, 0.0, -self.half], [0.0, 0.0, self.half]]) + self.radius * d
        return (ends, [0, 1]) if self.half > 0.0 and abs(d[2]) < NEARLY_PARALLEL else self.furthest(d)

    def furthest(self, d: Array) -> Support:
        """Return the point of the end that lies ahead."""
        end = int(d[2] > 0.0)
        return np.array([[0.0, 0.0, self.half if end else -self.half]]) + self.radius * d, [end]


@dataclass(frozen=True, eq=False)
class Bar:
    """Cylinder."""

    radius: float
    half: float

    def reach(self, d: Array) -> float:
        """Return radius |d_xy| + half |d_z|."""
        return self.radius * math.hypot(d[0], d[1]) + self.half * abs(float(d[2]))

    def support(self, d: Array) -> Support:
        """Return a polygon in a cap, the line along the side, or a point of a rim."""
        cap = int(d[2] > 0.0)
        z = self.half if cap else -self.half
        if abs(d[2]) > NEARLY_FACE:
            angle = 2.0 * np.pi * np.arange(RIM) / RIM
            x, y = self.radius * np.cos(angle), self.radius * np.sin(angle)
            return np.column_stack([x, y, np.full(RIM, z)]), list(range(cap * RIM, (cap + 1) * RIM))
        if abs(d[2]) < NEARLY_PARALLEL:
            side = self.radius * d[:2] / math.hypot(d[0], d[1])
            return np.array([[*side, -self.half], [*side, self.half]]), [2 * RIM, 2 * RIM + 1]
        return self.furthest(d)

    def furthest(self, d: Array) -> Support:
        """Return a point of a rim; straight along the axis the middle of the cap."""
        cap, across = int(d[2] > 0.0), math.hypot(d[0], d[1])
        side = self.radius * d[:2] / across if across > 0.0 else np.zeros(2)
        return np.array([[*side, self.half if cap else -self.half]]), [2 * RIM + 2 + cap]


@dataclass(frozen=True, eq=False)
class Egg:
    """Ellipsoid."""

    radii: Array

    def reach(self, d: Array) -> float:
        """Return |diag(radii) d|."""
        return float(np.linalg.norm(self.radii * d))

    def support(self, d: Array) -> Support:
        """Return the furthest point: nothing of it is flat."""
        return self.furthest(d)

    def furthest(self, d: Array) -> Support:
        """Return diag(radii²) d / reach."""
        return (self.radii**2 * d / self.reach(d))[None, :], [0]


@dataclass(frozen=True, eq=False)
class Hull:
    """Convex polyhedron.

    Attributes:
        points: vertices [n, 3].
        triangles: outward [m, 3].
        faces: vertices of every face, in order around it.
        normals: of the faces, outward [k, 3].
        neighbours: vertices that share an edge with each.
    """

    points: Array
    triangles: list[tuple[int, int, int]]
    faces: list[list[int]]
    normals: Array
    neighbours: list[list[int]]

    @staticmethod
    def of(points: Array, name: str) -> Hull:
        """Return the convex hull of points, or raise ModelError where it has no volume."""
        from scipy.spatial import ConvexHull, QhullError  # takes a third of a second to import

        try:
            hull = ConvexHull(points)
        except (QhullError, ValueError) as error:
            raise ModelError(
                f"{name}: its convex hull has no volume ({str(error).splitlines()[0]})"
            ) from None
        corners = np.ascontiguousarray(points[hull.vertices])
        number = np.zeros(len(points), dtype=np.int64)
        number[hull.vertices] = np.arange(len(corners))
        size = float(np.abs(corners).max())
        planes = hull.equations / [1.0, 1.0, 1.0, size]
        faces, normals = _faces(corners, number[hull.simplices], planes, hull.neighbors)
        triangles = [triangle for face in faces for triangle in _strip(face)]
        return Hull(corners, triangles, faces, normals, _neighbours(len(corners), faces))

    def reach(self, d: Array) -> float:
        """Return the largest of the vertices' coordinates along d."""
        return float((self.points @ d).max())

    def support(self, d: Array) -> Support:
        """Return a face, an edge or a vertex."""
        cosines = self.normals @ d
        best = int(cosines.argmax())
        if cosines[best] > NEARLY_FACE:
            return self.points[self.faces[best]], self.faces[best]
        top = int((self.points @ d).argmax())
        edges = self.points[self.neighbours[top]] - self.points[top]
        level = np.abs(edges @ d) / np.linalg.norm(edges, axis=1)
        other = self.neighbours[top][int(level.argmin())]
        chosen = sorted([top, other]) if level.min() < NEARLY_PARALLEL else [top]
        return self.points[chosen], chosen

    def furthest(self, d: Array) -> Support:
        """Return the vertex of the lowest number among those that lie furthest."""
        top = int((self.points @ d).argmax())
        return self.points[top : top + 1], [top]


def _faces(
    points: Array, simplices: Indices, planes: Array, beside: Indices
) -> tuple[list[list[int]], Array]:
    """Return the faces that triangles of equal planes form, and their normals.

    Args:
        points: vertices [n, 3].
        simplices: triangles in no order [m, 3].
        planes: their normals and offsets, the latter as shares of the size [m, 4].
        beside: triangles across the edges of each [m, 3].
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    level = np.abs(planes[:, None, :] - planes[beside]).max(axis=2) < COPLANAR
    here, edge = np.nonzero(level)
    graph = coo_array((np.ones(len(here)), (here, beside[here, edge])), shape=(len(planes), len(planes)))
    n_faces, face_of = connected_components(graph, directed=False)
    order = np.argsort(face_of, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(face_of, minlength=n_faces))[:-1])
    normals = planes[[part[0] for part in parts], :3]
    turned = _outward(points, simplices, planes[:, :3])
    faces = [
        turned[part[0]] if len(part) == 1 else _around(points, np.unique(simplices[part]).tolist(), n)
        for part, n in zip(parts, normals, strict=True)
    ]
    return faces, normals


def _outward(points: Array, simplices: Indices, normals: Array) -> list[list[int]]:
    """Return triangles counter-clockwise about their normals, the corner of lowest number first."""
    a, b, c = np.sort(simplices, axis=1).T
    right = np.einsum("ij,ij->i", np.cross(points[b] - points[a], points[c] - points[a]), normals) > 0.0
    turned: list[list[int]] = np.where(right, [a, b, c], [a, c, b]).T.tolist()
    return turned


def _around(points: Array, face: list[int], n: Array) -> list[int]:
    """Return the corners of a face counter-clockwise about its normal, the one of lowest number first."""
    arms = points[face] - points[face].mean(axis=0)
    u = arms[0] / np.linalg.norm(arms[0])
    angle = np.arctan2(arms @ np.cross(n, u), arms @ u)
    order = [face[k] for k in np.argsort(angle, kind="stable")]
    first = order.index(min(order))
    return order[first:] + order[:first]


def _strip(face: list[int]) -> Iterator[tuple[int, int, int]]:
    """Yield the triangles of a face, to and fro between its sides: no corner gets more than a few of them.

    Libraries have a limit on those of one corner, which a fan in a round face of a fine mesh exceeds.
    """
    low, high = 0, len(face) - 1
    while high - low > 1:
        yield face[low], face[low + 1], face[high]
        low += 1
        if high - low > 1:
            yield face[low], face[high - 1], face[high]
            high -= 1


def _neighbours(n: int, faces: list[list[int]]) -> list[list[int]]:
    found: list[set[int]] = [set() for _ in range(n)]
    for face in faces:
        for a, b in itertools.pairwise([*face, face[0]]):
            found[a].add(b)
            found[b].add(a)
    return [sorted(others) for others in found]


def solid_of(shape: Shape) -> Solid:
    """Return a bounded shape as a solid; of a mesh, which is read here, its convex hull."""
    if isinstance(shape, Sphere):
        return Rod(shape.radius, 0.0)
    if isinstance(shape, Capsule):
        return Rod(shape.radius, shape.length / 2.0)
    if isinstance(shape, Ellipsoid):
        return Egg(np.array(shape.radii))
    if isinstance(shape, Cylinder):
        return Bar(shape.radius, shape.length / 2.0)
    if isinstance(shape, Box):
        corners = itertools.product(*((-edge / 2.0, edge / 2.0) for edge in shape.size))
        return Hull.of(np.array(list(corners)), "box")
    assert isinstance(shape, Mesh)
    return _mesh_hull(shape, _stamp(shape.path))


@lru_cache(maxsize=KEPT)
def _mesh_hull(mesh: Mesh, stamp: tuple[int, int]) -> Hull:
    """Return the hull of a mesh; that of a file which is still the same, as its stamp tells, is kept."""
    return Hull.of(_vertices(mesh), f"mesh {mesh.path}")


def _stamp(path: str) -> tuple[int, int]:
    """Return when a file was changed, and its length; zeros where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _vertices(mesh: Mesh) -> Array:
    try:
        import trimesh
    except ImportError:
        raise PluginError(
            f"mesh {mesh.path}: to read it takes trimesh: pip install 'mcpframe[robots]', or ignore the mesh"
        ) from None
    if not Path(mesh.path).is_file():
        raise ModelError(
            f"mesh {mesh.path}: there is no such file; those of package:// are looked for in the folders "
            "above the robot's file, and in ROS_PACKAGE_PATH"
        )
    try:
        loaded = trimesh.load_mesh(mesh.path)
        vertices = np.array(loaded.vertices, dtype=np.float64).reshape(-1, 3)
        if not len(vertices):
            raise ValueError("it has no vertices")
    except Exception as error:  # readers of a dozen formats raise what they like
        raise ModelError(f"mesh {mesh.path}: cannot be read ({error})") from None
    return np.asarray(vertices * np.asarray(mesh.scale))
