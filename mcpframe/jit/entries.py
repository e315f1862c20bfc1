"""Single entries of flat arrays in compiled code: without bounds checks and without negative indices."""

from __future__ import annotations

from typing import Any

from numba import types

from mcpframe.jit.kernels import primitive


def _get(array: Any, index: int) -> Any:
    return array[index]


def _put(array: Any, index: int, value: Any) -> None:
    array[index] = value


@primitive(_get)
def get(typing_context: Any, array: Any, index: Any) -> Any:
    """Return array[index]."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load(_place(context, builder, signature.args[0], values))

    return array.dtype(array, types.intp), generate


@primitive(_put)
def put(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Write array[index]."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        builder.store(values[2], _place(context, builder, signature.args[0], values))
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype), generate


def _place(context: Any, builder: Any, kind: Any, values: Any) -> Any:
    return builder.gep(context.make_array(kind)(context, builder, values[0]).data, [values[1]])
