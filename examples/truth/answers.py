"""What is known of a system, what came out, and how far apart they may be.

A system is a function of a `Way` that yields `Answer`s; the decorator `system` puts it on the list `SYSTEMS`
together with the ways in which it is to be run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import mcpframe as mf

ROUNDING = 1e-12
"""Of quantities of about one: sums of a few hundred roundings."""


@dataclass(frozen=True)
class Way:
    """How a system is to be run: in full length, or as short as still tells something."""

    formulation: str = "os"
    solver: str = "lemke"
    full: bool = False

    def __str__(self) -> str:
        return f"{self.formulation}-{self.solver}"


@dataclass(frozen=True)
class Answer:
    """A quantity whose value is known.

    Attributes:
        quantity: in words, with its unit.
        known, got: what the textbook says and what the run says.
        tolerance: largest difference that is accepted.
        reason: where the tolerance comes from.
    """

    quantity: str
    known: float
    got: float
    tolerance: float
    reason: str

    @property
    def holds(self) -> bool:
        """Whether the run agrees with the textbook; NaN never does."""
        return bool(abs(self.got - self.known) <= self.tolerance)

    def __str__(self) -> str:
        return (
            f"{self.quantity}: known {self.known:.9g}, got {self.got:.9g}, off by {self.error:.2g}, "
            f"tolerance {self.tolerance:.2g} ({self.reason})"
        )

    @property
    def error(self) -> float:
        """How far apart they are."""
        return float(abs(self.got - self.known))


Answers = Iterator[Answer]


@dataclass(frozen=True)
class System:
    """A system on the list.

    Attributes:
        title: in words.
        formula: what is known, as a formula.
        answers: the function that runs it.
        ways: in which it is run.
        has_full: whether its full length takes minutes, and a shorter one is tested.
    """

    title: str
    formula: str
    answers: Callable[[Way], Answers]
    ways: tuple[Way, ...]
    has_full: bool = False

    @property
    def name(self) -> str:
        """Name of its function."""
        return self.answers.__name__


SYSTEMS: list[System] = []

FORMULATIONS = ("os", "mc", "nmc")
"""Impulses alone; hinge rates; link velocities: the three families."""
SOLVERS = ("lemke", "auto", "path", "newton", "ipm", "qp", "pgs")
"""All that take mixed LCPs of any size; `enum` takes up to 14 rows."""
ONE_WAY = (Way(),)


def ways(
    formulations: Iterable[str] = FORMULATIONS, solvers: Iterable[str] = ("lemke", "auto")
) -> tuple[Way, ...]:
    """Return the first solver with all formulations, then the others with the first formulation."""
    formulations, solvers = tuple(formulations), tuple(solvers)
    swept = [Way(formulation, solvers[0]) for formulation in formulations]
    return (*swept, *(Way(formulations[0], solver) for solver in solvers[1:]))


def system(
    title: str, formula: str, ways: tuple[Way, ...] = ONE_WAY, has_full: bool = False
) -> Callable[[Any], Any]:
    """Put a function on the list."""

    def listed(answers: Callable[[Way], Answers]) -> Callable[[Way], Answers]:
        SYSTEMS.append(System(title, formula, answers, ways, has_full))
        return answers

    return listed


def simulated(way: Way, model: mf.Model, material: mf.Material | None = None, **parts: Any) -> mf.Trajectory:
    """Return a run of a model; a solve that fails is recorded, and told by `certified`.

    Args:
        way: formulation and solver.
        model: what moves.
        material: of all surfaces.
        parts: `theta`, `theta_dot` and `controllers` of the scene; everything else is its stepping.
    """
    start = {key: parts.pop(key) for key in ("theta", "theta_dot", "controllers") if key in parts}
    stepping = mf.Stepping(
        **{"on_failure": "best", "formulation": way.formulation, "solver": way.solver, **parts}
    )
    return mf.simulate(mf.Scene(model, materials=material, stepping=stepping, **start))


def certified(run: mf.Trajectory) -> Answer:
    """Return that every step of a run was solved, and certified."""
    return Answer("steps without a certified solution", 0.0, float(len(run.failed)), 0.0, "none may fail")


def zero(quantity: str, got: Any, tolerance: float, reason: str) -> Answer:
    """Return that the largest entry of something is nothing."""
    return Answer(quantity, 0.0, float(np.abs(got).max(initial=0.0)), tolerance, reason)
