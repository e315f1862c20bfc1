"""The kernels without the interpreter: many calls in one compiled loop, as a simulation would make them.

What the kernels are called with is overheard from the public calls that use them.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import numba

import mcpframe as mf
from mcpframe.formulations.operational import space as os_formulation
from mcpframe.formulations.operational.kernels import operational_space
from mcpframe.multibody.kernels import entries
from mcpframe.multibody.kernels.entries import NOTHING, SWEPT, free_dynamics, node_compliance
from mcpframe.multibody.state import State


@numba.njit(error_model="numpy")
def accelerate(count, I, X):
    """Kinematics, articulated sweep and free acceleration, `count` times."""
    failed = 0
    for _ in range(count):
        failed += free_dynamics(I, X, NOTHING)
    return failed


@numba.njit(error_model="numpy")
def comply(count, I, X, IR, XR):
    """The same, and Lambda of nodes."""
    failed = 0
    for _ in range(count):
        failed += free_dynamics(I, X, NOTHING)
        failed += node_compliance(I, X, IR, XR, SWEPT)
    return failed


@numba.njit(error_model="numpy")
def assemble(count, I, X, IR, XR, records, shift, softness, dt, bias):
    """All of `os`: kinematics, sweep, free acceleration, Lambda, M and q."""
    failed = 0
    for _ in range(count):
        failed += operational_space(I, X, IR, XR, records, shift, softness, dt, bias, NOTHING)
    return failed


def node_workspace(state: State, nodes: Sequence[mf.Node]) -> tuple[Any, Any]:
    """Return IR and XR, the workspace of nodes that `state.compliance` hands to its kernel."""
    with patch.object(entries, "node_compliance", side_effect=node_compliance) as spy:
        state.compliance(nodes)
    IR, XR = spy.call_args.args[2:4]
    return IR, XR


def assembly(build: Callable[[], object]) -> tuple[Any, ...]:
    """Return what a call that builds `os` hands to its kernel, all but how far the state has come."""
    with patch.object(os_formulation, "operational_space", side_effect=operational_space) as spy:
        build()
    return tuple(spy.call_args.args[:-1])
