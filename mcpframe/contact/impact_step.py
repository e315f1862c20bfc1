"""Impacts as steps of no duration: velocities jump, nothing moves [J14, section 7].

With dt = 0 forces add nothing, closures keep their rate, G_b θ̇+ = U, and contacts see their approach alone:
the problem of [J14, Eq. (54)]. All formulations write it as they write any other step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.contact import Contact, ContactSet
from mcpframe.contact.law import LawLike
from mcpframe.contact.limits import ChosenLimits
from mcpframe.contact.step import ContactStep, Length

if TYPE_CHECKING:
    from mcpframe.multibody.state import State

TOUCH = 1e-6
"""Way left to a limit, radians or metres, within which a hinge touches it: ten times what times of impact are
found to."""


class ImpactStep(ContactStep):
    """What impulses do to a state at one instant.

    Args:
        state: where the model is and how it moves before the impact.
        contacts: contacts that are closed.
        law: as for a `ContactStep`. Bounds on forces, as those of `box`, allow no impulse.
        rebound: normal speed, contact by contact, at which each is to open at least [n_u]; zero unless given.
        limits: joint limits that take part, a gap below zero being a speed to open at; those within `TOUCH`
            unless given.
    """

    def __init__(
        self,
        state: State,
        contacts: Sequence[Contact] | ContactSet,
        law: LawLike = "coulomb",
        rebound: Array | None = None,
        limits: ChosenLimits | None = None,
    ) -> None:
        super().__init__(state, contacts, dt=1.0, law=law, limits=limits)
        self.dt = 0.0
        self.free_acceleration = np.zeros(state.model.n_dofs)
        if rebound is not None:
            self.contacts = self.contacts.with_gaps(-np.asarray(rebound, dtype=np.float64))

    def rate_of(self, distance: Length) -> Length:
        """Return distances as they are: at an instant a contact's gap stands for a speed, see `rebound`."""
        return distance

    def limit_reach(self) -> Array:
        """Return how far from a limit a hinge may be to touch it [N]."""
        return np.full(self.state.model.n_dofs, TOUCH)
