"""Benchmarks (examples/benchmarks) for tests: their modules, and studies that are run as commands.

Their folder is at the end of the path, where it hides no name.
"""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "examples" / "benchmarks"
PNG = b"\x89PNG"
HANGS = 1200
"""Seconds after which a study is given up; it takes some ten, and many times that on a busy machine."""
sys.path.append(str(BENCHMARKS))


def load(name):
    """A module of the benchmarks, `soak` or `measuring.timing`."""
    return import_module(name)


def study(name, folder, *arguments):
    """The figures of a study, and what it printed; whatever it warns of is an error."""
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), "--out", str(folder), *arguments]
    environment = os.environ | {"PYTHONWARNINGS": "error", "COLUMNS": "200"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=HANGS)
    assert done.returncode == 0, done.stderr
    record = json.loads((folder / f"{name}.json").read_text())
    assert {"machine", "commit", "python", "numba", "mcpframe"} <= set(record["header"])
    return record, done.stdout


def is_picture(path):
    return path.read_bytes().startswith(PNG)
