"""Call a function in a process of its own, for a limited time: what hangs is killed, what dies is told.

The limit is one of processor time, so that it means the same on a machine with other work. The function is
named `module:function`, takes keywords that JSON can write and returns a table that it can. It says on the
way what it is doing by `doing`, so that a call that was killed can tell where.
"""

from __future__ import annotations

import importlib
import json
import resource
import signal
import subprocess
import sys
from math import ceil
from pathlib import Path
from typing import Any

ERROR = "error"
"""Key of a table that holds nothing but the words for what went wrong."""
PATIENCE = 10.0
"""How many times longer a call may last by the wall clock: it may have to wait for others, or hang."""
LONGEST = 200
"""Letters that are kept of a line which a process wrote last: it may be anything."""


def call(target: str, seconds: float, **arguments: Any) -> dict[str, Any]:
    """Return what a function returns, or a table with the one key `ERROR` if it does not.

    Args:
        target: `module:function`.
        seconds: of processor time.
        arguments: of the function.
    """
    command = [sys.executable, __file__, target, str(ceil(seconds)), json.dumps(arguments)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE * seconds
        )
    except subprocess.TimeoutExpired as late:
        told = late.stderr.decode() if isinstance(late.stderr, bytes) else late.stderr or ""
        return {ERROR: f"killed after {PATIENCE * seconds:g} s, {_stage(told)}"}
    if done.returncode == -signal.SIGXCPU:
        return {ERROR: f"killed after {seconds:g} s of processor time, {_stage(done.stderr)}"}
    if done.returncode:
        return {ERROR: f"exit status {done.returncode}, {_stage(done.stderr)}"}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _stage(told: str) -> str:
    """Return the last words of a process."""
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return f"after: {lines[-1][:LONGEST]}" if lines else "at its start"


def doing(words: str) -> None:
    """Tell whoever waits what is being done."""
    print(words, file=sys.stderr, flush=True)


def _main(target: str, seconds: str, arguments: str) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    module, function = target.split(":")
    try:
        answer = getattr(importlib.import_module(module), function)(**json.loads(arguments))
    except Exception as error:  # any mistake of a robot is a row, and its words are wanted
        answer = {ERROR: f"{type(error).__name__}: {' '.join(str(error).split())}"}
    print(json.dumps(answer))


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])  # whence modules are named
    _main(*sys.argv[1:])
