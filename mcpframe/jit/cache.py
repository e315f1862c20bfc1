"""Compile a kernel, or take it from the cache on disk where it is still right; say so where it takes time."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event

from mcpframe.jit.stamp import stamp

_announced: set[str] = set()


def compiled(function: Callable[..., Any], signature: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return a function compiled for one signature."""
    dispatcher = _cached(function, options)
    cached = dispatcher is not None
    if dispatcher is None:
        dispatcher = numba.njit(**options)(function)
    with event.install_listener("numba:compile", _Announcer(function.__module__, cached)):
        dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


def _cached(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a dispatcher with a cache that knows what it depends on; None where there can be none.

    Numba by itself looks at the kernel's own file alone, so its caches serve with our stamps or not at all.
    """
    try:
        dispatcher = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # "no locator available": typed at a prompt, or a read-only home
        return None
    cache_file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if not hasattr(cache_file, "_source_stamp"):  # another Numba
        return None
    cache_file._source_stamp = stamp(dispatcher)
    return dispatcher


class _Announcer(event.Listener):  # type: ignore[misc]
    """Says once per module, on stderr, that kernels are being compiled; silent while they are loaded."""

    def __init__(self, module: str, cached: bool) -> None:
        self.module, self.cached = module, cached

    def on_start(self, event: Any) -> None:
        if self.module in _announced or os.environ.get("MCPFRAME_QUIET"):
            return
        _announced.add(self.module)
        how = (
            "once; cached for later runs"
            if self.cached
            else "in every run: there is no folder to cache it in"
        )
        print(f"mcpframe: compiling {self.module} ({how}) ...", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        pass
