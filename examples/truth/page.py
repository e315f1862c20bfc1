"""The page of the documentation that the command writes: where and of what the table was made."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path

HEAD = """# Truth: systems with known answers

Every system whose answer is known, in several formulations, schemes and with several solvers: {command}, commit {commit}, {machine}: {told}.

One line per system, with the answer that is off most or comes nearest to its bound; `--details` prints all of them, with the reasons of their bounds. What is known is a closed form or the solution of an ODE written on paper (`examples/truth/equations.py`, DOP853 to 1e-12), never the project's own dynamics. Bounds are at a step of 1 ms unless said. Settings replace those of every run: `--integrator rk4`, `--scheme time_stepping`, `--formulation mc`, `--solver auto`.

"""  # noqa: E501


def page(told: str, table: str, settings: Mapping[str, str], full: bool) -> str:
    """Return the page: what was run, where, and the table."""
    words = "".join(f" --{key} {name}" for key, name in settings.items()) + (" --full" if full else "")
    make = "make truth-long" if full else "make truth"
    command = f"`python examples/truth_table.py{words} --markdown FILE` (or `{make}`)"
    return HEAD.format(command=command, commit=commit(), machine=machine(), told=told) + table


def commit() -> str:
    """Return the short name of the commit, marked where files differ from it."""
    words = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(words, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def machine() -> str:
    """Return how many processors of which kind."""
    kind = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [line.partition(":")[2] for line in info.read_text().splitlines() if "model name" in line]
        kind = names[0].partition("@")[0].strip() if names else kind
    return f"{os.cpu_count()} x {kind}"
