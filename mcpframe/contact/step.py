"""One contact step: a state, its contacts, dt and the applied forces, before any choice of coordinates.

A formulation asks the step for rows (closures, joint limits, contacts) and for the law of every contact; each
is made when it is first asked for and then kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import Contact, ContactSet
from mcpframe.contact.contact_rows import contact_rows
from mcpframe.contact.frames import FRICTION_DIRECTIONS
from mcpframe.contact.law import ContactLaw, LawLike, LawRows, find_law
from mcpframe.contact.limits import REACH_MARGIN, REACH_SLACK, ChosenLimits, limit_rows, limits_in_reach
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.model.validation import values
from mcpframe.multibody.rows import Rows

if TYPE_CHECKING:
    from mcpframe.multibody.state import State  # its kernels are loaded when a state is made


Length = TypeVar("Length", float, Array)


class ContactStep:
    """What happens to a state in the next dt seconds, contacts included.

    The step reads the state when it is asked: make a new step after the state has moved.

    Attributes:
        state, dt, law: as given.
        contacts: packed; a sequence of `Contact` too.
        tau: applied hinge forces [N].
        wrenches: applied wrenches by node or body name, or None.
        friction_directions: how many directions a law gets that leaves it open.

    Args:
        state: where the model is and how it moves.
        contacts: contacts between its bodies; a `ContactSet` spares packing them again.
        dt: seconds.
        tau: hinge forces [N], zero unless given; springs and dampers of the model come on top.
        wrenches: ``{node or body name: [moment; force]}`` at the node, world axes.
        law: a contact law, its name or a table ``{"name": ..., option: value}``, for all contacts without one
            of their own.
        limits: joint limits that take part; those within reach unless given.
    """

    def __init__(
        self,
        state: State,
        contacts: Sequence[Contact] | ContactSet,
        dt: float,
        tau: ArrayLike | None = None,
        wrenches: Mapping[Node | str, ArrayLike] | None = None,
        law: LawLike = "coulomb",
        limits: ChosenLimits | None = None,
    ) -> None:
        self.state = state
        self.dt = _positive(dt)
        self.contacts = _packed(state, contacts)
        self.law: ContactLaw = find_law(law)
        self.friction_directions = FRICTION_DIRECTIONS
        self._tau = None if tau is None else values("tau", tau, (state.model.n_dofs,))
        self.wrenches = None if wrenches is None else _checked(state, wrenches)
        self._siblings: dict[int, ContactStep] = {}
        if limits is not None:
            self._limits = limits

    def __repr__(self) -> str:
        return f"ContactStep({self.state.model!r}, contacts={self.n_u}, dt={self.dt:g}, law={self.law!r})"

    def with_friction_directions(self, n_f: int) -> ContactStep:
        """Return the same step in which laws that leave it open have n_f friction directions."""
        if n_f == self.friction_directions:
            return self
        if n_f not in self._siblings:
            sibling = type(self).__new__(type(self))
            shared = {key: value for key, value in vars(self).items() if key not in LAW_DEPENDENT}
            vars(sibling).update(shared, friction_directions=n_f, _siblings={})
            self._siblings[n_f] = sibling
        return self._siblings[n_f]

    @property
    def n_u(self) -> int:
        """Number of contacts."""
        return len(self.contacts)

    def rate_of(self, distance: Length) -> Length:
        """Return the speed that covers distances within the step."""
        return distance / self.dt

    def limit_reach(self) -> Array:
        """Return how far from a limit each hinge may be for the step to reach it [N], see `limits`."""
        rate = np.abs(self.state.theta_dot) + self.dt * np.abs(self.free_acceleration)
        return REACH_MARGIN * self.dt * rate + REACH_SLACK

    @cached_property
    def tau(self) -> Array:
        """Applied hinge forces [N]."""
        return np.zeros(self.state.model.n_dofs) if self._tau is None else self._tau

    @property
    def hinge_force(self) -> Array | None:
        """Applied hinge forces and those of springs and dampers [N]; None where there are none at all."""
        if self._tau is None and not self.state.tree.has_passive_forces:
            return None
        return self.total_force

    @cached_property
    def total_force(self) -> Array:
        """Applied hinge forces and those of springs and dampers [N]."""
        return self.tau + self.state.passive_force()

    @cached_property
    def free_acceleration(self) -> Array:
        """θ̈_f = Mass^-1 (T - C), wrenches included, without contacts, limits or closures [N]."""
        return self.state.free_acceleration(self.hinge_force, self.wrenches)

    @cached_property
    def bilateral(self) -> Rows:
        """Rows of the model's closures at the state [J14, Eq. (29)]."""
        return Rows.concatenate([closure.rows(self.state) for closure in self.state.model.closures])

    @cached_property
    def limits(self) -> Rows:
        """Rows of the joint limits within reach, or of those given; see `mcpframe.contact.limits`."""
        return limit_rows(self.state, self.limit_index)

    @cached_property
    def limit_gap(self) -> Array:
        """Way left to each of those limits [n_l], negative beyond it, radians or metres."""
        return self._limits.gap

    @property
    def limit_index(self) -> NDArray[np.int64]:
        """Which of `mcpframe.contact.limits.all_limits` they are [n_l]."""
        return self._limits.index

    @cached_property
    def _limits(self) -> ChosenLimits:
        return limits_in_reach(self)

    @cached_property
    def law_rows(self) -> tuple[LawRows, ...]:
        """What every contact may do, in its own frame."""
        return self.contacts.law_rows(self.law, self.dt, self.friction_directions)

    @cached_property
    def C(self) -> list[Array]:
        """Wrench directions of every contact on the components that it uses [r_i, m_i]."""
        return [rows.C for rows in self.law_rows]

    @cached_property
    def contact_rows(self) -> Rows:
        """Relative velocities, contact by contact, in the components, of six, that its law uses."""
        return contact_rows(self.state, self.contacts, [rows.used for rows in self.law_rows])


LAW_DEPENDENT = frozenset({"law_rows", "C", "contact_rows"})
"""What is not the same for another number of friction directions."""


def _packed(state: State, contacts: Sequence[Contact] | ContactSet) -> ContactSet:
    packed = contacts if isinstance(contacts, ContactSet) else ContactSet(state.model, contacts)
    if packed.tree is not state.tree:
        raise ModelError(
            "contacts: packed for another tree of links than the state's; make the state and the contacts "
            "anew after adding links, of one model"
        )
    return packed


def _positive(dt: Any) -> float:
    if not ((type(dt) is float or isinstance(dt, Real)) and 0.0 < float(dt) < math.inf):
        raise ModelError(f"dt = {dt!r}: must be a positive number of seconds")
    return float(dt)


def _checked(state: State, wrenches: Mapping[Node | str, ArrayLike]) -> dict[Node | str, Array]:
    for body in wrenches:
        state.model.resolve(body, state.tree)
    return {body: values(f"wrench on {body!r}", wrench, (6,)) for body, wrench in wrenches.items()}
