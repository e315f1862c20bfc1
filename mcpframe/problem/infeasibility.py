"""Proof that a mixed LCP has no solution: a Farkas certificate that anyone can check.

Every solution has w_i >= 0 where u_i = inf (l_i finite), w_i <= 0 where l_i = -inf (u_i finite) and
w_i = 0 where row i is free. If y has those signs (any on free rows, zero where both bounds are finite) and

    max over l <= z <= u of  y'(M z + q)  <  0,

then no z can do it, for every solution has y'w >= 0. Such a y exists exactly where these linear relations
have no common point. A problem whose relations hold somewhere may still have no solution, but no such y.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.problem.problems import MixedLCP

Array = NDArray[np.float64]

MARGIN = 1e-9
"""How far below zero, relative to the sizes of the terms, the maximum must lie to count as proof."""
ROUNDING = 1e-13
"""Entries of M'y below this share of |M|'|y| are rounding errors of zero. Not larger: an entry of 1e-10
beside an unbounded z is a real way out, with a solution near 1e10."""
TIGHT = 1e-9
"""Entries of a scaled certificate and of its M'y below this are meant to be zero."""
HIGHS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
"""The tightest tolerances that HiGHS takes."""
REPAIR_LIMIT = 1000
"""Largest n for the dense least-squares repair of a certificate that the LP left inexact."""


def proves_infeasible(problem: MixedLCP, y: Array) -> bool:
    """Return whether y is a Farkas certificate for the problem."""
    if y.shape != (problem.n,) or not np.isfinite(y).all() or not y.any():
        return False
    lower_sign, upper_sign = _signs(problem)
    if (y < lower_sign).any() or (y > upper_sign).any():
        return False
    with np.errstate(all="ignore"):
        y = y / np.abs(y).max()
        column = np.asarray(problem.M.T @ y)
        size = np.asarray(abs(problem.M).T @ np.abs(y))
        column[np.abs(column) <= ROUNDING * size] = 0.0
        reach = np.where(column > 0, column * problem.upper, column * problem.lower)
        reach[column == 0] = 0.0
        maximum = y @ problem.q + reach.sum()
        terms = np.abs(y) @ np.abs(problem.q) + np.abs(reach).sum()
        finite = np.isfinite(size).all() and math.isfinite(terms)
        return bool(finite and maximum < -MARGIN * terms)


def find_certificate(problem: MixedLCP, time_limit: float = math.inf) -> Array | None:
    """Look for a Farkas certificate by linear programming (HiGHS); None where there is none or no proof.

    In scaled units (S = R M C, s = R q, y = R eta, x = z / C) and with S' eta = p - m, p, m >= 0,

        minimise  s' eta + u_x' p - l_x' m    over  |eta| <= 1 with the signs above,

    p_j = 0 where u_j = inf, m_j = 0 where l_j = -inf. The minimum is the maximum over z for the best y.

    Args:
        time_limit: seconds that HiGHS may take.

    Returns:
        y [n], verified by `proves_infeasible` and scaled to max |y| = 1.
    """
    if problem.n == 0:
        return None
    with np.errstate(all="ignore"):
        eta = _solve_program(problem, time_limit)
        if eta is None or not eta.any():
            return None
        for candidate in (eta, _repaired(problem, eta)):
            y = problem.scaling[0] * candidate
            y = y / np.abs(y).max()
            if proves_infeasible(problem, y):
                return np.asarray(y)
    return None


def _signs(problem: MixedLCP) -> tuple[Array, Array]:
    """Return the least and greatest values that the multiplier of each row may take: 0 or infinite."""
    low, high = np.isfinite(problem.lower), np.isfinite(problem.upper)
    return np.where(low, 0.0, -np.inf), np.where(high, 0.0, np.inf)


def _scaled_matrix(problem: MixedLCP) -> sp.csr_array:
    R, C = problem.scaling
    return sp.diags_array(R) @ sp.csr_array(problem.M) @ sp.diags_array(C)


def _solve_program(problem: MixedLCP, time_limit: float) -> Array | None:
    """Return eta of the linear program, or None where HiGHS finds no minimum below zero."""
    from scipy.optimize import linprog  # takes a third of a second to import

    R, C = problem.scaling
    n, S = problem.n, _scaled_matrix(problem)
    lower, upper = problem.lower / C, problem.upper / C
    cost = np.concatenate(
        [R * problem.q, np.nan_to_num(upper, posinf=0.0), -np.nan_to_num(lower, neginf=0.0)]
    )
    size = float(np.abs(cost).max())
    if size == 0.0 or not (np.isfinite(size) and np.isfinite(S.data).all()):
        return None
    least, most = _signs(problem)
    p_most = np.where(np.isfinite(upper), np.inf, 0.0)
    m_most = np.where(np.isfinite(lower), np.inf, 0.0)
    bounds = np.column_stack(
        [
            np.concatenate([np.maximum(least, -1.0), np.zeros(2 * n)]),
            np.concatenate([np.minimum(most, 1.0), p_most, m_most]),
        ]
    )
    result: Any = linprog(
        cost / size,
        A_eq=sp.hstack([S.T, -sp.eye_array(n), sp.eye_array(n)], format="csr"),
        b_eq=np.zeros(n),
        bounds=bounds,
        method="highs",
        options=HIGHS | ({"time_limit": time_limit} if time_limit < math.inf else {}),
    )
    found = result.x is not None and result.fun < 0.0
    return np.clip(result.x[:n], bounds[:n, 0], bounds[:n, 1]) if found else None


def _repaired(problem: MixedLCP, eta: Array) -> Array:
    """Return eta with its small entries and the small entries of S' eta made zero, by least squares."""
    if problem.n > REPAIR_LIMIT:
        return eta
    S = _scaled_matrix(problem)
    least, most = _signs(problem)
    eta = np.where(np.abs(eta) <= TIGHT, 0.0, eta)
    loose, zero = np.flatnonzero(eta), np.flatnonzero(np.abs(S.T @ eta) <= TIGHT)
    if loose.size and zero.size:
        A = S[loose][:, zero].toarray().T
        for _ in range(2):
            eta[loose] -= scipy.linalg.lstsq(A, (S.T @ eta)[zero], check_finite=False)[0]
    return np.clip(eta, least, most)
