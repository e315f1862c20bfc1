"""Nonsmooth Gauss-Seidel for frictional contact: contact after contact, others frozen [Jean 1999].

Each contact is relaxed by a few projections r_c <- P_K(r_c - rho_c u_hat_c), rho_c the inverse of the largest
eigenvalue of its block of W. Slow at the end, but it goes on where the Jacobian of Newton's method is blind:
along the redundant directions of hyperstatic piles.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numba import types
from numpy.typing import NDArray

from mcpframe.jit import Indices, MatrixOut, Vector, VectorOut, inline, kernel
from mcpframe.solvers.cone.newton import ConeSystem

Array = NDArray[np.float64]

INNER = 10
"""Projections per contact and visit."""
SETTLED = 1e-17
"""Change of r in one sweep, in scaled units, below which the sweeps have come to rest."""


@inline
def relax_contact(r, u, b, d, mu, rho):  # type: ignore[no-untyped-def]
    """Replace r_c (at b .. b+d) by P_K(r_c - rho (u + mu |u_t| e_n)), u [d]; r is overwritten."""
    slip = 0.0
    for i in range(1, d):
        slip += u[i] * u[i]
    r[b] -= rho * (u[0] + mu * math.sqrt(slip))
    tangent = 0.0
    for i in range(1, d):
        r[b + i] -= rho * u[i]
        tangent += r[b + i] * r[b + i]
    tangent = math.sqrt(tangent)
    if tangent > mu * r[b]:
        normal = max((mu * tangent + r[b]) / (1.0 + mu * mu), 0.0)
        share = mu * normal / tangent
        r[b] = normal
        for i in range(1, d):
            r[b + i] *= share


@kernel(
    Vector,
    Indices,
    Indices,
    Vector,
    Vector,
    Vector,
    types.int64,
    types.int64,
    VectorOut,
    VectorOut,
    MatrixOut,
)
def sweep_contacts(data, indices, indptr, q, mu, rho, d, sweeps, r, others, block):  # type: ignore[no-untyped-def]
    """Run Gauss-Seidel sweeps over r in place; others [2 d] and block [d, d] are workspaces."""
    for _ in range(sweeps):
        change = 0.0
        for c in range(mu.shape[0]):
            b = c * d
            block[:] = 0.0
            for i in range(d):
                others[i] = q[b + i]
                for k in range(indptr[b + i], indptr[b + i + 1]):
                    j = indices[k]
                    if b <= j < b + d:
                        block[i, j - b] = data[k]
                    else:
                        others[i] += data[k] * r[j]
            for _inner in range(INNER):
                for i in range(d):
                    others[d + i] = others[i]
                    for j in range(d):
                        others[d + i] += block[i, j] * r[b + j]
                before = r[b]
                relax_contact(r, others[d:], b, d, mu[c], rho[c])
                change = max(change, abs(r[b] - before))
        if change <= SETTLED:
            break


def gauss_seidel(system: ConeSystem, r: Array, sweeps: int) -> Array:
    """Return r [n_c, d] after so many sweeps."""
    n_c, d = r.shape
    W = sp.csr_array(system.matrix)
    blocks = np.array([W[c : c + d, c : c + d].toarray() for c in range(0, n_c * d, d)]).reshape(n_c, d, d)
    largest = np.linalg.norm(blocks, ord=2, axis=(1, 2)) if n_c else np.zeros(0)
    rho = 1.0 / np.where(largest > 0.0, largest, 1.0)
    moved = np.ascontiguousarray(r).ravel().copy()
    indices, indptr = W.indices.astype(np.int64), W.indptr.astype(np.int64)
    work = np.empty(2 * d), np.empty((d, d))
    sweep_contacts(W.data, indices, indptr, system.q.ravel(), system.mu, rho, d, sweeps, moved, *work)
    return moved.reshape(r.shape)
