"""The one door to Numba: flags shared by all kernels, the list of kernels, the "compiling" line.

Kernels are compiled for one explicit signature when their module is imported, so no clock ever
runs while a compiler does. Results are cached on disk beside the source.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numba
from numba import types

KERNELS: dict[str, Any] = {}
"""Every compiled kernel by qualified name, in order of compilation."""

# Read-only array types: a mutable array converts to them, so kernels accept both.
Vector = types.Array(types.float64, 1, "C", readonly=True)
Matrix = types.Array(types.float64, 2, "C", readonly=True)
MatrixStack = types.Array(types.float64, 3, "C", readonly=True)
Flags = types.Array(types.boolean, 1, "C", readonly=True)
Indices = types.Array(types.int64, 1, "C", readonly=True)
Codes = types.Array(types.int8, 1, "C", readonly=True)
# Writable ones, for workspaces and results.
VectorOut = types.Array(types.float64, 1, "C")
MatrixOut = types.Array(types.float64, 2, "C")
IndicesOut = types.Array(types.int64, 1, "C")
CodesOut = types.Array(types.int8, 1, "C")
IndexTable = types.Array(types.int64, 2, "C")
CodeTable = types.Array(types.int8, 2, "C")
CodeStack = types.Array(types.int8, 3, "C")

_FLAGS: dict[str, Any] = {"nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}
_HELPER: dict[str, Any] = _FLAGS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Flags of helpers, which only compiled code calls: wrappers for Python would take longer than the helper."""
_announced: set[str] = set()


def kernel(*signature: Any, nogil: bool = True) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function for one signature (the return type is inferred) and register it.

    Args:
        signature: Numba types of the arguments, from this module and ``numba.types``.
        nogil: let other threads run meanwhile; releasing them costs 60 ns, too much for the shortest kernels.
    """

    def compile_now(function: Callable[..., Any]) -> Any:
        dispatcher = _cached(function, _FLAGS | {"nogil": nogil, "no_cfunc_wrapper": True})
        _stamp(dispatcher)
        _announce(dispatcher, function.__module__)
        dispatcher.compile(signature)
        dispatcher.disable_compile()
        KERNELS[f"{function.__module__}.{function.__qualname__}"] = dispatcher
        return dispatcher

    return compile_now


def _cached(function: Callable[..., Any], flags: dict[str, Any]) -> Any:
    """Return the dispatcher with a cache on disk, or without one where no folder can be written."""
    try:
        return numba.njit(cache=True, **flags)(function)
    except RuntimeError:  # "no locator available": typed at a prompt, or a read-only home
        return numba.njit(**flags)(function)


def inline(function: Callable[..., Any]) -> Any:
    """Mark a helper that kernels call; it is compiled into them."""
    return numba.njit(forceinline=True, **_HELPER)(function)


def inline_reduction(function: Callable[..., Any]) -> Any:
    """As `inline`, for sums: lets the compiler reorder them into vector lanes (same bits every run)."""
    return numba.njit(forceinline=True, **(_HELPER | {"fastmath": {"contract", "reassoc"}}))(function)


def inline_extremum(function: Callable[..., Any]) -> Any:
    """As `inline`, for minima and maxima: lets the compiler reorder them; the data must hold no NaN."""
    return numba.njit(forceinline=True, **(_HELPER | {"fastmath": {"contract", "reassoc", "nnan", "nsz"}}))(
        function
    )


def callee(function: Callable[..., Any]) -> Any:
    """Mark a long helper that kernels call; it is compiled with them, but once, not at every call."""
    return numba.njit(**_HELPER)(function)


def _stamp(dispatcher: Any) -> None:
    """Make a cached kernel depend on the files of the helpers it calls, not on its own file alone."""
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is not None and hasattr(cache_file, "_source_stamp"):
        files = sorted({function.__code__.co_filename for function in _callees(dispatcher.py_func, {})})
        helpers = [(path, os.stat(path).st_mtime, os.stat(path).st_size) for path in files]
        cache_file._source_stamp = (cache_file._source_stamp, tuple(helpers))


def _callees(function: Any, found: dict[Any, None]) -> dict[Any, None]:
    """Return the compiled functions that a function calls, directly or not."""
    for name in function.__code__.co_names:
        found_name = function.__globals__.get(name)
        helper = getattr(found_name, "py_func", None) or getattr(found_name, "_defn", None)  # or an intrinsic
        if helper is not None and helper not in found:
            found[helper] = None
            _callees(helper, found)
    return found


def _announce(dispatcher: Any, module: str) -> None:
    """Say once per module, on stderr, that kernels are being compiled; silent when a cache exists."""
    if module in _announced or os.environ.get("MCPFRAME_QUIET"):
        return
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is None or not cache_file._load_index():
        _announced.add(module)
        print(f"mcpframe: compiling {module} (once; cached for later runs) ...", file=sys.stderr)
