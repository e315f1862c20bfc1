"""The point of a complementary basis, and the primal-dual active set: exact where the basis is right.

Codes: AT_LOWER z = l, AT_UPPER z = u, BASIC w = 0. With a = BASIC rows, b = the others,
    M_aa z_a = -(q_a + M_ab z_b).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mcpframe.jit import callee, inline
from mcpframe.problem.residual import clip_into, judge_dense, row_dot
from mcpframe.solvers.shared.dense import largest_size, lu_factor, lu_solve
from mcpframe.solvers.shared.tableau import AT_LOWER, AT_UPPER, BASIC

FINE = 1e-12
"""A residual below this share of |q| is rounding: no refinement is tried."""
SLACK = 1e-12
"""A row changes its code only when its sign is wrong by more than this share of the sizes at hand."""


@inline
def rest_point(lower: float, upper: float, code: int) -> float:
    """Return the bound that a nonbasic variable rests on."""
    if code == AT_UPPER and upper < np.inf:
        return upper
    return lower if lower > -np.inf else (upper if upper < np.inf else 0.0)


@callee
def factor_basis(M: Any, lower: Any, upper: Any, codes: Any, z: Any, work: Any) -> int:
    """Put nonbasic variables on their bounds, basic ones to zero, and factor M_aa.

    Args:
        work: workspace (A, R, order, index): A for M_aa [n, n], R two rows [2, n], order and index [n].

    Returns:
        The number of basic rows, -1 where M_aa is singular.
    """
    A, _, order, index = work
    k = 0
    for i in range(z.shape[0]):
        free = lower[i] == -np.inf and upper[i] == np.inf
        if lower[i] < upper[i] and (free or codes[i] == BASIC):
            index[k] = i
            k += 1
            z[i] = 0.0
        else:
            z[i] = rest_point(lower[i], upper[i], codes[i])
    for r in range(k):
        i = index[r]
        for c in range(k):
            A[r, c] = M[i, index[c]]
    return k if lu_factor(A, order, k) else -1


@inline
def correct(M: Any, q: Any, z: Any, work: Any, k: int) -> None:
    """Move the k basic variables so that w_a = 0: the solution from z_a = 0, a refinement afterwards."""
    A, R, order, index = work
    b, x = R[0], R[1]
    for r in range(k):
        i = index[r]
        b[r] = -(q[i] + row_dot(M, i, z, 0, z.shape[0]))
    lu_solve(A, order, k, b, x)
    for r in range(k):
        z[index[r]] += x[r]


@inline
def recode(lower: Any, upper: Any, z: Any, w: Any, codes: Any, size: float) -> int:
    """Correct the codes whose row has the wrong sign; return how many changed."""
    changed = 0
    for i in range(z.shape[0]):
        if lower[i] == upper[i] or (lower[i] == -np.inf and upper[i] == np.inf):
            continue
        old = codes[i]
        if old == BASIC:
            if z[i] < lower[i] - SLACK * size:
                codes[i] = AT_LOWER
            elif z[i] > upper[i] + SLACK * size:
                codes[i] = AT_UPPER
        elif (old == AT_LOWER and w[i] < -SLACK * size) or (old == AT_UPPER and w[i] > SLACK * size):
            codes[i] = BASIC
        changed += codes[i] != old
    return changed


@inline
def within(lower: Any, upper: Any, z: Any) -> bool:
    """Return whether z is within its bounds."""
    inside = True
    for i in range(z.shape[0]):
        inside = inside and lower[i] <= z[i] <= upper[i]
    return inside


@callee
def active_set(
    M: Any, q: Any, lower: Any, upper: Any, codes: Any, z: Any, w: Any, work: Any, limit: int
) -> Any:
    """Go from basis to basis by correcting all wrong codes at once; return (residual, steps, wrong at first).

    Newton's method on the min-map [Hintermueller, Ito, Kunisch 2002]: a step or two from a neighbour's
    basis, no guarantee from afar. On return z, w and codes belong to the last basis tried.

    Args:
        work: workspace of `factor_basis`.
    """
    size = largest_size(q, q.shape[0])
    first, before = 0, z.shape[0] + 1
    for step in range(limit):
        k = factor_basis(M, lower, upper, codes, z, work)
        if k < 0:
            return np.inf, step + 1, first
        correct(M, q, z, work, k)
        residual = judge_dense(M, q, lower, upper, z, w, False)
        wrong = recode(lower, upper, z, w, codes, size)
        if wrong == 0:
            fine = residual <= FINE * size
            if not fine:
                correct(M, q, z, work, k)
            if not (fine and within(lower, upper, z)):
                clip_into(lower, upper, z)  # before it is judged: w may mind what z does not
                residual = judge_dense(M, q, lower, upper, z, w, True)
            return residual, step + 1, first
        first = wrong if step == 0 else first
        if wrong >= before:  # no nearer than one step ago: it will not settle
            return np.inf, step + 1, first
        before = wrong
    return np.inf, limit, first
