"""Adaptive bodies: what steps, choices and collisions cost, and how far runs are from full ones [G06].

    python examples/benchmarks/adaptive.py [--quick] [--only PART] [--page FILE]

Cables of n links with d active joints, one thread; times are the least of many readings.

    steps      kinematics and free acceleration of a hybrid body, by n and d
    choices    choosing by an O(n) sweep and writing the clusters, in full sweeps
    runs       swinging cables in the compiled loop, a choice every 15 steps, beside the same with all joints
    contacts   what a step with one contact adds, by active joints (n = 300) [G06, figure 7]
    accuracy   300 links of 2 cm that swing for 2 s beside the full run, by active joints and interval
    scenes     the scenes of examples/scenes/adaptive beside full runs [G06, figures 4 to 6]

Targets stand beside the figures. Writes out/bench/adaptive.json.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from study import opening, parser, save_figures

import mcpframe as mf
from mcpframe.jit.memory import aligned_copy
from mcpframe.multibody.adaptive import entries as adaptive
from mcpframe.multibody.adaptive import records as at
from mcpframe.multibody.adaptive.packing import Measure, pack_whole, pinned_links
from mcpframe.multibody.kernels import entries
from mcpframe.multibody.memory import records as rec
from mcpframe.scene.settings import Output
from mcpframe.simulation.engine import Engine

SIZES = (200, 40), (300, 60), (500, 70), (5000, 70)
SCENES = Path(__file__).parents[1] / "scenes/adaptive"
PUBLISHED = {"pegs": 5, "holes": 5, "bridge": 8}
FASTER = {(200, 40): 2.4, (300, 60): 2.8, (500, 70): 3.7, (5000, 70): 19.0}
INTERVAL = 15
Rows = list[list[str]]


def least(call: Callable[[], Any], seconds: float) -> float:
    """Return the least time of a call, in microseconds."""
    best, end = np.inf, perf_counter() + seconds
    while perf_counter() < end:
        begin = perf_counter()
        for _ in range(5):
            call()
        best = min(best, (perf_counter() - begin) / 5)
    return 1e6 * best


class Body:
    """A cable and its clusters, d of its joints active, evenly spread."""

    def __init__(self, n: int, d: int) -> None:
        rng = np.random.default_rng(0)
        model = mf.systems.cable(links=n, length=max(6.0, n / 50))
        theta = 1.2 * rng.standard_normal(n) / np.sqrt(n)
        self.state = model.state(theta, rng.standard_normal(n))
        self.rates = np.array(self.state.theta_dot)
        pinned = pinned_links(model, np.zeros(n, dtype=bool))
        self.IA, self.XA = pack_whole(model, pinned, Measure(d, rate=1.0, span=0.01))
        at.MEMORY.part(self.IA, self.XA, at.ACTIVE)[:] = 0
        at.MEMORY.part(self.IA, self.XA, at.ACTIVE)[np.linspace(0, n - 1, d).astype(int)] = 1
        self.IT, self.XT = self.state.I, self.state.X
        self.I, self.X = self.IT.copy(), aligned_copy(self.XT)
        adaptive.cluster(self.IT, self.XT, self.IA, self.XA, self.I, self.X)

    def choose(self) -> None:
        """Choose, and make the others rigid; all joints move before."""
        rec.MEMORY.part(self.IT, self.XT, rec.THETA_DOT)[:] = self.rates
        adaptive.choose(self.IT, self.XT, self.IA, self.XA)
        adaptive.rigidify(self.IT, self.XT, self.IA, self.XA, self.I, self.X)


def steps(quick: bool) -> tuple[list[str], Rows]:
    """Kinematics and free acceleration."""
    head, rows = ["n", "full us", "d", "us", "ns per cluster (<= 50)"], []
    for n, _ in SIZES[:2] if quick else SIZES:
        for d in (40, 70) if quick else (10, 40, 70, 150):
            body = Body(n, d)
            full = least(lambda b=body: entries.free_dynamics(b.IT, b.XT, 0), 0.1)
            hybrid = least(lambda b=body: entries.free_dynamics(b.I, b.X, 0), 0.1)
            rows.append([str(n), f"{full:.1f}", str(d), f"{hybrid:.2f}", f"{1e3 * hybrid / d:.0f}"])
    return head, rows


def choices(quick: bool) -> tuple[list[str], Rows]:
    """A whole choice."""
    head, rows = ["n", "d", "full sweep us", "choice us", "in full sweeps (<= 2.3 up to 500)"], []
    for n, d in SIZES[:1] if quick else SIZES:
        body = Body(n, d)
        full = least(lambda b=body: entries.free_dynamics(b.IT, b.XT, 0), 0.2)
        chosen = least(body.choose, 0.3)
        rows.append([str(n), str(d), f"{full:.1f}", f"{chosen:.1f}", f"{chosen / full:.1f}"])
    return head, rows


def swinging(n: int, asked: mf.Adaptive | None, dt: float = 2.5e-4, length: float | None = None) -> mf.Scene:
    """A cable that is let go at 1.2 rad, straight."""
    return mf.Scene(
        mf.systems.cable(links=n, length=max(6.0, n / 50) if length is None else length),
        theta={"link_1": 1.2},
        ignore=[("link_*", "link_*")],
        adaptive=asked,
        stepping=mf.Stepping(dt=dt, certify="none"),
        output=Output(every=100000),
    )


def step_time(scene: mf.Scene, count: int, repeats: int) -> float:
    """Return the least mean time of a step over some blocks of steps, in microseconds."""
    engine, state, best = Engine(scene), scene.initial_state(), np.inf
    engine.advance(state, 0, INTERVAL)
    for k in range(repeats):
        begin = perf_counter()
        engine.advance(state, INTERVAL + k * count, count)
        best = min(best, (perf_counter() - begin) / count)
    return 1e6 * best


def runs(quick: bool) -> tuple[list[str], Rows]:
    """Whole steps of swinging cables."""
    head, rows = ["n", "d", "full us", "adaptive us", "times faster", "target", "n/d"], []
    for n, d in SIZES[:1] if quick else SIZES:
        count = INTERVAL * max(2, 6000 // (INTERVAL * (n // 20)))
        times = [
            step_time(swinging(n, asked), count, 6)
            for asked in (None, mf.Adaptive(active=d, interval=INTERVAL))
        ]
        ratio = times[0] / times[1]
        rows.append(
            [
                *map(str, (n, d)),
                *(f"{t:.1f}" for t in times),
                f"{ratio:.1f}",
                str(FASTER[n, d]),
                f"{n / d:.1f}",
            ]
        )
    return head, rows


def contacts(quick: bool) -> tuple[list[str], Rows]:
    """A collision: kinematics, sweep and the compliance of one contact at the tip of a hybrid body."""
    n, head, rows = (
        300,
        ["active joints", "us per collision", "ns per active joint (<= 70)", "R² of a line"],
        [],
    )
    sizes, times = (20, 60) if quick else (20, 40, 60, 100, 150, 200, 299), []
    for d in sizes:
        body = Body(n, d)
        state = body.state.hybrid(at.MEMORY.part(body.IA, body.XA, at.ACTIVE) != 0)
        IR, XR, _, _ = state._space([mf.Node("link_300")])
        call = (state.I, state.X, IR, XR, 0)
        times.append(least(lambda c=call: entries.node_compliance(*c), 0.3))
        fit = np.corrcoef(sizes[: len(times)], times)[0, 1] ** 2 if len(times) > 2 else np.nan
        rows.append([str(d), f"{times[-1]:.2f}", f"{1e3 * times[-1] / d:.0f}", f"{fit:.4f}"])
    return head, rows


def accuracy(quick: bool) -> tuple[list[str], Rows]:
    """The tip of a swinging cable beside that of the full run."""
    n, duration = (60, 0.5) if quick else (300, 2.0)
    head, rows = ["active", "interval", "rms of the tip, mm", "largest, mm", "loss, J", "target, mm"], []

    def tip(asked: mf.Adaptive | None) -> tuple[Any, mf.Trajectory]:
        scene = replace(swinging(n, asked, length=6.0), output=Output(every=40))
        run = mf.simulate(scene, duration=duration)
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


def scenes(quick: bool) -> tuple[list[str], Rows]:
    """The scenes, adaptive and full."""
    head = ["scene", "n/d", "policy", "us per step", "of it solves", "times faster", "without solves"]
    head += ["published", "contacts", "rms after the first contact, m", "loss, J"]
    rows = []
    for name in ("pegs",) if quick else ("pegs", "holes", "bridge", "net"):
        scene = mf.load_scene(SCENES / f"{name}.toml", {"stepping.duration": 0.05} if quick else None)
        assert scene.adaptive is not None
        policies = ["full", "twice"] if quick else ["full", "none", "event", "twice"]
        full: mf.Trajectory | None = None
        for policy in policies:
            asked = None if policy == "full" else scene.adaptive.with_options(at_contacts=policy)
            try:
                run = mf.simulate(replace(scene, adaptive=asked), certify="none", on_failure="auto")
            except mf.McpframeError as error:
                rows.append([name, "", policy, *[""] * 7, str(error)[:60]])
                continue
            full = full or run
            rows.append(
                [name, f"{scene.model.n_links}/{scene.adaptive.active}", policy, *_beside(run, full, name)]
            )
    return head, rows


def _beside(run: mf.Trajectory, full: mf.Trajectory, name: str) -> list[str]:
    """Return time, contacts and error of a run beside the full one."""

    def times(t: mf.Trajectory) -> tuple[float, float]:
        count = round(t.time[-1] / t.header.options["dt"])
        rows = np.diff(t.time, prepend=t.time[0]) / t.header.options["dt"]
        return 1e6 * float((t.step_seconds * rows).sum()) / count, 1e6 * float(t.solve_seconds.sum()) / count

    (own, solve), (whole, full_solve) = times(run), times(full)
    kept = np.intersect1d(run.time, full.time)
    places = [t.link_poses(np.searchsorted(t.time, kept))[1] for t in (run, full)]
    hit = full.time[int(np.argmax(full.n_contacts > 0))]
    off = np.linalg.norm(places[0] - places[1], axis=2)[kept >= hit]
    return [
        f"{own:.0f}",
        f"{solve:.0f}",
        f"{whole / own:.2f}",
        f"{(whole - full_solve) / (own - solve):.2f}",
        str(PUBLISHED.get(name, "")),
        f"{run.n_contacts.mean():.1f}",
        f"{np.sqrt((off**2).mean()):.3f}",
        f"{run.rigid_loss.sum():.3g}",
    ]


PARTS = {part.__name__: part for part in (steps, choices, runs, contacts, accuracy, scenes)}


def show(console: Console, title: str, head: Sequence[str], rows: Rows) -> None:
    """Print a table."""
    table = Table(*head, title=title)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = parser(__doc__)
    options.add_argument("--only", choices=PARTS, help="one part")
    chosen = options.parse_args(arguments)
    console, facts = opening("adaptive bodies", page=chosen.page)
    warnings.simplefilter("ignore")  # runs that are not resolved say so in every scene
    tables = {}
    for name, part in PARTS.items():
        if chosen.only in (None, name):
            head, rows = part(chosen.quick)
            title = (part.__doc__ or name).rstrip(".")
            show(console, title, head, rows)
            tables[name] = {"title": title, "head": head, "rows": rows}
    save_figures(console, Path(chosen.out), "adaptive", facts, **tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
