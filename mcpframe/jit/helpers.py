"""Helpers that are compiled once, with the kernel that they end up in, not once more by themselves.

What is used here of Numba is not part of its interface; `mcpframe.jit.ways` does without it where it has
changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite.binding import Linkage
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher


def helper(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a function that kernels call."""
    return _Helper(function, targetoptions=options, pipeline_class=_HelperCompiler)


class _Helper(CPUDispatcher):  # type: ignore[misc]
    """A function that compiled code calls, and Python does not."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.__qualname__} is a helper of kernels: call it from one, or its `py_func`")

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Find or compile the version for these types; a constant counts as any number of its type."""
        return super().get_call_template(tuple(types.unliteral(kind) for kind in args), kws)


class _HelperCompiler(Compiler):  # type: ignore[misc]
    """Stops at LLVM's intermediate code."""

    def compile_extra(self, func: Any) -> Any:
        state = self.state
        state.flags.no_compile = True
        state.library = _HelperLibrary(state.targetctx.codegen(), func.__qualname__)
        result = super().compile_extra(func)
        name = result.library.__sizeof__  # callers know a function by its entry, any builtin that is unique
        state.targetctx.insert_user_function(name, result.fndesc, [result.library])
        return result._replace(entry_point=name)


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiles a kernel as a whole: its helpers are nobody else's."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function into a library of its own."""
        self.state.library = library = _KernelLibrary(self.state.targetctx.codegen(), func.__qualname__)
        library.enable_object_caching()
        return super().compile_extra(func)


class _KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel, in which helpers lose the arguments that they do not use.

    A run is handed from stage to stage as a tuple of arrays, of which each stage uses a few.
    """

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = "internal"
        super()._optimize_final_module()


class _HelperLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a helper and its helpers, linked, neither optimised nor translated on its own."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True
