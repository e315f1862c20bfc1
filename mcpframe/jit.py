"""The one door to Numba: flags shared by all kernels, the list of kernels, the "compiling" line.

Kernels are compiled for one explicit signature when their module is imported, so no clock ever
runs while a compiler does. Results are cached on disk beside the source.

What keeps compiling short (and running fast), beside what the flags say:
    helpers are optimised and turned into machine code once, with the kernel that they end up in;
    a helper has one version, whatever constants it is called with;
    large kernels are called `by_address`: one that calls another by name compiles it all over again;
    arrays are copied and filled by loops: `x[:] = y` brings in the text of its error, 3 s to compile.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

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

_FLAGS: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"contract"},
    "error_model": "numpy",
    "_nrt": False,  # kernels allocate nothing; counting references would take a third of a small solve
    "no_cfunc_wrapper": True,
}
_announced: set[str] = set()


def kernel(*signature: Any, nogil: bool = True) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function for one signature (the return type is inferred) and register it.

    It must not allocate: workspaces are arguments, and `np.empty` and its kin have no implementation in it.

    Args:
        signature: Numba types of the arguments, from this module and ``numba.types``.
        nogil: let other threads run meanwhile; releasing them costs 60 ns, too much for the shortest kernels.
    """

    def compile_now(function: Callable[..., Any]) -> Any:
        dispatcher = _cached(function, _FLAGS | {"nogil": nogil})
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
    return _helper(function, forceinline=True)


def inline_reduction(function: Callable[..., Any]) -> Any:
    """As `inline`, for sums: lets the compiler reorder them into vector lanes (same bits every run)."""
    return _helper(function, forceinline=True, fastmath={"contract", "reassoc"})


def inline_extremum(function: Callable[..., Any]) -> Any:
    """As `inline`, for minima and maxima: lets the compiler reorder them; the data must hold no NaN."""
    return _helper(function, forceinline=True, fastmath={"contract", "reassoc", "nnan", "nsz"})


def callee(function: Callable[..., Any]) -> Any:
    """Mark a long helper that kernels call; it is compiled with them, but once, not at every call."""
    return _helper(function)


def _helper(function: Callable[..., Any], **flags: Any) -> Any:
    options = _FLAGS | {"nopython": True, "no_cpython_wrapper": True} | flags
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


class _HelperLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a helper and its helpers, linked, neither optimised nor translated on its own."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


@inline
def span(first: Any, last: Any) -> Any:
    """Return range(first, last), 0 <= first <= last, for loops that do not start at zero.

    Its numbers are unsigned, so Numba does not look for indices that count from the end of an array, which
    would keep such a loop from using vector instructions.
    """
    return range(np.uint64(first), np.uint64(last))


def address(dispatcher: Any) -> int:
    """Return where the machine code of a compiled kernel begins."""
    (result,) = dispatcher.overloads.values()
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


def by_address(dispatcher: Any) -> Any:
    """Return f(address, (arguments ...)), by which another kernel calls a compiled one without containing it.

    The address, different in every process, is an argument (`types.intp`) of the kernel that calls.
    """
    (result,) = dispatcher.overloads.values()
    function = calls_of(result.signature, dispatcher.__qualname__)
    function.py_func = dispatcher.py_func  # for `_stamp`
    return function


def calls_of(called: Any, name: str) -> Any:
    """Return f(address, (arguments ...)) for kernels of one signature, so that any of them can be called."""

    def call(typing_context: Any, address: Any, arguments: Any) -> Any:
        if len(arguments) != len(called.args):
            raise numba.TypingError(f"{name} takes {len(called.args)} arguments, not {len(arguments)}")

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            convention = context.call_conv
            kind = convention.get_function_type(called.return_type, called.args)
            function = builder.inttoptr(values[0], kind.as_pointer())
            given = zip(cgutils.unpack_tuple(builder, values[1]), arguments, called.args, strict=True)
            converted = [context.cast(builder, value, have, want) for value, have, want in given]
            status, answer = convention.call_function(
                builder, function, called.return_type, called.args, converted
            )
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return answer

        return called.return_type(types.intp, arguments), generate

    return intrinsic(call)


@intrinsic  # type: ignore[untyped-decorator]
def window(typing_context: Any, array: Any, start: Any, n: Any) -> Any:
    """Return array[start : start + n] of a flat array, without a look at its bounds."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _view(context, builder, signature, values[:2], (values[2],))

    return array.copy(readonly=not array.mutable)(array, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def matrix_window(typing_context: Any, array: Any, start: Any, rows: Any, columns: Any) -> Any:
    """Return the matrix that begins at array[start] of a flat array, row by row."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _view(context, builder, signature, values[:2], values[2:])

    kind = array.copy(ndim=2, readonly=not array.mutable)
    return kind(array, types.intp, types.intp, types.intp), generate


def _view(context: Any, builder: Any, signature: Any, source: Any, shape: Any) -> Any:
    """Return an array of some shape on another's data."""
    kind = signature.return_type
    data = context.make_array(signature.args[0])(context, builder, source[0]).data
    item = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides = [item] if len(shape) == 1 else [builder.mul(shape[1], item), item]
    view = context.make_array(kind)(context, builder)
    populate_array(
        view,
        builder.gep(data, [source[1]]),
        list(shape),
        strides,
        item,
        context.get_constant_null(types.voidptr),
    )
    return view._getvalue()


@intrinsic  # type: ignore[untyped-decorator]
def cycles(typing_context: Any) -> Any:
    """Return the processor's counter of cycles."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        counter = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.IntType(64), []), "llvm.readcyclecounter"
        )
        return builder.call(counter, [])

    return types.int64(), generate


def _stamp(dispatcher: Any) -> None:
    """Make a cached kernel depend on this file and those of the helpers it calls, not on its own alone."""
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is not None and hasattr(cache_file, "_source_stamp"):
        helpers = _callees(dispatcher.py_func, {})
        files = sorted({__file__, *(helper.__code__.co_filename for helper in helpers)})
        stamps = tuple((path, os.stat(path).st_mtime, os.stat(path).st_size) for path in files)
        cache_file._source_stamp = (cache_file._source_stamp, stamps)


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
