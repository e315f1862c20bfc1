"""Pairs of shapes without a closed form: distance and normal from coal, patches from the supports along it.

These are cylinders against each other and against boxes and capsules, ellipsoids against each other and
against cylinders, the convex hulls of meshes, and all bodies on heightfields. Here come only those that the
kernels cannot tell to be further apart than the margin.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.contact import GAP, MU, NORMAL, POINT, RECORD, RESTITUTION, TANGENT_1, TANGENT_2
from mcpframe.contact.detection import records as rec
from mcpframe.contact.detection.convex_pairs import Placed, coal_shape, meet
from mcpframe.contact.detection.materials import Rules, Surface
from mcpframe.contact.detection.packing import kinds
from mcpframe.contact.detection.solids import Hull, Indices, solid_of
from mcpframe.contact.detection.terrain import Terrain
from mcpframe.contact.detection.terrain_pairs import TerrainPairs, Touch
from mcpframe.contact.frames import contact_frame
from mcpframe.exceptions import PluginError
from mcpframe.multibody.model.shapes import HeightField


class CoalPairs:
    """Contacts of the pairs of a detector that the kernels leave out.

    Attributes:
        spheres: centre, in the shape's frame, and radius of the bounding sphere of meshes and heightfields
            that take part.
        needed: whether there are such pairs at all.
        solids: the shapes of these pairs, and meshes that meet half-spaces, by number; meshes about the
            centres of their bounding spheres.
        hulls: the meshes among them.
        terrains: the heightfields of these pairs, by number.
    """

    def __init__(self, shapes: Sequence[Surface], rules: Rules) -> None:
        self._rules, self._kind = rules, kinds(shapes)
        pairs = _pairs(self._kind, rules, rec.FOREIGN)
        self.needed = bool(pairs)
        self._coal = _coal(shapes, pairs)
        on_planes = _pairs(self._kind, rules, {(rec.PLANE, rec.MESH)})
        involved = sorted({i for pair in pairs + on_planes for i in pair if self._kind[i] != rec.PLANE})
        worn = {i: shapes[i].geometry.shape for i in involved}
        self.terrains = {i: Terrain.of(shape) for i, shape in worn.items() if isinstance(shape, HeightField)}
        self.solids = {i: solid_of(shape) for i, shape in worn.items() if i not in self.terrains}
        self.spheres = {i: (terrain.centre, terrain.radius) for i, terrain in self.terrains.items()}
        self.hulls: dict[int, Hull] = {}
        for i, solid in self.solids.items():
            if isinstance(solid, Hull) and self._kind[i] == rec.MESH:
                centre = (solid.points.min(axis=0) + solid.points.max(axis=0)) / 2.0
                self.solids[i] = self.hulls[i] = moved = replace(solid, points=solid.points - centre)
                self.spheres[i] = centre, float(np.linalg.norm(moved.points, axis=1).max())
        self._grounds = {i: TerrainPairs(self._coal, terrain) for i, terrain in self.terrains.items()}
        self._geometry: dict[int, Any] = {}

    def contacts(self, ID: Indices, XD: Array) -> tuple[Indices, Array]:
        """Return rows and records of all contacts of the candidates that the kernel has left out."""
        at = ID[rec.FOREIGNERS]
        rows: list[tuple[int, ...]] = []
        records: list[Array] = []
        for candidate in ID[at : at + ID[rec.N_FOREIGN]].tolist():
            i, j = divmod(candidate, len(self._kind))
            material = int(self._rules.table[self._rules.shape_class[i], self._rules.shape_class[j]]) >> 1
            bodies = [int(ID[ID[rec.SHAPES] + k * rec.SHAPE_ROW + rec.S_BODY]) for k in (i, j)]
            touches = self._meet(ID, XD, i, j)
            side = 0.5 * (float(self._rules.holds[i]) - float(self._rules.holds[j]))
            for feature, n, point, gap in _distinct(touches, float(XD[rec.MARGIN])):
                rows.append((*bodies, candidate * rec.FEATURES + feature, material))
                records.append(self._record(n, point + side * gap * n, gap, material))
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

    def _meet(self, ID: Indices, XD: Array, a: int, b: int) -> list[Touch]:
        """Return the contacts of two shapes, with normals from B to A."""
        margin, places = float(XD[rec.MARGIN]), {i: _place(ID, XD, i) for i in (a, b)}
        for ground, other, side in ((b, a, 1.0), (a, b, -1.0)):
            if ground in self._grounds:
                body = self._placed(other, *places[other])
                touches = self._grounds[ground].contacts(*places[ground], body, margin)
                return [Touch(side * n, patch) for n, patch in touches]
        n, patch = meet(self._coal, self._placed(b, *places[b]), self._placed(a, *places[a]), margin)
        return [Touch(n, patch)]

    def _placed(self, i: int, R: Array, x: Array) -> Placed:
        """Return a solid at a place; as coal has it it is made once."""
        if i not in self._geometry and self._coal is not None:
            self._geometry[i] = coal_shape(self._coal, self.solids[i])
        return Placed(self.solids[i], self._geometry.get(i), R, x)


def _pairs(kind: Indices, rules: Rules, met: Set[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return all pairs of shapes that may meet of which the kinds are among `met`, the lower one first."""
    found = []
    for i in np.flatnonzero(kind >= rec.CAPSULE).tolist():
        others = [k for k in range(rec.N_KINDS) if (min(kind[i], k), max(kind[i], k)) in met]
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


def _place(ID: Indices, XD: Array, shape: int) -> tuple[Array, Array]:
    """Return rotation and centre of a shape."""
    place = XD[ID[rec.PLACES] + shape * rec.PLACE :][: rec.PLACE]
    R = place[: rec.P_POSITION].reshape(3, 4)[:, :3].T
    return np.ascontiguousarray(R), place[rec.P_POSITION : rec.P_POSITION + 3].copy()


def _distinct(touches: Sequence[Touch], margin: float) -> Iterator[tuple[int, Array, Array, float]]:
    """Yield number, normal, point and gap within the margin; numbers that occur again move to free ones."""
    taken: set[int] = set()
    for n, patch in touches:
        for number, point, gap in zip(patch.features, patch.points, patch.gaps.tolist(), strict=True):
            if gap <= margin:
                feature = next(k for k in itertools.count(number) if k not in taken)
                taken.add(feature)
                yield feature, n, point, gap
