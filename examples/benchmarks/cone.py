"""Benchmark of the exact friction cone: `cone` beside Pinocchio's ADMM, one run, equal readings, one thread.

    python examples/benchmarks/cone.py [--count 12] [--contacts 4,8,16,32,64] [--kinds slide,mixed] [--seed 0]

Fresh stacks of boxes for every kind and size. Ours is the compiled chain, called without checks and
certificate, and where its answer does not hold, the solver as a whole, whose time is added; the peer's is its
`solve`, called with everything prepared. Every answer goes through the certificate of `FrictionProblem` at
1e-9; the peer also counts as solved where it says so itself. Cold starts; warm ones of ours from the answer
of a neighbour, all velocities 0.1 % faster. A ratio is that of one problem; shown is the median.
Writes out/bench/cone.json and, with --page, the table to that page of the documentation.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from peers import admm
from reporting.study import numbers, opening, parser, save_figures
from rich.table import Table
from subjects.stacks import KINDS, problems

import mcpframe as mf
from mcpframe import FrictionProblem
from mcpframe.problem.cone import cones_of
from mcpframe.solvers.cone.chain import solve_cones
from mcpframe.solvers.cone.workspace import new_workspace
from mcpframe.solvers.shared.alarm import NEVER

TOLERANCE, ASKED = 1e-9, 0.2
"""Of the certificate, over the problem's scale; and the share of it that ours is asked for: its own
residual is one of rows, not of cones."""
RUNS = 3
"""Runs of each problem, of which the fastest counts."""
NEIGHBOUR = 1.001


@dataclass(frozen=True)
class Reading:
    """One problem: seconds and certificates."""

    ours: float
    ours_holds: bool
    warm: float
    warm_holds: bool
    peer: float
    peer_says: bool
    peer_holds: bool


def ours(problem: FrictionProblem, start: np.ndarray | None, room: tuple) -> tuple[np.ndarray, float]:
    """Return the answer of the compiled chain and its best time, s."""
    dim, best = problem.dim, np.inf
    lower, upper = np.full(problem.n, -np.inf), np.full(problem.n, np.inf)
    lower[::dim] = 0.0
    discs = cones_of(problem.mu, dim)
    data = problem.W, problem.q, lower, upper, discs.table.ravel(), discs.sizes.ravel()
    for _ in range(RUNS):
        z = np.zeros(problem.n) if start is None else start.copy()
        tol = ASKED * TOLERANCE * problem.scale
        clock = perf_counter()
        solve_cones(*data, start is not None, tol, z, *room, NEVER)
        best = min(best, perf_counter() - clock)
    if holds(problem, z):
        return z, best
    clock = perf_counter()
    solution = mf.solve(problem, "cone", tol=TOLERANCE, z0=start)
    return solution.z, best + perf_counter() - clock


def holds(problem: FrictionProblem, z: np.ndarray) -> bool:
    """Return whether an answer passes the certificate."""
    return bool(problem.certify(z)[2] <= TOLERANCE * problem.scale)


def read(problem: FrictionProblem, room: tuple, peer: admm.Admm | None) -> Reading:
    """Solve one problem by both."""
    z, cold = ours(problem, None, room)
    neighbour = FrictionProblem(problem.W, NEIGHBOUR * problem.q, problem.mu)
    again, warm = ours(neighbour, z, room)
    theirs = [peer(problem) for _ in range(RUNS)] if peer else [(np.zeros(problem.n), False, np.inf)]
    r, says, _ = theirs[0]
    seconds = min(answer[2] for answer in theirs)
    mine = (cold, holds(problem, z), warm, holds(neighbour, again))
    return Reading(*mine, seconds, says, holds(problem, r))


def row(contacts: int, kind: str, readings: Sequence[Reading]) -> list[str]:
    """Return the figures of many problems as text."""
    n = len(readings)
    ratios = [reading.peer / reading.ours for reading in readings]
    times = [median(getattr(reading, name) for reading in readings) for name in ("ours", "warm", "peer")]
    counts = [
        sum(getattr(reading, name) for reading in readings)
        for name in ("ours_holds", "warm_holds", "peer_says", "peer_holds")
    ]
    return [
        f"{contacts}",
        kind,
        f"{counts[0]}/{n}",
        f"{1e6 * times[0]:.0f}",
        f"{counts[1]}/{n}",
        f"{1e6 * times[1]:.0f}",
        f"{counts[2]}/{n}, {counts[3]}",
        f"{1e6 * times[2]:.0f}",
        f"{median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.0f})",
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 where an answer of ours up to 32 contacts is not certified."""
    made = parser(__doc__)
    made.add_argument("--count", type=int, default=12, help="problems of each kind and size")
    made.add_argument("--contacts", default="4,8,16,32,64")
    made.add_argument("--kinds", default=",".join(KINDS))
    made.add_argument("--seed", type=int, default=0)
    options = made.parse_args(arguments)
    sizes = [4, 16] if options.quick else numbers(options.contacts)
    count, kinds = 3 if options.quick else options.count, options.kinds.split(",")
    missing = admm.why_missing()
    console, facts = opening("Exact friction cones", () if missing else ("pin",), options.page)
    columns = ("contacts", "kind", "cone", "µs", "warm", "µs", "ADMM", "µs", "ADMM / cone")
    note = "Solved of all; of ADMM by its own word, and by our certificate."
    table = Table(*columns, title="Stacks of boxes to 1e-9, medians", caption=missing or note)
    figures = []
    fine = True
    for contacts in sizes:
        peer = None if missing else admm.Admm(contacts)
        room, together = new_workspace(3 * contacts, contacts), []
        for kind in kinds:
            readings = [
                read(problem, room, peer) for problem in problems(kind, contacts, count, options.seed)
            ]
            table.add_row(*row(contacts, kind, readings))
            together += readings
            figures += [{"contacts": contacts, "kind": kind, **asdict(reading)} for reading in readings]
            fine = fine and (contacts > 32 or all(reading.ours_holds for reading in readings))
        table.add_row(*row(contacts, "all", together), end_section=True)
    console.print(table)
    save_figures(console, Path(options.out), "cone", facts, readings=figures)
    return 0 if fine else 1


if __name__ == "__main__":
    raise SystemExit(main())
