"""Small dense linear algebra for the kernels: LU with partial pivoting on caller-owned arrays."""

from __future__ import annotations

from typing import Any

from mcpframe.jit import callee, inline, span
from mcpframe.problem.residual import row_dot

SINGULAR = 1e-15
"""A pivot below this share of the largest entry makes a matrix singular."""


@inline
def largest_size(x: Any, n: int) -> float:
    """Return max |x_i| of the first n entries, 0 where there are none."""
    size = 0.0
    for i in range(n):
        size = max(size, abs(x[i]))
    return size


@callee
def lu_factor(A: Any, order: Any, k: int) -> bool:
    """Factor the leading k x k block of A in place, P A = L U; return False where it is singular.

    Args:
        A: matrix [>= k, >= k]; unit lower L below the diagonal, U on and above it afterwards.
        order: row order P [>= k], written here.
    """
    size = 0.0
    for i in range(k):
        order[i] = i
        for j in range(k):
            size = max(size, abs(A[i, j]))
    for c in range(k):
        best, p = 0.0, c
        for i in range(c, k):
            if abs(A[i, c]) > best:
                best, p = abs(A[i, c]), i
        if not best > SINGULAR * size:
            return False
        if p != c:
            order[c], order[p] = order[p], order[c]
            for j in range(k):
                A[c, j], A[p, j] = A[p, j], A[c, j]
        inverse = 1.0 / A[c, c]
        i = c + 1
        while i + 1 < k:  # two rows at a time: each load of the pivot row serves both
            f, g = A[i, c] * inverse, A[i + 1, c] * inverse
            A[i, c], A[i + 1, c] = f, g
            if f != 0.0 or g != 0.0:
                for j in span(c + 1, k):
                    A[i, j] -= f * A[c, j]
                    A[i + 1, j] -= g * A[c, j]
            i += 2
        if i < k:
            f = A[i, c] * inverse
            A[i, c] = f
            for j in span(c + 1, k):
                A[i, j] -= f * A[c, j]
    return True


@callee
def lu_solve(A: Any, order: Any, k: int, b: Any, x: Any) -> None:
    """Solve with the factors of `lu_factor`: x = A^-1 b; b and x are distinct."""
    for i in range(k):
        x[i] = b[order[i]] - row_dot(A, i, x, 0, i)
    for i in range(k - 1, -1, -1):
        x[i] = (x[i] - row_dot(A, i, x, i + 1, k)) / A[i, i]
