"""Piles as the loop asks for them: one island from what touches to pushes on its bodies."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.exceptions import NotSolvedError
from mcpframe.problem.friction import FrictionProblem
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.memory import slots as run_at
from mcpframe.simulation.memory.workspace import Workspace
from mcpframe.simulation.piles import slots as at
from mcpframe.simulation.piles.gathering import gather, give
from mcpframe.simulation.piles.ordering import arrange
from mcpframe.simulation.piles.slots import BLOCK, DISC, ROWS, SMOOTH, WORD
from mcpframe.simulation.piles.solving import solve_pile
from mcpframe.simulation.recording.steps import STATUSES
from mcpframe.solving.solution import Claim, Status
from mcpframe.solving.solve import certify, solve

Indices = NDArray[np.int64]

FIRST_CONTACTS, FIRST_ENTRIES = 64, 1024
DENSE, LIMIT = 150, 5.0
"""Contacts up to which other solvers try what is not solved, and the seconds that they have."""
SIX = [0, 1, 2, 4, 5, 6]
"""Where the six numbers of a pair are."""


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
        starts, k = work.integers(run_at.MEMBERS_AT), int(work.IS[run_at.PILE])
        n = int(starts[k + 1] - starts[k])
        if n > self.I[at.ROOM]:
            self._make_room(2 * n)
        arrays = I, X, work.IS, work.XS, self.I, self.X, self.columns, self.blocks
        warm = gather(*arrays)
        if not arrange(*self._own, False):
            self._make_entries(2 * int(self.I[at.N_NEEDED]))
            arrange(*self._own, True)
        solved = solve_pile(*self._own, warm, self.stepping.tol)
        if not solved and rise > 0.0:  # everything can be held, at least
            return run_at.NO_SOLUTION
        if not (solved or self._rescue()):
            self._fail(work)
        self._count(work)
        give(*arrays[:6], self.columns, self.blocks)
        return run_at.DONE

    def _rescue(self) -> bool:
        """Solve a pile that is not too large as a problem of its own, by other solvers; return success."""
        n, part = int(self.I[at.N_CONTACTS]), at.PILE.part
        edges = set(part(self.I, self.X, at.EDGES)[:n].tolist())
        leans = part(self.I, self.X, at.LEANS)[:n].any()
        if n > DENSE or len(edges) > 1 or leans or SMOOTH in edges:
            return False
        problem, n_f = self.problem(), edges.pop()
        dense = FrictionProblem(sp.csr_array(problem.W).toarray(), problem.q, problem.mu)
        given = dense if n_f == DISC else dense.to_mixed_lcp(n_f)
        solution = solve(given, "cone" if n_f == DISC else "auto", tol=self.stepping.tol, time_limit=LIMIT)
        if solution.ok:
            r = solution.z if n_f == DISC else dense.impulses(solution.z)
            part(self.I, self.X, at.R_BEST)[:n, :3] = r.reshape(n, 3)
            y = problem.velocities(r).reshape(-1, 6)
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

    def _count(self, work: Workspace) -> None:
        """Add the solve to the figures."""
        IS, XS = work.IS, work.XS
        IS[run_at.ITERATIONS] += self.I[at.N_FACTORS]
        IS[run_at.N_SOLVES] += 1
        free = at.PILE.part(self.I, self.X, at.FREE)[: self.I[at.N_CONTACTS], :3]
        residual = float(self.X[at.RESIDUAL]) * (1.0 + float(np.abs(free).max(initial=0.0)))
        XS[run_at.RESIDUAL] = max(float(XS[run_at.RESIDUAL]), residual)

    def error(self, status: Status, message: str) -> NotSolvedError:
        """Return what to raise of the last pile."""
        problem = self.problem()
        claim = Claim(self.impulses().ravel(), status, int(self.I[at.N_FACTORS]), message)
        return NotSolvedError(certify(problem, claim, self.stepping.tol, "pile", 0.0), problem)

    def problem(self) -> FrictionProblem:
        """Return the last pile as a friction problem: round cones, motions of unit mass."""
        n, n_b = int(self.I[at.N_CONTACTS]), int(self.I[at.N_BODIES])
        part = at.PILE.part
        J = part(self.I, self.X, at.JACOBIAN)[:n].reshape(n, 2, 3, ROWS // 6)
        J = J[..., SIX]
        sides = part(self.I, self.X, at.SIDES)[:n]
        c, side = np.nonzero(sides >= 0)
        columns = (6 * sides[c, side])[:, None, None] + np.arange(6)
        rows = (3 * c)[:, None, None] + np.arange(3)[:, None]
        shape = J[c, side].shape
        entries = np.broadcast_to(columns, shape).ravel(), np.broadcast_to(rows, shape).ravel()
        H = sp.csr_array((J[c, side].ravel(), entries), shape=(6 * n_b, 3 * n))
        free, mu = part(self.I, self.X, at.FREE)[:n, :3].ravel(), part(self.I, self.X, at.MU)[:n]
        return FrictionProblem.from_global(
            sp.eye_array(6 * n_b, format="csc"), H, np.zeros(6 * n_b), free.copy(), mu.copy()
        )

    def impulses(self) -> Array:
        """Return the impulses that were found, along n, t_1, t_2 [n, 3]."""
        found: Array = at.PILE.part(self.I, self.X, at.R_BEST)[: self.I[at.N_CONTACTS], :3].copy()
        return found
