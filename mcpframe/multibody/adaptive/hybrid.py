"""Hybrid states [G06]: some joints active, the others rigid; clusters of rigid joints are single bodies.

While joints are rigid, the body is a smaller one: its clusters are the links of a tree on which all kernels,
formulations, laws and solvers work as they are. With a the active joints and r the rigid ones,

    Mass_aa θ̈_a = (τ - C)_a,      Λ = J_a Mass_aa⁻¹ J_a*.

A joint that moves is made rigid by impulses at it, which leave the momenta of all others as they are:

    Mass_aa θ̇_a+ = (Mass θ̇)_a,     loss = 1/2 (θ̇* Mass θ̇ - θ̇_a+* Mass_aa θ̇_a+) >= 0.

It is the projection in the sense of kinetic energy; of closures too, where there are any.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array, frozen
from mcpframe.multibody.adaptive.locking import Flags, active_links, locked
from mcpframe.multibody.closures import closure_rows
from mcpframe.multibody.kernels.momentum import momentum_error
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.state import State

Indices = NDArray[np.int64]


class HybridState(State):
    """A state of what is left to move; made by `State.hybrid`.

    Its `model` is that of the clusters: links inside them are frames of that model, so that contacts and
    nodes name them as before.

    Attributes:
        of: the model whose joints these are.
        active: which of its links have an active hinge [n].
        dofs, coordinates: which of its rates and coordinates those of this state are.
        loss: kinetic energy that making joints rigid has taken, joules.
    """

    def __init__(self, whole: State, active: ArrayLike) -> None:
        self.of, self.active = whole.model, frozen(active_links(whole.model, active))
        self.dofs = _places(self.of.dof_start, [link.hinge.n_dof for link in self.of.links], self.active)
        self.coordinates = _places(
            self.of.theta_start, [link.hinge.n_theta for link in self.of.links], self.active
        )
        self._whole_theta = whole.theta
        model = locked(self.of, whole.theta, self.active)
        super().__init__(model, whole.theta[self.coordinates], time=whole.time)
        self.with_armature(whole.armature[self.dofs])
        self.update(theta_dot=self._rates(whole))
        self.loss = whole.kinetic_energy() - self.kinetic_energy()

    def __reduce__(self) -> tuple[Any, ...]:
        theta, rates = self.whole()
        again = self.of, theta, rates, self.time, self.active, self.armature, self.loss
        return _hybrid_again, again

    def whole(self) -> tuple[Array, Array]:
        """Return coordinates and rates of all joints, those of rigid ones as they stand and zero."""
        theta, rates = self._whole_theta.copy(), np.zeros(self.of.n_dofs)
        theta[self.coordinates], rates[self.dofs] = self._theta, self._theta_dot
        return theta, rates

    def _rates(self, whole: State) -> Array:
        """Return the rates that are left when all others are stopped by impulses."""
        rates = whole.theta_dot
        rigid = np.ones(rates.size, dtype=bool)
        rigid[self.dofs] = False
        if not rates[rigid].any():
            return rates[self.dofs]
        kept = self.solve_mass(momenta(whole)[self.dofs])
        return self._on_loops(kept) if self.model.closures else kept

    def _on_loops(self, rates: Array) -> Array:
        """Return the rates nearest to some, in the sense of kinetic energy, that keep the closures."""
        self.update(theta_dot=rates)
        rows = closure_rows(self)
        G = rows.jacobian(self)
        back = self.solve_mass(G.T)
        impulses = np.linalg.lstsq(G @ back, rows.rate - rows.velocity(self), rcond=RANK)[0]
        kept: Array = rates + back @ impulses
        return kept


RANK = 1e-10
"""Share of the largest singular value of the loops' compliance; below it, rows repeat others."""


def momenta(state: State) -> Array:
    """Return Mass θ̇, the momentum of every dof [N], armature included, in O(N)."""
    n, out, nothing = (
        state.theta_dot.size,
        np.empty(state.theta_dot.size),
        np.zeros(8 * state.skeleton.n_bodies),
    )
    state.reference_points()  # the kinematics
    momentum_error(state.I, state.X, np.array(state.theta_dot), 0.0, nothing, np.zeros(n), out, np.zeros(4))
    return -out


def _places(start: Indices, count: list[int], active: Flags) -> Indices:
    """Return the places of the active links' entries, `count` of each from `start` on."""
    parts = [np.arange(start[k], start[k] + count[k], dtype=np.int64) for k in np.flatnonzero(active)]
    return frozen(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))


def _hybrid_again(
    of: Model, theta: Array, rates: Array, time: float, active: Flags, armature: Array, loss: float
) -> HybridState:
    """Make a copy: rigid joints are at rest already, so that nothing is taken from them again."""
    state = HybridState(of.state(theta, rates, time), active)
    state.with_armature(armature)
    state.loss = loss
    return state
