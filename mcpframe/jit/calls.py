"""Calls from one kernel to another by the address of its machine code."""

from __future__ import annotations

from typing import Any

import numba
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
            converted = [context.cast(builder, value, have, want) for value, have, want in given]
            status, answer = convention.call_function(
                builder, function, called.return_type, called.args, converted
            )
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return answer

        return called.return_type(types.intp, arguments), generate

    return intrinsic(call)
