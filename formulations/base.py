"""What the formulations of a contact step share: options, building in two stages, the way back.

A formulation writes its rows in contact components, w = A x + b, x = [its head; p_l; p_u], and how its
unknowns become a velocity; the laws encode the rows into a mixed LCP (`mcpframe.contact.step_rows`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.sparse as sp
from pydantic import Field

from mcpframe.arrays import Array
from mcpframe.contact.frames import EXACT_CONE
from mcpframe.contact.outcome import Outcome
from mcpframe.contact.step import ContactStep
from mcpframe.contact.step_rows import StepRows
from mcpframe.formulations.terms import StepTerms
from mcpframe.problem.cone import StepProblem
from mcpframe.problem.layout import Layout
from mcpframe.solving.plugin import AbstractFormulation
from mcpframe.solving.solution import Solution

Blocks = Mapping[str, Array]
"""Blocks of z by name."""


@dataclass(frozen=True, eq=False)
class Motion:
    """What the velocity after the step is, as a solution says it.

    Attributes:
        theta_dot: hinge rates [N].
        p_b: impulses of the loop closures [n_b].
        drift: largest violation of a hinge row by the new link velocities; zero in hinge rates.
    """

    theta_dot: Array
    p_b: Array
    drift: float = 0.0


@dataclass(frozen=True, eq=False)
class Recovery(ABC):
    """The way back from z to velocities and impulses; valid as long as the step's state is not moved.

    Attributes:
        terms: the rows of the step.
        layout: names of the blocks of z.
    """

    terms: StepTerms
    layout: Layout

    @abstractmethod
    def motion(self, blocks: Blocks) -> Motion:
        """Return the velocity that belongs to the blocks of a solution."""

    def own_blocks(self, shared: Blocks) -> Blocks:
        """Return the blocks of z that an outcome does not hold, given those it does (θ̇+, p_b, p_l, β, σ)."""
        return {}


class StepFormulation(AbstractFormulation):
    """Base of the formulations: the same step in, the same velocity out."""

    friction_directions: int = Field(
        default=4,
        ge=2,
        multiple_of=2,
        description="tangents of a friction cone, where the law leaves it open",
    )
    friction: Literal["polygon", "cone"] = Field(
        default="polygon",
        description="cones with so many edges, or round ones, exact, where the law leaves it open",
    )

    @property
    def directions(self) -> int:
        """What laws are told that leave their directions open; 0 is the cone itself."""
        return self.friction_directions if self.friction == "polygon" else EXACT_CONE

    def build(self, step: ContactStep) -> tuple[StepProblem, Recovery]:
        """Return the step's problem (M, q, l, u), with discs for exact cones, and what `recover` needs."""
        rows, recovery = self._independent(step)
        return rows.problem(), recovery

    def rows(self, step: ContactStep) -> StepRows:
        """Return the step's rows in contact components, before its laws make a problem of them."""
        return self._independent(step)[0]

    def _independent(self, step: ContactStep) -> tuple[StepRows, Recovery]:
        terms = StepTerms(step, self.directions)
        rows, recovery = self._write(terms)
        return without_repeated(terms, rows), recovery

    def recover(self, recovery: Recovery, solution: Solution) -> Outcome:
        """Return velocities and impulses that belong to the solution of the step's problem."""
        blocks = recovery.layout.split(solution.z)
        motion = recovery.motion(blocks)
        return Outcome(
            step=recovery.terms.step,
            theta_dot=motion.theta_dot,
            p_b=recovery.terms.least_closure_impulses(motion.p_b),
            p_l=blocks["p_l"],
            beta=blocks["beta"],
            sigma=blocks["sigma"],
            w_beta=solution.w[recovery.layout["beta"]],
            drift=max(motion.drift, closure_drift(recovery.terms, motion.theta_dot)),
        )

    def express(self, recovery: Recovery, outcome: Outcome) -> Array:
        """Return z of this formulation for an outcome of the same step, whichever formulation found it."""
        shared = {name: getattr(outcome, name) for name in ("theta_dot", "p_b", "p_l", "beta", "sigma")}
        shared["p_b"] = recovery.terms.independent.on_kept(outcome.p_b)
        blocks = {**shared, **recovery.own_blocks(shared)}
        return np.concatenate([np.zeros(0), *(blocks[name] for name in recovery.layout)])

    @abstractmethod
    def _write(self, terms: StepTerms) -> tuple[StepRows, Recovery]:
        """Return the rows of a step in contact components and the way back."""


def without_repeated(terms: StepTerms, rows: StepRows) -> StepRows:
    """Return the rows in which closures that repeat others have no impulse, and nothing asks for them.

    Their rows become p_i = 0, so that layout and size stay and no solver meets a singular matrix.
    """
    if not (terms.n_b and "p_b" in rows.layout and terms.independent.repeated.size):
        return rows
    A, stays = rows.A, np.ones(rows.b.size)
    stays[rows.layout["p_b"].start + terms.independent.repeated] = 0.0
    if sp.issparse(A):
        A = sp.csr_array(sp.diags_array(stays) @ A @ sp.diags_array(stays) + sp.diags_array(1.0 - stays))
        A.eliminate_zeros()
    else:
        A = stays[:, None] * A * stays + np.diag(1.0 - stays)
    return replace(rows, A=A, b=stays * rows.b)


def closure_drift(terms: StepTerms, theta_dot: Array) -> float:
    """Return how far the closures' rates are off what the step asks, the largest of |G_b θ̇+ - closure_rate|.

    It grows with the errors of the solver, and where closures contradict each other.
    """
    if terms.n_b == 0:
        return 0.0
    rates = terms.closures.jacobian(terms.step.state) @ theta_dot
    return float(np.abs(rates - terms.step.closure_rate).max())
