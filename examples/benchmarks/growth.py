"""How times grow: with the links, up to 10,000, and with the nodes of Lambda, up to 64; exponents of fits.

    python examples/benchmarks/growth.py [--quick] [--links 100,1000] [--nodes 4,16]

By links, on chains of pins: Lambda of 4 nodes (kinematics and sweep included) by `entries.node_compliance`
and by state.update(theta, theta_dot), state.compliance(nodes); the whole build of `os` and of `nmc` with 4
contacts. By nodes, on one robot: Lambda after the sweep, entries.node_compliance(..., SWEPT), and all of it.

All sizes take turns and the least of many readings counts; the exponent is that of least squares in log-log
over all sizes, beside it that of the two largest alone. Writes out/bench/growth.json and
out/bench/growth.png.
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
from measuring.loops import node_workspace
from measuring.timing import Power, Run, fastest, fit_power, repeated
from plots.growth import plot
from reporting.study import numbers, opening, parser, write
from reporting.tables import seconds_text
from rich.console import Console
from rich.table import Table
from subjects.chains import Subject, chain, nodes_of, robots

import mcpframe as mf
from mcpframe import systems
from mcpframe.multibody.kernels import entries
from mcpframe.multibody.kernels.entries import NOTHING, SWEPT

LINKS = (100, 300, 1000, 3000, 10_000)
NODES = (4, 8, 16, 32, 64)
FEW_NODES = 4
HUMANOID = "talos, floating"
DT = 1e-3
LINEAR, SQUARE = 1.1, 2.1
"""Largest exponents: O(N) and O(n_c²), with a tenth for caches that get too small."""


@dataclass(frozen=True)
class Curve:
    """One quantity at several sizes, seconds per call.

    Attributes:
        by: what the sizes count: links or nodes.
        limit: largest exponent that keeps the promise.
        n_z: rows of the problem at every size, where a problem is built.
    """

    name: str
    by: str
    sizes: list[int]
    times: list[float]
    limit: float
    n_z: list[int]

    @property
    def last(self) -> float:
        """Exponent from the last size but one to the last."""
        return fit_power(self.sizes[-2:], self.times[-2:]).exponent

    @property
    def fit(self) -> Power:
        """Least squares over all sizes."""
        return fit_power(self.sizes, self.times)


Key = tuple[str, int]
"""Curve and size."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    options = parse(arguments)
    console, facts = opening("Growth", ("example-robot-data",), options.page)
    with console.status(f"links: {options.links} ..."):
        curves = by_links(options.links, options.seconds)
    with console.status(f"nodes: {options.nodes} ..."):
        curves += by_nodes(some_robots(console), options.nodes, options.seconds / 4)
    report(console, curves)
    records = [asdict(curve) | asdict(curve.fit) | {"last": curve.last} for curve in curves]
    write(console, Path(options.out), "growth", facts, curves=records)
    plot(curves, Path(options.out) / "growth.png")
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    line = parser(__doc__, seconds=40.0)
    line.add_argument("--links", default=",".join(map(str, LINKS)), help="lengths of the chains")
    line.add_argument("--nodes", default=",".join(map(str, NODES)), help="numbers of nodes")
    options = line.parse_args(arguments)
    options.links, options.nodes = numbers(options.links), numbers(options.nodes)
    if options.quick:
        options.links = [n for n in options.links if n <= 1000]
        options.seconds = min(options.seconds, 4.0)
    return options


def some_robots(console: Console) -> list[Subject]:
    """Return the dual arm of the papers and, if it is there, a humanoid."""
    model = systems.dual_arm()
    humanoid, missing = robots([HUMANOID])
    if missing:
        console.print(missing, style="yellow")
    dual_arm = Subject("dual arm", model, model.neutral(), *np.zeros((2, model.n_dofs)))
    return [dual_arm, *humanoid]


def by_links(sizes: Sequence[int], seconds: float) -> list[Curve]:
    """Return the curves on chains of so many links."""
    runs: dict[Key, Run] = {}
    n_z: dict[Key, int] = {}
    for n in sizes:
        subject = chain(n)
        compliance = compliance_runs(subject, FEW_NODES)
        runs["Lambda of 4 nodes, kernel", n] = compliance["kernel"]
        runs["Lambda of 4 nodes, public", n] = compliance["public"]
        for name in ("os", "nmc"):
            build = building(subject, FEW_NODES, mf.formulation(name))
            runs[f"build of {name}, 4 contacts", n] = repeated(build)
            n_z[f"build of {name}, 4 contacts", n] = build().n
    return curves_of(fastest(runs, seconds), n_z, "links", LINEAR)


def by_nodes(subjects: Sequence[Subject], counts: Sequence[int], seconds: float) -> list[Curve]:
    """Return the curves of Lambda on robots with so many nodes."""
    runs: dict[Key, Run] = {}
    for subject in subjects:
        for n_c in counts:
            compliance = compliance_runs(subject, n_c)
            runs[f"{subject.name}: Lambda after sweep, kernel", n_c] = compliance["swept"]
            runs[f"{subject.name}: Lambda, kernel", n_c] = compliance["kernel"]
            runs[f"{subject.name}: Lambda, public", n_c] = compliance["public"]
    return curves_of(fastest(runs, seconds), {}, "nodes", SQUARE)


def curves_of(times: dict[Key, float], n_z: dict[Key, int], by: str, limit: float) -> list[Curve]:
    """Return the times by curve."""
    curves = []
    for name in dict.fromkeys(name for name, _ in times):
        sizes = [size for curve, size in times if curve == name]
        rows = [n_z[name, size] for size in sizes if (name, size) in n_z]
        curves.append(Curve(name, by, sizes, [times[name, size] for size in sizes], limit, rows))
    return curves


def compliance_runs(subject: Subject, n_c: int) -> dict[str, Run]:
    """Return the ways to Lambda: kernel after the sweep, kernel from the start, public call."""
    theta, theta_dot = subject.theta, subject.theta_dot
    state, nodes = subject.model.state(theta, theta_dot), nodes_of(subject.model, n_c)
    IR, XR = node_workspace(state, nodes)
    I, X, comply = state.I, state.X, entries.node_compliance
    return {
        "swept": repeated(lambda: comply(I, X, IR, XR, SWEPT)),
        "kernel": repeated(lambda: comply(I, X, IR, XR, NOTHING)),
        "public": repeated(lambda: state.update(theta, theta_dot).compliance(nodes)),
    }


def building(subject: Subject, n_u: int, formulation: mf.AbstractFormulation) -> Callable[[], mf.MixedLCP]:
    """Return a call that moves the state and builds the step's problem, contacts on the nodes' links."""
    theta, theta_dot = subject.theta, subject.theta_dot
    state = subject.model.state(theta, theta_dot)
    contacts = mf.ContactSet(subject.model, touching(state, nodes_of(subject.model, n_u)))

    def build() -> mf.MixedLCP:
        state.update(theta, theta_dot)
        return formulation.build(mf.ContactStep(state, contacts, DT))[0]

    return build


def touching(state: Any, nodes: Sequence[mf.Node]) -> list[mf.Contact]:
    """Return contacts of nodes with the world."""
    up = (0.0, 0.0, 1.0)
    return [mf.Contact(node.body, "world", state.pose(node).position, up, mu=0.5) for node in nodes]


def report(console: Console, curves: Sequence[Curve]) -> None:
    """Print one table for links and one for nodes, with exponents beside their limits."""
    for by in dict.fromkeys(curve.by for curve in curves):
        some = [curve for curve in curves if curve.by == by]
        table = Table(title=f"time by number of {by}", title_justify="left")
        table.add_column("quantity", no_wrap=True)
        for size in some[0].sizes:
            table.add_column(f"{size:,}", justify="right")
        for name in ("exponent", "at most", "last two", "off the fit", "rows of z"):
            table.add_column(name, justify="right")
        for curve in some:
            table.add_row(*row(curve))
        console.print(table)


def row(curve: Curve) -> list[str]:
    """Return a curve as a row of the table; an exponent that is too large is red."""
    colour = "green" if curve.fit.exponent <= curve.limit else "red"
    return [
        curve.name,
        *map(seconds_text, curve.times),
        f"[{colour}]{curve.fit.exponent:.2f}[/{colour}]",
        f"{curve.limit:.1f}",
        f"{curve.last:.2f}",
        f"{100 * curve.fit.deviation:.0f} %",
        " to ".join(dict.fromkeys(f"{rows:,}" for rows in (curve.n_z[:1] + curve.n_z[-1:]))),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
