"""The way back from impulses to hinge rates, for formulations that keep all impulses and no velocity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mcpframe.arrays import Array
from mcpframe.formulations.base import Blocks, Motion, Recovery
from mcpframe.formulations.operational.kernels import operational_response
from mcpframe.formulations.operational.plan import OperationalPlan


@final
@dataclass(frozen=True, eq=False)
class OperationalRecovery(Recovery):
    """Hinge rates follow from the impulses in O(N).

    Attributes:
        plan: workspaces that the step was written in; None where there are none.
        filled: how often they had been filled then; as long as that is so, they hold the step's wrenches.
    """

    plan: OperationalPlan | None = None
    filled: int = 0

    def motion(self, blocks: Blocks) -> Motion:
        """Return the velocity that belongs to the blocks of a solution."""
        return Motion(self._velocity(blocks), blocks["p_b"])

    def _velocity(self, blocks: Blocks) -> Array:
        terms, plan = self.terms, self.plan
        if plan is None or plan.filled != self.filled:
            return terms.velocity(terms.impulses(blocks))
        state, free = terms.step.state, terms.free_velocity()
        impulses = np.concatenate([blocks["p_b"], blocks["p_l"], blocks["beta"]])
        response = np.empty_like(free)
        operational_response(state.I, state.X, plan.IR, plan.XR, impulses, response)
        return free + response
