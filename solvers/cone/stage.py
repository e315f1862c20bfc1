"""The dense method for callers in compiled code: problems of changing size on the same workspace."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import (
    address,
    by_address,
    kernel,
    window,
)
from mcpframe.solvers.cone import memory as at
from mcpframe.solvers.cone.chain import solve_cones
from mcpframe.solvers.cone.workspace import Arrays, new_workspace
from mcpframe.solving.stages import SOLVE_CONES, SolverStage

call_chain = by_address(solve_cones)


@kernel(*SOLVE_CONES)
def solve_in_place(M, q, lower, upper, discs, sizes, warm, tol, z, W, IW):
    """Write z; return iterations. Arguments as in `mcpframe.solving.stages`."""
    stop = window(IW, at.STOP, 1)
    call_chain(IW[at.CHAIN_AT], (M, q, lower, upper, discs, sizes, warm, tol, z, W, IW, stop))
    return IW[at.N_STEPS] + IW[at.N_SWEEPS] + IW[at.N_CENTRAL]


def cone_stage() -> SolverStage:
    """Return the dense method for callers in compiled code."""

    def room(n: int) -> Arrays:
        W, IW = new_workspace(n, n)
        IW[at.CHAIN_AT] = address(solve_cones)
        return W, IW

    return SolverStage(address(solve_in_place), room)
