"""All that is found against a run, told as warnings once it has ended, and in its summary."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from mcpframe.scene.scene import Scene
from mcpframe.simulation.audit.growth import energy_growth
from mcpframe.simulation.audit.rates import ResolutionWarning, fast_turns
from mcpframe.simulation.recording.energy_audit import EnergyWarning
from mcpframe.simulation.recording.trajectory import Trajectory


@dataclass(frozen=True)
class Finding:
    """Something to be warned of, in words, and as which warning."""

    text: str
    kind: type[UserWarning]

    def __str__(self) -> str:
        return self.text


def findings(scene: Scene, run: Trajectory) -> list[Finding]:
    """Return what is to be said against a run."""
    growth, fast = energy_growth(scene, run), fast_turns(run, scene.stepping.dt)
    found = [] if growth is None else [Finding(str(growth), EnergyWarning)]
    return found if fast is None else [*found, Finding(str(fast), ResolutionWarning)]


def warn_of_findings(scene: Scene, run: Trajectory, stacklevel: int = 2) -> None:
    """Warn of each finding, once."""
    for finding in findings(scene, run):
        warnings.warn(f"{scene.name}: {finding}", finding.kind, stacklevel=stacklevel + 1)
