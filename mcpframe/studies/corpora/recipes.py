"""Recipes: named sets of contact problems, easy to hard, from systems in motion.

A recipe is a list of takes. A take runs a scene and keeps problems spread evenly over its steps, and some of
its impacts; all are assembled by `os`, labelled, and the same on every run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from mcpframe.exceptions import FileFormatError, OptionError, nearest
from mcpframe.io.corpus import Corpus
from mcpframe.io.records import Record
from mcpframe.notebook.progress import progress as bars
from mcpframe.scene.scene import Scene
from mcpframe.simulation.recording.observation import Observation
from mcpframe.studies.corpora.harvesting import harvested
from mcpframe.studies.corpora.recipe_scenes import (
    box_stack,
    falling_four_bar,
    lying_chain,
    pressed_ring,
    pressing_arms,
    pushed_humanoid,
    pushed_quadruped,
    pushed_talos,
    swinging_pendulum,
    talos_file,
)

Size: TypeAlias = Literal["quick", "full"]

MAX_ROWS = 400
"""Problems with more rows are left out: what is compared is many problems, not long waits."""
IMPACTS = 3
"""One in so many problems of a take is of an impact, where there are enough of them."""
ALL = "all"


@dataclass(frozen=True)
class Take:
    """A scene to run and how many of its problems to keep.

    Attributes:
        make: makes the scene.
        parameters: with which it is made.
        count: problems to keep, at most.
        duration, dt: of the run, s.
    """

    make: Callable[..., Scene]
    parameters: Mapping[str, Any]
    count: int
    duration: float
    dt: float = 2e-3

    @property
    def name(self) -> str:
        """What it is called in records."""
        values = (f"{key}={value:g}" for key, value in self.parameters.items())
        return " ".join([self.make.__name__, *values])

    def records(self) -> Iterator[Record]:
        """Run the scene and yield its records in the order of time."""
        scene = self.make(**self.parameters).with_stepping(duration=self.duration, dt=self.dt)
        steps, impacts = EvenSample(self.count), EvenSample(self.count // IMPACTS)

        def wanted(seen: Observation, number: int) -> bool:
            fits = seen.step.n_u > 0 and seen.problem.n <= MAX_ROWS
            return fits and (steps if seen.kind == "step" else impacts).counts()

        for _, records in harvested(scene, wanted=wanted):
            for record in records:
                (steps if record.provenance["kind"] == "step" else impacts).add(record)
        hits = impacts.chosen(self.count // IMPACTS)
        kept = [*steps.chosen(self.count - len(hits)), *hits]
        for record in sorted(kept, key=lambda record: float(record.provenance["time"])):
            about = {"take": self.make.__name__, "parameters": dict(self.parameters)}
            yield replace(
                record, name=f"{self.name} {record.name}", provenance={**record.provenance, **about}
            )


class EvenSample:
    """Keeps items spread evenly over a sequence whose length is not known.

    Args:
        limit: up to two times as many are held.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._stride, self._seen = 1, 0
        self._kept: list[Record] = []

    def counts(self) -> bool:
        """Tell whether the next item is to be added."""
        self._seen += 1
        return self.limit > 0 and (self._seen - 1) % self._stride == 0

    def add(self, item: Record) -> None:
        """Add an item that counts; where there are too many, every second one goes."""
        self._kept.append(item)
        if len(self._kept) >= 2 * self.limit:
            self._kept = self._kept[::2]
            self._stride *= 2

    def chosen(self, count: int) -> list[Record]:
        """Return at most `count` items, from the first to the last."""
        n = len(self._kept)
        places = range(n) if n <= count else np.linspace(0, n - 1, count).round().astype(int)
        return [self._kept[k] for k in places]


@dataclass(frozen=True)
class Recipe:
    """A set of takes, small and large.

    Attributes:
        summary: what it has, in a line.
        quick, full: the takes, easy to hard.
        why_not: says what is missing where it cannot be made.
    """

    summary: str
    quick: Sequence[Take]
    full: Sequence[Take]
    why_not: Callable[[], str] = field(default=lambda: "")


def _takes(
    make: Callable[..., Scene],
    grid: Sequence[Mapping[str, Any]],
    count: int,
    duration: float,
    dt: float = 2e-3,
) -> list[Take]:
    return [Take(make, parameters, count, duration, dt) for parameters in grid]


def _each(name: str, values: Sequence[Any], **same: Any) -> list[dict[str, Any]]:
    return [{name: value, **same} for value in values]


def _pushes(forces: Sequence[float]) -> list[dict[str, Any]]:
    return [{"seed": seed, "force": force} for seed, force in enumerate(forces)]


RECIPES: dict[str, Recipe] = {
    "pendulum": Recipe(
        "Pendulum of 3 to 30 spheres, swings into floor and wall [J14, section 8]: one contact, impacts.",
        _takes(swinging_pendulum, _each("links", [12]), 12, 4.0, 4e-3),
        _takes(swinging_pendulum, _each("links", [3, 6, 12, 18, 24, 30]), 45, 5.0),
    ),
    "chain": Recipe(
        "The same pendulum hung low: up to 60 spheres fall and lie on the floor, in one plane.",
        _takes(lying_chain, _each("links", [12, 24]), 14, 1.2, 4e-3),
        [
            *_takes(lying_chain, _each("links", [6, 12, 18, 24, 30]), 48, 1.6),
            *_takes(lying_chain, _each("links", [12, 30], restitution=0.4), 48, 1.6),
            *_takes(lying_chain, _each("links", [45, 60]), 24, 1.4),
        ],
    ),
    "dual_arm": Recipe(
        "Two arms of 26 links press fingertips on a table and drag them: independent contacts.",
        _takes(pressing_arms, _each("seed", [0]), 20, 1.0, 4e-3),
        _takes(pressing_arms, _each("seed", range(6)), 48, 1.4),
    ),
    "quadruped": Recipe(
        "Quadruped that stands and is pushed until it slips, lifts feet or falls: few contacts.",
        _takes(pushed_quadruped, _pushes([60.0]), 20, 0.6, 4e-3),
        _takes(pushed_quadruped, _pushes([0.0, 30.0, 60.0, 120.0, 240.0, 400.0, 600.0]), 45, 1.2),
    ),
    "humanoid": Recipe(
        "Humanoid of 23 links on flat feet, pushed until it falls: redundant contacts of feet, trunk, arms.",
        _takes(pushed_humanoid, _pushes([300.0]), 20, 0.6, 4e-3),
        _takes(pushed_humanoid, _pushes([0.0, 100.0, 200.0, 300.0, 400.0, 600.0]), 48, 1.4),
    ),
    "loops": Recipe(
        "Four-bar that falls and slides, rings of 8 to 16 bars that sag onto the floor: closed chains.",
        [
            *_takes(falling_four_bar, _each("seed", [0]), 12, 0.8, 4e-3),
            *_takes(pressed_ring, _each("links", [8], seed=0), 12, 0.6, 4e-3),
        ],
        [
            *_takes(falling_four_bar, _each("seed", range(4)), 40, 1.0),
            *_takes(pressed_ring, _each("links", [8, 12, 16], seed=1), 40, 0.8),
        ],
    ),
    "stacks": Recipe(
        "Stacks of 2 to 16 boxes, some pushed, mass ratios up to 1000: many redundant contacts.",
        [
            *_takes(box_stack, [{"height": 2}, {"height": 4, "mass_ratio": 100.0}], 14, 0.1),
            *_takes(box_stack, [{"height": 8, "mass_ratio": 1000.0}], 10, 0.05),
        ],
        [
            *_takes(box_stack, _each("height", [2, 3, 4, 5]), 30, 0.25),
            *_takes(box_stack, _each("mass_ratio", [1e-3, 1e-1, 1e1, 1e3], height=4, seed=1), 30, 0.25),
            *_takes(box_stack, _each("push", [0.3, 0.9], height=4, seed=2), 36, 0.4),
            *_takes(box_stack, _each("height", [6, 8, 10], seed=3), 20, 0.1),
            *_takes(box_stack, _each("mass_ratio", [1e-3, 1e3], height=8, seed=4), 20, 0.1),
            *_takes(box_stack, _each("height", [10, 16], turned=False), 20, 0.08),
        ],
    ),
    "talos": Recipe(
        "TALOS from its URDF file (package example-robot-data), on its soles, pushed.",
        _takes(pushed_talos, _pushes([100.0]), 16, 0.4, 4e-3),
        _takes(pushed_talos, _pushes([0.0, 100.0, 300.0, 600.0]), 45, 0.8),
        lambda: "" if talos_file() else "it needs the package example-robot-data",
    ),
}
"""Recipes by name, from few independent contacts to many redundant ones; the last needs a package."""


def recipe_records(name: str, size: Size = "full") -> Iterator[Record]:
    """Yield the records of a recipe, take by take; those of "all" are of every recipe that can be made."""
    for recipe, take in takes_of(name, size):
        yield from _taken(recipe, size, take)


def make_corpus(
    name: str, path: str | os.PathLike[str], *, size: Size = "full", progress: bool = False
) -> Corpus:
    """Write the problems of a recipe to a new corpus, whole or not at all; return it open for reading.

    Args:
        name: of the recipe, or "all".
        path: the file; it must not be there yet.
        size: "quick", about twenty problems of each kind, or "full".
        progress: show a bar on the terminal.
    """
    takes, path = takes_of(name, size), Path(path)
    if path.exists():
        raise FileFormatError(f"{path}: is there already; a recipe makes a new file")
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Corpus(part, "a") as corpus, bars(*columns, wanted=progress) as bar:
        task = bar.add_task(name, total=len(takes))
        for recipe, take in takes:
            bar.update(task, description=f"{recipe}: {take.name}")
            corpus.extend(_taken(recipe, size, take))
            bar.advance(task)
    part.rename(path)
    return Corpus(path)


def takes_of(name: str, size: Size = "full") -> list[tuple[str, Take]]:
    """Return the takes of a recipe, or of all that can be made, each with its recipe's name."""
    if name not in (*RECIPES, ALL):
        raise OptionError(f"no recipe {name!r};{nearest(name, RECIPES)} known: {', '.join(RECIPES)}, {ALL}")
    if size not in ("quick", "full"):
        raise OptionError(f"size {size!r}: is neither 'quick' nor 'full'")
    if name != ALL and (reason := RECIPES[name].why_not()):
        raise OptionError(f"recipe {name!r} cannot be made: {reason}")
    chosen = {key: recipe for key, recipe in RECIPES.items() if name in (key, ALL) and not recipe.why_not()}
    return [(key, take) for key, recipe in chosen.items() for take in getattr(recipe, size)]


def _taken(recipe: str, size: Size, take: Take) -> Iterator[Record]:
    for record in take.records():
        yield replace(record, provenance={**record.provenance, "recipe": recipe, "size": size})
