"""Diagnosis of a contact problem at acceleration level: how many answers it has, and whether they last.

With the compliance W of all limits and contacts, closures eliminated, and unknowns as [S00, Eqs. (8)-(12)],

    x = [λ_l; λ_N; λ_TR],    A = [G_l; G_N; G_TR] W [G_l; G_N - mu e G_T; G_TR]*,    y = A x + b,

y >= 0 ⟂ x >= 0 but for the tangents of sticking contacts, which are equations: they are eliminated, and what
is left is a linear complementarity problem in normal forces. Rigid forces are determined where rows are
independent, unique for all loads where A is a P-matrix, and stable where a thin layer settles to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array
from mcpframe.contact.acceleration_step import AccelerationStep
from mcpframe.contact.law import FORCE_1, FORCE_N
from mcpframe.diagnosis.enumeration import MOST_ROWS, all_solutions
from mcpframe.diagnosis.layer import Layer
from mcpframe.diagnosis.p_matrix import TESTS, decided, margin_of
from mcpframe.exceptions import ModelError
from mcpframe.problem.problems import MixedLCP
from mcpframe.solving.registry import formulation as find_formulation

REPEATED = 1e-10
"""Eigenvalue of the compliance of the rows, as a share of the largest, below which a row repeats others."""


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What a contact problem at acceleration level is like; parts are computed when asked for.

    Attributes:
        step: the step.
        rows: G as rows on the components of limits and contacts: G_l, G_N, G_TR one below the other [r, n_v].
        friction: e G_T of sliding contacts, in the order of λ_l, λ_N, zero for others [n, n_v].
        mu: friction coefficients in that order, zero for limits and sticking contacts [n].
        W: compliance of all components [n_v, n_v].
        free: accelerations of all components without contact forces [n_v].
        n_dofs: degrees of freedom that closures leave.
        layer: of every contact, for stability.
    """

    step: AccelerationStep
    rows: Array
    friction: Array
    mu: Array
    W: Array
    free: Array
    n_dofs: int
    layer: Layer

    @property
    def n(self) -> int:
        """Number of limits and contacts."""
        return len(self.mu)

    def matrix(self, mu: ArrayLike | None = None) -> Array:
        """Return A [r, r], for other friction coefficients of limits and contacts [n] if given."""
        chosen = self.mu if mu is None else np.asarray(mu, dtype=np.float64)
        columns = self.rows.copy()
        columns[: self.n] -= chosen[:, None] * self.friction
        matrix: Array = self.rows @ self.W @ columns.T
        return matrix

    @cached_property
    def A(self) -> Array:
        """Matrix of the problem [r, r], sticking tangents last."""
        return self.matrix()

    @cached_property
    def b(self) -> Array:
        """Accelerations without contact forces [r]."""
        b: Array = self.rows @ self.free
        return b

    @cached_property
    def problem(self) -> MixedLCP:
        """The problem (A, b) with the tangents of sticking contacts free: for any solver."""
        lower = np.where(np.arange(len(self.b)) < self.n, 0.0, -np.inf)
        return MixedLCP(self.A, self.b, lower)

    def normal_matrix(self, mu: ArrayLike | None = None) -> Array:
        """Return A with the sticking tangents eliminated, A_nn - A_nt A_tt^-1 A_tn [n, n]."""
        A, n = self.matrix(mu), self.n
        eliminated: Array = A[:n, :n] - A[:n, n:] @ _solved(A[n:, n:], A[n:, :n])
        return eliminated

    @cached_property
    def normal_b(self) -> Array:
        """The constants that go with it [n]."""
        n = self.n
        b: Array = self.b[:n] - self.A[:n, n:] @ _solved(self.A[n:, n:], self.b[n:])
        return b

    @cached_property
    def rank(self) -> int:
        """Number of independent rows."""
        size = np.linalg.eigvalsh(self.rows @ self.W @ self.rows.T) if len(self.rows) else np.zeros(0)
        return int((size > REPEATED * size.max(initial=0.0)).sum())

    @property
    def determinate(self) -> bool:
        """Whether all rows are independent, so that forces are determined by the motion."""
        return self.rank == len(self.rows)

    @cached_property
    def _decided(self) -> int:
        return decided(self.normal_matrix()) if self.determinate else 0

    @property
    def is_p_matrix(self) -> bool | None:
        """Whether there is one solution for all loads; None where no test has decided."""
        if not self.determinate:
            return False
        return None if self._decided == 0 else self._decided > 0

    @property
    def test(self) -> str:
        """Which test has decided."""
        return TESTS[abs(self._decided)] if self.determinate else "rank"

    @cached_property
    def margin(self) -> float:
        """Least principal minor over the product of its diagonal entries; NaN for more than 16 rows."""
        return margin_of(self.normal_matrix())

    @cached_property
    def growth(self) -> float:
        """Largest growth rate of the layer, 1/s; the rigid forces are stable where it is negative.

        Limits have no layer: they are eliminated.
        """
        A, n_l = self.A, self.n - self.step.n_u
        return self.layer.growth(A[n_l:, n_l:] - A[n_l:, :n_l] @ _solved(A[:n_l, :n_l], A[:n_l, n_l:]))

    @property
    def is_stable(self) -> bool:
        """Whether the layer settles to the rigid forces."""
        return self.growth < 0.0

    @property
    def is_rigid(self) -> bool:
        """Whether the rigid model can be trusted: determined, unique for all loads and stable."""
        return self.is_p_matrix is True and self.is_stable

    @cached_property
    def solutions(self) -> list[Array] | None:
        """All forces x that solve the problem [r], the isolated ones; None for more than 12 rows."""
        if self.n > MOST_ROWS or not self.determinate:
            return None
        normals, n = all_solutions(self.normal_matrix(), self.normal_b), self.n
        tangents = [-_solved(self.A[n:, n:], self.A[n:, :n] @ x + self.b[n:]) for x in normals]
        return [np.concatenate(pair) for pair in zip(normals, tangents, strict=True)]

    def modes(self, solution: Array) -> list[str]:
        """Return "open", "touching" at the limit of both, or "closed" of every limit and contact."""
        y = self.A @ solution + self.b
        scale = np.abs(self.b).max(initial=1.0)
        names = []
        for force, speed in zip(solution[: self.n], y[: self.n], strict=True):
            names.append("closed" if force > 0.0 else ("open" if speed > REPEATED * scale else "touching"))
        return names

    def largest_mu(self, contacts: Sequence[int] | None = None) -> float:
        """Return the friction coefficient, common to sliding contacts, up to which A is a P-matrix.

        det (G - mu H)_αα falls to zero first at 1/λ, λ the largest positive eigenvalue of G_αα^-1 H_αα: the
        least over all sets α. Infinite where friction does no harm.

        Args:
            contacts: which ones it is common to, others keep theirs; all that slide unless given.

        Raises:
            ModelError: more than 12 rows, or rows that repeat each other.
        """
        if self.n > MOST_ROWS or not self.determinate:
            why = f"{self.n} rows, {MOST_ROWS} at most" if self.determinate else "rows repeat each other"
            raise ModelError(f"largest_mu: {why}")
        n_l = self.n - self.step.n_u
        chosen = np.zeros(self.n)
        chosen[n_l + np.arange(self.step.n_u) if contacts is None else n_l + np.asarray(contacts)] = 1.0
        others = self.mu * (1.0 - chosen)
        G = self.normal_matrix(others)
        H = G - self.normal_matrix(others + chosen)
        largest = 0.0
        for subset in range(1, 1 << self.n):
            i = [k for k in range(self.n) if subset >> k & 1]
            values = np.linalg.eigvals(np.linalg.solve(G[np.ix_(i, i)], H[np.ix_(i, i)]))
            real = values.real[np.abs(values.imag) <= REPEATED * np.abs(values).max(initial=0.0)]
            largest = max(largest, float(real.max(initial=0.0)))
        return 1.0 / largest if largest > REPEATED else np.inf

    def margins(self, first: Sequence[int], second: Sequence[int], mu: ArrayLike) -> Array:
        """Return margins over the plane of two friction coefficients [k, k]: the picture of [S00, Fig. 10].

        Args:
            first, second: contacts that have one and the other; the rest keep theirs.
            mu: values of both [k]; the first along rows.
        """
        values, n_l = np.asarray(mu, dtype=np.float64), self.n - self.step.n_u
        picture = np.zeros((values.size, values.size))
        for i, one in enumerate(values):
            for j, other in enumerate(values):
                chosen = self.mu.copy()
                chosen[n_l + np.asarray(first)], chosen[n_l + np.asarray(second)] = one, other
                picture[i, j] = margin_of(self.normal_matrix(chosen))
        return picture

    def __str__(self) -> str:
        return ". ".join(self._sentences()) + "."

    def _sentences(self) -> list[str]:
        modes = self.step.modes
        kinds = f"{modes.count('sticking')} sticking, {modes.count('sliding')} sliding contacts"
        said = [f"{kinds}, {self.n - len(modes)} limits"]
        if not self.determinate:
            rows = f"{len(self.rows)} rows of rank {self.rank} on {self.n_dofs} degrees of freedom"
            return [*said, f"{rows}: forces are not determined"]
        if self.is_p_matrix is None:
            said.append("uniqueness is undecided: too many rows for the exact test")
        else:
            unique = "one solution for every load" if self.is_p_matrix else "no or several for some loads"
            said.append(f"{unique} ({self.test}, margin {self.margin:.4f})")
        if self.solutions is not None:
            said.append(f"{len(self.solutions)} solution{'s' * (len(self.solutions) != 1)} for this load")
        settles = (
            "a layer settles to the rigid forces" if self.is_stable else "a layer leaves the rigid forces"
        )
        said.append(f"{settles} (rate {self.growth:.4g} 1/s)")
        return said


def diagnose(step: AccelerationStep, formulation: str = "os", layer: Layer | None = None) -> Diagnosis:
    """Return the diagnosis of a step at acceleration level.

    Args:
        step: its state, contacts and limits.
        formulation: who writes the rows; they are the same in all.
        layer: stiffness and damping of the contacts, for stability; [S00]'s with scale 1e-3 and the mass of
            the model unless given.
    """
    if not isinstance(step, AccelerationStep):
        raise ModelError(f"diagnose: {type(step).__name__} is no AccelerationStep")
    rows = find_formulation(formulation).rows(step)
    if rows is None:
        raise ModelError(f"diagnose: formulation {formulation!r} writes no rows in contact components")
    W, free = rows.without_head()
    n_l, n_v = rows.unknowns.n_l, len(W)
    G, friction, mu = _normal_rows(step, n_l, n_v)
    tangents = _sticking_rows(step, W, n_l, n_v)
    mass = float(sum(link.mass for link in step.state.model.links))
    chosen = Layer.scaled(1e-3, mass) if layer is None else layer
    n_dofs = step.state.model.n_dofs - _closure_rank(step)
    return Diagnosis(step, np.vstack([G, tangents]), friction, mu, W, free, n_dofs, chosen)


def _starts(step: AccelerationStep, n_l: int) -> NDArray[np.int64]:
    """Return where the components of every contact begin."""
    sizes = [law.used.size for law in step.law_rows]
    return np.asarray(n_l + np.cumsum([0, *sizes])[:-1], dtype=np.int64)


def _normal_rows(step: AccelerationStep, n_l: int, n_v: int) -> tuple[Array, Array, Array]:
    """Return rows of limits and normals, of slip directions, and friction coefficients."""
    n = n_l + step.n_u
    G, friction, mu = np.zeros((n, n_v)), np.zeros((n, n_v)), np.zeros(n)
    G[:n_l, :n_l] = np.eye(n_l)
    for i, (law, start, mode) in enumerate(zip(step.law_rows, _starts(step, n_l), step.modes, strict=True)):
        components = start + np.arange(law.used.size)
        G[n_l + i, components[law.used == FORCE_N]] = 1.0
        if mode == "sliding" and law.m == 2:
            friction[n_l + i, components] = law.C[:, 1]
            mu[n_l + i] = law.P[0, 0]
    return G, friction, mu


def _sticking_rows(step: AccelerationStep, W: Array, n_l: int, n_v: int) -> Array:
    """Return rows of the tangents of sticking contacts along which their bodies can move at all."""
    rows, size = [np.zeros((0, n_v))], np.abs(W.diagonal()).max(initial=0.0)
    for law, start, mode in zip(step.law_rows, _starts(step, n_l), step.modes, strict=True):
        if mode == "sticking" and law.mu:
            components = start + np.flatnonzero(law.used >= FORCE_1)
            values, vectors = np.linalg.eigh(W[np.ix_(components, components)])
            for vector in vectors.T[values > REPEATED * size]:
                row = np.zeros((1, n_v))
                row[0, components] = vector
                rows.append(row)
    return np.vstack(rows)


def _closure_rank(step: AccelerationStep) -> int:
    G = step.bilateral.jacobian(step.state)
    return int(np.linalg.matrix_rank(G)) if G.size else 0


def _solved(matrix: Array, right: Array) -> Array:
    """Return matrix^-1 right; of the least norm where rows repeat each other."""
    if len(matrix) == 0:
        return np.zeros((0, *right.shape[1:]))
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=REPEATED)[0], dtype=np.float64)
