"""From a problem to a basis and back: one attempt along Lemke's path, and the order of attempts."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import types

from mcpframe.jit import (
    CodeStack,
    CodeTable,
    Flags,
    IndexTable,
    IndicesOut,
    Matrix,
    MatrixOut,
    MatrixStack,
    Vector,
    VectorOut,
    address,
    by_address,
    callee,
    inline,
    kernel,
)
from mcpframe.problem.residual import clip_into, dot, judge_dense
from mcpframe.solvers.lemke.kernels import (
    ENDED,
    LARGEST_PIVOT,
    LEXICOGRAPHIC,
    PIVOT_LIMIT,
    RAY,
    RELAX,
    SINGULAR,
    STOPPED,
    cover,
    enter_basis,
    follow,
    set_range,
)
from mcpframe.solvers.shared.active_set import (
    FINE,
    active_set,
    correct,
    factor_basis,
    rest_point,
)
from mcpframe.solvers.shared.dense import largest_size
from mcpframe.solvers.shared.tableau import (
    AT_LOWER,
    AT_UPPER,
    BASE,
    BASIC,
    BASIC_VAR,
    COLUMN,
    FROZEN,
    NONBASIC_VAR,
    ROW,
    ROW_OF,
    SPAN,
    START,
    STATE,
    X,
    eliminate_free,
    load,
    magnitude,
    order_rows,
    pair_free,
    shift,
)

# rows of the workspace R [N_WORK_ROWS, n]
W_BASE, S, W, POINT, SHARP, STEP_0, STEP_1, N_WORK_ROWS = range(8)

ACTIVE_SET_STEPS = 6
"""Active-set corrections of a warm start before pivoting takes over."""
NEAR = 2
"""A starting basis with at most NEAR + n / 16 wrong rows is worth a path; else the cold one is shorter."""
RELATIVE = 1e-9
"""A residual above this share of |q| is not accepted before all attempts are made, however loose tol is."""
N_REPAIRS = 2
"""How often a path's end that does not hold is refactorised and followed further; once also where it
holds, but is off by more than one bound may be passed by: that is much where everything is at rest."""
TIDYING = 3
"""Active-set corrections of a path's end that is off by more than that."""
PROXIMAL = (5e-12, 1e-6)
"""Shares of M's largest entry that are added to its diagonal where a path's end does not hold: of the bases
of redundant contacts that path finds one that is far from singular."""


@inline
def copy_into(x: Any, y: Any) -> None:
    """Write y into x."""
    for i in range(x.shape[0]):
        x[i] = y[i]


@callee
def set_factors(M: Any, V: Any, scaled: bool) -> None:
    """Write positive row and column factors: ones, or powers of two that equilibrate M."""
    n = M.shape[0]
    for i in range(n):
        V[ROW, i] = V[COLUMN, i] = 1.0
    if not scaled:
        return
    for _ in range(3):
        for i in range(n):
            V[X, i] = V[SPAN, i] = 0.0
        for i in range(n):
            for j in range(n):
                a = abs(M[i, j]) * V[ROW, i] * V[COLUMN, j]
                V[X, i] = max(V[X, i], a)
                V[SPAN, j] = max(V[SPAN, j], a)
        for i in range(n):
            V[ROW, i] *= root(V[X, i])
            V[COLUMN, i] *= root(V[SPAN, i])


@inline
def root(size: float) -> Any:
    """Return the power of two next to 1 / sqrt(size), 1 where size is zero or out of range."""
    if not (1e-280 < size < 1e280):
        return 1.0
    return 2.0 ** np.rint(-0.5 * np.log2(size))


@inline
def local_codes(lower: Any, codes: Any, K: Any, n_comp: int) -> None:
    """Write the codes in the order and signs of the dictionary into START."""
    for r in range(n_comp):
        i = K[ROW_OF, r]
        K[START, r] = codes[i]
        if lower[i] == -np.inf and codes[i] != BASIC:
            K[START, r] = AT_LOWER


@callee
def read_point(V: Any, K: Any, T: Any, kappa: float, n_comp: int, n_r: int, n_t: int, s: Any, z: Any) -> None:
    """Write z = base + kappa column s of the current dictionary."""
    for i in range(z.shape[0]):
        z[i] = V[BASE, i]
    for i in range(n_comp):
        s[i] = V[SPAN, i] if K[STATE, i] == AT_UPPER else 0.0
    for i in range(n_comp, n_t):
        s[i] = 0.0
    for r in range(n_r):
        if K[BASIC_VAR, r] < n_t:
            s[K[BASIC_VAR, r]] = V[X, r]
    for r in range(n_r, n_t):
        s[K[BASIC_VAR, r]] = V[FROZEN, r] + dot(T[r, :n_comp], s[:n_comp])
    for r in range(n_t):
        i = K[ROW_OF, r]
        z[i] += kappa * V[COLUMN, i] * s[r]


@callee
def read_codes(lower: Any, upper: Any, K: Any, n_comp: int, codes: Any) -> None:
    """Write the code of every row of the problem."""
    for i in range(lower.shape[0]):
        codes[i] = BASIC if lower[i] == -np.inf and upper[i] == np.inf else AT_LOWER
    for r in range(n_comp):
        i = K[ROW_OF, r]
        codes[i] = K[STATE, r]
        if lower[i] == -np.inf and codes[i] == AT_LOWER:
            codes[i] = AT_UPPER


@callee
def read_ray(
    V: Any, K: Any, T: Any, c: int, direction: int, n_comp: int, n_r: int, n_t: int, s: Any, ray: Any
) -> None:
    """Write the direction of z along which the path leaves for infinity, largest entry one."""
    for i in range(n_t):
        s[i] = 0.0
    if K[NONBASIC_VAR, c] < n_t:
        s[K[NONBASIC_VAR, c]] = direction
    for r in range(n_r):
        if K[BASIC_VAR, r] < n_t:
            s[K[BASIC_VAR, r]] = direction * T[r, c]
    for r in range(n_r, n_t):
        s[K[BASIC_VAR, r]] = dot(T[r, :n_comp], s[:n_comp])
    size = 0.0
    for r in range(n_t):
        i = K[ROW_OF, r]
        ray[i] = V[COLUMN, i] * s[r]
        size = max(size, abs(ray[i]))
    for r in range(n_t):
        ray[K[ROW_OF, r]] /= size if size > 0.0 else 1.0


@callee
def attempt(
    M: Any,
    q: Any,
    lower: Any,
    upper: Any,
    codes: Any,
    plan: Any,
    z: Any,
    ray: Any,
    T: Any,
    V: Any,
    K: Any,
    R: Any,
    stop: Any,
) -> Any:
    """Make the dictionary, follow the path, read the point and its codes; return (how it ended, pivots).

    Args:
        plan: (start from the codes, scale the data, tie rule, seed of the cover, pivot limit, what is added
            to the diagonal of the dictionary).
    """
    warm, scaled, rule, seed, limit, proximal = plan
    set_factors(M, V, scaled)
    n_comp, n_t = order_rows(lower, upper, K)
    plain = shift(M, q, lower, upper, V, R[W_BASE]) and not scaled
    kappa = magnitude(R[W_BASE], q.shape[0])
    load(M, R[W_BASE], lower, upper, kappa, T, V, K, n_t, plain)
    for r in range(n_comp):
        T[r, r] += proximal
    n_left = eliminate_free(T, V, K, n_comp, n_t, stop) if n_t > n_comp else 0
    n_r = n_t if n_left > 0 else n_comp
    if n_left > 0 and not pair_free(T, V, K, n_comp, n_t, n_left, stop):
        return (SINGULAR if stop[0] == 0 else STOPPED), 0
    if warm:
        local_codes(lower, codes, K, n_comp)
        if not enter_basis(T, V, K, K[START], n_comp, n_r, n_t, stop):
            return (SINGULAR if stop[0] == 0 else STOPPED), 0
    for r in range(n_r):
        set_range(V, K, r, n_comp, n_t)
    t_0 = cover(T, V, K, n_comp, n_r, n_t, not warm and n_left == 0, seed)
    ended, pivots, c, direction = ENDED, 0, 0, 0
    if t_0 > 0.0:
        ended, pivots, c, direction = follow(T, V, K, n_comp, n_r, n_t, t_0, rule, limit, stop)
    if ended == RAY:
        read_ray(V, K, T, c, direction, n_comp, n_r, n_t, R[S], ray)
    read_point(V, K, T, kappa, n_comp, n_r, n_t, R[S], z)
    read_codes(lower, upper, K, n_comp, codes)
    return ended, pivots


@callee
def sharpen(
    M: Any, q: Any, lower: Any, upper: Any, codes: Any, z: Any, z_new: Any, w: Any, T: Any, K: Any, R: Any
) -> Any:
    """Return the residual of z, after replacing z by the point of its basis where that is better."""
    clip_into(lower, upper, z)
    residual = judge_dense(M, q, lower, upper, z, w, False)
    size = largest_size(R[W_BASE], q.shape[0])
    if residual <= FINE * size:
        return residual
    work = T, R[STEP_0:], K[0], K[1]
    k = factor_basis(M, lower, upper, codes, z_new, work)
    if k >= 0:
        correct(M, q, z_new, work, k)
        correct(M, q, z_new, work, k)
        clip_into(lower, upper, z_new)
        if judge_dense(M, q, lower, upper, z_new, w, False) < residual:
            copy_into(z, z_new)
    return judge_dense(M, q, lower, upper, z, w, True)


@inline
def largest_entry_of(M: Any) -> Any:
    """Return the largest |M[i, j]|."""
    size = 0.0
    for i in range(M.shape[0]):
        for j in range(M.shape[1]):
            size = max(size, abs(M[i, j]))
    return size


@inline
def keep_if_better(residual: float, best: float, z: Any, z_new: Any, codes: Any, codes_new: Any) -> float:
    """Take over a point and its codes when its residual is smaller; return the smaller residual."""
    if residual < best:
        copy_into(z, z_new)
        copy_into(codes, codes_new)
        return residual
    return best


@kernel(
    Matrix, Vector, Vector, Vector,
    CodeTable, types.boolean, types.float64, types.int64, types.int64,
    VectorOut, VectorOut, MatrixOut, MatrixOut, IndexTable, MatrixOut, IndicesOut,
)  # fmt: skip
def solve_dense(M, q, lower, upper, codes, warm, tol, max_pivots, attempts, z, ray, T, V, K, R, stop):  # type: ignore[no-untyped-def]
    """Solve a dense mixed LCP; return (residual, how the first cold path ended, pivots in all).

    Of paths that met the pivot limit and one that ended on a ray, the ray counts.

    Args:
        codes: row 0 holds the starting basis (where warm) and, on return, the one of z; row 1 is workspace.
        max_pivots: limit of one path; 0 means 10 n + 100, doubled from attempt to attempt.
        attempts: how many cold paths to try; a single one is lexicographic.
        z: the best point, written [n]; ray: direction of the last ray [n].
        T [n, n + 1], V [N_FLOAT_ROWS, n + 1], K [N_INT_ROWS, 2 n + 1], R [N_WORK_ROWS, n]: workspace.
        stop: the path ends when stop[0] becomes nonzero.
    """
    n = q.shape[0]
    z_new, w, codes_new = R[POINT], R[W], codes[1]
    size = largest_size(q, n)
    goal = min(tol, RELATIVE * size) if size > 0.0 else tol
    best, total, first = np.inf, 0, SINGULAR
    for i in range(n):
        z[i] = rest_point(lower[i], upper[i], AT_LOWER)
    copy_into(codes_new, codes[0])
    first_plan = 0
    if warm:
        work = T, R[STEP_0:], K[0], K[1]
        residual, total, wrong = active_set(M, q, lower, upper, codes_new, z_new, w, work, ACTIVE_SET_STEPS)
        if residual <= goal:
            return keep_if_better(residual, best, z, z_new, codes[0], codes_new), ENDED, total
        copy_into(codes_new, codes[0])
        first_plan = -1 if wrong <= NEAR + n // 16 else 0
    for k in range(first_plan, attempts):
        from_basis, scaled = k < 0, k % 2 == 1 and k > 0
        # The largest pivot is faster and more accurate; what the lexicographic rule adds is the proof.
        rule = LARGEST_PIVOT if k % 3 == 0 and attempts > 1 else LEXICOGRAPHIC
        limit = max_pivots if max_pivots > 0 else (10 * n + 100) << min(max(k, 0), 30)
        ended = ENDED
        for repair in range(1 + N_REPAIRS):
            plan = from_basis, scaled, rule, max(k, 0) // 2, limit, 0.0
            ended, pivots = attempt(M, q, lower, upper, codes_new, plan, z_new, ray, T, V, K, R, stop)
            total += pivots
            if ended == SINGULAR or (ended == STOPPED and pivots == 0):
                break
            residual = sharpen(M, q, lower, upper, codes_new, z_new, R[SHARP], w, T, K, R)
            best = keep_if_better(residual, best, z, z_new, codes[0], codes_new)
            if best > RELAX * size and ended == ENDED:
                work = T, R[STEP_0:], K[0], K[1]
                residual, _, _ = active_set(M, q, lower, upper, codes_new, z_new, w, work, TIDYING)
                best = keep_if_better(residual, best, z, z_new, codes[0], codes_new)
                copy_into(codes_new, codes[0])
            if best <= (goal if repair > 0 else min(goal, RELAX * size)) or ended != ENDED:
                break
            from_basis, scaled = True, True
        if k >= 0 and (first == SINGULAR or (first == PIVOT_LIMIT and ended == RAY)):
            first = ended
        # A basis of redundant contacts that is near singular stays so as it is followed: a cold path helps.
        enough = goal if k >= 0 else min(goal, RELAX * size)
        if best <= enough or ended == STOPPED:
            return best, ended, total
        if k == 0 and attempts > 1 and best < np.inf and ended != RAY and ended != PIVOT_LIMIT:
            entries = largest_entry_of(M)
            for share in PROXIMAL:
                for from_basis, added in ((False, share * entries), (True, 0.0)):
                    plan = from_basis, False, LARGEST_PIVOT, 0, limit, added
                    _, pivots = attempt(M, q, lower, upper, codes_new, plan, z_new, ray, T, V, K, R, stop)
                    total += pivots
                if stop[0] != 0:
                    return best, STOPPED, total
                residual = sharpen(M, q, lower, upper, codes_new, z_new, R[SHARP], w, T, K, R)
                best = keep_if_better(residual, best, z, z_new, codes[0], codes_new)
                if best <= goal:
                    return best, ENDED, total
    return best, first, total


call_solve_dense = by_address(solve_dense)


@kernel(
    types.intp, MatrixStack, Matrix, Matrix, Matrix,
    CodeStack, Flags, Vector, types.int64, types.int64,
    MatrixOut, MatrixOut, MatrixOut, MatrixOut, MatrixOut, IndexTable, MatrixOut, IndicesOut,
)  # fmt: skip
def solve_problems(  # type: ignore[no-untyped-def]
    solve, M, q, lower, upper, codes, warm, tol, max_pivots, attempts, z, ray, ends, T, V, K, R, stop
):
    """Solve problems of one size by the code at `solve`; ends[i] = (residual, how it ended, pivots)."""
    for i in range(q.shape[0]):
        one = (
            M[i], q[i], lower[i], upper[i], codes[i], warm[i], tol[i], max_pivots, attempts,
            z[i], ray[i], T, V, K, R, stop,
        )  # fmt: skip
        ends[i, 0], ends[i, 1], ends[i, 2] = call_solve_dense(solve, one)


solve_stack = partial(solve_problems, address(solve_dense))
"""Solve problems of one size, one after the other: the arguments of `solve_problems` but the first."""
