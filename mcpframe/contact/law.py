"""What a contact law says about one contact, and how a step asks for it.

In the contact's frame a wrench has the six components [moment about n, t_1, t_2; force along n, t_1, t_2].
A law gives the wrench directions Wd [6, m] that the contact can use, slacks σ and bounds; with V_rel the
velocity of A relative to B at the contact's point, in the same components, its rows are

    Wd* V_rel + N σ  _|_  β,       P β + R σ + r  _|_  σ,

and the impulsive wrench on A is Wd β. Coulomb's law on a polyhedral cone is N = Ehat, P = Ebar, R = 0, r = 0
[J14, Eq. (14)]. A contact that yields has V_rel + S Wd β in place of V_rel, S a diagonal compliance; one
with a layer (`mcpframe.contact.layers`) yields as much as the layer says step by step, and remembers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array, check_finite, frozen, real_array
from mcpframe.contact.layers.layer import ContactLayer
from mcpframe.exceptions import OptionError, ProblemError

if TYPE_CHECKING:
    from mcpframe.contact.contact import Contact

MOMENT_N, MOMENT_1, MOMENT_2, FORCE_N, FORCE_1, FORCE_2 = range(6)
"""Rows of Wd."""
MOST_DISCS = 3
"""Discs that a law may have: against sliding, spinning and rolling."""
UNIT = 1e-12
"""How far the length of a friction direction may be from one: rounding is 1e-16."""
REMEMBERED = 1000
"""How many rows of laws are kept for later steps."""


@dataclass(frozen=True, eq=False, init=False)
class LawRows:
    """The rows of one contact; what is left out is zero, bounds are [0, inf] and may be scalars.

    Attributes:
        Wd: wrench directions in the contact's frame [6, m].
        N, P, R, r: couplings of β [m] and σ [s]: [m, s], [s, m], [s, s], [s].
        beta_lower, beta_upper: bounds of β, impulses [m].
        sigma_lower, sigma_upper: bounds of σ [s].
        mu: friction coefficient where the rows are Coulomb's polyhedral cone, β = [F_n; β_1 .. β_nf] with
            one σ, so that solvers can use the structure; else None.
        discs: rows of β that lie on discs |β_D| <= mu F_n, exact cones: (first β, how many, mu) of each.
        compliance: by how much the contact yields to a unit of each component of the impulsive wrench, not
            negative [6], m/s per N s or rad/s per N m s.
        layer: what lies between the surfaces, and yields and remembers besides; None for nothing.
        used: which components of the wrench are used: rows of Wd that are not zero [r].
        C: those rows of Wd [r, m].
    """

    Wd: Array
    N: Array
    P: Array
    R: Array
    r: Array
    beta_lower: Array
    beta_upper: Array
    sigma_lower: Array
    sigma_upper: Array
    mu: float | None
    discs: tuple[tuple[int, int, float], ...]
    compliance: Array
    layer: ContactLayer | None
    used: NDArray[np.int64]
    C: Array

    def __init__(
        self,
        Wd: ArrayLike,
        N: ArrayLike | None = None,
        P: ArrayLike | None = None,
        R: ArrayLike | None = None,
        r: ArrayLike | None = None,
        *,
        beta_lower: ArrayLike = 0.0,
        beta_upper: ArrayLike = math.inf,
        sigma_lower: ArrayLike = 0.0,
        sigma_upper: ArrayLike = math.inf,
        mu: float | None = None,
        discs: Sequence[tuple[int, int, float]] = (),
        compliance: ArrayLike | None = None,
        layer: ContactLayer | None = None,
    ) -> None:
        m, s = _columns("Wd", Wd), 0 if N is None else _columns("N", N)
        directions = _part("Wd", Wd, (6, m), "(moment n, t_1, t_2; force n, t_1, t_2)")
        beta = _bounds("beta", beta_lower, beta_upper, m)
        sigma = _bounds("sigma", sigma_lower, sigma_upper, s)
        couplings = (_part("N", N, (m, s)), _part("P", P, (s, m)), _part("R", R, (s, s)), _part("r", r, (s,)))
        used = frozen(np.flatnonzero(directions.any(axis=1)))
        soft = _compliance(compliance), _layer(layer)
        parts = (
            directions,
            *couplings,
            *beta,
            *sigma,
            mu,
            tuple(discs),
            *soft,
            used,
            frozen(directions[used]),
        )
        vars(self).update(zip(self.__dataclass_fields__, parts, strict=True))  # the class is frozen
        if mu is not None:
            self._check_cone(mu)
        if discs:
            self._check_discs()

    def softened(self, *, compliance: ArrayLike | None = None, layer: ContactLayer | None = None) -> LawRows:
        """Return the same rows of a contact that yields."""
        other = copy(self)
        vars(other).update(compliance=_compliance(compliance), layer=_layer(layer))
        return other

    @property
    def m(self) -> int:
        """Number of β."""
        return int(self.Wd.shape[1])

    @property
    def s(self) -> int:
        """Number of σ."""
        return int(self.N.shape[1])

    @cached_property
    def normal(self) -> int:
        """Which β is the normal impulse F_n alone, a unit of it a unit of force; -1 where none is."""
        unit = np.zeros(6)
        unit[FORCE_N] = 1.0
        found = np.flatnonzero((self.Wd == unit[:, None]).all(axis=0))
        return int(found[0]) if found.size else -1

    def leaning(self, impulse: float) -> Array:
        """Return what a normal impulse besides F_n adds to the rows of σ, P e_n times it [s].

        So the bounds of a law that grow with F_n grow with the whole normal impulse, whatever the law: mu of
        it for Coulomb's, the budget of each group for `friction_rows`. Bounds that do not know of F_n, and
        laws without F_n among their unknowns, stay as they are.
        """
        none = self.normal < 0
        added: Array = np.zeros(self.s) if none else self.P[:, self.normal] * impulse
        return added

    @property
    def disc_rows(self) -> list[tuple[int, int]]:
        """First β and number of β of every disc."""
        return [disc[:2] for disc in self.discs]

    @property
    def disc_mu(self) -> Array:
        """Friction coefficients of the discs."""
        return np.array([mu for _, _, mu in self.discs])

    def disc_leaning(self, impulse: float) -> Array:
        """Return by how much a normal impulse besides F_n widens the discs, mu times it each."""
        wider: Array = self.disc_mu * impulse
        return wider

    @cached_property
    def C_star_inverse(self) -> Array:
        """Pseudo-inverse of C* [r, m]: reads V_rel, in the components used, back from C* V_rel."""
        return frozen(np.asarray(np.linalg.pinv(self.C.T), dtype=np.float64))

    def _check_discs(self) -> None:
        """Raise unless rows on discs are free of all else, and there is a normal impulse to lean on."""
        rows = [row for first, width, _ in self.discs for row in range(first, first + width)]
        fit = all(0 <= row < self.m for row in rows) and all(width in (1, 2) for _, width, _ in self.discs)
        if len(self.discs) > MOST_DISCS:
            raise ProblemError(f"discs: {len(self.discs)} are more than {MOST_DISCS}")
        if not (fit and self.normal >= 0 and len(set(rows) | {self.normal}) == len(rows) + 1):
            raise ProblemError(f"discs: {self.discs} are not rows of their own beside a normal impulse")
        bounded = np.isfinite(self.beta_lower[rows]) | np.isfinite(self.beta_upper[rows])
        if bounded.any() or self.N[rows].any() or self.beta_lower[self.normal] != 0.0:
            raise ProblemError(
                "discs: their rows have no bounds and no slacks, and the normal impulse is >= 0"
            )
        if not all(math.isfinite(mu) and mu >= 0.0 for _, _, mu in self.discs):
            raise ProblemError(f"discs: mu of {self.discs} must be finite and >= 0")

    def _check_cone(self, mu: float) -> None:
        """Raise unless the rows are those of Coulomb's cone with this mu, as `mu` promises to solvers."""
        E_hat = np.concatenate([[0.0], np.ones(max(self.m - 1, 0))])
        E_bar = np.concatenate([[mu], -np.ones(max(self.m - 1, 0))])
        n, tangents = np.eye(6)[FORCE_N], self.Wd[[FORCE_1, FORCE_2], 1:]
        promised = (
            self.s == 1 <= self.m
            and (self.Wd[:, 0] == n).all()
            and not self.Wd[:FORCE_1, 1:].any()
            and np.allclose(np.hypot(*tangents), 1.0, rtol=0.0, atol=UNIT)
            and (self.N[:, 0] == E_hat).all()
            and (self.P[0] == E_bar).all()
            and not (self.R.any() or self.r.any() or self.beta_lower.any() or self.sigma_lower.any())
            and np.isinf(self.beta_upper).all()
            and np.isinf(self.sigma_upper).all()
        )
        if not promised:
            raise ProblemError(
                f"mu = {mu}: says that the rows are Coulomb's cone, Wd = [n, unit tangents], "
                "N = [0; 1 .. 1], P = [mu, -1 .. -1], R = 0, r = 0, bounds [0, inf]; they are not, so leave "
                "mu out"
            )


def friction_rows(*groups: tuple[ArrayLike, float], mu: float | None = None) -> LawRows:
    """Return the rows of a normal impulse F_n and of groups of directions that share out a part of it.

    Group g has directions G [6, k] and the budget c F_n: with β_g >= 0 its rows are

        G* V_rel + σ_g 1  _|_  β_g,      c F_n - Σ β_g  _|_  σ_g,

    which are the optimality conditions of "least power G β_g . V_rel, given Σ β_g <= c F_n": maximal
    dissipation over the polygon c F_n conv(0, columns of G).

    Args:
        groups: pairs (G, c).
        mu: as in `LawRows`.
    """
    directions = [np.asarray(G, dtype=np.float64).reshape(6, -1) for G, _ in groups]
    m, s = 1 + sum(G.shape[1] for G in directions), len(groups)
    Wd, N, P = np.zeros((6, m)), np.zeros((m, s)), np.zeros((s, m))
    Wd[FORCE_N, 0] = 1.0
    start = 1
    for g, (G, (_, budget)) in enumerate(zip(directions, groups, strict=True)):
        group = slice(start, start + G.shape[1])
        Wd[:, group], N[group, g], P[g, group], P[g, 0] = G, 1.0, -1.0, budget
        start = group.stop
    return LawRows(Wd, N, P, mu=mu)


def cone_rows(*groups: tuple[ArrayLike, float]) -> LawRows:
    """Return the rows of a normal impulse F_n and of discs that lean on it: cones without edges.

    Group g has one or two axes G [6, k] and the reach c F_n: with β_g of any sign,

        G* V_rel  _|_  β_g,     β_g = argmin (G* V_rel) . x  over  |x| <= c F_n,

    which is maximal dissipation over the disc, or over an ellipse where axes are not of unit length.

    Args:
        groups: pairs (G, c).
    """
    axes = [np.asarray(G, dtype=np.float64).reshape(6, -1) for G, _ in groups]
    normal = np.zeros((6, 1))
    normal[FORCE_N] = 1.0
    first = np.cumsum([1, *(G.shape[1] for G in axes)])
    discs = [(int(k), G.shape[1], float(c)) for k, G, (_, c) in zip(first, axes, groups, strict=False)]
    lower = np.concatenate([[0.0], np.full(first[-1] - 1, -np.inf)])
    return LawRows(np.hstack([normal, *axes]), beta_lower=lower, discs=discs)


class ContactLaw(Protocol):
    """What a step needs of a law; `mcpframe.AbstractContactLaw` is the class to extend."""

    name: ClassVar[str]

    def rows(self, contact: Contact, dt: float) -> LawRows:
        """Return the rows of a contact in a step of dt seconds."""

    def with_options(self, options: Mapping[str, Any]) -> ContactLaw:
        """Return the law with some options changed."""

    def with_friction_directions(self, n_f: int) -> ContactLaw:
        """Return the law with n_f directions, unless its own options say how many."""


LAW_PARTS = ("name", "rows", "with_options", "with_friction_directions")

LawLike: TypeAlias = "str | Mapping[str, Any] | ContactLaw"
LawFinder: TypeAlias = Callable[[str | Mapping[str, Any]], ContactLaw]

_finders: list[LawFinder] = []
_remembered: dict[Any, tuple[ContactLaw, LawRows]] = {}


def set_law_finder(finder: LawFinder) -> LawFinder:
    """Say who knows laws by name; the registry does so once, since contacts do not know of plugins."""
    _finders[:] = [finder]
    return finder


def find_law(law: LawLike) -> ContactLaw:
    """Return the law behind a name, a table ``{"name": ..., option: value}``, or a law itself."""
    if isinstance(law, (str, Mapping)):
        return _finders[0](law)
    if isinstance(law, type) or not all(hasattr(law, part) for part in LAW_PARTS):
        raise OptionError(f"law = {law!r}: give the name of a contact law, a table with a name, or a law")
    return law


def law_rows(law: ContactLaw, contact: Contact, dt: float, n_f: int) -> LawRows:
    """Return the rows of a contact, made once for equal (law, parameters, dt): contacts are many, laws few.

    Args:
        law: what holds for contacts that have no law of their own.
        contact: its `law` goes first, and its `parameters` are options of the law for this contact alone.
        dt: seconds.
        n_f: friction directions of laws that leave them open.
    """
    base = contact.law or law
    # By identity, kept alive below: to hash a law's options would take longer than to build the rows.
    key = (id(base), contact.parameters, n_f, contact.mu, contact.restitution, dt)
    found = _remembered.get(key)
    if found is None:
        if len(_remembered) >= REMEMBERED:
            _remembered.clear()
        options = dict(contact.parameters)
        chosen = (base.with_options(options) if options else base).with_friction_directions(n_f)
        found = _remembered[key] = base, _checked_rows(chosen, contact, dt)
    return found[1]


def _checked_rows(law: ContactLaw, contact: Contact, dt: float) -> LawRows:
    try:
        rows = law.rows(contact, dt)
    except ProblemError as error:
        raise ProblemError(f"contact law {law.name!r}: {error}") from None
    if not isinstance(rows, LawRows):
        raise ProblemError(f"contact law {law.name!r}: rows must return LawRows, not {type(rows).__name__}")
    return rows


def _columns(name: str, value: ArrayLike) -> int:
    shape = real_array(name, value).shape
    if len(shape) != 2:
        raise ProblemError(f"{name}: shape {shape}, expected a matrix")
    return int(shape[1])


def _part(name: str, value: ArrayLike | None, shape: tuple[int, ...], meaning: str = "") -> Array:
    part = np.zeros(shape) if value is None else real_array(name, value)
    if part.shape != shape:
        raise ProblemError(f"{name}: shape {part.shape}, expected {shape} {meaning}".rstrip())
    check_finite(name, part)
    return frozen(part)


def _compliance(value: ArrayLike | None) -> Array:
    part = _part("compliance", value, (6,), "(about n, t_1, t_2; along n, t_1, t_2)")
    if (part < 0.0).any():
        raise ProblemError(f"compliance: {part.tolist()}: must not be negative")
    return part


def _layer(layer: ContactLayer | None) -> ContactLayer | None:
    if not (layer is None or isinstance(layer, ContactLayer)):
        raise ProblemError(f"layer: {layer!r}: must be a ContactLayer")
    return layer


def _bounds(name: str, lower: ArrayLike, upper: ArrayLike, size: int) -> tuple[Array, Array]:
    pair = [_bound(f"{name}_lower", lower, size), _bound(f"{name}_upper", upper, size)]
    if not (pair[0] <= pair[1]).all():  # false for NaN as well
        text = f"{name}_lower: {pair[0].tolist()} must not exceed {name}_upper: {pair[1].tolist()}"
        raise ProblemError(text)
    return pair[0], pair[1]


def _bound(name: str, value: ArrayLike, size: int) -> Array:
    bound = real_array(name, value)
    if bound.shape not in ((), (size,)):
        raise ProblemError(f"{name}: shape {bound.shape}, expected ({size},) or a scalar")
    return frozen(np.array(np.broadcast_to(bound, size)))
