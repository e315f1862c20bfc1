"""Convex programs in cvxpy, compiled once per size and sparsity and solved again with other numbers.

    ConeProgram   min r'Sr/2 + c'r           over  |r_t| <= mu r_n, each contact     (relaxed friction)
    GapProgram    min (x-l)'w+ + (u-x)'w-    over  M x + q = w+ - w-, l <= x <= u    (monotone mixed LCP)

and `qp_saddle.SaddleProgram` for mixed LCPs in which part of the unknowns are multipliers.

All data are cvxpy parameters in a disciplined parametrised program [Agrawal, Diamond, Boyd 2019]; S enters by
a sparse factor L, S = L L'. The compiled map from parameters to solver data grows faster than the problem
does, so matrices with many entries are compiled in as constants instead; c, q and bounds stay parameters.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray

from mcpframe.interrupts import is_interrupt

Array = NDArray[np.float64]

PARAMETER_LIMIT = 2500
"""Entries of a matrix above which it is compiled in as a constant: the map would take too long to build."""
LINEAR_LIMIT = 1000
"""Unknowns above which the linear part of an objective becomes a constraint."""
CACHE_SIZE = 32
"""Compiled programs kept, least recently used dropped first."""
SHIFT, SHIFT_MAX = 1e-10, 1e-2
"""Multiple of the identity that makes S definite enough to factorise, relative to its largest entry."""
TIGHT = 1e-11
"""Tolerance asked of interior-point backends; what they miss, the polish makes good."""
FIRST_ORDER = 1e-8
"""Tolerance asked of first-order backends, which converge slowly."""

BACKEND_OPTIONS: dict[str, dict[str, Any]] = {
    "CLARABEL": {"tol_gap_abs": TIGHT, "tol_gap_rel": TIGHT, "tol_feas": TIGHT},
    "OSQP": {"eps_abs": FIRST_ORDER, "eps_rel": FIRST_ORDER, "max_iter": 50_000},
    "SCS": {"eps_abs": FIRST_ORDER, "eps_rel": FIRST_ORDER, "max_iters": 50_000},
}
TIME_OPTION = {
    "CLARABEL": "time_limit",
    "OSQP": "time_limit",
    "SCS": "time_limit_secs",
    "HIGHS": "time_limit",
}

_compiling = threading.Lock()
_cache: OrderedDict[Hashable, Program] = OrderedDict()


@dataclass(frozen=True, slots=True)
class Backend:
    """Which solver cvxpy calls, and until when it may run."""

    name: str
    deadline: float

    def options(self, tight: bool) -> dict[str, Any]:
        """Return the options of the solver: tight or its own tolerances, and the time that is left."""
        options = dict(BACKEND_OPTIONS.get(self.name, {})) if tight else {}
        left = self.deadline - perf_counter()
        if self.name in TIME_OPTION and np.isfinite(left):
            options[TIME_OPTION[self.name]] = max(left, 1e-3)
        return options


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """What the backend found: the minimiser, or None with the reason, and the multipliers asked for."""

    x: Array | None
    status: str
    iterations: int = 0
    duals: tuple[Array, ...] = ()


class Program:
    """A compiled cvxpy problem: parameters in, minimiser out. One caller at a time holds it.

    Args:
        problem: objective and constraints.
        x: the variable whose minimiser is wanted.
        parameters: by the names that `solve` gets values for.
        multipliers: constraints whose multipliers are wanted.
    """

    def __init__(
        self,
        problem: cp.Problem,
        x: cp.Variable,
        parameters: Mapping[str, cp.Parameter],
        multipliers: Sequence[Any] = (),
    ) -> None:
        self._problem, self._x, self._parameters, self._multipliers = problem, x, parameters, multipliers
        self._lock = threading.Lock()

    def solve(self, values: Mapping[str, Array], backend: Backend) -> Minimum:
        """Set the parameters and run the backend."""
        with self._lock:
            for name, parameter in self._parameters.items():
                parameter.value = values[name]
            minimum = self._run(backend, tight=True)
            if minimum.x is None and minimum.status == cp.SOLVER_ERROR:
                minimum = self._run(backend, tight=False)
            return minimum

    def _run(self, backend: Backend, tight: bool) -> Minimum:
        try:
            return self._minimise(backend.name, backend.options(tight))
        except Exception as error:  # backends raise their own kinds: no licence, no memory, bad numbers
            if is_interrupt(error):
                raise
            return Minimum(None, f"{backend.name} failed: {error}")

    def _minimise(self, solver: str, options: dict[str, Any]) -> Minimum:
        with _compiling:  # cvxpy numbers its variables from one global counter
            data, chain, inverse = self._problem.get_problem_data(solver, solver_opts=options)
        raw = chain.solve_via_data(self._problem, data, False, False, options)
        solution = chain.invert(raw, inverse)
        iterations = int(solution.attr.get("num_iters") or 0)
        x = (solution.primal_vars or {}).get(self._x.id)
        found = [x, *(solution.dual_vars.get(multiplier.id) for multiplier in self._multipliers)]
        if any(part is None or not np.isfinite(part).all() for part in found):
            return Minimum(None, solution.status, iterations)
        x, *duals = (np.asarray(part, dtype=np.float64).ravel() for part in found)
        return Minimum(x, solution.status, iterations, tuple(duals))


def program_of(key: Hashable | None, build: Callable[[], Program]) -> Program:
    """Return the program of that key, built on first use; key None is built anew."""
    with _compiling:
        program = _cache.get(key) if key is not None else None
        if program is None:
            program = build()
        if key is not None:
            _cache[key] = program
            _cache.move_to_end(key)
            if len(_cache) > CACHE_SIZE:
                _cache.popitem(last=False)
    return program


def least(quadratic: cp.Expression, linear: cp.Expression, constraints: list[Any], n: int) -> cp.Problem:
    """Return the problem to minimise quadratic + linear in n unknowns.

    cvxpy makes a dense array of unknowns by parameters out of a parametrised objective, 1 GB at n = 10^4; as
    a constraint, s >= linear, it stays sparse.
    """
    if n <= LINEAR_LIMIT:
        return cp.Problem(cp.Minimize(quadratic + linear), constraints)
    s = cp.Variable()
    return cp.Problem(cp.Minimize(quadratic + s), [*constraints, s >= linear])


class Entries:
    """A matrix in a program: a parameter for its nonzero entries, or a constant where they are many."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = sp.coo_array(matrix)

    @property
    def parametric(self) -> bool:
        """Whether the entries are a parameter."""
        return bool(self.matrix.nnz <= PARAMETER_LIMIT)

    @cached_property
    def key(self) -> Hashable:
        """The size and sparsity, for the cache."""
        pattern = hashlib.sha256(self.matrix.row.tobytes() + self.matrix.col.tobytes()).digest()
        return self.matrix.shape, pattern

    def expression(self, parameters: dict[str, cp.Parameter], name: str) -> Any:
        """Return the matrix as a cvxpy expression, its entries registered as a parameter."""
        A = self.matrix
        if not self.parametric or A.nnz == 0:
            return sp.csr_array(A)
        parameters[name] = cp.Parameter(A.nnz)
        place = A.row.astype(np.int64) + A.col.astype(np.int64) * A.shape[0]
        spread = sp.csr_array(
            (np.ones(A.nnz), (place, np.arange(A.nnz))), shape=(A.shape[0] * A.shape[1], A.nnz)
        )
        return cp.reshape(spread @ parameters[name], A.shape, order="F")


class Quadratic:
    """The convex function x'Sx/2 of a symmetric positive semidefinite S.

    Parametrised it is |L'x|^2/2, for cvxpy has no parameters inside a quadratic form; a constant S is given
    to the backend as it is, which is the faster program to solve.
    """

    def __init__(self, S: Any) -> None:
        self._S = sp.csc_array(S)
        self._factor = None if self._S.nnz > 2 * PARAMETER_LIMIT else Entries(gram_factor(self._S).T)

    @property
    def key(self) -> Hashable | None:
        """The size and sparsity of the factor; None where S is a constant."""
        return self._factor.key if self._factor is not None and self._factor.parametric else None

    @property
    def values(self) -> dict[str, Array]:
        """The parameters' values."""
        return {} if self._factor is None else {"L": self._factor.matrix.data}

    def expression(self, x: cp.Variable, parameters: dict[str, cp.Parameter]) -> cp.Expression:
        """Return x'Sx/2 in cvxpy."""
        if self._factor is not None and self._factor.parametric:
            return 0.5 * cp.sum_squares(self._factor.expression(parameters, "L") @ x)
        shift = SHIFT * float(abs(self._S).max())
        return 0.5 * cp.quad_form(x, cp.psd_wrap(self._S + shift * sp.eye_array(x.size, format="csc")))


class ConeProgram:
    """min r'Sr/2 + c'r over the friction cones; contacts are consecutive (normal, tangents).

    Args:
        S: symmetric part of the Delassus operator [n, n].
        mu: positive friction coefficients [n_c].
        dim: 2 or 3.
    """

    def __init__(self, S: Any, mu: Array, dim: int) -> None:
        self._quadratic, self._mu, self._dim = Quadratic(S), mu, dim
        key = self._quadratic.key
        self._program = program_of(None if key is None else ("cone", dim, key), self._build)

    def _build(self) -> Program:
        n_c, d = self._mu.size, self._dim
        r, parameters = (
            cp.Variable(n_c * d),
            {"c": cp.Parameter(n_c * d), "mu": cp.Parameter(n_c, nonneg=True)},
        )
        rows = cp.reshape(r, (n_c, d), order="C")
        reach = cp.multiply(parameters["mu"], rows[:, 0])
        if d == 2:  # two half-planes: a quadratic program, which more backends take
            constraints = [reach - rows[:, 1] >= 0, reach + rows[:, 1] >= 0]
        else:
            constraints = [cp.SOC(reach, rows[:, 1:], axis=1)]
        quadratic, linear = self._quadratic.expression(r, parameters), parameters["c"] @ r
        return Program(least(quadratic, linear, constraints, n_c * d), r, parameters)

    def solve(self, c: Array, backend: Backend) -> Minimum:
        """Return the minimiser for a linear term c [n]."""
        return self._program.solve(self._quadratic.values | {"c": c, "mu": self._mu}, backend)


class GapProgram:
    """min (x-l)'w+ + (u-x)'w- over M x + q = w+ - w-, l <= x <= u, w+ and w- >= 0 where the bound exists.

    With w eliminated the objective is x'Mx + q'x - l'w+ + u'w-: convex where M is monotone, and its least
    value is zero exactly at solutions of the mixed LCP [Cottle, Pang, Stone 1992, 3.1].
    """

    def __init__(self, M: Any, lower: Array, upper: Array) -> None:
        self._M, self._bounds = Entries(M), Bounds(lower, upper)
        self._quadratic = Quadratic(sp.csc_array(M) + sp.csc_array(M).T)
        parametric = self._M.parametric and self._quadratic.key is not None
        key = ("gap", self._M.key, self._quadratic.key, self._bounds.key) if parametric else None
        self._program = program_of(key, self._build)

    def _build(self) -> Program:
        bounds, n = self._bounds, self._bounds.lower.size
        x, parameters = cp.Variable(n), {"q": cp.Parameter(n)}
        constraints = bounds.constraints(x, parameters)
        quadratic, linear = self._quadratic.expression(x, parameters), parameters["q"] @ x
        w = np.zeros(n)
        for name, rows, sign in (("l", bounds.low, 1.0), ("u", bounds.high, -1.0)):
            if rows.size:
                part = cp.Variable(rows.size, nonneg=True)
                w = w + sign * (selection(rows, n).T @ part)
                linear = linear - sign * (parameters[name] @ part)
        constraints.append(self._M.expression(parameters, "M") @ x + parameters["q"] == w)
        return Program(least(quadratic, linear, constraints, n), x, parameters)

    def solve(self, q: Array, backend: Backend) -> Minimum:
        """Return the minimiser for a vector q [n]."""
        values = self._quadratic.values | self._bounds.values | {"q": q, "M": self._M.matrix.data}
        return self._program.solve(values, backend)


class Bounds:
    """l <= x <= u in a program: finite bounds are parameters, infinite ones are left out."""

    def __init__(self, lower: Array, upper: Array) -> None:
        self.lower, self.upper = lower, upper
        self.low, self.high = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))

    @property
    def key(self) -> Hashable:
        """Which bounds are finite."""
        return np.isfinite(self.lower).tobytes(), np.isfinite(self.upper).tobytes()

    @property
    def values(self) -> dict[str, Array]:
        """The parameters' values."""
        return {"l": self.lower[self.low], "u": self.upper[self.high]}

    def constraints(self, x: cp.Variable, parameters: dict[str, cp.Parameter]) -> list[Any]:
        """Return the constraints of the finite bounds."""
        constraints = []
        if self.low.size:
            parameters["l"] = cp.Parameter(self.low.size)
            constraints.append(selection(self.low, x.size) @ x >= parameters["l"])
        if self.high.size:
            parameters["u"] = cp.Parameter(self.high.size)
            constraints.append(selection(self.high, x.size) @ x <= parameters["u"])
        return constraints


def gram_factor(S: sp.csc_array) -> sp.csc_array:
    """Return L with L L' = S + a shift that is as small as the factorisation allows.

    LU with pivots on the diagonal is L D L' for a symmetric matrix; the shift keeps D positive.
    """
    n = S.shape[0]
    size = float(abs(S).max()) if S.nnz else 0.0
    if size == 0.0:
        return sp.csc_array((n, n))
    shift = SHIFT
    while True:
        shifted = sp.csc_array(S + shift * size * sp.eye_array(n))
        shifted.indices, shifted.indptr = shifted.indices.astype(np.int32), shifted.indptr.astype(np.int32)
        lu = scipy.sparse.linalg.splu(
            shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
        D = lu.U.diagonal()
        if shift >= SHIFT_MAX or ((lu.perm_r == lu.perm_c).all() and D.min() > 0.0):
            break
        shift *= 100.0
    back = sp.csc_array((np.ones(n), (np.arange(n), lu.perm_r)), shape=(n, n))
    L = sp.csc_array(lu.L)  # a matrix before scipy 1.14, whose * is another product
    return sp.csc_array(back @ L @ sp.diags_array(np.sqrt(np.maximum(D, 0.0))))


def selection(rows: NDArray[np.intp], n: int) -> sp.csr_array:
    """Return the matrix that picks rows out of n."""
    return sp.csr_array((np.ones(rows.size), (np.arange(rows.size), rows)), shape=(rows.size, n))
