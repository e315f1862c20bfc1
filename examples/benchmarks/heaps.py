"""Heaps: boxes dropped on each other, and spheres that fall into a box, beside MuJoCo.

    python examples/benchmarks/heaps.py [--quick] [--boxes 20,50,200] [--spheres 100] [--seconds 1.5]
    python examples/benchmarks/heaps.py --boxes "" --settling 1000

Both engines have the same bodies at the same start, steps of 1 ms and friction of 0.5; ours stops at every
impact, but for spheres that settle: their steps are of one length, and they have time to settle. Every other
heap is run twice: as scenes are by default, and with larger overlaps and tolerances (COARSE). Processor time
of a step is the mean of the whole run, so many simulated seconds of it, in parts: the fall, the impact of the
heap, its rest. Overlap is the largest after any step. What is not solved is counted, and a run that stops
says why. Each run is a process of its own, whose limit makes the clock of the process a coarse one: that of
its only thread is read. Writes out/bench/heaps.json and, with --page, the table to that page.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import warnings
from collections.abc import Sequence
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np
from measuring.apart import ERROR, call
from reporting.study import numbers, opening, parser, save_figures
from rich.table import Table
from subjects.mjcf_text import Setting, mjcf_text

import mcpframe as mf
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.recording.energy_audit import EnergyWarning
from mcpframe.simulation.simulate import RunStoppedError
from mcpframe.systems.bodies import FLOOR, box_inertia

BOXES, SECONDS = "20,50,200", 1.5
QUICK_BOXES, QUICK_SECONDS = "4", 0.2
EDGE, RADIUS, MU, DENSITY = 0.2, 0.05, 0.5, 1000.0
"""Mean edge of boxes and radius of spheres, m; friction; kg/m³."""
SPACE = 2.0
"""Distance of boxes where they start, in edges."""
PARTS = 5
DT, SETTLED = 1e-3, 1.5
"""Length of a step, and seconds after which spheres have settled."""
COARSE = {"tol": 1e-5, "penetration_tolerance": 2e-5}
"""Overlaps of less than a thousandth of MuJoCo's, some hundredths of a metre here, and forces that are
coarser than that asks for: m/s and m."""
SETTLING = {"scheme": "time_stepping", "tol": COARSE["tol"]}
LIMIT, PEER_SECONDS = 7200.0, 600.0
"""Seconds of processor time after which a run is killed; and after which MuJoCo makes no more steps."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 1 where a run of ours has stopped."""
    made = parser(__doc__, SECONDS)
    made.add_argument("--boxes", default=BOXES, help="how many, a heap for each number")
    made.add_argument("--spheres", default="", help="the same for spheres that fall into a box")
    made.add_argument("--settling", default="", help="the same by fixed steps, until they have come to rest")
    made.add_argument("--friction", default="polygon", choices=("polygon", "cone"))
    made.add_argument("--sleep", type=float, help="seconds of rest after which islands of ours sleep")
    options = made.parse_args(arguments)
    if options.quick:
        options.boxes, options.seconds = QUICK_BOXES, QUICK_SECONDS
    console, facts = opening("Heaps", ["mujoco"], page=options.page)
    ways = {"friction": options.friction, "sleep_after": options.sleep}
    figures: list[dict[str, Any]] = []
    heaps = [("boxes", n) for n in numbers(options.boxes)]
    for kind, n in [*heaps, *(("spheres", n) for n in numbers(options.spheres))]:
        figures += beside(kind, n, options.seconds, {"": ways, "coarse": ways | COARSE})
    for n in numbers(options.settling):
        figures += beside("spheres", n, SETTLED, {"fixed steps": ways | SETTLING})
    console.print(table(figures))
    save_figures(console, Path(options.out), "heaps", facts, **ways, runs=figures)
    return int(any(ERROR in row["ours"] or row["ours"]["stopped"] for row in figures))


def beside(kind: str, n: int, duration: float, ways: dict[str, Any]) -> list[dict[str, Any]]:
    """Return figures of a heap, a row for every way of ours, beside those of MuJoCo."""
    asked = {"kind": kind, "n": n, "duration": duration}
    other = call("heaps:peer", LIMIT, **asked)
    rows = []
    for name, stepping in ways.items():
        own = call("heaps:ours", LIMIT, **stepping, **asked)
        rows.append({"kind": kind, "n": n, "way": name, "ours": own, "peer": other})
    return rows


def heap(kind: str, n: int, **stepping: Any) -> mf.Scene:
    """Return n bodies in layers above the floor, or above a box without a lid, at random sizes and turns."""
    rng = np.random.default_rng(n)
    side = int(np.ceil(n ** (1 / 3)))
    links, poses = [], []
    for k in range(n):
        middle = 0.5 * (side - 1)
        cell = np.array([k % side - middle, k // side % side - middle, k // side**2 + 0.6])
        turn = rng.normal(size=4)
        if kind == "boxes":
            size = EDGE * rng.uniform(0.7, 1.3, 3)
            mass, place = DENSITY * size.prod(), SPACE * EDGE * cell + rng.uniform(-0.02, 0.02, 3)
            inertia, shape = box_inertia(mass, size), mf.shapes.Box(size)
        else:
            radius = RADIUS * rng.uniform(0.9, 1.0)
            mass, place = DENSITY * 4.0 / 3.0 * np.pi * radius**3, 2.1 * RADIUS * cell
            place[:2] += rng.uniform(-0.002, 0.002, 2)
            inertia, shape = 0.4 * mass * radius**2 * np.eye(3), mf.shapes.Sphere(radius)
        links.append(
            mf.Link(f"{kind}_{k}", mass=float(mass), inertia=inertia, geometry=mf.shapes.Geometry(shape))
        )
        poses.append(np.concatenate([place, turn / np.linalg.norm(turn)]))
    room = (FLOOR,) if kind == "boxes" else (FLOOR, *walls(1.1 * RADIUS * (side + 0.5)))
    return mf.Scene(
        mf.Model(links, geometry=room, name=f"{n} {kind}"),
        np.concatenate(poses),
        materials=mf.Material(mu=MU),
        stepping=Stepping(dt=DT, on_failure="best", **stepping),
    )


def walls(half: float) -> list[mf.shapes.Geometry]:
    """Return half-spaces at x and y = ± half, their normals inwards."""
    made = []
    for k in range(4):
        angle = 0.5 * np.pi * k
        inwards = np.array([np.cos(angle), np.sin(angle), 0.0])
        turn = mf.Pose.from_rpy(-half * inwards, (0.0, 0.5 * np.pi, angle))
        made.append(mf.shapes.Geometry(mf.shapes.Plane(), turn, name=f"wall_{k}"))
    return made


def ours(kind: str, n: int, duration: float, **stepping: Any) -> dict[str, Any]:
    """Run a heap; return processor time of a step by parts, s, overlap, contacts, and what was not solved."""
    scene = heap(kind, n, **stepping)
    steps, stopped = round(duration / DT), ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EnergyWarning)
        mf.simulate(scene, duration=3 * DT)  # loads and compiles
        clock = thread_time()
        try:
            run = mf.simulate(scene, duration=duration)
        except RunStoppedError as error:
            run, stopped = error.trajectory, str(error)
    taken, spent = len(run) - 1, thread_time() - clock
    share = run.step_seconds[1:] / run.step_seconds[1:].sum()  # wall time says how it is spread
    times = [spent * part.sum() / part.size for part in np.array_split(share, PARTS)]
    return {
        "step": spent / taken, "parts": times, "steps": taken, "asked": steps, "stopped": stopped,
        "contacts": int(run.n_contacts[-1]), "overlap": float(run.penetration.max()),
        "failed": len(run.failed), "fastest": float(np.abs(run.theta_dot[-1].reshape(n, 6)[:, :3]).max()),
        "impacts": int(run.n_impacts.sum()), "certificate": float(np.nanmax(run.certificate)),
        "asleep": int(run.asleep[-1]),
    }  # fmt: skip


def peer(kind: str, n: int, duration: float, seconds: float = PEER_SECONDS) -> dict[str, Any]:
    """Run the same in MuJoCo, or as much of it as fits into so many seconds of processor time."""
    import mujoco

    scene = heap(kind, n)
    text = mjcf_text(scene.model, Setting(theta=scene.theta, mu=MU))
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    asked, times, overlap = round(duration / DT), [], 0.0
    while len(times) < asked and sum(times) < seconds:
        clock = thread_time()
        mujoco.mj_step(model, data)
        times.append(thread_time() - clock)
        overlap = max(overlap, -float(data.contact.dist[: data.ncon].min(initial=0.0)))
    parts = [float(part.mean()) for part in np.array_split(times, PARTS)]
    counts = {"steps": len(times), "asked": asked, "contacts": int(data.ncon)}
    return {"step": float(np.mean(times)), "parts": parts, "overlap": overlap, **counts}


def table(rows: Sequence[dict[str, Any]]) -> Table:
    """Return a row per heap."""
    shown = Table(title="time of a step, ms of one processor", title_justify="left")
    shown.add_column("heap")
    heads = "mcpframe", "MuJoCo", "ratio", "overlap, m", "MuJoCo's, m", "contacts", "impacts", "certificate"
    for head in (*heads, "speed at the end, m/s", "not solved"):
        shown.add_column(head, justify="right")
    for row in rows:
        own, other, name = row["ours"], row["peer"], f"{row['n']} {row['kind']}"
        name += f", {row['way']}" if row["way"] else ""
        if ERROR in own or ERROR in other:
            shown.add_row(name, str(own.get(ERROR, "")), str(other.get(ERROR, "")))
            continue
        cells = f"{1e3 * own['step']:.3g}", f"{1e3 * other['step']:.3g}", f"{own['step'] / other['step']:.1f}"
        depths = f"{own['overlap']:.1e}", f"{other['overlap']:.1e}"
        unsolved = f"{own['failed']} of {own['steps']}" + (", stopped" if own["stopped"] else "")
        counts = str(own["contacts"]), str(own["impacts"]), f"{own['certificate']:.0e}"
        if other["steps"] < other["asked"]:
            name += f"; MuJoCo the first {other['steps']} steps"
        shown.add_row(name, *cells, *depths, *counts, f"{own['fastest']:.2g}", unsolved)
    return shown


if __name__ == "__main__":
    raise SystemExit(main())
