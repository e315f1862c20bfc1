"""Lemke's kernel without the interpreter: many solves in one compiled loop, as a simulation would make them.

A peer's own time leaves out its bindings; this is the figure of ours to hold beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numba
import numpy as np
from peers.solvers import Answer, Run

import mcpframe as mf
from mcpframe.solvers.lemke.attempts import solve_dense
from mcpframe.solvers.shared.alarm import NEVER
from mcpframe.solvers.shared.workspace import new_workspace

SECONDS = 2e-3
"""How long one loop should last: enough for the clock, little enough for many problems."""


@numba.njit(error_model="numpy")
def solve_again_and_again(
    count, M, q, lower, upper, codes, start, warm, tol, attempts, z, ray, T, V, K, R, stop
):  # type: ignore[no-untyped-def]
    """Solve one problem `count` times; return the residual and the pivots of the last solve."""
    residual, pivots = 0.0, 0
    for _ in range(count):
        codes[0] = start
        residual, _, pivots = solve_dense(
            M, q, lower, upper, codes, warm, tol, 0, attempts, z, ray, T, V, K, R, stop
        )
    return residual, pivots


@dataclass(frozen=True)
class Kernel:
    """The kernel behind `lemke`, called from compiled code."""

    name: str = "lemke kernel"
    is_peer: bool = False
    warm_starts: bool = True

    def takes(self, problem: mf.MixedLCP) -> bool:
        """Return whether the kernel takes it: every dense problem."""
        return True

    def prepare(self, problem: mf.MixedLCP, previous: mf.MixedLCP | None = None) -> Run:
        """Return a run of a loop over one problem, warm from a previous one; one solve is what is timed."""
        before = None if previous is None else mf.solve(previous, "lemke").basis
        start = np.zeros(problem.n, np.int8) if before is None else before
        z, tol = np.empty(problem.n), 1e-9 * problem.scale
        arguments: tuple[Any, ...] = (
            problem.M_dense, problem.q, problem.lower, problem.upper,
            np.zeros((2, problem.n), np.int8), start, before is not None, tol, mf.solver("lemke").attempts,
            z, np.zeros(problem.n), *new_workspace(problem.n), NEVER,
        )  # fmt: skip
        clock = perf_counter()
        solve_again_and_again(1, *arguments)
        count = max(1, int(SECONDS / max(perf_counter() - clock, 1e-7)))

        def run() -> Answer:
            clock = perf_counter()
            residual, pivots = solve_again_and_again(count, *arguments)
            seconds = (perf_counter() - clock) / count
            return Answer(z.copy(), residual <= tol, seconds, seconds, pivots)

        return run
