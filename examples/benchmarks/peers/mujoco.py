"""The mechanisms in MuJoCo: Euler steps, as it comes, with stiff contacts, and with a tuned bounce."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from math import log, pi, sqrt

import mujoco
import numpy as np
from engines.engine import Peer, Run
from subjects.mechanisms import Ball, Block, Mechanism, Pendulum

from mcpframe.arrays import Array

STIFF = {"solref": "0.002 1", "solimp": "0.95 0.99 0.0001 0.5 2"}
"""Contacts as stiff as steps of 1 ms allow: a time constant of two steps."""
RESPONSE = 0.02
"""Time constant of contacts, s; MuJoCo's default."""


@dataclass(frozen=True)
class Contacts:
    """Attributes of the shapes, and the friction cone."""

    geom: Mapping[str, str]
    cone: str = "pyramidal"
    bounces: bool = False

    def attributes(self, mechanism: Mechanism) -> str:
        """Return the attributes of every shape, in XML."""
        given = dict(self.geom)
        if self.bounces:
            given["solref"] = f"{RESPONSE} {damping_ratio(mechanism.restitution):.6f}"
        own = {"friction": f"{mechanism.mu} 0 0", "condim": "3" if mechanism.mu else "1"}
        return " ".join(f'{key}="{value}"' for key, value in (own | given).items())


def damping_ratio(restitution: float) -> float:
    """Return zeta of the spring and damper that bounces with e = exp(-pi zeta / sqrt(1 - zeta²))."""
    decrement = -log(restitution) if restitution else 50.0
    return decrement / sqrt(pi**2 + decrement**2)


PEERS = {
    "MuJoCo": Contacts({}),
    "MuJoCo, stiff": Contacts(STIFF),
    "MuJoCo, elliptic, tuned": Contacts({}, "elliptic", bounces=True),
}


class MujocoRun(Run):
    """A model and its data; MuJoCo finds contacts at the start of a step."""

    def __init__(self, contacts: Contacts, mechanism: Mechanism, dt: float) -> None:
        self.model = mujoco.MjModel.from_xml_string(xml_of(contacts, mechanism, dt))
        self.data = mujoco.MjData(self.model)
        if isinstance(mechanism, Pendulum):
            self.data.qpos[0], self.data.qvel[0] = mechanism.angle, mechanism.rate
        if isinstance(mechanism, Block):
            self.data.qvel[:3] = mechanism.velocity
        mujoco.mj_forward(self.model, self.data)

    def advance(self, n_steps: int) -> None:
        """Take steps in one call."""
        mujoco.mj_step(self.model, self.data, n_steps)

    def overlaps(self) -> Mapping[Hashable, float]:
        """Return the overlaps that the last step met."""
        touching: dict[Hashable, float] = {}
        for contact in self.data.contact:
            pair = (int(contact.geom[0]), int(contact.geom[1]))
            touching[pair] = max(touching.get(pair, 0.0), -float(contact.dist))
        return touching

    @property
    def contacts(self) -> int:
        """Points of the last step."""
        return int(self.data.ncon)

    def energy(self) -> float:
        """Return the energies of the present state."""
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_crb(self.model, self.data)
        mujoco.mj_energyPos(self.model, self.data)
        mujoco.mj_energyVel(self.model, self.data)
        return float(self.data.energy.sum())

    def motion(self) -> tuple[Array, Array]:
        """Return the motion of the last geom's body."""
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_comVel(self.model, self.data)
        velocity, body = np.zeros(6), self.model.nbody - 1
        mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_BODY, body, velocity, 0)
        return self.data.xipos[body].copy(), velocity[3:]


def peers() -> list[Peer]:
    """Return MuJoCo with its several contacts."""
    package = f"mujoco {mujoco.__version__}"
    return [Peer(name, package, partial(MujocoRun, contacts)) for name, contacts in PEERS.items()]


def xml_of(contacts: Contacts, mechanism: Mechanism, dt: float) -> str:
    """Return a model file of the mechanism in its surroundings."""
    about = contacts.attributes(mechanism)
    gravity = " ".join(map(repr, mechanism.gravity))
    return f"""<mujoco>
  <option timestep="{dt}" gravity="{gravity}" integrator="Euler" cone="{contacts.cone}"/>
  <worldbody>
    <geom type="plane" size="0 0 1" {about}/>
    {_bodies(mechanism, about)}
  </worldbody>
</mujoco>"""


def _bodies(mechanism: Mechanism, about: str) -> str:
    if isinstance(mechanism, Pendulum):
        return _pendulum(mechanism, about)
    if isinstance(mechanism, Ball):
        shape, height = f'type="sphere" size="{mechanism.radius}"', mechanism.height + mechanism.radius
    else:
        x, y, z = (edge / 2.0 for edge in mechanism.size)
        shape, height = f'type="box" size="{x} {y} {z}"', z
    geom = f'<geom {shape} mass="{mechanism.mass}" {about}/>'
    return f'<body pos="0 0 {height}"><freejoint/>{geom}</body>'


def _pendulum(pendulum: Pendulum, about: str) -> str:
    """Return nested bodies, each with its hinge at its origin, and the wall."""
    r, bodies = pendulum.radius, ""
    geom = f'<geom type="sphere" size="{r}" pos="0 0 {-r}" mass="{pendulum.mass}" {about}/>'
    for k in reversed(range(pendulum.n_links)):
        place = -pendulum.spacing if k else pendulum.height
        bodies = f'<body pos="0 0 {place}"><joint axis="0 1 0"/>{geom}{bodies}</body>'
    return f'<geom type="plane" size="0 0 1" pos="{pendulum.wall} 0 0" zaxis="-1 0 0" {about}/>{bodies}'
