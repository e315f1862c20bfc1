"""All solutions of a small LCP x >= 0, A x + b >= 0, x ⟂ A x + b, one complementary basis after another."""

from __future__ import annotations

import numpy as np

from mcpframe.arrays import Array

MOST_ROWS = 12
"""Most rows to enumerate: 4096 linear systems."""
FEASIBLE = 1e-9
"""How far below zero an entry may be, as a share of the largest."""
SAME = 1e-7
"""Relative difference within which two solutions are one."""
SINGULAR = 1e-12
"""Reciprocal condition below which a basis is left out: its solutions, if any, are no single points."""


def all_solutions(A: Array, b: Array) -> list[Array]:
    """Return the isolated solutions in the order of their bases."""
    n, found = len(b), list[Array]()
    for basis in range(1 << n):
        x = _at_basis(A, b, [i for i in range(n) if basis >> i & 1])
        if x is not None and not any(
            np.allclose(x, y, rtol=SAME, atol=SAME * np.abs(y).max()) for y in found
        ):
            found.append(x)
    return found


def _at_basis(A: Array, b: Array, inside: list[int]) -> Array | None:
    """Return the solution with w = 0 on some rows and x = 0 on the others, if it is one."""
    x = np.zeros(len(b))
    if inside:
        block = A[np.ix_(inside, inside)]
        if np.linalg.cond(block) * SINGULAR > 1.0:
            return None
        x[inside] = np.linalg.solve(block, -b[inside])
    w = A @ x + b
    w[inside] = 0.0
    low = -FEASIBLE * max(np.abs(x).max(initial=0.0), np.finfo(float).tiny)
    feasible = (x >= low).all() and (w >= -FEASIBLE * np.abs(b).max(initial=0.0)).all()
    return np.maximum(x, 0.0) if feasible else None
