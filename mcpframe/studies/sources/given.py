"""Sources of problems that come as they are, from FCLIB and .npz files, and from generators."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from mcpframe.exceptions import OptionError, nearest
from mcpframe.io.fclib import load_fclib
from mcpframe.io.npz import load_record
from mcpframe.io.records import Record
from mcpframe.problem.friction import FrictionProblem
from mcpframe.problem.generators import CLASSES, FAMILIES, contact_system, random_lcp
from mcpframe.studies.sources.corpus import known_of
from mcpframe.studies.sources.source import (
    GIVEN,
    AbstractSource,
    Case,
    Group,
    Place,
    Point,
    count_points,
    existing,
    group_name,
    point_at,
    points,
)
from mcpframe.studies.study.row import Label

EXACT = 0
"""Friction directions that stand for the exact cone."""
LARGEST = 10_000
"""Rows of a class, contacts of a family: their matrices are dense, 800 MB of 10,000 rows."""
CONE = "directions of a friction cone given exactly, 0 for the exact cone; a list is a grid"


class FileSource(AbstractSource):
    """What sources of single files share: a list of them, and the cone of friction problems."""

    friction_directions: int | list[int] = Field(4, description=CONE)

    def paths(self, place: Place) -> list[Path]:
        """Return the files."""
        return list(existing(place, getattr(self, self.kind), self.kind))

    def files(self, place: Place) -> list[Path]:
        """Return the files."""
        return self.paths(place)

    def default_name(self) -> str:
        """Return the kind of the files, or the name of the only one."""
        named = getattr(self, self.kind)
        return Path(named).stem if isinstance(named, str) and "*" not in named else self.kind

    def check(self, place: Place) -> None:
        """Read every file."""
        n_files = len(self.paths(place))
        for g in range(count_points(self._grid(), n_files)):
            make = self.open(place, g)
            for i in range(n_files):
                make(i)

    def groups(self, place: Place) -> list[Group]:
        """Return one group per cone, with the files in their order."""
        stems = _distinct([path.stem for path in self.paths(place)])
        return [self._group(point, stems) for point in points(self._grid())]

    def open(self, place: Place, g: int) -> Callable[[int], Case]:
        """Return what reads the files."""
        paths, point = self.paths(place), point_at(self._grid(), g)
        group = self._group(point, _distinct([path.stem for path in paths]))

        def make(i: int) -> Case:
            record = self._read(paths[i])
            labels = known_of(record.provenance, record.labels, str(paths[i])).labels
            return case_of(group.cases[i], record, int(point["friction_directions"]), labels)

        return make

    def _grid(self) -> dict[str, Any]:
        return {"friction_directions": self.friction_directions}

    def _group(self, point: Point, stems: Sequence[str]) -> Group:
        name = group_name(self.name, self._grid(), point)
        return Group(name, GIVEN, point, [f"{name}/{stem}" for stem in stems])

    @abstractmethod
    def _read(self, path: Path) -> Record:
        """Return the problem of a file, and what is known about it."""


class FclibSource(FileSource):
    """Frictional contact problems in FCLIB files."""

    kind: ClassVar[str] = "fclib"

    fclib: str | list[str] = Field(description="FCLIB files (.hdf5); * stands for any text")

    def _read(self, path: Path) -> Record:
        return Record(load_fclib(path))


class NpzSource(FileSource):
    """Problems in .npz files."""

    kind: ClassVar[str] = "npz"

    npz: str | list[str] = Field(description="files of problems (.npz); * stands for any text")

    def _read(self, path: Path) -> Record:
        return load_record(path)


class GeneratorSource(AbstractSource):
    """Seeded problems of `problem.generators`: families of contact problems, and classes of random ones."""

    kind: ClassVar[str] = "generator"

    generator: str = Field(description=f"family ({', '.join(FAMILIES)}) or class ({', '.join(CLASSES)})")
    sizes: int | list[int] = Field(8, description="contacts of a family, rows of a class; a list is a grid")
    seeds: int | list[int] = Field(1, description="how many seeds from 0 on, or which")
    change: list[float] = Field(
        [0.0], description="how far the system of a family has moved on; several make a chain for warm starts"
    )
    friction_directions: int | list[int] = Field(4, description=CONE)

    def default_name(self) -> str:
        """Return the name of the family or class."""
        return self.generator

    def check(self, place: Place) -> None:
        """Make the smallest problem with every cone; sizes and seeds are numbers that any will do."""
        known = [*FAMILIES, *CLASSES]
        if self.generator not in known:
            hint = nearest(self.generator, known)
            raise OptionError(f"generator = {self.generator!r};{hint} (known: {', '.join(known)})")
        if self.generator in CLASSES and {"change", "friction_directions"} & self.model_fields_set:
            raise OptionError("change, friction_directions: belong to families of contact problems")
        if not self.change:
            raise OptionError("change = []: the grid is empty; give at least one value")
        grid = self._grid()
        count_points(grid, len(self.change))
        for key in ("size", "seed"):
            values = grid[key] if isinstance(grid[key], (list, range)) else [grid[key]]
            if min(values) < 0:
                raise OptionError(f"{key}s: {min(values)} is negative")
        largest = self.sizes if isinstance(self.sizes, int) else max(self.sizes)
        if largest > LARGEST:
            raise OptionError(f"sizes: {largest} is too large for a dense problem; at most {LARGEST:,}")
        smallest = self.sizes if isinstance(self.sizes, int) else min(self.sizes)
        few = {**grid, "size": smallest, "seed": grid["seed"][0]}
        for point in points(few):
            given = Record(self._problem(point, self.change[0]))
            case_of(self.name, given, int(point.get("friction_directions", EXACT)), {})

    def groups(self, place: Place) -> list[Group]:
        """Return one group per size, seed and cone."""
        return [self._group(point) for point in points(self._grid())]

    def open(self, place: Place, g: int) -> Callable[[int], Case]:
        """Return what makes the problems of a point."""
        point = point_at(self._grid(), g)
        names = self._group(point).cases

        def make(i: int) -> Case:
            given = Record(self._problem(point, self.change[i]))
            return case_of(names[i], given, int(point.get("friction_directions", EXACT)), {})

        return make

    def _problem(self, point: Point, change: float) -> Any:
        size, seed = point["size"], point["seed"]
        if self.generator in CLASSES:
            return random_lcp(self.generator, size, seed=seed)
        return contact_system(size, self.generator, seed=seed, change=change).exact_problem()

    def _grid(self) -> dict[str, Any]:
        seeds = range(self.seeds) if isinstance(self.seeds, int) else self.seeds
        grid: dict[str, Any] = {"size": self.sizes, "seed": seeds}
        if self.generator in FAMILIES:
            grid["friction_directions"] = self.friction_directions
        return grid

    def _group(self, point: Point) -> Group:
        name = group_name(self.name, self._grid(), point)
        several = len(self.change) > 1
        cases = [f"{name}/change={change:g}" if several else name for change in self.change]
        return Group(name, self.generator, point, cases)


def case_of(name: str, given: Record, n_f: int, labels: Mapping[str, Label]) -> Case:
    """Return a friction problem as a mixed LCP with n_f directions, or as it is; others as they are."""
    problem = given.problem
    if isinstance(problem, FrictionProblem) and n_f != EXACT:
        return Case(name, problem=problem.to_mixed_lcp(n_f), exact=problem, labels=labels)
    return Case(name, problem=problem, exact=given.exact, labels=labels)


def _distinct(names: Sequence[str]) -> list[str]:
    """Return names with a number before those that are there twice."""
    count = Counter(names)
    return [name if count[name] == 1 else f"{k:03d}-{name}" for k, name in enumerate(names)]
