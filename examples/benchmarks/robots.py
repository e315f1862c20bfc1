"""Whole steps of robots beside MuJoCo, one MJCF file for both: joint limits, motors, contacts, loops.

    python examples/benchmarks/robots.py [--quick] [--seconds 20] [--only NAME] [--duration 5] [--markdown]

Quadruped (18 dofs) standing and falling from 0.5 m, arm (7) pressing against joint limits and floor,
humanoid (28) standing and falling, four-bar, and a plate on six legs with six loops. PD at the joints: ours
as `PD` and as a Python function, MuJoCo's by its position actuators and from Python. Event-driven steps of
1 ms, friction, no restitution, MuJoCo's contacts as they come. One core; in every round all take turns: ours
with everything recorded in memory, MuJoCo with nothing. Shares are medians over the rounds, since other work
on a machine slows all that take turns; times are the least. Models are built, and ours prepared for the first
step, before the clock runs.

--seconds is the time for one engine on one robot: where the slowest cannot take --duration seconds of steps
in it, all of them take fewer. Writes out/bench/robots.json, and the files of the robots to out/bench/robots;
--markdown writes the tables to robots.md too.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from measuring.robots import RobotCell, measured
from reporting.robots import events_sheet, times_sheet
from reporting.sheets import show
from reporting.study import opening, parser, save_figures
from rich.console import Console
from subjects.robots import SUBJECTS, write_file

from mcpframe.exceptions import McpframeError

QUICK_STEPS = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    options = parse(arguments)
    console, facts = opening("Robots", ("mujoco",), options.page)
    if find_spec("mujoco") is None:
        console.print("mujoco, which reads the files, is not installed: pip install 'mcpframe[robots]'")
        return 2
    names = [name for name in SUBJECTS if not options.only or any(text in name for text in options.only)]
    cells, left_out = all_cells(console, names, options)
    out = Path(options.out)
    show(console, [times_sheet(cells), events_sheet(cells)], out / "robots.md" if options.markdown else None)
    save_figures(console, out, "robots", facts, cells=[asdict(cell) for cell in cells], left_out=left_out)
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    line = parser(__doc__, seconds=20.0)
    line.add_argument("--only", action="append", default=[], help="robots whose name has this in it")
    line.add_argument("--duration", type=float, default=5.0, help="simulated seconds of an episode")
    line.add_argument("--markdown", action="store_true", help="write the tables as Markdown")
    options = line.parse_args(arguments)
    if options.quick:
        options.duration, options.seconds = QUICK_STEPS * 1e-3, 0.1
    return options


def all_cells(
    console: Console, names: Sequence[str], options: argparse.Namespace
) -> tuple[list[RobotCell], dict[str, str]]:
    """Return the figures of all engines on the robots, and why some robots have none."""
    from engines.robots import Robot, contestants  # needs mujoco

    engines, cells, left_out = contestants(), list[RobotCell](), dict[str, str]()
    with console.status("") as status:
        for name in names:
            status.update(f"{name}: {len(engines)} engines in turns ...")
            robot = Robot(name, write_file(name, Path(options.out) / "robots"))
            try:
                cells += measured(engines, robot, options.duration, options.seconds)
            except McpframeError as error:
                left_out[name] = str(error)
                console.print(f"left out: {name}: {error}", style="yellow", markup=False)
    return cells, left_out


if __name__ == "__main__":
    raise SystemExit(main())
