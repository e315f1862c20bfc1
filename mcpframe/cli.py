"""Command line: ``mcpframe list`` and ``mcpframe solve``.

Exit status: 0 when all went well, 1 when an answer is not certified, 2 on misuse (one line on stderr).
"""

from __future__ import annotations

import math
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

import mcpframe as mf
from mcpframe.config import FAMILIES, load_solver
from mcpframe.exceptions import FileFormatError, McpframeError, OptionError, PluginError, nearest
from mcpframe.friction import FrictionProblem
from mcpframe.io.detect import open_records
from mcpframe.io.npz import read_fields, save_solution
from mcpframe.io.records import Record
from mcpframe.plugin import AbstractPlugin, AbstractSolver, describe_options
from mcpframe.solution import Solution

WIDE = 160
"""Columns where the output is no terminal, so that lines stay whole for grep."""

app = typer.Typer(
    help="Contact dynamics as mixed complementarity problems: solve them, and know that they are solved.",
    epilog="Start with **mcpframe list**, then **mcpframe solve FILE**.",
    add_completion=False,
    rich_markup_mode="markdown",
)

SOLVE_EPILOG = """
Examples:

    mcpframe solve problem.npz

    mcpframe solve problem.npz --solver lemke --option max_pivots=500 --out solution.npz

    mcpframe solve problem.npz --config solver.toml --z0 solution.npz

    mcpframe solve corpus.h5 --index 3 --log

Make a file with mcpframe.save_problem("problem.npz", mcpframe.MixedLCP(M, q, lower, upper)), or with numpy
alone: an .npz file with the arrays M, q, lower and upper.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    debug = "--debug" in words
    try:
        return int(app([word for word in words if word != "--debug"], "mcpframe", standalone_mode=False) or 0)
    except Exception as error:
        if debug:
            raise
        print(f"mcpframe: error: {_one_line(error)}", file=sys.stderr)
        return 2


def _one_line(error: Exception) -> str:
    if isinstance(error, McpframeError):
        message = str(error)
    elif hasattr(error, "format_message"):  # misuse that the argument parser found
        message = error.format_message()
    else:
        message = f"{type(error).__name__}: {error} (unexpected; --debug shows where)"
    return " ".join(message.split())


def _print_version(asked: bool) -> None:
    if asked:
        print(f"mcpframe {mf.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Hold the options that come before the command."""


@app.command("list", epilog="Example: **mcpframe list lemke**")
def list_plugins(
    name: Annotated[str | None, typer.Argument(help="Show this plugin only.", show_default=False)] = None,
) -> None:
    """Show every plugin, its options with defaults and ranges, and whether it can run here."""
    families = {
        family: [key for key in registry.names() if name in (None, key)]
        for family, registry in FAMILIES.items()
    }
    if name is not None and not any(families.values()):
        known = [key for registry in FAMILIES.values() for key in registry.names()]
        raise PluginError(f"no plugin is called {name!r};{nearest(name, known)} known: {', '.join(known)}")
    console = _console()
    for family, names in families.items():
        if name is None or names:
            console.print(
                Text(f"{family}s" if names else f"{family}s: none installed", style="bold underline")
            )
        for key in names:
            _print_plugin(console, family, key)


def _print_plugin(console: Console, family: str, name: str) -> None:
    try:
        cls: type[AbstractPlugin] = FAMILIES[family].get(name)
    except PluginError as error:
        console.print(Text.assemble((f"  {name}", "bold"), (f"  not available: {error}", "red")))
        return
    reason = cls.why_unavailable()
    state = (f"not available: it {reason}", "red") if reason else ("available", "green")
    console.print(Text.assemble((f"  {name}", "bold cyan"), f"  {cls.summary()} ", state))
    table = Table.grid(padding=(0, 2))
    for option in describe_options(cls):
        cells = (f"      {option.name}", option.kind, f"= {option.default}", option.range, option.description)
        table.add_row(*map(Text, cells))
    console.print(table)


File = Annotated[Path, typer.Argument(help="One problem (.npz), a corpus (.h5), or an FCLIB file (.hdf5).")]
Solver = Annotated[str, typer.Option(help="Solver by name; see mcpframe list.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="KEY=VALUE", help="An option of the solver; repeatable."),
]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="TOML file with a [solver] table, instead of --solver.")
]
Tolerance = Annotated[float, typer.Option(help="Certified: natural residual <= tol * (1 + max |q|).")]
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


@app.command(epilog=SOLVE_EPILOG)
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
    chosen = _chosen_solver(solver, option or [], config)
    start = None if z0 is None else _start_point(z0)
    with open_records(file) as records:
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


def _with_directions(problem: Any, n_f: int) -> Any:
    """Return the mixed LCP of a friction problem with n_f directions per contact, where that is asked for."""
    if n_f == 0:
        return problem
    if not isinstance(problem, FrictionProblem):
        raise OptionError(f"--n-f {n_f}: only friction problems have cones, not {problem!r}")
    return problem.to_mixed_lcp(n_f)


def _chosen_solver(name: str, words: Sequence[str], config: Path | None) -> AbstractSolver:
    if config is None:
        return mf.solver(name, **dict(map(_option, words)))
    if words or name != "auto":
        raise OptionError("--config names the solver and its options: leave out --solver and --option")
    return load_solver(config)


def _option(word: str) -> tuple[str, Any]:
    """Return key and value of KEY=VALUE, the value read as in TOML, or as plain text."""
    key, equals, text = word.partition("=")
    if not equals:
        raise OptionError(f"--option {word}: write it as KEY=VALUE")
    try:
        return key.strip(), tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), text.strip()


def _start_point(path: Path) -> Any:
    fields = read_fields(path)
    for name in ("z", "z0"):
        if name in fields:
            return fields[name]
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
    """Refuse a bad --out before the work is done, not after."""
    if out is None:
        return
    if not single:
        out.mkdir(parents=True, exist_ok=True)
    elif out.is_dir() or not out.absolute().parent.is_dir():
        raise OptionError(f"--out {out}: must be a file in a folder that exists")


def _tracked(records: Sequence[Record]) -> Iterable[Record]:
    return track(records, "solving", console=Console(stderr=True), transient=True)


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else WIDE, highlight=False)


def _state(solution: Solution) -> Text:
    return Text(solution.status.name, style="green" if solution.ok else "red")


def _print_one(record: Record, problem: Any, solution: Solution, tol: float) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_row("problem", Text(f"{record.name} {problem!r}".strip()))
    table.add_row("status", _state(solution))
    table.add_row("residual", f"{solution.residual:.3g}  (certified up to {tol * problem.scale:.3g})")
    if solution.relaxed_residual is not None:
        table.add_row("before polish", f"{solution.relaxed_residual:.3g}")
    table.add_row("solver", Text(f"{solution.solver}, answered by {solution.method}"))
    table.add_row("iterations", str(solution.iterations))
    table.add_row("time", f"{solution.seconds:.3g} s")
    if solution.message or not solution.ok:
        table.add_row("note", Text(f"{solution.message}. {solution.status.remedy}".removeprefix(". ")))
    _console().print(table)


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
    console = _console()
    console.print(table)
    certified = sum(solution.ok for _, _, solution in rows)
    console.print(f"{certified} of {len(rows)} certified")
