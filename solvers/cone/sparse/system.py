"""A friction problem in scaled units, with W as a product S G of sparse factors.

    v = G r,   u = S v + q.   Global form: G = M^-1 H, S = H' (rows and columns of M scaled to unit size);
    local form: G = I, S = W.

Nothing is asked of W but these products, and of Newton's methods one kind of linear system: with impulses
r = a - B u, B block-diagonal over the contacts,

    (I + G B S) v = G (a - B q),

which has a row for each velocity, and the pattern of the graph of the bodies that closed contacts connect.
Where contacts are few beside bodies, as in a working set, it is solved by one with rows for them,

    v = b - G (I + B W)^-1 B S b.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from mcpframe.problem.friction import FrictionProblem, natural_map, project_cone

Array = NDArray[np.float64]
Solve = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class SparseCones:
    """The scaled problem: vectors of contacts have one row per contact [n_c, d].

    Attributes:
        G, S: factors of the scaled W.
        q: scaled free velocities [n_c, d].
        mu: friction coefficients [n_c].
        unit_r, unit_u: r and u of the problem over the scaled ones [n_c, 1].
        scales: at which the judge sees each contact [n_c].
    """

    G: sp.csr_array
    S: sp.csr_array
    q: Array
    mu: Array
    unit_r: Array
    unit_u: Array
    scales: Array

    @property
    def dim(self) -> int:
        """Rows of a contact."""
        return int(self.q.shape[1])

    def rows(self, contacts: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the rows of contacts."""
        return (self.dim * contacts[:, None] + np.arange(self.dim)).ravel()

    def part(self, kept: NDArray[np.intp]) -> SparseCones:
        """Return the problem of some contacts alone, with the velocities that they change."""
        rows = self.rows(kept)
        G = self.columns[:, rows]
        moved = np.unique(G.indices)
        return SparseCones(
            sp.csr_array(G)[moved],
            sp.csr_array(self.S[rows][:, moved]),
            self.q[kept],
            self.mu[kept],
            self.unit_r[kept],
            self.unit_u[kept],
            self.scales[kept],
        )

    @cached_property
    def columns(self) -> sp.csc_array:
        """G by columns."""
        return sp.csc_array(self.G)

    def among(self, contacts: NDArray[np.intp]) -> sp.csr_array:
        """Return W of some contacts."""
        rows = self.rows(contacts)
        return sp.csr_array(self.S[rows] @ self.columns[:, rows])

    @cached_property
    def W(self) -> sp.csc_array:
        """S G."""
        return sp.csc_array(self.S @ self.G)

    def push(self, r: Array) -> Array:
        """Return v = G r."""
        return np.asarray(self.G @ r.ravel())

    def u(self, v: Array) -> Array:
        """Return S v + q."""
        return np.asarray(self.S @ v).reshape(self.q.shape) + self.q

    def residual(self, r: Array) -> float:
        """Return the residual of the judge over its scale, for r moved into its cones; excuses aside."""
        worst = float(self.residuals(r).max(initial=0.0))
        return worst if np.isfinite(worst) else np.inf

    def residuals(self, r: Array) -> Array:
        """Return the same of every contact [n_c]."""
        inside = self.project(r)
        u = self.u(self.push(inside)) * self.unit_u
        return np.asarray(np.abs(natural_map(inside * self.unit_r, u, self.mu)).max(axis=1) / self.scales)

    def project(self, r: Array) -> Array:
        """Return r moved into its cones."""
        return project_cone(r, self.mu)

    def system_work(self, r: Array | None = None) -> float:
        """Return a guess of the multiplications in a factor of I + G B S where r is closed (None: all is).

        The largest part of the graph counts, as m^1.5 in the plane and m^2 in space, without its trees, which
        fill nothing in.
        """
        closed = self._without_trees(np.ones(len(self.mu), dtype=bool) if r is None else r[:, 0] > 0.0)
        H = abs(self.S).T @ sp.diags_array(1.0 * np.repeat(closed, self.dim))
        n, which = connected_components(sp.block_array([[None, H], [H.T, None]]), directed=False)
        velocities, contacts = (np.bincount(part, minlength=n) for part in np.split(which, [H.shape[0]]))
        largest = np.minimum(velocities, contacts).max(initial=0)
        return float(10.0 * largest ** (1.5 if self.dim == 2 else 2.0))

    def _without_trees(self, closed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the contacts without those that are the only one of a body, again and again."""
        n_c, n = self.q.shape[0], self.q.size
        by_contact = sp.csr_array((np.ones(n), np.arange(n), np.arange(0, n + 1, self.dim)), shape=(n_c, n))
        moves = by_contact @ abs(self.S)
        moves.data[:] = 1.0
        while True:
            alone = 1.0 * (moves.T @ closed == 1.0)
            kept = np.asarray(closed & (moves @ alone < self.dim))
            if (kept == closed).all():
                return kept
            closed = kept

    def factor(self, B: Array) -> Solve | None:
        """Return b -> (I + G B S)^-1 b for blocks B [n_c, d, d], refined once; None where it is singular."""
        K, blocks = self._matrix(B)
        lu = _splu(K)
        if lu is None:
            return None

        def solve(b: Array) -> Array:
            x = lu.solve(b)
            return np.asarray(x + lu.solve(b - K @ x))

        if blocks is None:
            return solve
        return lambda b: b - self.G @ solve(blocks @ (self.S @ b))

    def factor_work(self, r: Array) -> float:
        """Return the multiplications in a factor where r is closed, about, by making one."""
        closed = 1.0 * (r[:, 0] > 0.0)
        K = self._matrix(closed[:, None, None] * np.eye(r.shape[1]))[0]
        lu = _splu(K)
        return np.inf if lu is None else float(lu.nnz) ** 2 / K.shape[0]

    def _matrix(self, B: Array) -> tuple[sp.csc_array, sp.bsr_array | None]:
        """Return I + G B S and nothing, or I + B W and B where that is smaller."""
        blocks, few = _block_diagonal(B), self.q.size < self.G.shape[0]
        product = blocks @ self.W if few else self.G @ (blocks @ self.S)
        K = sp.csc_array(product + sp.eye_array(product.shape[0]))
        K.eliminate_zeros()
        return K, blocks if few else None


def sparse_cones(problem: FrictionProblem) -> SparseCones:
    """Return the problem in scaled units: one power of two per contact, max |q| = 1."""
    n_c, d = problem.n_c, problem.dim
    G, S = _factors(problem)
    diagonal = np.abs((S * G.T.tocsr()).sum(axis=1)).reshape(n_c, d).mean(axis=1)
    typical = diagonal.max(initial=0.0) or 1.0
    unit = np.exp2(-np.round(0.5 * np.log2(np.where(diagonal > 0.0, diagonal, typical))))
    D = np.repeat(unit, d)
    q = D * problem.q
    size = np.abs(q).max(initial=0.0) or 1.0
    G, S = sp.csr_array(G @ sp.diags_array(D)), sp.csr_array(sp.diags_array(D) @ S)
    for factor in (G, S):
        factor.sum_duplicates()  # in order: abs(G) shares its indices, and whoever sorts them spoils G
    units = (size * unit)[:, None], (size / unit)[:, None]
    return SparseCones(G, S, (q / size).reshape(n_c, d), problem.mu, *units, problem.contact_scales)


def _factors(problem: FrictionProblem) -> tuple[sp.csr_array, sp.csr_array]:
    """Return G and S with W = S G."""
    form = problem.global_form
    if form is None or form.inverse is None or not sp.issparse(form.H):
        return sp.csr_array(sp.eye_array(problem.n)), sp.csr_array(problem.W)
    root = np.sqrt(np.abs(form.inverse.diagonal()))  # of M^-1, so that |v| is that of kinetic energy
    root[root == 0.0] = 1.0
    G = sp.diags_array(1.0 / root) @ (form.inverse @ form.H)
    return sp.csr_array(G), sp.csr_array(form.H.T @ sp.diags_array(root))


def _block_diagonal(blocks: Array) -> sp.bsr_array:
    n_c, d, _ = blocks.shape
    return sp.bsr_array((blocks, np.arange(n_c), np.arange(n_c + 1)), shape=(n_c * d, n_c * d))


def _splu(K: Any) -> Any:
    """Return SuperLU's factors with pivots on the diagonal, or None."""
    if not np.isfinite(K.data).all():
        return None
    try:
        return scipy.sparse.linalg.splu(
            K, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError:
        return None
