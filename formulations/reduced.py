"""`rmc`: only the unknowns of contacts and limits are left [J14, section 5]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from mcpframe.arrays import Array
from mcpframe.contact.step_rows import StepRows
from mcpframe.formulations.base import Blocks, Motion, Recovery, StepFormulation
from mcpframe.formulations.elimination import Elimination
from mcpframe.formulations.terms import StepTerms


@final
@dataclass(frozen=True, eq=False)
class ReducedRecovery(Recovery):
    """The velocity as an affine map of the impulses that are left.

    Attributes:
        elimination: that map.
        G: rows [G_b; G_l; G_u] on hinge rates [n_b + n_l + n_v, N].
    """

    elimination: Elimination
    G: Array

    def motion(self, blocks: Blocks) -> Motion:
        """Return the velocity that belongs to the blocks of a solution [J14, Eq. (38)]."""
        theta_dot, p_b = self.elimination.velocity(self.G.T @ self.terms.impulses(blocks))
        return Motion(theta_dot, self.terms.basis @ p_b)


@final
class Reduced(StepFormulation):
    """Reduced minimal coordinates: velocities and loop impulses are eliminated.

    z = [p_l; β; σ], n_l + n_u (n_f + 2) rows [J14, Eq. (41)]. With G = [G_l; G_u] and Y, X of Eq. (39)

        A = G Y G*,     b = G X + c.

    Closures that repeat each other are replaced by as many independent ones; the impulses that come back are
    then those of least norm.
    """

    name = "rmc"

    def _write(self, terms: StepTerms) -> tuple[StepRows, Recovery]:
        G_all, solve_mass = terms.jacobian(), terms.step.state.solve_mass
        G_b, G = terms.basis.T @ G_all[: terms.n_b], G_all[terms.n_b :]
        elimination = Elimination(solve_mass, terms.free_velocity(), G_b, -terms.basis.T @ terms.c_b)
        rows = terms.rows({}, elimination.compliance(G), G @ elimination.X + terms.c[terms.n_b :])
        return rows, ReducedRecovery(terms, rows.layout, elimination, G_all)
