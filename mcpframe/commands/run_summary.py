"""The table that a simulation ends with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from mcpframe.notebook.html import duration

if TYPE_CHECKING:
    from mcpframe.scene.scene import Scene
    from mcpframe.simulation.recording.trajectory import (
        Trajectory,  # its kernels are loaded when a scene is run
    )

PARTS = ("build", "solve", "recover")
FIRST_STEPS = 2
"""The start, which is no step, and the first step."""
ENERGY_ROUNDING = 1e-9
"""Share of an impact's kinetic energy that it may gain by rounding alone, before it counts as growth."""


def summary(trajectory: Trajectory, scene: Scene | None = None) -> Table:
    """Return what there is to know of a run at a glance; what is wrong with it stands out.

    With its scene, also what only that tells: energy from nowhere, rates that steps do not resolve, order.
    """
    table = Table.grid(padding=(0, 2))
    for name, text, good in (
        ("simulated", _simulated(trajectory), True),
        ("contacts", f"at most {trajectory.n_contacts.max(initial=0)}", True),
        ("overlap", f"at most {trajectory.penetration.max(initial=0.0):.1e} m", True),
        ("impacts", *_impacts(trajectory)),
        ("energy", _energy(trajectory), True),
        *(() if scene is None else _found(scene, trajectory)),
        *_contact_model(trajectory),
        ("residual", f"at most {np.nanmax(trajectory.residual, initial=0.0):.1e}", True),
        ("certificate", _certificate(trajectory), True),
        ("not solved", f"{len(trajectory.failed)} steps", not len(trajectory.failed)),
        ("wall time", _wall_time(trajectory), True),
    ):
        table.add_row(name, Text(text, style="" if good else "bold red"))
    return table


def _contact_model(trajectory: Trajectory) -> list[tuple[str, str, bool]]:
    """Return how long contacts yielded, how unique rigid forces were, and the switches."""
    if not (trajectory.contact_model >= 0).any():
        return []
    told = trajectory.unique != 0
    unique, yields = int((trajectory.unique > 0).sum()), int((trajectory.contact_model > 0).sum())
    lowest = np.nanmin(trajectory.margin, initial=np.inf)
    margin = f", margin at least {lowest:.3g}" if np.isfinite(lowest) else ""
    text = f"rigid forces unique in {unique} of {int(told.sum())} steps{margin}; compliant in {yields}"
    untold = int((_presses(trajectory) & ~told).sum())
    if untold:
        text += f"; {untold} with too much that presses were not judged"
    return [("contact model", text, True), *(("", str(switch), True) for switch in trajectory.switches)]


def _presses(trajectory: Trajectory) -> NDArray[np.bool_]:
    """Return in which steps some contact presses."""
    step = np.repeat(np.arange(len(trajectory)), trajectory.n_contacts)
    presses = np.zeros(len(trajectory), dtype=bool)
    presses[step[trajectory.contacts.impulse.any(axis=1)]] = True
    return presses


def _found(scene: Scene, trajectory: Trajectory) -> list[tuple[str, str, bool]]:
    """Return what is to be warned of, and where a run with rk4 is not of fourth order."""
    from mcpframe.simulation.audit.findings import findings
    from mcpframe.simulation.audit.order import lost_order

    found = [("", f"WARNING: {finding}", False) for finding in findings(scene, trajectory)]
    order = lost_order(scene, trajectory)
    return [*found, ("order", order, True)] if order else found


def _certificate(trajectory: Trajectory) -> str:
    """Return how far from physics the worst step or impact is that was certified."""
    made = trajectory.certificate[np.isfinite(trajectory.certificate)]
    return f"at most {made.max():.1e}" if made.size else "none made"


def _simulated(trajectory: Trajectory) -> str:
    time = trajectory.time[-1] - trajectory.time[0]
    return f"{time:g} s, {len(trajectory) - 1} steps recorded"


def _impacts(trajectory: Trajectory) -> tuple[str, bool]:
    """Return how many there were and what energy the worst one has added, and whether that is in order."""
    impacts = trajectory.impacts
    gains = impacts.energy_after - impacts.energy_before
    if not len(gains):
        return "none", True
    grows = int((gains > ENERGY_ROUNDING * impacts.energy_before).sum())
    text = f"{len(gains)}, kinetic energy changed by {gains.max():+.1e} J at the most"
    return (f"{text}; WARNING: it grew in {grows} of them", False) if grows else (text, True)


def _energy(trajectory: Trajectory) -> str:
    energy = trajectory.total_energy
    return f"{energy[0]:.6g} J at the start, {energy[-1]:.6g} J at the end ({energy[-1] - energy[0]:+.3g} J)"


def _wall_time(trajectory: Trajectory) -> str:
    """Return the median time of a step and what steps spend it on; the first one, which loads code, apart."""
    seconds = trajectory.step_seconds[FIRST_STEPS:]
    total = float(seconds.sum())
    if not total:
        return "not measured"
    spent = {part: getattr(trajectory, f"{part}_seconds")[FIRST_STEPS:].sum() for part in PARTS}
    shares = {part: float(time) / total for part, time in spent.items()}
    shares["other"] = max(0.0, 1.0 - sum(shares.values()))
    told = ", ".join(f"{part} {share:.0%}" for part, share in shares.items())
    return f"{duration(float(np.median(seconds)))} per step: {told}"
