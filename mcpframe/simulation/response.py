"""What impulses at contacts and joint limits do to hinge rates: Mass^-1 J* p, in O(N)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import ContactSet
from mcpframe.contact.contact_rows import contact_rows
from mcpframe.contact.law import FORCE_N
from mcpframe.contact.limits import all_limits
from mcpframe.multibody.state import State

Indices = NDArray[np.int64]


def approach_speeds(state: State, contacts: ContactSet) -> Array:
    """Return the normal velocity of A relative to B of every contact [n_u], negative where they approach."""
    used = [np.array([FORCE_N])] * len(contacts)
    return contact_rows(state, contacts, used).velocity(state)


def limit_speeds(state: State, limits: Indices) -> Array:
    """Return the rate at which the gaps of some of `all_limits` open [n_l], negative where they close."""
    every = all_limits(state.tree)
    speeds: Array = every.sign[limits] * state.theta_dot[every.dof[limits]]
    return speeds


def response(state: State, contacts: ContactSet, wrenches: Array, limits: Indices, p_l: Array) -> Array:
    """Return the change of the hinge rates [N].

    Args:
        state: where the model is.
        contacts: at whose points wrenches act.
        wrenches: impulsive [moment; force] on A, its opposite on B, world axes [n_u, 6].
        limits: which of `all_limits` [n_l].
        p_l: their impulses [n_l].
    """
    table = np.zeros((len(state.tree.links), 6))
    origins = state.link_poses()[1]
    for links, sign in ((contacts.link_a, 1.0), (contacts.link_b, -1.0)):
        moving = links >= 0
        arms = contacts.points[moving, :3] - origins[links[moving]]
        moment, force = sign * wrenches[moving, :3], sign * wrenches[moving, 3:]
        np.add.at(table, links[moving], np.hstack([moment + np.cross(arms, force), force]))
    at_hinges = np.zeros(state.model.n_dofs)
    every = all_limits(state.tree)
    np.add.at(at_hinges, every.dof[limits], every.sign[limits] * p_l)
    return state.respond(at_hinges, table)
