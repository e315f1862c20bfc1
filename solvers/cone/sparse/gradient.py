"""Accelerated projected gradient on friction cones [Nesterov 1983; Mazhar et al. 2015].

    r+ = P_K(y - u_hat(y) / L),   u_hat = u + mu |u_t| e_n,   y+ = r+ + beta (r+ - r),

with L the largest eigenvalue of W and a fresh start whenever the steps turn back, (y - r+)'(r+ - r) > 0
[O'Donoghue and Candes 2015]. Each step costs two sparse products. Where most contacts
are open, or load has few ways to go, some hundred steps do; where a pile is jammed, W is blind to its
self-stress, r creeps along it, and the residual stays.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numba import types
from numpy.typing import NDArray

from mcpframe.jit import MatrixOut, Vector, VectorOut, callee, inline, inline_reduction, kernel
from mcpframe.solvers.cone.sparse.system import SparseCones

Array = NDArray[np.float64]

Index32 = types.Array(types.int32, 1, "C", readonly=True)
"""Half the traffic of `mcpframe.jit.Indices`, which counts where products wait for memory."""
POWER_STEPS, MARGIN = 20, 1.05
"""Power iterations for the largest eigenvalue of W, and the margin over what they find."""
VECTORS = 10
"""Passes over vectors of contacts in a step, about."""
LENGTH, MOMENTUM = range(2)
"""Entries of the state of a descent: L and Nesterov's theta."""


@inline
def sparse_row(data, indices, first, last, x):
    """Return one entry of a product of a matrix in compressed rows and x.

    In order, without lanes: rows are short, and gathered loads are several times slower on many processors.
    """
    total = 0.0
    for k in range(first, last):
        total += data[k] * x[indices[k]]
    return total


@callee
def multiply(data, indices, indptr, x, out):
    """Write the product of a matrix in compressed rows and x."""
    for i in range(out.shape[0]):
        out[i] = sparse_row(data, indices, indptr[i], indptr[i + 1], x)


@callee
def multiply_add(data, indices, indptr, x, q, out):
    """Write the product of a matrix in compressed rows and x, and q."""
    for i in range(out.shape[0]):
        out[i] = q[i] + sparse_row(data, indices, indptr[i], indptr[i + 1], x)


@inline_reduction
def turning(r, y, new):
    """Return (y - new)'(new - r)."""
    total = 0.0
    for i in range(r.shape[0]):
        total += (y[i] - new[i]) * (new[i] - r[i])
    return total


@callee
def step_into_cones(y, u, mu, length, d, out):
    """Write P_K(y - length u_hat)."""
    for c in range(mu.shape[0]):
        b, m, slip, tangent = c * d, mu[c], 0.0, 0.0
        for i in range(b + 1, b + d):
            slip += u[i] * u[i]
            out[i] = y[i] - length * u[i]
            tangent += out[i] * out[i]
        normal, tangent = y[b] - length * (u[b] + m * math.sqrt(slip)), math.sqrt(tangent)
        share = 1.0
        if m * tangent + normal <= 0.0:
            normal, share = 0.0, 0.0
        elif tangent > m * normal:
            normal = (m * tangent + normal) / (1.0 + m * m)
            share = m * normal / tangent
        out[b] = normal
        for i in range(b + 1, b + d):
            out[i] *= share


@callee
def gain_momentum(r, y, new, theta):
    """Move r to the new point and y ahead of it; return the next theta, 1 where the steps turn back."""
    following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * theta * theta))
    beta = (theta - 1.0) / following
    if turning(r, y, new) > 0.0:
        following, beta = 1.0, 0.0
    for i in range(r.shape[0]):
        y[i] = new[i] + beta * (new[i] - r[i])
        r[i] = new[i]
    return following


@kernel(
    Vector, Index32, Index32, Vector, Index32, Index32, Vector, Vector,
    types.int64, types.int64, VectorOut, VectorOut, VectorOut, VectorOut, MatrixOut,
)  # fmt: skip
def descend(
    G_data, G_indices, G_indptr, S_data, S_indices, S_indptr, q, mu, d, steps, state, r, y, v, work
):  # fmt: skip
    """Take so many steps, in place.

    Args:
        state: see `LENGTH`.
        r, y: the point and the one ahead of it [n].
        v: workspace for velocities [m].
        work: the same for contacts: the new point and u [2, n].
    """
    new, u = work[0], work[1]
    for _ in range(steps):
        multiply(G_data, G_indices, G_indptr, y, v)
        multiply_add(S_data, S_indices, S_indptr, v, q, u)
        step_into_cones(y, u, mu, 1.0 / state[LENGTH], d, new)
        state[MOMENTUM] = gain_momentum(r, y, new, state[MOMENTUM])


class Descent:
    """A descent that can be continued.

    Attributes:
        r: its point [n].
        steps: how many it has taken.
        work: products of numbers in a step, about.
    """

    def __init__(self, system: SparseCones, r: Array) -> None:
        self.r, self.steps = r.ravel().copy(), 0
        self.work = system.G.nnz + system.S.nnz + VECTORS * r.size
        self._y, self._work = self.r.copy(), np.empty((2, r.size))
        self._v = np.empty(system.G.shape[0])
        self._state = np.array([MARGIN * largest_eigenvalue(system), 1.0])
        self._matrices = (*_rows(system.G), *_rows(system.S), system.q.ravel(), system.mu, r.shape[1])

    def run(self, steps: int) -> Array:
        """Take so many more steps and return the point [n]."""
        descend(*self._matrices, steps, self._state, self.r, self._y, self._v, self._work)
        self.steps += steps
        return self.r


def largest_eigenvalue(system: SparseCones) -> float:
    """Return an estimate of the largest eigenvalue of the scaled W, from below."""
    x = np.random.default_rng(0).standard_normal(system.q.size)
    size = 1.0
    for _ in range(POWER_STEPS):
        x = system.S @ (system.G @ (x / size))
        size = float(np.linalg.norm(x)) or 1.0
    return size


def _rows(A: sp.csr_array) -> tuple[Array, NDArray[np.int32], NDArray[np.int32]]:
    return A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)
