"""What a step did: velocities, impulses, and the mode of every contact."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.law import FORCE_1, FORCE_2, FORCE_N, LawRows
from mcpframe.contact.step import ContactStep

Mode: TypeAlias = Literal["separating", "sticking", "sliding"]

MODE_TOLERANCE = 1e-7
"""Share of (1 + the largest contact speed, m/s) below which a speed is zero: a certified solution has errors
of about 1e-9 of that, gravity adds 1e-3 m/s to a free contact in the shortest usual step, 0.1 ms."""


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """Velocities and impulses after a step, the same whichever formulation found them.

    Attributes:
        step: the step, with the friction directions that beta has.
        theta_dot: hinge rates after the step [N].
        p_b: impulses of the closures [n_b].
        p_l: impulses of the joint limits in reach [n_l].
        beta, sigma: unknowns of all contacts, contact by contact.
        w_beta: the rows of beta, Wd* V_rel + N σ with their constants, at the solution.
        drift: largest violation of the bilateral rows by the new velocities.
    """

    step: ContactStep
    theta_dot: Array
    p_b: Array
    p_l: Array
    beta: Array
    sigma: Array
    w_beta: Array
    drift: float = 0.0

    def __repr__(self) -> str:
        modes = ", ".join(f"{count} {mode}" for mode, count in Counter(map(str, self.modes)).items())
        return f"Outcome(dofs={len(self.theta_dot)}, contacts={len(self.impulses)} ({modes or 'none'}))"

    @cached_property
    def wrenches(self) -> Array:
        """Impulsive wrench [moment; force] on A of every contact at its point, world axes [n_u, 6]."""
        local = [law.Wd @ beta for law, beta in zip(self.step.law_rows, self._beta_of, strict=True)]
        components = np.array(local).reshape(-1, 2, 3)
        wrenches: Array = np.einsum("uki,ujk->uji", self.step.contacts.axes, components).reshape(-1, 6)
        return wrenches

    @property
    def impulses(self) -> Array:
        """Force impulse on A of every contact, world axes [n_u, 3], N s."""
        return self.wrenches[:, 3:]

    @cached_property
    def memory(self) -> Array:
        """What contacts whose law has a layer remember for the next step, world axes [n_u, vectors, 3]."""
        return self.step.layers.after(self.impulses)

    @cached_property
    def contact_velocities(self) -> Array:
        """Relative velocity of every contact in its frame [n_u, 6]; NaN in components that its law ignores.

        Read from the rows, w_beta - N σ = C* V, with what the step adds to them (`contact_row_shift`): at
        position level the normal component is the rate at which the gap opens from contact on, V_n + gap/dt,
        in an impact that at which it opens beyond its rebound, that of its surface where a contact yields.
        """
        velocities = np.full((self.step.n_u, 6), np.nan)
        per_contact = zip(self.step.law_rows, _split(self.w_beta, self._m), self._sigma_of, strict=True)
        for i, (law, w, sigma) in enumerate(per_contact):
            velocities[i, law.used] = law.C_star_inverse @ (w - law.N @ sigma)
        return velocities

    @cached_property
    def modes(self) -> list[Mode]:
        """Mode of every contact.

        Read from velocities, which do not depend on how redundant contacts share their load: "separating"
        where the gap opens, "sticking" where the points stay together (a foot stands, a ball rolls),
        "sliding" where they slip, or where the law has no friction that could hold them.
        """
        velocities = self.contact_velocities
        speed = MODE_TOLERANCE * (1.0 + np.abs(np.nan_to_num(velocities[:, FORCE_N:])).max(initial=0.0))
        per_contact = zip(self.step.law_rows, velocities, strict=True)
        return [_mode(law, velocity, speed) for law, velocity in per_contact]

    @property
    def _m(self) -> list[int]:
        return [law.m for law in self.step.law_rows]

    @property
    def _beta_of(self) -> list[Array]:
        return _split(self.beta, self._m)

    @property
    def _sigma_of(self) -> list[Array]:
        return _split(self.sigma, [law.s for law in self.step.law_rows])


def _split(vector: Array, sizes: list[int]) -> list[Array]:
    return np.split(vector, np.cumsum(sizes)[:-1]) if sizes else []


def _mode(law: LawRows, velocity: Array, speed: float) -> Mode:
    if velocity[FORCE_N] > speed:
        return "separating"
    tangential = velocity[[c for c in (FORCE_1, FORCE_2) if c in law.used]]
    return "sticking" if tangential.size and np.hypot.reduce(tangential) <= speed else "sliding"
