"""Kicks: what impulses do to rates that have what forces do to them already.

An integrator that lets forces act by a rule of its own, and takes rows of contacts where the middle of a step
leads, is left with a problem of no duration: v+ = v + Mass^-1 G* p from the rates v that forces alone give,

    closures:  G_b v+ = closure_rate,
    limits:    G_l v+ + limit_shift >= 0,
    contacts:  D* (G_u v+ + S D β + contact_shift) + N σ  ⟂  β.

All formulations write it as they write an impact; see `mcpframe.simulation.step.kick`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.contact import ContactSet
from mcpframe.contact.limits import ChosenLimits
from mcpframe.contact.step import ContactStep

if TYPE_CHECKING:
    from mcpframe.multibody.state import State


class KickStep(ContactStep):
    """What impulses do to a state in a step of dt whose forces have acted.

    Args:
        state: where the step's rows are taken, with the rates that forces alone would give.
        contacts: contacts that take part.
        dt: seconds, for laws whose rows grow with them.
        closure_rate: what G_b v+ is to be [n_b].
        limits: joint limits that take part, and the way left to each.
        limit_shift: speeds that are added to their rows [n_l].
        contact_shift: speeds that are added to the rows of contacts along n, t_1, t_2 [n_u, 3].
        softness: by how much contacts yield, layers included [n_u, 6].
    """

    def __init__(
        self,
        state: State,
        contacts: ContactSet,
        dt: float,
        closure_rate: Array,
        limits: ChosenLimits,
        limit_shift: Array,
        contact_shift: Array,
        softness: Array,
    ) -> None:
        super().__init__(state, contacts, dt, limits=limits)
        self.dt = 0.0
        self.free_acceleration = np.zeros(state.model.n_dofs)
        self.closure_rate, self.limit_shift = closure_rate, limit_shift
        self.contact_shift, self.softness = contact_shift, softness
