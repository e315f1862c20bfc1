"""What a worker does with a unit: build, warm up, solve and recover, each told before it begins.

Every formulation writes a problem once before its clock runs, and every solver solves a tiny one.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from mcpframe.io.records import encode, make_record
from mcpframe.simulation.recording.harvest import exact_cone
from mcpframe.solving.registry import FORMULATIONS
from mcpframe.solving.solve import solve
from mcpframe.studies.corpora.labels import labels_of
from mcpframe.studies.running.carrying import COLD, Carry
from mcpframe.studies.running.measuring import (
    Written,
    as_given,
    blank_row,
    failed,
    is_failure,
    judged,
    recovered,
    sized,
    timed_solve,
    warm_up,
    write,
)
from mcpframe.studies.sources.source import Case, Group, Recording
from mcpframe.studies.study.row import CRASHED, Label, Row
from mcpframe.studies.study.study import Study
from mcpframe.studies.study.units import (
    Job,
    Labelled,
    Made,
    Message,
    Recorded,
    Saved,
    Stage,
    Unit,
    chain_name,
    formulation_label,
)

GRACE = 2.0
"""Seconds beyond the time limit before a solver that does not look at the clock is stopped from outside."""
OPEN_GROUPS = 4
"""Groups whose models are kept."""
UNLABELLED = "unlabelled"
"""Label that says why there are no others."""
NOT_OF_THE_CASE = ("n",)
"""Labels that depend on the formulation; every row has its own."""


@dataclass(frozen=True)
class Context:
    """What a worker must know.

    Attributes:
        study: the study.
        recordings: of every source, by group.
    """

    study: Study
    recordings: Mapping[int, Mapping[int, Recording]] = field(default_factory=dict)

    def groups(self) -> list[list[Group]]:
        """Return the groups of every source."""
        return [
            source.groups(self.study.place(self.recordings.get(s)))
            for s, source in enumerate(self.study.sources)
        ]


class Bench:
    """Makes the rows of units, one after the other, in one process."""

    def __init__(self, context: Context) -> None:
        self.study, self.context = context.study, context
        self.study.load_imports()
        self._open = lru_cache(OPEN_GROUPS)(self._opened)
        self._warmed: set[int] = set()

    def run(self, unit: Unit) -> Iterator[Message]:
        """Yield what happens, step by step."""
        others = {"labels": self._labels, "problem": self._problem, "record": self._record}
        yield from others.get(unit.kind, self._rows)(unit)

    @cached_property
    def _groups(self) -> list[list[Group]]:
        return self.context.groups()

    def _opened(self, source: int, group: int) -> Callable[[int], Case]:
        place = self.study.place(self.context.recordings.get(source))
        return self.study.sources[source].open(place, group)

    def _rows(self, unit: Unit) -> Iterator[Message]:
        """Yield the rows; a case is made once, its problem written anew for every row: all pay alike."""
        carry = None if unit.carry is None else Carry.from_bytes(unit.carry)
        at: int | None = None
        for job in unit.jobs:
            draft = self._draft(unit, job)
            yield Stage("build", self.study.settings.build_limit, draft)
            try:
                if at != job.case:
                    case = self._open(unit.source, unit.group)(job.case)
                    self._write(unit, case)  # what is done once for a model is not the problem's
                    at = job.case
                written = self._write(unit, case)
            except Exception as error:
                yield Made(failed(draft, CRASHED, f"build: {type(error).__name__}: {error}"))
                continue
            made = yield from self._row(unit, job, case, written, carry)
            carry = carry if made.carry is None else Carry.from_bytes(made.carry)
            yield made

    def _row(
        self, unit: Unit, job: Job, case: Case, written: Written, carry: Carry | None
    ) -> Generator[Message, None, Made]:
        """Warm up, solve, certify and recover."""
        settings, solver = self.study.settings, self.study.solvers[job.solver].solver()
        draft = sized(self._draft(unit, job), written)
        if job.solver not in self._warmed | unit.unwarmed:
            yield Stage("warm", settings.warm_limit, draft)
            warm_up(solver)
            self._warmed.add(job.solver)
        start = carry.start(written.problem, case.keys) if unit.kind == "warm" and carry else COLD
        yield Stage("solve", settings.time_limit + GRACE, draft)
        solution, error = timed_solve(solver, written.problem, start, settings.tol, settings.time_limit)
        row = judged(draft, solution, error, settings.time_limit)
        yield Stage("recover", settings.build_limit, row)
        row = recovered(row, written, solution)
        keep = unit.kind == "warm" and row.ok and job.repeat == settings.repeats - 1
        return Made(
            row,
            chain_name(self.study, self._group(unit), unit.formulation, job.solver),
            Carry.of(written.problem, case.keys, solution).to_bytes() if keep else None,
            self._as_bytes(unit, case, written.problem) if is_failure(row) else None,
        )

    def _write(self, unit: Unit, case: Case) -> Written:
        """Return the problem of a case in the unit's formulation."""
        if case.make_step is None:
            return as_given(case)
        return write(self.study.formulations[unit.formulation].formulation(), case)

    def _labels(self, unit: Unit) -> Iterator[Message]:
        for job in unit.jobs:
            parameters = dict(self._group(unit).parameters)
            draft = replace(self._draft(unit, job), labels=parameters)
            yield Stage("label", self.study.settings.build_limit, draft)
            case = self._open(unit.source, unit.group)(job.case)
            yield Labelled(case.name, {**(dict(case.labels) or labelled(case)), **parameters})

    def _problem(self, unit: Unit) -> Iterator[Message]:
        draft = self._draft(unit, unit.jobs[0])
        yield Stage("build", self.study.settings.build_limit, draft)
        case = self._open(unit.source, unit.group)(unit.jobs[0].case)
        yield Saved(self._as_bytes(unit, case, self._write(unit, case).problem))

    def _record(self, unit: Unit) -> Iterator[Message]:
        """Run the scene of a group, for as long as it takes."""
        source = self.study.sources[unit.source]
        yield Stage("run", math.inf, blank_row(source.name, source.name, "", "", "", unit.kind, unit.group))
        try:
            recording, reason = source.record(self.study.place(), unit.group), ""
        except Exception as error:
            recording, reason = {}, f"{type(error).__name__}: {error}"
        yield Recorded(unit.source, unit.group, recording, reason)

    def _as_bytes(self, unit: Unit, case: Case, problem: Any) -> bytes:
        """Return a problem as the bytes of an .npz file that says where it comes from."""
        label = formulation_label(self.study, unit.formulation)
        origin = {"study": self.study.name, "case": case.name, "formulation": label}
        arrays, texts = encode(make_record(problem, case.name, provenance=origin))
        stream = io.BytesIO()
        np.savez(stream, **arrays, **{key: np.array(text) for key, text in texts.items()})  # type: ignore[arg-type]
        return stream.getvalue()

    def _group(self, unit: Unit) -> Group:
        return self._groups[unit.source][unit.group]

    def _draft(self, unit: Unit, job: Job) -> Row:
        group, source = self._group(unit), self.study.sources[unit.source].name
        formulation, solver = formulation_label(self.study, unit.formulation), self.study.solvers[job.solver]
        case = group.cases[job.case]
        return blank_row(case, source, group.system, formulation, solver.label, unit.kind, job.repeat)


def labelled(case: Case) -> dict[str, Label]:
    """Return the labels of a case; of a step those of its problem by `os`, solved by `auto`."""
    try:
        if case.make_step is None:
            labels = labels_of(case.problem, exact=case.exact)
        else:
            formulation = FORMULATIONS.create("os", {})
            step = case.make_step()
            problem, recovery = formulation.build(step)
            solution = solve(problem, "auto")
            outcome = formulation.recover(recovery, solution) if solution.ok else None
            labels = labels_of(problem, step, outcome, exact_cone(formulation, step))
    except Exception as error:  # a case that cannot be labelled is a case still
        return {UNLABELLED: f"{type(error).__name__}: {error}"}
    return {name: _plain(value) for name, value in labels.items() if name not in NOT_OF_THE_CASE}


def _plain(value: Any) -> Label:
    """Return a label as JSON has it."""
    label: Label = value.item() if isinstance(value, np.generic) else value
    return label
