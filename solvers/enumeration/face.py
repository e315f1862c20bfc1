"""One complementary face: the solutions of a mixed LCP that share a basis.

The codes of a basis (AT_LOWER, AT_UPPER, BASIC) turn complementarity into linear relations,

    z_i = l_i, w_i >= 0     z_i = u_i, w_i <= 0     l_i <= z_i <= u_i, w_i = 0,     w = M z + q,

whose solutions form a polyhedron; the solution set of the problem is the union over all bases. Where M_BB is
regular the polyhedron is a point or empty and a linear solve tells which; where it is singular, the elastic
linear program of `face_point` does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.problem.problems import MixedLCP
from mcpframe.solvers.shared.linear import exact_residual, factorise
from mcpframe.solving.solution import AT_LOWER, AT_UPPER, BASIC

Array = NDArray[np.float64]
Codes = NDArray[np.int8]

HIGHS = {"presolve": True, "primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
"""The tightest tolerances that HiGHS takes."""
REGULAR = 1e-12
"""Condition estimate below which a basis is not treated as regular."""
REFINEMENTS = 2
"""Steps of iterative refinement; more than two do not lower the residual of a solvable system."""
EXACT_LIMIT = 32 * 32
"""Largest number of entries whose products are summed exactly, which is slow."""
TIGHT = 1e-8
"""Scaled distance from a bound below which a vertex that HiGHS returns is taken to lie on it."""


def admissible(problem: MixedLCP, codes: Codes) -> Codes:
    """Return the codes with bounds that do not exist replaced: by the other bound, or by BASIC."""
    codes = np.where((codes == AT_LOWER) & np.isneginf(problem.lower), AT_UPPER, codes)
    codes = np.where((codes == AT_UPPER) & np.isposinf(problem.upper), BASIC, codes)
    return np.asarray(np.where(problem.fixed, AT_LOWER, codes), dtype=np.int8)


def on_face(problem: MixedLCP, codes: Codes, z: Array) -> Array:
    """Return z with the entries of nonbasic rows moved to their bounds."""
    return np.where(codes == AT_LOWER, problem.lower, np.where(codes == AT_UPPER, problem.upper, z))


def face_violation(problem: MixedLCP, codes: Codes, z: Array) -> float:
    """Return by how much z misses the face, relative to |M_i| |z| + |q_i| for w_i and to |z| for z_i.

    |z| is the largest entry in scaled units, for a sum of large terms may leave a small z_i or w_i inexact.
    """
    C = problem.scaling[1]
    x_size = float(np.abs(z / C).max(initial=0.0))
    outside = np.maximum(np.maximum(problem.lower - z, z - problem.upper), 0.0) / C
    outside = np.where(codes == BASIC, outside, np.abs(on_face(problem, codes, z) - z) / C)
    w = np.asarray(problem.M @ z + problem.q)
    size = np.asarray(abs(problem.M) @ (C * x_size) + np.abs(problem.q))
    wrong = np.where(codes == BASIC, np.abs(w), np.maximum(np.where(codes == AT_LOWER, -w, w), 0.0))
    wrong[problem.fixed] = 0.0
    worst = np.append(_ratio(outside, np.full(problem.n, x_size)), _ratio(wrong, size)).max(initial=0.0)
    return float(worst) if np.isfinite(z).all() and np.isfinite(w).all() else np.inf


def regular_point(problem: MixedLCP, codes: Codes) -> Array | None:
    """Return the one point with w_B = 0 and z_N at its bounds, or None where M_BB is close to singular."""
    z = on_face(problem, codes, np.zeros(problem.n))
    B = np.flatnonzero(codes == BASIC)
    if B.size == 0:
        return z
    rows = problem.M_dense[B]
    factor = factorise(rows[:, B])
    if factor.rcond < REGULAR:
        return None
    return refined(rows, problem.q[B], z, B, factor.solve)


def refined(rows: Any, q_B: Array, z: Array, B: NDArray[np.intp], solve: Callable[[Array], Array]) -> Array:
    """Return z with z_B corrected until w_B = 0: a solve and its iterative refinement.

    Small systems take exact residuals, which makes z itself accurate and not only w.
    """
    z = z.copy()
    small = rows.size <= EXACT_LIMIT and not sp.issparse(rows)
    for _ in range(1 + REFINEMENTS):
        z[B] -= solve(exact_residual(rows, z, q_B) if small else rows @ z + q_B)
    return z


def face_point(problem: MixedLCP, codes: Codes) -> Array | None:
    """Return the point that comes closest to the face, a point of it where it is not empty.

    Least t >= 0 with |w_B| <= t, w >= -t on rows at l, w <= t on rows at u, l_B <= z_B <= u_B, in the scaled
    units x = z / C and R w. The vertex is then refined, for HiGHS stops at 1e-10. None where HiGHS gives up.
    """
    R, C = problem.scaling
    B = np.flatnonzero(codes == BASIC)
    z = on_face(problem, codes, np.zeros(problem.n))
    A, c = R[:, None] * problem.M_dense[:, B] * C[B], R * (problem.M @ z + problem.q)
    at_least = np.flatnonzero((codes != AT_UPPER) & ~problem.fixed)
    at_most = np.flatnonzero((codes != AT_LOWER) & ~problem.fixed)
    z[B] = C[B] * _elastic_program(A, c, at_least, at_most, problem.lower[B] / C[B], problem.upper[B] / C[B])
    if not np.isfinite(z).all():
        return None
    vertex = np.clip(_refined_vertex(problem, codes, z), problem.lower, problem.upper)
    return min(vertex, z, key=lambda point: face_violation(problem, codes, point))


def _ratio(violation: Array, size: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.where(violation > 0.0, violation / size, 0.0)


def _elastic_program(A: Array, c: Array, at_least: Any, at_most: Any, lower: Array, upper: Array) -> Array:
    """Return lower <= x <= upper of least t with A x + c >= -t (rows at_least) and A x + c <= t (at_most)."""
    from scipy.optimize import linprog  # takes a third of a second to import

    rows = np.vstack([-A[at_least], A[at_most]])
    scale = max(float(np.abs(c).max(initial=0.0)), np.finfo(np.float64).tiny)
    size = rows.shape[0]
    failed = np.full(A.shape[1], np.nan)
    if not np.isfinite(rows).all() or not np.isfinite(c / scale).all():
        return failed
    result = linprog(
        np.append(np.zeros(A.shape[1]), 1.0),
        A_ub=sp.csr_array(np.hstack([rows, -np.ones((size, 1))])),
        b_ub=np.concatenate([c[at_least], -c[at_most]]) / scale,
        bounds=np.column_stack([np.append(lower / scale, 0.0), np.append(upper / scale, np.inf)]),
        method="highs",
        options=HIGHS,
    )
    return failed if result.x is None else np.asarray(scale * result.x[:-1])


def _refined_vertex(problem: MixedLCP, codes: Codes, z: Array) -> Array:
    """Return z with its tight relations made exact: bounds by snapping, rows with w = 0 by least squares."""
    R, C = problem.scaling
    z, w, _ = problem.certify(z)
    reach = TIGHT * float(np.abs(z / C).max(initial=0.0))
    size = abs(problem.M) @ (C * reach) + TIGHT * np.abs(problem.q)
    z = np.where((z - problem.lower) / C <= reach, problem.lower, z)
    z = np.where((problem.upper - z) / C <= reach, problem.upper, z)
    loose = np.flatnonzero((codes == BASIC) & (z > problem.lower) & (z < problem.upper))
    zero = np.flatnonzero((codes == BASIC) | (~problem.fixed & (np.abs(w) <= size)))
    if loose.size and zero.size:
        S = R[zero, None] * problem.M_dense[np.ix_(zero, loose)] * C[loose]
        for _ in range(2):
            residue = R[zero] * (problem.M @ z + problem.q)[zero]
            z[loose] -= C[loose] * scipy.linalg.lstsq(S, residue, check_finite=False)[0]
    return z
