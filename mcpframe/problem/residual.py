"""The residual and the judge: how far z is from a solution, and whether that counts, here and nowhere else.

With w = M z + q, or w = F(z), row i is off by
    r_i(z) = | z_i - clip(z_i - w_i, l_i, u_i) |,     natural residual  r(z) = max_i r_i(z),
and every row is judged at its own scale s_i = 1 + |q_i|:
    solved:  r_i <= tol s_i  for all i,   that is   s max_i r_i / s_i <= tol s,   s = 1 + ||q||_inf,
so that no row is lost beside a huge one. What is compared with tol s is the *judged* residual on the left.

Rounding. Adding up w_i in doubles leaves an error of up to ROUNDING times the terms a_i = sum_j |M_ij| |z_j|.
A row with no more of a w counts as right, w_i = 0 being within its bounds whatever z_i is: no z in doubles is
better. It is w_i that is held against its terms, not r_i, which is a distance of z_i where that is less: a
z_i beside a bound that w_i asks for is no matter of rounding. In a_i an entry |z_j| counts up to
    reach = max_i s_i / max_j |M_ij|,
the size that the data give to z, so that a point on its way to infinity is excused nothing. Ill-conditioned
data may have solutions far beyond their reach; there a row counts as right whose w_i is no more than the last
bits of its sum, LAST_BITS a_i with the whole of z, and that is off by no more than EXCUSED s_i.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.jit import Indices, Matrix, Vector, VectorOut, callee, flat, inline, inline_reduction, kernel
from mcpframe.jit.lanes import get, load, total, zero

Array = NDArray[np.float64]

ROUNDING = 64 * 2.0**-52
"""Share of its terms that the sum of a row may be off by rounding. A sum of k terms is by up to k 2^-53 of
them, z to its last bit by 2^-53: rows of a hundred entries are within it, or of a thousand in the eight lanes
of `row_dot`; in short ones the rest is room for what a linear solve leaves."""
LAST_BITS = 2 * 2.0**-52
"""The same without any room: what the rounding of z alone, and of the sum, leaves."""
EXCUSED = 1e-6
"""Most that rounding excuses, as a share of a row's scale, where the data do not say how large z may be."""


@inline_reduction
def dot(x: Any, y: Any) -> Any:
    """Return x'y of two contiguous vectors of equal length."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@inline
def row_dot(A: Any, i: int, x: Any, first: int, last: int) -> Any:
    """Return sum of A[i, j] x[j] over first <= j < last; 0 <= first <= last."""
    F, row, j = flat(A), i * A.shape[1], first
    y, even, odd = flat(x), zero(), zero()
    while j + 8 <= last:
        even = even + load(F, row + j) * load(y, j)
        odd = odd + load(F, row + j + 4) * load(y, j + 4)
        j += 8
    if j + 4 <= last:
        even = even + load(F, row + j) * load(y, j)
        j += 4
    result = total(even + odd)
    while j < last:
        result += get(F, row + j) * get(y, j)
        j += 1
    return result


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


@inline
def clip_into(lower: Any, upper: Any, z: Any) -> None:
    """Project z onto its bounds; what is not a number stays."""
    for i in range(z.shape[0]):
        z[i] = min(max(z[i], lower[i]), upper[i]) if z[i] == z[i] else z[i]


@callee
def terms(M: Any, i: int, z: Any, reach: float) -> float:
    """Return a_i = sum_j |M_ij| min(|z_j|, reach)."""
    total = 0.0
    for j in range(z.shape[0]):
        total += abs(M[i, j]) * min(abs(z[j]), reach)
    return total


@callee
def reach_of(M: Any, q: Any) -> float:
    """Return max_i (1 + |q_i|) / max_j |M_ij| over the rows that are not zero."""
    reach = 0.0
    for i in range(q.shape[0]):
        size = 0.0
        for j in range(q.shape[0]):
            size = max(size, abs(M[i, j]))
        if size > 0.0:
            reach = max(reach, (1.0 + abs(q[i])) / size)
    return reach


@inline
def in_last_bits(w: float, r: float, size: float, whole: float) -> bool:
    """Return whether w is rounding, however large z may be, beside the terms of the whole of z."""
    return abs(w) <= LAST_BITS * whole and r <= EXCUSED * size


@callee
def judge_dense(M: Any, q: Any, lower: Any, upper: Any, z: Any, w: Any, excused: bool) -> float:
    """Write w = M z + q and return the judged residual; +inf when anything is not finite.

    Args:
        excused: leave out what is rounding; a method that still refines z wants to see it.
    """
    n = q.shape[0]
    worst, scale, reach = 0.0, 1.0, -1.0
    for i in range(n):
        w[i] = q[i] + row_dot(M, i, z, 0, n)
        if not (math.isfinite(z[i]) and math.isfinite(w[i])):
            return math.inf
        size = 1.0 + abs(q[i])
        scale = max(scale, size)
        r = natural_entry(z[i], w[i], lower[i], upper[i])
        if r <= worst * size:
            continue
        if excused and r > ROUNDING * size:
            whole = terms(M, i, z, math.inf)
            if in_last_bits(w[i], r, size, whole):
                continue
            if abs(w[i]) <= ROUNDING * whole:
                reach = reach_of(M, q) if reach < 0.0 else reach
                if abs(w[i]) <= ROUNDING * terms(M, i, z, reach):
                    continue
        worst = r / size
    return worst * scale


@kernel(Matrix, Vector, Vector, Vector, VectorOut, VectorOut)
def certify_dense(M, q, lower, upper, z, w):  # type: ignore[no-untyped-def]
    """Clip z into its bounds in place, write w = M z + q, return the judged residual."""
    clip_into(lower, upper, z)
    return judge_dense(M, q, lower, upper, z, w, True)


@callee
def sparse_terms(data: Any, indices: Any, first: int, last: int, z: Any, reach: float) -> float:
    """As `terms`, for a row that lies between first and last of M in compressed rows."""
    total = 0.0
    for k in range(first, last):
        total += abs(data[k]) * min(abs(z[indices[k]]), reach)
    return total


@callee
def sparse_reach(data: Any, indptr: Any, q: Any) -> float:
    """As `reach_of`, for M in compressed rows."""
    reach = 0.0
    for i in range(q.shape[0]):
        size = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            size = max(size, abs(data[k]))
        if size > 0.0:
            reach = max(reach, (1.0 + abs(q[i])) / size)
    return reach


@kernel(Vector, Indices, Indices, Vector, Vector, Vector, VectorOut, VectorOut)
def certify_sparse(data, indices, indptr, q, lower, upper, z, w):  # type: ignore[no-untyped-def]
    """As `certify_dense`, for M in compressed rows."""
    clip_into(lower, upper, z)
    worst, scale, reach = 0.0, 1.0, -1.0
    for i in range(q.shape[0]):
        first, last, total = indptr[i], indptr[i + 1], 0.0
        for k in range(first, last):
            total += data[k] * z[indices[k]]
        w[i] = q[i] + total
        if not (math.isfinite(z[i]) and math.isfinite(w[i])):
            return math.inf
        size = 1.0 + abs(q[i])
        scale = max(scale, size)
        r = natural_entry(z[i], w[i], lower[i], upper[i])
        if r <= worst * size:
            continue
        if r > ROUNDING * size:
            whole = sparse_terms(data, indices, first, last, z, math.inf)
            if in_last_bits(w[i], r, size, whole):
                continue
            if abs(w[i]) <= ROUNDING * whole:
                reach = sparse_reach(data, indptr, q) if reach < 0.0 else reach
                if abs(w[i]) <= ROUNDING * sparse_terms(data, indices, first, last, z, reach):
                    continue
        worst = r / size
    return worst * scale
