"""Cables for the benchmark of adaptive bodies: hybrid bodies as arrays, swinging cables, cables on bars.

What the compiled loop calls is timed from compiled code, as there: by address, without Python in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numba import types

import mcpframe as mf
from mcpframe.jit import Indices, IndicesOut, VectorOut, address, by_address, kernel
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

call_dynamics, call_compliance = by_address(entries.free_dynamics), by_address(entries.node_compliance)
call_begin, call_choose = by_address(adaptive.begin_choice), by_address(adaptive.choose)
call_rigidify = by_address(adaptive.rigidify)


@kernel(types.intp, Indices, VectorOut, types.int64)
def sweep_again(A, I, X, count):  # type: ignore[no-untyped-def]
    """Find the free acceleration some times, kinematics first."""
    for _ in range(count):
        call_dynamics(A, (I, X, 0))


@kernel(types.intp, Indices, VectorOut, IndicesOut, VectorOut, types.int64)
def collide_again(A, I, X, IR, XR, count):  # type: ignore[no-untyped-def]
    """Find the compliance of nodes some times, kinematics and sweep first."""
    for _ in range(count):
        call_compliance(A, (I, X, IR, XR, 0))


@kernel(Indices, Indices, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut)
def choose_once(A, IT, XT, IA, XA, I, X):  # type: ignore[no-untyped-def]
    """Choose, stop the others, write the clusters."""
    call_begin(A[0], (IT, XT, IA, XA))
    call_choose(A[1], (IT, XT, IA, XA))
    call_rigidify(A[2], (IT, XT, IA, XA, I, X))


def sweep(I: Any, X: Any, count: int) -> None:
    """Take so many sweeps of a body: kinematics and free acceleration."""
    sweep_again(_dynamics(), I, X, count)


@cache
def _dynamics() -> int:
    """Return where the compiled sweep is; to look that up takes longer than the sweep."""
    return address(entries.free_dynamics)


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
        called = adaptive.begin_choice, adaptive.choose, adaptive.rigidify
        self._addresses = np.array([address(one) for one in called])

    def choose(self) -> float:
        """Choose and make the others rigid; return how long that took, in microseconds."""
        begin = perf_counter()
        choose_once(self._addresses, self.IT, self.XT, self.IA, self.XA, self.I, self.X)
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


def swinging(
    n: int, asked: mf.Adaptive | None, length: float | None = None, damping: float = 0.0
) -> mf.Scene:
    """A cable that is let go at 1.2 rad, straight."""
    return mf.Scene(
        mf.systems.cable(links=n, length=length_of(n) if length is None else length, damping=damping),
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


def step_times(scenes: Sequence[mf.Scene], count: int, blocks: int, repeats: int) -> Any:
    """Return processor times of steps without the solves of contact problems and with them, us, and contacts.

    Those of every block of so many steps, scenes in turns [repeat, block, scene, figure]. Solves by their
    share of the time that passed.
    """
    readings = np.empty((repeats, blocks, len(scenes), 3))
    for r in range(repeats):
        runs = [(Engine(scene), scene.initial_state()) for scene in scenes]
        for engine, state in runs:
            engine.advance(state, 0, INTERVAL)
        for k in range(blocks):
            for i, (engine, state) in enumerate(runs):
                clock, begin = perf_counter(), process_time()
                rows = engine.advance(state, INTERVAL + k * count, count)
                spent, passed = 1e6 * (process_time() - begin) / count, perf_counter() - clock
                solving = float(rows.solve_seconds.sum()) / passed
                readings[r, k, i] = spent * (1.0 - solving), spent, rows.n_contacts[-1]
    return readings
