"""What the comparisons ask of an engine: whole episodes, timed, or watched step by step.

A peer is timed with nothing read in between and nothing kept; our engine is timed with everything it records.
"""

from __future__ import annotations

import gc
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from time import process_time
from typing import Any, Protocol

import numpy as np
from subjects.mechanisms import Mechanism

from mcpframe.arrays import Array


@dataclass(frozen=True, eq=False)
class Watched:
    """An episode as it went; row 0 is the start.

    Attributes:
        position, velocity: of the centre of the last body [n + 1, 3], m and m/s.
        energy: kinetic and potential [n + 1], J.
        contacts: pairs of shapes, or points, that touch [n + 1].
        depth: largest overlap at these times and, where the engine tells, at impacts, m.
        impacts: how many there were; for engines that do not tell, pairs that began to touch.
        impact_times: when, where the engine tells, s.
    """

    position: Array
    velocity: Array
    energy: Array
    contacts: Array
    depth: Array
    impacts: int
    impact_times: Array = field(default_factory=lambda: np.zeros(0))


class Engine(Protocol):
    """Simulates mechanisms."""

    @property
    def name(self) -> str:
        """What tables call it."""

    @property
    def is_peer(self) -> bool:
        """Whether it is another project's."""

    def seconds(self, mechanism: Mechanism, dt: float, n_steps: int) -> float:
        """Return the processor time of an episode, without that of building the model."""

    def watch(self, mechanism: Mechanism, dt: float, n_steps: int) -> Watched:
        """Return an episode as it goes."""


class Run(ABC):
    """A mechanism on its way in a peer's engine."""

    @abstractmethod
    def advance(self, n_steps: int) -> None:
        """Take steps, as fast as the engine can from Python."""

    @abstractmethod
    def overlaps(self) -> Mapping[Hashable, float]:
        """Return the overlap of everything that touches, by who touches whom, m."""

    @abstractmethod
    def energy(self) -> float:
        """Return kinetic and potential energy, J."""

    @abstractmethod
    def motion(self) -> tuple[Array, Array]:
        """Return position and velocity of the centre of the last body, m and m/s."""

    @property
    def contacts(self) -> int:
        """How many contacts there are; as many as overlaps unless the engine counts points."""
        return len(self.overlaps())


@dataclass(frozen=True)
class Peer:
    """An engine of another project.

    Attributes:
        start: returns a mechanism at its start, to be moved in steps of dt.
        package: name and version.
    """

    name: str
    package: str
    start: Callable[[Mechanism, float], Run]
    is_peer: bool = True

    def seconds(self, mechanism: Mechanism, dt: float, n_steps: int) -> float:
        """Return the processor time of an episode in which nothing is read."""
        run = self.start(mechanism, dt)
        return processor_time(lambda: run.advance(n_steps))

    def watch(self, mechanism: Mechanism, dt: float, n_steps: int) -> Watched:
        """Return an episode, read after every step."""
        run = self.start(mechanism, dt)
        rows, before, impacts = [_row(run)], set(run.overlaps()), 0
        for _ in range(n_steps):
            run.advance(1)
            rows.append(_row(run))
            now = set(run.overlaps())
            impacts += len(now - before)
            before = now
        position, velocity, energy, contacts, depth = (np.array(column) for column in zip(*rows, strict=True))
        return Watched(position, velocity, energy, contacts, depth, impacts)


def _row(run: Run) -> tuple[Array, Array, float, int, float]:
    return *run.motion(), run.energy(), run.contacts, max(0.0, max(run.overlaps().values(), default=0.0))


def processor_time(run: Callable[[], Any]) -> float:
    """Return the processor time of a call, s; the garbage collector waits."""
    gc.collect()
    gc.freeze()  # what lives now is not looked at again: that takes as long as thousands of steps
    gc.disable()
    try:
        clock = process_time()
        run()
        return process_time() - clock
    finally:
        gc.enable()


MODULES = {"peers.mujoco": "mujoco", "peers.drake": "pydrake", "peers.dart": "dartpy"}
"""Modules of peers, and what each needs."""


def installed_peers() -> tuple[list[Peer], list[str]]:
    """Return the peers whose packages are installed, and the names of those that are not."""
    found: list[Peer] = []
    missing = []
    for module, package in MODULES.items():
        if find_spec(package) is None:
            missing.append(package)
        else:
            found += import_module(module).peers()
    return found, missing
