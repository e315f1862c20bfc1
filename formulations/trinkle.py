"""`trinkle`: hinges as pairs of opposite inequalities, no free rows [J14, end of section 5]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.sparse as sp

from mcpframe.contact.step_rows import StepRows
from mcpframe.formulations.base import Blocks, Motion, Recovery, StepFormulation
from mcpframe.formulations.elimination import Elimination
from mcpframe.formulations.free_links import LinkRecovery, free_links
from mcpframe.formulations.terms import StepTerms


@final
@dataclass(frozen=True, eq=False)
class TrinkleRecovery(LinkRecovery):
    """Velocities and loop impulses follow from the other impulses.

    Attributes:
        elimination: the affine map that gives link velocities and loop impulses.
    """

    elimination: Elimination

    def motion(self, blocks: Blocks) -> Motion:
        """Return the velocity that belongs to the blocks of a solution."""
        terms, p_h = self.terms, blocks["p_h_plus"] - blocks["p_h_minus"]
        others = self.links.G_h.T @ p_h + self.G.T @ terms.impulses(blocks)
        V_plus, independent = self.elimination.velocity(others)
        p_b = terms.basis @ independent
        theta_dot = terms.velocity(terms.impulses({**blocks, "p_b": p_b}))
        return Motion(theta_dot, p_b, self.drift(V_plus))


@final
class Trinkle(StepFormulation):
    """Free links without equations: each hinge row is a pair of opposite inequalities.

    z = [p_h+; p_h-; p_l; β; σ], 2 (6 n - N) + n_l + n_u (n_f + 2) rows. Velocities and loop impulses are
    eliminated as in `rmc`, but in link velocities: with G = [G_h; -G_h; G_l; G_u] and Y, X of
    [J14, Eq. (39)] for the free links

        A = G Y G*,     b = G X + [0; 0; c].

    Only the difference of p_h+ and p_h- is determined.
    """

    name = "trinkle"

    def _write(self, terms: StepTerms) -> tuple[StepRows, Recovery]:
        links, G_rest = free_links(terms.step), terms.link_jacobian()
        n_h = links.G_h.shape[0]
        G_b = sp.csr_array(terms.basis.T) @ G_rest[: terms.n_b]
        elimination = Elimination(
            lambda B: links.inverse_mass_matrix @ B, links.free_velocity, G_b, -terms.basis.T @ terms.c_b
        )
        G = sp.vstack([links.G_h, -links.G_h, G_rest[terms.n_b :]], format="csr")
        A = elimination.compliance(G)
        b = G @ elimination.X + np.concatenate([np.zeros(2 * n_h), terms.c[terms.n_b :]])
        rows = terms.rows({"p_h_plus": n_h, "p_h_minus": n_h}, A, b, head_lower=0.0)
        return rows, TrinkleRecovery(terms, rows.layout, links, G_rest, elimination)
