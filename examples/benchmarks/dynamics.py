"""Free acceleration, alone and with Lambda of 4 and 8 nodes in 6D, against Pinocchio in the same run.

    python examples/benchmarks/dynamics.py [--quick] [--sizes 6,30] [--nodes 4,8] [--no-robots] [--no-peers]

On chains of pins and on robots of example-robot-data, one thread. Every figure includes kinematics and the
articulated sweep. Timed of ours, in microseconds:

    loop    `free_dynamics` and `node_compliance`, the kernels, in a compiled loop
    kernel  the same two, called from Python: entries.free_dynamics(state.I, state.X, NOTHING), then
            entries.node_compliance(state.I, state.X, IR, XR, SWEPT)
    public  state.update(theta, theta_dot); state.free_acceleration(tau); state.compliance(nodes)

Of Pinocchio, the fastest of several routes: called from Python and, for its articulated-body algorithm, in
its own compiled loop. Before the clock starts, its answer is compared with ours; more than 1e-9 between them
is marked. Contestants take turns and the least of many readings counts. Writes out/bench/dynamics.json and
out/bench/dynamics.png.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
from measuring import loops
from measuring.timing import Run, fastest, repeated
from peers import pinocchio as pinocchio_peer
from peers.pinocchio import BATCH, Pinocchio
from plots.dynamics import plot
from reporting.study import numbers, opening, parser, write
from reporting.tables import judged
from rich.console import Console
from rich.table import Table
from subjects.chains import Subject, chain, nodes_of, robots

import mcpframe as mf
from mcpframe.multibody.kernels import entries
from mcpframe.multibody.kernels.entries import NOTHING, SWEPT
from mcpframe.multibody.state import State

SIZES = (6, 30, 100, 300)
NODES = (4, 8)
AGREEMENT = 1e-9
"""Relative to the largest entry: by how much answers should differ at most; more is marked."""
ANSWER = 1e-6
"""The same, beyond which an answer is none; routes between the two compete, whoever's digits are lost."""
THIRD = 1 / 3
"""Share of the peer's time that ours should take, at most."""
PASSES = 3
"""Visits to every subject: other work on the machine comes and goes, and may outlast one visit."""
CHOICE = 0.25
"""Share of the time of a comparison that is spent on finding the peer's fastest route."""


@dataclass
class Figure:
    """One subject and quantity, seconds per call.

    Attributes:
        n_c: nodes of Lambda, 0 for the free acceleration alone.
        ours: by way: loop, kernel, public.
        peer: by way: loop (free acceleration only), python; empty without the peer.
        route: the peer's fastest.
        difference: of the answers, relative.
        refused: routes of the peer whose answer is not ours, and by how much.
    """

    subject: str
    n_links: int
    n_dofs: int
    n_c: int
    ours: dict[str, float] = field(default_factory=dict)
    peer: dict[str, float] = field(default_factory=dict)
    route: str = ""
    difference: float = 0.0
    refused: dict[str, float] = field(default_factory=dict)

    def ratio(self, way: str) -> float | None:
        """Return our time over the peer's: loop against loop, all else against its call from Python."""
        theirs = self.peer.get("loop" if way == "loop" else "python")
        return None if theirs is None else self.ours[way] / theirs

    def merged(self, other: Figure) -> Figure:
        """Return the least times of two visits to the same subject."""
        faster = min((self, other), key=lambda figure: figure.peer.get("python", 0.0))
        return replace(
            faster,
            ours={way: min(time, other.ours[way]) for way, time in self.ours.items()},
            peer={way: min(time, other.peer[way]) for way, time in self.peer.items()},
            difference=max(self.difference, other.difference),
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    options = parse(arguments)
    console, facts = opening("Dynamics", ("pin", "example-robot-data"), options.page)
    subjects = [chain(n) for n in options.sizes]
    if not options.no_robots:
        more, missing = robots()
        subjects += more
        say(console, missing)
    why_alone = "Pinocchio is left out" if options.no_peers else pinocchio_peer.why_missing()
    say(console, why_alone)
    figures: dict[tuple[str, int], Figure] = {}
    for _ in range(PASSES):
        for subject in subjects:
            with console.status(f"{subject.name} ..."):
                found = measure(subject, [0, *options.nodes], options.seconds / PASSES, not why_alone)
            for figure in found:
                key = figure.subject, figure.n_c
                figures[key] = figure.merged(figures.get(key, figure))
    all_figures = list(figures.values())
    report(console, all_figures)
    write(console, Path(options.out), "dynamics", facts, figures=[asdict(figure) for figure in all_figures])
    plot(all_figures, Path(options.out) / "dynamics.png")
    return 0


def say(console: Console, what: str) -> None:
    """Print what is missing, if anything is."""
    if what:
        console.print(what, style="yellow")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    line = parser(__doc__, seconds=2.0)
    line.add_argument("--sizes", default=",".join(map(str, SIZES)), help="links of the chains")
    line.add_argument("--nodes", default=",".join(map(str, NODES)), help="numbers of nodes of Lambda")
    line.add_argument("--no-robots", action="store_true", help="chains only")
    line.add_argument("--no-peers", action="store_true", help="leave Pinocchio out")
    options = line.parse_args(arguments)
    options.sizes, options.nodes = numbers(options.sizes), numbers(options.nodes)
    if options.quick:
        options.sizes, options.seconds = [n for n in options.sizes if n <= 30], min(options.seconds, 0.2)
    return options


def measure(subject: Subject, counts: Sequence[int], seconds: float, with_peer: bool) -> list[Figure]:
    """Return the figures of one subject: free acceleration (count 0), and with Lambda of so many nodes."""
    state = subject.model.state(subject.theta, subject.theta_dot)
    peer = Pinocchio(subject) if with_peer else None
    figures = []
    for n_c in counts:
        figure = Figure(subject.name, subject.model.n_links, subject.model.n_dofs, n_c)
        nodes = nodes_of(subject.model, n_c)
        runs, answer = ours(state, subject, nodes)
        theirs = {} if peer is None else peer_runs(peer, nodes, answer, seconds * CHOICE, figure)
        times = fastest({**runs, **theirs}, seconds)
        figure.ours = {way: times[way] for way in runs}
        figure.peer = {way.removeprefix("peer "): times[way] for way in theirs}
        if "loop" in figure.peer:
            figure.peer["loop"] /= BATCH
        figures.append(figure)
    return figures


def ours(state: State, subject: Subject, nodes: Sequence[mf.Node]) -> tuple[dict[str, Run], list[np.ndarray]]:
    """Return our ways to the quantities, and what they are."""
    theta, theta_dot, tau = subject.theta, subject.theta_dot, subject.tau
    answer = [state.update(theta, theta_dot).free_acceleration(tau)]
    I, X, free, comply = state.I, state.X, entries.free_dynamics, entries.node_compliance
    if not nodes:
        runs: dict[str, Run] = {
            "loop": lambda count: loops.accelerate(count, I, X),
            "kernel": repeated(lambda: free(I, X, NOTHING)),
            "public": repeated(lambda: state.update(theta, theta_dot).free_acceleration(tau)),
        }
        return runs, answer
    IR, XR = loops.node_workspace(state, nodes)
    answer.append(state.compliance(nodes))

    def kernels() -> None:
        free(I, X, NOTHING)
        comply(I, X, IR, XR, SWEPT)

    def public() -> None:
        state.update(theta, theta_dot).free_acceleration(tau)
        state.compliance(nodes)

    runs = {"loop": lambda count: loops.comply(count, I, X, IR, XR), "kernel": repeated(kernels)}
    return {**runs, "public": repeated(public)}, answer


def peer_runs(
    peer: Pinocchio, nodes: Sequence[mf.Node], answer: Sequence[np.ndarray], seconds: float, figure: Figure
) -> dict[str, Run]:
    """Return the peer's fastest route to the same answer as a run from Python; where it has one, a loop too.

    Writes into the figure which route it is, and which routes give another answer.
    """
    if nodes:
        routes: dict[str, Callable[[], object]] = dict(peer.routes(nodes))
        answers = {name: route() for name, route in peer.routes(nodes).items()}
        found = {name: [a, peer.in_our_axes(L, nodes)] for name, (a, L) in answers.items()}
    else:
        routes = dict(peer.accelerations())
        found = {name: [route()] for name, route in peer.accelerations().items()}
    off = {name: difference(theirs, answer) for name, theirs in found.items()}
    same = {name: repeated(route) for name, route in routes.items() if off[name] <= ANSWER}
    if not same:
        raise RuntimeError(f"{figure.subject}: no route of Pinocchio gives our answer: {off}")
    times = fastest(same, seconds)
    figure.route = min(times, key=lambda name: times[name])
    figure.difference = off[figure.route]
    figure.refused = {name: share for name, share in off.items() if name not in same}
    runs = {"peer python": same[figure.route]}
    if not nodes:
        loop, loop_answer = peer.loop()
        if difference([loop_answer()], answer) <= ANSWER:
            runs["peer loop"] = loop
    return runs


def difference(theirs: Sequence[np.ndarray], mine: Sequence[np.ndarray]) -> float:
    """Return the largest difference, relative to the largest entry; infinite where a number is not finite."""
    shares = [np.abs(b - a).max() / np.abs(a).max() for a, b in zip(mine, theirs, strict=True)]
    return float(max(share if np.isfinite(share) else np.inf for share in shares))


def report(console: Console, figures: Sequence[Figure]) -> None:
    """Print the table, and which routes of the peer gave another answer."""
    table = Table(title="microseconds per call; peer: Pinocchio; shares are ours / its", title_justify="left")
    table.add_column("subject, links/dofs", no_wrap=True)
    table.add_column("quantity", no_wrap=True)
    for name in ("loop", "kernel", "public", "peer: loop", "from Python"):
        table.add_column(name, justify="right")
    for name in ("share: loop", "kernel", "public"):
        table.add_column(name, justify="right")
    table.add_column("its fastest route", no_wrap=True)
    table.add_column("off by", justify="right", no_wrap=True)
    for i, figure in enumerate(figures):
        is_last = i + 1 == len(figures) or figures[i + 1].subject != figure.subject
        table.add_row(*row(figure), end_section=is_last)
    console.print(table)
    for figure in figures:
        for route, off in figure.refused.items():
            console.print(f"{figure.subject}, {figure.n_c} nodes: {route} is off by {off:.0e}; not timed")


def off_text(difference: float) -> str:
    """Return a difference in the colour that says whether it is small enough."""
    colour = "green" if difference <= AGREEMENT else "red"
    return f"[{colour}]{difference:.0e}[/{colour}]"


def row(figure: Figure) -> list[str]:
    """Return a figure as a row of the table."""
    times = [figure.ours.get(way) for way in ("loop", "kernel", "public")]
    times += [figure.peer.get(way) for way in ("loop", "python")]
    shares = [figure.ratio(way) for way in ("loop", "kernel", "public")]
    return [
        f"{figure.subject}, {figure.n_links}/{figure.n_dofs}",
        f"and Lambda, {figure.n_c} nodes" if figure.n_c else "free acceleration",
        *("-" if time is None else f"{1e6 * time:.2f}" for time in times),
        *("-" if share is None else judged(share, THIRD) for share in shares),
        figure.route or "-",
        off_text(figure.difference) if figure.route else "-",
    ]


if __name__ == "__main__":
    raise SystemExit(main())
