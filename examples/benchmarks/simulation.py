"""Whole simulation steps beside MuJoCo, Drake and DART: the pendulum of the papers, and one that lies down.

    python examples/benchmarks/simulation.py [--quick] [--seconds 90] [--links 3,12] [--markdown]

Spheres of 1 kg on pins, 12 m overall, mu 0.5, restitution 0.5, steps of 1 ms, neighbours do not meet.
`papers` [J14, section 8]: hung 10 m up, beside a wall, few contacts. `lying`: hung 2 m up, it starts level
and lies down, many contacts. Whole episodes, one thread; in every round all engines take turns, and the least
processor time per step counts. Ours is `mf.simulate`, all in: detection, impacts, recording, also to disk;
peers record nothing. Then every engine is watched step by step: contacts, overlap, impacts, energy.

Growth of our steps from 3 to 300 links (of 0.1 ms, up to 2.5 s), and Python's share of a step, come after.
Writes out/bench/simulation.json and out/bench/simulation.png; --markdown writes the tables to simulation.md
too.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from engines.engine import Engine, installed_peers
from engines.own import OWN, Share, share_of
from measuring.simulation import DT, Cell, Growth, in_turns, measured
from plots.simulation import plot
from reporting.sheets import show
from reporting.simulation import events_sheet, growth_sheet, ratio_sheet, share_sheet, times_sheet
from reporting.study import numbers, opening, parser, write
from rich.console import Console
from subjects.mechanisms import Pendulum, lying_pendulum, papers_pendulum

KINDS = {"papers": papers_pendulum, "lying": lying_pendulum}
LINKS = (3, 6, 12, 15, 24, 30)
RICH_FROM = 12
"""Links from which on the pendulum that lies down is of interest: fewer are balls as high as its hinge."""
GROWTH = (3, 10, 30, 100, 300)
GROWTH_DT, GROWTH_TIME = 1e-4, 2.5
"""Step and duration, s: through the first impacts, after which the last of 300 links whirl at 2000 rad/s, too
fast for steps of 1 ms with hard contacts."""
SHARED = (3, 30)
"""Links of the pendulums on which Python's share is measured."""
ONLY_BY_TUNING = "MuJoCo, elliptic, tuned"
"""Bounces as asked only in the table of contact models."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    options = parse(arguments)
    console, facts = opening("Simulation", ("mujoco", "drake", "dartpy"), options.page)
    engines = contestants(console, options.peers)
    cells = all_cells(console, engines, options)
    n_steps = round(options.duration / DT)
    growth = growth_of(console, options.growth, min(options.duration, GROWTH_TIME))
    shares = {n: share_of(papers_pendulum(n), DT, n_steps) for n in options.links if n in SHARED}
    sheets = [
        times_sheet(cells),
        events_sheet(cells),
        *([ratio_sheet(cells)] if any(cell.is_peer for cell in cells) else []),
        growth_sheet(growth),
        share_sheet(shares),
    ]
    out = Path(options.out)
    show(console, sheets, out / "simulation.md" if options.markdown else None)
    save(console, out, facts, cells, growth, shares)
    plot(cells, growth, out / "simulation.png")
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    line = parser(__doc__, seconds=90.0)
    line.add_argument("--links", default=",".join(map(str, LINKS)), help="numbers of links")
    line.add_argument("--growth", default=",".join(map(str, GROWTH)), help="numbers of links, ours alone")
    line.add_argument("--duration", type=float, default=5.0, help="simulated seconds of an episode")
    line.add_argument("--no-peers", dest="peers", action="store_false", help="ours alone")
    line.add_argument("--markdown", action="store_true", help="write the tables as Markdown")
    options = line.parse_args(arguments)
    options.links, options.growth = numbers(options.links), numbers(options.growth)
    if options.quick:
        options.links = [n for n in options.links if n in (3, 12)]
        options.growth = [n for n in options.growth if n <= 30]
        options.duration, options.seconds = min(options.duration, 2.0), min(options.seconds, 5.0)
    return options


def contestants(console: Console, with_peers: bool) -> list[Engine]:
    """Return ours and the peers that are installed."""
    peers, missing = installed_peers() if with_peers else ([], ["all peers"])
    if missing:
        console.print(f"left out: {', '.join(missing)}", style="yellow")
    return [*OWN, *(peer for peer in peers if peer.name != ONLY_BY_TUNING)]


def subjects(links: Sequence[int]) -> list[tuple[str, Pendulum]]:
    """Return the pendulums by kind."""
    return [
        (kind, make(n)) for kind, make in KINDS.items() for n in links if kind == "papers" or n >= RICH_FROM
    ]


def all_cells(console: Console, engines: Sequence[Engine], options: argparse.Namespace) -> list[Cell]:
    """Return the figures of all engines on all pendulums."""
    chosen = subjects(options.links)
    cells = []
    with console.status("") as status:
        for kind, pendulum in chosen:
            status.update(f"{kind}, {pendulum.n_links} links: {len(engines)} engines in turns ...")
            n_steps = round(options.duration / DT)
            cells += measured(engines, kind, pendulum, n_steps, options.seconds / len(chosen))
    return cells


def growth_of(console: Console, sizes: Sequence[int], duration: float) -> Growth:
    """Return how the time of our event-driven step grows with the links."""
    times: list[float] = []
    n_steps = round(duration / GROWTH_DT)
    with console.status("") as status:
        for n in sizes:
            status.update(f"growth: {n} links ...")
            times += in_turns(OWN[:1], papers_pendulum(n), GROWTH_DT, n_steps, 0.0).min(axis=0).tolist()
    return Growth(list(sizes), [time / n_steps for time in times])


def save(
    console: Console,
    out: Path,
    facts: dict[str, str],
    cells: Sequence[Cell],
    growth: Growth,
    shares: dict[int, Share],
) -> None:
    """Write all figures."""
    write(
        console,
        out,
        "simulation",
        facts,
        cells=[asdict(cell) for cell in cells],
        growth=asdict(growth) | asdict(growth.fit),
        shares={str(n): asdict(share) for n, share in shares.items()},
    )


if __name__ == "__main__":
    raise SystemExit(main())
