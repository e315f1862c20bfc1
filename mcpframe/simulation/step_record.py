"""What a step of a simulation did: contacts, impulses, impacts, and what solving has cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import ContactSet
from mcpframe.contact.limits import NO_LIMITS, ChosenLimits
from mcpframe.contact.outcome import Outcome
from mcpframe.multibody.state import State
from mcpframe.simulation.impact import Impact
from mcpframe.simulation.recording.observation import Observation
from mcpframe.solving.solution import Solution

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Touching:
    """Contacts and joint limits that are closed, and how to know them again.

    Attributes:
        contacts: packed.
        keys: identities, ascending, not negative [n_u].
        gaps: distances [n_u], m.
        limits: joint limits that are reached.
    """

    contacts: ContactSet
    keys: Indices
    gaps: Array
    limits: ChosenLimits = NO_LIMITS

    @cached_property
    def all_keys(self) -> Indices:
        """Identities of contacts, then of limits [n_u + n_l]."""
        return np.concatenate([self.keys, limit_key(self.limits.index)])


def limit_key(index: Any) -> Any:
    """Return the identity of some of `all_limits`; negative, which those of contacts are not."""
    return -1 - index


@dataclass(eq=False)
class Figures:
    """What solving has cost and reached within a step, over all problems of it."""

    solution: Solution | None = None
    iterations: int = 0
    residual: float = np.nan
    build_seconds: float = 0.0
    solve_seconds: float = 0.0
    recover_seconds: float = 0.0

    def add(self, solution: Solution) -> None:
        """Take the figures of a solve; the worst residual counts."""
        self.solution = solution if self.solution is None or self.solution.ok else self.solution
        self.iterations += solution.iterations
        self.solve_seconds += solution.seconds
        self.residual = float(np.fmax(self.residual, solution.residual))


@dataclass(frozen=True, eq=False)
class Trial:
    """A smooth step that may be taken: where it leads, and what it did.

    Attributes:
        theta, theta_dot: coordinates and rates at its end.
        outcome: impulses; None where nothing held the system.
        observation: the problem that it solved, if any.
    """

    theta: Array
    theta_dot: Array
    outcome: Outcome | None = None
    observation: Observation | None = None


@dataclass(frozen=True, eq=False)
class Told:
    """One contact as it is told of a step; see `mcpframe.simulation.recording.steps.ContactTable`."""

    body_a: int
    body_b: int
    point: Array
    normal: Array
    gap: float
    impulse: Array
    mode: str


@dataclass(frozen=True, eq=False)
class Step:
    """What one step of dt did.

    Attributes:
        contacts: by identity: those closed at its end, and those that took an impulse within it.
        penetration: largest overlap at its end, m.
        impacts: (time, largest overlap, impact), in order.
        figures: of all solves.
        drift: of the last smooth part.
    """

    contacts: dict[int, Told]
    penetration: float
    impacts: list[tuple[float, float, Impact]]
    figures: Figures
    drift: float

    def after(self, others: Sequence[Step]) -> Step:
        """Return the step with the impulses that contacts took in other steps before it."""
        contacts = dict(self.contacts)
        for other in others:
            for key, told in other.contacts.items():
                if key in contacts:
                    contacts[key] = replace(contacts[key], impulse=contacts[key].impulse + told.impulse)
                elif told.impulse.any():
                    contacts[key] = replace(told, mode="separating")
        return replace(self, contacts=contacts)


class StepRecord:
    """Gathers what happens within one step of dt."""

    def __init__(self) -> None:
        self.figures = Figures()
        self.impacts: list[tuple[float, float, Impact]] = []
        self._pressed: dict[int, Told] = {}
        self._modes: dict[int, str] = {}
        self._drift = 0.0

    def hit(self, state: State, touching: Touching, impact: Impact) -> None:
        """Take an impact."""
        self.impacts.append((state.time, float(-touching.gaps.min(initial=0.0)), impact))
        self._add(touching, impact.impulses)

    def move(self, touching: Touching, trial: Trial) -> None:
        """Take a smooth part."""
        self._modes.clear()
        if trial.outcome is not None:
            self._add(touching, trial.outcome.impulses)
            self._modes = dict(zip(touching.keys.tolist(), trial.outcome.modes, strict=True))
            self._drift = trial.outcome.drift

    def _add(self, touching: Touching, impulses: Array) -> None:
        for told, key in zip(_told(touching, impulses), touching.keys.tolist(), strict=True):
            before = self._pressed.get(key)
            self._pressed[key] = (
                told if before is None else replace(told, impulse=before.impulse + told.impulse)
            )

    def finish(self, found: Touching, tolerance: float) -> Step:
        """Return the step, told for contacts that are closed at its end and those that took an impulse.

        Args:
            found: contacts at its end, near ones too.
            tolerance: gap up to which they are closed, m.
        """
        pressed = {key: told for key, told in self._pressed.items() if told.impulse.any()}
        contacts = {}
        for key, told in zip(found.keys.tolist(), _told(found, np.zeros((found.keys.size, 3))), strict=True):
            if key in pressed:
                told = replace(told, impulse=pressed[key].impulse)
            elif told.gap > tolerance:
                continue
            contacts[key] = replace(told, mode=self._modes.get(key, "separating"))
        depth = max(0.0, -float(found.gaps.min(initial=0.0)))
        gone = {key: told for key, told in pressed.items() if key not in contacts}
        return Step({**contacts, **gone}, depth, self.impacts, self.figures, self._drift)


def _told(touching: Touching, impulses: Array) -> Iterator[Told]:
    """Yield every contact with its impulse."""
    packed = touching.contacts
    points, normals = packed.points[:, :3], packed.normals[:, :3]
    for i, gap in enumerate(touching.gaps.tolist()):
        bodies = int(packed.link_a[i]), int(packed.link_b[i])
        yield Told(*bodies, points[i], normals[i], gap, impulses[i], "separating")
