"""Units of work: rows that one process makes in a row, what it tells meanwhile, and the plan of a study.

Cold rows of one problem and formulation are a unit, so that the problem is built once for all solvers. Warm
rows form a chain along a group, for every formulation and solver one: each starts from the row before, so
their order is fixed and the answers do not depend on who computes them. A chain is cut into units that follow
each other, so that a worker that is lost costs little.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from mcpframe.studies.sources.source import GIVEN, AbstractSource, Group, Recording
from mcpframe.studies.study.row import Key, Label, Row
from mcpframe.studies.study.store import Store
from mcpframe.studies.study.study import Study

T = TypeVar("T")
UNIT_ROWS = 50
"""Rows, or cases to be labelled, of one unit of a chain at most."""
AS_GIVEN = -1
"""Number of the formulation of problems that come as they are."""


@dataclass(frozen=True)
class Job:
    """One row to make: case, solver and repeat, by number."""

    case: int
    solver: int
    repeat: int


@dataclass(frozen=True)
class Unit:
    """Rows to make in order.

    Attributes:
        kind: cold or warm rows; labels of cases; the problem of the only job, to be saved; or the run of the
            group's scene.
        source, group, formulation: by number.
        jobs: the rows; of a unit of labels the cases.
        carry: what the first warm row starts from.
        unwarmed: solvers that are not to be warmed up because they did not come back from it.
    """

    kind: Literal["cold", "warm", "labels", "problem", "record"]
    source: int
    group: int
    formulation: int
    jobs: tuple[Job, ...]
    carry: bytes | None = None
    unwarmed: frozenset[int] = frozenset()

    def after(self, count: int) -> Unit:
        """Return the unit without its first jobs."""
        return replace(self, jobs=self.jobs[count:])


@dataclass(frozen=True)
class Stage:
    """What is about to be done, and how long it may take, s.

    Attributes:
        what: "build", "warm", "solve", "recover", "label" or "run".
        draft: the row as far as it is known.
    """

    what: str
    limit: float
    draft: Row


@dataclass(frozen=True)
class Made:
    """A row, what the next row of its chain starts from, and its problem as .npz bytes where it failed."""

    row: Row
    chain: str = ""
    carry: bytes | None = None
    problem: bytes | None = None


@dataclass(frozen=True)
class Labelled:
    """Labels of a case."""

    case: str
    labels: dict[str, Label]


@dataclass(frozen=True)
class Saved:
    """A problem as .npz bytes; empty where it cannot be saved."""

    problem: bytes


@dataclass(frozen=True)
class Recorded:
    """The run of a scene, or why there is none."""

    source: int
    group: int
    recording: Recording
    reason: str = ""


Message = Stage | Made | Labelled | Saved | Recorded
Chain = Sequence[Unit]
"""Units that must follow each other, each with the carry that the one before has left."""


def plan(study: Study, groups: Sequence[Sequence[Group]], store: Store) -> list[Chain]:
    """Return what is left to do of a study, source by source and group by group.

    Labels of some cases come before the rows of these, so that the first rows do not wait for all labels, and
    a study that is stopped has both.
    """
    known = store.labels() if study.settings.labels else None
    return [
        chain
        for s, own in enumerate(groups)
        for g, group in enumerate(own)
        for chain in (*_cold(study, s, g, group, store, known), *_warm(study, s, g, group, store))
    ]


def all_keys(study: Study, groups: Sequence[Sequence[Group]]) -> Iterator[Key]:
    """Yield the key of every row of a study."""
    for source, own in zip(study.sources, groups, strict=True):
        for group in own:
            for formulation in formulations_of(study, source):
                for start in study.starts(source):
                    for job in _jobs(study, range(len(group.cases))):
                        yield key_of(study, group, formulation, start, job)


def formulations_of(study: Study, source: AbstractSource) -> Sequence[int]:
    """Return the numbers of the formulations that write the problems of a source."""
    return range(len(study.formulations)) if source.gives_steps else (AS_GIVEN,)


def formulation_label(study: Study, formulation: int) -> str:
    """Return what a formulation is called in rows."""
    return GIVEN if formulation == AS_GIVEN else study.formulations[formulation].label


def key_of(study: Study, group: Group, formulation: int, start: str, job: Job) -> Key:
    """Return the key of the row that a job makes."""
    label, solver = formulation_label(study, formulation), study.solvers[job.solver].label
    return group.cases[job.case], label, solver, start, job.repeat


def chain_name(study: Study, group: Group, formulation: int, solver: int) -> str:
    """Return what the warm chain of a group, formulation and solver is called in the store."""
    return f"{group.name} | {formulation_label(study, formulation)} | {study.solvers[solver].label}"


def _cold(
    study: Study, s: int, g: int, group: Group, store: Store, known: Container[str] | None
) -> Iterator[Chain]:
    """Yield the labels that are not known, and the cold rows, of some cases after the other."""
    source = study.sources[s]
    for cases in _cut(range(len(group.cases))):
        unlabelled = [Job(i, 0, 0) for i in cases if known is not None and group.cases[i] not in known]
        if unlabelled:
            yield [Unit("labels", s, g, AS_GIVEN, tuple(unlabelled))]
        if "cold" not in study.starts(source):
            continue
        for formulation in formulations_of(study, source):
            for i in cases:
                jobs = _missing(study, group, formulation, "cold", _jobs(study, [i]), store)
                if jobs:
                    yield [Unit("cold", s, g, formulation, jobs)]


def _warm(study: Study, s: int, g: int, group: Group, store: Store) -> Iterator[Chain]:
    """Yield the warm chains of a group."""
    source = study.sources[s]
    if "warm" not in study.starts(source):
        return
    for formulation in formulations_of(study, source):
        for solver in range(len(study.solvers)):
            chain = (job for job in _jobs(study, range(len(group.cases))) if job.solver == solver)
            jobs = _missing(study, group, formulation, "warm", chain, store)
            units = [Unit("warm", s, g, formulation, tuple(some)) for some in _cut(jobs)]
            if units:
                carry = store.carry(chain_name(study, group, formulation, solver))
                yield [replace(units[0], carry=carry), *units[1:]]


def _missing(
    study: Study, group: Group, formulation: int, start: str, jobs: Iterable[Job], store: Store
) -> tuple[Job, ...]:
    """Return the jobs whose rows are not there."""
    return tuple(job for job in jobs if not store.has(key_of(study, group, formulation, start, job)))


def _jobs(study: Study, cases: Iterable[int]) -> Iterator[Job]:
    """Yield the rows of cases: repeat by repeat, so that no solver has all the calm of the machine."""
    for case in cases:
        for repeat in range(study.settings.repeats):
            for solver in range(len(study.solvers)):
                yield Job(case, solver, repeat)


def _cut(work: Sequence[T]) -> Iterator[Sequence[T]]:
    for first in range(0, len(work), UNIT_ROWS):
        yield work[first : first + UNIT_ROWS]
