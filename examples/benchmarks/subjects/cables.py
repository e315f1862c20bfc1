"""Cables for the benchmark of adaptive bodies: hybrid bodies as arrays, swinging cables, cables on bars."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np

import mcpframe as mf
from mcpframe.jit.memory import aligned_copy
from mcpframe.multibody.adaptive import entries as adaptive
from mcpframe.multibody.adaptive.packing import Measure, pack_whole, pinned_links, take_active
from mcpframe.multibody.kernels import entries
from mcpframe.multibody.memory import records as rec
from mcpframe.multibody.model.shapes import Capsule, Geometry
from mcpframe.scene.settings import Output
from mcpframe.simulation.engine import Engine

INTERVAL = 15
DT = 2.5e-4
BAR = 0.01
"""Radius of the bars below a cable, m."""
SELDOM = Output(every=100000)


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
        model = mf.systems.cable(links=n, length=length_of(n))
        theta = 1.2 * rng.standard_normal(n) / np.sqrt(n)
        self.state = model.state(theta, rng.standard_normal(n))
        pinned = pinned_links(model, np.zeros(n, dtype=bool))
        self.IA, self.XA = pack_whole(model, pinned, Measure(d, rate=1.0, span=INTERVAL * DT))
        self.active = np.isin(np.arange(n), np.linspace(0, n - 1, d).astype(int))
        take_active(self.IA, self.XA, self.active)
        self.IT, self.XT = self.state.I, self.state.X
        self.I, self.X = self.IT.copy(), aligned_copy(self.XT)
        adaptive.cluster(self.IT, self.XT, self.IA, self.XA, self.I, self.X)


class Swing(Body):
    """A cable that begins to swing, its active joints chosen every so many steps; semi-implicit Euler."""

    def __init__(self, n: int, d: int) -> None:
        super().__init__(n, d)
        take_active(self.IA, self.XA, np.ones(n, dtype=bool))
        rec.MEMORY.part(self.IT, self.XT, rec.THETA)[0] += 1.2
        rec.MEMORY.part(self.IT, self.XT, rec.THETA_DOT)[:] = 0.0
        rec.MEMORY.part(self.IT, self.XT, rec.TAU)[:] = 0.0
        adaptive.write_pieces(self.IT, self.XT, self.IA, self.XA)

    def choose(self) -> float:
        """Choose and make the others rigid; return how long that took, in microseconds."""
        whole = self.IT, self.XT, self.IA, self.XA
        begin = perf_counter()
        adaptive.begin_choice(*whole)
        adaptive.choose(*whole)
        adaptive.rigidify(*whole, self.I, self.X)
        return 1e6 * (perf_counter() - begin)

    def step(self) -> None:
        """Move the clusters from one choice to the next, and the whole with them."""
        n = int(self.I[rec.N_DOFS])
        theta, rates, change = (
            self.X[self.I[part] :][:n] for part in (rec.THETA, rec.THETA_DOT, rec.THETA_DDOT)
        )
        for _ in range(INTERVAL):
            entries.free_dynamics(self.I, self.X, 0)
            rates += DT * change
            theta += DT * rates
        adaptive.gather(self.I, self.X, self.IA, self.IT, self.XT)


def length_of(n: int) -> float:
    """Return the length of a cable of n links, m: two centimetres each, six metres at least."""
    return max(6.0, n / 50)


def swinging(n: int, asked: mf.Adaptive | None, length: float | None = None) -> mf.Scene:
    """A cable that is let go at 1.2 rad, straight."""
    return mf.Scene(
        mf.systems.cable(links=n, length=length_of(n) if length is None else length),
        theta={"link_1": 1.2},
        ignore=[("link_*", "link_*")],
        adaptive=asked,
        stepping=mf.Stepping(dt=DT, certify="none"),
        output=SELDOM,
    )


def on_bars(n: int, asked: mf.Adaptive | None, bars: int = 8) -> mf.Scene:
    """A cable that lies level across some bars, one contact each, and sags between them."""
    length = length_of(n)
    cable = mf.systems.cable(links=n, length=length, damping=1e-3)
    radius = cable.links[0].geometry[0].shape.radius
    middles = (np.round(n * (np.arange(bars) + 0.5) / bars) + 0.5) * length / n
    below = [
        Geometry(Capsule(BAR, 1.0), mf.Pose.from_rpy((-x, 0.0, -radius - BAR), (np.pi / 2, 0.0, 0.0)), "bar")
        for x in middles
    ]
    return mf.Scene(
        mf.Model(cable.links, geometry=below, name="cable on bars"),
        theta={"link_1": np.pi / 2},
        ignore=[("link_*", "link_*")],
        materials=mf.Material(mu=0.3),
        adaptive=asked,
        stepping=mf.Stepping(dt=DT, certify="none", scheme="time_stepping"),
        output=SELDOM,
    )


def step_times(scene: mf.Scene, count: int, repeats: int) -> tuple[float, float, float]:
    """Return the least mean processor time of a step over some blocks, in microseconds, and mean contacts.

    First without the solves of contact problems, then with them.
    """
    engine, state = Engine(scene), scene.initial_state()
    engine.advance(state, 0, INTERVAL)
    whole, solving, contacts = np.inf, np.inf, []
    for k in range(repeats):
        begin = process_time()
        rows = engine.advance(state, INTERVAL + k * count, count)
        whole = min(whole, process_time() - begin)
        solving = min(solving, float(rows.solve_seconds.sum()))
        contacts.append(rows.n_contacts[-1])
    return 1e6 * (whole - solving) / count, 1e6 * whole / count, float(np.mean(contacts))
