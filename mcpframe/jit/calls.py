"""Calls from one kernel to another by the address of its machine code."""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def call_by_address(called: Any, name: str) -> Any:
    """Return f(address, (arguments ...)) for compiled code, for kernels of one signature."""

    def call(typing_context: Any, address: Any, arguments: Any) -> Any:
        if len(arguments) != len(called.args):
            raise numba.TypingError(f"{name} takes {len(called.args)} arguments, not {len(arguments)}")

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            convention = context.call_conv
            kind = convention.get_function_type(called.return_type, called.args)
            function = builder.inttoptr(values[0], kind.as_pointer())
            given = zip(cgutils.unpack_tuple(builder, values[1]), arguments, called.args, strict=True)
            converted = [_converted(context, builder, value, have, want) for value, have, want in given]
            status, answer = convention.call_function(
                builder, function, called.return_type, called.args, converted
            )
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return answer

        return called.return_type(types.intp, arguments), generate

    return intrinsic(call)


def _converted(context: Any, builder: Any, value: Any, have: Any, want: Any) -> Any:
    """Return an argument as a kernel takes it; of an array, what kernels read of it: its data and its shape.

    Strides follow from the shape, and nobody asks who owns it. So callers carry two numbers of an array to
    where they call, not seven.
    """
    value = context.cast(builder, value, have, want)
    if not isinstance(want, types.Array):
        return value
    array = context.make_array(want)(context, builder, value)
    item = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(want.dtype)))
    shape = cgutils.unpack_tuple(builder, array.shape, want.ndim)
    strides, count = [item], shape[-1]
    for extent in reversed(shape[:-1]):
        strides.insert(0, builder.mul(count, item))
        count = builder.mul(count, extent)
    told = {
        "nitems": count,
        "itemsize": item,
        "data": array.data,
        "shape": cgutils.pack_array(builder, shape),
        "strides": cgutils.pack_array(builder, strides),
    }
    model = context.data_model_manager[want]
    passed = ir.Constant(model.get_value_type(), ir.Undefined)
    for field, part in told.items():
        passed = builder.insert_value(passed, part, model.get_field_position(field))
    return passed
