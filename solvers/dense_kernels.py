"""Small dense linear algebra for the kernels: LU with partial pivoting on caller-owned arrays."""

from __future__ import annotations

from typing import Any

from mcpframe.jit import callee, inline
from mcpframe.residual import dot

SINGULAR = 1e-13
"""A pivot below this share of its column's original size makes a matrix singular."""


@inline
def axpy(f: Any, x: Any, y: Any) -> None:
    """Add f x to y."""
    for j in range(y.shape[0]):
        y[j] += f * x[j]


@callee
def lu_factor(A: Any, order: Any, k: int) -> bool:
    """Factor the leading k x k block of A in place, P A = L U; return False where it is singular.

    Args:
        A: matrix [>= k, >= k]; unit lower L below the diagonal, U on and above it afterwards.
        order: row order P [>= k], written here.
    """
    for i in range(k):
        order[i] = i
    for c in range(k):
        best, p = 0.0, c
        for i in range(c, k):
            if abs(A[i, c]) > best:
                best, p = abs(A[i, c]), i
        size = best
        for i in range(c):
            size = max(size, abs(A[i, c]))
        if not best > SINGULAR * size or not best > 0.0:
            return False
        if p != c:
            order[c], order[p] = order[p], order[c]
            for j in range(k):
                A[c, j], A[p, j] = A[p, j], A[c, j]
        inverse = 1.0 / A[c, c]
        for i in range(c + 1, k):
            if A[i, c] != 0.0:
                A[i, c] *= inverse
                axpy(-A[i, c], A[c, c + 1 : k], A[i, c + 1 : k])
    return True


@callee
def lu_solve(A: Any, order: Any, k: int, b: Any, x: Any) -> None:
    """Solve with the factors of `lu_factor`: x = A^-1 b; b and x are distinct."""
    for i in range(k):
        x[i] = b[order[i]] - dot(A[i, :i], x[:i])
    for i in range(k - 1, -1, -1):
        x[i] = (x[i] - dot(A[i, i + 1 : k], x[i + 1 : k])) / A[i, i]
