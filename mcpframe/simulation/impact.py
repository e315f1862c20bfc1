"""Impacts with restitution: compression, then decompression [J14, section 7], or Newton's law.

*Poisson.* Compression is an `ImpactStep`; contact i stores the impulse ε_i (n* p_c) n of it [J14, Eq. (56)].
Decompression gives all stored impulses back at once and resolves what they do [J14, Eqs. (57), (58)]: with
θ̇_s = θ̇_c + Mass^-1 J* (stored) it is an `ImpactStep` again, at the rates θ̇_s, since
D* v_c + D* Λ (stored) is what the contacts see at θ̇_s.

*Newton.* One `ImpactStep` in which a contact opens at least ε times as fast as it closed, v_n+ >= -ε v_n-.

Joint limits that are reached take part as contacts without friction: they store ε_l p_l, or open at least ε_l
times as fast.

Where a contact sticks in compression and slips back, the stored normal impulse would return without the
friction that belongs to it and could add energy; then only that share of all stored impulses is given back
which leaves the kinetic energy that there was. Newton's law with friction can add energy too, and is left to:
the audit says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.contact.contact import ContactSet
from mcpframe.contact.impact_step import TOUCH, ImpactStep
from mcpframe.contact.law import LawLike
from mcpframe.contact.limits import ChosenLimits, closed_limits
from mcpframe.contact.outcome import Outcome
from mcpframe.contact.step import ContactStep
from mcpframe.multibody.state import State
from mcpframe.problem.problems import MixedLCP
from mcpframe.simulation.recording.observation import Kind
from mcpframe.simulation.response import approach_speeds, limit_speeds, response
from mcpframe.simulation.rules import HALVINGS, ROUNDING
from mcpframe.solving.plugin import AbstractFormulation
from mcpframe.solving.solution import Solution

Restitution: TypeAlias = Literal["poisson", "newton"]
Solve: TypeAlias = Callable[[MixedLCP], Solution]
Tell: TypeAlias = Callable[[Kind, MixedLCP, Solution, ContactStep], None]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ImpactAudit:
    """Kinetic energy of one impact, in joules.

    Attributes:
        before, compressed, after: before it, after compression, after decompression.
    """

    before: float
    compressed: float
    after: float

    @property
    def gain(self) -> float:
        """What the impact added; negative where it took."""
        return self.after - self.before


@dataclass(frozen=True, eq=False)
class Impact:
    """An impact that was resolved.

    Attributes:
        theta_dot: hinge rates after it [N].
        impulses: force impulse on A of every contact, both phases together, world axes [n_u, 3], N s.
        limit_impulses: of the joint limits that took part, both phases together [n_l].
        audit: where the energy went.
        outcomes: of compression and, where anything was stored, of decompression.
    """

    theta_dot: Array
    impulses: Array
    limit_impulses: Array
    audit: ImpactAudit
    outcomes: tuple[Outcome, ...]


def resolve_impact(
    state: State,
    contacts: ContactSet,
    formulation: AbstractFormulation,
    solve: Solve,
    restitution: Restitution = "poisson",
    law: LawLike = "coulomb",
    limits: Indices | None = None,
    limit_restitution: Array | None = None,
    tell: Tell | None = None,
) -> Impact:
    """Return what an impact at closed contacts does; the state is left as it was.

    Args:
        state: where the model is and how it moves before the impact.
        contacts: closed contacts, each with its restitution ε.
        formulation: how to write the problems.
        solve: how to solve them, e.g. ``lambda problem: mf.solve(problem, "lemke")``.
        restitution: "poisson" or "newton".
        law: for contacts without a law of their own.
        limits: joint limits that are reached, of `mcpframe.contact.limits.all_limits` [n_l]; those within
            `TOUCH` unless given.
        limit_restitution: ε_l of each [n_l]; zero unless given.
        tell: called with the kind, problem, solution and step of every phase, while the state is as the phase
            finds it.
    """
    theta_dot = state.theta_dot
    reached = closed_limits(state, TOUCH).index if limits is None else limits
    e_l = np.zeros(reached.size) if limit_restitution is None else limit_restitution
    collision = _Collision(state, contacts, reached, e_l, formulation, solve, law, tell)
    try:
        return collision.newton() if restitution == "newton" else collision.poisson()
    finally:
        state.update(theta_dot=theta_dot)


@dataclass(frozen=True, eq=False)
class _Phase:
    """Compression or decompression, solved; `found` are the hinge rates before it."""

    kind: Kind
    problem: MixedLCP
    solution: Solution
    step: ImpactStep
    outcome: Outcome
    found: Array


@dataclass(frozen=True, eq=False)
class _Collision:
    """All that an impact is given; see `resolve_impact`."""

    state: State
    contacts: ContactSet
    limits: Indices
    e_l: Array
    formulation: Any
    solve: Solve
    law: LawLike
    tell: Tell | None

    def poisson(self) -> Impact:
        before = self.state.kinetic_energy()
        compression = self._told(self._solved("compression", self._step(), self.formulation))
        compressed = self._energy_at(compression.theta_dot)
        stored, stored_l = stored_impulses(compression), self.e_l * compression.p_l
        if not (stored.any() or stored_l.any()):
            audit = ImpactAudit(before, compressed, compressed)
            return _impact(audit, compression.impulses, compression.p_l, compression)
        share, phase = self._decompression(compression, stored, stored_l, before)
        decompression = self._told(phase)
        audit = ImpactAudit(before, compressed, self._energy_at(decompression.theta_dot))
        impulses = compression.impulses + share * stored + decompression.impulses
        p_l = compression.p_l + share * stored_l + decompression.p_l
        return _impact(audit, impulses, p_l, compression, decompression)

    def _decompression(
        self, compression: Outcome, stored: Array, stored_l: Array, before: float
    ) -> tuple[float, _Phase]:
        """Return what giving the stored impulses back does, or that share of them which adds no energy."""
        wrenches = np.hstack([np.zeros_like(stored), stored])
        pushed = response(self.state, self.contacts, wrenches, self.limits, stored_l)

        def given_back(share: float) -> _Phase:
            self.state.update(theta_dot=compression.theta_dot + share * pushed)
            return self._solved("decompression", self._step(), self.formulation)

        whole = given_back(1.0)
        if self._energy_at(whole.outcome.theta_dot) <= before * (1.0 + ROUNDING):
            return 1.0, whole
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            share = 0.5 * (low + high)
            adds = self._energy_at(given_back(share).outcome.theta_dot) > before
            low, high = (low, share) if adds else (share, high)
        return low, given_back(low)

    def newton(self) -> Impact:
        before = self.state.kinetic_energy()
        closing = -approach_speeds(self.state, self.contacts), -limit_speeds(self.state, self.limits)
        rebound, rebound_l = (
            e * np.maximum(speed, 0.0)
            for e, speed in zip((self.contacts.restitutions, self.e_l), closing, strict=True)
        )
        opening = self.formulation.model_copy(update={"position_level": True})
        outcome = self._told(self._solved("compression", self._step(rebound, rebound_l), opening))
        after = self._energy_at(outcome.theta_dot)
        return _impact(ImpactAudit(before, after, after), outcome.impulses, outcome.p_l, outcome)

    def _step(self, rebound: Array | None = None, rebound_l: Array | None = None) -> ImpactStep:
        gaps = np.zeros(self.limits.size) if rebound_l is None else -rebound_l
        return ImpactStep(self.state, self.contacts, self.law, rebound, ChosenLimits(self.limits, gaps))

    def _solved(self, kind: Kind, step: ImpactStep, formulation: Any) -> _Phase:
        problem, recovery = formulation.build(step)
        solution = self.solve(problem)
        return _Phase(
            kind, problem, solution, step, formulation.recover(recovery, solution), self.state.theta_dot
        )

    def _told(self, phase: _Phase) -> Outcome:
        """Tell of a phase that was resolved for good; the state moves as it found it."""
        self.state.update(theta_dot=phase.found)
        if self.tell is not None:
            self.tell(phase.kind, phase.problem, phase.solution, phase.step)
        return phase.outcome

    def _energy_at(self, theta_dot: Array) -> float:
        return self.state.update(theta_dot=theta_dot).kinetic_energy()


def _impact(audit: ImpactAudit, impulses: Array, p_l: Array, *outcomes: Outcome) -> Impact:
    return Impact(outcomes[-1].theta_dot, impulses, p_l, audit, outcomes)


def stored_impulses(compression: Outcome) -> Array:
    """Return ε_i (n_i* p_c,i) n_i of every contact [J14, Eq. (56)] [n_u, 3]."""
    contacts = compression.step.contacts
    normals = contacts.normals[:, :3]
    pressed = np.einsum("ui,ui->u", normals, compression.impulses)
    stored: Array = (contacts.restitutions * np.maximum(pressed, 0.0))[:, None] * normals
    return stored
