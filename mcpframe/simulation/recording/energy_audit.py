"""Impacts that add kinetic energy, which nature does not do: found in the audit of a run, and told.

Neither law of restitution does, see `simulation.step.restitution`; closures whose motion is prescribed can,
for something drives them, and the energies of a jam are as good as the step that it is a part of.
"""

from __future__ import annotations

import warnings

import numpy as np

from mcpframe.arrays import Array
from mcpframe.simulation.recording.steps import ImpactTable

GAIN, FLOOR = 1e-8, 1e-9
"""Shares of an impact's energy, and of that of the run's greatest impact, which solves may be off by."""


class EnergyWarning(UserWarning):
    """Energy of a run has grown though nothing drives it, or impacts have added some."""


def energy_gains(impacts: ImpactTable) -> Array:
    """Return what every impact has added to the kinetic energy, J; zero where that is within rounding."""
    gains = impacts.energy_after - impacts.energy_before
    rounding = GAIN * impacts.energy_before + FLOOR * impacts.energy_before.max(initial=0.0)
    found: Array = np.where(gains > rounding, gains, 0.0)
    return found


def _why(impacts: ImpactTable, k: int) -> str:
    if impacts.jam[k]:
        return "it is a jam, part of a step that is too long for what moves there: take a smaller dt"
    return "only a motion that is prescribed to a closure can do that"


def warn_of_gains(impacts: ImpactTable, stacklevel: int = 2) -> None:
    """Warn once where impacts of a run have added energy, naming how many and the worst of them."""
    gains = energy_gains(impacts)
    if not gains.any():
        return
    worst = int(gains.argmax())
    warnings.warn(
        f"{np.count_nonzero(gains)} of {len(impacts)} impacts added kinetic energy, most of all the one at "
        f"t = {impacts.time[worst]:g} s: {impacts.energy_before[worst]:.4g} J before, "
        f"{gains[worst]:.2g} J more after; {_why(impacts, worst)}",
        EnergyWarning,
        stacklevel=stacklevel + 1,
    )
