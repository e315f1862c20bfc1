"""What is known of a system, what came out, and how far apart they may be.

A system is a function of a `Way` that yields `Answer`s; the decorator `system` puts it on the list `SYSTEMS`
together with the ways in which it is to be run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

import numpy as np

import mcpframe as mf

ROUNDING = 1e-12
"""Of quantities of about one: sums of a few hundred roundings."""


@dataclass(frozen=True)
class Way:
    """How a system is to be run.

    Attributes:
        formulation, solver: by name.
        integrator, scheme, friction: by name; the default of scenes where empty.
        full: in full length, or as short as still tells something.
    """

    formulation: str = "os"
    solver: str = "lemke"
    integrator: str = ""
    scheme: str = ""
    friction: str = ""
    full: bool = False

    def __str__(self) -> str:
        scheme = SCHEMES.get(self.scheme, self.scheme)
        named = self.formulation, self.solver, self.friction, self.integrator, scheme
        return "-".join(dict.fromkeys(name for name in named if name))

    @property
    def quick(self) -> bool:
        """Whether its steps take microseconds, so that a minute takes a second or two."""
        return self.formulation == "os"

    @property
    def lasts(self) -> bool:
        """Whether it is the way in which minutes without contact are run: they are the same in all."""
        return self.quick and self.scheme != "time_stepping"

    @property
    def stepping(self) -> dict[str, Any]:
        """The settings of a scene that it asks for; failed solves are recorded, and told by `certified`."""
        chosen = {"integrator": self.integrator, "scheme": self.scheme, "friction": self.friction}
        return {
            "formulation": self.formulation,
            "solver": self.solver,
            "on_failure": "best",
            **{key: name for key, name in chosen.items() if name},
        }


SCHEMES = {"event_driven": "events", "time_stepping": "fixed"}
"""What the schemes are called in the table."""


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

    @property
    def share(self) -> float:
        """Share of the tolerance that is used up; infinite where it is no number, or none is allowed."""
        if self.tolerance > 0.0 and np.isfinite(self.error):
            return self.error / self.tolerance
        return 0.0 if self.holds else np.inf


Answers = Iterator[Answer]


@dataclass(frozen=True)
class System:
    """A system on the list.

    Attributes:
        title: in words.
        formula: what is known, as a formula.
        answers: the function that runs it.
        ways: in which it is run.
        full_ways: in which it is run in full length, which takes minutes; none if it is short anyway.
        needs: packages without which there is nothing to run.
    """

    title: str
    formula: str
    answers: Callable[[Way], Answers]
    ways: tuple[Way, ...]
    full_ways: tuple[Way, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def missing(self) -> str:
        """The packages that it needs and that are not installed."""
        return ", ".join(package for package in self.needs if not installed(package))

    @property
    def name(self) -> str:
        """Name of its function."""
        return self.answers.__name__

    @property
    def group(self) -> str:
        """Name of its module within this package."""
        return self.answers.__module__.removeprefix("truth.")


SYSTEMS: list[System] = []

FORMULATIONS = ("os", "mc", "nmc")
"""Impulses alone; hinge rates; link velocities: the three families."""
SOLVERS = ("lemke", "auto", "path", "newton", "ipm", "qp", "pgs")
"""All that take mixed LCPs of any size; `enum` takes up to 14 rows."""
ONE_WAY = (Way(),)
BOTH_SCHEMES = (Way(scheme="event_driven"), Way(scheme="time_stepping"))
SLOW_WAYS = tuple(Way(name, scheme=way.scheme) for name in ("mc", "nmc") for way in BOTH_SCHEMES)
"""Formulations whose steps take milliseconds: for full runs."""


def ways(
    formulations: Iterable[str] = FORMULATIONS, solvers: Iterable[str] = ("lemke", "auto")
) -> tuple[Way, ...]:
    """Return the first solver with all formulations, then the others with the first formulation."""
    formulations, solvers = tuple(formulations), tuple(solvers)
    swept = [Way(formulation, solvers[0]) for formulation in formulations]
    return (*swept, *(Way(formulations[0], solver) for solver in solvers[1:]))


def system(
    title: str,
    formula: str,
    ways: tuple[Way, ...] = ONE_WAY,
    full_ways: tuple[Way, ...] = (),
    needs: tuple[str, ...] = (),
) -> Callable[[Any], Any]:
    """Put a function on the list."""

    def listed(answers: Callable[[Way], Answers]) -> Callable[[Way], Answers]:
        SYSTEMS.append(System(title, formula, answers, ways, full_ways, needs))
        return answers

    return listed


def installed(package: str) -> bool:
    """Return whether a package is there, data alone included."""
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def simulated(way: Way, model: mf.Model, material: mf.Material | None = None, **parts: Any) -> mf.Trajectory:
    """Return a run of a model; a solve that fails is recorded, and told by `certified`.

    Args:
        way: formulation, solver, integrator and scheme.
        model: what moves.
        material: of all surfaces.
        parts: `theta`, `theta_dot` and `controllers` of the scene; everything else is its stepping.
    """
    start = {key: parts.pop(key) for key in ("theta", "theta_dot", "controllers") if key in parts}
    stepping = mf.Stepping(**{**way.stepping, **parts})
    return mf.simulate(mf.Scene(model, materials=material, stepping=stepping, **start))


def certified(run: mf.Trajectory) -> Answer:
    """Return that every step of a run was solved, and certified."""
    return Answer("steps without a certified solution", 0.0, float(len(run.failed)), 0.0, "none may fail")


def zero(quantity: str, got: Any, tolerance: float, reason: str) -> Answer:
    """Return that the largest entry of something is nothing."""
    return Answer(quantity, 0.0, float(np.abs(got).max(initial=0.0)), tolerance, reason)
