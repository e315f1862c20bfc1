"""`dca`: as `os`, with compliance and free acceleration by divide and conquer [SPEC section 7; G06]."""

from __future__ import annotations

from typing import final

import numpy as np

from mcpframe.contact.law_blocks import block_diagonal
from mcpframe.formulations.base import Recovery, StepFormulation, mixed_lcp
from mcpframe.formulations.operational.recovery import OperationalRecovery
from mcpframe.formulations.terms import StepTerms
from mcpframe.multibody.reference.divide_conquer import divide_and_conquer
from mcpframe.multibody.rows import Rows
from mcpframe.problem.problems import MixedLCP


@final
class DivideAndConquer(StepFormulation):
    """Operational space by divide and conquer: the problem of `os`, its parts assembled piece by piece.

    z = [p_b; p_l; β; σ], n_b + n_l + n_u (n_f + 2) rows. Pieces of the mechanism are joined two by two; the
    whole shows the compliance Λ of the rows [G_b; G_l; G_u] and the free acceleration, and then as in
    [J14, Eq. (53)], with D on the contacts' rows,

        M = D* Λ D,     q = D* G (θ̇- + dt θ̈_f) + c

    and the slacks of the contact laws around it.
    """

    name = "dca"

    def _build(self, terms: StepTerms) -> tuple[MixedLCP, Recovery]:
        step = terms.step
        rows = Rows.concatenate([terms.closures, terms.limits, terms.contacts])
        theta_ddot, Lambda = divide_and_conquer(step.state, rows, step.total_force, step.wrenches)
        directions = block_diagonal([np.eye(terms.n_b + terms.n_l), terms.laws.D])
        velocity = rows.jacobian(step.state) @ (step.state.theta_dot + step.dt * theta_ddot)
        A, b = directions.T @ Lambda @ directions, directions.T @ velocity + terms.c
        problem = mixed_lcp(terms, {"p_b": terms.n_b}, A, b)
        return problem, OperationalRecovery(terms, problem.layout)
