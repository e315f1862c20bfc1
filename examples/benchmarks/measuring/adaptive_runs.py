"""How far adaptive runs are from full ones: a swinging cable, the scenes, their contact problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from subjects.cables import swinging

import mcpframe as mf
from mcpframe.scene.settings import Output
from mcpframe.simulation.engine import Engine

Rows = list[list[str]]
SCENES = Path(__file__).parents[2] / "scenes/adaptive"
PUBLISHED = {"pegs": "5", "holes": "5", "bridge": "8"}
REPEATS, MANY, SHORT = 3, 1000, 0.2
"""How often times are taken; dofs from which on not every step is recorded meanwhile; such runs last, s."""
NEAR, ALIKE = 0.06, 10.0
"""Asked of the pegs: rms of the way to the full run, m; difference in the mean number of contacts, %."""
TOUCHING, FEW, EACH, RANK = 1e-4, 3, 12, 1e-8
"""Where problems are looked at: the gap up to which shapes touch, m, contacts at least, every so many rows;
singular values over the largest entry that count."""


def accuracy(quick: bool) -> tuple[list[str], Rows]:
    """The tip of a swinging cable of 300 links, 6 m, beside that of the full run, 2 s."""
    n, duration = (60, 0.5) if quick else (300, 2.0)
    head, rows = ["active", "interval", "rms of the tip, mm", "largest, mm", "loss, J", "asked, mm"], []

    def tip(asked: mf.Adaptive | None) -> tuple[Any, mf.Trajectory]:
        run = mf.simulate(replace(swinging(n, asked, 6.0), output=Output(every=40)), duration=duration)
        return run.motion_of(run.last_link)[0], run

    full, _ = tip(None)
    targets = {60: "10", 100: "2"}
    for d in (20, 40) if quick else (20, 40, 60, 100, 150):
        for interval in (10,) if quick else (5, 10, 15, 30):
            place, run = tip(mf.Adaptive(active=d, interval=interval))
            off = np.linalg.norm(place - full, axis=1)
            figures = f"{1e3 * np.sqrt((off**2).mean()):.2f}", f"{1e3 * off.max():.1f}"
            target = targets.get(d, "") if interval in (10, 15) else ""
            rows.append([str(d), str(interval), *figures, f"{run.rigid_loss.sum():.3g}", target])
    return head, rows


def patience(quick: bool) -> tuple[list[str], Rows]:
    """Patience while 300 links swing, 60 active, by the damping of joints: rms of the tip, 2 s."""
    n, duration, kept = (60, 0.2, (1, 2)) if quick else (300, 2.0, (1, 2, 4, 8))
    head, rows = ["damping, N m s", *(f"patience {p}, mm" for p in kept), "to and fro with patience 2"], []
    for damping in (0.0,) if quick else (0.0, 1e-5, 1e-4, 1e-3):
        asked = [None, *(mf.Adaptive(active=n // 5, patience=p) for p in kept)]
        cables = (replace(swinging(n, one, 6.0, damping), output=Output(every=40)) for one in asked)
        full, *others = (mf.simulate(cable, duration=duration) for cable in cables)
        tip, *tips = (run.motion_of(run.last_link)[0] for run in (full, *others))
        rates = (others[1].theta_dot - full.theta_dot)[:, full.theta_dot.any(axis=0)]  # pins about x rest
        shaking = np.abs(np.diff(rates, axis=1)).mean() / (2.0 * np.abs(rates).mean())
        figures = (f"{1e3 * np.sqrt(((own - tip) ** 2).sum(axis=1).mean()):.2f}" for own in tips)
        rows.append([f"{damping:g}", *figures, f"{100 * shaking:.0f} %"])
    return head, rows


def pegs(quick: bool) -> tuple[list[str], Rows]:
    """The pegs, 200/40, by interval and patience: rms after the first contact, contacts beside full."""
    scene = mf.load_scene(SCENES / "pegs.toml", {"stepping.duration": 0.02} if quick else None)
    assert scene.adaptive is not None
    intervals, kept = ((4,), (1, 4)) if quick else ((1, 2, 3, 4, 5, 6, 8, 10, 15), (1, 2, 3, 4, 5, 6, 8))
    scene, options = replace(scene, output=Output()), scene.adaptive
    full, rows = mf.simulate(replace(scene, adaptive=None)), []
    for interval in intervals:
        row = [str(interval)]
        for patience in kept:
            asked = options.with_options(interval=interval, patience=patience)
            run = mf.simulate(replace(scene, adaptive=asked))
            off, more = _distance(run, full), 100.0 * (run.n_contacts.mean() / full.n_contacts.mean() - 1.0)
            met = "both" if off <= NEAR and abs(more) <= ALIKE else ""
            row.append(f"{off:.3f} {more:+.0f} % {met}".strip())
        rows.append(row)
    return ["interval", *(f"patience {p} (≤ {NEAR} m, {ALIKE:g} %)" for p in kept)], rows


def branches(quick: bool) -> tuple[list[str], Rows]:
    """The net, 360 dofs in nine strands, by active joints and damping: rms after the first contact."""
    scene = mf.load_scene(SCENES / "net.toml", {"stepping.duration": 0.4} if quick else None)
    assert scene.adaptive is not None
    stepping, sizes = scene.stepping.with_options(on_failure="auto"), (80,) if quick else (80, 160, 240)
    scene, options = replace(scene, stepping=stepping), scene.adaptive
    rows = []
    for damping in (0.0,) if quick else (0.0, 1e-4, 1e-3):
        links = [replace(link, damping=damping) for link in scene.model.links]
        net = replace(scene, model=mf.Model(links, geometry=scene.model.geometry, name="net"))
        full = mf.simulate(replace(net, adaptive=None))
        finer = replace(net, adaptive=None, stepping=stepping.with_options(dt=stepping.dt / 2))
        every = Output(every=2 * scene.output.every)
        others = [mf.simulate(replace(finer, output=every))]
        others += [mf.simulate(replace(net, adaptive=options.with_options(active=d))) for d in sizes]
        rows.append([f"{damping:g}", *(f"{_distance(run, full):.3f}" for run in others)])
    return ["damping, N m s", "full, half dt, m", *(f"{d} active, m" for d in sizes)], rows


def _distance(run: mf.Trajectory, full: mf.Trajectory) -> float:
    """Return the rms of the way from links of one run to those of the other after the first contact, m."""
    kept = np.intersect1d(run.time, full.time)
    places = [one.link_poses(np.searchsorted(one.time, kept))[1] for one in (run, full)]
    hit = full.time[int(np.argmax(full.n_contacts > 0))]
    off = np.linalg.norm(places[0] - places[1], axis=2)[kept >= hit]
    return float(np.sqrt((off**2).mean()))


@dataclass(frozen=True)
class Told:
    """A run, processor times of its steps and of those without solves in every round, us, mean contacts."""

    run: mf.Trajectory
    times: Any
    contacts: float

    @staticmethod
    def of(scenes: Sequence[mf.Scene], repeats: int) -> list[Told]:
        """Run scenes for time, in turns, then certified; every step recorded where that is not much."""
        readings = np.array([[_reading(scene) for scene in scenes] for _ in range(repeats)])
        runs = [mf.simulate(scene, certify="all") for scene in scenes]
        return [Told(run, readings[:, i, :2], readings[0, i, 2]) for i, run in enumerate(runs)]

    def beside(self, full: Told, published: str) -> list[str]:
        """Return time, contacts and error of a run beside the full one."""
        least, faster = self.times.min(axis=0), np.median(full.times / self.times, axis=0)
        return [
            f"{least[0]:.0f}",
            f"{least[0] - least[1]:.0f}",
            f"{faster[0]:.2f}",
            f"{faster[1]:.2f}",
            published,
            "" if np.isnan(self.contacts) else f"{self.contacts:.2f}",
            f"{_distance(self.run, full.run):.3f}",
            f"{self.run.rigid_loss.sum():.3g}",
            f"{np.nanmax(self.run.certificate):.0e}",
        ]


def _reading(scene: mf.Scene) -> tuple[float, float, float]:
    """Return processor times of a step, and without solves, us, and the mean contacts of a run."""
    every = 1 if scene.model.n_dofs < MANY else scene.output.every
    stepping = scene.stepping.with_options(certify="none")
    plain = replace(scene, stepping=stepping, output=Output(every=every))
    count, engine, state = round(stepping.duration / stepping.dt), Engine(plain), plain.initial_state()
    clock, begin = perf_counter(), process_time()
    block = engine.advance(state, 0, count)
    spent, passed = 1e6 * (process_time() - begin) / count, perf_counter() - clock
    contacts = float(block.n_contacts.mean()) if every == 1 else np.nan
    return spent, spent * (1.0 - float(block.solve_seconds.sum()) / passed), contacts


def scenes(quick: bool) -> tuple[list[str], Rows]:
    """The scenes, full and adaptive, by what new contacts do [G06, figures 4 to 6]."""
    head = ["scene", "n/d", "at contacts", "us per step", "of it solves", "times faster", "without solves"]
    head += ["published", "contacts", "rms after the first contact, m", "loss, J", "worst certificate"]
    rows = []
    for name in ("pegs",) if quick else ("pegs", "holes", "bridge", "net", "cable"):
        few = quick or name == "cable"
        short = {"stepping.duration": 0.02 if quick else SHORT} if few else None
        scene = mf.load_scene(SCENES / f"{name}.toml", short)
        scene = replace(scene, stepping=scene.stepping.with_options(on_failure="auto"))
        assert scene.adaptive is not None
        policies = ("twice",) if few else ("none", "event", "twice")
        asked = (scene.adaptive.with_options(at_contacts=policy) for policy in policies)
        all_ways = [replace(scene, adaptive=one) for one in (None, *asked)]
        told = Told.of(all_ways, 1 if few else REPEATS)
        dofs, published = f"{scene.model.n_dofs}/{scene.adaptive.active}", PUBLISHED.get(name, "")
        for policy, one in zip(("full", *policies), told, strict=True):
            rows.append([name, dofs, policy, *one.beside(told[0], published)])
    return head, rows


def problems(quick: bool) -> tuple[list[str], Rows]:
    """Contact problems of the same states, full and hybrid, solved from nothing by lemke."""
    head = ["scene", "states", "rows", "rank, full", "hybrid", "pivots, full", "hybrid"]
    rows = []
    for name in ("pegs",) if quick else ("pegs", "bridge"):
        scene = mf.load_scene(SCENES / f"{name}.toml", {"stepping.duration": 0.4} if quick else None)
        run = mf.simulate(scene, certify="none", on_failure="auto")
        found = [one for k in range(0, len(run), EACH) if (one := _at(scene, run, k)) is not None]
        rows.append([name, str(len(found)), *(f"{mean:.1f}" for mean in np.mean(found, axis=0))])
    return head, rows


def _at(scene: mf.Scene, run: mf.Trajectory, k: int) -> list[float] | None:
    """Return rows, and ranks and pivots, full and hybrid, of the problem at a row of a run; None for few."""
    state, clusters = run.state(k), run.clusters_at(k)
    contacts = list(scene.detector().contacts(state, TOUCHING))
    if len(contacts) < FEW:
        return None
    hybrid = state.hybrid(np.diff(clusters, prepend=-1) != 0)
    ranks, pivots, n = [], [], 0
    for one in (state, hybrid):
        problem, _ = scene.stepping.formulation.build(mf.ContactStep(one, contacts, scene.stepping.dt))
        M, n = np.asarray(problem.M), problem.n
        ranks.append(float(np.linalg.matrix_rank(M, RANK * np.abs(M).max())))
        pivots.append(float(mf.solve(problem, "lemke").iterations))
    return [float(n), *ranks, *pivots]
