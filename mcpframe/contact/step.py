"""One contact step: a state, its contacts, dt and the applied forces, before any choice of coordinates.

A formulation asks the step for rows (closures, joint limits, contacts), for the law of every contact, and for
what the rows ask of the velocity after the step; each is made when it is first asked for and then kept. What
the rows ask are speeds, which a formulation adds as they are, whatever they stand for. With v+ the velocity
after the step,

    closures:  G_b v+ = closure_rate,
    limits:    G_l v+ + limit_shift >= 0,
    contacts:  D* (G_u v+ + S D β + contact_row_shift) + N σ  ⟂  β,     S = diag(contact_row_softness),
               P β + R σ + r + slack_shift                    ⟂  σ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import Contact, ContactSet
from mcpframe.contact.contact_motion import contact_velocities
from mcpframe.contact.contact_rows import contact_rows
from mcpframe.contact.frames import FRICTION_DIRECTIONS
from mcpframe.contact.law import FORCE_N, ContactLaw, LawLike, LawRows, find_law
from mcpframe.contact.layers.of_step import StepLayers
from mcpframe.contact.limits import REACH_MARGIN, REACH_SLACK, ChosenLimits, limit_rows, limits_in_reach
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.model.validation import values
from mcpframe.multibody.rows import Rows

if TYPE_CHECKING:
    from mcpframe.multibody.state import State  # its kernels are loaded when a state is made


class Asks(TypedDict):
    """What a step asks of its rows, by the names of the arguments of `ContactStep`."""

    position_level: bool
    contact_bias: bool
    closure_bias: bool
    baumgarte: float


class ContactStep:
    """What happens to a state in the next dt seconds, contacts included.

    The step reads the state when it is asked: make a new step after the state has moved.

    Attributes:
        state, dt, law: as given.
        law_dt: seconds that laws are asked for; dt, but where forces have acted already.
        contacts: packed; a sequence of `Contact` too.
        tau: applied hinge forces [N].
        wrenches: applied wrenches by node or body name, or None.
        friction_directions: how many directions a law gets that leaves it open.
        position_level, contact_bias, closure_bias, baumgarte: as given.
        softness: by how much contacts yield to a unit of each component of their impulsive wrenches [n_u, 6].
        independent: how many rows of closures are independent wherever loops are closed, where that is known;
            see `mcpframe.multibody.independence`.

    Args:
        state: where the model is and how it moves.
        contacts: contacts between its bodies; a `ContactSet` spares packing them again.
        dt: seconds.
        tau: hinge forces [N], zero unless given; springs and dampers of the model come on top.
        wrenches: ``{node or body name: [moment; force]}`` at the node, world axes.
        law: a contact law, its name or a table ``{"name": ..., option: value}``, for all contacts without one
            of their own.
        limits: joint limits that take part; those within reach unless given.
        position_level: add gap/dt to the normal rows of contacts, and to limits that are overrun: then gaps
            close and what has sunk in rises, where else approach stops.
        contact_bias: add dt Ġ_u θ̇ to the rows of contacts [J14, Eq. (45)]; redundant ones may then have no
            solution.
        closure_bias: keep dt Ġ_b θ̇ in the rows of closures [J14, Eq. (33)]; without it loops that move and
            rub have a solution.
        baumgarte: share of the loops' position error that the step removes, between 0 and 1.
        memory: what contacts whose law has a layer remember, as `Outcome.memory` has it of the step before,
            world axes [n_u, vectors, 3]; nothing unless given. Where normals have turned since,
            `mcpframe.contact.layers.layer.carried` turns it with them.
    """

    independent: int | None = None

    def __init__(
        self,
        state: State,
        contacts: Sequence[Contact] | ContactSet,
        dt: float,
        tau: ArrayLike | None = None,
        wrenches: Mapping[Node | str, ArrayLike] | None = None,
        law: LawLike = "coulomb",
        limits: ChosenLimits | None = None,
        *,
        position_level: bool = False,
        contact_bias: bool = False,
        closure_bias: bool = True,
        baumgarte: float = 0.0,
        memory: ArrayLike | None = None,
    ) -> None:
        self.state = state
        self.dt = self.law_dt = _positive(dt)
        self.contacts = _packed(state, contacts)
        self.law: ContactLaw = find_law(law)
        self.friction_directions = FRICTION_DIRECTIONS
        self.position_level = _flag("position_level", position_level)
        self.contact_bias = _flag("contact_bias", contact_bias)
        self.closure_bias = _flag("closure_bias", closure_bias)
        self.baumgarte = _share("baumgarte", baumgarte)
        self._tau = None if tau is None else values("tau", tau, (state.model.n_dofs,))
        self.wrenches = None if wrenches is None else _checked(state, wrenches)
        self._siblings: dict[int, ContactStep] = {}
        self._memory = memory
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

    @property
    def asks(self) -> Asks:
        """What it was told to ask of its rows, as arguments for another step."""
        return Asks(
            position_level=self.position_level,
            contact_bias=self.contact_bias,
            closure_bias=self.closure_bias,
            baumgarte=self.baumgarte,
        )

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
    def closure_rate(self) -> Array:
        """What G_b v+ is to be: U + dt (U̇ - Ġ_b θ̇) - (baumgarte/dt) error [n_b]; see `closure_bias`.

        This is [J14, Eq. (33)] with U for G_b v-, which Eq. (29) says they are: rates that do not keep the
        closures, or motion that is prescribed to a mechanism at rest, are put right in one step.
        """
        rows = self.bilateral
        rate_dot = rows.rate_dot - rows.bias if self.closure_bias else rows.rate_dot
        rate: Array = rows.rate + self.dt * rate_dot
        return rate - self.baumgarte / self.dt * rows.error if self.baumgarte else rate

    @cached_property
    def limit_shift(self) -> Array:
        """Speed that the rows of limits add to G_l v+ [n_l], gap/dt: limits are reached, not passed.

        One that is overrun is held where it is; at position level it is moved back.
        """
        gap = self.limit_gap if self.position_level else np.maximum(self.limit_gap, 0.0)
        return gap / self.dt

    @cached_property
    def contact_shift(self) -> Array:
        """Speeds that the rows of contacts add along n, t_1, t_2 [n_u, 3], m/s: gap/dt at position level.

        Those of contacts with a layer are the layer's: it knows of gaps by itself.
        """
        shift = self._layer_terms[1].copy()
        if self.position_level:
            hard = ~self.layers.soft
            shift[hard, 0] = self.contacts.gaps[hard] / self.dt
        return shift

    @cached_property
    def softness(self) -> Array:
        """By how much contacts yield to a unit of each component of their impulsive wrenches [n_u, 6]."""
        softness = np.array([rows.compliance for rows in self.law_rows]).reshape(-1, 6)
        softness[:, FORCE_N:] += self._layer_terms[0]
        return softness

    @cached_property
    def layers(self) -> StepLayers:
        """The layers of its contacts."""
        return StepLayers(self.contacts, self.law_rows, self.law_dt, self._memory)

    @cached_property
    def _layer_terms(self) -> tuple[Array, Array]:
        return self.layers.terms(lambda: contact_velocities(self.state, self.contacts)[:, FORCE_N])

    @cached_property
    def contact_row_softness(self) -> Array:
        """Compliance that is added to the diagonal of `contact_rows`: the `softness` of used components."""
        used = [row[rows.used] for row, rows in zip(self.softness, self.law_rows, strict=True)]
        return np.concatenate([np.zeros(0), *used])

    @cached_property
    def contact_row_shift(self) -> Array:
        """Speeds that are added to `contact_rows`: `contact_shift`, and dt Ġ_u θ̇ with `contact_bias`."""
        shifts = np.hstack([np.zeros((self.n_u, FORCE_N)), self.contact_shift])
        used = [row[rows.used] for row, rows in zip(shifts, self.law_rows, strict=True)]
        shift = np.concatenate([np.zeros(0), *used])
        return shift + self.dt * self.contact_rows.bias if self.contact_bias else shift

    @cached_property
    def slack_shift(self) -> Array:
        """Impulses that are added to the rows of σ [n_σ]: none but in an impact that gives some back."""
        return np.zeros(sum(rows.s for rows in self.law_rows))

    @cached_property
    def disc_shift(self) -> Array:
        """Impulses by which discs are wider than mu F_n, as `slack_shift`: none but in such an impact."""
        return np.zeros(sum(len(rows.discs) for rows in self.law_rows))

    @cached_property
    def law_rows(self) -> tuple[LawRows, ...]:
        """What every contact may do, in its own frame."""
        return self.contacts.law_rows(self.law, self.law_dt, self.friction_directions)

    @cached_property
    def C(self) -> list[Array]:
        """Wrench directions of every contact on the components that it uses [r_i, m_i]."""
        return [rows.C for rows in self.law_rows]

    @cached_property
    def contact_rows(self) -> Rows:
        """Relative velocities, contact by contact, in the components, of six, that its law uses."""
        return contact_rows(self.state, self.contacts, [rows.used for rows in self.law_rows])


LAW_DEPENDENT = frozenset(
    {
        "law_rows",
        "C",
        "contact_rows",
        "contact_row_shift",
        "contact_row_softness",
        "slack_shift",
        "disc_shift",
    }
)
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


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ModelError(f"{name} = {value!r}: must be True or False")
    return bool(value)


def _share(name: str, value: Any) -> float:
    if isinstance(value, bool) or not (isinstance(value, Real) and 0.0 <= float(value) <= 1.0):
        raise ModelError(f"{name} = {value!r}: must be a number between 0 and 1")
    return float(value)


def _checked(state: State, wrenches: Mapping[Node | str, ArrayLike]) -> dict[Node | str, Array]:
    for body in wrenches:
        state.model.resolve(body, state.tree)
    return {body: values(f"wrench on {body!r}", wrench, (6,)) for body, wrench in wrenches.items()}
