"""`mc`: hinge rates and all impulses as unknowns [J14, section 4]."""

from __future__ import annotations

from typing import final

import numpy as np

from mcpframe.contact.step_rows import StepRows
from mcpframe.formulations.base import Blocks, Motion, Recovery, StepFormulation
from mcpframe.formulations.terms import StepTerms


@final
class MinimalRecovery(Recovery):
    """The velocity is among the unknowns."""

    def motion(self, blocks: Blocks) -> Motion:
        """Return the velocity that belongs to the blocks of a solution."""
        return Motion(blocks["theta_dot"], blocks["p_b"])


@final
class Minimal(StepFormulation):
    """Minimal coordinates: hinge rates and all impulses are unknowns.

    z = [θ̇+; p_b; p_l; β; σ], N + n_b + n_l + n_u (n_f + 2) rows [J14, Eq. (36)]. With G = [G_b; G_l; G_u]

        A = [[Mass, -G*], [G, 0]],     b = [-Mass θ̇- - dt (T - C); c].

    Assembly costs O(N²), for the mass matrix.
    """

    name = "mc"

    def _write(self, terms: StepTerms) -> tuple[StepRows, Recovery]:
        state = terms.step.state
        mass_matrix, G = state.mass_matrix(), terms.jacobian()
        A = np.block([[mass_matrix, -G.T], [G, np.zeros((len(G), len(G)))]])
        b = np.concatenate([-mass_matrix @ state.theta_dot - terms.force_impulse(), terms.c])
        rows = terms.rows({"theta_dot": len(mass_matrix), "p_b": terms.n_b}, A, b)
        return rows, MinimalRecovery(terms, rows.layout)
