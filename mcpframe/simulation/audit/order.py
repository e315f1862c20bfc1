"""Where a run with `rk4` is not of fourth order: where contacts or limits change, and controllers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mcpframe.contact.limits import all_limits
from mcpframe.scene.controllers import Constant
from mcpframe.scene.scene import Scene
from mcpframe.simulation.recording.steps import NONE
from mcpframe.simulation.recording.trajectory import Trajectory


def held_rows(scene: Scene, run: Trajectory) -> NDArray[np.bool_]:
    """Return in which recorded steps contacts or limits have pressed, or may have, by a problem solved [n].

    A step that needed none was free, or contacts kept their modes. Of the others those were free too, up to
    what a solve is good for, in which no contact took an impulse and no limit is closed; with loops, which
    impulses keep, none was.
    """
    solved: NDArray[np.bool_] = run.status != NONE
    if run.model.closures:
        return solved
    limits, stepping = all_limits(run.model.tree), scene.stepping
    gaps = limits.sign * (run.theta[:, limits.theta] - limits.bound)
    at_limit = np.any(gaps <= stepping.penetration_tolerance, axis=1).reshape(-1)
    at_limit[1:] |= at_limit[:-1].copy()  # where the step has begun
    pressed = np.zeros(len(run), dtype=bool)
    owner = np.repeat(np.arange(len(run)), run.n_contacts)
    pressed[owner[run.contacts.impulse.any(axis=1)]] = True
    held: NDArray[np.bool_] = solved & (pressed | at_limit | (run.n_impacts > 0))
    return held


def lost_order(scene: Scene, run: Trajectory) -> str:
    """Return in words where a run with rk4 is not of fourth order; empty where it is, or was not asked to."""
    if scene.stepping.integrator != "rk4" or len(run) < 2:
        return ""
    parts, held = [], held_rows(scene, run)
    if held.any():
        first = run.time[int(held.argmax())]
        parts.append(
            f"second in {int(held.sum())} of {len(run) - 1} steps recorded, in which contacts or limits "
            f"change, the first at t = {first:g} s"
        )
    if any(not isinstance(controller, Constant) for controller in scene.controllers):
        parts.append("first where controllers act, which are asked once in a step")
    return "; ".join(["fourth", *parts])
