"""What kernels are written with beside Python: views of arrays, the clock, loops that use vectors."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.np.arrayobj import populate_array

from mcpframe.jit.kernels import inline, primitive


@inline
def span(first: Any, last: Any) -> Any:
    """Return range(first, last), 0 <= first <= last, for loops that do not start at zero.

    Its numbers are unsigned, so Numba does not look for indices that count from the end of an array, which
    would keep such a loop from using vector instructions.
    """
    return range(np.uint64(first), np.uint64(last))


@primitive(lambda array, start, n: array[start : start + n])
def window(typing_context: Any, array: Any, start: Any, n: Any) -> Any:
    """Return array[start : start + n] of a flat array, without a look at its bounds."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _view(context, builder, signature, values[:2], (values[2],))

    return array.copy(readonly=not array.mutable)(array, types.intp, types.intp), generate


@primitive(lambda array: array.reshape(-1))
def flat(typing_context: Any, array: Any) -> Any:
    """Return the numbers of an array, one row after another, as a flat one."""
    if array.layout != "C":
        raise TypingError("rows of a flat array follow each other")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        start, count = context.get_constant(types.intp, 0), context.get_constant(types.intp, 1)
        for extent in cgutils.unpack_tuple(
            builder, context.make_array(array)(context, builder, values[0]).shape
        ):
            count = builder.mul(count, extent)
        return _view(context, builder, signature, (values[0], start), (count,))

    return array.copy(ndim=1, readonly=not array.mutable)(array), generate


@primitive(lambda array, start, m, n: array[start : start + m * n].reshape(m, n))
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


@primitive(perf_counter_ns)
def cycles(typing_context: Any) -> Any:
    """Return the processor's counter of cycles."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        counter = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.IntType(64), []), "llvm.readcyclecounter"
        )
        return builder.call(counter, [])

    return types.int64(), generate
