"""Relative residuals by the convention of the problem suite, written anew from its description.

Linear: |z - clip(z - w, l, u)| over the scale in the file; free rows: |w_i| over |q_i| + max_j |M_ij| |z|.
Nonlinear: the same map in the 2-norm over max(1, |z|).
Friction on the exact cone K = {|r_t| <= mu r_n}: |r - P_K(r - u - mu |u_t| e_n)| in the 2-norm over
max(|q|, |r|, |u|), with u = W r + q; global problems add the error of M v = H r + f, scaled likewise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import spsolve

Array = NDArray[np.float64]

FLOOR = 1e-10
"""Smallest scale of a frictional problem (one has q of order 1e-19)."""


def natural_map(z: Array, w: Array, lower: Array, upper: Array) -> Array:
    """Return z - clip(z - w, l, u)."""
    return z - np.clip(z - w, lower, upper)


def linear_residual(data: dict[str, Any], z: Array) -> float:
    """Return the relative residual of z in a mixed LCP."""
    M, q = data["M"], data["q"]
    F = np.abs(natural_map(z, M @ z + q, data["lower"], data["upper"]))
    free = np.isinf(data["lower"]) & np.isinf(data["upper"])
    worst = F[~free].max(initial=0.0) / float(data["scale"])
    if free.any():
        size = abs(sp.csr_array(M))[np.flatnonzero(free)]
        occurs = np.asarray(size.sum(axis=0)).ravel() > 0
        terms = np.abs(q[free]) + size.max(axis=1).toarray().ravel() * np.abs(z[occurs]).max(initial=0.0)
        worst = max(worst, (F[free] / np.maximum(terms, 1e-300)).max())
    return float(worst)


def nonlinear_residual(w: Array, z: Array, lower: Array, upper: Array) -> float:
    """Return the relative residual of z in an MCP with w = F(z)."""
    return float(np.linalg.norm(natural_map(z, w, lower, upper)) / max(1.0, float(np.linalg.norm(z))))


def project_cone(x: Array, mu: Array) -> Array:
    """Return the projection of every row (normal, tangents) onto its cone |x_t| <= mu x_n."""
    normal, tangent = x[:, 0], x[:, 1:]
    length = np.linalg.norm(tangent, axis=1)
    foot = (mu * length + normal) / (1.0 + mu**2)
    onto = np.c_[foot, tangent * (mu * foot / np.maximum(length, 1e-300))[:, None]]
    polar, inside = mu * length <= -normal, length <= mu * normal
    return np.where(polar[:, None], 0.0, np.where(inside[:, None], x, onto))


def cone_map(r: Array, u: Array, mu: Array, dim: int) -> Array:
    """Return r - P_K(r - u - mu |u_t| e_n)."""
    R, U = r.reshape(-1, dim), u.reshape(-1, dim).copy()
    U[:, 0] += mu * np.linalg.norm(U[:, 1:], axis=1)
    return (R - project_cone(R - U, mu)).ravel()


def frictional_residual(data: dict[str, Any], r: Array) -> float:
    """Return the relative residual of the impulses r, u = W r + q."""
    u = data["W"] @ r + data["q"]
    F = cone_map(r, u, data["mu"], int(data["dim"]))
    return float(np.linalg.norm(F)) / _scale(data["q"], r, u)


def global_residual(data: dict[str, Any], r: Array) -> float:
    """Return the relative residual of the impulses r, M v = H r + f, u = H' v + w."""
    H_r = data["H"] @ r
    v = spsolve(sp.csc_array(data["M"]), H_r + data["f"])
    M_v = data["M"] @ v
    u = data["H"].T @ v + data["w"]
    F = cone_map(r, u, data["mu"], int(data["dim"]))
    balance = float(np.linalg.norm(M_v - H_r - data["f"])) / _scale(data["f"], M_v, H_r)
    return balance + float(np.linalg.norm(F)) / _scale(u, r, data["w"])


def _scale(*vectors: Array) -> float:
    return max(FLOOR, *(float(np.linalg.norm(vector)) for vector in vectors))
