"""Which shapes meet, and what their surfaces do to each other: names resolved into classes and rules.

A shape answers to its own name, to the name of its link (or "world") and to the names of frames on that link,
but for frames that other shapes of the link are named after, as when one link was merged into another.
Names may be patterns, with ``*`` for any text and ``?`` for any one character. A pair of names means all
pairs of shapes of which one answers to the first and the other to the second; a single name means all pairs
of which one answers to it. Where several entries mean a pair, the last one holds.

Shapes of one rigid body never meet. *Neighbours* do not unless asked for: bodies that a hinge (other than a
free one) or a closure joins; links without mass and shape do not separate them, and the world is nobody's
neighbour, though a link that is locked to it may be.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcpframe.contact.detection.records import ASKED, NEVER
from mcpframe.contact.law import ContactLaw, LawLike, find_law
from mcpframe.exceptions import ModelError, nearest
from mcpframe.multibody.closures import Ball, Pin, Weld
from mcpframe.multibody.model.link import WORLD
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.shapes import Geometry

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
Names: TypeAlias = "str | tuple[str, str]"

DEFAULT = "default"
"""Key of the material of all pairs that no other key means."""
WORLD_PART = 0


@dataclass(frozen=True, eq=False, init=False)
class Material:
    """What two surfaces do to each other.

    Attributes:
        mu: friction coefficient.
        restitution: share of the normal impulse that comes back, 0 to 1.
        law: what a contact may do; may be given by name or as a table ``{"name": ..., option: value}``. None
            takes the law of the step.
    """

    mu: float
    restitution: float
    law: ContactLaw | None

    def __init__(self, mu: float = 0.0, restitution: float = 0.0, law: LawLike | None = None) -> None:
        friction, returned = _number("mu", mu), _number("restitution", restitution)
        if friction < 0.0:
            raise ModelError(f"material: mu = {friction:g}: friction is not negative")
        if not 0.0 <= returned <= 1.0:
            raise ModelError(f"material: restitution = {returned:g}: must lie between 0 and 1")
        found = None if law is None else find_law(law)
        vars(self).update(mu=friction, restitution=returned, law=found)  # the class is frozen


@dataclass(frozen=True, eq=False)
class Surface:
    """A shape of a model, on the world or on a link.

    Attributes:
        link: index of the link, -1 for the world.
        geometry: the shape and its pose on the link.
        names: all names to which it answers.
    """

    link: int
    geometry: Geometry
    names: frozenset[str]


def surfaces(model: Model) -> tuple[Surface, ...]:
    """Return all shapes: those of the world first, then those of the links in their order."""
    bodies = [(WORLD, -1, model.geometry)]
    bodies += [(link.name, k, link.geometry) for k, link in enumerate(model.links)]
    frames: dict[int, set[str]] = {}
    for name, (k, _) in model.frames.items():
        frames.setdefault(k, set()).add(name)
    found: list[Surface] = []
    for body, k, shapes in bodies:
        common = {body} | (frames.get(k, set()) - {shape.name for shape in shapes})
        found += [Surface(k, shape, frozenset((common | {shape.name}) - {""})) for shape in shapes]
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Rules:
    """Which shapes may meet, and how.

    Attributes:
        part: rigid part of every shape, WORLD_PART for the world [n].
        above: the part that carries it and does not meet it, -1 for none [n].
        fixed: whether the part is fixed to the world [n].
        shape_class: class of every shape [n].
        table: as `records.RULES` [n_classes, n_classes].
        holds: whether points of contacts lie on the surface of a shape [n].
        materials: what the table's numbers mean.
    """

    part: Indices
    above: Indices
    fixed: Flags
    shape_class: Indices
    table: Indices
    holds: Flags
    materials: tuple[Material, ...]

    def allowed(self, i: int, others: Indices) -> Flags:
        """Return whether shape i may meet each of the others."""
        rule = self.table[self.shape_class[i], self.shape_class[others]]
        rigid = (self.part[others] == self.part[i]) | (self.fixed[others] & self.fixed[i])
        next_to = (self.above[others] == self.part[i]) | (self.part[others] == self.above[i])
        return np.asarray((rule != NEVER) & ~rigid & (~next_to | (rule % 2 == ASKED)))


def make_rules(
    model: Model,
    shapes: Sequence[Surface],
    ignore: Iterable[Names],
    materials: Mapping[Names, Material | Mapping[str, Any]],
    neighbours: bool | Iterable[Names],
    points_on: Iterable[str] = (),
) -> Rules:
    """Return the rules of a model's shapes; arguments as in `Detector`."""
    of_link, above_part, fixed_part = _parts(model)
    part = np.array([of_link[shape.link] for shape in shapes], dtype=np.int64)
    closed = _closed(model, of_link)
    everywhere = isinstance(neighbours, bool)
    asked = [] if everywhere else _keys("neighbours", neighbours)
    ignored = _keys("ignore", ignore)
    named = [key for key in _keys("materials", materials) if key != (DEFAULT,)]
    classes = _Classes(shapes, part, [*ignored, *named, *asked], {p for pair in closed for p in pair})
    chosen = [_material(materials.get(DEFAULT, Material()))]
    number = np.zeros((classes.n, classes.n), dtype=np.int64)
    for names, material in materials.items():
        if names != DEFAULT:
            number[classes.meant(*_keys("materials", [names]))] = len(chosen)
            chosen.append(_material(material))
    may = np.full_like(number, bool(neighbours) and everywhere, dtype=np.bool_)
    for key in asked:
        may[classes.meant(key)] = True
    never = classes.pairs(closed) & ~may
    for key in ignored:
        never |= classes.meant(key)
    table = np.where(never, NEVER, 2 * number + ASKED * may)
    own = part, above_part[part], fixed_part[part], classes.of_shape
    return Rules(*own, table, _holding(shapes, points_on), tuple(chosen))


class _Classes:
    """Shapes told apart by the names and parts that matter; `of_shape` has the class of each [n]."""

    def __init__(
        self, shapes: Sequence[Surface], part: Indices, keys: Iterable[tuple[str, ...]], parts: set[int]
    ) -> None:
        patterns = sorted({name for key in keys for name in key})
        answers = {pattern: _answering(shapes, pattern) for pattern in patterns}
        own = np.where(np.isin(part, sorted(parts)), part, -1)
        columns = np.column_stack([own, *answers.values()]).astype(np.int64)
        kinds, of_shape = np.unique(columns, axis=0, return_inverse=True)
        self.n, self.of_shape = len(kinds), of_shape.reshape(-1).astype(np.int64)
        self._part = kinds[:, 0]
        self._answers = {pattern: kinds[:, 1 + k] > 0 for k, pattern in enumerate(patterns)}

    def meant(self, key: tuple[str, ...]) -> Flags:
        """Return which pairs of classes one or two names mean [n, n]."""
        first = self._answers[key[0]]
        second = self._answers[key[1]] if len(key) == 2 else np.ones_like(first)
        return np.asarray(np.outer(first, second) | np.outer(second, first))

    def pairs(self, parts: Iterable[tuple[int, int]]) -> Flags:
        """Return which pairs of classes are of the given parts [n, n]."""
        flags = np.zeros((self.n, self.n), dtype=np.bool_)
        for a, b in parts:
            flags |= np.outer(self._part == a, self._part == b)
        return flags | flags.T


def _parts(model: Model) -> tuple[dict[int, int], Indices, Flags]:
    """Return the part of every link and of -1; of every part the neighbour above, and whether it is fixed."""
    of_link, above, fixed = {-1: WORLD_PART}, [-1], [True]
    for k, link in enumerate(model.links):
        parent = int(model.parents[k])
        if link.hinge.kind == "locked" and parent >= 0:
            of_link[k] = of_link[parent]
            continue
        of_link[k] = len(above)
        while parent >= 0 and not (model.links[parent].mass or model.links[parent].geometry):
            parent = int(model.parents[parent])
        joined = parent >= 0 and link.hinge.kind != "free"
        above.append(of_link[parent] if joined else -1)
        fixed.append(link.hinge.kind == "locked")
    return of_link, np.array(above, dtype=np.int64), np.array(fixed, dtype=np.bool_)


def _closed(model: Model, of_link: Mapping[int, int]) -> set[tuple[int, int]]:
    """Return parts that a closure holds together, the world excepted."""
    found = set()
    for closure in model.closures:
        if isinstance(closure, (Weld, Pin, Ball)):
            a, b = (of_link[model.resolve(node)[0]] for node in (closure.node_a, closure.node_b))
            if WORLD_PART not in (a, b):
                found.add((a, b))
    return found


def _keys(what: str, names: Any) -> list[tuple[str, ...]]:
    """Return names and pairs of names as tuples of one or two."""
    entries = [names] if isinstance(names, str) else list(names)
    keys = [tuple(entry) if isinstance(entry, (tuple, list)) else (entry,) for entry in entries]
    for key in keys:
        if len(key) not in (1, 2) or not all(isinstance(name, str) for name in key):
            raise ModelError(f"{what}: {key!r}: give a name, or a pair of names, of bodies or shapes")
    return keys


def _answering(shapes: Sequence[Surface], pattern: str) -> Flags:
    """Return which shapes answer to a pattern, or raise ModelError where none does."""
    regex = re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), re.DOTALL)
    flags = np.array([any(regex.fullmatch(name) for name in shape.names) for shape in shapes], np.bool_)
    if not flags.any():
        known = sorted({name for shape in shapes for name in shape.names})
        raise ModelError(
            f"no shape, and no body with a shape, is called {pattern!r};{nearest(pattern, known)}"
        )
    return flags


def _holding(shapes: Sequence[Surface], names: Iterable[str]) -> Flags:
    """Return on the surfaces of which shapes points of contacts lie [n]."""
    flags = np.zeros(len(shapes), np.bool_)
    for key in _keys("points_on", names):
        if len(key) != 1:
            raise ModelError(f"points_on: {key!r}: give names of bodies or shapes, no pairs")
        flags |= _answering(shapes, key[0])
    return flags


def _material(material: Material | Mapping[str, Any]) -> Material:
    if isinstance(material, Material):
        return material
    if isinstance(material, Mapping):
        unknown = sorted(set(material) - {"mu", "restitution", "law"})
        if unknown:
            raise ModelError(f"material: unknown key {unknown[0]!r}; known are mu, restitution and law")
        return Material(**material)
    raise ModelError(f"material {material!r}: give a Material or a table of mu, restitution, law")


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ModelError(f"material: {name} = {value!r}: must be a finite number")
    return float(value)
