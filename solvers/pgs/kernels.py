"""Kernels of `pgs`: sweeps over rows and blocks of a mixed LCP, dense or in compressed rows.

A single row takes the projected step  z_i <- clip(z_i - omega w_i / d_i, l_i, u_i). A block B of rows is
solved exactly with the others held: the mixed LCP (M_BB, w_B - M_BB z_B, l_B, u_B), by Lemke's method from
the block's last basis; then z_B <- z_B + omega (solution - z_B), clipped. Where that problem has no solution
the block is left as it is until the others have moved.

`order` lists what a sweep visits: a row i >= 0, or block b as -1 - b. All blocks are stored with m rows;
`members[b]` lists their rows, padded by -1, and a padding row is a fixed variable, which costs nothing.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from numba import types

from mcpframe.jit import (
    IndexTable,
    Indices,
    IndicesOut,
    Matrix,
    MatrixOut,
    Vector,
    VectorOut,
    address,
    callee,
    inline,
    kernel,
)
from mcpframe.problem.residual import dot
from mcpframe.solvers.lemke.attempts import call_solve_dense, solve_dense

BLOCK_ACCURACY = 1e-10
"""Residual of a block problem, relative to the terms of its q, at which it counts as solved."""
BLOCK_ATTEMPTS = 2
"""Paths of Lemke's method tried on one block problem."""

Matrices = types.Array(types.float64, 3, "C", readonly=True)
CodeTables = types.Array(types.int8, 3, "C")
IndexMatrix = types.Array(types.int64, 2, "C", readonly=True)

# rows of the workspace Y [N_BLOCK_ROWS, m]
W, Q, LOWER, UPPER, POINT, RAY, N_BLOCK_ROWS = range(7)


@inline
def clip(x: Any, lower: Any, upper: Any) -> Any:
    """Return x moved into its bounds."""
    return min(max(x, lower), upper)


@callee
def pose_block(rows: Any, A: Any, lower: Any, upper: Any, z: Any, Y: Any) -> float:
    """Write q = w_B - M_BB z_B and the bounds of one block, w_B being given; return the size of q's terms."""
    size = 0.0
    for r in range(rows.shape[0]):
        i = rows[r]
        Y[Q, r], Y[LOWER, r], Y[UPPER, r] = 0.0, 0.0, 0.0
        if i >= 0:
            Y[Q, r], Y[LOWER, r], Y[UPPER, r] = Y[W, r], lower[i], upper[i]
            terms = abs(Y[W, r])
            for c in range(rows.shape[0]):
                if rows[c] >= 0:
                    Y[Q, r] -= A[r, c] * z[rows[c]]
                    terms += abs(A[r, c] * z[rows[c]])
            size = max(size, terms)
    return size


@callee
def solve_block(
    rows: Any, A: Any, omega: float, lower: Any, upper: Any, codes: Any, z: Any, Y: Any, work: Any
) -> None:
    """Move z_B towards the solution of the block's problem; Y[W] holds w_B.

    Args:
        codes: row 0 the block's last basis, replaced by the new one [2, m].
        work: the address of `solve_dense`, its workspaces T, V, K, R and its flag.
    """
    solve, T, V, K, R, stop = work
    size = pose_block(rows, A, lower, upper, z, Y)
    tol = BLOCK_ACCURACY * size
    x, ray = Y[POINT], Y[RAY]
    problem = A, Y[Q], Y[LOWER], Y[UPPER]
    residual, _, _ = call_solve_dense(
        solve, (*problem, codes, True, tol, 0, BLOCK_ATTEMPTS, x, ray, T, V, K, R, stop)
    )
    if residual <= tol:
        for r in range(rows.shape[0]):
            i = rows[r]
            if i >= 0:
                z[i] = clip(z[i] + omega * (x[r] - z[i]), lower[i], upper[i])


@inline
def residual_row(M: Any, q: Any, i: int, z: Any) -> Any:
    """Return w_i = (M z + q)_i; M is (dense, data, indices, indptr), what is not in use being empty."""
    dense, data, indices, indptr = M
    if dense.shape[0] > 0:
        return q[i] + dot(dense[i], z)
    total = q[i]
    for k in range(indptr[i], indptr[i + 1]):
        total += data[k] * z[indices[k]]
    return total


@kernel(
    types.intp, Matrix, Vector, Indices, Indices, Vector, Vector, Vector, Vector, types.float64, types.int64,
    Indices, IndexMatrix, Matrices, CodeTables, VectorOut,
    MatrixOut, MatrixOut, MatrixOut, IndexTable, MatrixOut, IndicesOut,
)  # fmt: skip
def sweep_by(  # type: ignore[no-untyped-def]
    solve, dense, data, indices, indptr, q, lower, upper, d, omega, count,
    order, members, A, codes, z, Y, T, V, K, R, stop,
):  # fmt: skip
    """Sweep `count` times over all rows and blocks, updating z in place.

    Args:
        solve: the address of `solve_dense`.
        dense; data, indices, indptr: M, dense or in compressed rows; the other one empty.
        d: positive divisors of the single steps [n].
        order, members, A, codes: the blocks (see above); A [n_blocks, m, m], codes [n_blocks, 2, m].
        Y [N_BLOCK_ROWS, m], T, V, K, R, stop: workspaces.
    """
    M = dense, data, indices, indptr
    for _ in range(count):
        for item in order:
            if item >= 0:
                w = residual_row(M, q, item, z)
                z[item] = clip(z[item] - omega * w / d[item], lower[item], upper[item])
            else:
                rows = members[-1 - item]
                for r in range(rows.shape[0]):
                    Y[W, r] = residual_row(M, q, rows[r], z) if rows[r] >= 0 else 0.0
                work = solve, T, V, K, R, stop
                solve_block(rows, A[-1 - item], omega, lower, upper, codes[-1 - item], z, Y, work)


sweep = partial(sweep_by, address(solve_dense))
"""Sweep `count` times over all rows and blocks: the arguments of `sweep_by` but the first."""
