"""``mcpframe solve``: problems of a file in, certified answers out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.commands import completion
from mcpframe.commands.terminal import check_out_file, console, read_pairs
from mcpframe.config.plugins import load_solver
from mcpframe.exceptions import FileFormatError, OptionError
from mcpframe.io.detect import open_records
from mcpframe.io.folders import make_folder
from mcpframe.io.npz import opened_fields, save_solution
from mcpframe.io.records import Record
from mcpframe.problem.friction import FrictionProblem
from mcpframe.solving.plugin import AbstractSolver
from mcpframe.solving.solution import Solution

SOLVE_EPILOG = """
Examples:

    mcpframe solve problem.npz

    mcpframe solve problem.npz --solver lemke --option max_pivots=500 --out solution.npz

    mcpframe solve problem.npz --config solver.toml --z0 solution.npz

    mcpframe solve corpus.h5 --index 3 --log

    mcpframe solve model.nl --solver path --log

Make a file with mcpframe formulate, with mcpframe.save_problem("problem.npz", mcpframe.MixedLCP(M, q, lower,
upper)), or with numpy alone: an .npz file with the arrays M, q, lower and upper; M and q alone are an LCP.
"""
SHORT = 12
"""Longest z that is printed; longer ones go to a file with --out."""

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="One problem (.npz), a corpus (.h5), an FCLIB file (.hdf5), or a model of AMPL or Pyomo (.nl).",
    ),
]
Solver = Annotated[
    str, typer.Option(autocompletion=completion.solvers, help="Solver by name; see mcpframe list.")
]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="KEY=VALUE", help="An option of the solver; repeatable."),
]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="TOML file with a [solver] table, instead of --solver.")
]
Tolerance = Annotated[float, typer.Option(help="Certified: natural residual of row i <= tol * (1 + |q_i|).")]
Seconds = Annotated[float, typer.Option(help="Seconds per problem.")]
StartFile = Annotated[
    Path | None, typer.Option(help="Start from z or z0 of this .npz file, such as an earlier --out.")
]
Index = Annotated[int | None, typer.Option(help="Solve only this problem of a corpus, counted from 0.")]
Directions = Annotated[
    int,
    typer.Option(
        "--n-f", min=0, help="Make friction cones polyhedral with so many directions; 0: leave them."
    ),
]
OutFile = Annotated[
    Path | None, typer.Option(help="Write the solution to this .npz file; for several problems, a folder.")
]
Log = Annotated[bool, typer.Option("--log", help="Print the solver's iterations.")]


def solve(
    file: File,
    solver: Solver = "auto",
    option: Options = None,
    config: ConfigFile = None,
    tol: Tolerance = 1e-9,
    time_limit: Seconds = math.inf,
    z0: StartFile = None,
    index: Index = None,
    n_f: Directions = 0,
    out: OutFile = None,
    log: Log = False,
) -> int:
    """Solve the problems of a file and certify the answers.

    Exit status: 0 when every answer is certified, 1 when one is not, 2 on misuse.
    """
    chosen = _chosen_solver(solver, option, config)
    start = None if z0 is None else _start_point(z0)
    with _opened(file) as records:
        picked = _picked(records, index, file)
        single = len(picked) == 1
        _prepare_out(out, single)
        rows = []
        for record in picked if single else _tracked(picked):
            problem = _with_directions(record.problem, n_f)
            begin = record.z0 if start is None and not n_f else start
            solution = mf.solve(problem, chosen, z0=begin, tol=tol, time_limit=time_limit)
            rows.append((record, problem, solution))
            if out is not None:
                save_solution(out if single else out / f"{len(rows) - 1:06d}.npz", solution)
            if log:
                print(solution.log() or f"{chosen.name} keeps no log")
    _print_one(*rows[0], tol) if single else _print_many(rows)
    return 0 if all(solution.ok for _, _, solution in rows) else 1


@contextmanager
def _opened(file: Path) -> Iterator[Sequence[Record]]:
    """Give the problems of a file; a model of AMPL or Pyomo is one."""
    if file.suffix != ".nl":
        with open_records(file) as records:
            yield records
    else:
        model = mf.load_nl(file)
        yield [Record(model.problem(), file.stem, model.start_point())]


def _with_directions(problem: Any, n_f: int) -> Any:
    """Return the mixed LCP of a friction problem with n_f directions per contact, where that is asked for."""
    if n_f == 0:
        return problem
    if not isinstance(problem, FrictionProblem):
        raise OptionError(f"--n-f {n_f}: only friction problems have cones, not {problem!r}")
    return problem.to_mixed_lcp(n_f)


def _chosen_solver(name: str, words: Sequence[str] | None, config: Path | None) -> AbstractSolver:
    if config is None:
        return mf.solver(name, **read_pairs("--option", words))
    if words or name != "auto":
        raise OptionError("--config names the solver and its options: leave out --solver and --option")
    return load_solver(config)


def _start_point(path: Path) -> Any:
    with opened_fields(path) as fields:
        for name in ("z", "z0"):
            if name in fields:
                return np.asarray(fields[name])
        raise FileFormatError(f"{path}: has neither z nor z0 (there: {', '.join(fields)})")


def _picked(records: Sequence[Record], index: int | None, file: Path) -> Sequence[Record]:
    if not len(records):
        raise FileFormatError(f"{file}: holds no problem")
    if index is None:
        return records
    if not 0 <= index < len(records):
        raise OptionError(f"--index {index}: {file} holds problems 0 to {len(records) - 1}")
    return [records[index]]


def _prepare_out(out: Path | None, single: bool) -> None:
    """Make the folder of several answers, or check the file of a single one."""
    if out is not None and not single:
        make_folder(out, "--out")
    else:
        check_out_file(out)


def _tracked(records: Sequence[Record]) -> Iterable[Record]:
    return track(records, "solving", console=Console(stderr=True), transient=True)


def _state(solution: Solution) -> Text:
    return Text(solution.status.name, style="green" if solution.ok else "red")


def _print_one(record: Record, problem: Any, solution: Solution, tol: float) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_row("problem", Text(f"{record.name} {problem!r}".strip()))
    table.add_row("status", _state(solution))
    table.add_row("residual", f"{solution.residual:.3g}")
    table.add_row("worst row", f"{solution.scaled_residual:.3g}  (certified up to {tol:.3g})")
    if solution.relaxed_residual is not None:
        table.add_row("before polish", f"{solution.relaxed_residual:.3g}")
    by = "" if solution.method in ("", solution.solver) else f", by {solution.method}"
    table.add_row("solver", Text(solution.solver + by))
    table.add_row("iterations", str(solution.iterations))
    table.add_row("time", f"{solution.seconds:.3g} s")
    if solution.z.size <= SHORT:
        table.add_row("z", Text(_entries(problem, solution.z)))
    if solution.message or not solution.ok:
        table.add_row("note", Text(f"{solution.message}. {solution.status.remedy}".removeprefix(". ")))
    console().print(table)


def _entries(problem: Any, z: Array) -> str:
    """Return the entries of z, with their names where a model gives them some."""
    values = [f"{value:.9g}" for value in z]
    if getattr(problem, "layout", None) is not None and problem.layout.labels:
        values = [f"{problem.layout.label(i)} = {value}" for i, value in enumerate(values)]
    return ", ".join(values)


def _print_many(rows: Sequence[tuple[Record, Any, Solution]]) -> None:
    table = Table("#", "name", "n", "status", "residual", "method", "iterations", "seconds")
    for number, (record, problem, solution) in enumerate(rows):
        figures = (
            f"{solution.residual:.2e}",
            solution.method,
            str(solution.iterations),
            f"{solution.seconds:.2e}",
        )
        table.add_row(str(number), Text(record.name), str(problem.n), _state(solution), *figures)
    out = console()
    out.print(table)
    certified = sum(solution.ok for _, _, solution in rows)
    out.print(f"{certified} of {len(rows)} certified")
