"""Run the solvers over a suite of problems from other projects, and judge them by its checker's measure.

    python examples/checks/suite.py DIR [--kinds lcp,mlcp] [--only NAME] [--solvers lemke,path] [--json FILE]

DIR holds a manifest suite.json with its npz files (or folders that do). LCPs and mixed LCPs go to ``auto``
and ``lemke``, nonlinear problems to ``path`` and ``newton`` from every starting point, frictional contact on
the exact cone to the conic ``qp``. Every answer is measured here, by the suite's own convention and not by
the solver's: solved means relative residual <= 1e-8 within the suite's time limits.

Exit status 0 only when
  auto    solves every LCP and mixed LCP that any reference solver of the manifest solved,
  lemke   every one of its class (M copositive, so also PSD or P) among them,
  path, newton   every nonlinear problem, from every starting point,
  qp      of each frictional kind at least as many as the best single reference solver.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import importlib.util
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from measuring.solvers import header
from reporting.pages import Remembering
from suite_measure import FLOOR, frictional_residual, global_residual, linear_residual, nonlinear_residual

import mcpframe as mf
from mcpframe.problem.friction import FrictionProblem

LINEAR, NONLINEAR = ("lcp", "mlcp"), ("mcp",)
LOCAL, GLOBAL = ("fc2d", "fc3d"), ("gfc2d", "gfc3d")
SOLVERS = {
    LINEAR: ("auto", "lemke"),
    NONLINEAR: ("path", "newton"),
    LOCAL: ("cone", "qp"),
    GLOBAL: ("cone", "qp"),
}
SOLVED = 1e-8
"""Relative residual that counts as solved."""
MARGIN = 0.1
"""The solver is asked for a tenth of it, because its norm and scale are not the checker's."""
GRACE = 2.0
"""Seconds over the limit that are forgiven: a solver looks at the clock between its steps."""


@dataclass(frozen=True)
class Entry:
    """One problem of the manifest."""

    name: str
    kind: str
    n: int
    path: Path
    solved_by: tuple[str, ...]
    starts_solved: dict[str, str]
    infeasible: bool
    in_lemkes_class: bool

    @property
    def time_limit(self) -> float:
        """Seconds, as the manifest's header states them."""
        return 20.0 if self.n <= 300 else 60.0 if self.n <= 2000 else 120.0


@dataclass(frozen=True)
class Row:
    """One solver on one problem (and starting point)."""

    name: str
    kind: str
    n: int
    solver: str
    start: int
    ok: bool
    relative: float
    status: str
    method: str
    message: str
    seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suite, print the tables, return the exit status."""
    options = parse(arguments)
    console = Remembering(options.page, width=max(Console().width, 120))
    entries = [e for e in manifest(Path(options.suite)) if chosen(e, options)]
    if not entries:
        console.print("no problem fits the options")
        return 2
    rows = run(entries, options, console)
    console.print(count_table(entries, rows))
    console.put(header())
    for line in unsolved(entries, rows):
        console.print(line, markup=False, soft_wrap=True)
    failed = demands(entries, rows)
    for line in failed:
        console.print(f"[red]not met:[/red] {line}", soft_wrap=True)
    if not failed:
        console.print("[green]every demand is met[/green]")
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(row) for row in rows], indent=1))
    return 1 if failed else 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suite", help="folder of the suite")
    parser.add_argument("--kinds", default="", help="only these kinds, e.g. lcp,mlcp")
    parser.add_argument("--only", default="", help="only problems whose name contains this")
    parser.add_argument("--solvers", default="", help="these solvers instead of the usual ones of each kind")
    parser.add_argument("--nmax", type=int, default=0, help="only problems up to this size")
    parser.add_argument("--json", default="", help="file for one record per solve")
    parser.add_argument("--page", default="", help="page of the documentation that gets the table")
    return parser.parse_args(arguments)


def chosen(entry: Entry, options: argparse.Namespace) -> bool:
    """Return whether the options ask for this problem."""
    kinds = options.kinds.split(",") if options.kinds else [entry.kind]
    return (
        entry.kind in kinds and options.only in entry.name and (not options.nmax or entry.n <= options.nmax)
    )


def manifest(folder: Path) -> Iterator[Entry]:
    """Yield the problems of every manifest in the folder or one level below it."""
    found = [path for path in (folder / "suite.json", *sorted(folder.glob("*/suite.json"))) if path.exists()]
    if not found:
        raise SystemExit(f"{folder}: no suite.json there or one level below")
    for path in found:
        for record in json.loads(path.read_text())["problems"]:
            reference = record["reference"]
            yield Entry(
                name=record["name"],
                kind=record["kind"],
                n=record["n"],
                path=path.parent / record["file"],
                solved_by=tuple(reference["solved_by"]),
                starts_solved=reference.get("starts_solved", {}),
                infeasible=record.get("expected") == "infeasible",
                in_lemkes_class=any(record.get(fact) is True for fact in ("copositive", "psd", "P_matrix")),
            )


def load(path: Path) -> dict[str, Any]:
    """Return the arrays of a problem's file; matrices in compressed rows are put together."""
    with np.load(path, allow_pickle=False) as file:
        data = {key: file[key] for key in file.files}
    for name in [key.removesuffix("_data") for key in data if key.endswith("_data")]:
        parts = (data[f"{name}_data"], data[f"{name}_indices"], data[f"{name}_indptr"])
        data[name] = sp.csr_array(parts, shape=tuple(data[f"{name}_shape"]))
    return data


@cache
def nonlinear_problems(path: Path) -> ModuleType:
    """Import the suite's file of nonlinear problems."""
    spec = importlib.util.spec_from_file_location(f"suite_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path}: cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(entries: Sequence[Entry], options: argparse.Namespace, console: Console) -> list[Row]:
    """Run every problem with the solvers of its kind."""
    rows: list[Row] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(entries))
        for entry in entries:
            for solver in solvers_of(entry, options):
                progress.update(task, description=f"{entry.name[:48]}, {solver}")
                rows += RUNNERS[entry.kind](entry, solver)
            progress.advance(task)
    return rows


def solvers_of(entry: Entry, options: argparse.Namespace) -> tuple[str, ...]:
    """Return the solvers that the options, or else the kind, call for."""
    usual = next(names for kinds, names in SOLVERS.items() if entry.kind in kinds)
    return tuple(options.solvers.split(",")) if options.solvers else usual


def run_linear(entry: Entry, solver: str) -> list[Row]:
    """Solve a (mixed) LCP, to a tolerance that follows from the scale in its file."""
    data = load(entry.path)
    problem = mf.MixedLCP(data["M"], data["q"], data["lower"], data["upper"])
    target = MARGIN * SOLVED * float(data["scale"])
    solution = mf.solve(
        problem, solver, z0=data.get("z0"), tol=target / problem.scale, time_limit=entry.time_limit
    )
    return [row(entry, solution, 0, linear_residual(data, solution.z))]


def run_nonlinear(entry: Entry, solver: str) -> list[Row]:
    """Solve a nonlinear problem from every starting point that comes with it."""
    given = nonlinear_problems(entry.path).PROBLEMS[entry.name.removeprefix("mcp_")]
    problem = mf.MCP(given.casadi_F(), given.lower, given.upper)
    tol = MARGIN * SOLVED / np.sqrt(problem.n)
    rows = []
    for k, start in enumerate(given.starts):
        solution = mf.solve(problem, solver, z0=start, tol=tol, time_limit=entry.time_limit)
        w = given.evalF(solution.z)
        rows.append(row(entry, solution, k, nonlinear_residual(w, solution.z, given.lower, given.upper)))
    return rows


def run_frictional(entry: Entry, solver: str) -> list[Row]:
    """Solve frictional contact on the exact cone, local (W, q, mu) or global (M, H, f, w, mu)."""
    data = load(entry.path)
    mu, dim = data["mu"], int(data["dim"])
    if entry.kind in GLOBAL:
        problem = FrictionProblem.from_global(data["M"], data["H"], data["f"], data["w"], mu, dim)
        measure = global_residual
    else:
        problem = FrictionProblem(data["W"], data["q"], mu, dim)
        measure = frictional_residual
    target = MARGIN * SOLVED * max(float(np.linalg.norm(problem.q)), FLOOR) / np.sqrt(problem.n)
    solution = mf.solve(problem, solver, tol=target / problem.scale, time_limit=entry.time_limit)
    return [row(entry, solution, 0, measure(data, solution.z))]


RUNNERS = {
    **dict.fromkeys(LINEAR, run_linear),
    **dict.fromkeys(NONLINEAR, run_nonlinear),
    **dict.fromkeys(LOCAL + GLOBAL, run_frictional),
}


def row(entry: Entry, solution: mf.Solution, start: int, relative: float) -> Row:
    """Return the record of one solve; late is not solved, and no solution is right where there is none."""
    relative = relative if np.isfinite(relative) else np.inf
    in_time = solution.seconds <= entry.time_limit + GRACE
    right = not solution.ok if entry.infeasible else relative <= SOLVED
    return Row(
        name=entry.name,
        kind=entry.kind,
        n=entry.n,
        solver=solution.solver,
        start=start,
        ok=bool(right and in_time),
        relative=float(relative),
        status=solution.status.name,
        method=solution.method,
        message=solution.message if in_time else f"over the time limit; {solution.message}",
        seconds=solution.seconds,
    )


def count_table(entries: Sequence[Entry], rows: Sequence[Row]) -> Table:
    """Return solved of tried by kind and solver, beside the reference solvers of the manifest."""
    table = Table(title="solved at relative residual 1e-8", title_justify="left")
    for column in (
        "kind",
        "solver",
        "solved",
        "tried",
        "best single reference",
        "by any reference",
        "seconds",
    ):
        table.add_column(column, justify="left" if column in ("kind", "solver") else "right")
    for kind in dict.fromkeys(entry.kind for entry in entries):
        best, count = best_reference(entries, kind)
        for solver in dict.fromkeys(r.solver for r in rows if r.kind == kind):
            own = [r for r in rows if (r.kind, r.solver) == (kind, solver)]
            solved = sum(r.ok for r in own)
            colour = "green" if solved == len(own) else "yellow"
            table.add_row(
                kind,
                solver,
                f"[{colour}]{solved}[/{colour}]",
                str(len(own)),
                f"{count} ({best})",
                str(by_any_reference(entries, kind)),
                f"{sum(r.seconds for r in own):.1f}",
            )
    return table


def best_reference(entries: Sequence[Entry], kind: str) -> tuple[str, int]:
    """Return the reference solver that solved most of a kind, and how many (or how many starts)."""
    counts: Counter[str] = Counter()
    for entry in entries:
        if entry.kind == kind:
            counts.update(reference_counts(entry))
    return max(counts.items(), key=lambda item: item[1], default=("none", 0))


def by_any_reference(entries: Sequence[Entry], kind: str) -> int:
    """Return how many problems (or starts) of a kind some reference solver solved."""
    return sum(max(reference_counts(e).values(), default=0) for e in entries if e.kind == kind)


def reference_counts(entry: Entry) -> dict[str, int]:
    """Return, per reference solver, 1 for a problem it solved, or how many starting points it solved."""
    if entry.starts_solved:
        return {name: int(text.split("/")[0]) for name, text in entry.starts_solved.items()}
    return dict.fromkeys(entry.solved_by, 1)


def unsolved(entries: Sequence[Entry], rows: Sequence[Row]) -> Iterator[str]:
    """Yield one line per failure, with status and reason, and per problem that has no solution."""
    for entry in entries:
        for r in rows:
            if r.name != entry.name or (r.ok and not entry.infeasible):
                continue
            verdict = "no solution exists, as expected" if r.ok else "UNSOLVED"
            start = f" from start {r.start}" if r.kind in NONLINEAR else ""
            known = f"solved by {len(entry.solved_by)} references" if entry.solved_by else "by no reference"
            yield (
                f"{verdict}: {r.name} (n = {r.n}) {r.solver}{start}: {r.status}, relative residual "
                f"{r.relative:.1e}, {r.seconds:.1f} s; {known}; {r.message}"
            )


def demands(entries: Sequence[Entry], rows: Sequence[Row]) -> list[str]:
    """Return the demands that are not met; those on solvers or kinds that did not run are not asked."""
    entry_of = {entry.name: entry for entry in entries}
    failed = []
    for r in rows:
        entry = entry_of[r.name]
        wanted = (
            r.kind in NONLINEAR
            or (r.solver == "auto" and (entry.solved_by or entry.infeasible))
            or (r.solver == "lemke" and entry.solved_by and entry.in_lemkes_class)
        )
        if (
            wanted
            and not r.ok
            and r.kind in LINEAR + NONLINEAR
            and r.solver in ("auto", "lemke", "path", "newton")
        ):
            failed.append(f"{r.solver} on {r.name}, start {r.start}")
    for kind in LOCAL + GLOBAL:
        best, count = best_reference(entries, kind)
        solved = sum(r.ok for r in rows if r.kind == kind)
        if solved < count:
            failed.append(f"{kind}: {solved} solved, but {best} solves {count}")
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
