"""``mcpframe warmup``: compile every kernel now, so that no later call has to."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterator
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import mcpframe
from mcpframe.commands.terminal import console
from mcpframe.jit import KERNELS, ready

WARMUP_EPILOG = "Takes a minute or two the first time, and less than a second when there is nothing to do."


def warmup() -> None:
    """Compile all kernels, once; they are cached for every later run.

    Without it the first call that needs a kernel compiles it, and says so.
    """
    start = perf_counter()
    names = list(_modules())
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(names))
        for name in names:
            progress.update(task, description=name)
            _compile(name)
            progress.advance(task)
    console().print(f"{len(KERNELS)} kernels are ready, after {perf_counter() - start:.1f} s")


def _modules() -> Iterator[str]:
    """Yield all modules of mcpframe by name."""
    for module in pkgutil.walk_packages(mcpframe.__path__, "mcpframe.", onerror=lambda name: None):
        if not module.name.endswith("__main__"):
            yield module.name


def _compile(name: str) -> None:
    """Import a module, unless it needs what is not installed, and compile its kernels without a word."""
    said = os.environ.get("MCPFRAME_QUIET", "")
    os.environ["MCPFRAME_QUIET"] = "1"  # the bar tells
    try:
        importlib.import_module(name)
        ready()
    except ImportError:
        pass
    finally:
        os.environ["MCPFRAME_QUIET"] = said
