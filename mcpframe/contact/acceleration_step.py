"""Forward dynamics with contacts that last: accelerations and forces instead of velocities and impulses.

Every contact is closed and sticks (rolls, in the paper) or slides; forces solve a complementarity problem
[S00, Eqs. (1)-(12)]

    sliding:   a_n >= 0  ⟂  F_n >= 0,     F_t = -mu F_n e,     e the direction in which A slips on B,
    sticking:  its law, with accelerations where a step has velocities: it goes on so, or begins to slip.

It is a `ContactStep` of one second with G v- taken off all rows, so that G v+ is the acceleration of the
rows, impulses are forces and v+ - v- is θ̈: every formulation writes it, every solver solves it, as any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import Contact, ContactSet
from mcpframe.contact.contact_motion import bias_at, contact_velocities, relative
from mcpframe.contact.impact_step import TOUCH
from mcpframe.contact.law import FORCE_1, FORCE_N, LawLike, LawRows
from mcpframe.contact.layers.layer import carried
from mcpframe.contact.limits import ChosenLimits
from mcpframe.contact.step import ContactStep
from mcpframe.exceptions import ModelError
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.model.validation import values

if TYPE_CHECKING:
    from mcpframe.contact.detection.detector import Detector
    from mcpframe.contact.outcome import Outcome
    from mcpframe.multibody.state import State

ContactMode: TypeAlias = Literal["sticking", "sliding"]

SLIP = 1e-6
"""Metres per second up to which a contact rolls, unless a step says another."""
AHEAD = 1e-3
"""Way, m or rad of the fastest hinge, over which rates of contacts are differenced: the error of the fourth
order, 1e-12 of what turns within a metre, and rounding are then equal."""


class AccelerationStep(ContactStep):
    """What forces do to a state whose contacts last.

    Attributes:
        slip_speed: as given.
        slip: velocity of A on B along t_1, t_2, or the direction given for a contact at rest [n_u, 2].

    Args:
        state: where the model is and how it moves.
        contacts: closed ones; at which speed they open or close is not looked at.
        tau, wrenches: applied forces, as for a `ContactStep`.
        law: Coulomb's or none, of contacts without one of their own.
        limits: joint limits that take part; those that are touched unless given.
        slip_speed: up to which a contact sticks, m/s.
        slip: directions, world axes [n_u, 3], in which contacts that do not slip yet are about to: then they
            slide; zero rows leave a contact sticking.
        bias: accelerations of the rows for θ̈ = 0 along n, t_1, t_2 [n_u, 3], m/s²; unless given, those of the
            bodies' points, which is right for corners on flat ground, where the normal stands still and the
            point does not wander. `AccelerationStep.detected` has them for all shapes.
    """

    def __init__(
        self,
        state: State,
        contacts: Sequence[Contact] | ContactSet,
        tau: ArrayLike | None = None,
        wrenches: Mapping[Node | str, ArrayLike] | None = None,
        law: LawLike = "coulomb",
        limits: ChosenLimits | None = None,
        *,
        slip_speed: float = SLIP,
        slip: ArrayLike | None = None,
        bias: ArrayLike | None = None,
    ) -> None:
        super().__init__(state, contacts, 1.0, tau, wrenches, law, limits)
        self.slip_speed = slip_speed
        self._bias = None if bias is None else values("bias", bias, (self.n_u, 3))
        velocity = contact_velocities(state, self.contacts)[:, FORCE_1:]
        if slip is not None:
            given = np.einsum("uki,ui->uk", self.contacts.axes[:, 1:], values("slip", slip, (self.n_u, 3)))
            still = np.linalg.norm(velocity, axis=1) <= slip_speed
            moves = np.linalg.norm(given, axis=1, keepdims=True)
            asked = given / np.maximum(moves, np.finfo(float).tiny) * (moves > 0.0)
            velocity = np.where(still[:, None], np.maximum(2.0 * slip_speed, 1.0) * asked, velocity)
        self.slip: Array = velocity

    @classmethod
    def detected(
        cls,
        state: State,
        detector: Detector,
        tau: ArrayLike | None = None,
        wrenches: Mapping[Node | str, ArrayLike] | None = None,
        law: LawLike = "coulomb",
        *,
        margin: float = TOUCH,
        slip_speed: float = SLIP,
        slip: ArrayLike | None = None,
    ) -> AccelerationStep:
        """Return the step of all contacts with gaps up to a margin, curved as their shapes are."""
        contacts = detector.contacts(state, margin)
        bias = curved_bias(state, detector, contacts)
        return cls(state, contacts, tau, wrenches, law, slip_speed=slip_speed, slip=slip, bias=bias)

    @cached_property
    def modes(self) -> list[ContactMode]:
        """Mode of every contact before forces act."""
        speeds = np.linalg.norm(self.slip, axis=1)
        return ["sliding" if speed > self.slip_speed else "sticking" for speed in speeds.tolist()]

    @cached_property
    def law_rows(self) -> tuple[LawRows, ...]:
        """What every contact may do: its law where it rolls, F_t = -mu F_n e where it slides."""
        laws = self.contacts.law_rows(self.law, self.law_dt, self.friction_directions)
        for i, law in enumerate(laws):
            if law.mu is None and (law.m != 1 or law.normal != 0):
                raise ModelError(
                    f"contact {i}: at acceleration level contacts have Coulomb's friction or none"
                )
        return tuple(
            sliding_rows(law.mu, slip) if mode == "sliding" and law.mu is not None else law
            for law, mode, slip in zip(laws, self.modes, self.slip, strict=True)
        )

    @cached_property
    def closure_rate(self) -> Array:
        """G_b v- + U̇ - Ġ_b θ̇: the accelerations that closures allow, on top of the rates [n_b]."""
        rows = self.bilateral
        return rows.velocity(self.state) + rows.rate_dot - rows.bias

    @cached_property
    def limit_shift(self) -> Array:
        """-G_l v- [n_l]: a limit that is touched is not accelerated into."""
        return -self.limits.velocity(self.state)

    @cached_property
    def contact_shift(self) -> Array:
        """Ġ_u θ̇ - G_u v- along n, t_1, t_2 [n_u, 3]."""
        bias = self._bias
        if bias is None:
            bias = relative(self.contacts, lambda link, point: bias_at(self.state, link, point))[:, FORCE_N:]
        return bias - contact_velocities(self.state, self.contacts)[:, FORCE_N:]

    @cached_property
    def softness(self) -> Array:
        """None: at acceleration level contacts are rigid, whatever lies between them [n_u, 6]."""
        return np.zeros((self.n_u, 6))

    def limit_reach(self) -> Array:
        """Return how far from a limit a hinge may be to touch it [N]."""
        return np.full(self.state.model.n_dofs, TOUCH)

    def acceleration(self, outcome: Outcome) -> Array:
        """Return θ̈ of an outcome of this step [N]; its impulses are forces, N."""
        return outcome.theta_dot - self.state.theta_dot


def sliding_rows(mu: float, slip: Array) -> LawRows:
    """Return the rows of a contact that slides along (slip_1, slip_2), friction being known but for its size.

    With β = [F_n; F_e], F_e along e and free, and σ free,

        n . a  ⟂  F_n >= 0,     e . a + σ = 0,     mu F_n + F_e = 0.
    """
    Wd = np.zeros((6, 2))
    Wd[FORCE_N, 0], Wd[FORCE_1:, 1] = 1.0, slip / np.linalg.norm(slip)
    free = [0.0, -np.inf]
    return LawRows(Wd, [[0.0], [1.0]], [[mu, 1.0]], beta_lower=free, sigma_lower=-np.inf)


def curved_bias(state: State, detector: Detector, contacts: ContactSet) -> Array:
    """Return d/dt (G_u) θ̇ along n, t_1, t_2 [n_u, 3]: contacts turn and wander as bodies roll and slide.

    By differences of the rates of contacts that are found again a little ahead and behind along θ̇; their
    frames are turned with the normals the shortest way.

    Raises:
        ModelError: a contact is not found again.
    """
    if len(contacts) == 0 or not state.theta_dot.any():
        return np.zeros((len(contacts), 3))
    h = AHEAD / np.abs(state.theta_dot).max()
    key = detector.key.copy()
    rates = [_rates_at(state, detector, contacts, key, k * h) for k in (-2, -1, 1, 2)]
    bias: Array = (rates[0] - 8.0 * rates[1] + 8.0 * rates[2] - rates[3]) / (12.0 * h)
    return bias


def _rates_at(
    state: State, detector: Detector, contacts: ContactSet, key: NDArray[np.int64], time: float
) -> Array:
    """Return G_u θ̇ of the same contacts a time ahead at constant rates, along their turned axes [n_u, 3]."""
    model = state.model
    moved = model.state(model.integrate(state.theta, state.theta_dot, time), state.theta_dot)
    found = detector.contacts(moved, float(contacts.gaps.max()) + AHEAD)
    place = {k: i for i, k in enumerate(detector.key.tolist())}
    missing = [i for i, k in enumerate(key.tolist()) if k not in place]
    if missing:
        raise ModelError(
            f"contact {missing[0]}: is not found again {time:g} s ahead; its shapes have an edge there"
        )
    at = [place[k] for k in key.tolist()]
    rates = contact_velocities(moved, found)[at, FORCE_N:]
    world = np.einsum("uki,uk->ui", found.axes[at], rates)
    turned = carried(contacts.axes, contacts.axes[:, :1], found.axes[at, :1])
    along: Array = np.einsum("uki,ui->uk", turned, world)
    return along
