"""Twelve systems that integrators are compared on: what is known of their motion, and of their energy.

What is known comes from closed forms and from the ODEs of examples/truth; through collisions, of the pendulum
of J14, from the same equations, taken in steps of 1/16 ms by `rk4`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.simulation.audit.growth import mechanical_energy

EXAMPLES = Path(__file__).parents[2]
sys.path.append(str(EXAMPLES))

from truth.articulated.chains import double_pendulum, hanging, hanging_energy, relative, twelve_links  # noqa: E402
from truth.articulated.drives import KP, pd_arm  # noqa: E402
from truth.articulated.mechanisms import four_bar  # noqa: E402
from truth.articulated.spins import heavy_top, rotation_of, tumbling_motion  # noqa: E402
from truth.bodies import G, ball, block  # noqa: E402
from truth.equations import Chain, integrated  # noqa: E402
from truth.motions import Motion  # noqa: E402
from truth.touching.blocks import MU  # noqa: E402
from truth.touching.rolling import RADIUS, coin  # noqa: E402

SPIN = np.array([200.0, -100.0, 200.0]) / 3.0
"""Of the free ball: 100 rad/s."""
DAMPING, LINKS = 0.02, 6
FINE = 1.0 / 16e3
"""Step of the run that the pendulum of J14 is compared with, s."""
THROUGH = 2.544
"""Seconds in which the pendulum of J14 collides twice."""


@dataclass(frozen=True)
class Subject:
    """A system.

    Attributes:
        name: in words.
        motion: with its known end; its bound is not used.
        scale: energy that errors are shares of, J.
        keeps: whether energy stays; else it must not grow.
        energy: of a run [n], J.
    """

    name: str
    motion: Motion
    scale: float
    keeps: bool = True
    energy: Callable[[mf.Trajectory], Array] = mechanical_energy

    def lost(self, run: mf.Trajectory) -> Array:
        """Return by how much energy is wrong up to every time, as a share [n]."""
        energy = self.energy(run)
        wrong = np.abs(energy - energy[0]) if self.keeps else energy - np.minimum.accumulate(energy)
        shares: Array = np.maximum.accumulate(wrong) / self.scale
        return shares


def subjects() -> list[Subject]:
    """Return the twelve."""
    top, coins, bar = heavy_top(), coin(), four_bar()
    return [
        Subject("free spin", free_spin(), kinetic(free_spin())),
        Subject("Dzhanibekov", tumbling_motion(), kinetic(tumbling_motion())),
        Subject("heavy top", top, kinetic(top)),
        Subject("double pendulum", double_pendulum(), above_hanging(double_pendulum())),
        Subject("12 links", twelve_links(), above_hanging(twelve_links())),
        Subject("rolling ball", rolling_ball(), kinetic(rolling_ball())),
        Subject("coin", coins, kinetic(coins)),
        Subject("block to rest", sliding_block(), kinetic(sliding_block()), keeps=False),
        Subject("four-bar", bar, kinetic(bar)),
        Subject("PD arm", pd_arm(), KP * 1.6**2 / 2, keeps=False, energy=with_gains),
        Subject("damped chain", damped_chain(), above_hanging(damped_chain()), keeps=False),
        Subject("pendulum of J14", colliding(), above_hanging(colliding()), keeps=False),
    ]


def kinetic(motion: Motion) -> float:
    """Return the kinetic energy where a motion starts."""
    return float(motion.scene.initial_state().kinetic_energy())


def above_hanging(motion: Motion) -> float:
    """Return the energy of a chain above that of hanging at rest."""
    start = motion.scene.initial_state()
    return float(start.kinetic_energy() + start.potential_energy() - hanging_energy(motion))


def free_spin() -> Motion:
    """A ball that is thrown at 1 m/s and spins at 100 rad/s: it does both for ever."""
    link = mf.Link("ball", mass=1.0, inertia=0.4 * 0.1**2 * np.eye(3))
    scene = mf.Scene(mf.Model([link], gravity=(0, 0, 0)), theta_dot=[1.0, 0.0, 0.0, *SPIN])
    angle, axis = float(np.linalg.norm(SPIN)), SPIN / np.linalg.norm(SPIN)
    half = np.array([*np.sin(angle / 2) * axis, np.cos(angle / 2)])
    turned = mf.Pose.from_quaternion(quaternion=half).rotation
    known = np.concatenate([turned.ravel(), [1.0, 0.0, 0.0]])
    got = lambda run: np.concatenate([rotation_of(run, "ball"), run.theta[-1, :3]])  # noqa: E731
    return Motion(scene, 1.0, "attitude and place, rad and m", lambda: known, got, np.inf)


def rolling_ball() -> Motion:
    """A ball that rolls at 1 m/s on a level floor and spins about the vertical."""
    scene = mf.Scene(ball(RADIUS), theta_dot=[1, 0, 0, 0, 10, 3], materials=mf.Material(mu=0.5))
    got = lambda run: run.theta[-1, :3]  # noqa: E731
    return Motion(scene, 1.0, "place, m", lambda: np.array([1.0, 0.0, 0.0]), got, np.inf)


def sliding_block() -> Motion:
    """A block that slides to rest: v²/(2 mu g)."""
    scene = mf.Scene(block(), theta_dot=[0.5, 0, 0, 0, 0, 0], materials=mf.Material(mu=MU))
    known = np.array([0.5**2 / (2 * MU * G)])
    return Motion(scene, 0.12, "distance, m", lambda: known, lambda run: run.theta[-1, :1], np.inf)


def damped_chain() -> Motion:
    """Six rods of 10 cm with dampers in their hinges, against Lagrange's equations."""
    chain = Chain.of_rods([0.1] * LINKS, [0.1] * LINKS)
    angles, rates = 1.2 + 0.1 * np.arange(LINKS), np.zeros(LINKS)

    def torque(a: Array, rate: Array) -> Array:
        t = -DAMPING * relative(rate)
        return t - np.append(t[1:], 0.0)

    scene = mf.Scene(hanging(chain, damping=DAMPING), theta=relative(angles))
    return Motion(
        scene,
        1.0,
        "angles, rad",
        lambda: integrated(chain.free(torque), np.concatenate([angles, rates]), 1.0)[:LINKS],
        lambda run: np.cumsum(run.theta[-1]),
        np.inf,
    )


def colliding() -> Motion:
    """The pendulum of J14: its tip after two collisions."""
    scene = mf.load_scene(EXAMPLES / "scenes" / "pendulum_j14.toml")

    def tip(run: mf.Trajectory) -> Array:
        return np.asarray(run.state(-1).pose(run.last_link).position)

    def known() -> Array:
        fine = {"penetration_tolerance": 1e-9, "time_tolerance": 1e-12}
        return tip(mf.simulate(scene, dt=FINE, duration=THROUGH, integrator="rk4", **fine))

    return Motion(scene, THROUGH, "place of the tip, m", known, tip, np.inf)


def with_gains(run: mf.Trajectory) -> Array:
    """Return the energy of the arm with what its motors hold as springs."""
    away = run.theta - np.array([0.3, -0.2])
    energy: Array = run.total_energy + KP * (away**2).sum(axis=1) / 2
    return energy
