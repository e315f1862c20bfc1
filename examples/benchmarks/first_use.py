"""What the first use costs: compiling all kernels from an empty cache, and loading them from a warm one.

    python examples/benchmarks/first_use.py [--quick] [--modules mcpframe.problem.residual,...] [--loads 5]

A fresh process imports every module of mcpframe, with the cache of Numba in a temporary folder of its own;
then others do the same again. Per module: kernels, wall and CPU time of compiling or loading them, helpers
included. On a machine with other work, CPU time is the figure to trust. Also printed: what a user reads while
kernels are compiled. Writes out/bench/first_use.json and out/bench/first_use.png.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from plots.first_use import plot
from reporting.study import opening, parser, write
from reporting.tables import seconds_text
from rich.console import Console
from rich.table import Table

CLOCK = Path(__file__).parent / "measuring" / "compile_clock.py"
MULTIBODY = ("mcpframe.multibody.kernels.entries", "mcpframe.formulations.operational.kernels")
"""Kernels of the dynamics and of `os`, which `--quick` keeps to."""


@dataclass(frozen=True)
class Module:
    """Compiling (cold) and loading (warm) the kernels of one module, or importing it where it has none.

    Attributes:
        cold, warm: (wall, CPU) seconds; warm is the least of several processes.
    """

    name: str
    kernels: int
    cold: tuple[float, float]
    warm: tuple[float, float]


@dataclass(frozen=True)
class Report:
    """What one fresh process said.

    Attributes:
        parts: by module, kernels, wall and CPU seconds; imports without kernels come first.
        wall: seconds from start to end of the process.
        lines: what it wrote for its user to read.
    """

    parts: dict[str, tuple[int, float, float]]
    wall: float
    lines: list[str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    options = parse(arguments)
    console, facts = opening("First use", page=options.page)
    with TemporaryDirectory() as cache, console.status("compiling in a fresh process ...") as status:
        cold = fresh_process(options.modules, cache)
        status.update("loading in fresh processes ...")
        warm = [fresh_process(options.modules, cache) for _ in range(options.loads)]
    modules = [module_of(name, cold, warm) for name in cold.parts]
    report(console, modules, cold, warm)
    walls = {"cold": cold.wall, "warm": min(load.wall for load in warm)}
    write(
        console,
        Path(options.out),
        "first_use",
        facts,
        modules=[asdict(module) for module in modules],
        process_wall=walls,
        lines={"cold": cold.lines, "warm": warm[0].lines},
    )
    plot([module for module in modules if module.kernels], Path(options.out) / "first_use.png")
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    line = parser(__doc__)
    line.add_argument("--modules", default="", help="modules to import, all unless given")
    line.add_argument("--loads", type=int, default=5, help="processes that load from the warm cache")
    options = line.parse_args(arguments)
    options.modules = [name for name in options.modules.split(",") if name]
    if options.quick:
        options.modules, options.loads = options.modules or list(MULTIBODY), min(options.loads, 2)
    return options


def fresh_process(modules: Sequence[str], cache: str) -> Report:
    """Return what importing modules costs in a new process with its cache of kernels in a given folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    environment.pop("MCPFRAME_QUIET", None)
    clock = perf_counter()
    done = subprocess.run(
        [sys.executable, str(CLOCK), *modules], env=environment, capture_output=True, text=True, check=False
    )
    wall = perf_counter() - clock
    if done.returncode:
        raise RuntimeError(f"importing the modules failed:\n{done.stderr}")
    parts: dict[str, Any] = json.loads(done.stdout)
    return Report({name: tuple(part) for name, part in parts.items()}, wall, done.stderr.splitlines())


def module_of(name: str, cold: Report, warm: Sequence[Report]) -> Module:
    """Return the figures of one module."""
    kernels, *first = cold.parts[name]
    loads = [load.parts[name][1:] for load in warm]
    least = tuple(min(load[k] for load in loads) for k in range(2))
    return Module(name, kernels, (first[0], first[1]), (least[0], least[1]))


def report(console: Console, modules: Sequence[Module], cold: Report, warm: Sequence[Report]) -> None:
    """Print the table, and what a user reads meanwhile."""
    table = module_table(modules)
    least = min(load.wall for load in warm)
    table.add_row("whole process, wall", "", seconds_text(cold.wall), seconds_text(least))
    console.print(table)
    console.print(f"lines to read: {len(cold.lines)} on an empty cache, {len(warm[0].lines)} on a warm one")
    for line in cold.lines:
        console.print(f"  {line}", style="dim")


def module_table(modules: Sequence[Module]) -> Table:
    """Return the imports, the modules with kernels, and the sum of these."""
    table = Table(title="kernels by module: wall (CPU) time", title_justify="left")
    table.add_column("module")
    for name in ("kernels", "compiled, empty cache", "loaded, warm cache"):
        table.add_column(name, justify="right")
    for module in [module for module in modules if not module.kernels]:
        table.add_row(module.name, "", both(module.cold), both(module.warm), style="dim")
    table.add_section()
    compiled = [module for module in modules if module.kernels]
    for module in compiled:
        table.add_row(module.name, str(module.kernels), both(module.cold), both(module.warm))
    table.add_section()
    compiling, loading = total([m.cold for m in compiled]), total([m.warm for m in compiled])
    count = sum(module.kernels for module in compiled)
    table.add_row("all kernels", str(count), both(compiling), both(loading), style="bold")
    return table


def total(times: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the sums of wall and of CPU times."""
    return sum(wall for wall, _ in times), sum(cpu for _, cpu in times)


def both(times: tuple[float, float]) -> str:
    """Return wall and CPU time."""
    return f"{seconds_text(times[0])} ({seconds_text(times[1])})"


if __name__ == "__main__":
    raise SystemExit(main())
