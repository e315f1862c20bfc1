"""The rows of a step in contact components, before any law, and the two problems that laws make of them.

A formulation writes, for x = [head; p_l; p_u] with its own unknowns first, impulses of limits, and impulses
of contacts in the components (moments about and forces along n, t_1, t_2) that their laws use,

    w = A x + b:   rows of its own;  G_l v+ + c_l of limits;  V_u, the relative velocities of contacts.

Laws say which impulses and velocities go together. On the directions D of all laws, p_u = D β,

    M = [[E* A E, N], [P, R]],     q = [E* b; r + c_σ],     z = [head; p_l; β; σ],     E = diag(1, D),

a mixed LCP [J14, Eqs. (14), (53)]. A law with an exact cone has no directions and no slack: D are its axes,
and some rows of β lie on discs (`ConeLCP`). Or, for Coulomb's law alone, p_u lies in the cone itself and no
direction is chosen: with the head eliminated, V_u = W p_u + q. W is the compliance of the contacts, which
does not depend on the formulation.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from mcpframe.arrays import Array, frozen
from mcpframe.contact.law_blocks import LawBlocks
from mcpframe.exceptions import ProblemError
from mcpframe.problem.cone import ConeLCP, Discs, StepProblem
from mcpframe.problem.friction import FrictionProblem
from mcpframe.problem.layout import ContactBlocks, Layout
from mcpframe.problem.problems import MixedLCP

REPEATED = 1e-10
"""Singular value, as a share of the largest, below which an equation repeats others: rounding leaves 1e-14 of
those that do, loops near their dead points keep more than 1e-8."""


@dataclass(frozen=True, eq=False)
class Unknowns:
    """What z holds, with names and bounds: a head, impulses of limits, then β and σ of all contacts.

    Attributes:
        head: names and sizes of the unknowns that a formulation has of its own.
        n_l: number of limits.
        laws: of all contacts.
        head_lower: lower bound of the head; without bounds its rows are equations.
    """

    head: Mapping[str, int]
    n_l: int
    laws: LawBlocks
    head_lower: float = -np.inf

    @property
    def n_head(self) -> int:
        """Number of unknowns of the formulation's own."""
        return sum(self.head.values())

    @cached_property
    def layout(self) -> Layout:
        """Names of the blocks of z."""
        return Layout({**self.head, "p_l": self.n_l, "beta": self.laws.n_beta, "sigma": self.laws.n_sigma})

    @cached_property
    def lower(self) -> Array:
        """Lower bounds of z."""
        head, limits = np.full(self.n_head, self.head_lower), np.zeros(self.n_l)
        return frozen(np.concatenate([head, limits, self.laws.beta_lower, self.laws.sigma_lower]))

    @cached_property
    def upper(self) -> Array:
        """Upper bounds of z."""
        open_end = np.full(self.n_head + self.n_l, np.inf)
        return frozen(np.concatenate([open_end, self.laws.beta_upper, self.laws.sigma_upper]))

    def discs(self, wider: Array) -> Discs:
        """Return which rows of z lie on discs, wider by so much than the laws say."""
        if not self.laws.discs:
            return Discs()
        start = self.layout["beta"].start
        normal, first, width, mu = (np.array(part) for part in zip(*self.laws.discs, strict=True))
        return Discs(start + normal, start + first, width, mu, wider)

    @cached_property
    def contacts(self) -> ContactBlocks | None:
        """Where Coulomb's contacts are in z; None where the laws are others."""
        return self.laws.contact_blocks(self.layout)


@dataclass(frozen=True, eq=False)
class StepRows:
    """w = A x + b in contact components, and whose x is.

    Attributes:
        A: matrix of the rows, dense or sparse; sparse stays sparse.
        b: their constants, with all that the step asks of them.
        unknowns: what z will hold.
        c_sigma: constants of the slacks beside those of the laws [n_sigma], see `ContactStep.slack_shift`.
        c_disc: by how much discs are wider than their laws say [n_discs], see `ContactStep.disc_shift`.
        exact: whether friction cones are exact where laws leave it open: then there are discs, if only none.
    """

    A: Any
    b: Array
    unknowns: Unknowns
    c_sigma: Array
    c_disc: Array
    exact: bool = False

    @property
    def layout(self) -> Layout:
        """Names of the blocks of z."""
        return self.unknowns.layout

    def problem(self) -> StepProblem:
        """Return the problem that the laws make of the rows: with discs where one has an exact cone."""
        return with_discs(self.mixed_lcp(), self.unknowns.discs(self.c_disc), self.exact)

    def mixed_lcp(self) -> MixedLCP:
        """Return the problem on the directions of the laws, with their slacks; discs are left out."""
        A, b, unknowns, laws = self.A, self.b, self.unknowns, self.unknowns.laws
        n_e, sparse = unknowns.n_head + unknowns.n_l, sp.issparse(self.A)
        D: Any = sp.csr_array(laws.D) if sparse else laws.D
        none = np.zeros((n_e, laws.n_sigma))
        blocks = [
            [A[:n_e, :n_e], A[:n_e, n_e:] @ D, none],
            [D.T @ A[n_e:, :n_e], D.T @ A[n_e:, n_e:] @ D, laws.N],
            [none.T, laws.P, laws.R],
        ]
        return MixedLCP(
            sp.block_array(blocks, format="csr") if sparse else np.block(blocks),
            np.concatenate([b[:n_e], laws.D.T @ b[n_e:], laws.r + self.c_sigma]),
            unknowns.lower,
            unknowns.upper,
            layout=unknowns.layout,
            contacts=unknowns.contacts,
        )

    @property
    def has_cone(self) -> bool:
        """Whether all contacts are Coulomb's, and lean on their own impulses alone."""
        laws = self.unknowns.laws
        alike = laws.mu is not None or laws.cone_mu is not None
        return alike and not (self.c_sigma.any() or self.c_disc.any())

    def friction_problem(self) -> FrictionProblem:
        """Return the problem with the exact cone: contacts in their order, then limits.

        The head is eliminated. A limit is a contact without friction whose tangential rows are zero: its
        normal impulse is the limit's.

        Raises:
            ProblemError: the contacts are not Coulomb's.
        """
        laws, n_l = self.unknowns.laws, self.unknowns.n_l
        friction = laws.mu if laws.cone_mu is None else laws.cone_mu
        if friction is None:
            raise ProblemError("exact cone: there are no contacts, or they are not all Coulomb's alike")
        if not self.has_cone:
            most = np.abs(np.concatenate([self.c_sigma, self.c_disc])).max()
            raise ProblemError(f"exact cone: a contact leans on an impulse besides its own, mu p = {most:g}")
        A, b = self.without_head()
        n_v = len(laws.D)
        dim = n_v // friction.size
        n = n_v + dim * n_l
        place = np.concatenate([np.arange(n_v, n, dim), np.arange(n_v)])
        W, q = np.zeros((n, n)), np.zeros(n)
        W[np.ix_(place, place)], q[place] = A, b
        return FrictionProblem(W, q, np.concatenate([friction, np.zeros(n_l)]), dim)

    def without_head(self) -> tuple[Array, Array]:
        """Return A - A_xh A_hh⁺ A_hx and b - A_xh A_hh⁺ b_h of limits and contacts.

        The rows of the head are zero at a solution: equations, or inequalities in opposite pairs.
        """
        A, h = self.A.toarray() if sp.issparse(self.A) else self.A, self.unknowns.n_head
        if h == 0:
            return A, self.b
        response = A[h:, :h] @ _solved(A[:h, :h], np.column_stack([A[:h, h:], self.b[:h]]))
        return A[h:, h:] - response[:, :-1], self.b[h:] - response[:, -1]


def with_discs(lcp: MixedLCP, discs: Discs, exact: bool) -> StepProblem:
    """Return a step's problem: as it is, or with discs where there are any or cones are exact."""
    return ConeLCP.of_checked(lcp, discs.ordered()) if exact or len(discs) else lcp


def _solved(F: Array, right: Array) -> Array:
    """Return F⁻¹ right, of the least norm where equations repeat each other."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
        try:
            return np.asarray(scipy.linalg.solve(F, right))
        except (np.linalg.LinAlgError, scipy.linalg.LinAlgWarning):
            return np.asarray(scipy.linalg.lstsq(F, right, cond=REPEATED)[0])
