"""Controllers that Numba has compiled: compiled steps call them by their address, without Python."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, final

import numba
import numpy as np
from numba import types
from numba.core.ccallback import CFunc
from numba.extending import is_jitted

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.model import Model
from mcpframe.scene.controllers import Controller, Function, Law

if TYPE_CHECKING:
    from mcpframe.multibody.state import State  # its kernels are loaded when a state is made

DOUBLES = types.CPointer(types.float64)
SIGNATURE = types.void(DOUBLES, DOUBLES, types.float64, DOUBLES)
"""Of a function in C: coordinates, rates, time, and where the forces go, which are zero before."""


def is_compiled(function: Any) -> bool:
    """Return whether a function is one that Numba has compiled, by `numba.njit` or `numba.cfunc`."""
    return is_jitted(function) or isinstance(function, CFunc)


@final
class CompiledFunction(Controller):
    """Forces at the hinges by a function that Numba has compiled.

    It is asked where a step begins, as any function is, but costs no more than what it computes. It must not
    raise: Numba prints an exception, and the forces are those written until then.

    Args:
        model: on which it acts.
        function: f(theta, theta_dot, time, tau), of `numba.njit`, which writes the forces into tau [N], zeros
            at first; or of `numba.cfunc` with the `SIGNATURE` of this module.
        name: for messages; that of the function unless given.

    Attributes:
        address: where compiled steps find it.

    >>> @numba.njit
    ... def brake(theta, theta_dot, time, tau):
    ...     tau[:] = -0.1 * theta_dot
    """

    def __init__(self, model: Model, function: Any, name: str | None = None) -> None:
        self.model, self.function = model, function
        self.name = getattr(function, "__qualname__", repr(function)) if name is None else name
        self._entry = entry_of(function, model.n_theta, model.n_dofs, self.name)

    @property
    def address(self) -> int:
        """Where compiled steps find it."""
        return int(self._entry.address)

    def force(self, state: State, time: float) -> Array:
        """Return the forces at the hinges [N]."""
        tau = np.zeros(self.model.n_dofs)
        arrays = np.array(state.theta), np.array(state.theta_dot), tau
        theta, rates, out = (array.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for array in arrays)
        self._entry.ctypes(theta, rates, time, out)
        return tau


def function_controller(model: Model, function: Law, name: str | None = None) -> Controller:
    """Return the controller that a function is, compiled or not."""
    return (CompiledFunction if is_compiled(function) else Function)(model, function, name)


def entry_of(function: Any, n_theta: int, n_dofs: int, name: str) -> Any:
    """Return what has an address: a function in C, or one that calls a function of arrays."""
    if isinstance(function, CFunc):
        if function._sig.args != SIGNATURE.args:
            raise ModelError(f"controller {name!r}: its signature is {function._sig}, not {SIGNATURE}")
        return function

    @numba.cfunc(SIGNATURE)
    def entry(theta, theta_dot, time, tau):  # type: ignore[no-untyped-def]
        places, rates = numba.carray(theta, n_theta), numba.carray(theta_dot, n_dofs)
        function(places, rates, time, numba.carray(tau, n_dofs))

    return entry
