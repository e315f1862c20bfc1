"""Harvest a scene: its problems in any formulation, with where they come from and what they are like."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

from mcpframe.exceptions import OptionError
from mcpframe.io.corpus import Corpus
from mcpframe.io.records import Record
from mcpframe.notebook.progress import progress as bars
from mcpframe.scene.scene import Scene
from mcpframe.simulation.recording.harvest import Harvest, exact_cone
from mcpframe.simulation.recording.observation import Observation
from mcpframe.solving.plugin import AbstractFormulation
from mcpframe.solving.registry import FORMULATIONS
from mcpframe.studies.corpora.labels import labels_of

if TYPE_CHECKING:
    from mcpframe.simulation.engine import Engine

Wanted = Callable[[Observation, int], bool]
"""Whether to keep a problem of the step of that number."""
OS = "os"
AT_ONCE = 64
"""Problems that are written together: a commit to disk takes as long as a few of them."""


def harvest(
    scene: Scene,
    path: str | os.PathLike[str],
    *,
    formulation: str | AbstractFormulation = OS,
    every: int = 1,
    limit: int | None = None,
    progress: bool = False,
) -> Corpus:
    """Run a scene and append its problems to a corpus, which is returned, open for reading.

    Args:
        scene: the scene; its own formulation and solver move it.
        path: the corpus; made where there is none, appended to where there is one.
        formulation: to write the problems in; a name takes the options that the scene's has, such as the
            number of friction directions.
        every: keep the problems of every so many steps; those of impacts are all kept.
        limit: stop after so many problems.
        progress: show a bar on the terminal.
    """
    _check_count("every", every)
    _check_count("limit", limit)

    def wanted(seen: Observation, number: int) -> bool:
        return seen.kind != "step" or number % every == 0

    found = harvested(scene, formulation, wanted)
    with Corpus(path, "a") as corpus, _Writer(corpus, limit) as writer, _bar(scene, progress) as show:
        for number, records in found:
            writer.take(records)
            show(number, writer.count)
            if writer.full:
                break
    return Corpus(path)


def harvested(
    scene: Scene, formulation: str | AbstractFormulation = OS, wanted: Wanted = lambda seen, number: True
) -> Iterator[tuple[int, list[Record]]]:
    """Yield the number of every step of a scene with the records of its problems that are wanted."""
    from mcpframe.simulation.engine import Engine  # brings kernels, which few studies need

    labeller, stepping = Labeller(scene, formulation), scene.stepping
    records: list[Record] = []

    def observe(seen: Observation) -> None:
        if wanted(seen, labeller.step_at(seen.time)):
            records.append(labeller.record(seen))

    return _run(scene, Engine(scene, observe), records, max(1, round(stepping.duration / stepping.dt)))


def _run(
    scene: Scene, engine: Engine, records: list[Record], n_steps: int
) -> Iterator[tuple[int, list[Record]]]:
    state = scene.initial_state()
    for number in range(1, n_steps + 1):
        engine.advance(state, number - 1, 1)
        yield number, records.copy()
        records.clear()


class Labeller:
    """Makes records of what a run tells: the step in the formulation that is asked for, and its labels.

    Args:
        scene: of the run.
        formulation: to write the problems in; a name takes the options of the scene's.
    """

    def __init__(self, scene: Scene, formulation: str | AbstractFormulation = OS) -> None:
        self.scene, self.driving = scene, scene.stepping.formulation
        self.formulation = self._like_driving(formulation) if isinstance(formulation, str) else formulation
        self.operational = self._like_driving(OS)
        self._harvest = Harvest(scene, None)
        self.step_at = self._harvest.step_at

    def record(self, seen: Observation) -> Record:
        """Return a problem with provenance, labels, and as tags kind, motion and hardness."""
        driving, wanted = self.driving, self.formulation
        outcome = driving.recover(driving.build(seen.step)[1], seen.solution)
        problem = seen.problem if wanted == driving else wanted.build(seen.step)[0]
        # The exact cone is taken from `os`, whichever formulation is stored: there nothing is eliminated.
        exact = exact_cone(self.operational, seen.step)
        labels = labels_of(problem, seen.step, outcome, exact)
        record = replace(self._harvest.record(replace(seen, problem=problem)), exact=exact)
        about: dict[str, Any] = {"formulation": wanted.name, "options": wanted.model_dump()}
        about["asks"] = dict(seen.step.asks)
        about |= {"system": self.scene.model.name, "labels": labels}
        tags = tuple(str(labels[key]) for key in ("motion", "hardness") if key in labels)
        return replace(record, provenance={**record.provenance, **about}, labels=(*record.labels, *tags))

    def _like_driving(self, name: str) -> AbstractFormulation:
        """Return the scene's formulation if it has that name, else that one with the options they share."""
        kind = FORMULATIONS.get(name)
        if kind.name == self.driving.name:
            return self.driving
        options = {key: value for key, value in self.driving.model_dump().items() if key in kind.model_fields}
        return FORMULATIONS.create(name, options)


class _Writer:
    """Appends records to a corpus, many at once, up to a limit."""

    def __init__(self, corpus: Corpus, limit: int | None) -> None:
        self.corpus, self.limit, self.count = corpus, limit, 0
        self._waiting: list[Record] = []

    @property
    def full(self) -> bool:
        return self.limit is not None and self.count >= self.limit

    def take(self, records: list[Record]) -> None:
        """Keep records as long as there is room."""
        room = None if self.limit is None else self.limit - self.count
        self._waiting += records[:room]
        self.count += len(records[:room])
        if len(self._waiting) >= AT_ONCE:
            self._write()

    def _write(self) -> None:
        self.corpus.extend(self._waiting)
        self._waiting.clear()

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._write()  # also where a solve has failed: what was found is worth keeping


def _check_count(name: str, value: int | None) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise OptionError(f"{name} = {value!r}: a whole number of at least 1 is needed")


@contextmanager
def _bar(scene: Scene, wanted: bool) -> Iterator[Callable[[int, int], None]]:
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}")
    with bars(*columns, TimeRemainingColumn(), wanted=wanted) as bar:
        stepping = scene.stepping
        task = bar.add_task(scene.name, total=max(1, round(stepping.duration / stepping.dt)), note="")

        def show(number: int, count: int) -> None:
            bar.update(task, completed=number, note=f"{count} problems")

        yield show
