"""Active-set polish of a mixed LCP or MCP: the last digits, once the active set shows.

A mixed LCP is polished as it is. A nonlinear problem is replaced by its linearisation at z (Josephy-Newton),

    F(z_k) + J(z_k) (z - z_k),

whose active-set solution is the next z, as long as the residual falls.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from mcpframe.problem.problems import MCP, MixedLCP
from mcpframe.solvers.shared.polish import active_set_polish

Array = NDArray[np.float64]

ROUNDS = 6
"""Linearisations: from a point near a regular solution four reach rounding level."""
STEPS = 6
"""Active-set steps per linear problem."""
DENSE_SIZE = 100
"""Up to this order a dense factorisation is faster than a sparse one."""


def polish(
    problem: MixedLCP | MCP, z: Array, residual: float, deadline: float, basis: NDArray[np.int8] | None = None
) -> tuple[Array, float]:
    """Return a point that is at least as good, and its natural residual.

    Args:
        residual: natural residual of z.
        basis: codes to try first.
    """
    if isinstance(problem, MixedLCP):
        polished = active_set_polish(problem, z, basis=basis, max_steps=STEPS, deadline=deadline)
        return (polished.z, polished.residual) if polished.residual < residual else (z, residual)
    for _ in range(ROUNDS):
        local = linearise(problem, z)
        if local is None or perf_counter() > deadline:
            break
        moved = active_set_polish(local, z, basis=basis, max_steps=STEPS, deadline=deadline).z
        moved, _, new = problem.certify(moved)
        if not new < residual:
            break
        z, residual, basis = moved, new, None
    return z, residual


def linearise(problem: MCP, z: Array) -> MixedLCP | None:
    """Return the linearisation of F at z as a mixed LCP in z, None where F or J is not defined there."""
    evaluator = problem.evaluator()
    J = evaluator.J(z)
    q = evaluator.F(z) - J @ z
    if not (np.isfinite(J.data).all() and np.isfinite(q).all()):
        return None
    dense = problem.n <= DENSE_SIZE
    return MixedLCP(J.toarray() if dense else J, q, problem.lower, problem.upper)
