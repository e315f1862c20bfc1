"""Time to build and to recover a contact step in every formulation, against links and contacts.

    python examples/benchmarks/formulations.py [--quick] [--links 3,30] [--contacts 1,8] [--formulations os]

The step: a pendulum of spheres on pins, contacts with Coulomb friction in four directions, one thread.
`build` is what a simulation does once per step: state.update(theta, theta_dot), ContactStep(state, contacts,
dt), formulation.build(step). `recover` is formulation.recover(recovery, solution); it costs the same for any
z. For `os` also its kernel `operational_space` (kinematics, sweep, free acceleration, Lambda, M, q), called
from Python and in a compiled loop, and build with contacts that are packed anew.

Formulations take turns and the least of many readings counts. Growth is the exponent of a fit by least
squares in log-log over the larger half of the sizes, where the interpreter's share is least. Writes
out/bench/formulations.json and out/bench/formulations.png.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measuring import loops
from measuring.timing import Run, fastest, fit_power, repeated
from plots.formulations import plot
from reporting.study import numbers, opening, parser, write
from reporting.tables import seconds_text
from rich.console import Console
from rich.table import Table

import mcpframe as mf
from mcpframe import systems
from mcpframe.formulations.operational.kernels import operational_space
from mcpframe.multibody.kernels.entries import NOTHING

LINKS = (3, 10, 30, 100, 300)
CONTACTS = (1, 2, 4, 8, 16, 32, 64)
FEW_CONTACTS, SOME_LINKS = 4, 30
"""Of the other size, while one is varied."""
DT = 1e-3
Key = tuple[str, int, int]
"""Formulation or way to `os`, links, contacts."""


@dataclass(frozen=True)
class Cell:
    """One formulation, or one way to `os`, at one size; seconds per call.

    Attributes:
        n_z, recover: rows of the problem, time to recover; 0 for the ways to `os`, which have none.
    """

    name: str
    n_links: int
    n_u: int
    n_z: int
    build: float
    recover: float = 0.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    options = parse(arguments)
    console, facts = opening("Formulations", page=options.page)
    by_links = [(n, FEW_CONTACTS) for n in options.links]
    by_contacts = [(SOME_LINKS, n_u) for n_u in options.contacts]
    sizes = list(dict.fromkeys([*by_links, *by_contacts]))
    with console.status(f"{len(sizes)} steps in {len(options.formulations)} formulations ..."):
        cells = measure(sizes, options.formulations, options.seconds)
    curves = {
        name: [cell for size in some for cell in cells if (cell.n_links, cell.n_u) == size]
        for name, some in (("by_links", by_links), ("by_contacts", by_contacts))
    }
    report(console, **curves)
    records = {name: [asdict(cell) for cell in some] for name, some in curves.items()}
    write(console, Path(options.out), "formulations", facts, **records)
    plot(**curves, path=Path(options.out) / "formulations.png")
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    line = parser(__doc__, seconds=60.0)
    known = [name for name, reason in mf.available_formulations().items() if not reason]
    line.add_argument("--links", default=",".join(map(str, LINKS)), help="links of the pendulum")
    line.add_argument("--contacts", default=",".join(map(str, CONTACTS)), help="numbers of contacts")
    line.add_argument("--formulations", default=",".join(known), help="which, by name")
    options = line.parse_args(arguments)
    options.links, options.contacts = numbers(options.links), numbers(options.contacts)
    options.formulations = options.formulations.split(",")
    if options.quick:
        options.links = [n for n in options.links if n <= 100]
        options.contacts = [n for n in options.contacts if n <= 8]
        options.seconds = min(options.seconds, 5.0)
    return options


def measure(sizes: Sequence[tuple[int, int]], names: Sequence[str], seconds: float) -> list[Cell]:
    """Return the figures of all formulations on steps of (links, contacts); all of them take turns."""
    builds: dict[Key, Run] = {}
    recovers: dict[Key, Run] = {}
    n_z: dict[Key, int] = {}
    for n, n_u in sizes:
        step = scene(n, n_u)
        for name in names:
            formulation = mf.formulation(name)
            build = building(step, formulation)
            problem, recovery = build()
            builds[name, n, n_u], n_z[name, n, n_u] = repeated(build), problem.n
            recovers[name, n, n_u] = repeated(recovering(formulation, problem, recovery))
            if name == "os":
                builds |= {(way, n, n_u): run for way, run in os_runs(step, build).items()}
    build_times, recover_times = fastest(builds, seconds), fastest(recovers, seconds / 4)
    return [
        Cell(name, n, n_u, n_z.get((name, n, n_u), 0), time, recover_times.get((name, n, n_u), 0.0))
        for (name, n, n_u), time in build_times.items()
    ]


def scene(n: int, n_u: int) -> mf.ContactStep:
    """Return a step of a pendulum of n links, bent and moving, with n_u contacts."""
    model, rng = systems.pendulum(n), np.random.default_rng(n)
    state = model.state(rng.uniform(-0.3, 0.3, n), rng.standard_normal(n))
    return mf.ContactStep(state, mf.ContactSet(model, systems.contacts_of(state, n_u)), DT)


def building(step: mf.ContactStep, formulation: mf.AbstractFormulation) -> Callable[[], Any]:
    """Return a call that moves the state and builds the step's problem; nothing is left of the last call."""
    state, contacts = step.state, step.contacts
    theta, theta_dot = state.theta, state.theta_dot

    def build() -> Any:
        state.update(theta, theta_dot)
        return formulation.build(mf.ContactStep(state, contacts, DT))

    return build


def recovering(
    formulation: mf.AbstractFormulation, problem: mf.MixedLCP, recovery: Any
) -> Callable[[], mf.Outcome]:
    """Return a call that recovers the outcome of some z."""
    z, w, residual = problem.certify(np.ones(problem.n))
    status = mf.Status.INACCURATE
    solution = mf.Solution(z, w, residual, status, status, "none", "", 0, 0.0)
    return lambda: formulation.recover(recovery, solution)


def os_runs(step: mf.ContactStep, build: Callable[[], Any]) -> dict[str, Run]:
    """Return the ways to `os`: its kernel in a loop and from Python, and build with contacts packed anew."""
    known = loops.assembly(build)
    state, contacts, formulation = step.state, list(step.contacts), mf.formulation("os")
    theta, theta_dot = state.theta, state.theta_dot

    def anew() -> None:
        state.update(theta, theta_dot)
        formulation.build(mf.ContactStep(state, contacts, DT))

    return {
        "os: loop": lambda count: loops.assemble(count, *known),
        "os: kernel": repeated(lambda: operational_space(*known, NOTHING)),
        "os: contacts anew": repeated(anew),
    }


def report(console: Console, by_links: Sequence[Cell], by_contacts: Sequence[Cell]) -> None:
    """Print build and recover times against both sizes, with the growth."""
    few = f"{FEW_CONTACTS} contacts"
    console.print(table(f"build, {few}, by links", by_links, "n_links", "build"))
    console.print(table(f"build, {SOME_LINKS} links, by contacts", by_contacts, "n_u", "build"))
    console.print(table(f"recover, {few}, by links", by_links, "n_links", "recover"))
    console.print(table(f"recover, {SOME_LINKS} links, by contacts", by_contacts, "n_u", "recover"))


def table(title: str, cells: Sequence[Cell], by: str, what: str) -> Table:
    """Return the times of all formulations by one size, and the exponent of their growth."""
    sizes = sorted({getattr(cell, by) for cell in cells})
    made = Table(title=title, title_justify="left")
    made.add_column("formulation")
    for size in sizes:
        made.add_column(str(size), justify="right")
    made.add_column(f"growth from {sizes[larger_half(sizes)]}", justify="right")
    for name in dict.fromkeys(cell.name for cell in cells):
        times = [getattr(cell, what) for cell in cells if cell.name == name]
        if all(times):
            made.add_row(name, *map(seconds_text, times), growth(sizes, times))
    return made


def larger_half(sizes: Sequence[int]) -> int:
    """Return where the larger half of the sizes begins, three of five, at least two."""
    return max(0, min(len(sizes) // 2, len(sizes) - 2))


def growth(sizes: Sequence[int], times: Sequence[float]) -> str:
    """Return the exponent of the growth over the larger half of the sizes."""
    start = larger_half(sizes)
    if len(sizes) < 2:
        return "-"
    return f"{fit_power(sizes[start:], times[start:]).exponent:.2f}"


if __name__ == "__main__":
    raise SystemExit(main())
