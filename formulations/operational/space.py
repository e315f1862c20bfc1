"""`os`: impulses at the nodes where constraints act, by the operational-space compliance [J14, section 6].

Λ = J Mass^-1 J* is the compliance of the nodes, never its inverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from mcpframe.contact.law import LawRows
from mcpframe.formulations.base import Recovery, StepFormulation
from mcpframe.formulations.operational.kernels import operational_space
from mcpframe.formulations.operational.plan import OperationalPlan, equations_of, plan_of
from mcpframe.formulations.operational.recovery import OperationalRecovery
from mcpframe.formulations.terms import StepTerms
from mcpframe.multibody.memory.skeleton import Skeleton
from mcpframe.problem.problems import MixedLCP
from mcpframe.solving.stages import FormulationStages


@final
class OperationalSpace(StepFormulation):
    """Operational space: impulses of loops, limits and contacts; the size does not depend on the links.

    z = [p_b; p_l; β; σ], n_b + n_l + n_u (n_f + 2) rows [J14, Eq. (53)]. With Q = [Q_b; Q_l; D* Q_u] on the
    velocities V_c = J θ̇ of the n_c nodes

        M = Q Λ Q*,     q = Q J (θ̇- + dt θ̈_f) + c

    and the slacks of the contact laws around it. One compiled call from the state to M and q,
    O(N) + O(n_c²).
    """

    name = "os"
    aliases: ClassVar[tuple[str, ...]] = ("tree_augmented",)

    def _build(self, terms: StepTerms) -> tuple[MixedLCP, Recovery]:
        plan = assembled(terms)
        return plan.problem(), OperationalRecovery(terms, plan.layout, plan, plan.filled)

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


def assembled(terms: StepTerms) -> OperationalPlan:
    """Return the plan of a step with M and q filled in."""
    step, state = terms.step, terms.step.state
    equations = equations_of(terms)
    plan = plan_of(step, equations, terms.n_b if equations.n else 0)
    if equations.n:
        plan.set_equations(equations, state.reference_points())
    done = state.take_forces(step.hinge_force, step.wrenches)
    bias = step.dt if step.contact_bias else 0.0
    failed = operational_space(
        state.I, state.X, plan.IR, plan.XR, step.contacts.flat_record, step.contact_shift, step.dt, bias, done
    )
    plan.filled += 1
    step.free_acceleration = state.accelerated(failed)
    if equations.n:
        plan.q[: equations.n] += np.concatenate([terms.c_b, terms.c_l])
    return plan
