"""The paper's route to contacts and limits of a hybrid body, for study and tests [G06, section 5].

*Collision matrix*: unit impulses are tried at each contact, along each axis, and the velocities that they add
at all contacts are the columns of K. Each takes a pass up and one down over the active joints. It is the
linear part of the operational-space compliance, which runs use, Λ = J_a Mass_aa⁻¹ J_a*.

*Analytical constraints*: rates of hinges that are asked to become h follow from impulses f at them,

    h - h_0 = K f,     K = (Mass⁻¹)_ll.

Where all of them press, it is what the rows of limits in a complementarity problem give; the problem also
says which of them press.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mcpframe.arrays import Array
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.model.validation import values
from mcpframe.multibody.state import State


def collision_matrix(state: State, nodes: Sequence[Node | str]) -> Array:
    """Return K [3 n_c, 3 n_c]: velocities of nodes, m/s, that unit impulses at them add, in world axes."""
    trial = state.model.state(state.theta, time=state.time).with_armature(state.armature)
    columns = []
    for node in nodes:
        for axis in np.eye(3):
            wrenches = trial.link_wrenches({node: np.concatenate([np.zeros(3), axis])})
            trial.update(theta_dot=trial.respond(link_wrenches=wrenches))
            columns.append(trial.node_velocities(nodes)[:, 3:].ravel())
            trial.update(theta_dot=np.zeros(state.theta_dot.size))
    return np.array(columns).T.reshape(3 * len(nodes), 3 * len(nodes))


def constrained_rates(state: State, dofs: Sequence[str | int], rates: ArrayLike = 0.0) -> tuple[Array, Array]:
    """Return all rates after impulses that give some hinges the rates asked for, and these impulses.

    Args:
        state: before.
        dofs: names or numbers of the hinges' dofs.
        rates: what they are to be, a number or one for each.
    """
    chosen = [dof if isinstance(dof, int) else state.model.dof_index(dof) for dof in dofs]
    wanted = values("rates", np.broadcast_to(rates, len(chosen)), (len(chosen),))
    back = state.solve_mass(np.eye(state.theta_dot.size)[:, chosen])
    f: Array = np.linalg.solve(back[chosen], wanted - state.theta_dot[chosen]).astype(np.float64)
    return state.theta_dot + back @ f, f
