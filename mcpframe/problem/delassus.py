"""The contact space of a mixed LCP: its problem in the form u = W r + q, without friction directions.

Coulomb contacts on the directions Dbar = [n, d_1 .. d_nf] have the rows [J14, Eq. (14)]

    A = Dbar* W Dbar,     b = Dbar* q

beside equations (loops, link velocities) and joint limits. Here equations are eliminated by the Schur
complement, with a pseudo-inverse where they repeat each other; W and q are read back from three rows of each
contact. Where n_f is a multiple of 4 these are the rows n, t_1, t_2 themselves, taken to the bit.

W = Λ_u is the compliance of the contacts: it does not depend on the formulation.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.exceptions import ProblemError
from mcpframe.problem.friction import FrictionProblem, friction_directions
from mcpframe.problem.layout import ContactBlocks
from mcpframe.problem.problems import MixedLCP

Indices = NDArray[np.int64]

REPEATED = 1e-10
"""Singular value, as a share of the largest, below which an equation repeats others: rounding leaves 1e-14 of
those that do, loops near their dead points keep more than 1e-8."""
AGREEMENT = 1e-9
"""Share of the largest entry within which the rows must be Dbar* W Dbar; rounding is 1e-15 of it."""


def contact_space(problem: MixedLCP) -> FrictionProblem:
    """Return the problem on W and q: contacts in their order, then joint limits.

    A limit is a contact without friction whose tangential rows are zero: its normal impulse is the limit's.

    Raises:
        ProblemError: the contacts are not Coulomb's on evenly spread directions, or other rows are bounded
            on both sides.
    """
    contacts = problem.contacts
    if contacts is None or contacts.n_u == 0:
        raise ProblemError("contact space: the problem has no Coulomb contacts")
    beta = np.column_stack([contacts.normal, contacts.friction]).ravel()
    limits = _limits(problem, contacts)
    A, b = _without_equations(problem, np.concatenate([beta, limits]))
    D_bar, Dbar_inverse = _directions(contacts.n_f)
    dim = D_bar.shape[0]
    T = scipy.linalg.block_diag(np.kron(np.eye(contacts.n_u), Dbar_inverse), *[np.eye(1, dim)] * limits.size)
    W, q = T.T @ A @ T, T.T @ b
    back = scipy.linalg.block_diag(np.kron(np.eye(contacts.n_u), D_bar), *[np.eye(dim, 1)] * limits.size)
    _check(back.T @ W @ back - A, A)
    _check(back.T @ q - b, b)
    return FrictionProblem(W, q, np.concatenate([contacts.mu, np.zeros(limits.size)]), dim)


def _directions(n_f: int) -> tuple[Array, Array]:
    """Return Dbar of one contact [dim, n_f + 1] and a right inverse with three columns that are not zero."""
    dim = 2 if n_f == 2 else 3
    D_bar = scipy.linalg.block_diag(1.0, friction_directions(n_f, dim))
    used = np.array([0, 1] if dim == 2 else [0, 1, 1 + max(n_f // 4, 1)])
    inverse = np.zeros((n_f + 1, dim))
    # At right angles the rows are those of the frame; their products must not be touched by rounding.
    inverse[used] = np.eye(dim) if dim == 2 or n_f % 4 == 0 else np.linalg.inv(D_bar[:, used])
    return D_bar, inverse


def _limits(problem: MixedLCP, contacts: ContactBlocks) -> Indices:
    """Return the rows that are neither equations nor of contacts; each must be one-sided, from zero on."""
    rest = np.ones(problem.n, dtype=bool)
    for indices in (contacts.normal, contacts.friction.ravel(), contacts.slip):
        rest[indices] = False
    rest &= np.isfinite(problem.lower) | np.isfinite(problem.upper)
    rows = np.flatnonzero(rest)
    other = rows[(problem.lower[rows] != 0.0) | np.isfinite(problem.upper[rows])]
    if other.size:
        i = int(other[0])
        bounds = f"[{problem.lower[i]:g}, {problem.upper[i]:g}]"
        raise ProblemError(f"contact space: row {i} has bounds {bounds}; beside contacts only 0 <= z fits")
    return rows


def _without_equations(problem: MixedLCP, rows: Indices) -> tuple[Array, Array]:
    """Return A - H F⁺ G and b - H F⁺ f of the rows, F the block of all equations."""
    M = problem.M.toarray() if isinstance(problem.M, sp.csr_array) else problem.M
    A, b = M[np.ix_(rows, rows)], problem.q[rows]
    free = np.flatnonzero(np.isneginf(problem.lower) & np.isposinf(problem.upper))
    if free.size == 0:
        return A, b
    right = np.column_stack([M[np.ix_(free, rows)], problem.q[free]])
    response = M[np.ix_(rows, free)] @ _solved(M[np.ix_(free, free)], right)
    return A - response[:, :-1], b - response[:, -1]


def _solved(F: Array, right: Array) -> Array:
    """Return F⁻¹ right, of the least norm where equations repeat each other."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
        try:
            return np.asarray(scipy.linalg.solve(F, right))
        except (np.linalg.LinAlgError, scipy.linalg.LinAlgWarning):
            return np.asarray(scipy.linalg.lstsq(F, right, cond=REPEATED)[0])


def _check(difference: Array, whole: Array) -> None:
    if np.abs(difference).max() > AGREEMENT * np.abs(whole).max():
        raise ProblemError(
            "contact space: the friction rows are not those of one velocity along evenly spread directions"
        )
