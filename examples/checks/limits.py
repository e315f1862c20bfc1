"""Time limits: every solver on problems that it cannot finish in time, and by how much it is late.

    python examples/checks/limits.py [--limits 0.05,0.5] [--solvers lemke,auto] [--quick]

A limit is kept when a solve ends within 10 % or 50 ms after it, whichever is more. The clock on the wall also
counts what others take of a machine, so a solve is late by the lesser of wall time and of the processor time
of the process, in which a step that cannot be interrupted may go on in a thread of its own; that one is
waited for before the next solve. A late solve is tried once more: it counts where it is late again.
Exit status 1 where a solver is late. Shown: the solves of each solver, how many met their limit by ending
before it, and the largest overrun by both clocks.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import casadi
import numpy as np
from rich.console import Console
from rich.table import Table

import mcpframe as mf
from mcpframe.problem.generators import contact_system, random_lcp
from mcpframe.problem.piles import pile_problem

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from subjects.sparse import obstacle

LIMITS, QUICK = (0.05, 0.5), (0.05,)
SHARE, LEAST = 0.1, 0.05
"""What a solve may be late by: so much of its limit, or so many seconds."""
TOL = 1e-12
"""So tight that few end early."""
DENSE = 30, 63, 300, 1000
"""Rows of dense problems: below and above `mcpframe.solving.watch.WATCHED`, from which a thread watches."""


@dataclass(frozen=True)
class Overrun:
    """Seconds after a limit, by the clock on the wall and by that of the process."""

    wall: float
    cpu: float

    def beyond(self, limit: float) -> bool:
        """Return whether the limit was not kept."""
        return min(self.wall, self.cpu) > max(SHARE * limit, LEAST)


def problems(quick: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield problems that take long: with and without solutions, dense and sparse, nonlinear, with cones."""
    for n in DENSE[: 3 if quick else None]:
        for kind in ("monotone", "arbitrary", "box"):
            yield f"{kind}, {n} rows", random_lcp(kind, n, seed=n)
    for n_c in (20, 60) if quick else (20, 100, 200):
        system = contact_system(n_c, "redundant", seed=n_c)
        yield f"{n_c} contacts", system.exact_problem().to_mixed_lcp(8)
        yield f"{n_c} contacts on cones", system.exact_problem()
    yield "nonlinear, 200 rows", nonlinear(200)
    for n in (2_500,) if quick else (10_000, 100_000):
        yield f"obstacle, {n} rows", obstacle(n)
    for kind, n_c in (("touch", 2_000),) if quick else (("touch", 9_000), ("shaken", 2_000)):
        yield f"{kind} pile, {n_c} contacts", pile_problem(kind, n_c, dim=3)


def nonlinear(n: int) -> mf.MCP:
    """Return an MCP on a dense matrix with exponentials."""
    rng = np.random.default_rng(n)
    z, A = casadi.SX.sym("z", n), rng.standard_normal((n, n)) / n
    F = casadi.DM(A) @ casadi.exp(z) + z**3 - casadi.DM(rng.standard_normal(n))
    return mf.MCP(casadi.Function("F", [z], [F]), np.zeros(n), np.full(n, 5.0))


def overrun(problem: Any, name: str, limit: float) -> tuple[Overrun, mf.Solution]:
    """Solve, and return how late that was; a thread that is left behind has ended then."""
    before = set(threading.enumerate())
    wall, cpu = perf_counter(), process_time()
    solution = mf.solve(problem, name, tol=TOL, time_limit=limit)
    late = Overrun(perf_counter() - wall - limit, process_time() - cpu - limit)
    for thread in set(threading.enumerate()) - before:
        thread.join()
    return late, solution


def check(
    name: str, cases: Sequence[tuple[str, Any]], limits: Sequence[float]
) -> tuple[list[str], list[str]]:
    """Return a row of the table for one solver, and the limits that it has not kept."""
    late, early, tried, worst = [], 0, 0, Overrun(-np.inf, -np.inf)
    for what, problem in cases:
        if mf.solver(name).why_unsupported(problem):
            continue
        mf.solve(problem, name, time_limit=limits[0])  # imports and compiles
        for limit in limits:
            over, solution = overrun(problem, name, limit)
            if over.beyond(limit):
                over, solution = overrun(problem, name, limit)
            tried, early = tried + 1, early + (over.wall <= 0.0)
            worst = Overrun(max(worst.wall, over.wall), max(worst.cpu, over.cpu))
            if over.beyond(limit):
                clocks = f"{over.wall:.2f} s by the wall, {over.cpu:.2f} s of the processor"
                late.append(f"{name}: {what}, limit {limit} s, late by {clocks} ({solution.status.name})")
    return [name, f"{tried}", f"{early}", f"{len(late)}", f"{worst.wall:.3f}", f"{worst.cpu:.3f}"], late


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the check; return 1 where a solver is late."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = [name for name, reason in mf.available_solvers().items() if not reason]
    parser.add_argument("--limits", help="seconds")
    parser.add_argument("--solvers", default=",".join(known))
    parser.add_argument("--quick", action="store_true", help="smaller problems, one limit")
    options = parser.parse_args(arguments)
    limits = tuple(map(float, options.limits.split(","))) if options.limits else LIMITS
    limits = QUICK if options.quick and not options.limits else limits
    console, cases, late = Console(), list(problems(options.quick)), list[str]()
    table = Table("solver", "solves", "early", "late", "wall s", "processor s", title="Time limits")
    for name in options.solvers.split(","):
        row, found = check(name, cases, limits)
        table.add_row(*row)
        late += found
        for line in found:
            console.print(line, markup=False, soft_wrap=True)
    console.print(table)
    return int(bool(late))


if __name__ == "__main__":
    raise SystemExit(main())
