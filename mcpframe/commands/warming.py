"""``mcpframe warmup``: compile every kernel now, so that no later call has to.

Several processes share the work. Whoever compiles a kernel claims it, by making a file that must not exist;
whoever needs one that is claimed waits, and finds it in the cache. The loop of a simulation takes half of the
time of all, so it comes first: its modules are imported, from both ends, for they compile what they call by
address, then it is compiled while helpers do the rest. More than two or three processes gain nothing.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import pkgutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import perf_counter, sleep
from typing import Annotated, Any

import typer
from numba.core import event
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import mcpframe
from mcpframe.commands.terminal import console
from mcpframe.jit import KERNELS, largest_first, ready, settle, taking_turns

WARMUP_EPILOG = "Takes two or three minutes the first time, and seconds when there is nothing to do."
STEPPER = "mcpframe.simulation.step"
"""Where the kernel is that takes longest, with all that it calls."""
MOST_JOBS = 3
"""Processes beyond which nothing is gained."""
PATIENCE = 600.0
"""Seconds after which another process is given up that has claimed a kernel."""
TICK = 0.1
"""Seconds between two looks at how far other processes are."""


def warmup(
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=0, help="Processes that compile; 0: as the cores allow.")
    ] = 0,
) -> None:
    """Compile all kernels, once; they are cached for every later run.

    Without it the first call that needs a kernel compiles it, and says so.
    """
    start = perf_counter()
    helpers = (jobs or min(os.cpu_count() or 1, MOST_JOBS)) - 1
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        Progress(*columns, console=Console(stderr=True), transient=True) as progress,
        tempfile.TemporaryDirectory() as folder,
        _quietly(),
        taking_turns(partial(_turn, Path(folder))),
        _Helpers(helpers, folder) as others,
    ):
        task = progress.add_task("stepper", total=None)
        _import(f"{STEPPER}.advance")
        for largest in largest_first()[:1]:
            settle(largest)
        progress.reset(task, description="modules")
        for name in progress.track(list(_modules()), task_id=task):
            _import(name)
        progress.reset(task, total=len(KERNELS), description="kernels")
        for begun in _compile_all(Path(folder), others):
            progress.update(task, completed=begun)
    console().print(f"{len(KERNELS)} kernels are ready, after {perf_counter() - start:.1f} s")


def _modules() -> Iterator[str]:
    """Yield all modules of mcpframe by name."""
    for module in pkgutil.walk_packages(mcpframe.__path__, "mcpframe.", onerror=lambda name: None):
        if not module.name.endswith("__main__"):
            yield module.name


def _import(name: str) -> None:
    """Import a module, unless it needs what is not installed; kernels it calls by address are compiled."""
    try:
        importlib.import_module(name)
    except ImportError as error:
        if (error.name or "").split(".")[0] == "mcpframe":
            raise


def _compile_all(claims: Path, others: _Helpers) -> Iterator[int]:
    """Compile all kernels; yield how many are compiled or under way."""
    for _ in _compile_unclaimed(claims):
        yield len(list(claims.glob("*.claim")))
    while others.at_work(TICK):
        yield len(list(claims.glob("*.claim")))
    ready()  # takes from the cache what others have compiled


def _compile_unclaimed(claims: Path) -> Iterator[None]:
    """Compile the kernels that no process has claimed, the largest first."""
    for kernel in largest_first():
        if not _file(claims, kernel, "claim").exists():
            settle(kernel)
            yield


def _file(claims: Path, kernel: Any, what: str) -> Path:
    return claims / f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}.{what}"


@contextlib.contextmanager
def _turn(claims: Path, kernel: Any) -> Iterator[None]:
    """Claim a kernel while it is compiled; where another process has, wait until it is in the cache."""
    done = _file(claims, kernel, "done")
    try:
        _file(claims, kernel, "claim").touch(exist_ok=False)
    except FileExistsError:
        patience = perf_counter() + PATIENCE
        while not done.exists() and perf_counter() < patience:
            sleep(TICK)
        yield
        return
    try:
        yield
    finally:
        done.touch()


class _Helpers(event.Listener):  # type: ignore[misc]
    """Processes that help; they start with the first kernel that is not in the cache."""

    def __init__(self, count: int, folder: str) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._waiting = [
            spawning.Process(target=_help, args=(folder,), daemon=True) for _ in range(max(count, 0))
        ]
        self._started: list[Any] = []

    def on_start(self, event: Any) -> None:
        """Begin, as something is being compiled."""
        while self._waiting:
            self._waiting[-1].start()
            self._started.append(self._waiting.pop())

    def on_end(self, event: Any) -> None:
        """Go on."""

    def at_work(self, seconds: float) -> bool:
        """Wait a little; return whether some process still compiles."""
        for process in self._started:
            process.join(seconds)
        return any(process.is_alive() for process in self._started)

    def __enter__(self) -> _Helpers:
        event.register("numba:compile", self)
        return self

    def __exit__(self, *error: object) -> None:
        event.unregister("numba:compile", self)
        for process in self._started:
            process.terminate()
            process.join()


def _help(folder: str) -> None:
    """Compile what nobody else does."""
    claims = Path(folder)
    with contextlib.suppress(KeyboardInterrupt), _quietly(), taking_turns(partial(_turn, claims)):
        for name in sorted(_modules(), key=lambda name: (name.startswith(STEPPER), name), reverse=True):
            _import(name)
        for _ in _compile_unclaimed(claims):
            pass


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Say nothing about single kernels: the bar tells."""
    said = os.environ.get("MCPFRAME_QUIET", "")
    os.environ["MCPFRAME_QUIET"] = "1"
    try:
        yield
    finally:
        os.environ["MCPFRAME_QUIET"] = said
