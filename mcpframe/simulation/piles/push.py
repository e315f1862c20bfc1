"""Piles as the loop asks for them: one island from what touches to pushes on its bodies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.exceptions import NotSolvedError
from mcpframe.problem.cone import ConeLCP
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.memory import slots as run_at
from mcpframe.simulation.memory.workspace import Workspace
from mcpframe.simulation.piles import slots as at
from mcpframe.simulation.piles.gathering import gather, give
from mcpframe.simulation.piles.judging import write_point
from mcpframe.simulation.piles.ordering import arrange
from mcpframe.simulation.piles.slots import BLOCK, WORD
from mcpframe.simulation.piles.solving import solve_pile
from mcpframe.simulation.piles.stating import SIX, stated
from mcpframe.simulation.recording.steps import STATUSES
from mcpframe.solving.solution import Claim, Status
from mcpframe.solving.solve import certify, solve

Indices = NDArray[np.int64]

FIRST_CONTACTS, FIRST_ENTRIES = 64, 1024
DENSE, LIMIT = 150, 5.0
"""Contacts up to which other solvers try what is not solved, and the seconds that they have."""


class Piles:
    """Solves piles of one run.

    Args:
        n_bodies: of the whole tree.
        stepping: tolerance, and what a failure means.
    """

    def __init__(self, n_bodies: int, stepping: Stepping) -> None:
        self.n_bodies, self.stepping = n_bodies, stepping
        self._make_room(FIRST_CONTACTS)
        self._make_entries(FIRST_ENTRIES)

    def _make_room(self, n: int) -> None:
        counts = {"contact": n, "body": self.n_bodies, "all_body": self.n_bodies}
        self.I, self.X = at.PILE.arrays(**counts, word=-(-self.n_bodies // WORD))

    def _make_entries(self, n: int) -> None:
        self.columns, self.blocks = np.zeros(n, dtype=np.int64), np.zeros(n * BLOCK + BLOCK)
        self.I[at.N_ENTRIES] = 0

    def push(self, work: Workspace, I: Indices, X: Array, rise: float) -> int:
        """Build, solve and recover the island that the run asks about, at a state; return how it ended."""
        IS = work.IS
        island = IS[run_at.MEMBERS_AT] + IS[run_at.PILE]
        n = int(IS[island + 1] - IS[island])
        if n > self.I[at.ROOM]:
            self._make_room(2 * n)
        run = I, X, IS, work.XS
        warm = gather(*run, *self._own)
        if not arrange(*self._own, False):
            self._make_entries(2 * int(self.I[at.N_NEEDED]))
            arrange(*self._own, True)
        solved = solve_pile(*self._own, warm, float(work.XS[run_at.PILE_TOL]))
        if not solved and rise > 0.0:  # everything can be held, at least
            return run_at.NO_SOLUTION
        if not (solved or IS[run_at.ROUGH] or self._rescue()):
            self._fail(work)
        give(*run, *self._own)
        return run_at.DONE

    def _rescue(self) -> bool:
        """Solve a pile that is not too large as a dense problem, by other solvers; return success."""
        n, part = int(self.I[at.N_CONTACTS]), at.PILE.part
        if n > DENSE:
            return False
        problem, D, H = stated(self.I, self.X, dense=True)
        solver = "cone" if isinstance(problem, ConeLCP) else "auto"
        solution = solve(problem, solver, tol=self.stepping.tol, time_limit=LIMIT)
        if solution.ok:
            r = D @ solution.z[: D.shape[1]]
            y = (H @ r).reshape(-1, 6)
            part(self.I, self.X, at.R_BEST)[:n, :3] = r.reshape(n, 3)
            part(self.I, self.X, at.Y_BEST)[: len(y), SIX] = y
            self.X[at.RESIDUAL] = solution.scaled_residual
        return bool(solution.ok)

    @property
    def _own(self) -> tuple[Indices, Array, Indices, Array]:
        return self.I, self.X, self.columns, self.blocks

    def _fail(self, work: Workspace) -> None:
        """Name a failure, or raise it, as the scene says."""
        if self.stepping.on_failure != "best":
            raise self.error(Status.ITERATION_LIMIT, "")
        if not work.IS[run_at.STATUS]:
            work.IS[run_at.STATUS] = 1 + STATUSES.index(Status.ITERATION_LIMIT.name)

    def error(self, status: Status, message: str) -> NotSolvedError:
        """Return what to raise of the last pile: its rows, and how far its best point is from them."""
        problem = stated(self.I, self.X).problem
        z = np.zeros(problem.n)
        write_point(*self._own, z)
        claim = Claim(z, status, int(self.I[at.N_FACTORS]), message)
        solution = certify(problem, claim, self.stepping.tol * problem.scale, "pile", 0.0)
        return NotSolvedError(replace(solution, status=status), problem)
