"""Kernels and helpers as the Python functions they are, for a debugger, a `print`, or a reader.

    MCPFRAME_JIT=off python my_simulation.py

Everything runs through the very same functions, some hundred times slower. Numbers are numpy's, so that a
division by zero gives inf or nan as in compiled code; answers differ in the last bits, where compiled code
multiplies and adds at once. Two things are stricter: an index out of bounds is an error, and so is what
`math` refuses, such as the root of a negative number, where compiled code goes on with nan.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import CodeType
from typing import Any

import numpy as np
from numba import types
from numba.np.numpy_support import as_dtype

_called: list[Callable[..., Any]] = []
"""Kernels that have an address, which is where they stand here, from 1 on."""

_NUMBERS: dict[Any, Callable[[Any], Any]] = {
    types.float64: np.float64,
    types.int64: int,  # `intp` is the same
    types.boolean: bool,
}


def numpy_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make the decimals in the code of a function numpy's, which know inf and nan in divisions."""
    function.__code__ = _with_numpy_numbers(function.__code__)
    function.py_func = function  # type: ignore[attr-defined]  # as compiled ones have
    return function


def _with_numpy_numbers(constant: Any) -> Any:
    if isinstance(constant, CodeType):
        return constant.replace(co_consts=tuple(map(_with_numpy_numbers, constant.co_consts)))
    if isinstance(constant, tuple):
        return tuple(map(_with_numpy_numbers, constant))
    return np.float64(constant) if type(constant) is float else constant


def python_kernel(function: Callable[..., Any], signature: tuple[Any, ...]) -> Callable[..., Any]:
    """Return a kernel that takes arguments as compiled ones do, and is as silent about inf and nan."""
    function = numpy_numbers(function)

    @wraps(function)
    def call(*arguments: Any) -> Any:
        if len(arguments) != len(signature):
            raise TypeError(f"{function.__qualname__} takes {len(signature)} arguments, not {len(arguments)}")
        taken = [_taken(value, kind) for value, kind in zip(arguments, signature, strict=True)]
        with np.errstate(all="ignore"):
            return function(*taken)

    call.args = signature  # type: ignore[attr-defined]
    return call


def _taken(value: Any, kind: Any) -> Any:
    """Return an argument as compiled code takes it; callers rely on what that refuses.

    Raises:
        TypeError: it takes none of this type.
    """
    if kind in _NUMBERS and isinstance(value, (int, float, np.number, np.bool_)):
        return _NUMBERS[kind](value)
    if isinstance(kind, types.Array) and isinstance(value, np.ndarray):
        like = value.ndim == kind.ndim and value.dtype == as_dtype(kind.dtype)
        if like and value.flags.c_contiguous and (value.flags.writeable or not kind.mutable):
            return value
    raise TypeError(f"No matching definition for argument {type(value).__name__}: {kind} is taken")


def handle(kernel: Callable[..., Any]) -> int:
    """Return a number by which a kernel can be called."""
    if kernel not in _called:
        _called.append(kernel)
    return _called.index(kernel) + 1


def call_by_handle(address: int, arguments: tuple[Any, ...]) -> Any:
    """Call the kernel that has a handle."""
    return _called[address - 1](*arguments)
