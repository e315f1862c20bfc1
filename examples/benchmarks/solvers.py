"""Benchmark of the solvers on generated contact LCPs, with the peers that are installed, in one run.

    python examples/benchmarks/solvers.py [--quick] [--sizes 24,48] [--solvers lemke,auto] [--families full]

Prints, per family, success at 1e-8 and the median time of a cold solve by solver and size; warm solves of the
same and of neighbouring problems; ratios to the peers; the overhead of `mf.solve` over the kernel; the
throughput of `solve_many`. `lemke kernel` is the compiled code behind `lemke`, called without the
interpreter, as a peer's own time is without its bindings. Writes all figures to out/bench/solvers.json and a
plot to out/bench/solvers.png.
One thread. Every answer, also a peer's, goes through the same certificate.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from time import perf_counter
from unittest.mock import patch

from measuring.kernel import Kernel
from measuring.solvers import Cell, Contestant, measure, problems
from peers.solvers import Own, peers
from plots.solvers import plot
from reporting.study import opening, parser, save_figures
from reporting.tables import Cells, cold_table, ratio_table, seconds_text, warm_table
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import mcpframe as mf
from mcpframe.problem.generators import FAMILIES, contact_lcp
from mcpframe.solvers.lemke import attempts as lemke_attempts
from mcpframe.solvers.lemke import method as lemke

SIZES = (24, 48, 96, 192, 384)
ROWS_PER_CONTACT = 6
"""n_f + 2 with four friction directions."""
MODES = ("cold", "same", "neighbour", "shaken")
PIVOTING_PEER = "drake unrevised Lemke"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    options = parse(arguments)
    console, facts = opening("Solvers on contact LCPs", page=options.page)
    kernels = [Kernel()] if "lemke" in options.solvers else []
    others = [] if options.no_peers else peers()
    contestants = [*(Own(name) for name in options.solvers), *kernels, *others]
    cells, built = run(contestants, options, console)
    report(console, Cells(cells), built)
    extra = {"overhead": overhead(console), "throughput": throughput(console, options)}
    save_figures(
        console,
        Path(options.out),
        "solvers",
        facts,
        cells=[asdict(cell) for cell in cells],
        build=built,
        **extra,
    )
    plot(cells, Path(options.out) / "solvers.png")
    console.print(f"plot in {options.out}/solvers.png")
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    line = parser(__doc__)
    known = [name for name, reason in mf.available_solvers().items() if not reason]
    line.add_argument("--sizes", default=",".join(map(str, SIZES)), help="sizes n of z, multiples of 6")
    line.add_argument("--solvers", default=",".join(known), help="solvers of mcpframe")
    line.add_argument("--families", default=",".join(FAMILIES), help="families of problems")
    line.add_argument("--repeats", type=int, default=50, help="problems per family and size, at most")
    line.add_argument("--budget", type=float, default=1.5, help="seconds per solver, family, size and mode")
    line.add_argument("--no-peers", action="store_true", help="leave the peers out")
    options = line.parse_args(arguments)
    if options.quick:
        options.sizes, options.repeats, options.budget = "24,48,96", min(options.repeats, 10), 0.3
    options.sizes = [int(size) for size in options.sizes.split(",")]
    options.solvers = [name for name in options.solvers.split(",") if name]
    options.families = options.families.split(",")
    return options


def run(
    contestants: Sequence[Contestant], options: argparse.Namespace, console: Console
) -> tuple[list[Cell], dict[str, list[float]]]:
    """Return the figures of every contestant, and per family and size the time to build a problem."""
    cells: list[Cell] = []
    built: dict[str, list[float]] = {family: [] for family in options.families}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        total = len(options.families) * len(options.sizes) * len(contestants) * len(MODES)
        task = progress.add_task("", total=total)
        for family in options.families:
            for n in options.sizes:
                made, seconds = problems(family, n // ROWS_PER_CONTACT, options.repeats)
                built[family].append(seconds)
                for contestant in contestants:
                    for mode in MODES:
                        progress.update(task, description=f"{contestant.name}, {family} {n} {mode}")
                        cell = measure(contestant, family, made, mode, options.budget)
                        cells += [] if cell is None else [cell]
                        progress.advance(task)
    return cells, built


def report(console: Console, cells: Cells, built: dict[str, list[float]]) -> None:
    """Print the tables: cold solves per family, warm solves, ratios to the pivoting peer."""
    for family in cells.families:
        console.print(cold_table(cells, family, built[family]))
    console.print(warm_table(cells))
    if PIVOTING_PEER in cells.solvers:
        console.print(ratio_table(cells, PIVOTING_PEER))


def overhead(console: Console, runs: int = 2000) -> dict[str, float]:
    """Return and print what `mcpframe.solving.solve` adds to the call of Lemke's kernel at size 24."""
    problem = contact_lcp(24 // ROWS_PER_CONTACT)
    kernel = lemke_attempts.solve_dense
    with patch.object(lemke, "solve_dense", side_effect=kernel) as spy:
        mf.solve(problem, "lemke")
    arguments = spy.call_args.args
    inside, outside = [], []
    for _ in range(runs):
        start = perf_counter()
        kernel(*arguments)
        middle = perf_counter()
        mf.solve(problem, "lemke")
        inside.append(middle - start)
        outside.append(perf_counter() - middle)
    found = {"kernel": median(inside), "solve": median(outside), "added": median(outside) - median(inside)}
    text = ", ".join(f"{name} {seconds_text(seconds)}" for name, seconds in found.items())
    console.print(f"mcpframe.solving.solve over the kernel call, lemke, n = 24, medians of {runs}: {text}")
    return found


def throughput(console: Console, options: argparse.Namespace) -> list[dict[str, float | int]]:
    """Return and print problems per second of `solve_many` with one and two workers."""
    rows: list[dict[str, float | int]] = []
    for n in [size for size in options.sizes if size <= 96]:
        batch = [contact_lcp(n // ROWS_PER_CONTACT, seed=seed) for seed in range(200)] * 5
        for workers in (1, 2):
            clock = perf_counter()
            solutions = mf.solve_many(batch, "lemke", workers=workers)
            rate = len(batch) / (perf_counter() - clock)
            solved = sum(solution.ok for solution in solutions)
            rows.append(
                {"n": n, "workers": workers, "per_second": rate, "solved": solved, "tried": len(batch)}
            )
            console.print(
                f"solve_many, n = {n}, {workers} worker(s): {rate:,.0f} problems/s, {solved}/{len(batch)}"
            )
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
