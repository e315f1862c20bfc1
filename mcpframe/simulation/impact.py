"""Impacts with restitution: compression, then decompression [J14, section 7], or Newton's law.

*Poisson.* Compression is an `ImpactStep`; contact i stores the impulse ε_i (n* p_c) n of it [J14, Eq. (56)].
Decompression gives all stored impulses back at once and resolves what they do [J14, Eqs. (57), (58)]: with
θ̇_s = θ̇_c + Mass^-1 J* (stored) it is an `ImpactStep` again, at the rates θ̇_s, since
D* v_c + D* Λ (stored) is what the contacts see at θ̇_s.

*Newton.* One `ImpactStep` in which a contact opens at least ε times as fast as it closed, v_n+ >= -ε v_n-.

Energy may grow with Newton's law and friction, and in rare cases with Poisson's; the audit says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.contact import ContactSet
from mcpframe.contact.contact_rows import contact_rows
from mcpframe.contact.impact_step import ImpactStep
from mcpframe.contact.law import FORCE_N, LawLike
from mcpframe.contact.outcome import Outcome
from mcpframe.multibody.state import State
from mcpframe.plugin import AbstractFormulation
from mcpframe.problem import MixedLCP
from mcpframe.solution import Solution

Restitution: TypeAlias = Literal["poisson", "newton"]
Solve: TypeAlias = Callable[[MixedLCP], Solution]


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
        audit: where the energy went.
        outcomes: of compression and, where anything was stored, of decompression.
    """

    theta_dot: Array
    impulses: Array
    audit: ImpactAudit
    outcomes: tuple[Outcome, ...]


def resolve_impact(
    state: State,
    contacts: ContactSet,
    formulation: AbstractFormulation,
    solve: Solve,
    restitution: Restitution = "poisson",
    law: LawLike = "coulomb",
) -> Impact:
    """Return what an impact at closed contacts does; the state is left as it was.

    Args:
        state: where the model is and how it moves before the impact.
        contacts: closed contacts, each with its restitution ε.
        formulation: how to write the problems.
        solve: how to solve them, e.g. ``lambda problem: mf.solve(problem, "lemke")``.
        restitution: "poisson" or "newton".
        law: for contacts without a law of their own.
    """
    theta_dot, before = state.theta_dot, state.kinetic_energy()
    try:
        if restitution == "newton":
            return _newton(state, contacts, formulation, solve, law, before)
        return _poisson(state, contacts, formulation, solve, law, before)
    finally:
        state.update(theta_dot=theta_dot)


def _poisson(
    state: State, contacts: ContactSet, formulation: Any, solve: Solve, law: LawLike, before: float
) -> Impact:
    compression = _resolved(ImpactStep(state, contacts, law), formulation, solve)
    stored = stored_impulses(compression)
    pushed = compression.theta_dot + _response(state, contacts, stored)
    compressed = state.update(theta_dot=compression.theta_dot).kinetic_energy()
    if not stored.any():
        audit = ImpactAudit(before, compressed, compressed)
        return Impact(compression.theta_dot, compression.impulses, audit, (compression,))
    state.update(theta_dot=pushed)
    decompression = _resolved(ImpactStep(state, contacts, law), formulation, solve)
    after = state.update(theta_dot=decompression.theta_dot).kinetic_energy()
    impulses = compression.impulses + stored + decompression.impulses
    audit = ImpactAudit(before, compressed, after)
    return Impact(decompression.theta_dot, impulses, audit, (compression, decompression))


def _newton(
    state: State, contacts: ContactSet, formulation: Any, solve: Solve, law: LawLike, before: float
) -> Impact:
    rebound = contacts.restitutions * np.maximum(-approach_speeds(state, contacts), 0.0)
    opening = formulation.model_copy(update={"position_level": True})
    outcome = _resolved(ImpactStep(state, contacts, law, rebound), opening, solve)
    after = state.update(theta_dot=outcome.theta_dot).kinetic_energy()
    return Impact(outcome.theta_dot, outcome.impulses, ImpactAudit(before, after, after), (outcome,))


def _resolved(step: ImpactStep, formulation: Any, solve: Solve) -> Outcome:
    problem, recovery = formulation.build(step)
    outcome: Outcome = formulation.recover(recovery, solve(problem))
    return outcome


def stored_impulses(compression: Outcome) -> Array:
    """Return ε_i (n_i* p_c,i) n_i of every contact [J14, Eq. (56)] [n_u, 3]."""
    contacts = compression.step.contacts
    normals = contacts.normals[:, :3]
    pressed = np.einsum("ui,ui->u", normals, compression.impulses)
    stored: Array = (contacts.restitutions * np.maximum(pressed, 0.0))[:, None] * normals
    return stored


def approach_speeds(state: State, contacts: ContactSet) -> Array:
    """Return the normal velocity of A relative to B of every contact [n_u], negative where they approach."""
    used = [np.array([FORCE_N])] * len(contacts)
    return contact_rows(state, contacts, used).velocity(state)


def _response(state: State, contacts: ContactSet, impulses: Array) -> Array:
    """Return Mass^-1 J* of force impulses on A, and their opposites on B, at the contacts' points [N]."""
    table = np.zeros((len(state.tree.links), 6))
    origins = state.link_poses()[1]
    for links, sign in ((contacts.link_a, 1.0), (contacts.link_b, -1.0)):
        moving = links >= 0
        arms = contacts.points[moving, :3] - origins[links[moving]]
        force = sign * impulses[moving]
        np.add.at(table, links[moving], np.hstack([np.cross(arms, force), force]))
    return state.respond(link_wrenches=table)
