"""Harvests: every problem that a run has solved, kept in a corpus.

A block of steps brings its problems into the corpus before its states go to the trajectory, and the
trajectory's checkpoint says how many problems there were. So a run that is killed and resumed cuts the corpus
to that number and goes on: each problem is there once, in the order of the run.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import TracebackType

from mcpframe.contact.step import ContactStep
from mcpframe.exceptions import FileFormatError
from mcpframe.io.corpus import Corpus
from mcpframe.io.journal import remove
from mcpframe.io.records import Record
from mcpframe.problem.friction import FrictionProblem
from mcpframe.scene.scene import Scene
from mcpframe.simulation.recording.observation import Observation
from mcpframe.solving.plugin import AbstractFormulation

PROBLEMS = "problems.h5"
"""What the corpus is called in the folder of a run."""


def exact_cone(formulation: AbstractFormulation, step: ContactStep) -> FrictionProblem | None:
    """Return a step's problem with the exact friction cone.

    None where laws or formulation have none, or friction leans on what an impact gives back.
    """
    rows = formulation.rows(step)
    return rows.friction_problem() if rows is not None and rows.has_cone else None


class Harvest:
    """Takes the problems of one run; calling it takes one.

    Args:
        scene: of the run.
        path: the corpus; None for a run that keeps none, where nothing is ever done.

    Attributes:
        count: problems that are in the file.
    """

    def __init__(self, scene: Scene, path: Path | None) -> None:
        self.scene, self.path, self.count = scene, path, 0
        self._corpus: Corpus | None = None
        self._waiting: list[Record] = []

    def check_place(self, resumes: bool, overwrite: bool) -> None:
        """Refuse a corpus that is there before the run begins, or make place for a new one."""
        if self.path is None or (resumes and not overwrite) or not self.path.exists():
            return
        if not overwrite:
            raise FileFormatError(
                f"{self.path}: exists already; name another file, or replace it with overwrite=True "
                "(--overwrite)"
            )
        remove(self.path)

    def begin(self, count: int = 0) -> None:
        """Open the corpus and keep its first problems alone.

        Raises:
            FileFormatError: it has fewer.
        """
        if self.path is None:
            return
        self._corpus = Corpus(self.path, "a")
        if len(self._corpus) < count:
            raise FileFormatError(
                f"{self.path}: holds {len(self._corpus)} problems, the run to go on with had {count}; put "
                "the file back, or start anew with overwrite=True (--overwrite)"
            )
        self._corpus.keep(count)
        self.count = count

    def __call__(self, seen: Observation) -> None:
        """Take a problem that was solved."""
        exact = exact_cone(self.scene.stepping.formulation, seen.step)
        self._waiting.append(replace(self.record(seen), exact=exact))

    def record(self, seen: Observation) -> Record:
        """Return a problem with where it comes from."""
        number, stepping = self.step_at(seen.time), self.scene.stepping
        provenance = {
            "scene": self.scene.name,
            "time": seen.time,
            "step": number,
            "kind": seen.kind,
            "formulation": stepping.formulation.name,
            "options": stepping.formulation.model_dump(),
            "dt": seen.dt,
            "n_contacts": len(seen.step.contacts),
            "asks": dict(seen.step.asks),
        }
        name = f"{self.scene.name} step {number} {seen.kind}".removesuffix(" step")
        return Record(seen.problem, name, None, provenance, (seen.kind,))

    def step_at(self, time: float) -> int:
        """Return the number of the step within which a time lies; step k begins where k - 1 has ended."""
        start, dt = self.scene.time, self.scene.stepping.dt
        near = round((time - start) / dt)
        return near + 1 if time >= start + near * dt else near

    def store(self, last_step: int) -> None:
        """Bring the problems up to a step into the file; those of later ones were of no avail."""
        done: list[Record] = [record for record in self._waiting if record.provenance["step"] <= last_step]
        if self._corpus is not None and done:
            self._corpus.extend(done)
            self.count += len(done)
        self._waiting.clear()

    def __enter__(self) -> Harvest:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._corpus is not None:
            self._corpus.close()
