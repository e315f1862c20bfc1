"""The laws of all contacts as one law: block-diagonal over contacts [J14, Eq. (15)]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.law import FORCE_N, LawRows
from mcpframe.problem.layout import ContactBlocks, Layout


@dataclass(frozen=True, eq=False)
class LawBlocks:
    """What all contacts may do, as one set of matrices.

        D* v_u + N σ  ⟂  β,     P β + R σ + r  ⟂  σ

    with v_u the used components of the relative velocities, each in its contact's frame. For Coulomb's
    friction on a polyhedral cone N = Ê, P = Ē, R = 0, r = 0 [J14, Eq. (14)].

    Attributes:
        D: wrench directions in the used components [n_v, n_beta].
        N, P, R, r: couplings with the slacks [n_beta, n_sigma], [n_sigma, n_beta], [n_sigma, n_sigma],
            [n_sigma].
        beta_lower, beta_upper, sigma_lower, sigma_upper: bounds.
        normal: normal force of a unit of each coefficient [n_beta].
        beta_start, sigma_start: where each contact's unknowns begin [n_u + 1].
        mu: friction coefficients [n_u] where all contacts are Coulomb's with as many directions, or None.
        discs: exact cones: (normal β, first β, how many, mu) of every disc.
        cone_mu: friction coefficients [n_u] where every contact is Coulomb's exact cone, or None.
    """

    D: Array
    N: Array
    P: Array
    R: Array
    r: Array
    beta_lower: Array
    beta_upper: Array
    sigma_lower: Array
    sigma_upper: Array
    normal: Array
    beta_start: NDArray[np.int64]
    sigma_start: NDArray[np.int64]
    mu: Array | None
    discs: tuple[tuple[int, int, int, float], ...] = ()
    cone_mu: Array | None = None

    @staticmethod
    def of(laws: Sequence[LawRows], directions: Sequence[Array]) -> LawBlocks:
        """Return the laws as one; `directions` are their Wd on the components they use."""
        return LawBlocks(
            D=block_diagonal(directions),
            N=block_diagonal([law.N for law in laws]),
            P=block_diagonal([law.P for law in laws]),
            R=block_diagonal([law.R for law in laws]),
            r=_joined([law.r for law in laws]),
            beta_lower=_joined([law.beta_lower for law in laws]),
            beta_upper=_joined([law.beta_upper for law in laws]),
            sigma_lower=_joined([law.sigma_lower for law in laws]),
            sigma_upper=_joined([law.sigma_upper for law in laws]),
            normal=_joined([law.Wd[FORCE_N] for law in laws]),
            beta_start=_starts([law.N.shape[0] for law in laws]),
            sigma_start=_starts([law.N.shape[1] for law in laws]),
            mu=_coulomb(laws),
            discs=_discs(laws),
            cone_mu=_round(laws),
        )

    @property
    def n_beta(self) -> int:
        """Number of impulse coefficients of all contacts."""
        return int(self.beta_start[-1])

    @property
    def n_sigma(self) -> int:
        """Number of slacks of all contacts."""
        return int(self.sigma_start[-1])

    def along_normals(self, speeds: Array) -> Array:
        """Return D* v_u of normal speeds alone [n_beta], given for every contact [n_u]."""
        along: Array = self.normal * np.repeat(speeds, np.diff(self.beta_start))
        return along

    def contact_blocks(self, layout: Layout) -> ContactBlocks | None:
        """Return where the contacts' unknowns lie in z, for solvers that know Coulomb's cone."""
        if self.mu is None:
            return None
        beta = layout["beta"].start + self.beta_start[:-1, None] + np.arange(np.diff(self.beta_start)[0])
        sigma = layout["sigma"].start + self.sigma_start[:-1]
        return ContactBlocks(beta[:, 0], beta[:, 1:], sigma, self.mu)


def _coulomb(laws: Sequence[LawRows]) -> Array | None:
    """Return the friction coefficients where every contact has the same polyhedral cone."""
    mu = [law.mu for law in laws if law.mu is not None]
    same = len({law.N.shape[0] for law in laws}) == 1
    return np.array(mu) if same and len(mu) == len(laws) else None


def _discs(laws: Sequence[LawRows]) -> tuple[tuple[int, int, int, float], ...]:
    """Return the discs of all contacts among the β of all contacts."""
    starts = _starts([law.m for law in laws])
    return tuple(
        (int(start) + law.normal, int(start) + first, width, mu)
        for law, start in zip(laws, starts[:-1], strict=True)
        for first, width, mu in law.discs
    )


def _round(laws: Sequence[LawRows]) -> Array | None:
    """Return the friction coefficients where every contact is one round cone on n, t_1, t_2."""
    cone = np.eye(6)[:, FORCE_N:]
    alike = [law.discs[0][2] for law in laws if len(law.discs) == 1 and np.array_equal(law.Wd, cone)]
    return np.array(alike) if laws and len(alike) == len(laws) else None


def block_diagonal(blocks: Sequence[Array]) -> Array:
    """Return the matrix with these blocks on its diagonal; blocks without rows or columns count."""
    rows, columns = _starts([len(block) for block in blocks]), _starts([block.shape[1] for block in blocks])
    matrix = np.zeros((rows[-1], columns[-1]))
    for i, block in enumerate(blocks):
        matrix[rows[i] : rows[i + 1], columns[i] : columns[i + 1]] = block
    return matrix


def _starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


def _joined(parts: Sequence[Array]) -> Array:
    return np.concatenate([np.zeros(0), *parts])
