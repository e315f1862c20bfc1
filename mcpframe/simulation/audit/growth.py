"""Energy that grows though nothing drives: how much, from when, and what has probably done it.

Kinetic energy, that in gravity and that in springs never grow in nature without a drive; contacts and dampers
only take from them. So what a run has above the least that it ever had before,

    G(t) = E(t) - min_(s <= t) E(s),

is an error. It is told where it exceeds a share of the energy in motion without it, max_(s <= t) (T - G), and
the weight of what has sunk in, which rises again. Where a run begins with overlaps, which are pushed apart,
it is judged from where they have gone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcpframe.arrays import Array
from mcpframe.contact.limits import all_limits
from mcpframe.scene.scene import Scene
from mcpframe.simulation.audit.rates import fast_turns
from mcpframe.simulation.recording.energy_audit import energy_gains
from mcpframe.simulation.recording.trajectory import Trajectory

GROWN = 0.05
"""Share of the energy in motion: more than the swing of a first-order scheme at usual steps."""
ROUNDING = 1e-9
"""Joules for every kilogram, metre per second and metre of height: what solves may be off by."""


@dataclass(frozen=True)
class Growth:
    """Energy from nowhere.

    Attributes:
        gained, moved: how much, and the energy in motion without it, J.
        start, end: from when to when it has grown by that, s.
        cause: what has probably done it, in words.
    """

    gained: float
    moved: float
    start: float
    end: float
    cause: str

    def __str__(self) -> str:
        share = f", {100 * self.gained / self.moved:.3g} % of what is in motion" if self.moved > 0.0 else ""
        return (
            f"energy has grown by {self.gained:.3g} J{share}, from t = {self.start:g} s to {self.end:g} s, "
            f"though nothing drives it; probable cause: {self.cause}"
        )


def is_driven(scene: Scene) -> bool:
    """Return whether something may add energy: a controller, a prescribed motion, a contact law that drives.

    Springs on balls and free hinges count too: what they hold is not looked at.
    """
    plain = scene.model.tree.coordinates.plain_dofs
    turned = np.delete(scene.model.stiffness, plain)
    moved = any(closure.motion is not None for closure in scene.model.closures)
    laws = (material.law for material in scene.materials.values())
    driving = any(getattr(law, "adds_energy", False) for law in laws)
    return bool(scene.controllers) or moved or driving or bool(turned.any())


def mechanical_energy(run: Trajectory) -> Array:
    """Return kinetic energy and that in gravity and in the springs of plain hinges and layers [n], J.

    Without what layers begin with, and what they leave, where the contact model is switched.
    """
    model, places = run.model, run.model.tree.coordinates
    stiffness = model.stiffness[places.plain_dofs]
    given = np.where(run.contact_model > 0, run.layer_energy, -run.layer_energy)
    energy: Array = run.total_energy - np.cumsum(np.where(np.isfinite(run.force_jump), given, 0.0))
    if stiffness.any():
        away = run.theta[:, places.plain_theta] - model.rest_theta[places.plain_theta]
        energy = energy + 0.5 * away**2 @ stiffness
    return energy


def energy_growth(scene: Scene, run: Trajectory) -> Growth | None:
    """Return how far the energy of a run has grown without a drive; None where that is within its bounds."""
    if is_driven(scene):
        return None
    first = _apart(scene, run)
    if first:
        run = Trajectory(run.header, run.steps.rows(first, len(run)))
    energy = mechanical_energy(run)
    n = int(np.argmin(np.append(np.isfinite(energy), False)))
    if n == 0:
        return None
    energy, kinetic = energy[:n], run.kinetic_energy[:n]
    gained = energy - np.minimum.accumulate(energy)
    moved = np.maximum.accumulate(np.maximum(kinetic - gained, 0.0))
    excess = gained - GROWN * moved - _free(scene, run)
    if not (excess > 0.0).any():
        return None
    end = int(excess.argmax())
    start = int(energy[: end + 1].argmin())
    cause = _cause(scene, run, start, end, float(gained[end]))
    return Growth(float(gained[end]), float(moved[end]), float(run.time[start]), float(run.time[end]), cause)


def _apart(scene: Scene, run: Trajectory) -> int:
    """Return the first row at which nothing overlaps that did at the start, whose overlaps no row has."""
    limits, tolerance = all_limits(run.model.tree), scene.stepping.penetration_tolerance
    gaps = limits.sign * (run.theta[:, limits.theta] - limits.bound)
    sunk = (run.penetration > tolerance) | np.any(gaps < -tolerance, axis=1)
    begins = len(run) > 1 and bool(sunk[:2].any())
    return 1 + int(np.argmin(np.append(sunk[1:], False))) if begins else 0


def _free(scene: Scene, run: Trajectory) -> float:
    """Return what energy may grow by at any time, J: rounding, and the lifting of what overlaps."""
    depth = scene.stepping.penetration_tolerance + run.penetration.max(initial=0.0)
    mass, g = sum(link.mass for link in run.model.links), float(np.linalg.norm(run.model.gravity))
    return float(mass * (ROUNDING * (1.0 + g) + g * depth))


def _cause(scene: Scene, run: Trajectory, start: int, end: int, gained: float) -> str:
    """Return what has probably done it, the surest first."""
    stepping, steps = scene.stepping, run.steps.rows(start, end + 1)
    dt = stepping.dt
    part = Trajectory(run.header, steps)
    if len(part.failed):
        return f"{len(part.failed)} of these steps were not solved"
    if energy_gains(steps.impacts).sum() > 0.5 * gained:
        return "impacts, whose energies are in the trajectory"
    fast = fast_turns(Trajectory(run.header, run.steps.rows(0, end + 1)), dt)
    if fast is not None:
        return f"a step of {dt:g} s does not resolve how {fast.name!r} turns, at {fast.rate:.3g} rad/s"
    if stepping.integrator == "semi_implicit_euler":
        return "semi_implicit_euler, which is of first order; midpoint, the default, is of second"
    if scene.model.closures and stepping.drift_control != "projection":
        return f'loops that drift_control = "{stepping.drift_control}" lets open'
    if stepping.scheme == "time_stepping" and len(steps.contacts):
        return f"contacts that close within fixed steps of {dt:g} s; a smaller dt or event_driven tells"
    return f"a dt of {dt:g} s is too long for this motion; half of it tells"
