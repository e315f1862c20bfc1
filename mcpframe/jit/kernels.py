"""Decorators that make kernels and helpers, and calls from one kernel to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpframe.jit.later import Later
from mcpframe.jit.ways import WAY

KERNELS: dict[str, Any] = {}
"""Every kernel by qualified name, in the order in which modules were imported."""


def kernel(*signature: Any, nogil: bool = True) -> Callable[[Callable[..., Any]], Any]:
    """Register a function that is compiled for one signature (the return type is inferred) when it is needed.

    It must not allocate: workspaces are arguments, and `np.empty` and its kin have no implementation in it.

    Args:
        signature: Numba types of the arguments, from this module and ``numba.types``.
        nogil: let other threads run meanwhile; releasing them costs 60 ns, too much for the shortest kernels.
    """

    def make(function: Callable[..., Any]) -> Any:
        made = WAY.kernel(function, signature, nogil)
        KERNELS[f"{function.__module__}.{function.__qualname__}"] = made
        return made

    return make


def inline(function: Callable[..., Any]) -> Any:
    """Mark a helper that kernels call; it is compiled into them."""
    return WAY.helper(function, inline=True)


def inline_reduction(function: Callable[..., Any]) -> Any:
    """As `inline`, for sums: lets the compiler reorder them into vector lanes (same bits every run)."""
    return WAY.helper(function, inline=True, fastmath={"contract", "reassoc"})


def inline_extremum(function: Callable[..., Any]) -> Any:
    """As `inline`, for minima and maxima: lets the compiler reorder them; the data must hold no NaN."""
    return WAY.helper(function, inline=True, fastmath={"contract", "reassoc", "nnan", "nsz"})


def callee(function: Callable[..., Any]) -> Any:
    """Mark a long helper that kernels call; it is compiled with them, but once, not at every call."""
    return WAY.helper(function, inline=False)


def primitive(python: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Mark an intrinsic of Numba that does in compiled code what a function does in Python."""

    def choose(definition: Callable[..., Any]) -> Any:
        return WAY.primitive(definition, python)

    return choose


def address(made: Any) -> int:
    """Return where the machine code of a kernel begins."""
    return WAY.address(made)


def by_address(made: Any) -> Any:
    """Return f(address, (arguments ...)), by which another kernel calls a compiled one without containing it.

    The address, different in every process, is an argument (`types.intp`) of the kernel that calls.
    """
    return WAY.calls(Later(lambda: WAY.signature(made)), made.__qualname__)


def calls_of(called: Any, name: str) -> Any:
    """Return f(address, (arguments ...)) for kernels of one signature, so that any of them can be called."""
    return WAY.calls(called, name)
