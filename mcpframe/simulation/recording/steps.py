# ruff: noqa: RUF009 - column() is dataclasses.field
"""What is recorded of every step, as columns; contacts and impacts in tables of their own.

Row k of the steps is the state after step k, with figures of the step that led there; row 0 may be the
state at the start. The contacts of all steps stand one after another, ``n_contacts[k]`` of them for step k,
and so do the impacts. The same columns serve a block of steps on its way to a `Recorder`, a whole
`Trajectory`, and the datasets of its file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array, frozen
from mcpframe.contact.outcome import Mode
from mcpframe.exceptions import ProblemError
from mcpframe.multibody.model.model import Model
from mcpframe.solving.solution import Status

Indices = NDArray[np.int64]
Codes = NDArray[np.int8]

NONE = -1
"""Status code and solver of a step that needed no solve; body index of the world."""
ASKED, AUTO = 0, 1
"""Codes of the column ``solver``: the scene's own, or ``auto``, which takes over where that one fails."""
STATUSES: tuple[str, ...] = tuple(status.name for status in Status)
SOLVED = STATUSES.index(Status.SOLVED.name)
MODES: tuple[str, ...] = get_args(Mode)
SEPARATING, STICKING, SLIDING = range(len(MODES))
NAMES = {"status": STATUSES, "mode": MODES}
"""What the codes of a column mean, in their order."""

LATER = frozenset(
    {"certificate", "asleep", "active_joints", "rigid_error", "rigid_loss", "stretch"}
    | {"contact_model", "unique", "margin", "growth", "force_jump", "layer_energy"}
)
"""Columns that files of older versions do not have."""
REQUIRED = object()
"""Default of a column that every block must bring."""


def column(kind: str, *widths: int | str, unit: str = "", default: Any = REQUIRED) -> Any:
    """Declare a column: numpy dtype, shape of a row (a name stands for any width), unit, default of all."""
    about = {"kind": np.dtype(kind), "widths": widths, "unit": unit, "default": default}
    return field(default=None, metadata=about)


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Columns of equal length; the base of the tables of this module.

    Arrays are taken as they are where their type fits, not copied; a column that is left out is filled with
    its default.
    """

    first: ClassVar[str]

    def __post_init__(self) -> None:
        rows = np.shape(getattr(self, self.first))[:1]
        for about in columns(type(self)):
            object.__setattr__(self, about.name, self._checked(about, rows))

    def __len__(self) -> int:
        return len(getattr(self, self.first))

    def __repr__(self) -> str:
        names = ", ".join(about.name for about in columns(type(self)))
        return f"{type(self).__name__}(rows={len(self)}, columns={names})"

    def items(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Return names and arrays of the columns."""
        return ((about.name, getattr(self, about.name)) for about in columns(type(self)))

    def rows(self, start: int, stop: int) -> Self:
        """Return the rows from start to before stop, as views."""
        return self._of({name: array[start:stop] for name, array in self.items()})

    @classmethod
    def concatenate(cls, tables: Sequence[Self]) -> Self:
        """Return the rows of all tables (at least one) as a table of read-only arrays of its own."""
        return cls._of(joined(cls, tables))

    @classmethod
    def _of(cls, parts: dict[str, Any]) -> Self:
        """Return the table of columns that are known to fit."""
        table = object.__new__(cls)
        table.__dict__.update(parts)
        return table

    def _checked(self, about: Field[Any], rows: tuple[int, ...]) -> NDArray[Any]:
        """Return a column as an array of its type, or raise ProblemError naming it."""
        value, kind, widths = getattr(self, about.name), about.metadata["kind"], about.metadata["widths"]
        if value is None:
            if about.metadata["default"] is REQUIRED:
                raise ProblemError(f"{type(self).__name__}: {about.name} is missing")
            return np.full(rows + widths, about.metadata["default"], dtype=kind)
        array = np.asarray(value)
        if array.dtype != kind:
            array = self._converted(about.name, array, kind)
        widths_fit = all(isinstance(w, str) or w == n for w, n in zip(widths, array.shape[1:], strict=False))
        if array.shape[:1] != rows or array.ndim != 1 + len(widths) or not widths_fit:
            expected = ", ".join(map(str, rows + widths))
            raise ProblemError(f"{type(self).__name__}: {about.name}: shape {array.shape}, not ({expected})")
        return array

    def _converted(self, name: str, array: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
        if array.size == 0:
            return array.astype(kind)
        with np.errstate(invalid="ignore"):  # NaN among integers is found below
            converted = array.astype(kind) if array.dtype.kind in "biuf" else None
        if converted is None or (kind.kind != "f" and not np.array_equal(converted, array)):
            raise ProblemError(f"{type(self).__name__}: {name}: {array.dtype} does not fit into {kind}")
        return converted


@dataclass(frozen=True, eq=False, repr=False)
class ContactTable(Table):
    """Contacts of steps, one row each, in world axes.

    Attributes:
        body_a, body_b: indices of links, -1 for the world.
        key: the same number for the same contact from step to step.
        point: where they touch, m.
        normal: from B to A.
        gap: distance along the normal, m; negative where they overlap.
        impulse: on A over the step, N s.
        mode: index into `MODES`.
        stretch: of its layer, where its law has one, m.
    """

    first: ClassVar[str] = "body_a"
    body_a: Indices = column("i8")
    body_b: Indices = column("i8")
    key: Indices = column("i8", default=NONE)
    point: Array = column("f8", 3, unit="m")
    normal: Array = column("f8", 3)
    gap: Array = column("f8", unit="m", default=0.0)
    impulse: Array = column("f8", 3, unit="N s")
    mode: Codes = column("i1")
    stretch: Array = column("f8", 3, unit="m", default=0.0)


@dataclass(frozen=True, eq=False, repr=False)
class ImpactTable(Table):
    """Impacts within steps, one row each: the energy audit of compression and decompression.

    Attributes:
        time: s.
        n_contacts: contacts that took part.
        n_limits: joint limits that took part.
        energy_before, energy_compressed, energy_after: kinetic energy before the impact, after compression
            (the lowest, where one approach is resolved after the other) and after decompression, J.
        penetration: largest at that time, m.
        jam: 1 where nothing collided: friction at a closed contact made the rates jump, see
            `simulation.step.jam`.
        certificate: how far it is from physics, the worst of its parts; NaN where none was made.
    """

    first: ClassVar[str] = "time"
    time: Array = column("f8", unit="s")
    n_contacts: Indices = column("i8")
    n_limits: Indices = column("i8", default=0)
    energy_before: Array = column("f8", unit="J")
    energy_compressed: Array = column("f8", unit="J")
    energy_after: Array = column("f8", unit="J")
    penetration: Array = column("f8", unit="m", default=0.0)
    jam: Codes = column("i1", default=0)
    certificate: Array = column("f8", default=np.nan)


@dataclass(frozen=True, eq=False, repr=False)
class StepBlock(Table):
    """Steps in a row, with their contacts and impacts.

    Attributes:
        time: at the end of the step, s.
        theta, theta_dot: coordinates [n, n_theta] and rates [n, N].
        kinetic_energy, potential_energy: J.
        residual: natural residual of the solve; NaN where there was none.
        status: index into `STATUSES`, -1 where no solve was needed.
        solver: index into the header's solvers, -1 for none.
        iterations: of the solver.
        step_seconds: wall time of the step, all in; the mean over the block that it was computed in.
        build_seconds, solve_seconds, recover_seconds: wall time of parts of the step.
        n_contacts: rows of `contacts` that belong to the step.
        penetration: largest overlap of any two bodies, m.
        drift: largest violation of the bilateral rows.
        n_impacts: rows of `impacts` that belong to the step.
        certificate: how far steps and impacts since the last row are from physics, the worst of those that
            were certified, see `mcpframe.contact.certificate`; NaN where none was.
        asleep: how many bodies sleep, see `sleep_after`.
        active_joints: how many joints move, where they become rigid and active again; -1 in other runs.
        rigid_error: what the others miss, see `mcpframe.multibody.adaptive.choice`: the root of their sum at
            the last choice; NaN where all move.
        rigid_loss: kinetic energy that making joints rigid has taken since the last row, J.
        contact_model: 1 where contacts yielded in the step, 0 where they were rigid; -1 where nobody asked.
        unique: which test has told whether its rigid forces are unique for every load, an index into
            `mcpframe.diagnosis.p_matrix.TESTS`, negative where they are not; `UNDETERMINED` where rows repeat
            each other; 0 where nothing presses, or nothing was told.
        margin: by how much they are unique, see `mcpframe.diagnosis.p_matrix`; where there are many contacts
            a lower bound. NaN where it was not told.
        growth: rate at which a layer would leave them, 1/s; they are stable where it is negative, -inf where
            there are many contacts and a bound tells that they are.
        force_jump: by how much a force changes where the contact model is switched before the step, N; NaN
            where it is not.
        layer_energy: what the layer of contacts that switch stores, J: after the step; where it is switched
            before the step, then.
        contacts, impacts: tables of all steps' contacts and impacts, in the order of the steps.
    """

    first: ClassVar[str] = "time"
    time: Array = column("f8", unit="s")
    theta: Array = column("f8", "n_theta")
    theta_dot: Array = column("f8", "N")
    kinetic_energy: Array = column("f8", unit="J", default=np.nan)
    potential_energy: Array = column("f8", unit="J", default=np.nan)
    residual: Array = column("f8", default=np.nan)
    status: Codes = column("i1", default=NONE)
    solver: Indices = column("i8", default=NONE)
    iterations: Indices = column("i8", default=0)
    step_seconds: Array = column("f8", unit="s", default=0.0)
    build_seconds: Array = column("f8", unit="s", default=0.0)
    solve_seconds: Array = column("f8", unit="s", default=0.0)
    recover_seconds: Array = column("f8", unit="s", default=0.0)
    n_contacts: Indices = column("i8", default=0)
    penetration: Array = column("f8", unit="m", default=0.0)
    drift: Array = column("f8", default=0.0)
    n_impacts: Indices = column("i8", default=0)
    certificate: Array = column("f8", default=np.nan)
    asleep: Indices = column("i8", default=0)
    active_joints: Indices = column("i8", default=NONE)
    rigid_error: Array = column("f8", default=np.nan)
    rigid_loss: Array = column("f8", unit="J", default=0.0)
    contact_model: Codes = column("i1", default=NONE)
    unique: Codes = column("i1", default=0)
    margin: Array = column("f8", default=np.nan)
    growth: Array = column("f8", unit="1/s", default=np.nan)
    force_jump: Array = column("f8", unit="N", default=np.nan)
    layer_energy: Array = column("f8", unit="J", default=0.0)
    contacts: ContactTable = field(default_factory=lambda: NO_CONTACTS)
    impacts: ImpactTable = field(default_factory=lambda: NO_IMPACTS)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, counts, table in self._ragged():
            if counts.min(initial=0) < 0 or counts.sum() != len(table):
                raise ProblemError(
                    f"StepBlock: n_{name} counts {counts.sum()} {name}, the table has {len(table)}"
                )

    def rows(self, start: int, stop: int) -> StepBlock:
        """Return the steps from start to before stop with their contacts and impacts, as views."""
        contacts = self.contacts.rows(*self.contact_start[[start, stop]])
        impacts = self.impacts.rows(*self.impact_start[[start, stop]])
        own = {name: array[start:stop] for name, array in self.items()}
        return self._of({**own, "contacts": contacts, "impacts": impacts})

    def taking(self, seconds: float) -> StepBlock:
        """Return the steps with the wall time that each of them has taken."""
        return self._of({**self.__dict__, "step_seconds": np.full(len(self), seconds)})

    @classmethod
    def concatenate(cls, tables: Sequence[StepBlock]) -> StepBlock:
        """Return the steps of all blocks (at least one) as a block of read-only arrays of its own."""
        contacts = ContactTable.concatenate([block.contacts for block in tables])
        impacts = ImpactTable.concatenate([block.impacts for block in tables])
        return cls._of({**joined(cls, tables), "contacts": contacts, "impacts": impacts})

    @staticmethod
    def without_rows(model: Model) -> StepBlock:
        """Return a block of no steps for a model."""
        return StepBlock(**empty(StepBlock, n_theta=model.n_theta, N=model.n_dofs))

    @cached_property
    def contact_start(self) -> Indices:
        """First contact of every step, and the number of all [n + 1]."""
        return frozen(np.concatenate([[0], np.cumsum(self.n_contacts)]))

    @cached_property
    def impact_start(self) -> Indices:
        """First impact of every step, and the number of all [n + 1]."""
        return frozen(np.concatenate([[0], np.cumsum(self.n_impacts)]))

    @property
    def frozen(self) -> bool:
        """Whether all arrays are read-only and nobody else's, as `concatenate` makes them."""
        tables: tuple[Table, ...] = (self, self.contacts, self.impacts)
        arrays = [array for table in tables for _, array in table.items()]
        return all(array.base is None and not array.flags.writeable for array in arrays)

    def _ragged(self) -> tuple[tuple[str, Indices, Table], ...]:
        return ("contacts", self.n_contacts, self.contacts), ("impacts", self.n_impacts, self.impacts)


def columns(table: type[Table]) -> tuple[Field[Any], ...]:
    """Return the columns of a table in order."""
    return COLUMNS[table]


def joined(table: type[Table], parts: Sequence[Table]) -> dict[str, Any]:
    """Return the columns of tables put together, read-only, by name."""
    names = [about.name for about in columns(table)]
    return {name: frozen(np.concatenate([getattr(part, name) for part in parts])) for name in names}


def empty(table: type[Table], **widths: int) -> dict[str, Any]:
    """Return columns without rows, by name; `widths` gives the named widths."""
    shapes = {
        about: tuple(widths[w] if isinstance(w, str) else w for w in about.metadata["widths"])
        for about in columns(table)
    }
    return {about.name: np.empty((0, *shape), about.metadata["kind"]) for about, shape in shapes.items()}


COLUMNS: dict[type[Table], tuple[Field[Any], ...]] = {
    table: tuple(about for about in fields(table) if about.metadata)
    for table in (ContactTable, ImpactTable, StepBlock)
}
NO_CONTACTS: ContactTable = ContactTable(**empty(ContactTable))
NO_IMPACTS: ImpactTable = ImpactTable(**empty(ImpactTable))
