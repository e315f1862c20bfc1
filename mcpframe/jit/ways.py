"""Ways to run kernels and helpers, chosen by the environment variable MCPFRAME_JIT when mcpframe is imported.

fast   compiled, helpers once with their kernels (where nothing is said)
plain  compiled by `numba.njit` alone: the same answers, longer to compile; taken by itself where this
       version of Numba does not know the fast way
off    not compiled at all: see `mcpframe.jit.uncompiled`; NUMBA_DISABLE_JIT=1 means the same
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, final

import numba
from numba import types
from numba.extending import intrinsic

from mcpframe.jit.cache import deferred, settle
from mcpframe.jit.calls import call_by_address
from mcpframe.jit.probe import check
from mcpframe.jit.uncompiled import call_by_handle, handle, numpy_numbers, python_kernel

Function = Callable[..., Any]

NEWEST_TRIED = (0, 68)
"""The last version of Numba whose inside is known to be as `Fast` needs it; later ones are checked first."""


class AbstractWay(ABC):
    """What becomes of the functions that are marked as kernels, helpers and primitives."""

    name: ClassVar[str]

    @abstractmethod
    def kernel(self, function: Function, signature: tuple[Any, ...], nogil: bool) -> Any:
        """Return a function of one signature that Python calls."""

    @abstractmethod
    def helper(self, function: Function, inline: bool, **flags: Any) -> Any:
        """Return a function that kernels call; its flags for Numba go before the common ones."""

    @abstractmethod
    def primitive(self, definition: Function, python: Function) -> Any:
        """Return what kernels call by a name that has a definition for Numba and one in Python."""

    @abstractmethod
    def signature(self, kernel: Any) -> Any:
        """Return the signature of a kernel, with its return type where that is known."""

    @abstractmethod
    def address(self, kernel: Any) -> int:
        """Return a number by which kernels can call a kernel, in this process."""

    @abstractmethod
    def calls(self, called: Any, name: str) -> Any:
        """Return f(address, (arguments ...)) that kernels call, for kernels of one signature."""


class AbstractCompiled(AbstractWay):
    """Numba compiles kernels."""

    flags: ClassVar[dict[str, Any]] = {"nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}

    def kernel(self, function: Function, signature: tuple[Any, ...], nogil: bool) -> Any:
        """Have it compiled, or taken from the cache, as soon as it is needed."""
        return deferred(function, signature, self.flags | {"nogil": nogil})

    def primitive(self, definition: Function, python: Function) -> Any:
        """Return the definition for Numba."""
        return intrinsic(definition)

    def signature(self, kernel: Any) -> Any:
        """Return it with the return type that was inferred."""
        settle(kernel)
        (result,) = kernel.overloads.values()
        return result.signature

    def address(self, kernel: Any) -> int:
        """Return where its machine code begins."""
        return _beginning(kernel)

    def calls(self, called: Any, name: str) -> Any:
        """Return an intrinsic."""
        return call_by_address(called, name)


@cache  # code stays where it is, and LLVM looks it up by its name: two milliseconds for those of a run
def _beginning(kernel: Any) -> int:
    settle(kernel)
    (result,) = kernel.overloads.values()
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


@final
class Plain(AbstractCompiled):
    """Helpers are compiled by `numba.njit` too."""

    name = "plain"

    def helper(self, function: Function, inline: bool, **flags: Any) -> Any:
        """Have it compiled when a kernel is that calls it."""
        return numba.njit(**self.flags | flags)(function)


@final
class Fast(AbstractCompiled):
    """Helpers are compiled once, with the kernels that they end up in."""

    name = "fast"
    flags = AbstractCompiled.flags | {
        "_nrt": False,  # kernels allocate nothing; counting references would take a third of a small solve
        "no_cfunc_wrapper": True,
    }

    def __init__(self) -> None:
        self._helpers = import_module("mcpframe.jit.helpers")
        self._loading = import_module("mcpframe.jit.loading")

    def kernel(self, function: Function, signature: tuple[Any, ...], nogil: bool) -> Any:
        """Have it compiled, helpers with it, or taken from the cache, as soon as it is needed."""
        own = {"nogil": nogil, "pipeline_class": self._helpers.KernelCompiler}
        return deferred(function, signature, self.flags | own, self._loading.load_lightly)

    def helper(self, function: Function, inline: bool, **flags: Any) -> Any:
        """Have it compiled into the kernels that call it."""
        own = {"nopython": True, "no_cpython_wrapper": True} | ({"forceinline": True} if inline else {})
        return self._helpers.helper(function, self.flags | own | flags)


@final
class Off(AbstractWay):
    """Nothing is compiled."""

    name = "off"

    def kernel(self, function: Function, signature: tuple[Any, ...], nogil: bool) -> Any:
        """Return the function, which takes arguments as compiled code does."""
        return python_kernel(function, signature)

    def helper(self, function: Function, inline: bool, **flags: Any) -> Any:
        """Return the function."""
        return numpy_numbers(function)

    def primitive(self, definition: Function, python: Function) -> Any:
        """Return the function in Python."""
        return python

    def signature(self, kernel: Any) -> Any:
        """Return it without a return type."""
        return types.none(*kernel.args)

    def address(self, kernel: Any) -> int:
        """Return a number that stands for the function."""
        return handle(kernel)

    def calls(self, called: Any, name: str) -> Any:
        """Return what looks the function up."""
        return call_by_handle


def choose(asked: str) -> AbstractWay:
    """Return the way that is asked for; where nothing is, the fastest that works."""
    if asked == "off" or (asked == "" and numba.config.DISABLE_JIT):
        return Off()
    if asked == "plain":
        return Plain()
    if asked not in ("", "fast"):
        raise ValueError(f"MCPFRAME_JIT={asked}: there are fast, plain and off")
    try:
        fast = Fast()
        if numba.version_info.short > NEWEST_TRIED:
            check(fast)
    except Exception as error:  # whatever Numba has changed
        if asked == "fast":
            raise
        _complain(error)
        return Plain()
    return fast


def _complain(error: Exception) -> None:
    """Say why kernels take longer to compile."""
    if not os.environ.get("MCPFRAME_QUIET"):
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        print(f"mcpframe: Numba {numba.__version__} compiles the plain, slow way ({reason})", file=sys.stderr)


WAY = choose(os.environ.get("MCPFRAME_JIT", ""))
"""The way of this process."""
