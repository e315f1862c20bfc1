"""Compare all solvers on generated contact problems, in about a minute.

    python examples/demo.py [--out out/demo] [--sizes 24,48,96] [--problems 10]

Prints how many problems each solver solves (certified by the framework, natural residual <= 1e-8 (1 + |q|)),
how well and how fast, and writes report.md, table.csv and comparison.png. Failures stay in the tables.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import csv
import importlib.util
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import mcpframe as mf
from mcpframe.generators import FAMILIES, contact_lcp

SIZES = (24, 48, 96)
ROWS_PER_CONTACT = 6
"""n_f + 2 with four friction directions."""
TOL = 1e-8
BUDGET = 0.6
"""Seconds per solver, family and size, after which no further problem is begun."""
RUNS = 3
"""Solves per problem, at most."""

FAMILY_TEXT = {
    "full": "independent contacts",
    "redundant": "more contact rows than dofs",
    "boxes": "stacked boxes, hyperstatic",
    "chain": "a thread of links on the floor",
}


@dataclass(frozen=True)
class Row:
    """One solver on the problems of one family and size."""

    solver: str
    family: str
    n: int
    tried: int
    solved: int
    worst_residual: float
    median_seconds: float
    median_iterations: float
    failures: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison; exit status 1 when a problem was solved by no solver at all."""
    options = parse(arguments)
    console = Console(width=max(Console().width, 110))
    console.print("[bold]mcpframe[/bold]: all solvers on generated contact problems, answers certified")
    rows = compare(options, console)
    console.print(summary_table(rows))
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    write_csv(rows, out / "table.csv")
    has_plot = plot(rows, out / "comparison.png", console)
    (out / "report.md").write_text(report(rows, has_plot))
    console.print(
        f"Open [bold]{out / 'report.md'}[/bold]" + (f" or {out / 'comparison.png'}" if has_plot else "")
    )
    return 0 if all_solved_by_some(rows) else 1


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", default="out/demo", help="folder for the results")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="sizes n of z, multiples of 6")
    parser.add_argument("--problems", type=int, default=10, help="problems per family and size")
    parser.add_argument("--solvers", default="", help="some solvers instead of all")
    options = parser.parse_args(arguments)
    options.sizes = [int(size) for size in options.sizes.split(",")]
    known = [name for name, reason in mf.available_solvers().items() if not reason]
    options.solvers = options.solvers.split(",") if options.solvers else known
    return options


def compare(options: argparse.Namespace, console: Console) -> list[Row]:
    """Run every solver on every family and size."""
    cells = [(f, n, s) for f in FAMILIES for n in options.sizes for s in options.solvers]
    rows = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(cells))
        for family, n, solver in cells:
            progress.update(task, description=f"{solver} on '{family}', n = {n}")
            rows.append(measure(solver, family, n, options.problems))
            progress.advance(task)
    return rows


def measure(solver: str, family: str, n: int, count: int) -> Row:
    """Solve some problems, each a few times; the fastest run counts, the others met the machine's noise."""
    contact = partial(contact_lcp, n // ROWS_PER_CONTACT, family)
    run = partial(mf.solve, solver=solver, tol=TOL)
    run(contact())  # kernels are compiled and loaded before the clock starts
    solutions = []
    end = perf_counter() + BUDGET
    for seed in range(count):
        runs = [run(contact(seed=seed))]
        while len(runs) < RUNS and perf_counter() < end - BUDGET / 2:
            runs.append(run(contact(seed=seed)))
        solutions.append(min(runs, key=lambda solution: solution.seconds))
        if perf_counter() > end:
            break
    solved = [solution for solution in solutions if solution.ok]
    failures = Counter(solution.status.name for solution in solutions if not solution.ok)
    return Row(
        solver=solver,
        family=family,
        n=n,
        tried=0 if "UNSUPPORTED" in failures else len(solutions),
        solved=len(solved),
        worst_residual=max((solution.residual for solution in solved), default=float("nan")),
        median_seconds=median(solution.seconds for solution in solutions),
        median_iterations=median(solution.iterations for solution in solutions),
        failures=", ".join(f"{count} {name}" for name, count in failures.items() if name != "UNSUPPORTED"),
    )


def summary_table(rows: Sequence[Row]) -> Table:
    """Return one line per solver: success and residual over everything, time and iterations by size."""
    table = Table(title="contact LCPs, four families together", title_justify="left")
    sizes = sorted({row.n for row in rows})
    for column in ("solver", "solved", "worst residual"):
        table.add_column(column, justify="left" if column == "solver" else "right")
    for n in sizes:
        table.add_column(f"n = {n}\nmedian time (iterations)", justify="right")
    table.add_column("failures")
    for line in summary(rows):
        solved, tried = line["solved"], line["tried"]
        colour = "green" if solved == tried and tried else "yellow"
        share = f"[{colour}]{solved}/{tried}[/{colour}]" if tried else "takes none"
        table.add_row(
            line["solver"], share, line["residual"], *(line[str(n)] for n in sizes), line["failures"]
        )
    return table


def summary(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return the texts of the table, one line per solver."""
    lines = []
    for solver in dict.fromkeys(row.solver for row in rows):
        own = [row for row in rows if row.solver == solver and row.tried]
        line = {
            "solver": solver,
            "solved": str(sum(row.solved for row in own)),
            "tried": str(sum(row.tried for row in own) or ""),
            "residual": max(
                (f"{row.worst_residual:.1e}" for row in own if row.solved), key=float, default="-"
            ),
            "failures": "; ".join(f"{row.family} {row.n}: {row.failures}" for row in own if row.failures),
        }
        for n in sorted({row.n for row in rows}):
            at_n = [row for row in own if row.n == n]
            line[str(n)] = (
                f"{seconds_text(median(row.median_seconds for row in at_n))} "
                f"({median(row.median_iterations for row in at_n):.0f})"
                if at_n
                else "-"
            )
        lines.append(line)
    return lines


def seconds_text(seconds: float) -> str:
    """Return a time in its natural unit."""
    factor, unit = next(((f, u) for f, u in ((1.0, "s"), (1e3, "ms")) if seconds * f >= 1.0), (1e6, "us"))
    return f"{seconds * factor:.3g} {unit}"


def all_solved_by_some(rows: Sequence[Row]) -> bool:
    """Return whether, family by family and size by size, some solver solved all problems."""
    cells = {(row.family, row.n) for row in rows}
    full = {(row.family, row.n) for row in rows if row.tried and row.solved == row.tried}
    return cells == full


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """Write all figures."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def report(rows: Sequence[Row], has_plot: bool) -> str:
    """Return the report in Markdown."""
    sizes = sorted({row.n for row in rows})
    lines = [
        "# Solvers on generated contact problems",
        "",
        "Contact LCPs `[[A, Ehat], [Ebar, 0]]` with four friction directions. Solved means that the",
        f"framework itself found the natural residual within {TOL:g} (1 + |q|). Times are of the solver",
        "alone, on one thread.",
        "",
        *(f"- `{family}`: {FAMILY_TEXT[family]}" for family in dict.fromkeys(row.family for row in rows)),
        "",
        *(["![time and success](comparison.png)", ""] if has_plot else []),
        "| solver | solved | worst residual | "
        + " | ".join(f"n = {n}: time (iterations)" for n in sizes)
        + " |",
        "| --- | --- | --- |" + " --- |" * len(sizes),
    ]
    for line in summary(rows):
        share = f"{line['solved']}/{line['tried']}" if line["tried"] else "takes none of them"
        lines.append(
            f"| {line['solver']} | {share} | {line['residual']} | "
            + " | ".join(line[str(n)] for n in sizes)
            + " |"
        )
    failed = [row for row in rows if row.failures]
    lines += ["", "## Not solved", ""] + ([] if failed else ["Nothing."])
    lines += [
        f"- {row.solver} on `{row.family}`, n = {row.n}: {row.failures} of {row.tried}" for row in failed
    ]
    lines += ["", "All figures: `table.csv`.", ""]
    return "\n".join(lines)


def plot(rows: Sequence[Row], path: Path, console: Console) -> bool:
    """Draw the comparison, where matplotlib is installed."""
    if importlib.util.find_spec("matplotlib") is None:
        console.print("no plot: it needs matplotlib (pip install 'mcpframe[report]')")
        return False
    from demo_plot import draw

    draw([row for row in rows if row.tried], path)
    return True


if __name__ == "__main__":
    raise SystemExit(main())
