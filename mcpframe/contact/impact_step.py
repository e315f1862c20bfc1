"""Impacts as steps of no duration: velocities jump, nothing moves [J14, section 7].

With dt = 0 forces add nothing, closures keep their rate, G_b θ̇+ = U, and contacts see their approach alone:
the problem of [J14, Eq. (54)]. Where they are to rebound, v_n+ >= rebound, the rows are shifted by as much.
Layers yield to any force for as long as nothing, so that contacts with one take no part.
Where impulses have been given back, friction leans on them too, |p_t| <= mu (p_n + given): a constant in the
rows of σ. All formulations write it as they write any other step.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mcpframe.arrays import Array
from mcpframe.contact.contact import Contact, ContactSet
from mcpframe.contact.law import LawLike, LawRows
from mcpframe.contact.limits import ChosenLimits
from mcpframe.contact.step import ContactStep
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.validation import values

if TYPE_CHECKING:
    from mcpframe.multibody.state import State

TOUCH = 1e-6
"""Way left to a limit, radians or metres, within which a hinge touches it: ten times what times of impact are
found to."""
NOTHING = LawRows(np.zeros((6, 0)))
"""What a contact may do that does nothing."""


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
        given: normal impulse, contact by contact, that the rates of the state already have in them and that
            friction may lean on besides the impulses of the problem [n_u], N s; zero unless given.
    """

    def __init__(
        self,
        state: State,
        contacts: Sequence[Contact] | ContactSet,
        law: LawLike = "coulomb",
        rebound: ArrayLike | None = None,
        limits: ChosenLimits | None = None,
        limit_rebound: ArrayLike | None = None,
        given: ArrayLike | None = None,
    ) -> None:
        super().__init__(state, contacts, dt=1.0, law=law, limits=limits)
        self.dt = self.law_dt = 0.0
        self.free_acceleration = np.zeros(state.model.n_dofs)
        if rebound is not None:
            self.contact_shift = np.zeros((self.n_u, 3))
            rebound = _not_negative("rebound", rebound, self.n_u, "a speed to open at")
            self.contact_shift[:, 0] = -rebound
        if limit_rebound is not None:
            n_l = self.limit_index.size
            self.limit_shift = -_not_negative("limit_rebound", limit_rebound, n_l, "a speed to open at")
        none = np.zeros(self.n_u)
        self.given = none if given is None else _not_negative("given", given, self.n_u, "a normal impulse")

    @cached_property
    def contact_shift(self) -> Array:
        """Speeds that the rows of contacts add [n_u, 3], m/s: minus the rebound along their normals."""
        return np.zeros((self.n_u, 3))

    @cached_property
    def limit_shift(self) -> Array:
        """Speed that the rows of limits add [n_l]: minus the rebound; nothing moves, so gaps do not count."""
        return np.zeros(self.limit_index.size)

    @cached_property
    def law_rows(self) -> tuple[LawRows, ...]:
        """What every contact may do at one instant: nothing where it has a layer."""
        laws = self.contacts.law_rows(self.law, self.law_dt, self.friction_directions)
        return tuple(rows if rows.layer is None else NOTHING for rows in laws)

    @cached_property
    def slack_shift(self) -> Array:
        """What the impulses given back add to the rows of σ [n_σ], by each contact's law."""
        parts = [rows.leaning(p) for rows, p in zip(self.law_rows, self.given, strict=True)]
        return np.concatenate([np.zeros(0), *parts])

    @cached_property
    def disc_shift(self) -> Array:
        """By how much the impulses given back widen the discs, by each contact's law."""
        parts = [rows.disc_leaning(p) for rows, p in zip(self.law_rows, self.given, strict=True)]
        return np.concatenate([np.zeros(0), *parts])

    def limit_reach(self) -> Array:
        """Return how far from a limit a hinge may be to touch it [N]."""
        return np.full(self.state.model.n_dofs, TOUCH)


def _not_negative(name: str, given: ArrayLike, n: int, what: str) -> Array:
    numbers = values(name, given, (n,))
    if (numbers < 0.0).any():
        raise ModelError(f"{name}: {numbers.min():g}: {what} is not negative")
    return numbers
