"""Steps of a simulation: smooth motion with resting contacts, and impacts where new contacts close.

*Event-driven* [J12, section IV]: a step is tried; where it would make bodies overlap that did not touch, the
time of impact is found, the step redone up to it, the impact resolved, and the rest of the step taken, as
often as needed. *Time-stepping*: contacts are looked at where steps begin, and bodies may overlap in between.

A contact is *closed* where its gap is at most the penetration tolerance. One that closes while it approaches
is an impact; one that was closed before rests: the step's problem keeps it from approaching, and no
restitution acts. So bounces whose height stays within the tolerance, and approaches below `rest_speed`, end
in rest: that is how an infinite sequence of ever smaller impacts comes to its end.

Where a closed contact would sink in because surfaces curve or bodies turn within the step, the step is solved
again with what it would sink in added to the contact's gap; what has sunk in is removed at gap/dt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import GAP, ContactSet
from mcpframe.contact.outcome import Outcome
from mcpframe.contact.step import ContactStep
from mcpframe.exceptions import NotSolvedError
from mcpframe.multibody.state import State
from mcpframe.problem import MixedLCP
from mcpframe.simulation.impact import Impact, approach_speeds, resolve_impact
from mcpframe.simulation.scene import Scene
from mcpframe.solution import Solution
from mcpframe.solve import solve

Indices = NDArray[np.int64]

CORRECTIONS = 3
"""How often a step is solved again for contacts that would sink in; each time leaves a power of dt less."""
SECTIONS = 60
"""Most trials in the search for a time of impact; halving alone takes 40 from a second to a picosecond."""


@dataclass(frozen=True, eq=False)
class Touching:
    """Contacts that are closed, and how to know them again.

    Attributes:
        contacts: packed.
        keys: identities, ascending [n_u].
        gaps: distances [n_u], m.
    """

    contacts: ContactSet
    keys: Indices
    gaps: Array

    def among(self, keys: Indices) -> NDArray[np.bool_]:
        """Return which of the contacts have one of these identities."""
        return np.isin(self.keys, keys)


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
    """A smooth step that may be taken: where it leads, and what it did."""

    theta: Array
    theta_dot: Array
    outcome: Outcome | None


@dataclass(frozen=True, eq=False)
class Step:
    """What one step of dt did.

    Attributes:
        touching: contacts closed at its end.
        impulses: on A, over the whole step, of the contacts in `touching` [n_u, 3], N s.
        modes: of those contacts.
        impacts: (time, largest overlap, impact), in order.
        figures: of all solves.
        drift: of the last smooth part.
    """

    touching: Touching
    impulses: Array
    modes: list[str]
    impacts: list[tuple[float, float, Impact]]
    figures: Figures
    drift: float

    def after(self, others: Sequence[Step]) -> Step:
        """Return the step with the impulses that its contacts took in other steps, which are not told."""
        total = dict(zip(self.touching.keys.tolist(), self.impulses.copy(), strict=True))
        for other in others:
            for key, impulse in zip(other.touching.keys.tolist(), other.impulses, strict=True):
                if key in total:
                    total[key] = total[key] + impulse
        return replace(self, impulses=np.array([*total.values()]).reshape(-1, 3))


class Stepper:
    """Moves a state of a scene; remembers which contacts were closed.

    Args:
        scene: what moves, how its surfaces meet, and how it is to be stepped.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene, self.way = scene, scene.stepping
        self.detector = scene.detector()
        self.formulation: Any = self.way.formulation
        self._resting: Any = self.formulation.model_copy(update={"position_level": True})
        self.closed_keys: Indices = np.zeros(0, dtype=np.int64)

    def step(self, state: State) -> Step:
        """Move the state by dt."""
        take = self._event_driven if self.way.scheme == "event_driven" else self._time_stepping
        return take(state)

    def _event_driven(self, state: State) -> Step:
        record = _Record(state, Figures())
        left = end = self.way.dt
        start = state.time
        while left > self.way.time_tolerance:
            touching = self._closed(state)
            if self._is_impact(state, touching, len(record.impacts)):
                record.hit(state, touching, self._impact(state, touching, record))
            self.closed_keys = touching.keys
            h, trial = self._until_event(state, touching, left, record.figures)
            left -= h
            record.move(touching, trial)
            state.update(trial.theta, trial.theta_dot, start + (end - left))
        state.update(time=start + end)
        return record.finish(self._closed(state))

    def _time_stepping(self, state: State) -> Step:
        record = _Record(state, Figures())
        touching = self._closed(state)
        if self._is_impact(state, touching, 0):
            record.hit(state, touching, self._impact(state, touching, record))
        self.closed_keys = touching.keys
        trial = self._smooth(state, touching, self.way.dt, record.figures, touching.gaps, self.formulation)
        record.move(touching, trial)
        state.update(trial.theta, trial.theta_dot, state.time + self.way.dt)
        return record.finish(self._closed(state))

    def _closed(self, state: State) -> Touching:
        contacts = self.detector.contacts(state, self.way.penetration_tolerance)
        return Touching(contacts, self.detector.key.copy(), contacts.gaps)

    def _is_impact(self, state: State, touching: Touching, n_impacts: int) -> bool:
        """Return whether a contact that was open approaches; after `max_impacts` all are taken to rest."""
        if not len(touching.contacts) or n_impacts >= self.way.max_impacts:
            return False
        new = ~touching.among(self.closed_keys)
        return bool(
            new.any() and (approach_speeds(state, touching.contacts)[new] < -self.way.rest_speed).any()
        )

    def _impact(self, state: State, touching: Touching, record: _Record) -> Impact:
        def solved(problem: MixedLCP) -> Solution:
            return self._solved(problem, record.figures)

        impact = resolve_impact(
            state, touching.contacts, self.formulation, solved, self.way.restitution_model
        )
        state.update(theta_dot=impact.theta_dot)
        return impact

    def _until_event(
        self, state: State, touching: Touching, left: float, figures: Figures
    ) -> tuple[float, Trial]:
        """Return the rest of the step, or what of it passes before bodies overlap that did not touch."""
        trial = self._resting_step(state, touching, left, figures)
        overlaps = self._new_overlaps(state, touching, trial)
        if not overlaps:
            return left, trial
        return self._time_of_impact(state, touching, left, overlaps, figures)

    def _time_of_impact(
        self, state: State, touching: Touching, left: float, overlaps: Mapping[int, float], figures: Figures
    ) -> tuple[float, Trial]:
        """Find the step that ends with the deepest new contact just closed, by the Illinois rule.

        The function is the smallest gap of the offenders plus half the tolerance: a step is good where it
        lies within half the tolerance of zero, so that the contact is closed and has not sunk in.
        """
        half = 0.5 * self.way.penetration_tolerance
        low, f_low = 0.0, self._smallest_gap(state, touching, None, overlaps) + half
        high, f_high = left, min(overlaps.values()) + half
        before: tuple[float, Trial] | None = None
        kept = 0
        for _ in range(SECTIONS):
            h = high - f_high * (high - low) / (f_high - f_low)
            h = 0.5 * (low + high) if not low < h < high else h
            trial = self._resting_step(state, touching, h, figures)
            gap = self._smallest_gap(state, touching, trial, overlaps) + half
            if abs(gap) <= half or high - low <= self.way.time_tolerance:
                return h, trial
            if gap > 0.0:
                low, f_low, before = h, gap, (h, trial)
                f_high, kept = (0.5 * f_high, 1) if kept == 1 else (f_high, 1)
            else:
                high, f_high = h, gap
                f_low, kept = (0.5 * f_low, -1) if kept == -1 else (f_low, -1)
        return before or (h, trial)

    def _gaps_after(self, state: State, trial: Trial | None, margin: float) -> dict[int, float]:
        """Return gaps up to a margin by identity, where a trial leads; the state comes back as it was."""
        before = state.theta, state.theta_dot
        if trial is not None:
            state.update(trial.theta, trial.theta_dot)
        self.detector.detect(state, margin)
        gaps = dict(zip(self.detector.key.tolist(), self.detector.record[:, GAP].tolist(), strict=True))
        if trial is not None:
            state.update(*before)
        return gaps

    def _new_overlaps(self, state: State, touching: Touching, trial: Trial) -> dict[int, float]:
        """Return the contacts that a trial makes overlap beyond the tolerance and that were not closed."""
        deep = -self.way.penetration_tolerance
        closed = set(touching.keys.tolist())
        gaps = self._gaps_after(state, trial, 0.0)
        return {key: gap for key, gap in gaps.items() if gap < deep and key not in closed}

    def _smallest_gap(
        self, state: State, touching: Touching, trial: Trial | None, offenders: Mapping[int, float]
    ) -> float:
        """Return the smallest gap of the offenders; where they are far, a margin they do not come near."""
        margin = 10.0 * max(-min(offenders.values()), self.way.penetration_tolerance)
        gaps = self._gaps_after(state, trial, margin)
        closed = set(touching.keys.tolist())
        return min((gap for key, gap in gaps.items() if key not in closed), default=margin)

    def _resting_step(self, state: State, touching: Touching, h: float, figures: Figures) -> Trial:
        """Return a smooth step in which closed contacts neither approach nor sink in."""
        sunk = np.minimum(touching.gaps, 0.0) * (h / self.way.dt)
        trial = self._smooth(state, touching, h, figures, sunk, self._resting)
        for _ in range(CORRECTIONS if len(touching.contacts) else 0):
            gaps = self._gaps_after(state, trial, self.way.penetration_tolerance)
            after = np.array([gaps.get(int(key), np.inf) for key in touching.keys])
            deeper = np.minimum(after - np.minimum(touching.gaps - sunk, 0.0), 0.0)
            if not (deeper < -0.1 * self.way.penetration_tolerance).any():
                break
            sunk = sunk + deeper
            trial = self._smooth(state, touching, h, figures, sunk, self._resting)
        return trial

    def _smooth(
        self, state: State, touching: Touching, h: float, figures: Figures, gaps: Array, formulation: Any
    ) -> Trial:
        """Return where a step of h leads, by semi-implicit Euler, or RK4 where nothing constrains it."""
        tau = self.scene.controller.force(state, state.time)
        wrenches = self.scene.controller.wrenches(state.time)
        contacts = touching.contacts.with_gaps(gaps)
        step = ContactStep(state, contacts, h, tau, wrenches or None)
        if not len(contacts) and not state.model.closures and step.limits.n == 0:
            return self._free(state, step, h)
        clock = perf_counter()
        problem, recovery = formulation.build(step)
        figures.build_seconds += perf_counter() - clock
        solution = self._solved(problem, figures)
        clock = perf_counter()
        outcome = formulation.recover(recovery, solution)
        figures.recover_seconds += perf_counter() - clock
        if self.way.integrator == "rk4" and not (outcome.beta.any() or outcome.p_b.size or outcome.p_l.any()):
            return replace(self._free(state, step, h), outcome=outcome)  # contacts that open do not hold it
        theta = state.model.integrate(state.theta, outcome.theta_dot, h)
        return Trial(theta, outcome.theta_dot, outcome)

    def _free(self, state: State, step: ContactStep, h: float) -> Trial:
        """Return a step without constraints."""
        if self.way.integrator == "rk4":
            return Trial(*_runge_kutta(state, step, h), None)
        theta_dot = state.theta_dot + h * step.free_acceleration
        return Trial(state.model.integrate(state.theta, theta_dot, h), theta_dot, None)

    def _solved(self, problem: MixedLCP, figures: Figures) -> Solution:
        """Solve a problem; what a failure means is the scene's choice."""
        solution = solve(problem, self.way.solver, tol=self.way.tol)
        if not solution.ok and self.way.on_failure == "auto":
            solution = solve(problem, "auto", z0=solution.z, tol=self.way.tol)
        if not solution.ok and self.way.on_failure != "best":
            raise NotSolvedError(solution)
        figures.add(solution)
        return solution


class _Record:
    """Gathers what happens within one step of dt."""

    def __init__(self, state: State, figures: Figures) -> None:
        self.figures = figures
        self.impacts: list[tuple[float, float, Impact]] = []
        self._impulses: dict[int, Array] = {}
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
        for key, impulse in zip(touching.keys.tolist(), impulses, strict=True):
            self._impulses[key] = self._impulses.get(key, 0.0) + impulse

    def finish(self, touching: Touching) -> Step:
        """Return the step, told for the contacts that are closed at its end."""
        keys = touching.keys.tolist()
        impulses = np.array([self._impulses.get(key, np.zeros(3)) for key in keys]).reshape(-1, 3)
        modes = [self._modes.get(key, "separating") for key in keys]
        return Step(touching, impulses, modes, self.impacts, self.figures, self._drift)


def _runge_kutta(state: State, step: ContactStep, h: float) -> tuple[Array, Array]:
    """Return coordinates and rates after a step of the classical fourth-order rule, forces held constant.

    Coordinates are moved along the mean of the four rates, which is of fourth order for hinges whose rates
    are derivatives of coordinates, of second order for the turning of balls and free bodies.
    """
    model, theta, theta_dot = state.model, state.theta, state.theta_dot
    rates, accelerations = [theta_dot], [step.free_acceleration]
    for share in (0.5, 0.5, 1.0):
        moved = model.integrate(theta, rates[-1], share * h)
        rates.append(theta_dot + share * h * accelerations[-1])
        state.update(moved, rates[-1])
        accelerations.append(state.free_acceleration(step.hinge_force, step.wrenches))
    state.update(theta, theta_dot)
    weights = np.array([1.0, 2.0, 2.0, 1.0]) / 6.0
    return model.integrate(theta, weights @ np.array(rates), h), theta_dot + h * (
        weights @ np.array(accelerations)
    )
