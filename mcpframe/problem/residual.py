"""The natural residual: the one figure of merit, computed here and nowhere else.

With w = M z + q, or w = F(z),
    r(z) = || z - clip(z - w, l, u) ||_inf.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.jit import Indices, Matrix, Vector, VectorOut, inline, inline_reduction, kernel, span

Array = NDArray[np.float64]


@inline_reduction
def dot(x: Any, y: Any) -> Any:
    """Return x'y of two contiguous vectors of equal length."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@inline_reduction
def row_dot(A: Any, i: int, x: Any, first: int, last: int) -> Any:
    """Return sum of A[i, j] x[j] over first <= j < last; 0 <= first <= last."""
    total = 0.0
    for j in span(first, last):
        total += A[i, j] * x[j]
    return total


@inline
def natural_entry(z: Any, w: Any, lower: Any, upper: Any) -> Any:
    """Return |z - clip(z - w, l, u)| of one row, +inf where it is not a number.

    Written as clip(w, z - u, z - l), which is the same number but keeps a small w beside a huge z.
    """
    step = min(max(w, z - upper), z - lower)
    return abs(step) if step == step else math.inf


@kernel(Vector, Vector, Vector, Vector)
def natural_residual(z, w, lower, upper):  # type: ignore[no-untyped-def]
    """Return r(z) for given w; +inf when anything is not finite."""
    worst = 0.0
    for i in range(z.shape[0]):
        if not (math.isfinite(z[i]) and math.isfinite(w[i])):
            return math.inf
        worst = max(worst, natural_entry(z[i], w[i], lower[i], upper[i]))
    return worst


@kernel(Matrix, Vector, Vector, Vector, VectorOut, VectorOut)
def certify_dense(M, q, lower, upper, z, w):  # type: ignore[no-untyped-def]
    """Clip z into its bounds in place, write w = M z + q, return r(z)."""
    n = q.shape[0]
    for i in range(n):
        z[i] = min(max(z[i], lower[i]), upper[i]) if z[i] == z[i] else z[i]
    for i in range(n):
        w[i] = q[i] + row_dot(M, i, z, 0, n)
    return natural_residual(z, w, lower, upper)


@kernel(Vector, Indices, Indices, Vector, Vector, Vector, VectorOut, VectorOut)
def certify_sparse(data, indices, indptr, q, lower, upper, z, w):  # type: ignore[no-untyped-def]
    """As `certify_dense`, for M in compressed rows."""
    n = q.shape[0]
    for i in range(n):
        z[i] = min(max(z[i], lower[i]), upper[i]) if z[i] == z[i] else z[i]
    for i in range(n):
        total = q[i]
        for k in range(indptr[i], indptr[i + 1]):
            total += data[k] * z[indices[k]]
        w[i] = total
    return natural_residual(z, w, lower, upper)
