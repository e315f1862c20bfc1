"""Pairs of shapes without a closed form: distance and normal from coal, patches from the supports along it.

These are cylinders against each other and against boxes and capsules, and the convex hulls of meshes. A mesh
on a half-space needs no library: its vertices have heights.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import GAP, MU, NORMAL, POINT, RECORD, RESTITUTION, TANGENT_1, TANGENT_2
from mcpframe.contact.detection import records as rec
from mcpframe.contact.detection.materials import Rules, Surface
from mcpframe.contact.detection.packing import kinds
from mcpframe.contact.detection.patches import NO_PATCH, Patch, normal_of, overlap, reduced
from mcpframe.contact.detection.solids import Bar, Hull, Rod, Solid, Support, solid_of
from mcpframe.contact.detection.thresholds import PARALLEL, REACHED
from mcpframe.contact.frames import contact_frame
from mcpframe.exceptions import PluginError

Indices = NDArray[np.int64]

TOLERANCES = (1e-10, 1e-8, 1e-6)
"""Of coal's iterations, m: all are tried, for the finest may end with a way out that is not the shortest."""
ITERATIONS = 1000
SQUARE = 1e-3
"""How far from one the square of a normal's length may be; coal gives none for centres that coincide."""


class Placed(NamedTuple):
    """A shape somewhere: its number, rotation, centre."""

    shape: int
    R: Array
    x: Array


class CoalPairs:
    """Contacts of the pairs of a detector that the kernels leave out.

    Attributes:
        spheres: centre, in the shape's frame, and radius of the bounding sphere of meshes that take part.
        needed: whether there are such pairs at all.
        solids: the shapes of these pairs, by number; meshes about the centres of their bounding spheres.
    """

    def __init__(self, shapes: Sequence[Surface], rules: Rules) -> None:
        self._rules, self._kind = rules, kinds(shapes)
        pairs = _foreign_pairs(self._kind, rules)
        self.needed = bool(pairs)
        self._coal = _coal(shapes, [(i, j) for i, j in pairs if rec.PLANE not in self._kind[[i, j]]])
        involved = {i for pair in pairs for i in pair if self._kind[i] != rec.PLANE}
        self.solids = {i: solid_of(shapes[i].geometry.shape) for i in sorted(involved)}
        self.spheres: dict[int, tuple[Array, float]] = {}
        for i, solid in self.solids.items():
            if isinstance(solid, Hull) and self._kind[i] == rec.MESH:
                centre = (solid.points.min(axis=0) + solid.points.max(axis=0)) / 2.0
                self.solids[i] = moved = replace(solid, points=solid.points - centre)
                self.spheres[i] = centre, float(np.linalg.norm(moved.points, axis=1).max())
        self._geometry: dict[int, Any] = {}

    def contacts(self, ID: Indices, XD: Array) -> tuple[Indices, Array]:
        """Return rows and records of all contacts of the candidates that the kernel has left out."""
        at = ID[rec.CANDIDATES]
        rows: list[tuple[int, ...]] = []
        records: list[Array] = []
        for candidate in ID[at : at + ID[rec.N_CANDIDATES]].tolist():
            i, j = divmod(candidate, len(self._kind))
            if tuple(sorted(self._kind[[i, j]].tolist())) in rec.FOREIGN:
                material = int(self._rules.table[self._rules.shape_class[i], self._rules.shape_class[j]]) >> 1
                bodies = [int(ID[ID[rec.SHAPES] + k * rec.SHAPE_ROW + rec.S_BODY]) for k in (i, j)]
                n, patch = self._meet(_placed(ID, XD, i), _placed(ID, XD, j), float(XD[rec.MARGIN]))
                for feature, point, gap in _distinct(patch, float(XD[rec.MARGIN])):
                    rows.append((*bodies, candidate * rec.FEATURES + feature, material))
                    records.append(self._record(n, point, gap, material))
        table = np.array(rows, dtype=np.int64).reshape(-1, rec.CONTACT_ROW)
        return table, np.array(records, dtype=np.float64).reshape(-1, RECORD)

    def _record(self, n: Array, point: Array, gap: float, material: int) -> Array:
        record = np.zeros(RECORD)
        record[POINT][:3] = point
        for part, axis in zip((NORMAL, TANGENT_1, TANGENT_2), contact_frame(n), strict=True):
            record[part][:3] = axis
        surface = self._rules.materials[material]
        record[[GAP, MU, RESTITUTION]] = gap, surface.mu, surface.restitution
        return record

    def _meet(self, a: Placed, b: Placed, margin: float) -> tuple[Array, Patch]:
        """Return the normal from B to A and the patch."""
        if self._kind[a.shape] == rec.PLANE:
            return -a.R[:, 2], self._on_plane(b, a, margin)
        if self._kind[b.shape] == rec.PLANE:
            return b.R[:, 2], self._on_plane(a, b, margin)
        gap, n, point = self._distance(b, a)
        if gap > margin:
            return n, NO_PATCH
        gap, n = self._snapped(b, a, gap, n)
        supports = self._supports(b, a, n)
        patch = overlap(*supports, np.array(contact_frame(n)))
        size = max(np.ptp(corners, axis=0).max() for corners, _ in supports)
        if patch.gaps.min(initial=np.inf) <= gap + REACHED * size:
            return n, patch
        return n, Patch(np.vstack([point, patch.points]), np.append(gap, patch.gaps), [0, *patch.features])

    def _supports(self, first: Placed, second: Placed, n: Array) -> tuple[Support, Support]:
        """Return the supports of two shapes towards each other, in world axes."""
        found = []
        for placed, d in ((first, n), (second, -n)):
            corners, numbers = self.solids[placed.shape].support(placed.R.T @ d)
            found.append((placed.x + corners @ placed.R.T, numbers))
        return found[0], found[1]

    def _snapped(self, first: Placed, second: Placed, gap: float, n: Array) -> tuple[float, Array]:
        """Return separation and normal, made exact where it is that of a face, an edge or two axes."""
        for which in range(3):
            if which < 2:
                direction = normal_of(self._supports(first, second, n)[which][0], n)
            else:
                direction = self._across_axes(first, second, n)
            separation = self._separation(first, second, direction)
            if separation > gap:
                gap, n = separation, direction
        return gap, n

    def _across_axes(self, first: Placed, second: Placed, n: Array) -> Array:
        """Return the direction across the axes of two round shapes, between the axes if they are parallel."""
        if any(isinstance(self.solids[placed.shape], Hull) for placed in (first, second)):
            return n
        u, v, d = first.R[:, 2], second.R[:, 2], second.x - first.x
        across = np.cross(u, v)
        if across @ across < PARALLEL:
            across = d - (d @ u) * u
        if not across.any():
            return n
        return np.asarray(np.copysign(1.0, across @ d) * across / np.linalg.norm(across))

    def _on_plane(self, mesh: Placed, plane: Placed, margin: float) -> Patch:
        """Return the vertices of a hull within the margin of a half-space."""
        hull, n = self.solids[mesh.shape], plane.R[:, 2]
        assert isinstance(hull, Hull)
        points = mesh.x + hull.points @ mesh.R.T
        heights = (points - plane.x) @ n
        near = np.flatnonzero(heights <= margin)
        patch = Patch(points[near] - 0.5 * heights[near, None] * n, heights[near], (1 + near).tolist())
        return reduced(patch, points[near] @ plane.R[:, :2])

    def _distance(self, first: Placed, second: Placed) -> tuple[float, Array, Array]:
        """Return signed distance, unit normal from the first to the second, and the middle between them.

        The signed distance of convex shapes is their largest separation over all directions: so of several
        answers the normal with the largest one is the best, and none is too large.
        """
        coal = self._coal
        placed = [(self._shape(p.shape), coal.Transform3s(p.R, p.x)) for p in (first, second)]
        request = coal.DistanceRequest()
        request.gjk_max_iterations = request.epa_max_iterations = ITERATIONS
        n, middle = _centre_line(first, second), (first.x + second.x) / 2.0
        gap = self._separation(first, second, n)
        for tolerance in TOLERANCES:
            request.gjk_tolerance = request.epa_tolerance = tolerance
            result = coal.DistanceResult()
            coal.distance(*placed[0], *placed[1], request, result)
            square = result.normal @ result.normal
            if abs(square - 1.0) < SQUARE:  # false for NaN as well
                direction = result.normal / np.sqrt(square)
                separation = self._separation(first, second, direction)
                if separation > gap:
                    gap, n = separation, direction
                    middle = (result.getNearestPoint1() + result.getNearestPoint2()) / 2.0
        return gap, n, middle

    def _separation(self, first: Placed, second: Placed, n: Array) -> float:
        """Return the room between two shapes along a direction."""
        reach = sum(self.solids[p.shape].reach(p.R.T @ d) for p, d in ((first, n), (second, -n)))
        return float(n @ (second.x - first.x)) - reach

    def _shape(self, i: int) -> Any:
        """Return a shape as coal has it, made once."""
        if i not in self._geometry:
            self._geometry[i] = _coal_shape(self._coal, self.solids[i])
        return self._geometry[i]


def _centre_line(first: Placed, second: Placed) -> Array:
    d = second.x - first.x
    length = float(np.linalg.norm(d))
    return d / length if length > 0.0 else np.array([0.0, 0.0, 1.0])


def _foreign_pairs(kind: Indices, rules: Rules) -> list[tuple[int, int]]:
    """Return all pairs of shapes that may meet and have no closed form."""
    found = []
    for i in np.flatnonzero((kind == rec.CYLINDER) | (kind == rec.MESH)).tolist():
        others = [k for k in range(rec.MESH + 1) if (min(kind[i], k), max(kind[i], k)) in rec.FOREIGN]
        partners = np.flatnonzero(np.isin(kind, others))
        found += [(i, int(j)) for j in partners[rules.allowed(i, partners)]]
    return found


def _coal(shapes: Sequence[Surface], pairs: Sequence[tuple[int, int]]) -> Any:
    """Return the module if there are pairs that need it."""
    if not pairs:
        return None
    try:
        import coal
    except ImportError:
        kinds_and_names = [
            f"{type(shapes[k].geometry.shape).__name__} of {min(shapes[k].names)!r}" for k in pairs[0]
        ]
        raise PluginError(
            f"contacts between {' and '.join(kinds_and_names)} need coal: pip install 'mcpframe[robots]', or "
            "ignore the pair"
        ) from None
    return coal


def _coal_shape(coal: Any, solid: Solid) -> Any:
    if isinstance(solid, Rod):
        return coal.Capsule(solid.radius, 2.0 * solid.half) if solid.half else coal.Sphere(solid.radius)
    if isinstance(solid, Bar):
        return coal.Cylinder(solid.radius, 2.0 * solid.half)
    assert isinstance(solid, Hull)
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for point in solid.points:
        points.append(point)
    for triangle in solid.triangles:
        triangles.append(coal.Triangle(*triangle))
    return coal.Convex(points, triangles)


def _placed(ID: Indices, XD: Array, shape: int) -> Placed:
    place = XD[ID[rec.PLACES] + shape * rec.PLACE :][: rec.PLACE]
    R = place[: rec.P_POSITION].reshape(3, 4)[:, :3].T
    return Placed(shape, np.ascontiguousarray(R), place[rec.P_POSITION : rec.P_POSITION + 3].copy())


def _distinct(patch: Patch, margin: float) -> Iterator[tuple[int, Array, float]]:
    """Yield the corners within the margin, with numbers that occur again moved to the next free one."""
    taken: set[int] = set()
    for number, point, gap in zip(patch.features, patch.points, patch.gaps.tolist(), strict=True):
        if gap <= margin:
            feature = next(k for k in itertools.count(number) if k not in taken)
            taken.add(feature)
            yield feature, point, gap
