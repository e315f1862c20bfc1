"""What one contact step asks of the new velocity, whatever the coordinates it is written in.

With v+ the velocity after the step and p the impulses,
    closures:  G_b v+ + c_b = 0,               p_b free,
    limits:    G_l v+ + c_l >= 0               ⟂  p_l >= 0,
    contacts:  D* G_u v+ + c_u + N σ           ⟂  β,
               P β + R σ + r                   ⟂  σ.
A formulation chooses the coordinates of v and which unknowns it keeps; all of this stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from mcpframe.arrays import Array
from mcpframe.contact.law_blocks import LawBlocks
from mcpframe.contact.step import ContactStep
from mcpframe.multibody.rows import Indices, Rows, moved_wrench
from mcpframe.multibody.state import State

RANK_TOLERANCE = 1e-8
"""Share of the largest singular value of G_b below which a direction of it counts as redundant: loops are
closed by projection to about this accuracy, so that rows which repeat others do so to no more digits."""


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
    def basis(self) -> Array:
        """Orthonormal basis of the range of G_b [n_b, rank]; basis* G_b has independent rows."""
        return closure_basis(self.step)

    @cached_property
    def c_b(self) -> Array:
        """Constants of the closures [n_b]: minus what G_b v+ is to be, as far as a velocity can be that."""
        constants: Array = -self.basis @ (self.basis.T @ self.step.closure_rate)
        return constants

    @property
    def c_l(self) -> Array:
        """Constants of the limits [n_l]."""
        return self.step.limit_shift

    @cached_property
    def c_u(self) -> Array:
        """Constants of the contacts [n_beta]."""
        constants: Array = self.laws.D.T @ self.step.contact_row_shift
        return constants

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

    def rows(self, matrix: Callable[[Rows], Any]) -> Any:
        """Return [G_b; G_l; D* G_u] where `matrix` writes rows in the coordinates of v."""
        G_b, G_l, G_u = matrix(self.closures), matrix(self.limits), matrix(self.contacts)
        if sp.issparse(G_u):
            return sp.vstack([G_b, G_l, sp.csr_array(self.laws.D.T) @ G_u], format="csr")
        return np.vstack([G_b, G_l, self.laws.D.T @ G_u])

    def jacobian(self) -> Array:
        """Return [G_b; G_l; D* G_u] on hinge rates [n_b + n_l + n_beta, N]."""
        jacobian: Array = self.rows(lambda rows: rows.jacobian(self.step.state))
        return jacobian

    def link_jacobian(self) -> sp.csr_array:
        """Return [G_b; G_l; D* G_u] on link velocities [n_b + n_l + n_beta, 6 n], sparse."""
        return self.rows(lambda rows: rows.link_matrix(self.step.state))

    def least_closure_impulses(self, p_b: Array) -> Array:
        """Return the closures' impulses of least norm that do the same [n_b].

        Closures that repeat each other share their load in many ways; this one does not depend on who shared.
        """
        impulses: Array = self.basis @ (self.basis.T @ p_b) if p_b.size else p_b
        return impulses

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
            impulses: p = [p_b; p_l; β].
        """
        state, n_e = self.step.state, self.n_b + self.n_l
        on_links = np.zeros((state.model.n_links, 6))
        if n_e:
            rows = Rows.concatenate([self.closures, self.limits])
            on_rows = impulses[rows.row, None] * rows.wrench
            add_wrenches(on_links, state, rows.link, rows.point, on_rows)
        contacts, on_contacts = self.step.contacts, self.contact_impulses(impulses[n_e:])
        for link, sign in ((contacts.link_a, 1.0), (contacts.link_b, -1.0)):
            moves = link >= 0
            if moves.any():
                pushes = sign * on_contacts[moves]
                add_wrenches(on_links, state, link[moves], contacts.points[moves, :3], pushes)
        return self.free_velocity() + state.respond(link_wrenches=on_links)

    def contact_impulses(self, beta: Array) -> Array:
        """Return the impulsive wrench [moment; force] on body A of every contact, world axes [n_u, 6]."""
        own, at = np.zeros((len(self.step.contacts), 2, 3)), 0
        for i, law in enumerate(self.step.law_rows):
            own[i].flat = law.Wd @ beta[at : at + law.m]
            at += law.m
        return (own @ self.step.contacts.axes).reshape(-1, 6)


def add_wrenches(on_links: Array, state: State, link: Indices, point: Array, wrench: Array) -> None:
    """Add wrenches at points to those at the origins of their links [n_links, 6]."""
    arm = point - state.link_poses()[1][link]
    np.add.at(on_links, link, moved_wrench(wrench, arm))


def closure_basis(step: ContactStep) -> Array:
    """Return an orthonormal basis of the range of G_b [n_b, rank], by singular values.

    A mechanism in the plane that is closed by rows in space has more rows than it needs. They contradict
    each other by rounding, or by a loop that is not quite closed; the part of their right side outside this
    range can be met by no velocity and is left out, alike in every formulation.
    """
    if step.bilateral.n == 0:
        return np.zeros((0, 0))
    U, singular, _ = np.linalg.svd(step.bilateral.jacobian(step.state), full_matrices=False)
    basis: Array = U[:, singular > RANK_TOLERANCE * singular.max(initial=0.0)]
    return basis
