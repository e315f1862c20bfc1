"""Mixed LCPs with friction discs: contacts on exact cones, beside bounds and equations.

Find z with w = M z + q where rows that belong to no disc are those of a mixed LCP, l <= z <= u, and a disc D,
two rows (or one, in the plane) that lean on a normal row n, asks for the most dissipation within its reach:

    |z_D| <= mu z_n + c,     z_D = argmin w_D . x  over  |x| <= mu z_n + c.

Coulomb's cone is a normal row with z_n >= 0 and one disc; moments against spin or rolling are further discs
on the same normal; an ellipse is a disc in scaled components; c is what friction leans on besides z_n. With
z_D = P(z_D - w_D), P the projection on the disc, all conditions are one equation of Alart and Curnier (1991),
whose error is the natural residual

    r(z) = max( |z_i - clip(z_i - w_i, l_i, u_i)|,  |z_D - P(z_D - w_D)| ).

It is judged block by block, see `mcpframe.problem.residual`: a row at 1 + |q_i|, a contact, which is a normal
with its discs, at 1 + the largest |q_i| of its rows. What rounding does is excused: of a disc, whose edge is
no number that z can lie on, z_D - P(z_D - rho w_D) with rho = |z_D| / |w_D|, which weighs both alike and
vanishes for every rho or for none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array, frozen, index_array, real_array
from mcpframe.exceptions import ProblemError
from mcpframe.jit import Indices, Matrix, Vector, VectorOut, callee, inline, kernel, window
from mcpframe.problem.layout import Layout
from mcpframe.problem.problems import MixedLCP
from mcpframe.problem.residual import ROUNDING, clip_into, natural_entry, reach_of, row_dot, terms

D_NORMAL, D_FIRST, D_WIDTH, DISC_INTEGERS = range(4)
D_MU, D_OFFSET, DISC_DOUBLES = range(3)
"""A disc in the tables of kernels: its normal row, its first row, how many rows; mu and c."""
JUDGING = 3
"""Vectors that the judge works on: what every row is off by, at which scale, and the terms of its sum."""


@dataclass(frozen=True, eq=False, init=False)
class Discs:
    """Discs of some rows.

    Attributes:
        table: normal row, first row and number of rows (1 or 2) of every disc [k, 3].
        sizes: its mu and c [k, 2].
    """

    table: NDArray[np.int64]
    sizes: Array

    def __init__(
        self,
        normal: ArrayLike = (),
        first: ArrayLike = (),
        width: ArrayLike = 2,
        mu: ArrayLike = 0.0,
        offset: ArrayLike = 0.0,
    ) -> None:
        rows, start = index_array("normal", normal), index_array("first", first)
        if rows.ndim != 1 or start.shape != rows.shape:
            raise ProblemError(
                f"discs: normal {rows.shape} and first {start.shape}, expected one row of each"
            )
        k = rows.size
        widths, mus, offsets = (
            _each(name, value, k) for name, value in (("width", width), ("mu", mu), ("offset", offset))
        )
        for name, values in (("mu", mus), ("offset", offsets)):
            bad = ~(np.isfinite(values) & (values >= 0.0))
            if bad.any():
                i = int(np.argmax(bad))
                raise ProblemError(f"discs: {name} {i} is {values[i]}; it must be finite and >= 0")
        if not np.isin(widths, (1, 2)).all():
            raise ProblemError(f"discs: width {widths.tolist()}; a disc has one row or two")
        table = np.column_stack([rows, start, widths.astype(np.int64)]).reshape(k, DISC_INTEGERS)
        object.__setattr__(self, "table", frozen(np.ascontiguousarray(table, dtype=np.int64)))
        object.__setattr__(self, "sizes", frozen(np.column_stack([mus, offsets]).reshape(k, DISC_DOUBLES)))

    def __len__(self) -> int:
        return len(self.table)

    @property
    def normal(self) -> NDArray[np.int64]:
        """Normal rows [k]."""
        return self.table[:, D_NORMAL]

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """All rows that belong to a disc."""
        spans = [np.arange(first, first + width) for _, first, width in self.table]
        return np.concatenate([np.zeros(0, np.int64), *spans])

    def check(self, lcp: MixedLCP) -> None:
        """Raise unless the discs fit the rows of a problem."""
        inside = (self.table[:, :2] >= 0).all() and (self.rows < lcp.n).all() and (self.normal < lcp.n).all()
        if not inside:
            raise ProblemError(f"discs: a row is not among the {lcp.n} of the problem")
        if np.unique(self.rows).size != self.rows.size or np.isin(self.normal, self.rows).any():
            raise ProblemError("discs: a row belongs to two discs, or is the normal of one and in another")
        if not lcp.free[self.rows].all():
            raise ProblemError("discs: rows of a disc have no bounds but the disc, lower -inf and upper inf")
        if (lcp.lower[self.normal] < 0.0).any():
            raise ProblemError("discs: a normal row has a lower bound below 0, so the disc could vanish")

    def ordered(self) -> Discs:
        """Return the discs by their normals, as kernels want them."""
        order = np.argsort(self.normal, kind="stable")
        return Discs(*self.table[order].T, *self.sizes[order].T)


class ConeLCP:
    """A mixed LCP (M, q, l, u) with friction discs.

    Args:
        M, q, lower, upper, layout: as in `MixedLCP`; rows of discs are free.
        discs: which rows lie on discs.
    """

    def __init__(
        self,
        M: Any,
        q: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        discs: Discs,
        *,
        layout: Layout | None = None,
    ) -> None:
        self.rows = MixedLCP(M, q, lower, upper, layout=layout)
        discs.check(self.rows)
        self.discs = discs.ordered()

    @classmethod
    def of_checked(cls, rows: MixedLCP, discs: Discs) -> ConeLCP:
        """Return the problem of rows and discs that are known to fit, discs in the order of their normals."""
        problem = object.__new__(cls)
        problem.rows, problem.discs = rows, discs
        return problem

    def __repr__(self) -> str:
        return f"ConeLCP(n={self.n}, discs={len(self.discs)}, blocks={dict(self.layout.sizes)})"

    @property
    def n(self) -> int:
        """Number of rows, which is the length of z."""
        return self.rows.n

    @property
    def M(self) -> Any:
        """Matrix [n, n], dense or in compressed rows."""
        return self.rows.M

    @property
    def q(self) -> Array:
        """Vector [n]."""
        return self.rows.q

    @property
    def lower(self) -> Array:
        """Lower bounds [n]; -inf in rows of discs."""
        return self.rows.lower

    @property
    def upper(self) -> Array:
        """Upper bounds [n]; inf in rows of discs."""
        return self.rows.upper

    @property
    def layout(self) -> Layout:
        """Names of the blocks of z."""
        return self.rows.layout

    @property
    def n_contacts(self) -> int:
        """How many normals have discs."""
        return int(np.unique(self.discs.normal).size)

    @property
    def is_sparse(self) -> bool:
        """Whether M is stored in compressed rows."""
        return self.rows.is_sparse

    @property
    def scale(self) -> float:
        """1 + ||q||_inf: solved means judged residual <= tol * scale, each block at its own scale."""
        return self.rows.scale

    def certify(self, z: Array) -> tuple[Array, Array, float]:
        """Return z moved into its bounds and discs, w = M z + q, and the judged residual of that z."""
        z, w, work = np.array(z, dtype=np.float64), np.full(self.n, np.nan), np.zeros(JUDGING * self.n)
        if not np.isfinite(z).all():
            return z, w, math.inf
        rows, discs = (self.q, self.lower, self.upper), (self.discs.table.ravel(), self.discs.sizes.ravel())
        if not self.is_sparse:
            return z, w, certify_cones(self.rows.M_dense, *rows, *discs, z, w, work)
        move_within(z, self.lower, self.upper, *discs)
        with np.errstate(over="ignore", invalid="ignore"):
            w[:] = self.M @ z + self.q
        judged = judge_cones(*rows, *discs, z, w, 0.0, work)
        if judged > ROUNDING * self.scale:
            work[2 * self.n :] = abs(self.M) @ np.minimum(np.abs(z), self._reach)
            judged = judge_cones(*rows, *discs, z, w, self._reach, work)
        return z, w, judged

    @cached_property
    def _reach(self) -> float:
        """The size that the data give to z, see `mcpframe.problem.residual`."""
        largest = abs(self.M).max(axis=1).toarray().ravel()
        used = largest > 0.0
        return float(((1.0 + np.abs(self.q[used])) / largest[used]).max(initial=0.0))

    def natural_residual(self, z: Array, w: Array) -> float:
        """Return r(z), all rows at one scale."""
        rows, discs = (self.q, self.lower, self.upper), (self.discs.table.ravel(), self.discs.sizes.ravel())
        work = np.zeros(JUDGING * self.n)
        judge_cones(*rows, *discs, z, w, 0.0, work)
        return float(work[: self.n].max(initial=0.0))

    @property
    def equations(self) -> NDArray[np.bool_]:
        """Rows without bounds that belong to no disc [n]."""
        return np.asarray(self.rows.free & (self.on_disc == 0))

    @property
    def has_equations(self) -> bool:
        """Whether there are any."""
        return bool(self.equations.any())

    @cached_property
    def on_disc(self) -> NDArray[np.int64]:
        """1 for rows that belong to a disc, else 0 [n]."""
        flags = np.zeros(self.n, np.int64)
        flags[self.discs.rows] = 1
        return frozen(flags)


StepProblem: TypeAlias = MixedLCP | ConeLCP
"""What a formulation makes of a step."""


def cones_of(mu: Array, dim: int) -> Discs:
    """Return the discs of contacts one after the other, each (normal, tangents)."""
    discs = object.__new__(Discs)  # checked already, and made for every solve
    table, sizes = np.empty((len(mu), DISC_INTEGERS), np.int64), np.zeros((len(mu), DISC_DOUBLES))
    table[:, D_NORMAL] = np.arange(0, dim * len(mu), dim)
    table[:, D_FIRST], table[:, D_WIDTH], sizes[:, D_MU] = table[:, D_NORMAL] + 1, dim - 1, mu
    vars(discs).update(table=table, sizes=sizes)
    return discs


@inline
def length(x: Any, y: Any) -> Any:
    """Return |(x, y)|."""
    return math.sqrt(x * x + y * y)


@inline
def disc_gap(z_1: Any, z_2: Any, w_1: Any, w_2: Any, reach: Any) -> Any:
    """Return z - P(z - w) of a disc; inside it is w itself, so that a small w beside a huge z is kept."""
    x_1, x_2 = z_1 - w_1, z_2 - w_2
    far = length(x_1, x_2)
    if far <= reach:
        return w_1, w_2
    share = reach / far
    return z_1 - share * x_1, z_2 - share * x_2


@inline
def draw_in(z: Any, table: Any, sizes: Any, d: Any) -> None:
    """Move what lies outside of disc d to its edge."""
    disc, size = d * DISC_INTEGERS, d * DISC_DOUBLES
    first, two = table[disc + D_FIRST], table[disc + D_WIDTH] == 2
    reach = sizes[size + D_MU] * z[table[disc + D_NORMAL]] + sizes[size + D_OFFSET]
    far = length(z[first], z[first + 1] if two else 0.0)
    if far > reach:
        z[first] *= reach / far
        if two:
            z[first + 1] *= reach / far


@inline
def disc_off(z: Any, w: Any, table: Any, sizes: Any, d: Any, rho: Any) -> Any:
    """Return z - P(z - rho w) on disc d."""
    disc, size = d * DISC_INTEGERS, d * DISC_DOUBLES
    first, two = table[disc + D_FIRST], table[disc + D_WIDTH] == 2
    reach = sizes[size + D_MU] * max(z[table[disc + D_NORMAL]], 0.0) + sizes[size + D_OFFSET]
    z_2, w_2 = (z[first + 1], w[first + 1]) if two else (0.0, 0.0)
    return disc_gap(z[first], z_2, rho * w[first], rho * w_2, reach)


@callee
def fit(z, lower, upper, table, sizes):  # type: ignore[no-untyped-def]
    """Clip z into its bounds, then move what lies outside of its disc to the edge."""
    clip_into(lower, upper, z)
    for d in range(sizes.shape[0] // DISC_DOUBLES):
        draw_in(z, table, sizes, d)


@callee
def row_errors(z, w, lower, upper, table, sizes, off):  # type: ignore[no-untyped-def]
    """Write what every row is off by, +inf where anything is not finite."""
    for i in range(z.shape[0]):
        finite = math.isfinite(z[i]) and math.isfinite(w[i])
        off[i] = natural_entry(z[i], w[i], lower[i], upper[i]) if finite else math.inf
    for d in range(sizes.shape[0] // DISC_DOUBLES):
        first = table[d * DISC_INTEGERS + D_FIRST]
        gap_1, gap_2 = disc_off(z, w, table, sizes, d, 1.0)
        off[first] = abs(gap_1) if math.isfinite(gap_1) else math.inf
        if table[d * DISC_INTEGERS + D_WIDTH] == 2:
            off[first + 1] = abs(gap_2) if math.isfinite(gap_2) else math.inf


@callee
def block_scales(q, table, scale):  # type: ignore[no-untyped-def]
    """Write the scale of every row: 1 + |q_i|, the largest one of its contact."""
    for i in range(q.shape[0]):
        scale[i] = 1.0 + abs(q[i])
    for into in (True, False):
        for d in range(table.shape[0] // DISC_INTEGERS):
            normal, first = table[d * DISC_INTEGERS + D_NORMAL], table[d * DISC_INTEGERS + D_FIRST]
            for i in range(first, first + table[d * DISC_INTEGERS + D_WIDTH]):
                if into:
                    scale[normal] = max(scale[normal], scale[i])
                else:
                    scale[i] = scale[normal]


@callee
def excuse_discs(z, w, table, sizes, reach, off, scale, sums):  # type: ignore[no-untyped-def]
    """Forget what rows on discs are off by where that is rounding of z and of the sums."""
    for d in range(sizes.shape[0] // DISC_DOUBLES):
        first = table[d * DISC_INTEGERS + D_FIRST]
        last = first + table[d * DISC_INTEGERS + D_WIDTH] - 1
        if max(off[first], off[last]) <= ROUNDING * scale[first]:
            continue
        impulse, speed = max(abs(z[first]), abs(z[last])), max(abs(w[first]), abs(w[last]))
        rho = impulse / speed if impulse > 0.0 and speed > 0.0 else 1.0
        gap_1, gap_2 = disc_off(z, w, table, sizes, d, rho)
        rounding = ROUNDING * (min(impulse, reach) + rho * max(sums[first], sums[last]))
        if max(abs(gap_1), abs(gap_2)) <= rounding:
            off[first] = off[last] = 0.0


@callee
def judge(q, lower, upper, table, sizes, z, w, reach, work):  # type: ignore[no-untyped-def]
    """Return the judged residual for given w, work as of `JUDGING`; +inf when anything is not finite.

    Args:
        reach: size that the data give to z, see `mcpframe.problem.residual`; 0 to excuse no rounding.
    """
    n = q.shape[0]
    off, scale, sums = window(work, 0, n), window(work, n, n), window(work, 2 * n, n)
    row_errors(z, w, lower, upper, table, sizes, off)
    block_scales(q, table, scale)
    if reach > 0.0:
        excuse_discs(z, w, table, sizes, reach, off, scale, sums)
    worst, largest = 0.0, 1.0
    for i in range(n):
        largest = max(largest, scale[i])
        if reach > 0.0 and off[i] > ROUNDING * scale[i] and abs(w[i]) <= ROUNDING * sums[i]:
            continue
        worst = max(worst, off[i] / scale[i])
    return worst * largest


@kernel(Matrix, Vector, Vector, Vector, Indices, Vector, VectorOut, VectorOut, VectorOut)
def certify_cones(M, q, lower, upper, table, sizes, z, w, work):  # type: ignore[no-untyped-def]
    """Move z into its bounds and discs, write w = M z + q, return the judged residual."""
    n, largest = q.shape[0], 1.0
    fit(z, lower, upper, table, sizes)
    for i in range(n):
        w[i] = q[i] + row_dot(M, i, z, 0, n)
        largest = max(largest, 1.0 + abs(q[i]))
    judged = judge(q, lower, upper, table, sizes, z, w, 0.0, work)
    if judged > ROUNDING * largest:
        reach, sums = reach_of(M, q), window(work, 2 * n, n)
        for i in range(n):
            sums[i] = terms(M, i, z, reach)
        judged = judge(q, lower, upper, table, sizes, z, w, reach, work)
    return judged


@kernel(VectorOut, Vector, Vector, Indices, Vector)
def move_within(z, lower, upper, table, sizes):  # type: ignore[no-untyped-def]
    """As `fit`."""
    fit(z, lower, upper, table, sizes)


@kernel(Vector, Vector, Vector, Indices, Vector, Vector, Vector, types.float64, VectorOut)
def judge_cones(q, lower, upper, table, sizes, z, w, reach, work):  # type: ignore[no-untyped-def]
    """As `judge`, for problems whose M is not dense."""
    return judge(q, lower, upper, table, sizes, z, w, reach, work)


def _each(name: str, value: ArrayLike, k: int) -> Array:
    values = real_array(name, value)
    if values.shape not in ((), (k,)):
        raise ProblemError(f"discs: {name} has shape {values.shape}, expected ({k},) or a scalar")
    return np.broadcast_to(values, k).astype(np.float64)
