"""Eliminate velocities and loop multipliers from a step: v+ = Y p + X [J14, Eqs. (37)-(39)].

In any coordinates of the velocity, with momentum balance Mass v+ = Mass v_f + G_b* p_b + p and loops
G_b v+ = u,

    p_b = (G_b Mass^-1 G_b*)^-1 (u - G_b (v_f + Mass^-1 p)),
    v+  = Y p + X,   Y = Mass^-1 - W W*,   X = v_f + W L^-1 (u - G_b v_f),

where L L* = G_b Mass^-1 G_b* and W = Mass^-1 G_b* L^-*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_solve, cholesky, solve_triangular

from mcpframe.arrays import Array

CANCELLED = 1e-13
"""Share of the compliance without loops below which the rest is rounding: parts that cancel do so to about
1e-15, to more where the loops' rows are nearly dependent."""


@final
class Elimination:
    """The velocity as an affine map of the impulses that are left.

    Args:
        inverse_mass: B -> Mass^-1 B, for momenta B [n, k].
        v_f: velocity after the step without constraint impulses [n].
        G_b: independent rows of the loops [rank, n], dense or sparse.
        u: what G_b v+ must be [rank].

    Attributes:
        X: velocity after the step when only the loops act [n].
    """

    def __init__(self, inverse_mass: Callable[[Any], Any], v_f: Array, G_b: Any, u: Array) -> None:
        self._inverse_mass, self._G_b, self._u = inverse_mass, G_b, u
        self._to_velocity = inverse_mass(G_b.T)
        self._L = cholesky(_dense(G_b @ self._to_velocity), lower=True)
        W = solve_triangular(self._L, _dense(self._to_velocity).T, lower=True).T
        self._W = sp.csr_array(W) if sp.issparse(G_b) else W
        self.v_f = v_f
        self.X = v_f + self._to_velocity @ self.multipliers(v_f)

    def multipliers(self, v: Array) -> Array:
        """Return the impulses of the loops that turn the velocity v into one that keeps them [rank]."""
        impulses: Array = cho_solve((self._L, True), self._u - self._G_b @ v)
        return impulses

    def compliance(self, G: Any) -> Any:
        """Return G Y G* [k, k] for rows G [k, n], dense or sparse: velocities along them per impulse.

        Where the loops leave a row no motion, the two parts of Y cancel; what rounding leaves of them is set
        to zero, lest a solver divide by it.
        """
        free, taken = G @ self._inverse_mass(G.T), G @ self._W
        left = free - taken @ taken.T
        size = np.sqrt(np.maximum(free.diagonal(), 0.0))
        if not sp.issparse(left):
            return np.where(np.abs(left) <= CANCELLED * np.outer(size, size), 0.0, left)
        left = left.tocoo()
        kept = np.abs(left.data) > CANCELLED * size[left.row] * size[left.col]
        return sp.csr_array((left.data[kept], (left.row[kept], left.col[kept])), left.shape)

    def velocity(self, momentum: Array) -> tuple[Array, Array]:
        """Return v+ and the loops' impulses for momentum that other impulses add [n]."""
        v = self.v_f + self._inverse_mass(momentum)
        p_b = self.multipliers(v)
        return v + self._to_velocity @ p_b, p_b


def _dense(matrix: Any) -> Array:
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
