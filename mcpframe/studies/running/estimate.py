"""How much work a study is: rows counted, and times tried on one case of the first and last group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mcpframe.studies.running.guard import Guard
from mcpframe.studies.running.task import Context
from mcpframe.studies.sources.source import AbstractSource
from mcpframe.studies.study.study import Study
from mcpframe.studies.study.units import Job, Made, Unit, formulations_of

TRIAL_LIMIT = 2.0
"""Seconds for a solver in a trial; one that takes longer counts as taking the study's time limit."""


@dataclass(frozen=True)
class Share:
    """What one source brings.

    Attributes:
        source: name.
        kind: of the source.
        groups, cases, rows: how many; of scenes at most.
        seconds: of one worker, by trial; None where none was made, as for scenes.
    """

    source: str
    kind: str
    groups: int
    cases: int
    rows: int
    seconds: float | None


def estimate(study: Study) -> list[Share]:
    """Return what every source brings, in the order of the file; no code that the study names is run."""
    if study.unseen:
        return [_share(study, source, None) for source in study.sources]
    limit = min(TRIAL_LIMIT, study.settings.time_limit)
    tried = replace(study, settings=study.settings.with_options(time_limit=limit, repeats=1))
    tried = replace(tried, sources=tuple(s for s in study.sources if s.is_ready(study.place())))
    guard = Guard(Context(tried))
    try:
        seconds = {source.name: _trial(tried, k, guard, study) for k, source in enumerate(tried.sources)}
    finally:
        guard.close()
    return [_share(study, source, seconds.get(source.name)) for source in study.sources]


def _share(study: Study, source: AbstractSource, seconds: float | None) -> Share:
    groups, cases = source.most_cases(study.place())
    per_case = len(study.solvers) * study.settings.repeats * len(study.starts(source))
    rows = cases * per_case * len(formulations_of(study, source))
    return Share(source.name, source.kind, groups, cases, rows, None if seconds is None else rows * seconds)


def _trial(study: Study, s: int, guard: Guard, whole: Study) -> float:
    """Return the mean time of a row of a source."""
    found = [_cost(made, study, whole) for unit in _units(study, s) for made in guard.run(unit)]
    costs = [cost for cost in found if cost is not None]
    return sum(costs) / len(costs)


def _units(study: Study, s: int) -> Iterator[Unit]:
    source = study.sources[s]
    last = source.most_cases(study.place())[0] - 1
    jobs = tuple(Job(0, solver, 0) for solver in range(len(study.solvers)))
    for group in sorted({0, last}):
        for formulation in formulations_of(study, source):
            yield Unit("cold", s, group, formulation, jobs)


def _cost(message: object, study: Study, whole: Study) -> float | None:
    """Return the time of a row; that of one that was stopped is the limit of the study."""
    if not isinstance(message, Made):
        return None
    row = message.row
    if row.solve_seconds > study.settings.time_limit:
        return whole.settings.time_limit
    return 2.0 * row.build_seconds + row.solve_seconds + row.recover_seconds
