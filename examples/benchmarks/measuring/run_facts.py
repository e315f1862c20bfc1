"""What the studies of robots read from a run of ours: overlap, opening of loops, failed steps by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.multibody.closures import closure_rows
from mcpframe.simulation.recording.steps import STATUSES
from mcpframe.simulation.recording.trajectory import Trajectory


def largest_overlap(run: Trajectory) -> float:
    """Return the largest overlap after steps and at impacts, m."""
    return float(np.concatenate([run.penetration, run.impacts.penetration]).max(initial=0.0))


def opening(model: mf.Model, coordinates: Iterable[Array]) -> float:
    """Return the largest opening of a loop at any of the coordinates, m or rad; zero without loops."""
    if not model.closures:
        return 0.0
    state = model.state()
    return max(float(np.abs(closure_rows(state.update(theta)).error).max()) for theta in coordinates)


def failures(run: Trajectory) -> dict[str, int]:
    """Return how many steps had no certified answer, by reason."""
    return dict(Counter(STATUSES[code].lower().replace("_", " ") for code in run.status[run.failed]))


def in_words(failed: Mapping[str, int]) -> str:
    """Return how many steps failed, and why."""
    return "; ".join(f"{count} {reason}" for reason, count in failed.items()) or "0"
