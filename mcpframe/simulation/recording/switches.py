"""Switches between contact models in a run."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from mcpframe.simulation.recording.steps import StepBlock


class Switch(NamedTuple):
    """A switch between contact models, before a step [S00, section 4].

    Attributes:
        time: where the step begins, s.
        to: what contacts are from this step on.
        margin: by how much rigid forces are unique in that step, as it was before it was made again.
        growth: rate at which a layer would leave them, 1/s.
        force_jump: largest change of a normal force, N.
        energy: of the layer, that begins with it or is left behind, J.
    """

    time: float
    to: Literal["rigid", "compliant"]
    margin: float
    growth: float
    force_jump: float
    energy: float

    def __str__(self) -> str:
        return (
            f"{self.to} from {self.time:g} s on (margin {self.margin:.3g}, growth {self.growth:.3g} 1/s, "
            f"force jump {self.force_jump:.2g} N, layer {self.energy:.2g} J)"
        )


def switches_of(steps: StepBlock, dt: float) -> list[Switch]:
    """Return all switches of recorded steps of dt, in their order."""
    found = []
    for k in np.flatnonzero(np.isfinite(steps.force_jump)):
        figures = (steps.margin, steps.growth, steps.force_jump, steps.layer_energy)
        to: Literal["rigid", "compliant"] = "compliant" if steps.contact_model[k] else "rigid"
        found.append(Switch(float(steps.time[k]) - dt, to, *(float(figure[k]) for figure in figures)))
    return found
