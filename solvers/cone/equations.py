"""Equations out of a mixed LCP with discs: what is left is as small as its contacts.

With f the rows of equations and x all others,

    z_f = -M_ff⁻¹ (M_fx z_x + q_f),     M_x = M_xx - M_xf M_ff⁻¹ M_fx,     q_x - M_xf M_ff⁻¹ q_f.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.problem.cone import ConeLCP, Discs
from mcpframe.solvers.shared.linear import sparse_lu

Array = NDArray[np.float64]

ROUNDING = 1e-6
"""Error of M_ff M_ff⁻¹ q_f, relative, beyond which equations count as singular."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """The problem without its equations, and the way back.

    Attributes:
        problem: on the rows that are kept.
        kept: which these are.
        whole: the problem as it was.
        solve: b -> M_ff⁻¹ b.
    """

    problem: ConeLCP
    kept: NDArray[np.int64]
    whole: ConeLCP
    solve: Any

    def point(self, x: Array) -> Array:
        """Return z of the whole problem, refined once."""
        z, f = np.zeros(self.whole.n), np.flatnonzero(self.whole.equations)
        z[self.kept] = x
        for _ in range(2):
            z[f] -= self.solve((self.whole.M @ z + self.whole.q)[f])
        return z


def eliminate_equations(problem: ConeLCP) -> Reduction | None:
    """Return the problem without its equations; None where they are singular."""
    f, kept = np.flatnonzero(problem.equations), np.flatnonzero(~problem.equations)
    M = problem.rows.M_csr if problem.is_sparse else problem.M
    solve = _factored(M[f][:, f])
    if solve is None:
        return None
    M_fx, M_xf = (M[f][:, kept], M[kept][:, f])
    right = np.column_stack([M_fx.toarray() if sp.issparse(M_fx) else M_fx, problem.q[f]])
    response = solve(right)
    if not np.allclose(M[f][:, f] @ response, right, rtol=ROUNDING, atol=ROUNDING * np.abs(right).max()):
        return None
    change = np.asarray(M_xf @ response)
    M_xx = M[kept][:, kept]
    M_x = (M_xx.toarray() if sp.issparse(M_xx) else M_xx) - change[:, :-1]
    place = np.full(problem.n, -1)
    place[kept] = np.arange(kept.size)
    table, sizes = problem.discs.table, problem.discs.sizes
    discs = Discs(place[table[:, 0]], place[table[:, 1]], table[:, 2], sizes[:, 0], sizes[:, 1])
    bounds = problem.lower[kept], problem.upper[kept]
    reduced = ConeLCP(M_x, problem.q[kept] - change[:, -1], *bounds, discs)
    return Reduction(reduced, kept, problem, solve)


def _factored(F: Any) -> Any:
    """Return b -> F⁻¹ b, None where F is singular."""
    if sp.issparse(F):
        factors = sparse_lu(F)
        return None if factors is None else factors.solve
    with np.errstate(all="ignore"):
        lu, pivots, info = scipy.linalg.lapack.dgetrf(F)
    return None if info != 0 else (lambda b: np.asarray(scipy.linalg.lapack.dgetrs(lu, pivots, b)[0]))
