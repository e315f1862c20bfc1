"""A certificate of the physics of a step, by a way that shares nothing with formulation, plan and solver.

A residual of 1e-14 says that a problem was solved, not that it was the right one. Here an outcome is held
against the step itself, with v the hinge rates before (-) and after (+) it, h = dt, p all impulses:

    momentum         Mass (v+ - v-) = h (τ - C) + J* p, by inverse dynamics;
    normal           v_n+ + shift >= 0 from the bodies' velocities, F_n >= 0; v + S p where contacts yield;
    complementarity  the smaller of the two is zero;
    friction         the other rows of the contact's law at that velocity, and the wrench is Wd β;
    closures         G_b v+ is the rate asked for, as far as any velocity can have it; rows that repeat others
                     ask for nothing;
    limits           ±θ̇+ + shift >= 0  _|_  p_l >= 0;
    energy           T+ - T- = p . (v+ + v-)/2 summed over all impulses, forces among them; and in an impact
                     that nothing drives T+ <= T-.

`mcpframe.simulation.step.certifying.certificate` is the same in compiled code, for the steps of a run.

Each is a figure without units: the error relative to the largest momentum, speed or impulse of its own kind.
The slack σ of a law is not taken from the outcome where the law's rows say what it has to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.contact_motion import (
    bias_at,
    body_pushes,
    body_speeds,
    contact_velocities,
    in_frames,
    longest_arm,
    relative,
)
from mcpframe.contact.law import FORCE_N, LawRows
from mcpframe.contact.law_check import LEAST, Finding, LawCheck
from mcpframe.contact.limits import all_limits
from mcpframe.contact.outcome import Outcome
from mcpframe.contact.step import ContactStep
from mcpframe.exceptions import ProblemError
from mcpframe.multibody.independence import IndependentRows
from mcpframe.multibody.kernels.momentum import FAINT, momentum_error

if TYPE_CHECKING:
    from mcpframe.multibody.state import State

RANK_TOLERANCE = 1e-8
"""Share of the largest singular value of G_b below which a direction of it is redundant."""


def contact_shift(step: ContactStep) -> Array:
    """Return what a step adds to contact velocities, in the contacts' frames [n_u, 6]."""
    shift = np.zeros((step.n_u, 6))
    if step.contact_bias:
        shift += step.dt * relative(step.contacts, lambda link, point: bias_at(step.state, link, point))
    shift[:, FORCE_N:] += step.contact_shift
    return shift


@dataclass(frozen=True)
class StepCertificate:
    """How far an outcome is from the physics of its step; figures without units, 0 is right.

    Attributes:
        momentum, normal, complementarity, friction, closures, limits, energy: see the module.
        words: what is off, by how much and where, the worst first; what is exact is left out.
    """

    momentum: float
    normal: float
    complementarity: float
    friction: float
    closures: float
    limits: float
    energy: float
    words: tuple[str, ...]

    @property
    def worst(self) -> float:
        """The largest figure, infinite where one is no number."""
        return max(float(getattr(self, name)) for name in FIGURES)

    def __str__(self) -> str:
        return "\n".join(self.words) or "all is exact"


FIGURES = tuple(part.name for part in fields(StepCertificate) if part.name != "words")


def certify_step(step: ContactStep, outcome: Outcome) -> StepCertificate:
    """Hold an outcome against the physics of its step.

    Args:
        step: the step, also an `ImpactStep`; its state must be as it was when the step was solved.
        outcome: what is said to happen, found by whatever formulation and solver.
    """
    evidence = _Evidence(step, outcome)
    findings = {name: _worst(getattr(evidence, name)()) for name in FIGURES}
    told = sorted(((figure, name, where) for name, (figure, where) in findings.items()), reverse=True)
    words = tuple(
        f"{name}: {where}, {figure:.1e} of its scale" for figure, name, where in told if figure > 0.0
    )
    return StepCertificate(**{name: figure for name, (figure, _) in findings.items()}, words=words)


def _worst(findings: Iterable[Finding]) -> Finding:
    """Return the largest figure with its words; what is no number is infinite."""
    checked = [(figure if np.isfinite(figure) else np.inf, where) for figure, where in findings]
    return max(checked, key=lambda finding: finding[0], default=(0.0, ""))


class _Evidence:
    """What is found out about an outcome; the methods are named by the figures that they explain."""

    def __init__(self, step: ContactStep, outcome: Outcome) -> None:
        self.step = step.with_friction_directions(outcome.step.friction_directions)
        self.outcome, self.dt = outcome, step.dt
        self.before, self.after = _at(step.state, step.state.theta_dot), _at(step.state, outcome.theta_dot)
        self.free = _at(step.state, step.state.theta_dot + step.dt * step.free_acceleration)
        wrenches = self.before.apply_wrenches(self.before.link_wrenches(step.wrenches or {}))
        self.force = step.tau + self.before.passive_force() + wrenches
        _check_sizes(self.step.law_rows, outcome)

    # Momentum.

    @cached_property
    def closure_matrix(self) -> Array:
        """G_b on hinge rates, column by column from the velocities at unit rates [n_b, N]."""
        unit = np.eye(self.before.theta_dot.size)
        columns = [_closure_velocities(_at(self.before, rates)) for rates in unit]
        return np.array(columns).reshape(len(unit), -1).T

    @cached_property
    def hinge_impulses(self) -> Array:
        """Impulses of limits and closures at the hinges, by virtual work [N]."""
        limits, index = all_limits(self.before.tree), self.step.limit_index
        impulses = np.zeros(self.before.theta_dot.size)
        np.add.at(impulses, limits.dof[index], limits.sign[index] * self.outcome.p_l)
        return impulses + self.closure_matrix.T @ self.outcome.p_b if self.outcome.p_b.size else impulses

    @cached_property
    def balance(self) -> tuple[Array, float, Array]:
        """What is missing, h (τ - C) + J* p - Mass (v+ - v-) [N], its scale, the balance of energy [4]."""
        change, errors = self.after.theta_dot - self.before.theta_dot, np.empty(self.before.theta_dot.size)
        energy = np.empty(4)
        self.before.take_forces(self.force)
        push = body_pushes(self.before, self.step.contacts, self.outcome.wrenches)
        arrays = self.before.I, self.before.X, change, self.dt, push, self.hinge_impulses, errors, energy
        _, scale = momentum_error(*arrays)
        return errors, max(scale, LEAST), energy

    def momentum(self) -> Iterable[Finding]:
        errors, scale, _ = self.balance
        for name, error in zip(self.before.tree.dof_names, errors, strict=True):
            yield abs(error) / scale, f"dof {name!r} is left with {error:.3g} N s or N m s"

    # Contacts.

    @cached_property
    def velocities(self) -> Array:
        """Relative velocities of the contacts after the step, with what is asked on top [n_u, 6].

        Those of their surfaces, where they yield.
        """
        yields = self.step.softness * in_frames(self.step.contacts, self.outcome.wrenches)
        return contact_velocities(self.after, self.step.contacts) + yields + contact_shift(self.step)

    @cached_property
    def fastest_rate(self) -> float:
        """The largest rate of a hinge, before, after, and if all were free."""
        states = self.before, self.after, self.free
        return float(np.abs([state.theta_dot for state in states]).max(initial=0.0))

    @cached_property
    def speed_scale(self) -> Array:
        """Largest angular and linear speed of a body at a contact, before, after, and if it were free [6].

        Turning and sliding are compared over the distance of the contacts from their bodies' frames: a body
        that only slides turns by rounding, which has no scale of its own. Bodies at rest are shaken by what
        moves elsewhere: a faint share of the fastest hinge counts too.
        """
        states = self.before, self.after, self.free
        speeds = np.array([body_speeds(state, self.step.contacts) for state in states])
        turning, sliding = speeds.max(axis=(0, 1, 2), initial=0.0)
        arm = longest_arm(self.before, self.step.contacts) or 1.0
        speed = max(sliding, arm * max(turning, FAINT * self.fastest_rate), LEAST)
        return np.repeat([speed / arm, speed], 3)

    @cached_property
    def impulse_scale(self) -> Array:
        """Largest moment and force impulse of a contact, not less than a faint share of all momentum [6]."""
        mass = sum(link.mass for link in self.before.tree.links)
        faint = FAINT * max(mass * self.speed_scale[FORCE_N], self.balance[1], LEAST)
        parts = np.linalg.norm(self.outcome.wrenches.reshape(-1, 2, 3), axis=2)
        moment, force = parts.max(axis=0, initial=0.0)
        force = max(force, faint)
        return np.repeat([max(moment, FAINT * force), force], 3)

    @cached_property
    def contact_checks(self) -> list[LawCheck]:
        """Every contact's law at its velocity and impulses."""
        sizes = [law.m for law in self.step.law_rows], [law.s for law in self.step.law_rows]
        wider = _split(self.step.disc_shift, [len(law.discs) for law in self.step.law_rows])
        parts = zip(
            self.step.law_rows,
            self.velocities,
            _split(self.outcome.beta, sizes[0]),
            _split(self.outcome.sigma, sizes[1]),
            _split(self.step.slack_shift, sizes[1]),
            strict=True,
        )
        scales = self.speed_scale, self.impulse_scale
        return [LawCheck(*part[:-1], *scales, part[-1], w) for part, w in zip(parts, wider, strict=True)]

    def _at_contacts(self, figure: Callable[[LawCheck], Finding]) -> Iterable[Finding]:
        for i, (check, contact) in enumerate(zip(self.contact_checks, self.step.contacts, strict=True)):
            found, what = figure(check)
            yield found, f"contact {i} between {contact.body_a!r} and {contact.body_b!r} {what}"

    def normal(self) -> Iterable[Finding]:
        return self._at_contacts(lambda check: check.normal())

    def complementarity(self) -> Iterable[Finding]:
        return self._at_contacts(lambda check: check.complementarity())

    def friction(self) -> Iterable[Finding]:
        yield from self._at_contacts(lambda check: check.friction())
        own = in_frames(self.step.contacts, self.outcome.wrenches)
        for i, check in enumerate(self.contact_checks):
            error = np.abs(own[i] - check.law.Wd @ check.beta) / self.impulse_scale
            yield float(error.max()), f"contact {i} has a wrench that is not the one of its β"

    # Closures and limits.

    def closures(self) -> Iterable[Finding]:
        model = self.before.model
        if not model.closures:
            return
        kept = IndependentRows.of(self.before, self.step.bilateral, self.step.independent).kept
        asked, error = self.step.closure_rate[kept], np.zeros(len(self.closure_matrix))
        off = _closure_velocities(self.after)[kept] - asked
        error[kept] = _within_range(self.closure_matrix[kept], off)
        states = self.before, self.after, self.free
        fastest = max(float(self.step.bilateral.speed(state).max(initial=0.0)) for state in states)
        scale = max(fastest, float(np.abs(asked).max(initial=0.0)), LEAST)
        row = 0
        for i, closure in enumerate(model.closures):
            for k in range(closure.n_rows):
                off = error[row]
                yield (
                    abs(off) / scale,
                    f"row {k} of closure {i} ({type(closure).__name__}) is off by {off:.3g}",
                )
                row += 1

    def limits(self) -> Iterable[Finding]:
        every, index, p_l = all_limits(self.before.tree), self.step.limit_index, self.outcome.p_l
        dof, sign = every.dof[index], every.sign[index]
        speed = sign * self.after.theta_dot[dof] + self.step.limit_shift
        speed_scale = max(self.fastest_rate, LEAST)
        impulse_scale = max(float(np.abs(p_l).max(initial=0.0)), FAINT * self.balance[1])
        for d, v, p in zip(dof, speed, p_l, strict=True):
            figure = abs(min(v / speed_scale, p / impulse_scale))
            name = self.before.tree.dof_names[d]
            yield figure, f"limit of dof {name!r} opens at {v:.3g} under {p:.3g} N s or N m s"

    # Energy.

    def energy(self) -> Iterable[Finding]:
        before, after, work, turnover = (float(part) for part in self.balance[2])
        scale = max(before + after + turnover, LEAST)
        missing = after - before - work
        yield abs(missing) / scale, f"{missing:.3g} J come from nowhere"
        if self._is_undriven():
            yield max(after - before, 0.0) / scale, f"the impact adds {after - before:.3g} J"

    def _is_undriven(self) -> bool:
        """Return whether this is an impact in which nothing is to open and no closure is to move."""
        if self.step.law_dt > 0.0:
            return False
        shifts = contact_shift(self.step), self.step.limit_shift
        opens = any((shift < 0.0).any() for shift in shifts)
        return not opens and not self.step.closure_rate.any()


def _at(state: State, theta_dot: Array) -> State:
    """Return a state of its own at the same place with other rates: nothing that was kept there is used."""
    return copy(state).update(theta_dot=theta_dot)


def _split(vector: Array, sizes: list[int]) -> list[Array]:
    return np.split(vector, np.cumsum(sizes)[:-1]) if sizes else []


def _check_sizes(laws: tuple[LawRows, ...], outcome: Outcome) -> None:
    sizes = sum(law.m for law in laws), sum(law.s for law in laws)
    if (outcome.beta.size, outcome.sigma.size) != sizes:
        raise ProblemError(
            f"outcome: {outcome.beta.size} impulses and {outcome.sigma.size} slacks; the contacts of the "
            f"step have {sizes[0]} and {sizes[1]}, so it belongs to another step"
        )


def _closure_velocities(state: State) -> Array:
    """Return G_b θ̇ [n_b]."""
    return np.concatenate([np.zeros(0), *(closure.velocity(state) for closure in state.model.closures)])


def _within_range(G: Array, error: Array) -> Array:
    """Return the part of an error of G v that some v could remove: redundant rows may contradict others."""
    U, singular, _ = np.linalg.svd(G, full_matrices=False)
    basis = U[:, singular > RANK_TOLERANCE * singular.max(initial=0.0)]
    part: Array = basis @ (basis.T @ error)
    return part
