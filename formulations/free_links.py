"""The links of a mechanism as free bodies, their hinges as rows: what non-minimal formulations stand on.

V stacks the spatial velocities of all links at their origins, world axes [6 n]. With θ̇ the hinge rates,

    G_h V = 0   (what the hinges forbid, 6 n - N rows),      G_r V = θ̇   (N rows),

and [G_h; G_r] is square and regular: V follows from θ̇, and impulses at the hinges from the links' momenta.
A step keeps the configuration while the velocity jumps, so V+ means the link velocities of θ̇+ in the present
configuration. The acceleration of a link is then (V+ - V-)/dt + a, where a is the acceleration it has at
constant hinge rates; with it V+ is the same velocity as in minimal coordinates, to the last digit and not
only for small dt:

    Mass (V+ - V-) = dt (F - b - Mass_links a) + G_h* p_h + G* p,

F the known forces, b the gyroscopic ones, p the impulses of all other rows. Mass is block diagonal, but for
rotors (armature): one belongs to a hinge, not to a link, and adds G_r* diag(armature) G_r.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from mcpframe.arrays import Array
from mcpframe.contact.step import ContactStep
from mcpframe.formulations.base import Blocks, Recovery
from mcpframe.multibody.reference.dense_kinematics import gyroscopic_forces, link_inertias
from mcpframe.multibody.rows import hinge_constraint_rows, hinge_rate_rows

SINGULAR = 1e-12
"""Smallest eigenvalue of a link's inertia, scaled to a unit diagonal, that counts as inertia."""


@dataclass(frozen=True, eq=False)
class FreeLinks:
    """Momentum balance of the free links over one step: Mass V+ = Mass V- + impulse + G_h* p_h + G* p.

    Attributes:
        inertias: spatial inertias of the links [n, 6, 6], at their origins, world axes.
        mass_matrix: inertias of links and rotors [6 n, 6 n], sparse.
        V: link velocities before the step [6 n].
        impulse: dt (F - b - Mass_links a) [6 n].
        G_h: rows of the hinges [6 n - N, 6 n], sparse.
        G_r: rows of the hinge rates [N, 6 n], sparse.
    """

    inertias: Array
    mass_matrix: sp.csr_array
    V: Array
    impulse: Array
    G_h: sp.csr_array
    G_r: sp.csr_array

    @cached_property
    def _hinge_coordinates(self) -> Any:
        """Factors of [G_h; G_r], the change from link velocities to hinge velocities."""
        return splu(sp.vstack([self.G_h, self.G_r], format="csc"))

    def velocity(self, theta_dot: Array) -> Array:
        """Return the link velocities of hinge rates in the present configuration [6 n]."""
        hinge_velocity = np.concatenate([np.zeros(self.G_h.shape[0]), theta_dot])
        velocity: Array = self._hinge_coordinates.solve(hinge_velocity)
        return velocity

    def hinge_impulses(self, V_plus: Array, other: Array) -> Array:
        """Return p_h [6 n - N] when the velocity becomes V+ and other impulses add up to `other` [6 n]."""
        from_hinges = self.mass_matrix @ (V_plus - self.V) - self.impulse - other
        impulses: Array = self._hinge_coordinates.solve(from_hinges, trans="T")[: self.G_h.shape[0]]
        return impulses

    @cached_property
    def inverse_mass_matrix(self) -> sp.csr_array:
        """Inverse of a mass matrix that gives the same motion [6 n, 6 n], sparse.

        As G_h (V+ - V-) = 0, adding m G_h* G_h to the mass matrix changes neither motion nor impulses. It is
        done at the hinges of links without full inertia, whose own blocks have no inverse, with m the mean
        mass of a link; elsewhere the links stay apart.
        """
        lacking = np.repeat(_lacks_inertia(self.inertias), 6)
        if not lacking.any():
            return inverse_by_components(self.mass_matrix)
        at_lacking = self.G_h[abs(self.G_h) @ lacking.astype(np.float64) > 0.0]
        mean_mass = self.inertias[:, 5, 5].mean()
        return inverse_by_components(self.mass_matrix + mean_mass * (at_lacking.T @ at_lacking))

    @cached_property
    def free_velocity(self) -> Array:
        """Link velocities after the step without any constraint, hinges included [6 n]."""
        velocity: Array = self.V + self.inverse_mass_matrix @ self.impulse
        return velocity


@dataclass(frozen=True, eq=False)
class LinkRecovery(Recovery):
    """The way back from a formulation on link velocities.

    Attributes:
        links: the free links.
        G: rows [G_b; G_l; G_u] on link velocities, sparse.
    """

    links: FreeLinks
    G: sp.csr_array

    def drift(self, V_plus: Array) -> float:
        """Return how far link velocities break the hinges, at most."""
        return float(np.abs(self.links.G_h @ V_plus).max(initial=0.0))

    def own_blocks(self, shared: Blocks) -> Blocks:
        """Return link velocities and hinge impulses, also as pairs of positive parts."""
        V_plus = self.links.velocity(shared["theta_dot"])
        p_h = self.links.hinge_impulses(V_plus, self.G.T @ self.terms.impulses(shared))
        return {"V": V_plus, "p_h": p_h, "p_h_plus": np.maximum(p_h, 0.0), "p_h_minus": np.maximum(-p_h, 0.0)}


def free_links(step: ContactStep) -> FreeLinks:
    """Return the links of a step as free bodies."""
    state = step.state
    V, R = state.link_velocities(), state.link_poses()[0]
    inertias = link_inertias(state.tree, R)
    G_h = hinge_constraint_rows(state).link_matrix(state)
    G_r = hinge_rate_rows(state, np.arange(state.model.n_dofs)).link_matrix(state)
    falling = np.concatenate([np.zeros(3), state.model.gravity])
    wrenches = np.einsum("kij,kj->ki", inertias, falling - state.link_bias()) - gyroscopic_forces(inertias, V)
    applied = state.link_wrenches(step.wrenches or {})
    force = (wrenches + applied).ravel() + G_r.T @ step.total_force
    return FreeLinks(
        inertias=inertias,
        mass_matrix=_mass_matrix(inertias, G_r, state.armature),
        V=V.ravel(),
        impulse=step.dt * force,
        G_h=G_h,
        G_r=G_r,
    )


def _mass_matrix(inertias: Array, G_r: sp.csr_array, armature: Array) -> sp.csr_array:
    """Return diag(link inertias) + G_r* diag(armature) G_r."""
    n = len(inertias)
    links = sp.bsr_array((inertias, np.arange(n), np.arange(n + 1)), shape=(6 * n, 6 * n)).tocsr()
    rotors = np.flatnonzero(armature)
    if not rotors.size:
        return links
    G_rotor = G_r[rotors]
    return links + G_rotor.T @ (armature[rotors, None] * G_rotor)


def _lacks_inertia(inertias: Array) -> NDArray[np.bool_]:
    """Return which links have motions without kinetic energy: no mass, or a mass in a point or a line."""
    unit = np.sqrt(np.einsum("nii->ni", inertias))
    unit = np.where(unit > 0.0, unit, 1.0)
    smallest = np.linalg.eigvalsh(inertias / (unit[:, :, None] * unit[:, None, :]))[:, 0]
    return np.asarray(smallest <= SINGULAR)


def inverse_by_components(matrix: sp.csr_array) -> sp.csr_array:
    """Return the inverse of a symmetric matrix that falls into parts; the inverse has the same parts."""
    _, label = connected_components(matrix, directed=False)
    sizes = np.bincount(label)[label]
    parts = []
    for size in np.unique(sizes):
        found = np.flatnonzero(sizes == size)
        members = found[np.argsort(label[found], kind="stable")].reshape(-1, size)
        rows, columns = np.broadcast_arrays(members[:, :, None], members[:, None, :])
        inverses = np.linalg.inv(np.reshape(matrix[rows.ravel(), columns.ravel()], rows.shape))
        symmetric = 0.5 * (inverses + inverses.transpose(0, 2, 1))
        parts.append(sp.coo_array((symmetric.ravel(), (rows.ravel(), columns.ravel())), matrix.shape))
    return sum(parts, sp.csr_array(matrix.shape)).tocsr()
