"""Seeded small problems that try to break a solver: case k is the same on every machine.

Most cases are mixed LCPs; each maker takes a random generator and returns the arguments of
`mcpframe.MixedLCP`. A few are nonlinear, or friction on the exact cone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import casadi
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import mcpframe as mf
from mcpframe.problem.friction import FrictionProblem
from mcpframe.problem.generators import CLASSES, SOLVABLE, random_lcp

Array = NDArray[np.float64]
Rng = np.random.Generator
Data = tuple[Array, Array, Array, Array]

LARGEST = 6
"""Rows of a case, at most (a few contact problems have twelve)."""
OTHERS = 47
"""One case in so many is not a mixed LCP."""
DECADES = 150
"""Sizes of data reach from 1e-150 to 1e150: their squares are still numbers."""


@dataclass(frozen=True)
class Case:
    """One fuzz problem.

    Attributes:
        kind: the class or maker it comes from.
        solvable: True where a solution exists by construction.
        start: z0 and basis of a warm start, valid in shape, arbitrary in value.
    """

    index: int
    kind: str
    problem: mf.MixedLCP | mf.MCP | FrictionProblem
    solvable: bool
    start: dict[str, Any] = field(default_factory=dict)


def make_case(index: int, seed: int = 0) -> Case:
    """Return case number index of a seed."""
    rng = np.random.default_rng([seed, index])
    n = int(rng.integers(1, LARGEST + 1))
    if index % OTHERS == OTHERS - 1:
        kind = str(rng.choice(list(OTHER_MAKERS)))
        return Case(index, kind, OTHER_MAKERS[kind](n, rng), False)
    if rng.random() < 0.5:
        kind = str(rng.choice(list(CLASSES)))
        size = (12 if rng.random() < 0.01 else 6) if kind == "contact" else n
        problem = random_lcp(kind, size, seed=int(rng.integers(2**31)))
        return Case(index, kind, _stored(problem, rng), kind in SOLVABLE, _start(problem.n, rng))
    kind = str(rng.choice(list(MAKERS)))
    problem = mf.MixedLCP(*MAKERS[kind](n, rng))
    return Case(index, kind, _stored(problem, rng), False, _start(problem.n, rng))


def _stored(problem: mf.MixedLCP, rng: Rng) -> mf.MixedLCP:
    """Return the problem, one time in five with M sparse."""
    if rng.random() > 0.2:
        return problem
    return mf.MixedLCP(
        sp.csr_array(problem.M), problem.q, problem.lower, problem.upper, contacts=problem.contacts
    )


def _start(n: int, rng: Rng) -> dict[str, Any]:
    """Return no start, a point, or a basis."""
    draw = rng.random()
    if draw < 0.6:
        return {}
    if draw < 0.8:
        return {"z0": rng.standard_normal(n) * 10.0 ** rng.integers(-3, 4)}
    return {"basis": rng.integers(0, 3, n)}


def _lcp(M: Array, q: Array) -> Data:
    return M, q, np.zeros(q.size), np.full(q.size, np.inf)


def _any_bounds(n: int, rng: Rng) -> tuple[Array, Array]:
    low, high = np.sort(rng.integers(-2, 3, (2, n)).astype(float), axis=0)
    return np.where(rng.random(n) < 0.3, -np.inf, low), np.where(rng.random(n) < 0.3, np.inf, high)


def _empty(n: int, rng: Rng) -> Data:
    return np.zeros((0, 0)), np.zeros(0), np.zeros(0), np.zeros(0)


def _zero_matrix(n: int, rng: Rng) -> Data:
    return np.zeros((n, n)), rng.integers(-1, 2, n).astype(float), *_any_bounds(n, rng)


def _zero_vector(n: int, rng: Rng) -> Data:
    return rng.standard_normal((n, n)), np.zeros(n), *_any_bounds(n, rng)


def _fixed(n: int, rng: Rng) -> Data:
    at = rng.integers(-3, 4, n).astype(float)
    return rng.standard_normal((n, n)), rng.standard_normal(n), at, at


def _integers(n: int, rng: Rng) -> Data:
    """Ties everywhere."""
    return (
        rng.integers(-1, 2, (n, n)).astype(float),
        rng.integers(-1, 2, n).astype(float),
        *_any_bounds(n, rng),
    )


def _duplicates(n: int, rng: Rng) -> Data:
    """Rows and columns repeated: singular and degenerate at once."""
    pick = rng.integers(0, max(1, n // 2), n)
    B = rng.standard_normal((n, n))
    return _lcp((B @ B.T)[pick][:, pick], rng.standard_normal(n)[pick])


def _rank_one(n: int, rng: Rng) -> Data:
    return (
        np.outer(rng.standard_normal(n), rng.standard_normal(n)),
        rng.standard_normal(n),
        *_any_bounds(n, rng),
    )


def _singular_equations(n: int, rng: Rng) -> Data:
    """All rows free, M singular: no solution, or a line of them."""
    M = np.outer(rng.integers(-1, 2, n), rng.integers(-1, 2, n)).astype(float)
    q = M @ rng.standard_normal(n) if rng.random() < 0.5 else rng.standard_normal(n)
    return M, q, np.full(n, -np.inf), np.full(n, np.inf)


def _nilpotent(n: int, rng: Rng) -> Data:
    """Strictly triangular: no diagonal to pivot on."""
    return np.triu(rng.standard_normal((n, n)), 1), rng.standard_normal(n), *_any_bounds(n, rng)


def _negative(n: int, rng: Rng) -> Data:
    """Minus a P-matrix: many solutions or none, and secondary rays."""
    return _lcp(-np.eye(n) - 0.3 * rng.random((n, n)), rng.standard_normal(n))


def _whole_scale(n: int, rng: Rng) -> Data:
    """A good problem in absurd units: all of M, all of q."""
    good = random_lcp("p_matrix", n, seed=int(rng.integers(2**31)))
    power = rng.uniform(-DECADES, DECADES, 2)
    return _lcp(good.M_dense * 10.0 ** power[0], good.q * 10.0 ** power[1])


def _row_scales(n: int, rng: Rng) -> Data:
    """Every row in its own absurd unit."""
    good = random_lcp("p_matrix", n, seed=int(rng.integers(2**31)))
    power = 10.0 ** rng.uniform(-DECADES, DECADES, n)
    return _lcp(power[:, None] * good.M_dense, power * good.q)


def _entry_scales(n: int, rng: Rng) -> Data:
    """Every number of its own size."""
    M = rng.standard_normal((n, n)) * 10.0 ** rng.uniform(-DECADES, DECADES, (n, n))
    return M, rng.standard_normal(n) * 10.0 ** rng.uniform(-DECADES, DECADES, n), *_any_bounds(n, rng)


def _huge_bounds(n: int, rng: Rng) -> Data:
    """Bounds that are finite but far away."""
    width = 10.0 ** rng.uniform(0, DECADES, n)
    return rng.standard_normal((n, n)), rng.standard_normal(n), -width, width


MAKERS: dict[str, Callable[[int, Rng], Data]] = {
    "empty": _empty,
    "zero_matrix": _zero_matrix,
    "zero_vector": _zero_vector,
    "fixed": _fixed,
    "integers": _integers,
    "duplicates": _duplicates,
    "rank_one": _rank_one,
    "singular_equations": _singular_equations,
    "nilpotent": _nilpotent,
    "negative": _negative,
    "whole_scale": _whole_scale,
    "row_scales": _row_scales,
    "entry_scales": _entry_scales,
    "huge_bounds": _huge_bounds,
}
"""Makers beyond the random classes of `mcpframe.problem.generators`."""


def _nonlinear(n: int, rng: Rng) -> mf.MCP:
    """A random mixed LCP and a nonlinear term: cubic, exponential, or one that is not defined everywhere."""
    base = random_lcp(
        str(rng.choice(["monotone", "arbitrary", "box", "mixed"])), n, seed=int(rng.integers(2**31))
    )
    z = casadi.SX.sym("z", n)
    terms = (z**3, casadi.exp(z) - 1, casadi.sqrt(z + 1), 1 / (z + 2), casadi.log(z + 0.5))
    F = casadi.DM(base.M_dense) @ z + casadi.DM(base.q) + terms[int(rng.integers(len(terms)))]
    return mf.MCP(casadi.Function("F", [z], [F]), base.lower, base.upper)


def _friction(n: int, rng: Rng) -> FrictionProblem:
    """One or two contacts on a Delassus matrix of any rank, with and without friction."""
    n_c = 1 + n % 2
    B = rng.standard_normal((3 * n_c, int(rng.integers(0, 3 * n_c + 1)))) * 10.0 ** rng.integers(-3, 4)
    q = B @ rng.standard_normal(B.shape[1]) if rng.random() < 0.7 else rng.standard_normal(3 * n_c)
    return FrictionProblem(B @ B.T, q, rng.choice([0.0, 0.3, 1.0], n_c))


OTHER_MAKERS: dict[str, Callable[[int, Rng], mf.MCP | FrictionProblem]] = {
    "nonlinear": _nonlinear,
    "friction": _friction,
}
"""Makers of problems that are no mixed LCPs."""


def misuse(rng: Rng) -> Callable[[], object]:
    """Return a call that must end in an error of mcpframe, and in no other."""
    n = int(rng.integers(1, LARGEST + 1))
    M, q, lower, upper = np.eye(n), np.ones(n), np.zeros(n), np.full(n, np.inf)
    i, bad = int(rng.integers(n)), float(rng.choice([np.nan, np.inf, -np.inf]))
    good = mf.MixedLCP(M, q, lower, upper)
    spoiled = {name: array.copy() for name, array in (("M", M), ("q", q), ("lower", lower), ("upper", upper))}
    calls: list[Callable[[], object]] = [
        lambda: mf.MixedLCP(_put(spoiled["M"], (i, i), bad), q),
        lambda: mf.MixedLCP(sp.csr_array(_put(spoiled["M"], (i, i), bad)), q),
        lambda: mf.MixedLCP(M, _put(spoiled["q"], i, bad)),
        lambda: mf.MixedLCP(M, q, _put(spoiled["lower"], i, np.nan), upper),
        lambda: mf.MixedLCP(M, q, lower, _put(spoiled["upper"], i, -1.0)),
        lambda: mf.MixedLCP(M, q, _put(spoiled["lower"], i, np.inf), upper),
        lambda: mf.MixedLCP(M, np.ones(n + 1)),
        lambda: mf.MixedLCP(np.ones((n, n + 1)), q),
        lambda: mf.MixedLCP(M, q, np.zeros(n + 1), upper),
        lambda: mf.MixedLCP("matrix", q),
        lambda: mf.MixedLCP(M * 1j, q),
        lambda: mf.solve(good, "lemke", z0=_put(spoiled["q"], i, bad)),
        lambda: mf.solve(good, "lemke", z0=np.ones(n + 2)),
        lambda: mf.solve(good, "lemke", basis=np.full(n, 7)),
        lambda: mf.solve(good, "lemke", basis=np.full(n, 0.5)),
        lambda: mf.solve(good, "lemke", tol=-1.0),
        lambda: mf.solve(good, "lemke", tol=float("nan")),
        lambda: mf.solve(good, "lemke", time_limit=0.0),
        lambda: mf.solve(good, "lemke", no_such_option=1),
        lambda: mf.solve(good, "lemkee"),
        lambda: mf.solve(good, {"solver": "lemke"}),
        lambda: mf.solve((M, q), "lemke"),
    ]
    return calls[int(rng.integers(len(calls)))]


def _put(array: Array, index: Any, value: float) -> Array:
    array[index] = value
    return array
