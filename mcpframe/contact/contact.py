"""A contact between two bodies, and a set of contacts packed into arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array, frozen
from mcpframe.contact.frames import contact_frame, three_numbers
from mcpframe.contact.law import ContactLaw, LawLike, LawRows, find_law, law_rows
from mcpframe.exceptions import ModelError
from mcpframe.jit.memory import VECTOR, columns
from mcpframe.multibody.model.link import WORLD
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.tree import Tree

Parameters: TypeAlias = tuple[tuple[str, Any], ...]

R_POINT, R_NORMAL, R_TANGENT_1, R_TANGENT_2, GAP, MU, RESTITUTION, RECORD = columns(
    VECTOR, VECTOR, VECTOR, VECTOR, 1, 1, 2
)
"""One contact in a row of doubles: vectors padded with a zero to four lanes, three numbers, one unused."""
POINT, NORMAL = slice(R_POINT, R_NORMAL), slice(R_NORMAL, R_TANGENT_1)
TANGENT_1, TANGENT_2 = slice(R_TANGENT_1, R_TANGENT_2), slice(R_TANGENT_2, GAP)
_NO_RECORD = np.zeros(0)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Contact:
    """Two bodies that touch, or are about to, at a point; all vectors in world axes.

    Attributes:
        body_a, body_b: names of links or frames, or "world".
        record: everything below in one row [20], for kernels.
        mu: friction coefficient.
        restitution: share of the normal impulse that comes back, 0 to 1.
        gap: distance of the bodies along the normal, m; negative where they overlap.
        law: what the contact may do; None takes the law of the step.
        parameters: options of the law for this contact alone, as sorted pairs.

    Args:
        point: where they touch [3], m.
        normal: from B to A [3], any length but zero.
        tangent: direction of t_1 [3], projected; None takes the rule of `mcpframe.contact.frames`.
        law: a law, its name, or a table ``{"name": ..., option: value}``.
        parameters: ``{option: value}``.
    """

    body_a: str
    body_b: str
    record: Array
    mu: float
    restitution: float
    gap: float
    law: ContactLaw | None
    parameters: Parameters

    def __init__(
        self,
        body_a: str,
        body_b: str,
        point: ArrayLike,
        normal: ArrayLike,
        mu: float = 0.0,
        restitution: float = 0.0,
        gap: float = 0.0,
        tangent: ArrayLike | None = None,
        law: LawLike | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        n, t_1, t_2 = contact_frame(normal, tangent)
        numbers = _number("mu", mu), _number("restitution", restitution), _number("gap", gap)
        _check_ranges(body_a, body_b, *numbers[:2])
        vectors = (*three_numbers("point", point), 0.0, *n, 0.0, *t_1, 0.0, *t_2, 0.0)
        record = np.array((*vectors, numbers[2], numbers[0], numbers[1], 0.0))
        found = None if law is None else find_law(law)
        parts = (body_a, body_b, frozen(record), *numbers, found, _parameters(parameters))
        vars(self).update(zip(self.__dataclass_fields__, parts, strict=True))  # the class is frozen

    def __repr__(self) -> str:
        place = f"point={self.point.tolist()}, normal={self.normal.tolist()}"
        numbers = f"mu={self.mu:g}, restitution={self.restitution:g}, gap={self.gap:g}"
        own = "" if self.law is None else f", law={self.law!r}"
        return f"Contact({self.body_a!r}, {self.body_b!r}, {place}, {numbers}{own})"

    @property
    def point(self) -> Array:
        """Where the bodies touch [3], m."""
        return self.record[0:3]

    @property
    def normal(self) -> Array:
        """Unit vector from B to A [3]."""
        return self.record[4:7]

    @property
    def frame(self) -> Array:
        """Columns (n, t_1, t_2) [3, 3]."""
        return np.ascontiguousarray(self.record[4:16].reshape(3, 4)[:, :3].T)


class ContactSet(Sequence[Contact]):
    """The contacts of a model, packed once; steps that meet the same contacts again take the same set.

    Attributes:
        tree: the links whose bodies the contacts name.
        link_a, link_b: links of the bodies, -1 for the world [n_u].
        record: the contacts' records [n_u, 20].
    """

    def __init__(self, model: Model, contacts: Sequence[Contact]) -> None:
        self.tree = model.tree
        self._contacts = tuple(contacts)
        for contact in self._contacts:
            if not isinstance(contact, Contact):
                raise ModelError(f"contacts: {contact!r} is not a Contact")
        links = [(_link(model, contact.body_a), _link(model, contact.body_b)) for contact in self._contacts]
        for i, (a, b) in enumerate(links):
            if a == b:
                raise ModelError(self._within_one_body(i))
        self.link_a: NDArray[np.int64] = np.array([a for a, _ in links], dtype=np.int64)
        self.link_b: NDArray[np.int64] = np.array([b for _, b in links], dtype=np.int64)
        records = [contact.record for contact in self._contacts]
        self.record: Array = np.concatenate([_NO_RECORD, *records]).reshape(-1, RECORD)
        self._law_rows: dict[Any, tuple[ContactLaw, tuple[LawRows, ...]]] = {}
        self._kind: NDArray[np.int64] | None = None
        self._laws: Sequence[ContactLaw | None] = ()

    @classmethod
    def of_records(
        cls,
        tree: Tree,
        link_a: NDArray[np.int64],
        link_b: NDArray[np.int64],
        record: Array,
        kind: NDArray[np.int64],
        laws: Sequence[ContactLaw | None],
    ) -> ContactSet:
        """Return the set of contacts that are packed already, as by a detector; nothing is checked.

        Args:
            tree: the links.
            link_a, link_b: links of the bodies, -1 for the world [n_u].
            record: the contacts' records [n_u, 20].
            kind: contacts of one kind have the same mu, restitution and law [n_u].
            laws: law of every kind; None takes the law of the step.
        """
        packed = cls.__new__(cls)
        packed.tree, packed.link_a, packed.link_b, packed.record = tree, link_a, link_b, record
        packed._law_rows, packed._kind, packed._laws = {}, kind.copy(), laws
        return packed

    @cached_property
    def _contacts(self) -> tuple[Contact, ...]:
        return tuple(self._made(i) for i in range(len(self)))

    def _made(self, i: int) -> Contact:
        """Return the contact behind a record."""
        names = [self.tree.links[k].name if k >= 0 else WORLD for k in (self.link_a[i], self.link_b[i])]
        assert self._kind is not None
        record, law = self.record[i], self._laws[int(self._kind[i])]
        numbers = float(record[MU]), float(record[RESTITUTION]), float(record[GAP])
        contact = Contact.__new__(Contact)
        parts = (*names, frozen(record.copy()), *numbers, law, ())
        vars(contact).update(zip(Contact.__dataclass_fields__, parts, strict=True))
        return contact

    def __len__(self) -> int:
        return len(self.record)

    @overload
    def __getitem__(self, i: int) -> Contact: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Contact]: ...
    def __getitem__(self, i: int | slice) -> Contact | Sequence[Contact]:
        return self._contacts[i]

    @cached_property
    def flat_record(self) -> Array:
        """The records one after another, for kernels [20 n_u]."""
        return self.record.ravel()

    @cached_property
    def points(self) -> Array:
        """Points, padded with a zero [n_u, 4]."""
        return np.ascontiguousarray(self.record[:, POINT])

    @cached_property
    def normals(self) -> Array:
        """Normals n, padded with a zero [n_u, 4]."""
        return np.ascontiguousarray(self.record[:, NORMAL])

    @cached_property
    def tangents(self) -> Array:
        """Tangents t_1, padded with a zero [n_u, 4]; t_2 = n × t_1."""
        return np.ascontiguousarray(self.record[:, TANGENT_1])

    @cached_property
    def gaps(self) -> Array:
        """Distances along the normals [n_u], m."""
        return np.ascontiguousarray(self.record[:, GAP])

    @cached_property
    def restitutions(self) -> Array:
        """Coefficients of restitution [n_u]."""
        return np.ascontiguousarray(self.record[:, RESTITUTION])

    @cached_property
    def axes(self) -> Array:
        """Rows n, t_1, t_2 of every contact [n_u, 3, 3]."""
        return np.ascontiguousarray(self.record[:, NORMAL.start : TANGENT_2.stop].reshape(-1, 3, 4)[:, :, :3])

    def with_gaps(self, gaps: Array) -> ContactSet:
        """Return the same contacts with other gaps [n_u]."""
        other = copy(self)
        other.record = self.record.copy()
        other.record[:, GAP] = gaps
        made = ("gaps", "flat_record") if self._kind is None else ("gaps", "flat_record", "_contacts")
        for name in made:
            vars(other).pop(name, None)
        return other

    def chosen(self, which: NDArray[np.bool_]) -> ContactSet:
        """Return some contacts of a set that a detector has made, those for which `which` is true [n_u]."""
        assert self._kind is not None
        parts = self.link_a[which], self.link_b[which], self.record[which], self._kind[which]
        return ContactSet.of_records(self.tree, *parts, self._laws)

    def law_rows(self, law: ContactLaw, dt: float, n_f: int) -> tuple[LawRows, ...]:
        """Return the rows of every contact; arguments as in `mcpframe.contact.law.law_rows`."""
        key = (id(law), dt, n_f)
        found = self._law_rows.get(key)
        if found is None:
            rows = self._rows_of_kinds(law, dt, n_f)
            self._law_rows.clear()  # steps of one run ask for the same again and again
            found = self._law_rows[key] = law, rows
        return found[1]

    def _rows_of_kinds(self, law: ContactLaw, dt: float, n_f: int) -> tuple[LawRows, ...]:
        """Return the rows of every contact, made once for each kind where contacts have kinds."""
        if self._kind is None:
            return tuple(law_rows(law, contact, dt, n_f) for contact in self._contacts)
        kinds, first = np.unique(self._kind, return_index=True)
        rows = {k: law_rows(law, self._made(i), dt, n_f) for k, i in zip(kinds.tolist(), first, strict=True)}
        return tuple(rows[k] for k in self._kind.tolist())

    def _within_one_body(self, i: int) -> str:
        contact = self._contacts[i]
        return (
            f"contact {i}: {contact.body_a!r} and {contact.body_b!r} are one rigid body; "
            "a contact joins two bodies that can move relative to each other"
        )


def _link(model: Model, body: str) -> int:
    """Return the link of a body, -1 for the world; frames and mistakes take the slow way."""
    if body == WORLD:
        return -1
    link = model.tree.index.get(body)
    return model.resolve(body)[0] if link is None else link


def _number(name: str, value: Any) -> float:
    try:
        number = 0.0 + value
        if math.isfinite(number):
            return float(number)
    except TypeError:
        pass
    raise ModelError(f"contact: {name} = {value!r}: must be a finite number")


def _check_ranges(body_a: Any, body_b: Any, mu: float, restitution: float) -> None:
    for name, body in (("body_a", body_a), ("body_b", body_b)):
        if not isinstance(body, str):
            raise ModelError(f"contact: {name} = {body!r}: must be the name of a link or frame, or 'world'")
    if mu < 0.0:
        raise ModelError(f"contact: mu = {mu}: friction is not negative")
    if not 0.0 <= restitution <= 1.0:
        raise ModelError(f"contact: restitution = {restitution}: must lie between 0 and 1")


def _parameters(parameters: Mapping[str, Any] | None) -> Parameters:
    if not parameters:
        return ()
    try:
        pairs = tuple(sorted(parameters.items()))
        hash(pairs)
    except (AttributeError, TypeError):
        raise ModelError(
            f"contact: parameters = {parameters!r}: give a table of options with numbers, texts or tuples"
        ) from None
    return pairs
