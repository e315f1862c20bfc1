"""Sources of problems: what every kind has in common.

A source has groups, one per point of its parameter grid; a group has cases, in the order of time where there
is one, so that a warm start goes from each to the next. Any process makes case i of group g from the source
alone, with the same bits; what is costly and needed by all, the run of a scene, is made once and handed on as
a recording.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mcpframe.contact.step import ContactStep
from mcpframe.exceptions import OptionError
from mcpframe.io.trust import Code
from mcpframe.problem.friction import FrictionProblem
from mcpframe.scene.settings import Settings
from mcpframe.studies.study.row import Label

GIVEN = "given"
"""System of problems of which nothing is said, and formulation of all problems that come as they are."""
Start = Literal["cold", "warm"]
Recording = Mapping[str, NDArray[Any]]
Point = dict[str, Any]
"""One value for every parameter of a grid."""
Grid = Mapping[str, Any]
"""Values by parameter; a list, or a range, stands for each of its entries in turn."""
MOST_CASES = 1_000_000
"""Cases that a source may have: names of so many take a hundred megabytes in every process."""


@dataclass(frozen=True)
class Place:
    """What a source needs beside itself.

    Attributes:
        folder: against which its paths are meant.
        seed: of its random numbers.
        recordings: runs of its scenes, by group.
        code: whether functions that its scenes name may be imported.
    """

    folder: Path
    seed: int = 0
    recordings: Mapping[int, Recording] = field(default_factory=dict)
    code: Code = Code.RUN


@dataclass(frozen=True)
class Group:
    """The cases of one point of the grid.

    Attributes:
        name: of source and point, ``"pendulum/links=12"``.
        system: what the problems come from.
        parameters: the point, for the labels.
        cases: their names, in order.
    """

    name: str
    system: str
    parameters: Mapping[str, Label]
    cases: Sequence[str]


@dataclass(frozen=True, eq=False)
class Case:
    """One problem, or one step that formulations write as a problem.

    Attributes:
        name: stable identity, ``"pendulum/links=12/step=00340"``.
        make_step: returns the step, new each time, so that nothing of it is known; None for given problems.
        problem: as given; None where there is a step.
        exact: the same with the exact friction cone, where the problem has a polygon of one that is known.
        keys: of the contacts, the same for the same contact from case to case; None where they are unknown.
        labels: that came with the problem.
    """

    name: str
    make_step: Callable[[], ContactStep] | None = None
    problem: Any = None
    exact: FrictionProblem | None = None
    keys: NDArray[np.int64] | None = None
    labels: Mapping[str, Label] = field(default_factory=dict)


class AbstractSource(Settings):
    """A table ``[[problems]]`` of one kind, named by the key that says where the problems come from.

    Attributes:
        kind: that key.
        gives_steps: whether the cases are steps, for formulations to write, or problems as they are.
    """

    kind: ClassVar[str]
    gives_steps: ClassVar[bool] = False

    name: str = Field("", description="what its cases are called; made from the key above unless given")
    starts: list[Start] | None = Field(
        None, description="cold, warm or both; those of the study unless given"
    )

    @abstractmethod
    def default_name(self) -> str:
        """Return what its cases are called where the file does not say."""

    @abstractmethod
    def check(self, place: Place) -> None:
        """Raise an error of mcpframe unless every case can be made."""

    @abstractmethod
    def groups(self, place: Place) -> list[Group]:
        """Return the groups with the names of their cases."""

    @abstractmethod
    def open(self, place: Place, g: int) -> Callable[[int], Case]:
        """Return what makes the cases of group g."""

    def files(self, place: Place) -> list[Path]:
        """Return the files that the cases are made from; their bytes belong to the settings of a study."""
        return []

    def contents(self, place: Place) -> dict[str, bytes]:
        """Return what the cases are made from and no file holds, by name; it belongs to the settings too."""
        return {}

    def code_named(self) -> str:
        """Return the function that the source names, as its table has it; empty where there is none."""
        return ""

    def prepare(self, place: Place, progress: bool) -> None:
        """Make files that the cases are read from and that are not there yet."""

    def is_ready(self, place: Place) -> bool:
        """Return whether cases can be made now: nothing is to be prepared or recorded."""
        return not self.needs_recording()

    def needs_recording(self) -> bool:
        """Return whether groups are known only after `record`."""
        return False

    def record(self, place: Place, g: int) -> Recording:
        """Return what all processes need of group g and would make at great cost."""
        raise TypeError(f"{self.kind}: its groups are known, there is nothing to record")

    def most_cases(self, place: Place) -> tuple[int, int]:
        """Return how many groups, and at most how many cases, there are before anything is recorded."""
        groups = self.groups(place)
        return len(groups), sum(len(group.cases) for group in groups)


def count_points(grid: Grid, cases: int = 1) -> int:
    """Return how many combinations the values of a grid have.

    Args:
        grid: the values.
        cases: of every point.

    Raises:
        OptionError: a list is empty, or there are more than `MOST_CASES` cases.
    """
    for name, values in grid.items():
        if not len(_choices(values)):
            raise OptionError(f"{name} = []: the grid is empty; give at least one value")
    count = math.prod(len(_choices(values)) for values in grid.values())
    if count * cases > MOST_CASES:
        raise OptionError(
            f"{count} points of the grid with {cases} cases each; at most {MOST_CASES:,} in all"
        )
    return count


def point_at(grid: Grid, g: int) -> Point:
    """Return the g-th combination of the values of a grid, the last parameter changing fastest."""
    point: Point = {}
    for name, values in reversed(list(grid.items())):
        choices = _choices(values)
        g, k = divmod(g, len(choices))
        point[name] = choices[k]
    return {name: point[name] for name in grid}


def points(grid: Grid) -> list[Point]:
    """Return every combination of the values of a grid; errors as of `count_points`."""
    return [point_at(grid, g) for g in range(count_points(grid))]


def _choices(values: Any) -> Sequence[Any]:
    return values if isinstance(values, (list, range)) else [values]


@contextmanager
def within(key: str) -> Iterator[None]:
    """Say in errors that are raised meanwhile which key they are about, so that its line is found."""
    try:
        yield
    except OptionError as error:
        raise OptionError(f"{key}: {error}") from None


def group_name(source: str, grid: Grid, point: Point) -> str:
    """Return the name of a group: the source and the parameters that vary."""
    varying = [
        f"{name}={plain(point[name])}" for name, values in grid.items() if isinstance(values, (list, range))
    ]
    return "/".join([source, *varying])


def parameters_of(point: Point) -> dict[str, Label]:
    """Return a point as labels."""
    return {name: plain(value) for name, value in point.items()}


def plain(value: Any) -> Label:
    """Return a parameter as a number or a text."""
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def numbered(prefix: str, word: str, numbers: Sequence[int], digits: int) -> list[str]:
    """Return names such as ``prefix/step=00340``."""
    return [f"{prefix}/{word}={number:0{digits}d}" for number in numbers]


def existing(place: Place, patterns: str | Sequence[str], what: str) -> Iterator[Path]:
    """Yield the files that paths or patterns mean, in their order, sorted within each.

    Raises:
        OptionError: nothing answers to one of them.
    """
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        path = place.folder / pattern
        is_pattern = any(sign in pattern for sign in "*?[")
        found = sorted(_matching(path)) if is_pattern else [path] if path.is_file() else []
        if not found:
            raise OptionError(f"{what} = {pattern!r}: there is no such file in {place.folder}")
        yield from found


def _matching(path: Path) -> Iterator[Path]:
    parent, pattern = path.parent, path.name
    return parent.glob(pattern) if not any(sign in str(parent) for sign in "*?[") else iter(())
