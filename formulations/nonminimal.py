"""`nmc`: link velocities and all impulses as unknowns, hinges as rows [J14, section 3]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.sparse as sp

from mcpframe.contact.step_rows import StepRows
from mcpframe.formulations.base import Blocks, Motion, Recovery, StepFormulation
from mcpframe.formulations.free_links import LinkRecovery, free_links
from mcpframe.formulations.terms import StepTerms


@final
@dataclass(frozen=True, eq=False)
class NonMinimalRecovery(LinkRecovery):
    """The link velocities are among the unknowns."""

    def motion(self, blocks: Blocks) -> Motion:
        """Return the velocity that belongs to the blocks of a solution."""
        return Motion(self.links.G_r @ blocks["V"], blocks["p_b"], self.drift(blocks["V"]))


@final
class NonMinimal(StepFormulation):
    """Non-minimal coordinates: velocities of all links, hinges as bilateral rows; M is sparse.

    z = [V+; p_h; p_b; p_l; β; σ], 6 n + (6 n - N) + n_b + n_l + n_u (n_f + 2) rows [J14, Eq. (27)]. With
    G = [G_h; G_b; G_l; G_u]

        A = [[Mass, -G*], [G, 0]],     b = [-Mass V- - impulse; 0; c];

    `impulse` and what V+ means are told in `free_links`. Assembly costs O(n).
    """

    name = "nmc"

    def _write(self, terms: StepTerms) -> tuple[StepRows, Recovery]:
        links, G_rest = free_links(terms.step), terms.link_jacobian()
        n_h, n_V = links.G_h.shape
        G = sp.vstack([links.G_h, G_rest], format="csr")
        A = sp.block_array([[links.mass_matrix, -G.T], [G, None]], format="csr")
        b = np.concatenate([-links.mass_matrix @ links.V - links.impulse, np.zeros(n_h), terms.c])
        rows = terms.rows({"V": n_V, "p_h": n_h, "p_b": terms.n_b}, A, b)
        return rows, NonMinimalRecovery(terms, rows.layout, links, G_rest)
