"""The spatial operators of a tree as dense matrices, for study and as the oracle of the O(N) recursions.

With links in depth-first order, hinge rates θ̇ [N] and link velocities V [6 n] at the links' origins in
world axes, [J14, sections 4 and 10]

    V = φ* H* θ̇,          φ(i, j) = [[I, skew(l_ij)], [0, I]] for i an ancestor of j, I for i = j, else 0,
    Mass = H φ M φ* H* = [I + H φ K] D [I + H φ K]*,      Mass⁻¹ = [I - H ψ K]* D⁻¹ [I - H ψ K],
    Λ = J Mass⁻¹ J* = B* Ω B,                             Ω = ψ* H* D⁻¹ H ψ .

Λ is the compliance of the operational space; many texts on robots give that letter to its inverse. M here
is the block-diagonal link inertia of the paper, not the matrix of a complementarity problem.

Armature, the inertia of rotors at the hinges, belongs to no link: it is added to D(k) in the articulated
sweep and to the diagonal of the mass matrix, and all identities above hold with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.reference.dense_kinematics import (
    LinkMotion,
    gyroscopic_forces,
    link_dofs,
    link_inertias,
    link_motion,
    moved_acceleration,
    moved_velocity,
    offsets_from_parents,
)
from mcpframe.spatial.transforms import phi as rigid

Nodes = Iterable[Node | str]


class DenseOperators:
    """Operators of a model at one state; each is computed when first asked for.

    Block operators are full matrices, their blocks in the order of the links: one 6 x 6 block or 6 x n_k
    block (n_k the dofs of the hinge) per link. Methods are named as those of `State` and give the same.

    Args:
        model: the tree; closures play no part.
        theta: coordinates, neutral unless given.
        theta_dot: rates, zero unless given.
    """

    def __init__(
        self, model: Model, theta: ArrayLike | None = None, theta_dot: ArrayLike | None = None
    ) -> None:
        self.model, self.tree = model, model.tree
        self.n_links, self.n_dofs = model.n_links, model.n_dofs
        self.theta = model.check_theta(model.neutral() if theta is None else theta)
        self.theta_dot = model.check_theta_dot(np.zeros(model.n_dofs) if theta_dot is None else theta_dot)

    # kinematics

    @cached_property
    def motion(self) -> LinkMotion:
        """Poses, velocities and bias accelerations of the links."""
        return link_motion(self.tree, self.theta, self.theta_dot)

    def link_poses(self) -> tuple[Array, Array]:
        """Return axes [n, 3, 3] and origins [n, 3] of the links."""
        return self.motion.rotation, self.motion.position

    def link_velocities(self) -> Array:
        """Return [omega; v] at the links' origins [n, 6]."""
        return self.motion.velocity

    def link_bias(self) -> Array:
        """Return [omega_dot; acceleration of the origin] for θ̈ = 0 and no gravity [n, 6]."""
        return self.motion.bias

    def hinge_columns(self) -> Array:
        """Return the column of H* of every dof, taken at its link's origin [N, 6]."""
        return np.concatenate([np.zeros((0, 6)), *(H_star.T for H_star in self.motion.columns)])

    def node_velocities(self, nodes: Nodes) -> Array:
        """Return V_c = J θ̇, [omega; v] of every node [n_c, 6]."""
        moving = self.motion
        return _stack(
            moved_velocity(moving.velocity[k], r) if k >= 0 else np.zeros(6) for k, r in self._offsets(nodes)
        )

    def node_bias(self, nodes: Nodes) -> Array:
        """Return a_os = J̇ θ̇, [omega_dot; acceleration] of every node for θ̈ = 0 [n_c, 6]."""
        V, a = self.motion.velocity, self.motion.bias
        return _stack(
            moved_acceleration(V[k], a[k], r) if k >= 0 else np.zeros(6) for k, r in self._offsets(nodes)
        )

    def _offsets(self, nodes: Nodes) -> list[tuple[int, Array]]:
        """Return link (-1: the world) and vector from its origin, world axes, of every node."""
        resolved = [self.model.resolve(node, self.tree) for node in nodes]
        R = self.motion.rotation
        return [(k, R[k] @ position if k >= 0 else position) for k, position, _ in resolved]

    # H, φ, M and the mass matrix

    @cached_property
    def H(self) -> Array:
        """Hinge map H [N, 6 n]; H*(k) [6, n_k] are the hinge's columns at the link's origin."""
        return _block_diagonal(self.motion.columns).T

    @cached_property
    def phi(self) -> Array:
        """Rigid-body propagation φ [6 n, 6 n] = (I - E_φ)⁻¹; f(i) = φ(i, j) f(j)."""
        return self._along_paths(self._phi_steps)

    @cached_property
    def M(self) -> Array:
        """Block-diagonal link inertias [6 n, 6 n] about the links' origins."""
        return _block_diagonal(list(self._inertias))

    @cached_property
    def armature(self) -> Array:
        """Inertia added to the hinges [N]."""
        return self.tree.gather("armature")

    def mass_matrix(self) -> Array:
        """Return H φ M φ* H* + armature [N, N], the Newton-Euler form [J14, Eq. (59)]."""
        H_phi = self.H @ self.phi
        mass: Array = H_phi @ self.M @ H_phi.T + np.diag(self.armature)
        return mass

    @cached_property
    def _inertias(self) -> Array:
        return link_inertias(self.tree, self.motion.rotation)

    @cached_property
    def _phi_steps(self) -> Array:
        """φ(par(k), k) [n, 6, 6]; the identity where the parent is the world."""
        return rigid(offsets_from_parents(self.tree, self.motion.position))

    def _along_paths(self, steps: Array) -> Array:
        """Return X [6 n, 6 n]: X(k, k) = I, X(i, k) = X(i, par(k)) steps(k) for i an ancestor of k."""
        n = self.n_links
        X = np.eye(6 * n)
        for k, p in enumerate(self.tree.parents):
            if p >= 0:
                X[: 6 * k, _six(k)] = X[: 6 * k, _six(p)] @ steps[k]
        return X

    # articulated quantities

    @cached_property
    def _sweep(self) -> tuple[list[Array], list[Array], list[Array]]:
        """Return P(k), D(k), G(k) of all links, tips to base [J14, section 10.1; SPEC, section 2].

        P(k) = M(k) + Σ over children j of φ(k, j) P⁺(j) φ*(k, j),    P⁺ = τ̄ P = P - G D G*,
        D = H P H* + armature,    G = P H* D⁻¹,    τ̄ = I - G H .
        """
        P = list(self._inertias)
        D, G = list(P), list(P)
        for k in range(self.n_links - 1, -1, -1):
            H_star, dofs = self.motion.columns[k], link_dofs(self.tree, k)
            D[k] = H_star.T @ P[k] @ H_star + np.diag(self.armature)[dofs, dofs]
            G[k] = self._divided(k, D[k], H_star.T @ P[k]).T
            p, step = self.tree.parents[k], self._phi_steps[k]
            if p >= 0:
                P_plus = step @ (P[k] - G[k] @ D[k] @ G[k].T) @ step.T
                P[p] = P[p] + (P_plus + P_plus.T) / 2.0  # rounding must not grow into an asymmetric part
        return P, D, G

    def _divided(self, k: int, D: Array, x: Array) -> NDArray[Any]:
        try:
            return np.linalg.solve(D, x)
        except np.linalg.LinAlgError:
            raise ModelError(
                f"link {self.tree.links[k].name!r}: its hinge feels no inertia in this state "
                f"(D = {D.tolist()}); give it mass and inertia, or armature"
            ) from None

    @cached_property
    def P(self) -> Array:
        """Articulated inertias, block-diagonal [6 n, 6 n]."""
        return _block_diagonal(self._sweep[0])

    @cached_property
    def D(self) -> Array:
        """Hinge inertias D = H P H* + armature, block-diagonal [N, N]."""
        return _block_diagonal(self._sweep[1])

    @cached_property
    def G(self) -> Array:
        """Kalman gains G = P H* D⁻¹, block-diagonal [6 n, N]."""
        return _block_diagonal(self._sweep[2])

    @cached_property
    def K(self) -> Array:
        """Gains at the parents, E_φ G [6 n, N]: the block (par(k), k) is φ(par(k), k) G(k)."""
        K = np.zeros((6 * self.n_links, self.n_dofs))
        for k, p in enumerate(self.tree.parents):
            if p >= 0:
                K[_six(p), link_dofs(self.tree, k)] = self._phi_steps[k] @ self._sweep[2][k]
        return K

    @cached_property
    def psi(self) -> Array:
        """Articulated propagation ψ [6 n, 6 n] = (I - E_ψ)⁻¹, E_ψ = E_φ τ̄."""
        return self._along_paths(self._psi_steps)

    @cached_property
    def _psi_steps(self) -> Array:
        """ψ(par(k), k) = φ(par(k), k) (I - G(k) H(k)) [n, 6, 6]."""
        gains = zip(self._phi_steps, self._sweep[2], self.motion.columns, strict=True)
        return np.array([step @ (np.eye(6) - G @ H_star.T) for step, G, H_star in gains]).reshape(-1, 6, 6)

    # innovations factors [J14, Eq. (59)]

    @cached_property
    def innovations_factor(self) -> Array:
        """I + H φ K [N, N], square and block-triangular."""
        factor: Array = np.eye(self.n_dofs) + self.H @ self.phi @ self.K
        return factor

    @cached_property
    def innovations_factor_inverse(self) -> Array:
        """I - H ψ K = [I + H φ K]⁻¹ [N, N], third line of Eq. (59)."""
        factor: Array = np.eye(self.n_dofs) - self.H @ self.psi @ self.K
        return factor

    def innovations_mass_matrix(self) -> Array:
        """Return [I + H φ K] D [I + H φ K]* [N, N], second line of Eq. (59)."""
        mass: Array = self.innovations_factor @ self.D @ self.innovations_factor.T
        return mass

    def inverse_mass_matrix(self) -> Array:
        """Return [I - H ψ K]* D⁻¹ [I - H ψ K] [N, N], last line of Eq. (59)."""
        return self.solve_mass(np.eye(self.n_dofs))

    def solve_mass(self, x: Array) -> Array:
        """Return Mass⁻¹ x for x [N] or [N, k] by the last line of Eq. (59)."""
        factor = self.innovations_factor_inverse
        solution: Array = factor.T @ np.linalg.solve(self.D, factor @ x)
        return solution

    # operational space [J14, section 10.2]

    @cached_property
    def Upsilon(self) -> Array:
        """Compliance kernels Υ(k) [n, 6, 6], base to tips [J14, Eq. (67)].

        Υ(k) = ψ*(par(k), k) Υ(par(k)) ψ(par(k), k) + H*(k) D⁻¹(k) H(k) .
        """
        Upsilon = np.zeros((self.n_links, 6, 6))
        for k, p in enumerate(self.tree.parents):
            H_star, D, step = self.motion.columns[k], self._sweep[1][k], self._psi_steps[k]
            Upsilon[k] = H_star @ np.linalg.solve(D, H_star.T)
            if p >= 0:
                Upsilon[k] += step.T @ Upsilon[p] @ step
        return Upsilon

    @cached_property
    def Omega(self) -> Array:
        """Extended compliance Ω = ψ* H* D⁻¹ H ψ [6 n, 6 n], block by block from Υ [J14, Eq. (69)].

        Ω(j, j) = Υ(j) and Ω(i, j) = Ω(i, k) ψ(k, j) with k = par(j), for every i before j: be i an ancestor
        of j or on another branch, a path from i to j ends with the step from k to j. Zero between trees.
        """
        n = self.n_links
        Omega = np.zeros((6 * n, 6 * n))
        for j, k in enumerate(self.tree.parents):
            before, at = slice(0, 6 * j), _six(j)
            if k >= 0:
                Omega[before, at] = Omega[before, _six(k)] @ self._psi_steps[j]
            Omega[at, before] = Omega[before, at].T
            Omega[at, at] = self.Upsilon[j]
        return Omega

    def pick_off(self, nodes: Nodes) -> Array:
        """Return B [6 n, 6 n_c] with V_c = B* V [J14, Eq. (61)]; columns of nodes on the world are zero."""
        offsets = self._offsets(nodes)
        B = np.zeros((6 * self.n_links, 6 * len(offsets)))
        for c, (k, r) in enumerate(offsets):
            if k >= 0:
                B[_six(k), _six(c)] = rigid(r)
        return B

    def jacobian(self, nodes: Nodes) -> Array:
        """Return J = B* φ* H* [6 n_c, N] [J14, Eq. (61)]."""
        J: Array = self.pick_off(nodes).T @ self.phi.T @ self.H.T
        return J

    def compliance(self, nodes: Nodes) -> Array:
        """Return Λ = B* Ω B [6 n_c, 6 n_c] [J14, Eq. (64)]."""
        B = self.pick_off(nodes)
        Lambda: Array = B.T @ self.Omega @ B
        return Lambda

    # dynamics

    def apply_wrenches(self, link_wrenches: Array) -> Array:
        """Return the hinge forces H φ f [N] of wrenches [n, 6] at the links' origins."""
        forces: Array = self.H @ self.phi @ np.asarray(link_wrenches).reshape(-1)
        return forces

    def inverse_dynamics(self, theta_ddot: ArrayLike) -> Array:
        """Return the hinge forces that make θ̈: H φ (M α + b) + armature θ̈, gravity as α = a - g."""
        rates: Array = np.asarray(theta_ddot, dtype=np.float64)
        upward = np.concatenate([np.zeros(3), -self.model.gravity])
        alpha = self.phi.T @ self.H.T @ rates + (self.motion.bias + upward).reshape(-1)
        b = gyroscopic_forces(self._inertias, self.motion.velocity)
        return self.apply_wrenches(self.M @ alpha + b.reshape(-1)) + self.armature * rates

    def bias_force(self) -> Array:
        """Return C [N], Coriolis, centrifugal and gravity forces: inverse dynamics of θ̈ = 0."""
        return self.inverse_dynamics(np.zeros(self.n_dofs))

    def free_acceleration(
        self, tau: ArrayLike | None = None, wrenches: Mapping[Any, ArrayLike] | None = None
    ) -> Array:
        """Return θ̈_f = Mass⁻¹ (τ + J* wrenches - C) [N]; wrenches [moment; force] by node or body."""
        force = -self.bias_force() if tau is None else np.asarray(tau, dtype=np.float64) - self.bias_force()
        if wrenches:
            stacked = np.concatenate([np.asarray(f, dtype=np.float64) for f in wrenches.values()])
            force = force + self.jacobian(wrenches).T @ stacked
        return self.solve_mass(force)

    def kinetic_energy(self) -> float:
        """Return ½ V* M V + ½ θ̇* armature θ̇ = ½ θ̇* Mass θ̇, in joules."""
        V = self.motion.velocity.reshape(-1)
        return float(0.5 * V @ self.M @ V + 0.5 * self.armature @ self.theta_dot**2)

    def potential_energy(self) -> float:
        """Return the energy in gravity, - Σ m g · x_com, in joules; zero at the world's origin."""
        R, x = self.link_poses()
        moments = (
            link.mass * (x[k] + R[k] @ link.com) @ self.model.gravity
            for k, link in enumerate(self.tree.links)
        )
        return -float(sum(moments))

    def momentum(self) -> Array:
        """Return [angular; linear] momentum of the links about the world's origin [6]; rotors not counted."""
        parts = self._inertias @ self.motion.velocity[..., None]
        total: Array = (rigid(self.motion.position) @ parts).sum(axis=0)[:, 0]
        return total


def _six(k: int) -> slice:
    return slice(6 * k, 6 * k + 6)


def _block_diagonal(blocks: Sequence[Array]) -> Array:
    matrix = np.zeros((sum(len(block) for block in blocks), sum(block.shape[1] for block in blocks)))
    row = column = 0
    for block in blocks:
        n_rows, n_columns = block.shape
        matrix[row : row + n_rows, column : column + n_columns] = block
        row, column = row + n_rows, column + n_columns
    return matrix


def _stack(rows: Iterable[Array]) -> Array:
    return np.array(list(rows)).reshape(-1, 6)
