"""The same scene run in several settings: how far apart the motions are, and how that shrinks with the step.

Two things are told apart. *Settings* at the same step (formulations, solvers) solve the same step and differ
by rounding alone; impacts amplify it. *Steps* of the same setting differ by the error of integration, first
order in dt. Where one run has had a collision that the other is still to have, velocities differ by the jump;
so differences are taken between collisions: the k-th window lasts from the (k-1)-th collision of both runs
to the k-th of either.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np

from mcpframe.arrays import Array
from mcpframe.scene.scene import Scene
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.simulation.simulate import simulate

MILLI = 1e3


@dataclass(frozen=True, eq=False)
class Run:
    """One run of a comparison.

    Attributes:
        setting: names of formulation and solver, where they differ between runs.
        dt: step, s.
        trajectory: what came out.
    """

    setting: str
    dt: float
    trajectory: Trajectory

    @property
    def label(self) -> str:
        """What the run is called in plots and tables."""
        return label_of(self.setting, self.dt)

    @cached_property
    def motion(self) -> tuple[Array, Array]:
        """Height and normal velocity of the last link, at all recorded times: both along the vertical."""
        positions, velocities = self.trajectory.motion_of(self.trajectory.last_link)
        return positions @ self.trajectory.up, velocities[:, 3:] @ self.trajectory.up

    def collisions(self, apart: float) -> tuple[Array, Array]:
        """Return where collisions begin and end; impacts within `apart` seconds of the last are one."""
        times = np.sort(self.trajectory.impacts.time)
        new = np.diff(times) > apart
        ends = np.ones(min(len(times), 1), dtype=bool)
        return times[np.concatenate([ends, new])], times[np.concatenate([new, ends])]


@dataclass(frozen=True, eq=False)
class Pair:
    """Two runs that are compared at the times that both have: those of the coarser one."""

    one: Run
    other: Run

    @property
    def label(self) -> str:
        """What the pair is called: only what differs is said twice."""
        if self.one.setting == self.other.setting:
            setting = f"{self.one.setting}, " if self.one.setting else ""
            return f"{setting}{MILLI * self.one.dt:g} – {MILLI * self.other.dt:g} ms"
        return f"{self.one.setting} – {self.other.setting}, {MILLI * self.one.dt:g} ms"

    @cached_property
    def apart(self) -> tuple[Array, Array, Array]:
        """Times, and distances in height [m] and normal velocity [m/s] at them."""
        coarse, fine = sorted((self.one, self.other), key=lambda run: -run.dt)
        t, end = coarse.trajectory.time, fine.trajectory.time[-1]
        t = t[t <= end]
        away = [
            np.abs(np.interp(t, fine.trajectory.time, theirs) - ours[: len(t)])
            for ours, theirs in zip(coarse.motion, fine.motion, strict=True)
        ]
        return t, away[0], away[1]

    def largest(self, n: int) -> Array:
        """Return the largest distances in height and velocity up to each of n collisions [2, n + 1].

        The last is that of the whole run. NaN from where the runs no longer have the same collisions.
        """
        t, *away = self.apart
        so_far, found = np.zeros(2), np.full((2, n + 1), np.nan)
        for k, (since, until) in enumerate(self._windows(n)):
            within = (t >= since) & (t < until)
            so_far = np.maximum(so_far, [each[within].max(initial=0.0) for each in away])
            found[:, k] = so_far
        found[:, n] = [each.max(initial=0.0) for each in away]
        return found

    def _windows(self, n: int) -> list[tuple[float, float]]:
        """Return where both runs are between the same collisions, up to n of them."""
        step = max(self.one.dt, self.other.dt)
        (starts, ends), (starts_2, ends_2) = (run.collisions(step) for run in (self.one, self.other))
        both = min(len(starts), len(starts_2), n)
        since = np.concatenate([[-np.inf], np.maximum(ends[:both], ends_2[:both])])[:both]
        until = np.minimum(starts[:both], starts_2[:both])
        same = np.cumprod(since < until).astype(bool)
        return list(zip(since[same].tolist(), until[same].tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs of one scene in several settings and with several steps.

    Attributes:
        runs: of every setting with every step, settings in the order given, the largest step first.
    """

    runs: tuple[Run, ...]

    @property
    def settings(self) -> tuple[str, ...]:
        """Settings, in order."""
        return tuple(dict.fromkeys(run.setting for run in self.runs))

    @property
    def steps(self) -> tuple[float, ...]:
        """Steps, the largest first."""
        return tuple(dict.fromkeys(run.dt for run in self.runs))

    @property
    def same_step(self) -> list[Pair]:
        """The first setting beside every other, with the same step."""
        settings = self.settings
        return [
            Pair(self._run(settings[0], dt), self._run(setting, dt))
            for dt in self.steps
            for setting in settings[1:]
        ]

    @property
    def same_setting(self) -> list[Pair]:
        """Every step beside the next smaller one, in the same setting."""
        steps = zip(self.steps, self.steps[1:], strict=False)
        pairs = product(self.settings, steps)
        return [
            Pair(self._run(setting, large), self._run(setting, small)) for setting, (large, small) in pairs
        ]

    def orders(self, n: int) -> dict[str, Array]:
        """Return the power of dt with which the distance of successive steps shrinks, by setting [2, n + 1].

        From three steps: log(d_12 / d_23) / log(dt_1 / dt_2), of the smallest ones; NaN where there is none.
        """
        if len(self.steps) < 3:
            return {}
        large, middle = self.steps[-3], self.steps[-2]
        found = {}
        for setting in self.settings:
            coarse, fine = [pair.largest(n) for pair in self.same_setting if pair.one.setting == setting][-2:]
            found[setting] = np.log(coarse / fine) / np.log(large / middle)
        return found

    def _run(self, setting: str, dt: float) -> Run:
        return next(run for run in self.runs if (run.setting, run.dt) == (setting, dt))


def label_of(setting: str, dt: float) -> str:
    """Return what a run is called."""
    return f"{setting}, {MILLI * dt:g} ms" if setting else f"{MILLI * dt:g} ms"


def compare_runs(
    scene: Scene,
    formulations: Sequence[str] = (),
    solvers: Sequence[str] = (),
    steps: Sequence[float] = (),
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    overwrite: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Comparison:
    """Run a scene with every formulation, solver and step, and return the runs.

    Args:
        scene: what is run.
        formulations, solvers: names; the scene's own where none are given.
        steps: s; the scene's own where none are given.
        out: folder that gets a folder for each run; None keeps them in memory.
        progress: show every run on the terminal.
        overwrite: start anew where there are runs already.
        tell: is called with the name of every run before it begins.
    """
    own, runs = scene.stepping, []
    formulations, solvers = (tuple(dict.fromkeys(names)) for names in (formulations, solvers))
    for formulation, solver in product(formulations or [own.formulation], solvers or [own.solver]):
        several = ((formulations, formulation), (solvers, solver))
        setting = " ".join(str(name) for names, name in several if len(names) > 1)
        for dt in sorted(set(steps or [own.dt]), reverse=True):
            place = (
                None if out is None else Path(out, label_of(setting, dt).replace(", ", "_").replace(" ", "_"))
            )
            if tell is not None:
                tell(label_of(setting, dt))
            changed = scene.with_stepping(formulation=formulation, solver=solver, dt=dt)
            moved = simulate(changed, out=place, progress=progress, overwrite=overwrite)
            runs.append(Run(setting, dt, moved))
    return Comparison(tuple(runs))
