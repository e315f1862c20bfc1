"""The robots that both engines are given, each as one MJCF file with motors, start, friction and exclusions.

The quadruped and the humanoid are those of `mf.systems`, the arm is examples/scenes/arm7.xml, the hexapod is
made here: a plate on six legs that stretch, each a pair of crossed hinges and a slide, so that there are six
loops through the ground.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin
from pathlib import Path

import numpy as np
from subjects.mjcf_text import Motor, Setting, mjcf_text, numbers

import mcpframe as mf
from mcpframe import systems
from mcpframe.arrays import Array
from mcpframe.multibody.projection import project_rates

ARM = Path(__file__).parents[2] / "scenes" / "arm7.xml"
FALL = 0.5
"""Metres that the quadruped falls."""
TILT = (0.1, 0.2, 0.0)
"""Roll, pitch and yaw of what falls, rad: no two feet land at once."""
CRANK_RATE = 5.0
"""Of the four-bar at the start, rad/s."""
BASE_RADIUS, PLATE_RADIUS, PLATE_HEIGHT = 0.5, 0.3, 0.6
"""Of the hexapod, m."""


def quadruped(height: float = 0.0) -> str:
    """Return the file of the quadruped, standing or let go at a height with a tilt."""
    model = systems.quadruped()
    motors = {link.name: Motor(150.0, 4.0) for link in model.links[1:]}
    return mjcf_text(model, Setting(motors, _raised(model, height)))


def humanoid(height: float = 0.0) -> str:
    """Return the file of the humanoid, standing or let go at a height with a tilt."""
    model = systems.humanoid()
    arms = ("shoulder", "shoulder_roll", "upper_arm", "forearm", "head")
    motors = {
        link.name: Motor(50.0, 2.0) if link.name.endswith(arms) else Motor(1500.0, 25.0)
        for link in model.links[1:]
    }
    return mjcf_text(model, Setting(motors, _raised(model, height)))


def _raised(model: mf.Model, height: float) -> Array:
    """Return the neutral coordinates, or those with the base raised and tilted."""
    theta = model.neutral()
    if height:
        pose = mf.Pose.from_rpy((0.0, 0.0, height), TILT)
        theta[:7] = [*pose.position, *pose.quaternion()]
    return theta


def four_bar() -> str:
    """Return the file of a four-bar in the air, whose crank a motor turns."""
    model = systems.four_bar(height=1.5)
    rates = project_rates(model.state(theta_dot=[CRANK_RATE, 0.0, 0.0]))
    motors = {"crank": Motor(20.0, 1.0, target=pi)}
    return mjcf_text(model, Setting(motors, qvel=rates, exclude=[("crank", "rocker")]))


def hexapod() -> str:
    """Return the file of a plate on six legs, which its motors bend from level to tilted.

    Feet and joints stand in pairs on two circles, the pairs of one between those of the other.
    """
    legs, joints, motors = "", "", ""
    for k in range(6):
        third, side = 2.0 * pi * (k // 2) / 3.0, 1.0 if k % 2 else -1.0
        foot = _on_circle(BASE_RADIUS, third + side * 0.2, 0.0)
        top = _on_circle(PLATE_RADIUS, third + side * (pi / 3.0 - 0.2), PLATE_HEIGHT)
        half = float(np.linalg.norm(top - foot)) / 2.0
        legs += f"""
    <body name="leg{k}" pos="{numbers(foot)}" zaxis="{numbers(top - foot)}">
      <joint name="leg{k}_x" axis="1 0 0"/><joint name="leg{k}_y" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0.03 0 0 {half!r}" size="0.03" mass="1.5" contype="0" conaffinity="0"/>
      <body name="rod{k}" pos="0 0 {half!r}">
        <joint name="rod{k}" type="slide" axis="0 0 1" range="-0.04 0.2"/>
        <geom type="capsule" fromto="0 0 0 0 0 {half!r}" size="0.015" mass="0.5" contype="0" conaffinity="0"/>
      </body>
    </body>"""
        joints += f'\n    <connect body1="rod{k}" body2="plate" anchor="0 0 {half!r}"/>'
        motors += f'\n    <position joint="rod{k}" kp="4000" kv="150"/>'
    still = " ".join(["0 0 0"] * 6)
    return f"""<mujoco model="hexapod">
  <compiler angle="radian"/>
  <option timestep="0.001"/>
  <default><geom friction="0.7 0 0"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>{legs}
    <body name="plate" pos="0 0 {PLATE_HEIGHT}">
      <freejoint/><geom name="plate" type="cylinder" size="{PLATE_RADIUS} 0.02" mass="10"/>
    </body>
  </worldbody>
  <equality>{joints}
  </equality>
  <actuator>{motors}
  </actuator>
  <keyframe>
    <key name="start" qpos="{still} 0 0 {PLATE_HEIGHT} 1 0 0 0" ctrl="0.08 0.08 0 0 -0.08 0"/>
  </keyframe>
</mujoco>"""


def _on_circle(radius: float, angle: float, height: float) -> Array:
    return np.array([radius * cos(angle), radius * sin(angle), height])


SUBJECTS: dict[str, Callable[[], str]] = {
    "quadruped, standing": quadruped,
    "quadruped, falling": lambda: quadruped(FALL),
    "arm, at limits and floor": ARM.read_text,
    "humanoid, standing": humanoid,
    "humanoid, falling": lambda: humanoid(FALL),
    "four-bar": four_bar,
    "hexapod, six loops": hexapod,
}
"""What is timed, and how its file is made."""


def write_file(name: str, folder: Path) -> Path:
    """Write the file of a robot into a folder and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name.replace(',', '').replace(' ', '_').replace('-', '_')}.xml"
    file.write_text(SUBJECTS[name]())
    return file
