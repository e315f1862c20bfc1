"""Impacts as steps of no duration: velocities jump, nothing moves [J14, section 7].

With dt = 0 forces add nothing, closures keep their rate, G_b θ̇+ = U, and contacts see their approach alone:
the problem of [J14, Eq. (54)]. Where they are to rebound, v_n+ >= rebound, the rows are shifted by as much.
All formulations write it as they write any other step.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mcpframe.arrays import Array
from mcpframe.contact.contact import Contact, ContactSet
from mcpframe.contact.law import LawLike
from mcpframe.contact.limits import ChosenLimits
from mcpframe.contact.step import ContactStep
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.validation import values

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
        rebound: normal speed, contact by contact, at which each is to open at least [n_u], m/s; zero unless
            given.
        limits: joint limits that take part, however far away; those within `TOUCH` unless given.
        limit_rebound: speed at which each of these is to be left at least [n_l]; zero unless given.
    """

    def __init__(
        self,
        state: State,
        contacts: Sequence[Contact] | ContactSet,
        law: LawLike = "coulomb",
        rebound: ArrayLike | None = None,
        limits: ChosenLimits | None = None,
        limit_rebound: ArrayLike | None = None,
    ) -> None:
        super().__init__(state, contacts, dt=1.0, law=law, limits=limits)
        self.dt = 0.0
        self.free_acceleration = np.zeros(state.model.n_dofs)
        if rebound is not None:
            self.contact_shift = -_speeds("rebound", rebound, self.n_u)
        if limit_rebound is not None:
            self.limit_shift = -_speeds("limit_rebound", limit_rebound, self.limit_index.size)

    @cached_property
    def contact_shift(self) -> Array:
        """Speed that the rows of contacts add along their normals [n_u], m/s: minus the rebound."""
        return np.zeros(self.n_u)

    @cached_property
    def limit_shift(self) -> Array:
        """Speed that the rows of limits add [n_l]: minus the rebound; nothing moves, so gaps do not count."""
        return np.zeros(self.limit_index.size)

    def limit_reach(self) -> Array:
        """Return how far from a limit a hinge may be to touch it [N]."""
        return np.full(self.state.model.n_dofs, TOUCH)


def _speeds(name: str, given: ArrayLike, n: int) -> Array:
    speeds = values(name, given, (n,))
    if (speeds < 0.0).any():
        raise ModelError(f"{name}: {speeds.min():g}: a speed to open at is not negative")
    return speeds
