"""What the formulations of a contact step share: options, the problem around their rows, the way back.

A formulation writes w = A x + b for its own unknowns and rows, x = [its head; p_l; β]; here the slacks σ,
the bounds, the names of the blocks and the places of the contacts are added,

    M = [[A, N], [P, R]],   q = [b; r],   z = [head; p_l; β; σ].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from pydantic import Field

from mcpframe.arrays import Array
from mcpframe.contact.outcome import Outcome
from mcpframe.contact.step import ContactStep
from mcpframe.formulations.terms import StepTerms
from mcpframe.problem.layout import Layout
from mcpframe.problem.problems import MixedLCP
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

    def own_blocks(self, outcome: Outcome) -> Blocks:
        """Return the blocks of z that an outcome does not hold; none in minimal coordinates."""
        return {}


class StepFormulation(AbstractFormulation):
    """Base of the formulations: the same step in, the same velocity out."""

    friction_directions: int = Field(
        default=4,
        ge=2,
        multiple_of=2,
        description="tangents of a friction cone, where the law leaves it open",
    )

    def build(self, step: ContactStep) -> tuple[MixedLCP, Recovery]:
        """Return the step's problem (M, q, l, u) and what `recover` will need."""
        return self._build(StepTerms(step, self.friction_directions))

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
        blocks = {**shared, **recovery.own_blocks(outcome)}
        return np.concatenate([np.zeros(0), *(blocks[name] for name in recovery.layout)])

    @abstractmethod
    def _build(self, terms: StepTerms) -> tuple[MixedLCP, Recovery]:
        """Return the problem of these rows and the way back."""


def mixed_lcp(
    terms: StepTerms, head: Mapping[str, int], A: Any, b: Array, *, head_lower: float = -np.inf
) -> MixedLCP:
    """Return the problem of rows w = A x + b, x = [head; p_l; β], with the slacks of the contact laws.

    Args:
        terms: the rows of the step.
        head: names and sizes of the unknowns before p_l.
        A: matrix of the rows, dense or sparse; sparse stays sparse.
        b: their constants.
        head_lower: lower bound of the head; without bounds its rows are equations.
    """
    laws, n_head = terms.laws, sum(head.values())
    layout = Layout({**head, "p_l": terms.n_l, "beta": laws.n_beta, "sigma": laws.n_sigma})
    free = np.zeros((n_head + terms.n_l, laws.n_sigma))
    N, P = np.vstack([free, laws.N]), np.hstack([free.T, laws.P])
    M = (
        sp.block_array([[A, N], [P, laws.R]], format="csr")
        if sp.issparse(A)
        else np.block([[A, N], [P, laws.R]])
    )
    zero = np.zeros(terms.n_l)
    return MixedLCP(
        M,
        np.concatenate([b, laws.r]),
        np.concatenate([np.full(n_head, head_lower), zero, laws.beta_lower, laws.sigma_lower]),
        np.concatenate([np.full(n_head, np.inf), zero + np.inf, laws.beta_upper, laws.sigma_upper]),
        layout=layout,
        contacts=laws.contact_blocks(layout),
    )


def closure_drift(terms: StepTerms, theta_dot: Array) -> float:
    """Return how far the closures' rates are off what the step asks, the largest of |G_b θ̇+ - closure_rate|.

    It grows with the errors of the solver, and where closures contradict each other.
    """
    if terms.n_b == 0:
        return 0.0
    rates = terms.closures.jacobian(terms.step.state) @ theta_dot
    return float(np.abs(rates - terms.step.closure_rate).max())
