"""What one contact step asks of the new velocity, whatever the coordinates it is written in.

With v+ the velocity after the step and p the impulses,
    closures:  G_b v+ + c_b = 0,               p_b free,
    limits:    G_l v+ + c_l >= 0               ⟂  p_l >= 0,
    contacts:  D* (G_u v+ + S D β + c_u) + N σ ⟂  β,     S: by how much contacts yield,
               P β + R σ + r + c_σ             ⟂  σ.
A formulation chooses the coordinates of v and which unknowns it keeps; all of this stays as it is. It writes
the rows of contacts in components, G_u v+ + c_u; S is added to what it has written, and D comes with the laws
(`mcpframe.contact.step_rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from mcpframe.arrays import Array
from mcpframe.contact.frames import EXACT_CONE
from mcpframe.contact.law_blocks import LawBlocks
from mcpframe.contact.step import ContactStep
from mcpframe.contact.step_rows import StepRows, Unknowns
from mcpframe.multibody.independence import IndependentRows
from mcpframe.multibody.rows import Rows


class StepTerms:
    """The rows of one step, with their constants; each is made when first asked for, then kept.

    Args:
        step: the step.
        friction_directions: how many a law gets that leaves it open.

    Attributes:
        step: the step, with so many friction directions where laws leave it open.
    """

    def __init__(self, step: ContactStep, friction_directions: int) -> None:
        self.step = step.with_friction_directions(friction_directions)

    @property
    def closures(self) -> Rows:
        """G_b: rows of the loop closures."""
        return self.step.bilateral

    @property
    def limits(self) -> Rows:
        """G_l: rows of the joint limits within reach."""
        return self.step.limits

    @property
    def contacts(self) -> Rows:
        """G_u: rows of the contacts, in the components that their laws use."""
        return self.step.contact_rows

    @cached_property
    def laws(self) -> LawBlocks:
        """What the contacts may do."""
        return LawBlocks.of(self.step.law_rows, self.step.C)

    @cached_property
    def independent(self) -> IndependentRows:
        """Which rows of G_b are independent; the others repeat them, take no impulse and ask for nothing.

        A mechanism in the plane that is closed by rows in space has more rows than it needs, and so has an
        overconstrained linkage.
        """
        return IndependentRows.of(self.step.state, self.closures, self.step.independent)

    @property
    def basis(self) -> Array:
        """Unit vectors of the independent rows [n_b, rank]; basis* G_b are these rows."""
        basis: Array = np.eye(self.n_b)[:, self.independent.kept]
        return basis

    @cached_property
    def c_b(self) -> Array:
        """Constants of the closures [n_b]: minus what G_b v+ is to be; zero where a row repeats others."""
        constants = -self.step.closure_rate
        constants[self.independent.repeated] = 0.0
        return constants

    @property
    def c_l(self) -> Array:
        """Constants of the limits [n_l]."""
        return self.step.limit_shift

    @property
    def c_u(self) -> Array:
        """Constants of the contacts, in components [n_v]."""
        return self.step.contact_row_shift

    @property
    def c_sigma(self) -> Array:
        """Constants of the slacks beside those of the laws [n_sigma]."""
        return self.step.slack_shift

    @property
    def c_disc(self) -> Array:
        """By how much discs are wider than their laws say [n_discs]."""
        return self.step.disc_shift

    @property
    def exact(self) -> bool:
        """Whether friction cones are exact where laws leave it open."""
        return self.step.friction_directions == EXACT_CONE

    @property
    def n_b(self) -> int:
        """Number of rows of the loop closures."""
        return self.closures.n if self.step.state.model.closures else 0

    @property
    def n_l(self) -> int:
        """Number of joint limits within reach."""
        return int(self.step.limit_index.size)

    @property
    def c(self) -> Array:
        """Constants of all rows, [c_b; c_l; c_u]."""
        return np.concatenate([self.c_b, self.c_l, self.c_u])

    def rows(self, head: Mapping[str, int], A: Any, b: Array, *, head_lower: float = -np.inf) -> StepRows:
        """Return rows w = A x + b, x = [head; p_l; p_u], for the laws of the step to encode.

        Args:
            head: names and sizes of the unknowns before p_l.
            A: matrix of the rows, dense or sparse.
            b: their constants.
            head_lower: lower bound of the head; without bounds its rows are equations.
        """
        return StepRows(
            self._softened(A),
            b,
            Unknowns(head, self.n_l, self.laws, head_lower),
            self.c_sigma,
            self.c_disc,
            self.exact,
        )

    def _softened(self, A: Any) -> Any:
        """Return A with the softness of contacts on the diagonal of their rows, which come last."""
        softness = self.step.contact_row_softness
        if not softness.any():
            return A
        diagonal = np.concatenate([np.zeros(A.shape[0] - softness.size), softness])
        return sp.csr_array(A + sp.diags_array(diagonal)) if sp.issparse(A) else A + np.diag(diagonal)

    def jacobian(self) -> Array:
        """Return G = [G_b; G_l; G_u] on hinge rates [n_b + n_l + n_v, N]."""
        return np.vstack(self._each(lambda rows: rows.jacobian(self.step.state)))

    def link_jacobian(self) -> sp.csr_array:
        """Return G = [G_b; G_l; G_u] on link velocities [n_b + n_l + n_v, 6 n], sparse."""
        return sp.vstack(self._each(lambda rows: rows.link_matrix(self.step.state)), format="csr")

    def _each(self, matrix: Callable[[Rows], Any]) -> list[Any]:
        """Return the closures, limits and contacts as matrices."""
        return [matrix(rows) for rows in (self.closures, self.limits, self.contacts)]

    def impulses(self, blocks: Mapping[str, Array]) -> Array:
        """Return p = [p_b; p_l; p_u] of blocks of z, p_u = D β; p_b is zero where it was eliminated."""
        p_b = blocks.get("p_b", np.zeros(self.n_b))
        return np.concatenate([p_b, blocks["p_l"], self.laws.D @ blocks["beta"]])

    def least_closure_impulses(self, p_b: Array) -> Array:
        """Return the closures' impulses of least norm that do the same [n_b].

        Closures that repeat each other share their load in many ways; this one does not depend on who shared.
        """
        return self.independent.least(p_b)

    def force_impulse(self) -> Array:
        """Return dt (T - C): what all known forces add to the momentum of the hinge rates [N]."""
        step, state = self.step, self.step.state
        wrenches = state.apply_wrenches(state.link_wrenches(step.wrenches or {}))
        return step.dt * (step.total_force + wrenches - state.bias_force())

    def free_velocity(self) -> Array:
        """Return the hinge rates after the step without any constraint, θ̇- + dt θ̈_f [J14, Eq. (42)]."""
        return self.step.state.theta_dot + self.step.dt * self.step.free_acceleration

    def velocity(self, impulses: Array) -> Array:
        """Return the hinge rates after the step, θ̇+ = θ̇- + dt θ̈_f + Mass^-1 G* p, in O(N) [N].

        Args:
            impulses: p = [p_b; p_l; p_u].
        """
        on_links = (self.link_jacobian().T @ impulses).reshape(-1, 6)
        return self.free_velocity() + self.step.state.respond(link_wrenches=on_links)
