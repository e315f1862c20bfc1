"""`rmc`: only the unknowns of contacts and limits are left [J14, section 5]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mcpframe.arrays import Array
from mcpframe.formulations.base import Blocks, Motion, Recovery, StepFormulation, mixed_lcp
from mcpframe.formulations.elimination import Elimination
from mcpframe.formulations.terms import StepTerms
from mcpframe.problem.problems import MixedLCP


@final
@dataclass(frozen=True, eq=False)
class ReducedRecovery(Recovery):
    """The velocity as an affine map of the impulses that are left.

    Attributes:
        elimination: that map.
        G: rows [G_l; D* G_u] that carry the impulses [n_l + n_beta, N].
    """

    elimination: Elimination
    G: Array

    def motion(self, blocks: Blocks) -> Motion:
        """Return the velocity that belongs to the blocks of a solution [J14, Eq. (38)]."""
        impulses = np.concatenate([blocks["p_l"], blocks["beta"]])
        theta_dot, p_b = self.elimination.velocity(self.G.T @ impulses)
        return Motion(theta_dot, self.terms.basis @ p_b)


@final
class Reduced(StepFormulation):
    """Reduced minimal coordinates: velocities and loop impulses are eliminated.

    z = [p_l; β; σ], n_l + n_u (n_f + 2) rows [J14, Eq. (41)]. With G = [G_l; D* G_u] and Y, X of Eq. (39)

        M = G Y G*,     q = G X + c

    and the slacks of the contact laws around it. Closures that repeat each other are replaced by as many
    independent ones; the impulses that come back are then those of least norm.
    """

    name = "rmc"

    def _build(self, terms: StepTerms) -> tuple[MixedLCP, Recovery]:
        G = terms.jacobian()
        G_b, G = terms.basis.T @ G[: terms.n_b], G[terms.n_b :]
        solve_mass = terms.step.state.solve_mass
        elimination = Elimination(solve_mass, terms.free_velocity(), G_b, -terms.basis.T @ terms.c_b)
        A, b = elimination.compliance(G), G @ elimination.X + terms.c[terms.n_b :]
        problem = mixed_lcp(terms, {}, A, b)
        return problem, ReducedRecovery(terms, problem.layout, elimination, G)
