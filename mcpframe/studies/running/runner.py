"""Run a study: record scenes, plan what is left, keep every row as it comes, and tell how it goes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from mcpframe.exceptions import FileFormatError, OptionError, PluginError, nearest
from mcpframe.io.folders import make_folder
from mcpframe.io.locks import try_lock
from mcpframe.io.npz import opened_fields, replacing
from mcpframe.io.trust import Code
from mcpframe.notebook import html
from mcpframe.studies.file_names import file_name
from mcpframe.studies.running.executors import Executor
from mcpframe.studies.running.executors.local import Local
from mcpframe.studies.running.guard import WorkerError
from mcpframe.studies.running.progress import Progress
from mcpframe.studies.running.task import Context
from mcpframe.studies.sources.source import Recording
from mcpframe.studies.study.export import to_table
from mcpframe.studies.study.row import Row
from mcpframe.studies.study.store import FILE_NAME, Store
from mcpframe.studies.study.study import Study
from mcpframe.studies.study.study_file import load_study, make_study
from mcpframe.studies.study.units import (
    AS_GIVEN,
    Job,
    Labelled,
    Made,
    Message,
    Recorded,
    Unit,
    all_keys,
    plan,
)

FIGURES = ("solve_seconds", "iterations")
"""Of which a notebook shows medians."""
EXECUTORS = ("local", "dask", "slurm")
OUT = Path("out")
"""Where the folders of studies are unless one is named."""
FAILURES, RECORDINGS, LOCK = "failures", "recordings", ".lock"
BEGUN = (LOCK, FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", f"{FILE_NAME}-journal")
"""What is in the folder of a study before the first row is."""


@dataclass(frozen=True, repr=False)
class Results:
    """What a study has come to.

    Attributes:
        rows: all of them.
        header: what they were made with.
        folder: where they are kept.
    """

    rows: list[Row]
    header: dict[str, Any]
    folder: Path

    def __repr__(self) -> str:
        solved = sum(row.ok for row in self.rows)
        name = self.header.get("name", "")
        return f"Results({name!r}, rows={len(self.rows)}, solved={solved}, folder={str(self.folder)!r})"

    def _repr_html_(self) -> str:
        solved, count = sum(row.ok for row in self.rows), len(self.rows)
        about = {
            "rows": count,
            "solved": html.verdict(f"{solved} of {count}", solved == count),
            "folder": self.folder,
        }
        heads = ("formulation", "solver", "start", "solved", "median solve", "median iterations")
        return html.card(
            f"Results of {self.header.get('name', '')!r}", about, html.grid(heads, self._columns())
        )

    def _columns(self) -> list[tuple[object, ...]]:
        """Return how every formulation did with every solver: rows solved, and medians over these."""
        groups: dict[tuple[str, str, str], list[Row]] = {}
        for row in self.rows:
            groups.setdefault((row.formulation, row.solver, row.start), []).append(row)
        return [(*key, *_summary(rows)) for key, rows in groups.items()]

    def report(self) -> Path:
        """Write report.html, report.md and report.png into the folder; return the path of the page."""
        from mcpframe.studies.report import write_report  # takes a while to import

        return write_report(self.rows, self.header, self.folder, self.header.get("published"))

    def to_dataframe(self) -> Any:
        """Return the rows as a pandas DataFrame, a column for every field of `Row` and every label.

        Raises:
            PluginError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise PluginError(
                f"to_dataframe needs pandas ({error}): pip install pandas, or 'mcpframe[notebook]'; "
                "mcpframe.studies.study.export.to_table gives plain columns"
            ) from None
        return pd.DataFrame(to_table(self.rows))


def run_study(
    study: Study | Mapping[str, Any] | str | os.PathLike[str],
    *,
    executor: str | Executor = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    slurm: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    allow_code: bool | Code = True,
) -> Results:
    """Run a study, or what is left of it, and return its rows.

    Args:
        study: a study, the path of its file, or a dict with the keys of one.
        executor: "local", "dask", "slurm", or an executor.
        workers: worker processes, or jobs of Slurm.
        scheduler: address of a dask scheduler.
        slurm: options of Slurm's jobs, as ``{"partition": "short", "time": 30}``.
        out: folder of the study; ``out/NAME`` unless given, with what a folder cannot be called replaced
            in the name. Rows that are there are not made again.
        progress: show on the terminal or in the notebook how it goes.
        allow_code: run the code that the file, or the dict, and its scenes name; see `load_study`.

    Raises:
        OptionError: the folder holds rows made with other settings, versions or on another machine.

    >>> results = run_study("study.toml", executor="local", workers=2)  # doctest: +SKIP
    """
    if isinstance(study, Mapping):
        study = make_study(study, allow_code=allow_code)
    elif not isinstance(study, Study):
        study = load_study(study, allow_code=allow_code)
    folder = Path(out) if out is not None else OUT / file_name(study.name)
    for source in study.sources:
        source.prepare(study.place(), progress)
    if not isinstance(executor, str):
        return _run(study, executor, folder, progress)
    with contextlib.closing(make_executor(executor, workers, scheduler, slurm, folder)) as made:
        return _run(study, made, folder, progress)


def _run(study: Study, executor: Executor, folder: Path, progress: bool) -> Results:
    header = header_of(study, executor)
    with _begun(folder), _alone(folder), Store.open(folder / FILE_NAME, header) as store:
        store.note(published=[dict(table) for table in study.published])  # of this run, if it goes on
        with Progress(study.name, progress) as bar:
            _record_scenes(study, executor, folder, bar)
            context = Context(study, _recordings(study, folder))
            groups = context.groups()
            bar.begin(sum(1 for _ in all_keys(study, groups)), len(store))
            chains = plan(study, groups, store)
            with _telling_of(store, folder), contextlib.closing(executor.run(context, chains)) as messages:
                for message in messages:
                    _keep(message, store, folder)
                    bar.show(message)
        if chains:
            store.note(finished=_now())
        return Results(store.rows(), store.header, folder)


@contextlib.contextmanager
def _telling_of(store: Store, folder: Path) -> Iterator[None]:
    """Say in the error of lost workers, or of a full disk, what is kept, and how to go on."""
    try:
        yield
    except (FileFormatError, WorkerError) as error:
        kept = f"the {len(store)} rows so far are kept in {folder}" if len(store) else "no row is kept yet"
        raise type(error)(f"{error}; {kept}, and the same command goes on") from None


def _summary(rows: list[Row]) -> tuple[object, ...]:
    solved = [row for row in rows if row.ok]
    counted = html.verdict(f"{len(solved)} of {len(rows)}", len(solved) == len(rows))
    if not solved:
        return counted, "", ""
    seconds, iterations = (float(np.median([getattr(row, name) for row in solved])) for name in FIGURES)
    return counted, html.duration(seconds), f"{iterations:g}"


def make_executor(
    name: str,
    workers: int | None = None,
    scheduler: str | None = None,
    slurm: Mapping[str, Any] | None = None,
    folder: Path = OUT,
) -> Executor:
    """Return an executor by its name; the folder is that of the study."""
    if name not in EXECUTORS:
        raise OptionError(f"executor {name!r};{nearest(name, EXECUTORS)} (known: {', '.join(EXECUTORS)})")
    if slurm and name != "slurm":
        raise OptionError(f"slurm: is for the executor 'slurm', not {name!r}")
    if name == "dask":
        from mcpframe.studies.running.executors.dask_cluster import Dask

        return Dask(scheduler, workers)
    if scheduler is not None:
        raise OptionError(f"scheduler {scheduler!r}: is for the executor 'dask'")
    if name == "slurm":
        from mcpframe.studies.running.executors.slurm import Slurm

        return Slurm(folder, workers, slurm)
    return Local(workers)


def header_of(study: Study, executor: Executor) -> dict[str, Any]:
    """Return what the rows of a study are made with."""
    settings = study.settings
    return {
        "name": study.name,
        "started": _now(),
        "finished": "",
        "mcpframe": executor.provenance()["versions"].get("mcpframe", ""),
        **executor.provenance(),
        "threads": settings.threads,
        "tol": settings.tol,
        "time_limit": settings.time_limit,
        "repeats": settings.repeats,
        "config": study.config(),
        "executor": executor.describe(),
        "published": [dict(table) for table in study.published],
    }


def _keep(message: Message, store: Store, folder: Path) -> None:
    """Write what a message brings to the store, and the problem of a failed row beside it."""
    if isinstance(message, Labelled):
        store.label(message.case, message.labels)
    elif isinstance(message, Made) and not store.has(message.row.key):
        row = message.row
        if message.problem is not None:
            row = replace(row, problem_file=_save_failure(row, message.problem, folder))
        store.add(row, message.chain, message.carry)


def _save_failure(row: Row, problem: bytes, folder: Path) -> str:
    """Write the problem of a failed row, once for all solvers; return where, seen from the folder."""
    place = Path(FAILURES) / f"{file_name(f'{row.case}-{row.formulation}')}.npz"
    if not (folder / place).exists():
        make_folder(folder / FAILURES, "--out")
        with replacing(folder / place) as stream:
            stream.write(problem)
    return place.as_posix()


def _record_scenes(study: Study, executor: Executor, folder: Path, bar: Progress) -> None:
    """Run the scenes whose runs are not in the folder."""
    missing = [(s, g) for s, g in _runs(study) if not _run_file(study, folder, s, g).exists()]
    chains = [[Unit("record", s, g, AS_GIVEN, (Job(0, 0, 0),))] for s, g in missing]
    if not chains:
        return
    with contextlib.closing(executor.run(Context(study), chains)) as messages:
        for message in messages:
            bar.show(message)
            if isinstance(message, Recorded):
                _save_run(study, folder, message)


def _save_run(study: Study, folder: Path, run: Recorded) -> None:
    if run.reason:
        name = study.sources[run.source].name
        raise OptionError(f"problems {name!r}: its scene did not run to the end: {run.reason}")
    path = _run_file(study, folder, run.source, run.group)
    make_folder(path.parent, "--out")
    with replacing(path) as stream:
        np.savez(stream, **run.recording)  # type: ignore[arg-type]


def _recordings(study: Study, folder: Path) -> dict[int, dict[int, Recording]]:
    """Return the runs of all scenes."""
    found: dict[int, dict[int, Recording]] = {}
    for s, g in _runs(study):
        with opened_fields(_run_file(study, folder, s, g)) as fields:
            found.setdefault(s, {})[g] = {name: np.asarray(field) for name, field in fields.items()}
    return found


def _runs(study: Study) -> list[tuple[int, int]]:
    """Return source and group of every scene that is to be run."""
    scenes = [(s, source) for s, source in enumerate(study.sources) if source.needs_recording()]
    return [(s, g) for s, source in scenes for g in range(source.most_cases(study.place())[0])]


def _run_file(study: Study, folder: Path, s: int, g: int) -> Path:
    return folder / RECORDINGS / f"{file_name(study.sources[s].name)}-{g:03d}.npz"


@contextlib.contextmanager
def _begun(folder: Path) -> Iterator[None]:
    """Make a folder; where nothing comes of the study, it goes again, with what was begun in it."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    make_folder(folder, "--out")
    try:
        yield
    except Exception:
        if made and not _has_rows(folder) and not (folder / RECORDINGS).exists():
            for name in BEGUN:
                (folder / name).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # something else is in it
                for path in made:
                    path.rmdir()
        raise


def _has_rows(folder: Path) -> bool:
    try:
        with Store.read(folder) as store:
            return len(store) > 0
    except FileFormatError:
        return False


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Refuse to work in a folder where another run is at work."""
    with (folder / LOCK).open("a") as stream:  # not "w": a link of that name would empty another file
        if not try_lock(stream):
            raise OptionError(f"--out {folder}: another run is at work there; wait for it, or give another")
        yield


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
