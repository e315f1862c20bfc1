"""Long runs: what stops, gains energy, sinks in, grows or slows down only after a while.

    python examples/benchmarks/soak.py [--quick] [--seconds 20] [--boxes 2,5,10] [--only NAME]

Example scenes and boxes that are dropped in a heap, each for so many simulated seconds in steps as their
scenes have them, kept on disk. A run must not stop, no impact may add energy, memory stays as it is after the
first tenth, and the time of a step follows its contacts, not how long the run has lasted. Times are of the
processor, so that other work on the machine does not count. Writes out/bench/soak.json; --markdown writes the
table to soak.md too.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np
from measuring.run_facts import largest_overlap
from reporting.sheets import Sheet, show
from reporting.study import numbers, opening, parser, save_figures

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.simulation.recording.energy_audit import EnergyWarning, energy_gains
from mcpframe.simulation.recording.trajectory import FILE_NAME
from mcpframe.simulation.simulate import RunStoppedError
from mcpframe.systems.bodies import FLOOR, box_inertia

SCENES = Path(__file__).parents[1] / "scenes"
NAMED = "pendulum_j14", "box_stack", "quadruped"
SIMULATED = 20.0
"""Seconds of every run, unless told otherwise."""
QUICK = 0.3
BOXES = "2,5,10"
EDGE, MU, RESTITUTION = 0.2, 0.5, 0.3
"""Boxes: their mean edge, m, friction and restitution."""
LOOK = 0.05
"""Seconds between two looks at the process."""
EARLY, LATE, ENDS = (0.1, 0.3), (0.7, 0.9), ((0.0, 0.1), (0.9, 1.0))
"""Parts of a run, by the length of its file, between which memory may not grow; and those of the times."""


class Reading(NamedTuple):
    """A look at the process: its memory and its file, bytes; seconds of its processor and of the clock."""

    memory: int
    written: int
    worked: float
    passed: float


Readings = list[Reading]


@dataclass(frozen=True)
class Soaked:
    """What a long run was like.

    Attributes:
        steps: that were taken.
        seconds, contacts: of a step, means of the first and of the last tenth of the run; processor time.
        impacts: that were resolved.
        gain: most that an impact has added to the kinetic energy, J; rounding counts as none.
        rise: most that a step has added to the whole energy, J; motors may.
        overlap: largest after steps and at impacts, m.
        failed: steps without a certified answer.
        memory: by which the least that the process takes has grown from the early to the late part, MB.
        stopped: why, where it did not come to its end.
    """

    steps: int
    seconds: tuple[float, float]
    contacts: tuple[float, float]
    impacts: int
    gain: float
    rise: float
    overlap: float
    failed: int
    memory: float
    stopped: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return 1 where a run has stopped or an impact has added energy."""
    options = parse(arguments)
    console, facts = opening("Long runs", page=options.page)
    rows: dict[str, Soaked] = {}
    for name, make in subjects(numbers(options.boxes)).items():
        if options.only in name:
            rows[name] = soak(make(), options.seconds)
            told = zip(COLUMNS, [name, *cells(rows[name])], strict=True)
            line = ", ".join(f"{title} {cell}" for title, cell in told)
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    out = Path(options.out)
    show(console, [sheet(rows, options.seconds)], out / "soak.md" if options.markdown else None)
    save_figures(console, out, "soak", facts, runs={name: asdict(row) for name, row in rows.items()})
    return int(any(row.stopped or row.gain > 0.0 for row in rows.values()))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    line = parser(__doc__)
    line.add_argument("--seconds", type=float, default=SIMULATED, help="simulated time of every run")
    line.add_argument("--boxes", default=BOXES, help="how many boxes are dropped, a run for each number")
    line.add_argument("--only", default="", help="runs whose name has this in it")
    line.add_argument("--markdown", action="store_true", help="write the table as Markdown")
    options = line.parse_args(arguments)
    if options.quick:
        options.seconds, options.boxes = QUICK, "2"
    return options


def subjects(boxes: Sequence[int]) -> dict[str, Callable[[], mf.Scene]]:
    """Return the scenes, by name."""
    scenes = {name: lambda name=name: mf.load_scene(SCENES / f"{name}.toml") for name in NAMED}
    return scenes | {f"{n} dropped boxes": lambda n=n: dropped(n) for n in boxes}


def dropped(n: int) -> mf.Scene:
    """Return n boxes of several sizes above each other, turned at random, that fall in a heap."""
    rng = np.random.default_rng(n)
    links, poses, rates = [], [], []
    for k in range(n):
        size = EDGE * rng.uniform(0.7, 1.3, 3)
        mass = float(1000.0 * size.prod())
        shape = mf.shapes.Geometry(mf.shapes.Box(size))
        links.append(mf.Link(f"box_{k}", mass=mass, inertia=box_inertia(mass, size), geometry=shape))
        place = [*rng.uniform(-0.1, 0.1, 2), 0.3 + 2.0 * EDGE * k]
        turn = rng.normal(size=4)
        poses.append(np.concatenate([place, turn / np.linalg.norm(turn)]))
        rates.append(np.concatenate([np.zeros(3), rng.uniform(-3.0, 3.0, 3)]))
    model = mf.Model(links, geometry=(FLOOR,), name=f"{n} boxes")
    return mf.Scene(
        model,
        np.concatenate(poses),
        np.concatenate(rates),
        materials=mf.Material(mu=MU, restitution=RESTITUTION),
    )


def soak(scene: mf.Scene, seconds: float) -> Soaked:
    """Run a scene for so long, and return what it was like."""
    stopped = ""
    with warnings.catch_warnings(), TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", EnergyWarning)  # gains are in the row
        mf.simulate(scene, duration=3 * scene.stepping.dt)  # loads and compiles
        with watched(Path(folder, "run", FILE_NAME)) as readings:
            try:
                run = mf.simulate(scene, duration=seconds, out=Path(folder, "run"))
            except RunStoppedError as error:
                run, stopped = error.trajectory, str(error)
    tenths = ends(len(run))
    (first, last), shares = means(run.step_seconds, tenths), [worked(readings, *bounds) for bounds in ENDS]
    return Soaked(
        steps=len(run) - 1,
        seconds=(first * shares[0], last * shares[1]),
        contacts=means(run.n_contacts, tenths),
        impacts=len(run.impacts),
        gain=float(energy_gains(run.impacts).max(initial=0.0)),
        rise=float(np.diff(run.total_energy).max(initial=0.0)),
        overlap=largest_overlap(run),
        failed=len(run.failed),
        memory=growth(readings),
        stopped=stopped,
    )


def ends(n: int) -> tuple[slice, slice]:
    """Return the first and the last tenth of n steps, the row of the start left out."""
    tenth = max(n // 10, 1)
    return slice(1, 1 + tenth), slice(n - tenth, n)


def means(values: Array, parts: tuple[slice, slice]) -> tuple[float, float]:
    """Return the means of two parts; zero where there is nothing."""
    first, last = (float(values[part].mean()) if values[part].size else 0.0 for part in parts)
    return first, last


@contextmanager
def watched(file: Path) -> Iterator[Readings]:
    """Give a list that looks at this process and at a file are written to."""
    readings: Readings = []
    done = Event()

    def look() -> None:
        while not done.wait(LOOK):
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            written = file.stat().st_size if file.exists() else 0
            taken = pages * os.sysconf("SC_PAGE_SIZE")
            readings.append(Reading(taken, written, process_time(), perf_counter()))

    watcher = Thread(target=look, daemon=True)
    if Path("/proc/self/statm").exists():
        watcher.start()
    try:
        yield readings
    finally:
        done.set()
        if watcher.is_alive():
            watcher.join()


def part(readings: Readings, begin: float, end: float) -> Readings:
    """Return the readings of a part of a run, as its file tells: at its end all is read back."""
    whole = max((reading.written for reading in readings), default=0)
    return [reading for reading in readings if begin * whole <= reading.written <= end * whole]


def growth(readings: Readings) -> float:
    """Return by how much the least memory of the late part is above that of the early one, MB.

    What waits for the disk comes and goes, so that the least is what a run holds on to.
    """
    early, late = ([reading.memory for reading in part(readings, *bounds)] for bounds in (EARLY, LATE))
    return (min(late) - min(early)) / 1e6 if early and late else 0.0


def worked(readings: Readings, begin: float, end: float) -> float:
    """Return the share of its time in which a processor worked on a part of a run, one if that is short."""
    within = part(readings, begin, end)
    if len(within) < 2:
        return 1.0
    return (within[-1].worked - within[0].worked) / (within[-1].passed - within[0].passed)


COLUMNS = ["run", "steps", "µs/step", "contacts", "impacts", "gain, J", "rise, J", "overlap, m", "MB"]
COLUMNS += ["failed"]


def sheet(rows: Mapping[str, Soaked], seconds: float) -> Sheet:
    """Return the table of all runs."""
    note = "µs/step, of the processor, and contacts: first and last tenth. Gain: of an impact; rise: of the "
    note += "whole energy in a step, motors included. MB: growth of the least memory from 0.1 to 0.3 of the "
    note += "run to that from 0.7 to 0.9, in short ones with the buffers of its file, which fill up in some "
    note += "40,000 steps."
    return Sheet(f"Runs of {seconds:g} s", COLUMNS, [[name, *cells(row)] for name, row in rows.items()], note)


def cells(row: Soaked) -> list[str]:
    """Return the cells of a run; one that has stopped tells it in the last."""
    return [
        f"{row.steps}",
        " ".join(f"{1e6 * mean:.0f}" for mean in row.seconds),
        " ".join(f"{mean:.1f}" for mean in row.contacts),
        f"{row.impacts}",
        f"{row.gain:.1g}",
        f"{row.rise:.1g}",
        f"{row.overlap:.1e}",
        f"{row.memory:.1f}",
        row.stopped or f"{row.failed}",
    ]


if __name__ == "__main__":
    raise SystemExit(main())
