"""Small dense linear algebra for the kernels: LU with partial pivoting on caller-owned arrays."""

from __future__ import annotations

from typing import Any

from mcpframe.jit import callee, flat, inline
from mcpframe.jit.lanes import get, load, put, store
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


@inline
def largest_entry(F: Any, stride: int, k: int) -> float:
    """Return the largest |F_ij| of k rows of k numbers, by four maxima that do not wait for each other."""
    a = b = c = d = 0.0
    for row in range(0, k * stride, stride):
        j = 0
        while j + 4 <= k:
            a, b = max(a, abs(get(F, row + j))), max(b, abs(get(F, row + j + 1)))
            c, d = max(c, abs(get(F, row + j + 2))), max(d, abs(get(F, row + j + 3)))
            j += 4
        while j < k:
            a = max(a, abs(get(F, row + j)))
            j += 1
    return max(max(a, b), max(c, d))


@inline
def take_off(F: Any, row: int, share: float, pivot: int, first: int, last: int) -> None:
    """Take a share of the numbers F[pivot + j] off F[row + j], first <= j < last."""
    j = first
    while j + 4 <= last:
        store(F, row + j, load(F, row + j) - share * load(F, pivot + j))
        j += 4
    while j < last:
        put(F, row + j, get(F, row + j) - share * get(F, pivot + j))
        j += 1


@inline
def take_off_two(F: Any, a: int, f: float, b: int, g: float, pivot: int, first: int, last: int) -> None:
    """As `take_off`, of two rows at a time: each load of the pivot row serves both."""
    j = first
    while j + 4 <= last:
        lanes = load(F, pivot + j)
        store(F, a + j, load(F, a + j) - f * lanes)
        store(F, b + j, load(F, b + j) - g * lanes)
        j += 4
    while j < last:
        number = get(F, pivot + j)
        put(F, a + j, get(F, a + j) - f * number)
        put(F, b + j, get(F, b + j) - g * number)
        j += 1


@inline
def swap_rows(F: Any, a: int, b: int, k: int) -> None:
    """Exchange the k numbers from F[a] on with those from F[b] on."""
    for j in range(k):
        kept = get(F, a + j)
        put(F, a + j, get(F, b + j))
        put(F, b + j, kept)


@callee
def lu_factor(A: Any, order: Any, k: int) -> bool:
    """Factor the leading k x k block of A in place, P A = L U; return False where it is singular.

    Args:
        A: matrix [>= k, >= k]; unit lower L below the diagonal, U on and above it afterwards.
        order: row order P [>= k], written here.
    """
    F, stride = flat(A), A.shape[1]
    size = largest_entry(F, stride, k)
    for i in range(k):
        order[i] = i
    for c in range(k):
        best, p = 0.0, c
        for i in range(c, k):
            if abs(get(F, i * stride + c)) > best:
                best, p = abs(get(F, i * stride + c)), i
        if not best > SINGULAR * size:
            return False
        pivot = c * stride
        if p != c:
            order[c], order[p] = order[p], order[c]
            swap_rows(F, pivot, p * stride, k)
        inverse = 1.0 / get(F, pivot + c)
        i = c + 1
        while i + 1 < k:
            a, b = i * stride, (i + 1) * stride
            f, g = get(F, a + c) * inverse, get(F, b + c) * inverse
            put(F, a + c, f)
            put(F, b + c, g)
            if f != 0.0 or g != 0.0:
                take_off_two(F, a, f, b, g, pivot, c + 1, k)
            i += 2
        if i < k:
            f = get(F, i * stride + c) * inverse
            put(F, i * stride + c, f)
            take_off(F, i * stride, f, pivot, c + 1, k)
    return True


@callee
def lu_solve(A: Any, order: Any, k: int, b: Any, x: Any) -> None:
    """Solve with the factors of `lu_factor`: x = A^-1 b; b and x are distinct."""
    for i in range(k):
        x[i] = b[order[i]] - row_dot(A, i, x, 0, i)
    for i in range(k - 1, -1, -1):
        x[i] = (x[i] - row_dot(A, i, x, i + 1, k)) / A[i, i]
