"""Complementarity functions of the semismooth Newton method, row by row, and its Newton matrix.

Each function phi(a, b) is zero exactly where a >= 0, b >= 0, a b = 0. With two-sided bounds Billups' form

    Phi_i(z) = phi(z_i - l_i, -phi(u_i - z_i, -F_i(z)))                       [Billups 1995]

is zero exactly at the solutions of row i; an infinite bound drops its phi, so a free row is F_i itself.
An element of the generalised Jacobian is H = diag(D_z) + diag(D_F) J, with D_z, D_F the partial derivatives.

    FISCHER    a + b - sqrt(a^2 + b^2 + 2 mu^2)                               [Fischer 1992]
    PENALIZED  lam phi_FB(a, b) + (1 - lam) max(a, 0) max(b, 0)               [Chen, Chen, Kanzow 2000]
    MINIMUM    min(a, b)

mu > 0 smooths the first [Kanzow 1996]; the others ignore it.
"""

from __future__ import annotations

import math
from typing import Any

from numba import types

from mcpframe.jit import Indices, IndicesOut, Matrix, MatrixOut, Vector, VectorOut, callee, inline, kernel
from mcpframe.problem.residual import row_dot
from mcpframe.solvers.shared.dense import lu_factor, lu_solve

FISCHER, PENALIZED, MINIMUM = 0, 1, 2

PENALTY = 0.95
"""lam of the penalised function; the value of its authors."""

KINK = 1.0 - math.sqrt(0.5)
"""Both partial derivatives of Fischer-Burmeister at (0, 0), in the direction a = b."""


@inline
def fischer_burmeister(a: Any, b: Any, mu: Any) -> Any:
    """Return phi and its partial derivatives, without cancellation where phi is small, or overflow."""
    h = math.hypot(math.hypot(a, b), math.sqrt(2.0) * mu)
    if h == 0.0:
        return 0.0, KINK, KINK
    s = a + b
    phi = 2.0 * (max(a, b) / (s + h) * min(a, b) - mu / (s + h) * mu) if s > 0.0 else s - h
    return phi, 1.0 - a / h, 1.0 - b / h


@inline
def complementarity(kind: Any, a: Any, b: Any, mu: Any) -> Any:
    """Return phi(a, b) of the chosen kind and its partial derivatives."""
    if kind == MINIMUM:
        return (a, 1.0, 0.0) if a <= b else (b, 0.0, 1.0)
    phi, d_a, d_b = fischer_burmeister(a, b, mu)
    if kind == PENALIZED:
        a_plus, b_plus = max(a, 0.0), max(b, 0.0)
        phi = PENALTY * phi + (1.0 - PENALTY) * a_plus * b_plus
        d_a = PENALTY * d_a + (1.0 - PENALTY) * (b_plus if a > 0.0 else 0.0)
        d_b = PENALTY * d_b + (1.0 - PENALTY) * (a_plus if b > 0.0 else 0.0)
    return phi, d_a, d_b


@inline
def billups_row(kind: Any, mu: Any, z: Any, F: Any, lower: Any, upper: Any) -> Any:
    """Return Phi_i, dPhi_i/dz_i, dPhi_i/dF_i of one row."""
    if lower == upper:
        return z - lower, 1.0, 0.0
    value, d_z, d_F = F, 0.0, 1.0
    if upper < math.inf:
        value, d_a, d_b = complementarity(kind, upper - z, -F, mu)
        value, d_z, d_F = -value, d_a, d_b
    if lower > -math.inf:
        value, d_a, d_b = complementarity(kind, z - lower, value, mu)
        d_z, d_F = d_a + d_b * d_z, d_b * d_F
    return value, d_z, d_F


@callee
def write_rows(kind, mu, z, F, lower, upper, Phi, D_z, D_F):  # type: ignore[no-untyped-def]
    """Write Phi and its partial derivatives; return the merit ||Phi||^2 / 2, +inf where F is not finite."""
    merit = 0.0
    for i in range(z.shape[0]):
        Phi[i], D_z[i], D_F[i] = billups_row(kind, mu, z[i], F[i], lower[i], upper[i])
        merit += 0.5 * Phi[i] * Phi[i]
    return merit if merit < math.inf else math.inf


@kernel(types.int64, types.float64, Vector, Vector, Vector, Vector, VectorOut, VectorOut, VectorOut)
def complementarity_rows(kind, mu, z, F, lower, upper, Phi, D_z, D_F):  # type: ignore[no-untyped-def]
    """Do as `write_rows`."""
    return write_rows(kind, mu, z, F, lower, upper, Phi, D_z, D_F)


@kernel(
    types.int64, types.float64, Matrix, Vector, Vector, Vector, Vector, Vector, types.float64, types.float64,
    types.int64, VectorOut, VectorOut, VectorOut, VectorOut, VectorOut,
)  # fmt: skip
def search_affine(  # type: ignore[no-untyped-def]
    kind, mu, M, q, lower, upper, z, d, slope, reference, halvings, after, F, Phi, D_z, D_F
):  # fmt: skip
    """Write z + t d, F = M z + q and the rows there, for the first t = 1, 1/2, 1/4 .. that is good enough.

    Good enough is a merit of at most reference + t slope. Return how often t was halved, and the merit; so
    many as `halvings` where none is.
    """
    n, t, merit = z.shape[0], 1.0, math.inf
    for halved in range(halvings):
        for i in range(n):
            after[i] = z[i] + t * d[i]
        for i in range(n):
            F[i] = row_dot(M, i, after, 0, n) + q[i]
        merit = write_rows(kind, mu, after, F, lower, upper, Phi, D_z, D_F)
        if merit <= reference + t * slope:
            return halved, merit
        t *= 0.5
    return halvings, merit


@kernel(Matrix, Vector, Vector, MatrixOut)
def newton_matrix_dense(J, D_z, D_F, H):  # type: ignore[no-untyped-def]
    """Write H = diag(D_z) + diag(D_F) J."""
    n = D_z.shape[0]
    for i in range(n):
        for j in range(n):
            H[i, j] = D_F[i] * J[i, j]
        H[i, i] += D_z[i]


@kernel(Matrix, Vector, MatrixOut, IndicesOut, VectorOut)
def newton_direction(H, Phi, A, order, d):  # type: ignore[no-untyped-def]
    """Write d = -H^-1 Phi; return whether H is regular and d finite.

    Args:
        A: workspace for the factors [n, n]; order: workspace [n].
    """
    n = Phi.shape[0]
    for i in range(n):
        for j in range(n):
            A[i, j] = H[i, j]
    if not lu_factor(A, order, n):
        return False
    lu_solve(A, order, n, Phi, d)
    size = 0.0
    for i in range(n):
        d[i] = -d[i]
        size += abs(d[i])
    return size < math.inf


@kernel(Vector, Indices, Indices, Vector, Vector, VectorOut)
def newton_matrix_sparse(J, rows, diagonal, D_z, D_F, H):  # type: ignore[no-untyped-def]
    """Write the values of H = diag(D_z) + diag(D_F) J on a pattern that contains the diagonal.

    Args:
        J: values of the Jacobian on that pattern.
        rows: row of every stored entry.
        diagonal: where the diagonal entries are stored [n].
    """
    for k in range(J.shape[0]):
        H[k] = D_F[rows[k]] * J[k]
    for i in range(D_z.shape[0]):
        H[diagonal[i]] += D_z[i]


@kernel(Vector, Indices, Indices, Vector, Vector, MatrixOut)
def scatter_scaled(values, rows, columns, row, column, J):  # type: ignore[no-untyped-def]
    """Write J = diag(row) A diag(column) for A given by its stored entries; other entries of J stay."""
    for k in range(values.shape[0]):
        J[rows[k], columns[k]] = row[rows[k]] * values[k] * column[columns[k]]


@kernel(Vector, Vector, Vector, Vector, Vector, Vector, Vector)
def scaled_residual(y, F, lower, upper, row, column, weights):  # type: ignore[no-untyped-def]
    """Return the largest weights * |z - clip(z - F(z), l, u)|, z = column * y, F = row * F(z).

    The scales are powers of two: but for what rounding excuses, this is the number that is judged.
    """
    worst = 0.0
    for i in range(y.shape[0]):
        w = F[i] / row[i]
        step = min(max(w, (y[i] - upper[i]) * column[i]), (y[i] - lower[i]) * column[i])
        if not math.isfinite(w + step):
            return math.inf
        worst = max(worst, weights[i] * abs(step))
    return worst
