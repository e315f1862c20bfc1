"""Host stages: where compiled code calls Python.

A stage that has no kernel is a method in Python. Compiled code reaches it by the address of one C callback,
which takes the interpreter lock, runs the method, keeps an exception and returns a code; 0.2 us a call. The
arrays that the method works on are Python's own: `where` tells by its address which of the two states is
meant.
"""

# mypy: disable-error-code="no-untyped-def, misc, untyped-decorator"
from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from mcpframe.jit import primitive

FORCES, FIND, PUSH, SOLVE, MOTION, OBSERVE, CERTIFY, DISTRUST, SOFTEN, REMEMBER, PILE = range(11)
"""Stages: applied forces of a state, contacts, a whole problem from rows to rates, the solution of a problem
that the formulation's kernels have written, the prescribed motion of closures, a look at a problem that was
solved, the certificate of a push that was Python's, what becomes of one that is not good enough, what layers
add to a step, what they remember of it; a pile, from rows to pushes."""

CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_double)


@primitive(lambda address, stage, state, value: CALLBACK(int(address))(stage, state.ctypes.data, value))
def call_host(typing_context: Any, address: Any, stage: Any, state: Any, value: Any) -> Any:
    """Call Python: a stage, the state that it is about, and a number; return its code."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        integer, double = ir.IntType(64), ir.DoubleType()
        kind = ir.FunctionType(integer, [integer, integer, double])
        function = builder.inttoptr(values[0], kind.as_pointer())
        data = context.make_array(signature.args[2])(context, builder, values[2]).data
        return builder.call(function, [values[1], builder.ptrtoint(data, integer), values[3]])

    return types.int64(types.intp, types.int64, state, types.float64), generate


FUNCTION = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, ctypes.c_double, ctypes.c_void_p)


def _call_uncompiled(address: Any, theta: Any, theta_dot: Any, time: float, tau: Any) -> None:
    """Call a function in C from Python."""
    FUNCTION(int(address))(theta.ctypes.data, theta_dot.ctypes.data, time, tau.ctypes.data)


@primitive(_call_uncompiled)
def call_function(typing_context: Any, address: Any, theta: Any, theta_dot: Any, time: Any, tau: Any) -> Any:
    """Call a controller that is compiled, see `mcpframe.scene.compiled_function`."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = ir.DoubleType().as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, pointer, ir.DoubleType(), pointer])
        function = builder.inttoptr(values[0], kind.as_pointer())
        theta, theta_dot, tau = (
            context.make_array(signature.args[i])(context, builder, values[i]).data for i in (1, 2, 4)
        )
        builder.call(function, [theta, theta_dot, values[3], tau])
        return context.get_dummy_value()

    return types.void(types.intp, theta, theta_dot, types.float64, tau), generate


class Host:
    """The door that compiled code calls; keeps the exception of a stage that has raised one.

    Args:
        stages: by number; each takes the address of a state and a number, and returns a code.
        raised: the code that is returned after an exception.
    """

    def __init__(self, stages: dict[int, Callable[[int, float], int]], raised: int) -> None:
        self.stages, self.error = stages, None
        self._raised = raised
        self._callback = CALLBACK(self._call)  # lives as long as this object does

    error: BaseException | None

    @property
    def address(self) -> int:
        """Where compiled code finds it."""
        return int(ctypes.cast(self._callback, ctypes.c_void_p).value or 0)

    def _call(self, stage: int, where: int, value: float) -> int:
        try:
            return self.stages[stage](where, value)
        except BaseException as error:  # handed on when the kernel has returned, interrupts too
            self.error = error
            return self._raised

    def reraise(self) -> None:
        """Raise what a stage has raised, if any."""
        error, self.error = self.error, None
        if error is not None:
            raise error
