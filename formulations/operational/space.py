"""`os`: impulses at the nodes where constraints act, by the operational-space compliance [J14, section 6].

Λ = J Mass^-1 J* is the compliance of the nodes, never its inverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from mcpframe.contact.law import LawRows
from mcpframe.contact.step import ContactStep
from mcpframe.contact.step_rows import StepRows
from mcpframe.formulations.base import Recovery, StepFormulation
from mcpframe.formulations.operational.kernels import operational_space
from mcpframe.formulations.operational.plan import OperationalPlan, equations_of, plan_of
from mcpframe.formulations.operational.recovery import OperationalRecovery
from mcpframe.formulations.terms import StepTerms
from mcpframe.multibody.memory.skeleton import Skeleton
from mcpframe.problem.cone import StepProblem
from mcpframe.solving.stages import FormulationStages


@final
class OperationalSpace(StepFormulation):
    """Operational space: impulses of loops, limits and contacts; the size does not depend on the links.

    z = [p_b; p_l; β; σ], n_b + n_l + n_u (n_f + 2) rows [J14, Eq. (53)]. With Q = [Q_b; Q_l; Q_u] on the
    velocities V_c = J θ̇ of the n_c nodes

        A = Q Λ Q*,     b = Q J (θ̇- + dt θ̈_f) + c.

    One compiled call from the state to A and b, and on to M and q, O(N) + O(n_c²).
    """

    name = "os"
    aliases: ClassVar[tuple[str, ...]] = ("tree_augmented",)

    def build(self, step: ContactStep) -> tuple[StepProblem, Recovery]:
        """Return the step's problem, encoded by the kernel that has written its rows, and the way back."""
        terms = StepTerms(step, self.directions)
        if terms.n_b and terms.independent.repeated.size:
            return super().build(step)
        plan, recovery = assembled(terms)
        return plan.problem(), recovery

    def _write(self, terms: StepTerms) -> tuple[StepRows, Recovery]:
        plan, recovery = assembled(terms)
        return plan.rows(), recovery

    def stages(
        self,
        skeleton: Skeleton,
        loops: NDArray[np.int64],
        laws: Sequence[LawRows],
        half: Sequence[LawRows],
        dt: float,
    ) -> FormulationStages | None:
        """Return kernels by which compiled code writes steps as this formulation does; None for none."""
        from mcpframe.formulations.operational.stages import operational_stages  # compiled when asked for

        return operational_stages(skeleton, loops, laws, half, dt)


def assembled(terms: StepTerms) -> tuple[OperationalPlan, Recovery]:
    """Return the plan of a step with A, b, M and q filled in, and the way back."""
    step, state = terms.step, terms.step.state
    equations = equations_of(terms)
    plan = plan_of(step, equations, terms.n_b if equations.n else 0)
    if equations.n:
        asked = np.concatenate([terms.c_b, terms.c_l])
        plan.set_equations(equations, state.reference_points(), asked)
    done = state.take_forces(step.hinge_force, step.wrenches)
    bias = step.dt if step.contact_bias else 0.0
    touching = step.contacts.flat_record, step.contact_shift.ravel(), step.softness.ravel()
    failed = operational_space(state.I, state.X, plan.IR, plan.XR, *touching, step.dt, bias, done)
    plan.lean(terms.c_sigma, terms.c_disc, terms.exact)
    plan.filled += 1
    step.free_acceleration = state.accelerated(failed)
    return plan, OperationalRecovery(terms, plan.layout, plan, plan.filled)
