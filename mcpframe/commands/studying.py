"""``mcpframe study``: compare formulations and solvers on many problems, as a file says."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from mcpframe.commands.terminal import AllowCode, Command, Group, check_out_file, console, quoted, read_pairs
from mcpframe.exceptions import OptionError, PluginError
from mcpframe.io.trust import Code

if TYPE_CHECKING:
    from mcpframe.studies.study.row import Row  # studies bring kernels, which are loaded when one is run

RUN_EPILOG = """
Examples:

    mcpframe study run examples/studies/solvers_quick.toml --out out/quick

    mcpframe study run study.toml --workers 2

    mcpframe study run study.toml --executor dask --scheduler tcp://host:8786

    mcpframe study run study.toml --executor slurm --workers 32 --slurm partition=short --slurm time=30

A study that was stopped goes on where it was: run the same command again. The folder gets study.sqlite,
report.html, and in failures/ the problems that were not solved, for mcpframe solve.
"""
CHECK_EPILOG = """
Example:

    mcpframe study check study.toml
"""
REPORT_EPILOG = """
Example:

    mcpframe study report out/quick
"""
EXPORT_EPILOG = """
Example:

    mcpframe study export out/quick --csv rows.csv --parquet rows.parquet
"""
TIMES = "medians of the solved: solve, the time inside the solver; total, to build, solve and recover"

study_app = typer.Typer(
    cls=Group,
    help="Compare formulations and solvers on many problems, as a TOML file says.",
    rich_markup_mode="markdown",
    no_args_is_help=True,
)


class ExecutorName(StrEnum):
    """Who runs a study."""

    local = "local"
    dask = "dask"
    slurm = "slurm"


StudyFile = Annotated[Path, typer.Argument(metavar="FILE", help="TOML file of the study.")]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a study.")]
Executor = Annotated[
    ExecutorName,
    typer.Option(help="Processes of this machine, workers of a dask cluster, or jobs of Slurm."),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Worker processes, or jobs of Slurm.  [default: one less than cores; 8 jobs]"),
]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="A dask scheduler; without it a cluster is started here."),
]
SlurmOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--slurm", metavar="KEY=VALUE", help="An option of Slurm's jobs, such as partition=short; repeatable."
    ),
]
Out = Annotated[Path | None, typer.Option(help="Folder for rows, report and failures.  [default: out/NAME]")]
Report = Annotated[bool, typer.Option(help="Write the report at the end.")]
CsvFile = Annotated[Path | None, typer.Option("--csv", help="Write the rows to this CSV file.")]
ParquetFile = Annotated[Path | None, typer.Option("--parquet", help="Write the rows to this Parquet file.")]


@study_app.command("run", cls=Command, epilog=RUN_EPILOG)
def run(
    file: StudyFile,
    executor: Executor = ExecutorName.local,
    workers: Workers = None,
    scheduler: Scheduler = None,
    slurm: SlurmOptions = None,
    out: Out = None,
    report: Report = True,
    allow_code: AllowCode = False,
) -> None:
    """Run a study, or what is left of it, and write its report."""
    from mcpframe.studies.running.runner import run_study

    try:
        results = run_study(
            file,
            executor=executor.value,
            workers=workers,
            scheduler=scheduler,
            slurm=read_pairs("--slurm", slurm),
            out=out,
            progress=sys.stderr.isatty(),
            allow_code=Code.of_command(allow_code),
        )
    except KeyboardInterrupt:
        print("mcpframe: stopped; the rows so far are kept, and the same command goes on", file=sys.stderr)
        raise typer.Exit(130) from None
    console().print(_summary(results.rows))
    console().print(Text(f"rows       {len(results.rows)}, in {results.folder}"))
    if report:
        try:
            _report(results.folder)
        except PluginError as error:
            raise PluginError(f"{error}, then: mcpframe study report {quoted(results.folder)}") from None


@study_app.command("check", cls=Command, epilog=CHECK_EPILOG)
def check(file: StudyFile) -> None:
    """Check a study file and tell how much work it is; nothing is kept, and no code that it names is run."""
    from mcpframe.studies.running.estimate import estimate
    from mcpframe.studies.study.study_file import load_study

    study = load_study(file, allow_code=Code.SKIP)
    shares = estimate(study)
    table = Table("problems", "from", "grid", "cases", "rows", "one worker", box=None, pad_edge=False)
    for share in shares:
        counted = share.seconds is not None or share.kind == "system"
        most, untried = ("", "not tried") if counted else ("at most ", "after its run")
        seconds = untried if share.seconds is None else _time(share.seconds)
        words = (f"{most}{share.cases}", f"{most}{share.rows}", seconds)
        table.add_row(share.source, share.kind, str(share.groups), *words)
    console().print(table)
    for name in study.settings.imports:
        console().print(Text(f"imports    {name}: not run by a check, nor is what it registers tried"))
    for name in filter(None, (source.code_named() for source in study.sources)):
        console().print(Text(f"system     {name}: not run by a check, nor are its models tried"))
    rows = sum(share.rows for share in shares)
    columns = f"{len(study.formulations)} formulations, {len(study.solvers)} solvers"
    limit = _time(rows * study.settings.time_limit)
    console().print(Text(f"{study.name}: {columns}, {rows} rows; if every solve took its limit, {limit}"))


@study_app.command("report", cls=Command, epilog=REPORT_EPILOG)
def report(folder: Folder) -> None:
    """Write the report of a study from its rows."""
    _report(folder)


@study_app.command("export", cls=Command, epilog=EXPORT_EPILOG)
def export(folder: Folder, csv: CsvFile = None, parquet: ParquetFile = None) -> None:
    """Write the rows of a study as a table for other programs."""
    from mcpframe.studies.study.export import to_csv, to_parquet
    from mcpframe.studies.study.store import Store

    if csv is None and parquet is None:
        raise OptionError("say where: --csv FILE, --parquet FILE, or both")
    for path in (csv, parquet):
        check_out_file(path)
    with Store.read(folder) as store:
        rows = store.rows()
    for path, write in ((csv, to_csv), (parquet, to_parquet)):
        if path is not None:
            write(rows, path)
            console().print(Text(f"{len(rows)} rows written to {path}"))


def _report(folder: Path) -> None:
    from mcpframe.studies.report import write_report
    from mcpframe.studies.study.store import Store

    with Store.read(folder) as store:
        rows, header = store.rows(), store.header
    page = write_report(rows, header, folder if folder.is_dir() else folder.parent, header.get("published"))
    console().print(Text(f"report     {page}  (open it in a browser)"))


def _summary(rows: Sequence[Row]) -> Table:
    """Return how every solver has done in every formulation, with medians over the rows that it solved."""
    table = Table(box=None, pad_edge=False, caption=TIMES, caption_justify="left")
    for name in ("formulation", "solver", "start"):
        table.add_column(name)
    for name in ("solved", "of", "false claims", "median solve", "median total"):
        table.add_column(name, justify="right")
    columns: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        columns.setdefault((row.formulation, row.solver, row.start), []).append(row)
    for names, own in columns.items():
        solved = [row for row in own if row.ok]
        false = sum(not row.claim_right for row in own)
        middles = (_middle([row.solve_seconds for row in solved]), _middle([_total(row) for row in solved]))
        table.add_row(*names, str(len(solved)), str(len(own)), str(false), *middles)
    return table


def _total(row: Row) -> float:
    return row.build_seconds + row.solve_seconds + row.recover_seconds


def _middle(seconds: Sequence[float]) -> str:
    return f"{1e3 * median(seconds):.3g} ms" if seconds else ""


def _time(seconds: float) -> str:
    for size, unit in ((3600.0, "h"), (60.0, "min"), (1.0, "s")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return "less than 1 s"
