"""`nmc_os`: the operational-space form on free links, hinges as rows [J14, section 8]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import scipy.sparse as sp

from mcpframe.contact.step_rows import StepRows
from mcpframe.formulations.base import Blocks, Motion, Recovery, StepFormulation
from mcpframe.formulations.free_links import LinkRecovery, free_links
from mcpframe.formulations.terms import StepTerms


@final
@dataclass(frozen=True, eq=False)
class NonMinimalOSRecovery(LinkRecovery):
    """Velocities follow from the impulses: of the links one by one, for the drift, and of the hinges."""

    def motion(self, blocks: Blocks) -> Motion:
        """Return the velocity that belongs to the blocks of a solution."""
        links = self.links
        impulses = self.terms.impulses(blocks)
        momentum = links.G_h.T @ blocks["p_h"] + self.G.T @ impulses
        drift = self.drift(links.free_velocity + links.inverse_mass_matrix @ momentum)
        return Motion(self.terms.velocity(impulses), blocks["p_b"], drift)


@final
class NonMinimalOS(StepFormulation):
    """Free links in operational space: impulses of hinges, loops and contacts; M is sparse.

    z = [p_h; p_b; p_l; β; σ], 6 n - N + n_b + n_l + n_u (n_f + 2) rows: [J14, Eq. (53)] with the compliance
    Λ = J Mass^-1 J* of free links. With G = [G_h; G_b; G_l; G_u] and V_f the velocity of links that
    nothing holds,

        A = G Mass^-1 G*,     b = G V_f + [0; c].

    Mass is block diagonal (but for rotors), so that two rows meet in A only where they act on the same link.
    """

    name = "nmc_os"
    aliases: ClassVar[tuple[str, ...]] = ("fully_augmented",)

    def _write(self, terms: StepTerms) -> tuple[StepRows, Recovery]:
        links, G_rest = free_links(terms.step), terms.link_jacobian()
        n_h = links.G_h.shape[0]
        G = sp.vstack([links.G_h, G_rest], format="csr")
        A = G @ links.inverse_mass_matrix @ G.T
        b = G @ links.free_velocity + np.concatenate([np.zeros(n_h), terms.c])
        rows = terms.rows({"p_h": n_h, "p_b": terms.n_b}, A, b)
        return rows, NonMinimalOSRecovery(terms, rows.layout, links, G_rest)
