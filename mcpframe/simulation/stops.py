"""Why a run cannot go on, in words: a problem that was not solved, or a step that leads nowhere.

Whatever stops a run, the steps before it are kept: the errors bring them along.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.contact import Contact
from mcpframe.exceptions import ModelError, NotSolvedError
from mcpframe.multibody.independence import check_motion, closure_name
from mcpframe.multibody.state import State
from mcpframe.scene.controllers import PD
from mcpframe.scene.scene import Scene
from mcpframe.simulation.inertias import why_free
from mcpframe.simulation.recording.steps import StepBlock

if TYPE_CHECKING:
    from mcpframe.simulation.recording.trajectory import Trajectory

NAMED = 3
"""Pairs of bodies that are named."""
RESOLVED = 0.5
"""Way per step, rad or m, up to which rates do not look like the reason."""


class StoppedError(NotSolvedError):
    """A solve failed within a block, and the scene's `on_failure` is not to go on.

    Attributes:
        solution, problem: what the solver returned, and what it was asked.
        step: number of the step that could not be taken.
        block: the steps of the block that were taken before.
    """

    def __init__(self, error: NotSolvedError, step: int, block: StepBlock) -> None:
        super().__init__(error.solution, error.problem)
        self.step, self.block = step, block

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (NotSolvedError(self.solution, self.problem), self.step, self.block)


class NoMotionError(ModelError):
    """A step leads nowhere: numbers that are none, no acceleration, closures that contradict each other.

    The message says when, which dof, and what has probably done it.

    Attributes:
        step: number of the step that could not be taken.
        block: the steps of the block that were taken before.
        trajectory: all steps of the run before, which are in its folder too; None from an engine.
    """

    trajectory: Trajectory | None = None

    def __init__(self, message: str, step: int, block: StepBlock) -> None:
        super().__init__(message)
        self.step, self.block = step, block

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.step, self.block), {"trajectory": self.trajectory}


def why_unmoved(scene: Scene, state: State, step: int) -> str:
    """Return why a step from a state has no acceleration, or ends with numbers that are none."""
    where, dt = f"step {step}, at t = {state.time:g} s", scene.stepping.dt
    told = "coordinates or rates are beyond all numbers after it"
    with np.errstate(all="ignore"):
        force = scene.controller.force(state, state.time)
        moved = dt * np.abs(state.theta_dot)
        slow = moved.max() <= RESOLVED  # it is not the motion so far
        try:
            soon = dt * dt * np.abs(state.free_acceleration(force + state.passive_force()))
            moved += soon if slow else 0.0
        except ModelError as error:
            told = str(error)
            if slow:
                return f"{where}: {told}"
    worst = int(moved.argmax())
    name, rate = scene.model.dof_names[worst], state.theta_dot[worst]
    cause = why_free(state, worst) or _cause(scene, force, float(moved[worst]))
    fastest = f"The fastest before it is {name!r}, at a rate of {rate:.3g}"
    return f"{where}: {told}. {fastest}; probable cause: {cause}"


def _cause(scene: Scene, force: Array, moved: float) -> str:
    """Return what probably makes rates grow beyond all numbers."""
    way, damped = scene.stepping, scene.model.damping.any() or scene.model.stiffness.any()
    if way.integrator == "rk4" and (damped or any(isinstance(part, PD) for part in scene.controllers)):
        return "rk4 takes stiff springs, dampers and PD as they are; midpoint takes them implicitly"
    if force.any() and any(not isinstance(part, PD) for part in scene.controllers):
        most = int(np.abs(force).argmax())
        return f"forces of controllers, {force[most]:.3g} at {scene.model.dof_names[most]!r} before it"
    if way.integrator == "semi_implicit_euler" and moved > RESOLVED:
        return f"a dt of {way.dt:g} s for such rates with semi_implicit_euler; midpoint or a smaller dt helps"
    return f"a dt of {way.dt:g} s is too long for such rates and forces; a smaller one helps"


def why_contradicted(scene: Scene, state: State, step: int) -> str:
    """Return which closures cannot be kept together."""
    where = f"step {step}, at t = {state.time:g} s"
    later = state.model.state(state.theta, state.theta_dot, state.time + scene.stepping.dt)
    try:
        check_motion(later)
    except ModelError as error:
        return f"{where}: {error}"
    moved = [k for k, closure in enumerate(state.model.closures) if closure.motion is not None]
    names = "; ".join(closure_name(state.model, k) for k in moved)
    return (
        f"{where}: the loops cannot be kept closed while the motion of {names} is prescribed; it leads "
        "beyond what the mechanism can reach"
    )


def why_endless(scene: Scene, state: State, step: int, touching: Sequence[Contact]) -> str:
    """Return that a step does not come to an end, what touches where it begins, and what is fastest there."""
    pairs = sorted({f"{contact.body_a!r} and {contact.body_b!r}" for contact in touching})
    named = ", ".join(pairs[:NAMED]) + (f" and {len(pairs) - NAMED} more pairs" if len(pairs) > NAMED else "")
    worst = int(np.abs(state.theta_dot).argmax())
    fastest = f"{scene.model.dof_names[worst]!r} is the fastest, at a rate of {state.theta_dot[worst]:.3g}"
    return (
        f"step {step}, at t = {state.time:g} s: is not done after max_trials = {scene.stepping.max_trials}. "
        f"Where it begins {named or 'nothing'} touch{'' if pairs else 'es'}, and {fastest}; a smaller dt, a "
        'larger penetration_tolerance, a line of ignore or scheme = "time_stepping" helps'
    )
