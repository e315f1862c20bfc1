"""Frictional contact with its velocities: M v = H r + f, u = H' v + w, hence W = H' M^-1 H.

Bodies that share no joint make M block-diagonal: its inverse is then as sparse as M itself, and so are W and
what methods for thousands of contacts are made of.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from mcpframe.arrays import real_matrix, real_vector
from mcpframe.exceptions import ProblemError

Array = NDArray[np.float64]
Matrix: TypeAlias = "Array | sp.csr_array"

SOLVE_COLUMNS = 512
"""Columns of H that go through M^-1 at a time: bounds the memory of the condensation."""
LARGEST_BLOCK = 100
"""Rows of a block of M above which its inverse is not written out."""


class GlobalForm:
    """The part M v = H r + f, u = H' v + w of a global problem, with M factorised once.

    Attributes:
        M, H, f, w: the data, checked and read-only.
    """

    def __init__(self, M: Any, H: Any, f: ArrayLike, w: ArrayLike) -> None:
        self.f, self.w = real_vector("f", f), real_vector("w", w)
        self.M: Matrix = real_matrix("M", M, (self.n_v, self.n_v))
        self.H: Matrix = real_matrix("H", H, (self.n_v, self.w.size))
        self._solve = _factorised(self.M)

    @property
    def n_v(self) -> int:
        """Length of v."""
        return int(self.f.size)

    @cached_property
    def inverse(self) -> sp.csr_array | None:
        """M^-1, where M is sparse and falls apart into small blocks; else None."""
        return _block_inverse(self.M) if sp.issparse(self.M) else None

    def velocities(self, r: Array) -> Array:
        """Return v = M^-1 (H r + f), refined once so that M v - H r - f is at rounding level."""
        rhs = np.asarray(self.H @ r + self.f)
        v = self._solve(rhs)
        return v + self._solve(rhs - np.asarray(self.M @ v))

    def free_velocities(self) -> Array:
        """Return q = H' M^-1 f + w."""
        return np.asarray(self.H.T @ self._solve(self.f) + self.w)

    def terms(self, size: Array) -> Array:
        """Return |H'| |M^-1| |H| size, no less than the terms |W| size of the sums W r; M has an inverse."""
        assert self.inverse is not None
        H = abs(self.H)
        return np.asarray(H.T @ (abs(self.inverse) @ (H @ size)))

    def condensed(self) -> Matrix:
        """Return W = H' M^-1 H."""
        if sp.issparse(self.H) and self.inverse is not None:
            return sp.csr_array(self.H.T @ (self.inverse @ self.H))
        H = sp.csc_array(self.H)
        columns = range(0, H.shape[1], SOLVE_COLUMNS)
        blocks = [H.T @ self._solve(H[:, k : k + SOLVE_COLUMNS].toarray()) for k in columns]
        if not blocks:
            return np.zeros((0, 0))
        if not sp.issparse(self.H):
            return np.hstack(blocks)
        return sp.hstack([sp.csc_array(block) for block in blocks], format="csr")


def _block_inverse(M: sp.csr_array) -> sp.csr_array | None:
    """Return M^-1 of a matrix that falls apart into blocks; None where one of them is large."""
    n_blocks, block = connected_components(M, directed=False)
    sizes = np.bincount(block, minlength=n_blocks)
    if sizes.max(initial=0) > LARGEST_BLOCK:
        return None
    order, first = np.argsort(block, kind="stable"), np.cumsum(sizes) - sizes
    place = np.empty(M.shape[0], np.int64)
    place[order] = np.arange(order.size) - np.repeat(first, sizes)
    entries, parts = M.tocoo(), []
    for size in np.unique(sizes):
        which = np.flatnonzero(sizes == size)
        number = np.full(n_blocks, -1)
        number[which] = np.arange(which.size)
        mine = number[block[entries.row]] >= 0
        row, column = entries.row[mine], entries.col[mine]
        dense = np.zeros((which.size, size, size))
        dense[number[block[row]], place[row], place[column]] = entries.data[mine]
        rows = order[first[which][:, None] + np.arange(size)]
        index = np.broadcast_to(rows[:, :, None], dense.shape)
        parts.append((np.linalg.inv(dense).ravel(), index.ravel(), index.swapaxes(1, 2).ravel()))
    values, i, j = (np.concatenate(part) for part in zip(*parts, strict=True))
    return sp.csr_array((values, (i, j)), shape=M.shape)


def _factorised(M: Matrix) -> Callable[[Array], Array]:
    """Return b -> M^-1 b."""
    if M.shape[0] == 0:
        return np.copy
    try:
        solve: Callable[[Array], Array] = scipy.sparse.linalg.splu(sp.csc_array(M)).solve
    except RuntimeError:
        raise ProblemError("M: the mass matrix is singular, so v cannot be eliminated") from None
    return solve
