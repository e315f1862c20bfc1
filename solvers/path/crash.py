"""The crash phase of the path solver: projected Newton steps that find out which rows are active.

At z within its bounds, rows on a bound whose F pushes outwards are kept; for the others, I,

    (J_II + lam I) d_I = -F_I,    z <- project(z + t d),    t = 1, 1/2, ..

as long as the merit falls and the set of active rows still changes [Dirkse, Ferris 1997]. Each step can
change many rows at once, where a pivot changes one.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lapack

from mcpframe.solvers.path.search import Majors, Point
from mcpframe.solvers.shared.linear import factorise

Array = NDArray[np.float64]

PROX = 1e-2
"""lam, times the merit (at most one): large far from a solution, where J_II may be singular."""
HALVINGS = 10
SIGMA = 1e-2
"""Share of t by which the merit must fall."""


def crash(run: Majors, start: Point, limit: int) -> Point:
    """Return the point that projected Newton steps lead to; it is never worse than the start."""
    at, model, last = start, run.model, None
    for _ in range(limit):
        if at.residual <= run.goal or perf_counter() > run.deadline:
            break
        kept = ((at.z <= model.lower) & (at.F >= 0.0)) | ((at.z >= model.upper) & (at.F <= 0.0))
        if last is not None and (kept == last).all():
            break
        moved = _step(run, at, np.flatnonzero(~kept))
        if moved is None:
            break
        at, last = moved, kept
    return at


def _step(run: Majors, at: Point, inside: NDArray[np.intp]) -> Point | None:
    J = run.jacobian(at.z)
    if J is None or inside.size == 0:
        return None
    prox = PROX * min(1.0, at.merit)
    d = _solved(run.shifted(J[inside][:, inside], prox), -at.F[inside])
    if d is None:
        return None
    step = np.zeros(at.z.size)
    step[inside] = d
    t = 1.0
    for _ in range(HALVINGS):
        new = run.start(run.model.project(at.z + t * step), 0.0)
        if new.merit <= (1.0 - SIGMA * t) * at.merit:
            run.note(new, 0, t, "C", prox)
            return new
        t *= 0.5
    return None


def _solved(A: Any, b: Array) -> Array | None:
    """Return A^-1 b, None where A is singular."""
    if sp.issparse(A):
        factor = factorise(A)
        d = factor.solve(b) if factor.rcond > 0.0 else np.full(b.size, np.nan)
    else:
        _, _, d, info = lapack.dgesv(A, b)
        d = np.full(b.size, np.nan) if info != 0 else d
    return d if np.isfinite(d).all() else None
