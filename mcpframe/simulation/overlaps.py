"""What overlaps, is beyond a limit or breaks a loop where a run begins: found and told, left alone or mended.

Hulls of neighbouring parts of a robot often overlap as it stands in its file. Links of one mechanism that
overlap where the run begins are left alone, as other engines do; everything else is pushed apart at a bounded
speed, `rise_speed`, so that little energy comes of it. Rates that break loops are made to fit by the first
step, which costs the energy of a blow.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from mcpframe.contact.contact import GAP
from mcpframe.contact.detection import Detector
from mcpframe.contact.limits import all_limits, limit_gaps
from mcpframe.multibody.closures import closure_rows
from mcpframe.multibody.independence import closures_off
from mcpframe.multibody.model.link import WORLD
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.state import State
from mcpframe.scene.scene import Scene
from mcpframe.simulation.material_laws import material_rows

TOLD = 10
"""Most lines of a report; of the others only their number is told."""
UNFIT = 1e-3
"""Share of the largest rate by which rates may break a loop unsaid: that costs a millionth of the energy."""


class OverlapWarning(UserWarning):
    """A run begins with bodies that overlap, hinges beyond their limits or rates that break loops."""


@dataclass(frozen=True)
class Overlap:
    """Two bodies that overlap where a run begins.

    Attributes:
        a, b: their names.
        depth: m.
        belongs: whether they are parts of one mechanism, and left alone.
    """

    a: str
    b: str
    depth: float
    belongs: bool

    def __str__(self) -> str:
        what = "left alone, as parts of one mechanism" if self.belongs else "pushed apart"
        words = f"{self.a!r} and {self.b!r} overlap by {1e3 * self.depth:.3g} mm: {what}"
        return f"{words}; ignore = [[{self.a!r}, {self.b!r}]] says that they never meet"


def overlaps_of(scene: Scene, detector: Detector) -> list[Overlap]:
    """Return the pairs of bodies that overlap at the start by more than the tolerance, deepest first.

    Where contacts have a layer that is a deformation, not an overlap.
    """
    state, names = scene.initial_state(), [*(link.name for link in scene.model.links), WORLD]
    detector.detect(state, -scene.stepping.penetration_tolerance)
    deepest: dict[tuple[int, int], float] = {}
    rows = material_rows(scene, detector.materials, scene.stepping.dt)
    hard = np.array([law.layer is None for law in rows], dtype=bool)[detector.material]
    gaps = detector.record[hard, GAP]
    for (a, b), gap in zip(detector.pairs[hard].tolist(), gaps.tolist(), strict=True):
        pair = detector.shapes[a].link, detector.shapes[b].link
        deepest[pair] = max(deepest.get(pair, 0.0), -gap)
    root = _roots(scene.model)
    found = [
        Overlap(names[a], names[b], depth, b >= 0 and root[a] == root[b]) for (a, b), depth in deepest.items()
    ]
    return sorted(found, key=lambda overlap: -overlap.depth)


def _roots(model: Model) -> list[int]:
    """Return the first link of the mechanism that every link belongs to; links in depth-first order."""
    root: list[int] = []
    for k, parent in enumerate(model.tree.parents.tolist()):
        root.append(root[parent] if parent >= 0 else k)
    return root


def beyond_limits(scene: Scene, state: State) -> list[str]:
    """Return in words which hinges are beyond their limits, and by how much."""
    limits, gaps = all_limits(scene.model.tree), limit_gaps(state)
    names = scene.model.dof_names
    return [
        f"{names[limits.dof[i]]!r} is beyond its limit {limits.bound[i]:g} by {-gaps[i]:.3g}: brought back"
        for i in np.flatnonzero(gaps < -scene.stepping.penetration_tolerance)
    ]


def unfit_rates(model: Model, state: State) -> list[str]:
    """Return in words which loops the rates break, those whose motion is prescribed left out, if any."""
    if not model.closures:
        return []
    off = np.abs(closure_rows(state).velocity(state))
    free = [closure.motion is None for closure in model.closures for _ in range(closure.n_rows)]
    broken = free & (off > UNFIT * np.abs(state.theta_dot).max(initial=0.0))
    if not broken.any():
        return []
    names = ", ".join(closures_off(model, broken))
    return [
        f"theta_dot breaks {names} by {off[broken].max():.3g} m/s or rad/s: the first step makes it fit, as "
        "a blow would; mf.project_rates(state) returns rates that fit"
    ]


def warn_of_overlaps(scene: Scene, overlaps: list[Overlap], stacklevel: int = 2) -> None:
    """Warn once where a run begins with overlaps, hinges beyond their limits or rates that break loops."""
    state = scene.initial_state()
    lines = [*map(str, overlaps), *beyond_limits(scene, state), *unfit_rates(scene.model, state)]
    if not lines:
        return
    more = [f"and {len(lines) - TOLD} more"] if len(lines) > TOLD else []
    text = "\n  ".join([f"{scene.name}: where the run begins", *lines[:TOLD], *more])
    warnings.warn(text, OverlapWarning, stacklevel=stacklevel + 1)
