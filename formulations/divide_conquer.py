"""`dca`: as `os`, with compliance and free acceleration by divide and conquer [SPEC section 7; G06]."""

from __future__ import annotations

from typing import final

from mcpframe.contact.step_rows import StepRows
from mcpframe.formulations.base import Recovery, StepFormulation
from mcpframe.formulations.operational.recovery import OperationalRecovery
from mcpframe.formulations.terms import StepTerms
from mcpframe.multibody.reference.divide_conquer import divide_and_conquer
from mcpframe.multibody.rows import Rows


@final
class DivideAndConquer(StepFormulation):
    """Operational space by divide and conquer: the problem of `os`, its parts assembled piece by piece.

    z = [p_b; p_l; β; σ], n_b + n_l + n_u (n_f + 2) rows. Pieces of the mechanism are joined two by two; the
    whole shows the compliance Λ of the rows G = [G_b; G_l; G_u] and the free acceleration, and then as in
    [J14, Eq. (53)]

        A = Λ,     b = G (θ̇- + dt θ̈_f) + c.
    """

    name = "dca"

    def _write(self, terms: StepTerms) -> tuple[StepRows, Recovery]:
        step = terms.step
        rows = Rows.concatenate([terms.closures, terms.limits, terms.contacts])
        theta_ddot, Lambda = divide_and_conquer(step.state, rows, step.total_force, step.wrenches)
        velocity = rows.jacobian(step.state) @ (step.state.theta_dot + step.dt * theta_ddot)
        written = terms.rows({"p_b": terms.n_b}, Lambda, velocity + terms.c)
        return written, OperationalRecovery(terms, written.layout)
