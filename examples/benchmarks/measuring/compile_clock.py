"""Import modules of mcpframe and print, as JSON, what compiling or loading their kernels took.

    python examples/benchmarks/measuring/compile_clock.py [MODULE ...]

For a process of its own, see `first_use.py`. Per part: number of kernels, wall seconds, CPU seconds. Imports
of Numba, and of mcpframe with all it needs, are parts without kernels; the kernels' times are not in them.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter, process_time
from typing import Any

Part = list[float]
"""Kernels, wall seconds, CPU seconds."""


class Clock:
    """Adds up times by part; a part that is timed within another counts for itself alone."""

    def __init__(self) -> None:
        self.parts: dict[str, Part] = {}
        self._inner = [[0.0, 0.0]]

    @contextmanager
    def timing(self, name: str, kernels: int = 0) -> Iterator[None]:
        """Time what happens inside."""
        part = self.parts.setdefault(name, [0, 0.0, 0.0])
        self._inner.append([0.0, 0.0])
        start = perf_counter(), process_time()
        try:
            yield
        finally:
            spent = perf_counter() - start[0], process_time() - start[1]
            inner = self._inner.pop()
            part[0] += kernels
            for k in range(2):
                part[k + 1] += spent[k] - inner[k]
                self._inner[-1][k] += spent[k]


def watch(clock: Clock, dispatcher: Any) -> None:
    """Time every kernel that Numba compiles or loads, with the helpers that it compiles on the way."""
    compile_kernel: Callable[..., Any] = dispatcher.compile
    busy: list[str] = []

    def timed(self: Any, signature: Any) -> Any:
        if busy:
            return compile_kernel(self, signature)
        busy.append(self.py_func.__module__)
        try:
            with clock.timing(busy[0], kernels=1):
                return compile_kernel(self, signature)
        finally:
            busy.pop()

    dispatcher.compile = timed


def every_module(path: Sequence[str]) -> list[str]:
    """Return the names of all modules of mcpframe; to look into a package is to import it."""
    found = [module.name for module in pkgutil.walk_packages(path, "mcpframe.")]
    return [name for name in found if not name.endswith("__main__")]


def main(names: Sequence[str]) -> None:
    """Import modules, all of mcpframe unless some are named, and print the times."""
    clock = Clock()
    with clock.timing("import numba"):
        from numba.core.dispatcher import Dispatcher
    watch(clock, Dispatcher)
    with clock.timing("import mcpframe"):
        import mcpframe
        from mcpframe.jit import ready
    with clock.timing("import the rest"):
        for name in names or every_module(mcpframe.__path__):
            importlib.import_module(name)
        ready()
    print(json.dumps(clock.parts))


if __name__ == "__main__":
    main(sys.argv[1:])
