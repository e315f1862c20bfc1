"""Compile a kernel, or take it from the cache on disk where it is still right; say so where it takes time.

Nothing is compiled, loaded or stamped while modules are imported: a kernel is when it is first called, when
another one that calls it is compiled, when its address is asked for, or by `ready`.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any

import numba
from numba.core import event

from mcpframe.jit.stamp import code_size, reached_from, stamp

SECONDS_PER_INSTRUCTION = 1e-3
"""Of Python's bytecode, helpers included: what compiling takes where `make bench-first-use` was measured."""

_announced: set[str] = set()
_pending: dict[Any, Callable[[], None]] = {}
"""Kernels that are not compiled yet, and what compiles each."""
_busy: list[Any] = []
_seen: set[Any] = set()
"""Functions, helpers among them, whose compiling was announced: helpers are compiled once."""
_lock = threading.RLock()
_turns: list[Callable[[Any], AbstractContextManager[None]]] = [nullcontext]
"""Last of it: within what a kernel is compiled, unless processes take turns."""


def deferred(
    function: Callable[..., Any],
    signature: tuple[Any, ...],
    options: dict[str, Any],
    cached: Callable[[Any], None] = lambda dispatcher: None,
) -> Any:
    """Return a function that is compiled for one signature as soon as it is needed.

    Args:
        function: in Python.
        signature: types of its arguments.
        options: of Numba.
        cached: is called with the dispatcher once that has a cache.
    """
    dispatcher = numba.njit(**options)(function)

    def compile_now() -> None:
        announcer = _Announcer(dispatcher, cached=_cached(dispatcher, cached))
        with event.install_listener("numba:compile", announcer):
            dispatcher.compile(signature)
        dispatcher.disable_compile()

    _pending[dispatcher] = compile_now
    # Numba asks for these two where no version of a function fits: on a call, and within another kernel.
    dispatcher._compile_for_args = partial(_called, dispatcher)
    dispatcher.get_call_template = partial(_templated, dispatcher)
    return dispatcher


def settle(dispatcher: Any) -> None:
    """Compile a kernel, unless it is compiled; one that does not compile is left to those who call it."""
    with _lock:
        if dispatcher in _pending and dispatcher not in _busy:
            _busy.append(dispatcher)
            try:
                with _turns[-1](dispatcher):
                    _pending[dispatcher]()
            finally:
                _busy.remove(dispatcher)
                del _pending[dispatcher]
                for name in ("_compile_for_args", "get_call_template"):
                    delattr(dispatcher, name)


def ready(*packages: str) -> None:
    """Compile the kernels of some packages, of all that are imported where none is named.

    To be called before a clock runs.
    """
    for dispatcher in list(_pending):
        module = dispatcher.py_func.__module__
        if not packages or any(f"{module}.".startswith(f"{package}.") for package in packages):
            settle(dispatcher)


@contextmanager
def taking_turns(turn: Callable[[Any], AbstractContextManager[None]]) -> Iterator[None]:
    """Compile kernels within a context of one's own meanwhile, which may wait for other processes."""
    _turns.append(turn)
    try:
        yield
    finally:
        _turns.remove(turn)


def largest_first() -> list[Any]:
    """Return the kernels that are not compiled yet, those that take longest at the head."""
    return sorted(_pending, key=lambda kernel: -sum(map(code_size, reached_from([kernel]))))


def _called(dispatcher: Any, *arguments: Any, **named: Any) -> Any:
    """Return what Numba is to call where the first call of a kernel finds no version of it."""
    settle(dispatcher)
    return dispatcher


def _templated(dispatcher: Any, arguments: Any, named: Any) -> Any:
    """Stand in for the first kernel that calls this one."""
    settle(dispatcher)
    return type(dispatcher).get_call_template(dispatcher, arguments, named)


def _cached(dispatcher: Any, tell: Callable[[Any], None]) -> bool:
    """Give a dispatcher a cache that knows what it depends on; return False where there can be none.

    Numba by itself looks at the kernel's own file alone, so its caches serve with our stamps or not at all.
    """
    without = dispatcher._cache
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # "no locator available": typed at a prompt, or a read-only home
        return False
    cache_file: Any = getattr(dispatcher._cache, "_cache_file", None)
    if not hasattr(cache_file, "_source_stamp"):  # another Numba
        dispatcher._cache = without
        return False
    cache_file._source_stamp = stamp(dispatcher)
    tell(dispatcher)
    return True


class _Announcer(event.Listener):  # type: ignore[misc]
    """Says once per module, on stderr, that kernels are being compiled; silent while they are loaded."""

    def __init__(self, dispatcher: Any, cached: bool) -> None:
        self.module, self.cached = dispatcher.py_func.__module__, cached

    def on_start(self, event: Any) -> None:
        if self.module in _announced or os.environ.get("MCPFRAME_QUIET"):
            return
        _announced.add(self.module)
        how = (
            "once; cached for later runs"
            if self.cached
            else "in every run: there is no folder to cache it in"
        )
        print(f"mcpframe: compiling {self.module} ({self._duration()}, {how}) ...", file=sys.stderr)

    def _duration(self) -> str:
        """Return how long the kernels of the module take that are not compiled yet, roughly."""
        kernels = [kernel for kernel in _pending if kernel.py_func.__module__ == self.module]
        new = [value for value in reached_from(kernels) if value not in _seen]
        _seen.update(new)
        seconds = SECONDS_PER_INSTRUCTION * sum(map(code_size, new))
        return f"about {seconds:.0f} s" if seconds >= 1.5 else "a second or so"

    def on_end(self, event: Any) -> None:
        pass
