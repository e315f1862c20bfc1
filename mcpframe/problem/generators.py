"""Seeded problems: contact LCPs with the structure of [J14, Eq. (41)], and random classes for tests.

A contact problem is made from a contact map J, an inverse mass matrix, a velocity v- and friction
coefficients, as a formulation would make it:

    M = [[A, Ehat], [Ebar, 0]],   A = Dbar* J* Mass^-1 J Dbar,   q = [Dbar* J* v-; 0].

z'Mz = beta'A beta + sum(mu F_n sigma) >= 0 for z >= 0, so M is copositive; q lies in the range of the
contact map, so z'q = 0 wherever z'Mz = 0, and a solution exists [Cottle, Pang, Stone, Theorem 4.4.12].

Families (n_u contacts, N dofs): ``full``, independent contacts, N = 4 n_u; ``redundant``, N = n_u, so that
rank A = n_u; ``boxes``, stacked rigid boxes with 4 to 8 coplanar contacts each (hyperstatic, N about n_u);
``chain``, a thread of links with two-axis hinges that lies on the floor, N = 2 n_u.

The random classes (`random_lcp`) are small problems of every kind a solver may meet, most of them with a
solution by construction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mcpframe.exceptions import OptionError, nearest
from mcpframe.problem.friction import FrictionProblem
from mcpframe.problem.problems import MixedLCP

Array = NDArray[np.float64]
Rng = np.random.Generator

GRAVITY = 9.81
"""m/s^2."""
TIME_STEP = 0.01
"""Seconds of gravity in the velocity that a contact has to stop."""
UP = np.array([0.0, 0.0, 1.0])
FLOOR_FRAME = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
"""Columns: the normal, which is up, and two tangents."""


class Drift(Protocol):
    """How a quantity has changed since the moment of the seed: by a relative amount times its size."""

    def __call__(self, x: Array, size: float = 1.0) -> Array:
        """Return the quantity x a moment later."""
        ...


@dataclass(frozen=True, eq=False)
class ContactSystem:
    """What the contact LCP of one time step is made from.

    Attributes:
        J: contact map, dofs by contact frames (normal, two tangents) [N, 3 n_u]: contact velocity is J* v.
        mass_inverse: [N, N].
        v_minus: velocity before the step [N].
        mu: friction coefficients [n_u].
    """

    J: Array
    mass_inverse: Array
    v_minus: Array
    mu: Array

    def problem(self, n_f: int = 4) -> MixedLCP:
        """Return the LCP of the step, z = [beta; sigma], with n_f friction directions per contact."""
        return self.exact_problem().to_mixed_lcp(n_f)

    def exact_problem(self) -> FrictionProblem:
        """Return the step's problem with the exact friction cone, W = J* Mass^-1 J."""
        W = self.J.T @ self.mass_inverse @ self.J
        return FrictionProblem(0.5 * (W + W.T), self.J.T @ self.v_minus, self.mu)

    def shaken(self, change: float, seed: int = 0) -> ContactSystem:
        """Return a neighbour that no motion leads to: every entry of J and v- moves by itself.

        Contacts of one face are then no longer coplanar, so it is a harder neighbour than ``change`` of
        `contact_lcp` gives: which of them carry the load may change altogether.
        """
        noise = np.random.default_rng(seed)
        J = self.J * (1.0 + change * noise.standard_normal(self.J.shape))
        size = np.abs(self.v_minus).mean()
        return replace(
            self, J=J, v_minus=self.v_minus + change * size * noise.standard_normal(self.v_minus.size)
        )


def contact_lcp(
    n_u: int, family: str = "full", *, n_f: int = 4, seed: int = 0, change: float = 0.0
) -> MixedLCP:
    """Return a contact LCP of size n_u (n_f + 2); it has a solution.

    Args:
        n_u: number of contacts.
        family: one of `FAMILIES`.
        n_f: friction directions per contact, even.
        seed: same arguments, same bits.
        change: how far the system has moved on, relative to its size; 1e-3 is about one step of 1 ms. The
            same seed with a small change gives a neighbour for warm starts.
    """
    return contact_system(n_u, family, seed=seed, change=change).problem(n_f)


def contact_system(n_u: int, family: str = "full", *, seed: int = 0, change: float = 0.0) -> ContactSystem:
    """Return the system behind `contact_lcp`."""
    if family not in FAMILIES:
        raise OptionError(f"family {family!r};{nearest(family, FAMILIES)} known: {', '.join(FAMILIES)}")
    if n_u < 1:
        raise OptionError(f"n_u = {n_u!r}: at least one contact is needed")
    rng, noise = (np.random.default_rng([list(FAMILIES).index(family), n_u, seed, k]) for k in (0, 1))

    def drift(x: Array, size: float = 1.0) -> Array:
        """Return the quantity x a moment later."""
        return np.asarray(x + change * size * noise.standard_normal(np.shape(x)))

    return FAMILIES[family](n_u, rng, drift)


def _full(n_u: int, rng: Rng, drift: Drift) -> ContactSystem:
    return _random_contacts(4 * n_u, n_u, rng, drift)


def _redundant(n_u: int, rng: Rng, drift: Drift) -> ContactSystem:
    return _random_contacts(n_u, n_u, rng, drift)


def _random_contacts(N: int, n_u: int, rng: Rng, drift: Drift) -> ContactSystem:
    """Return a random contact map with unit columns and a well-conditioned mass matrix."""
    J = drift(rng.standard_normal((N, 3 * n_u)))
    J /= np.linalg.norm(J, axis=0)
    L = np.eye(N) + 0.3 * rng.standard_normal((N, N)) / np.sqrt(N)
    return ContactSystem(J, L @ L.T, drift(rng.standard_normal(N)), _friction(n_u, rng))


def _friction(n_u: int, rng: Rng) -> Array:
    return rng.uniform(0.2, 1.0, n_u)


def _boxes(n_u: int, rng: Rng, drift: Drift) -> ContactSystem:
    """Return towers of boxes, [omega; v] per box at its centre, that fall onto each other and slide."""
    groups = np.array_split(np.arange(n_u), max(1, round(n_u / 6)))
    n_boxes = len(groups)
    J = np.zeros((6 * n_boxes, 3 * n_u))
    size = rng.uniform(0.1, 0.5, (n_boxes, 3))
    mass = 10.0 ** rng.uniform(0.0, 2.0, n_boxes)
    inertia = mass[:, None] / 3.0 * ((size**2).sum(axis=1, keepdims=True) - size**2)
    yaw, slid = drift(rng.uniform(0.0, 2.0 * np.pi, n_boxes)), drift(np.zeros((n_boxes, 2)), 0.3)
    for k, contacts in enumerate(groups):
        on_floor = k % 3 == 0  # every third box starts a tower, the others stand on the one before
        foot = _rim(len(contacts)) * (size[k] if on_floor else np.minimum(size[k], size[k - 1]))
        foot = foot @ _turn(yaw[k]).T
        for i, point in zip(contacts, foot, strict=True):
            columns = slice(3 * i, 3 * i + 3)
            J[6 * k : 6 * k + 6, columns] = _wrench(point - size[k, 2] * UP)
            if not on_floor:
                J[6 * k - 6 : 6 * k, columns] = -_wrench(point + np.r_[slid[k], size[k - 1, 2]])
    mass_inverse = np.diag((1.0 / np.c_[inertia, mass, mass, mass]).ravel())
    v = drift(rng.normal(0.0, 0.3, (n_boxes, 6)), 0.3) - GRAVITY * TIME_STEP * np.r_[0, 0, 0, UP]
    return ContactSystem(J, mass_inverse, v.ravel(), _friction(n_u, rng))


def _rim(count: int) -> Array:
    """Return points on the rim of the unit square in the plane z = 0: corners, then middles of edges."""
    x = np.array([1.0, -1.0, -1.0, 1.0, 1.0, 0.0, -1.0, 0.0])
    y = np.array([1.0, 1.0, -1.0, -1.0, 0.0, 1.0, 0.0, -1.0])
    return np.column_stack([x, y, np.zeros(8)])[:count]


def _turn(yaw: float) -> Array:
    """Return the rotation about the vertical."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _wrench(arm: Array) -> Array:
    """Return [moment; force] at the centre of unit forces along the contact frame at the arm [6, 3]."""
    return np.vstack([np.cross(arm, FLOOR_FRAME.T).T, FLOOR_FRAME])


def _chain(n_u: int, rng: Rng, drift: Drift) -> ContactSystem:
    """Return a thread of unit masses; link j points along d = (cos p cos y, cos p sin y, sin p)."""
    length = 1.0 / n_u
    yaw, pitch = drift(np.cumsum(rng.normal(0.0, 0.5, n_u))), drift(rng.normal(0.0, 0.05, n_u))
    d_yaw = np.c_[-np.cos(pitch) * np.sin(yaw), np.cos(pitch) * np.cos(yaw), np.zeros(n_u)]
    d_pitch = np.c_[-np.sin(pitch) * np.cos(yaw), -np.sin(pitch) * np.sin(yaw), np.cos(pitch)]
    column = length * np.vstack([d_yaw, d_pitch])
    reaches = np.tile(np.tri(n_u), 2)  # point i moves with the links j <= i
    velocity_map = reaches[:, :, None] * column[None, :, :]
    mass_matrix = np.einsum("ijx,ikx->jk", velocity_map, velocity_map) + length**2 / 12.0 * np.eye(2 * n_u)
    mass_inverse = np.linalg.inv(mass_matrix)
    J = np.concatenate([velocity_map[i] @ FLOOR_FRAME for i in range(n_u)], axis=1)
    fall = mass_inverse @ velocity_map[:, :, 2].sum(axis=0) * -GRAVITY * TIME_STEP
    v_minus = drift(rng.normal(0.0, 0.3, 2 * n_u), 0.3) + fall
    return ContactSystem(J, 0.5 * (mass_inverse + mass_inverse.T), v_minus, _friction(n_u, rng))


FAMILIES: dict[str, Callable[[int, Rng, Drift], ContactSystem]] = {
    "full": _full,
    "redundant": _redundant,
    "boxes": _boxes,
    "chain": _chain,
}
"""Families of contact systems by name."""


def random_lcp(kind: str, n: int, *, seed: int = 0) -> MixedLCP:
    """Return a random mixed LCP of a class of `CLASSES`; those in `SOLVABLE` have a solution."""
    if kind not in CLASSES:
        raise OptionError(f"class {kind!r};{nearest(kind, CLASSES)} known: {', '.join(CLASSES)}")
    return CLASSES[kind](n, np.random.default_rng([list(CLASSES).index(kind), n, seed]))


def _planted(M: Array, rng: Rng, lower: Array, upper: Array, *, integer: bool = False) -> MixedLCP:
    """Return a problem with a known solution: z at a bound or inside, w of the sign that goes with it.

    Two of five rows are degenerate: at a bound with w = 0.
    """
    n = M.shape[0]
    start = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2.0, -1.0))
    end = np.where(np.isfinite(upper), upper, start + 2.0)
    z = start + (0.5 if integer else rng.uniform(0.2, 0.8, n)) * (end - start)
    w = np.ones(n) if integer else rng.uniform(0.5, 1.5, n)
    place = rng.choice(5, n)  # 0: inside, 1 and 3: at lower, 2 and 4: at upper; the last two with w = 0
    at_lower, at_upper = (place % 2 == 1) & np.isfinite(lower), np.isin(place, (2, 4)) & np.isfinite(upper)
    z = np.where(at_lower, lower, np.where(at_upper, upper, z))
    w = np.where(at_lower, w, np.where(at_upper, -w, 0.0)) * (place <= 2)
    return MixedLCP(M, w - M @ z, lower, upper)


def _psd(n: int, rng: Rng) -> Array:
    """Return a matrix whose symmetric part is PSD of about half rank."""
    B, C = rng.standard_normal((n, (n + 1) // 2)), rng.standard_normal((n, n))
    return np.asarray(B @ B.T + 0.5 * (C - C.T))


def _nonnegative(n: int) -> tuple[Array, Array]:
    return np.zeros(n), np.full(n, np.inf)


def _bounds(n: int, rng: Rng) -> tuple[Array, Array]:
    """Return bounds of all kinds: none, one, two, equal."""
    lower = np.where(rng.random(n) < 0.7, rng.integers(-2, 2, n), -np.inf)
    width = np.where(rng.random(n) < 0.2, 0, rng.integers(1, 4, n))
    upper = np.where(rng.random(n) < 0.5, np.where(np.isfinite(lower), lower, 0) + width, np.inf)
    return lower, upper


def _monotone(n: int, rng: Rng) -> MixedLCP:
    return _planted(_psd(n, rng), rng, *_nonnegative(n))


def _p_matrix(n: int, rng: Rng) -> MixedLCP:
    return MixedLCP(_psd(n, rng) + np.eye(n), rng.standard_normal(n))


def _copositive(n: int, rng: Rng) -> MixedLCP:
    """Strictly copositive (PSD + positive), so there is a solution for every q."""
    return MixedLCP(_psd(n, rng) + rng.uniform(0.1, 2.0, (n, n)), rng.standard_normal(n))


def _degenerate(n: int, rng: Rng) -> MixedLCP:
    M = rng.integers(-2, 3, (n, n)).astype(float)
    return _planted(M, rng, *_nonnegative(n), integer=True)


def _infeasible(n: int, rng: Rng) -> MixedLCP:
    """One row has w < 0 for every z >= 0."""
    if n < 1:
        raise OptionError(f"n = {n!r}: a problem without rows is never infeasible")
    M, q = rng.standard_normal((n, n)), rng.standard_normal(n)
    i = rng.integers(n)
    M[i], q[i] = -np.abs(M[i]), -1.0
    return MixedLCP(M, q)


def _free(n: int, rng: Rng) -> MixedLCP:
    lower = np.where(rng.random(n) < 0.5, -np.inf, 0.0)
    return _planted(_psd(n, rng), rng, lower, np.full(n, np.inf))


def _box(n: int, rng: Rng) -> MixedLCP:
    """A compact box: there is a solution for every M and q."""
    lower = rng.uniform(-2.0, 0.0, n)
    upper = lower + rng.uniform(0.0, 3.0, n) * (rng.random(n) < 0.9)
    return MixedLCP(rng.standard_normal((n, n)), rng.standard_normal(n), lower, upper)


def _mixed(n: int, rng: Rng) -> MixedLCP:
    return _planted(_psd(n, rng), rng, *_bounds(n, rng))


def _arbitrary(n: int, rng: Rng) -> MixedLCP:
    """Any M, q and bounds: it may have no solution, one, or many."""
    M = rng.standard_normal((n, n)) * (rng.random((n, n)) < rng.choice([0.3, 0.7, 1.0]))
    return MixedLCP(M, rng.standard_normal(n), *_bounds(n, rng))


def _scaled(n: int, rng: Rng) -> MixedLCP:
    """A monotone problem in other units: R M C, R q with factors over twelve decades."""
    base = _monotone(n, rng)
    R, C = 10.0 ** rng.uniform(-6.0, 6.0, n), 10.0 ** rng.uniform(-6.0, 6.0, n)
    return MixedLCP(R[:, None] * base.M_dense * C, R * base.q)


def _contact(n: int, rng: Rng) -> MixedLCP:
    """A contact LCP of about n rows."""
    family = rng.choice(list(FAMILIES))
    return contact_lcp(max(1, n // 6), str(family), seed=int(rng.integers(2**31)))


CLASSES: dict[str, Callable[[int, Rng], MixedLCP]] = {
    "monotone": _monotone,
    "p_matrix": _p_matrix,
    "copositive": _copositive,
    "degenerate": _degenerate,
    "infeasible": _infeasible,
    "free": _free,
    "box": _box,
    "mixed": _mixed,
    "arbitrary": _arbitrary,
    "scaled": _scaled,
    "contact": _contact,
}
"""Classes of random problems by name."""

SOLVABLE = frozenset(CLASSES) - {"infeasible", "arbitrary"}
"""Classes whose problems have a solution by construction."""
