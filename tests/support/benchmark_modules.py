"""Modules of examples/benchmarks, for tests: its folder is at the end of the path, where it hides no name."""

import sys
from importlib import import_module
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "examples" / "benchmarks"
sys.path.append(str(BENCHMARKS))


def load(name):
    """A module of the benchmarks, `soak` or `measuring.timing`."""
    return import_module(name)
