"""Problems of an HDF5 corpus as a source: chosen by labels, made by a recipe where there is no file yet."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Literal

from pydantic import Field

from mcpframe.exceptions import FileFormatError, OptionError, nearest
from mcpframe.io.corpus import Corpus
from mcpframe.io.folders import make_folder
from mcpframe.io.records import parsed
from mcpframe.studies.file_names import is_within
from mcpframe.studies.sources.source import GIVEN, AbstractSource, Case, Group, Place, plain, within
from mcpframe.studies.study.row import Label


def recipes() -> ModuleType:
    """Return the recipes, which bring scenes: imported when a study names one."""
    from mcpframe.studies.corpora import recipes

    return recipes


class CorpusSource(AbstractSource):
    """Problems of an HDF5 corpus, in its order, which is that of time where it was harvested from a run."""

    kind: ClassVar[str] = "corpus"

    corpus: str = Field(description="file of the corpus (.h5)")
    recipe: str = Field("", description="recipe by which the file is made where there is none, or all")
    size: Literal["quick", "full"] = Field("full", description="how much of the recipe is made")
    where: dict[str, Any] = Field(
        {}, description="labels to choose by: a value, a list of values, or a table with min and max"
    )
    tags: list[str] = Field([], description="tags that a problem must have, all of them")
    every: int = Field(1, ge=1, description="take every so many of those chosen")
    limit: int | None = Field(None, ge=1, description="take so many at most, the first ones")

    def default_name(self) -> str:
        """Return the name of the file."""
        return Path(self.corpus).stem

    def check(self, place: Place) -> None:
        """Choose the problems: there must be one, or a recipe that makes them."""
        for name, wanted in self.where.items():
            if isinstance(wanted, Mapping) and not wanted.keys() <= {"min", "max"}:
                raise OptionError(f"where: {name} = {wanted!r}: a table has the keys min and max")
        if self.recipe:
            recipes().takes_of(self.recipe, self.size)
            self._check_place(place)
        if self.is_ready(place):
            self._check_choice(place)
        elif not self.recipe:
            raise OptionError(
                f"corpus = {self.corpus!r}: there is no such file in {place.folder}; with recipe = "
                f'"all" it is made'
            )

    def prepare(self, place: Place, progress: bool) -> None:
        """Make the corpus by its recipe."""
        if not self.is_ready(place):
            self._check_place(place)
            path = place.folder / self.corpus
            make_folder(path.parent, f"corpus = {self.corpus!r}:")
            recipes().make_corpus(self.recipe, path, size=self.size, progress=progress).close()
        with within(f"problems {self.name!r}"):
            self._check_choice(place)

    def _check_place(self, place: Place) -> None:
        """Refuse to make a file elsewhere: a study that came from somebody writes where its user is."""
        path = place.folder / self.corpus
        if not (self.is_ready(place) or is_within(path, Path.cwd(), place.folder)):
            raise OptionError(
                f"corpus = {self.corpus!r}: {path.resolve()} is neither in the current folder nor in that of "
                f"the study, and is not made there; make it with: mcpframe corpus recipe {self.recipe} "
                f"--size {self.size} --out FILE"
            )

    def is_ready(self, place: Place) -> bool:
        """Return whether the file is there."""
        return (place.folder / self.corpus).is_file()

    def most_cases(self, place: Place) -> tuple[int, int]:
        """Return how many there are, or at most will be."""
        if self.is_ready(place):
            return super().most_cases(place)
        takes = recipes().takes_of(self.recipe, self.size)
        count = sum(take.count for _, take in takes)
        return len(takes), min(count, self.limit or count)

    def files(self, place: Place) -> list[Path]:
        """Return the corpus."""
        return [place.folder / self.corpus]

    def groups(self, place: Place) -> list[Group]:
        """Return one group per run, so that no warm start goes from one to another."""
        about = _about(place.folder / self.corpus)
        return [
            Group(f"{self.name}/{run}", about[chosen[0]].system, {}, [self._case(i) for i in chosen])
            for run, chosen in self._runs(place).items()
        ]

    def open(self, place: Place, g: int) -> Callable[[int], Case]:
        """Return what reads the problems."""
        path = place.folder / self.corpus
        chosen = self._run_list(place)[g]
        about, corpus = _about(path), Corpus(path)

        def make(i: int) -> Case:
            record, labels = corpus[chosen[i]], about[chosen[i]].labels
            return Case(self._case(chosen[i]), problem=record.problem, exact=record.exact, labels=labels)

        return make

    def _run_list(self, place: Place) -> list[list[int]]:
        """Return the chosen problems run by run; kept, for there may be as many runs as problems."""
        path = place.folder / self.corpus
        key = (path, path.stat().st_mtime_ns, self.model_dump_json())
        if key not in _RUNS:
            _RUNS.clear()
            _RUNS[key] = list(self._runs(place).values())
        return _RUNS[key]

    def _case(self, index: int) -> str:
        return f"{self.name}/{index:06d}"

    def _runs(self, place: Place) -> dict[str, list[int]]:
        """Return the chosen problems by the run they come from."""
        about = _about(place.folder / self.corpus)
        found: dict[str, list[int]] = {}
        for index in self._chosen(place):
            found.setdefault(about[index].run, []).append(index)
        return found

    def _chosen(self, place: Place) -> list[int]:
        chosen = [
            index
            for index, about in enumerate(_about(place.folder / self.corpus))
            if {*self.tags} <= about.tags
            and all(_fits(about.labels.get(key), want) for key, want in self.where.items())
        ]
        return chosen[:: self.every][: self.limit]

    def _check_choice(self, place: Place) -> None:
        about = _about(place.folder / self.corpus)
        known = sorted({name for one in about for name in one.labels})
        for name in self.where:
            if name not in known:
                raise OptionError(
                    f"where: no problem has the label {name!r};{nearest(name, known)} "
                    f"(labels: {', '.join(known) or 'none'})"
                )
        if not self._chosen(place):
            raise OptionError(f"where: none of the {len(about)} problems of {self.corpus!r} is chosen")


@dataclass(frozen=True)
class About:
    """What is known of a problem in a file.

    Attributes:
        system: it comes from.
        run: it comes from; consecutive problems of one run are neighbours in time.
        labels, tags: as they were written.
    """

    system: str
    run: str
    labels: Mapping[str, Label]
    tags: frozenset[str]


def _about(path: Path) -> list[About]:
    """Return what is known about every problem of a corpus, without reading the problems."""
    return _about_at(path, path.stat().st_mtime_ns)


_RUNS: dict[tuple[Path, int, str], list[list[int]]] = {}


@lru_cache(maxsize=8)
def _about_at(path: Path, changed: int) -> list[About]:
    with Corpus(path) as corpus:
        return [
            known_of(
                parsed("provenance", texts, str(path), dict),
                parsed("labels", texts, str(path), list),
                str(path),
            )
            for texts in corpus.texts()
        ]


def known_of(origin: Mapping[str, Any], tags: Sequence[Any], where: str) -> About:
    """Return what provenance and tags of a record tell; a tag ``key=value`` is a label as well."""
    labels, parameters = (origin.get(key, {}) for key in ("labels", "parameters"))
    if not (isinstance(labels, Mapping) and isinstance(parameters, Mapping)):
        raise FileFormatError(f"{where}: provenance: labels and parameters must be tables")
    labels = {key: plain(value) for key, value in labels.items()}
    for tag in map(str, tags):
        key, equals, value = tag.partition("=")
        if equals:
            labels[key] = _value(value)
    if "recipe" in origin:
        labels["recipe"] = str(origin["recipe"])
    system = str(origin.get("system", GIVEN))
    run = " ".join([system, *(f"{key}={value}" for key, value in parameters.items())])
    return About(system, run, labels, frozenset(map(str, tags)))


def _value(text: str) -> Label:
    """Return a number or a flag that a text means, or the text."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    return value if isinstance(value, (bool, int, float)) else text


def _fits(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        is_number = isinstance(value, (int, float))
        return is_number and wanted.get("min", value) <= value <= wanted.get("max", value)
    return value in wanted if isinstance(wanted, list) else bool(value == wanted)
