"""Steps of a simulation: smooth motion with resting contacts, and impacts where new contacts close.

*Event-driven* [J12, section IV]: a step is tried; where it would make bodies overlap that did not touch, or
take a hinge past a limit, the time of impact is found, the step redone up to it, the impact resolved, and the
rest of the step taken, as often as needed. *Time-stepping*: contacts are looked at where steps begin, and
bodies may overlap in between.

A contact is *closed* where its gap is at most the penetration tolerance. One that closes while it approaches
is an impact; one that was closed before rests: the step's problem keeps it from approaching, and no
restitution acts. Approaches below the rest speed are no impacts: such contacts take part in the step's
problem with their gap as soon as they are near. So bounces end that would come back within the step, do not
leave the tolerance or are slower than the rest speed, and with them the infinite sequence of ever smaller
impacts. Joint limits are contacts of hinges: the same rules and tolerance hold, in radians or metres.

Where a closed contact would sink in because surfaces curve or bodies turn within the step, the step is solved
again with what it would sink in added to the contact's gap, and where that does not help it is halved; what
has sunk in is removed at gap/dt.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import GAP
from mcpframe.contact.limits import closed_limits, limit_gaps
from mcpframe.contact.step import ContactStep
from mcpframe.multibody.state import State
from mcpframe.problem.problems import MixedLCP
from mcpframe.scene.scene import Scene
from mcpframe.simulation.impact import Impact, resolve_impact
from mcpframe.simulation.recording.observation import Kind, Observation, Observer
from mcpframe.simulation.response import approach_speeds, limit_speeds
from mcpframe.simulation.rules import CORRECTIONS, SECTIONS, SHORTEST, SINKING
from mcpframe.simulation.smooth import SmoothMotion
from mcpframe.simulation.step_record import Figures, Step, StepRecord, Touching, Trial, limit_key
from mcpframe.simulation.travel import Travel
from mcpframe.simulation.warm_start import WarmStart
from mcpframe.solving.solution import Solution

__all__ = ["Observation", "Observer", "Step", "Stepper"]

Indices = NDArray[np.int64]


class Stepper:
    """Moves a state of a scene; remembers which contacts were closed, and the last solution.

    Args:
        scene: what moves, how its surfaces meet, and how it is to be stepped.
        observe: is told of every problem that was solved for good, as it happens.
    """

    def __init__(self, scene: Scene, observe: Observer | None = None) -> None:
        self.scene, self.way, self.observe = scene, scene.stepping, observe
        self.detector = scene.detector()
        self.smooth, self.travel = SmoothMotion(scene), Travel(self.detector)
        self.closed_keys: Indices = np.zeros(0, dtype=np.int64)
        event_driven = self.way.scheme == "event_driven"
        self._near = self.way.penetration_tolerance + (
            scene.rest_speed * self.way.dt if event_driven else 0.0
        )
        self._limits_hit = (scene.limit_restitution > 0.0) | event_driven

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return what it remembers: with it, and the state, another stepper goes on to the same bits."""
        last = {f"last_{name}": array for name, array in self.smooth.last.checkpoint().items()}
        return {"closed_keys": self.closed_keys, **last}

    def restore(self, checkpoint: Mapping[str, NDArray[Any]]) -> None:
        """Take what another stepper of the scene has remembered; the closed contacts alone will do too."""
        self.closed_keys = np.array(checkpoint["closed_keys"], dtype=np.int64)
        kept = {name[5:]: array for name, array in checkpoint.items() if name.startswith("last_")}
        self.smooth.last = WarmStart.of_checkpoint(kept) if kept else WarmStart()

    def step(self, state: State) -> Step:
        """Move the state by dt."""
        take = self._event_driven if self.way.scheme == "event_driven" else self._time_stepping
        return take(state)

    def _event_driven(self, state: State) -> Step:
        record = StepRecord()
        left = end = self.way.dt
        start = state.time
        while left > self.way.time_tolerance:
            touching = self._touching(state)
            if self._is_impact(state, touching, len(record.impacts)):
                record.hit(state, touching, self._impact(state, touching, record))
            self.closed_keys = touching.all_keys
            h, trial = self._until_event(state, touching, left, record.figures)
            left -= h
            self._take(state, touching, trial, start + (end - left), record)
        state.update(time=start + end)
        return record.finish(self._found(state, self._near), self.way.penetration_tolerance)

    def _time_stepping(self, state: State) -> Step:
        record = StepRecord()
        touching = self._closed(state)
        if self._is_impact(state, touching, 0):
            record.hit(state, touching, self._impact(state, touching, record))
        self.closed_keys = touching.all_keys
        trial = self.smooth.fixed(state, touching, record.figures)
        self._take(state, touching, trial, state.time + self.way.dt, record)
        return record.finish(self._found(state, self._near), self.way.penetration_tolerance)

    def _take(self, state: State, touching: Touching, trial: Trial, time: float, record: StepRecord) -> None:
        """Move the state to where a trial leads."""
        record.move(touching, trial)
        self._tell(trial.observation)
        state.update(trial.theta, trial.theta_dot, time)
        self.smooth.settle(state)

    def _tell(self, observation: Observation | None) -> None:
        if self.observe is not None and observation is not None:
            self.observe(observation)

    def _closed(self, state: State) -> Touching:
        """Return the contacts and limits that are closed."""
        return self._found(state, self.way.penetration_tolerance)

    def _touching(self, state: State) -> Touching:
        """Return those that are closed, and contacts near by that close slowly, without an impact."""
        near = self._found(state, self._near)
        open_yet = near.gaps > self.way.penetration_tolerance
        if not open_yet.any():
            return near
        fast = approach_speeds(state, near.contacts) < -self.scene.rest_speed
        kept = ~(open_yet & fast)
        return Touching(near.contacts.chosen(kept), near.keys[kept], near.gaps[kept], near.limits)

    def _found(self, state: State, margin: float) -> Touching:
        contacts = self.detector.contacts(state, margin)
        limits = closed_limits(state, self.way.penetration_tolerance)
        return Touching(contacts, self.detector.key.copy(), contacts.gaps, limits)

    def _is_impact(self, state: State, touching: Touching, n_impacts: int) -> bool:
        """Return whether a closed contact or limit that was open approaches; after `max_impacts` all rest."""
        limits = touching.limits.index
        closed = np.append(touching.gaps <= self.way.penetration_tolerance, self._limits_hit[limits])
        new = closed & ~np.isin(touching.all_keys, self.closed_keys)
        if not new.any() or n_impacts >= self.way.max_impacts:
            return False
        speeds = np.append(approach_speeds(state, touching.contacts), limit_speeds(state, limits))
        return bool((speeds[new] < -self.scene.rest_speed).any())

    def _impact(self, state: State, touching: Touching, record: StepRecord) -> Impact:
        def solved(problem: MixedLCP) -> Solution:
            return self.smooth.solved(problem, record.figures)

        def tell(kind: Kind, problem: MixedLCP, solution: Solution, step: ContactStep) -> None:
            self._tell(Observation(problem, solution, kind, state.time, 0.0, step))

        limits = touching.limits.index
        impact = resolve_impact(
            state,
            touching.contacts,
            self.smooth.formulation,
            solved,
            self.way.restitution_model,
            limits=limits,
            limit_restitution=self.scene.limit_restitution[limits],
            tell=tell,
        )
        state.update(theta_dot=impact.theta_dot)
        return impact

    def _until_event(
        self, state: State, touching: Touching, left: float, figures: Figures
    ) -> tuple[float, Trial]:
        """Return the rest of the step, or what of it passes before bodies overlap that did not touch.

        What moves fast is looked at on the way too, see `mcpframe.simulation.travel`.
        """
        h, trial = self._longest_step(state, touching, left, figures)
        n = self.travel.looks(state, trial.theta, trial.theta_dot, h)
        before: tuple[float, Trial | None] = 0.0, None
        for sooner in h * np.arange(1, n) / n:
            early = self._resting_step(state, touching, sooner, figures)
            overlaps = self._new_overlaps(state, touching, early)
            if overlaps:
                return self._time_of_impact(state, touching, before, sooner, overlaps, figures)
            before = sooner, early
        overlaps = self._new_overlaps(state, touching, trial)
        if not overlaps:
            return h, trial
        return self._time_of_impact(state, touching, before, h, overlaps, figures)

    def _longest_step(
        self, state: State, touching: Touching, left: float, figures: Figures
    ) -> tuple[float, Trial]:
        """Return the rest of the step, or half of it, or a quarter ..., so that no contact sinks in."""
        h = left
        while h > SHORTEST * self.way.dt:
            trial, depth = self._corrected_step(state, touching, h, figures)
            if depth <= SINKING * self.way.penetration_tolerance:
                return h, trial
            h *= 0.5
        return h, self._resting_step(state, touching, h, figures)

    def _time_of_impact(
        self,
        state: State,
        touching: Touching,
        before: tuple[float, Trial | None],
        high: float,
        overlaps: Mapping[int, float],
        figures: Figures,
    ) -> tuple[float, Trial]:
        """Find the step that ends with the deepest new contact just closed, by the Illinois rule.

        The function is the smallest gap of the offenders plus half the tolerance: a step is good where it
        lies within half the tolerance of zero, so that the contact is closed and has not sunk in.
        """
        half = 0.5 * self.way.penetration_tolerance
        low, early = before
        f_low = self._smallest_gap(state, touching, early, overlaps) + half
        if early is not None and f_low <= half:
            return low, early
        f_high, kept = min(overlaps.values()) + half, 0
        for _ in range(SECTIONS):
            h = high - f_high * (high - low) / (f_high - f_low)
            h = 0.5 * (low + high) if not low < h < high else h
            trial = self._resting_step(state, touching, h, figures)
            gap = self._smallest_gap(state, touching, trial, overlaps) + half
            if abs(gap) <= half or high - low <= self.way.time_tolerance:
                return h, trial
            if gap > 0.0:
                low, f_low, early = h, gap, trial
                f_high, kept = (0.5 * f_high, 1) if kept == 1 else (f_high, 1)
            else:
                high, f_high = h, gap
                f_low, kept = (0.5 * f_low, -1) if kept == -1 else (f_low, -1)
        return (h, trial) if early is None else (low, early)

    def _gaps_after(self, state: State, trial: Trial | None, margin: float) -> dict[int, float]:
        """Return gaps by identity where a trial leads: contacts up to a margin, and all limits.

        The state comes back as it was.
        """
        before = state.theta, state.theta_dot
        if trial is not None:
            state.update(trial.theta, trial.theta_dot)
        self.detector.detect(state, margin)
        gaps = dict(zip(self.detector.key.tolist(), self.detector.record[:, GAP].tolist(), strict=True))
        if state.tree.has_limits:
            gaps |= {limit_key(i): gap for i, gap in enumerate(limit_gaps(state).tolist())}
        if trial is not None:
            state.update(*before)
        return gaps

    def _new_overlaps(self, state: State, touching: Touching, trial: Trial) -> dict[int, float]:
        """Return what a trial makes overlap, or pass, beyond the tolerance and that was not closed."""
        deep = -self.way.penetration_tolerance
        closed = set(touching.all_keys.tolist())
        gaps = self._gaps_after(state, trial, 0.0)
        return {key: gap for key, gap in gaps.items() if gap < deep and key not in closed}

    def _smallest_gap(
        self, state: State, touching: Touching, trial: Trial | None, offenders: Mapping[int, float]
    ) -> float:
        """Return the smallest gap of the offenders; where they are far, a margin they do not come near."""
        margin = 10.0 * max(-min(offenders.values()), self.way.penetration_tolerance)
        gaps = self._gaps_after(state, trial, margin)
        closed = set(touching.all_keys.tolist())
        return min((gap for key, gap in gaps.items() if key not in closed), default=margin)

    def _resting_step(self, state: State, touching: Touching, h: float, figures: Figures) -> Trial:
        """Return a smooth step in which closed contacts do not approach, and sink in as little as can be."""
        trial, depth = self._corrected_step(state, touching, h, figures)
        if depth <= SINKING * self.way.penetration_tolerance:
            return trial
        return self.smooth.resting(state, touching, h, figures, self._rise(touching, h))[0]

    def _corrected_step(
        self, state: State, touching: Touching, h: float, figures: Figures
    ) -> tuple[Trial, float]:
        """Return a smooth step solved again for what contacts sink in, and how deep one still does.

        It ends where a correction has no solution, or does not halve the depth.
        """
        trial, gaps = self.smooth.resting(state, touching, h, figures, self._rise(touching, h))
        sinking = self._sinking(state, touching, trial, h)
        for _ in range(CORRECTIONS):
            depth = -float(sinking.min(initial=0.0))
            if depth <= SINKING * self.way.penetration_tolerance:
                break
            gaps = gaps + sinking
            again = self.smooth.rising(state, touching, h, figures, gaps)
            if again is None:
                return trial, depth
            trial, sinking = again, self._sinking(state, touching, again, h)
            if -float(sinking.min(initial=0.0)) > 0.5 * depth:
                break
        return trial, -float(sinking.min(initial=0.0))

    def _rise(self, touching: Touching, h: float) -> Array:
        """Return the gaps of a step's problem: contacts that have sunk in rise at gap/dt, open ones close."""
        gaps = touching.gaps
        return np.where(gaps > 0.0, gaps, gaps * (h / self.way.dt))

    def _sinking(self, state: State, touching: Touching, trial: Trial, h: float) -> Array:
        """Return how much deeper contacts are than they may be where a trial leads, zero or negative [n_u].

        They may be as deep as at the start, less what the step is to remove.
        """
        if not touching.keys.size:
            return np.zeros(0)
        gaps = self._gaps_after(state, trial, self._near)
        after = np.array([gaps.get(key, np.inf) for key in touching.keys.tolist()])
        sunk = np.minimum(touching.gaps, 0.0)
        return np.minimum(after - (sunk - sunk * (h / self.way.dt)), 0.0)
