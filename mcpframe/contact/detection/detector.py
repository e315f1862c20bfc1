"""Contacts between all shapes of a model, found from its state."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import ContactSet
from mcpframe.contact.detection import records as rec
from mcpframe.contact.detection.coal_pairs import CoalPairs
from mcpframe.contact.detection.kernels.detect import detect_contacts
from mcpframe.contact.detection.materials import (
    Material,
    Names,
    Rules,
    Surface,
    make_rules,
    surfaces,
)
from mcpframe.contact.detection.packing import kinds, pack, with_room
from mcpframe.contact.detection.solids import Solid, solid_of
from mcpframe.contact.detection.terrain import Terrain
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.shapes import HeightField, Mesh, Plane

if TYPE_CHECKING:
    from mcpframe.multibody.state import State

Indices = NDArray[np.int64]

MORE = 2
"""How much more room than needed the tables get when they have become too small."""


class Detector:
    """Finds the contacts of a model, in a stable order and with the same keys from step to step.

    The contacts of a pair of shapes: boxes and capsules on flat faces give the corners of the patch in which
    they meet. Body A of a contact is the one whose shape comes later, those of the world first.

    Attributes:
        model, tree: whose shapes; links that are added later are not seen.
        margin: largest gap of a contact unless a call says another, m.
        shapes: all shapes in their order.
        materials, laws: what the numbers in `material` mean.
        memory: of its arrays.
        ID, XD: arrays of the kernels, see `records`; new ones after `make_room`.
        has_kernels: whether `kernels.detect` finds all contacts, without the help of coal.

    Args:
        model: its links' shapes and those of the world.
        ignore: pairs of names of bodies or shapes that do not meet; a single name meets nothing.
        materials: ``{(name, name): Material}``; "default" for all other pairs. A material may be a table
            ``{"mu": ..., "restitution": ..., "law": ...}``. Of several that mean a pair the last one holds.
        margin: as above.
        neighbours: whether bodies that a hinge or closure joins meet; or pairs of names of those that do.
        points_on: names of bodies or shapes on whose surfaces the points of their contacts lie; those of all
            others, and of two such, lie in the middle between both surfaces.

    >>> detector = Detector(model, materials={"default": Material(mu=0.5)})
    >>> contacts = detector.contacts(model.state())
    """

    def __init__(
        self,
        model: Model,
        ignore: Iterable[Names] = (),
        materials: Mapping[Names, Material | Mapping[str, Any]] = MappingProxyType({}),
        margin: float = 0.0,
        neighbours: bool | Iterable[Names] = False,
        points_on: Iterable[str] = (),
    ) -> None:
        self.model, self.tree, self.margin = model, model.tree, _finite(margin)
        self.shapes = surfaces(model)
        rules = make_rules(model, self.shapes, ignore, materials, neighbours, points_on)
        _check_grounds(self.shapes, rules)
        self.materials: tuple[Material, ...] = rules.materials
        self._foreign = CoalPairs(self.shapes, rules)
        self.memory = rec.MEMORY
        self.ID, self.XD = pack(
            self.tree.skeleton, self.shapes, rules, self._foreign.spheres, self._foreign.hulls
        )
        self.laws = tuple(material.law for material in self.materials)

    def __repr__(self) -> str:
        return f"Detector({self.model!r}, shapes={len(self.shapes)}, margin={self.margin:g})"

    @property
    def has_kernels(self) -> bool:
        """Whether `kernels.detect` finds all contacts, without the help of coal."""
        return not self._foreign.needed

    def solid(self, i: int) -> Solid | None:
        """Return shape i as a convex solid; None for half-spaces, heightfields, meshes that meet nothing."""
        shape = self.shapes[i].geometry.shape
        if isinstance(shape, (Plane, HeightField)):
            return None
        return self._foreign.solids.get(i) if isinstance(shape, Mesh) else solid_of(shape)

    def terrain(self, i: int) -> Terrain | None:
        """Return shape i as the surface of a heightfield; None for others, and for one that meets nothing."""
        return self._foreign.terrains.get(i)

    def contacts(self, state: State, margin: float | None = None) -> ContactSet:
        """Return all contacts with gaps up to the margin."""
        self.detect(state, margin)
        body_link = np.append(self.tree.skeleton.body_link, -1)
        link_a, link_b = body_link[self.body_a], body_link[self.body_b]
        return ContactSet.of_records(self.tree, link_a, link_b, self.record.copy(), self.material, self.laws)

    def detect(self, state: State, margin: float | None = None) -> int:
        """Find all contacts with gaps up to the margin; return how many. They are in the views below."""
        if state.tree is not self.tree:
            raise ModelError("state: of another tree of links than the detector's; make a new detector")
        self.XD[rec.MARGIN] = self.margin if margin is None else _finite(margin)
        state.reference_points()  # the kinematics
        while detect_contacts(state.I, state.X, self.ID, self.XD) == rec.ROOM:
            self.make_room()
        while self.ID[rec.N_FOREIGN] and not self.meet_foreign():
            detect_contacts(state.I, state.X, self.ID, self.XD)
        return self.n_contacts

    def make_room(self) -> None:
        """Enlarge the tables after `ROOM`: ID and XD are other arrays then."""
        found = self.ID[[rec.N_CANDIDATES, rec.N_CONTACTS]]
        room = np.where(found > self.ID[[rec.MAX_CANDIDATES, rec.MAX_CONTACTS]], MORE * found, 0)
        needed = np.maximum(room, self.ID[[rec.MAX_CANDIDATES, rec.MAX_CONTACTS]])
        self.ID, self.XD = with_room(self.memory, self.ID, self.XD, int(needed[0]), int(needed[1]))

    @property
    def n_contacts(self) -> int:
        """Number of contacts that the last call has found."""
        return int(self.ID[rec.N_CONTACTS])

    @property
    def record(self) -> Array:
        """Their records [n_u, 20]; a view."""
        return rec.MEMORY.part(self.ID, self.XD, rec.RECORDS)[: self.n_contacts]

    @property
    def body_a(self) -> Indices:
        """Body A in the kernels, -1 for the world [n_u]; a view, as the next ones."""
        return self._rows[:, rec.C_BODY_A]

    @property
    def body_b(self) -> Indices:
        """Body B in the kernels, -1 for the world [n_u]."""
        return self._rows[:, rec.C_BODY_B]

    @property
    def key(self) -> Indices:
        """Identities: the pair of shapes and the feature within it [n_u], in ascending order."""
        return self._rows[:, rec.C_KEY]

    @property
    def material(self) -> Indices:
        """Number of the material [n_u]."""
        return self._rows[:, rec.C_MATERIAL]

    @property
    def pairs(self) -> Indices:
        """Shapes of every contact, A and B [n_u, 2]."""
        return np.stack(np.divmod(self.key // rec.FEATURES, len(self.shapes)), axis=1)

    @property
    def n_tests(self) -> int:
        """How many pairs of bounding volumes the last call has compared."""
        return int(self.ID[rec.N_TESTS])

    @property
    def _rows(self) -> Indices:
        return rec.MEMORY.part(self.ID, self.XD, rec.CONTACTS)[: self.n_contacts]

    def meet_foreign(self) -> bool:
        """Merge the contacts of pairs without a closed form into the tables; False where there was no room.

        Then there is, in other arrays, and detection begins anew.
        """
        rows, record = self._foreign.contacts(self.ID, self.XD)
        rows, record = np.concatenate([self._rows, rows]), np.concatenate([self.record, record])
        order = np.argsort(rows[:, rec.C_KEY], kind="stable")
        if len(rows) > self.ID[rec.MAX_CONTACTS]:
            self.ID[rec.N_CONTACTS] = len(rows)
            self.make_room()
            return False
        self.ID[rec.N_CONTACTS] = len(rows)
        self._rows[:], self.record[:] = rows[order], record[order]
        return True


def _check_grounds(shapes: tuple[Surface, ...], rules: Rules) -> None:
    """Refuse half-spaces and heightfields that can move against each other."""
    kind = kinds(shapes)
    grounds = np.flatnonzero((kind == rec.PLANE) | (kind == rec.HEIGHTFIELD))
    for i in grounds:
        others = grounds[rules.allowed(int(i), grounds)]
        if others.size:
            names = " and ".join(repr("/".join(sorted(shapes[k].names))) for k in (i, others[0]))
            if rec.HEIGHTFIELD in kind[[i, others[0]]]:
                raise ModelError(
                    f"a heightfield meets no half-space and no other one, but {names} can move against each "
                    "other: ignore them"
                )
            raise ModelError(
                f"half-spaces {names} can move against each other, but they always meet: ignore them"
            )


def _finite(margin: float) -> float:
    if not (isinstance(margin, (int, float, np.floating)) and math.isfinite(margin)):
        raise ModelError(f"margin = {margin!r}: must be a finite number of metres")
    return float(margin)
