"""Other people's LCP solvers, behind the same door as ours: those that can be imported take part.

What a peer says of itself is not believed: the benchmark puts every answer through the same certificate.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

import mcpframe as mf


@dataclass(frozen=True)
class Answer:
    """What one timed call gave.

    Attributes:
        z: the point.
        claimed: whether the solver says it is a solution.
        seconds: time of the solver itself; `wall` includes the way through Python to it.
        iterations: as the solver counts them, or 0 where it does not tell.
    """

    z: np.ndarray
    claimed: bool
    seconds: float
    wall: float
    iterations: int = 0


Run = Callable[[], Answer]


@dataclass(frozen=True)
class Own:
    """A solver of mcpframe, called through `mcpframe.solving.solve`."""

    name: str
    is_peer: bool = False
    warm_starts: bool = True

    def takes(self, problem: mf.MixedLCP) -> bool:
        """Return whether the solver takes problems like this one."""
        return not mf.solver(self.name).why_unsupported(problem)

    def prepare(self, problem: mf.MixedLCP, previous: mf.MixedLCP | None = None) -> Run:
        """Return a run on a fresh copy (no fact about M is known yet), warm from a previous problem."""
        fresh = mf.MixedLCP(problem.M, problem.q, problem.lower, problem.upper, contacts=problem.contacts)
        start: dict[str, Any] = {}
        if previous is not None:
            before = mf.solve(previous, self.name)
            start = {"z0": before.z if np.isfinite(before.z).all() else None, "basis": before.basis}

        def run() -> Answer:
            clock = perf_counter()
            solution = mf.solve(fresh, self.name, **start)
            wall = perf_counter() - clock
            claimed = solution.claimed is mf.Status.SOLVED
            return Answer(solution.z, claimed, solution.seconds, wall, solution.iterations)

        return run


@dataclass(frozen=True)
class Drake:
    """An LCP solver of drake, through pydrake; the program is built outside the clock.

    Its own time is the wall time less that of the same program with q >= 0, which the solver answers
    at once: what is left of a call then is the way through pydrake and MathematicalProgram.
    """

    name: str
    solver: str
    warm_starts: bool
    is_peer: bool = True

    def takes(self, problem: mf.MixedLCP) -> bool:
        """Return whether it is a plain LCP."""
        return bool((problem.lower == 0).all() and np.isposinf(problem.upper).all())

    def prepare(self, problem: mf.MixedLCP, previous: mf.MixedLCP | None = None) -> Run:
        """Return a run with a new solver object: unrevised Lemke keeps its basis, which is its warm start."""
        import pydrake.solvers

        solver = getattr(pydrake.solvers, self.solver)()
        program = self._program(problem.M_dense, problem.q)
        x = program.decision_variables()
        if previous is not None:
            solver.Solve(self._program(previous.M_dense, previous.q))
        overhead = self._overhead(problem)

        def run() -> Answer:
            clock = perf_counter()
            result = solver.Solve(program)
            wall = perf_counter() - clock
            return Answer(result.GetSolution(x), result.is_success(), max(wall - overhead, 0.0), wall)

        return run

    def _program(self, M: np.ndarray, q: np.ndarray) -> Any:
        import pydrake.solvers

        program = pydrake.solvers.MathematicalProgram()
        program.AddLinearComplementarityConstraint(M, q, program.NewContinuousVariables(q.size))
        return program

    def _overhead(self, problem: mf.MixedLCP) -> float:
        import pydrake.solvers

        program = self._program(problem.M_dense, np.abs(problem.q))
        times = []
        for _ in range(5):
            solver = getattr(pydrake.solvers, self.solver)()
            clock = perf_counter()
            solver.Solve(program)
            times.append(perf_counter() - clock)
        return min(times)


def peers() -> list[Drake]:
    """Return the peers that can be imported here."""
    if importlib.util.find_spec("pydrake") is None:
        return []
    lemke = Drake("drake unrevised Lemke", "UnrevisedLemkeSolver", warm_starts=True)
    return [lemke, Drake("drake Moby Lemke", "MobyLcpSolver", warm_starts=False)]
