"""Scenes of the recipes: systems in motion whose contact problems go from a single sphere to tall stacks.

Every function returns a scene that is the same for the same arguments; `seed` draws what varies in it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np

from mcpframe import systems
from mcpframe.arrays import Array
from mcpframe.contact.detection.materials import Material
from mcpframe.exceptions import ModelWarning, OptionError
from mcpframe.io.urdf import load_urdf
from mcpframe.multibody.model.link import Link
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.shapes import Box, Geometry
from mcpframe.multibody.projection import project_loops, project_rates
from mcpframe.scene.controllers import PD, ComputedTorque, Controller, Push
from mcpframe.scene.naming import theta_by_name
from mcpframe.scene.references import Move, Moves
from mcpframe.scene.scene import Scene
from mcpframe.scene.settings import Stepping
from mcpframe.spatial.transforms import Pose
from mcpframe.systems.bodies import FLOOR, box_inertia
from mcpframe.systems.contacts import support_points

STEPPING = Stepping(on_failure="auto")
TIME_STEPPING = STEPPING.with_options(scheme="time_stepping")
"""For what would stop at an impact a dozen times within every step."""
LOOPS = TIME_STEPPING.with_options(closure_bias=False, baumgarte=0.2)
"""For loops that rub on a floor: with the closures' bias such a step may have no solution."""
DOWN = (0.0, 0.0, -1.0)
NO_LENGTH = tuple((f"{side}_arm_{k}", f"{side}_arm_{k + 2}") for side in ("left", "right") for k in (1, 3, 5))
PALMS = tuple((f"{side}_arm_7", f"{side}_finger_1") for side in ("left", "right"))
"""Links of the dual arm that overlap beyond a neighbour without length to speak of."""
ROBOT_DATA, TALOS = "example-robot-data", "talos_reduced_box.urdf"
"""Package that has the robot, and its file: TALOS with boxes as soles."""


ARMATURE = 0.1
"""Rotor inertia of TALOS, kg m²: geared motors have about that much, and stiff control needs it."""


def swinging_pendulum(links: int) -> Scene:
    """Return the pendulum of [J14, section 8]: it swings into the floor, then into the wall."""
    model, theta, theta_dot = systems.pendulum(links), {"link_1": np.pi / 4.0}, {"link_1": 1.0}
    return _scene(model, Material(0.5, 0.5), theta=theta, theta_dot=theta_dot)


def lying_chain(links: int, restitution: float = 0.0) -> Scene:
    """Return a pendulum hung 2 m high that starts level, falls and comes to lie on the floor."""
    model = systems.pendulum(links, height=2.0, wall=100.0)
    return _scene(model, Material(0.5, restitution), TIME_STEPPING, theta={"link_1": np.pi / 2.0})


def pressing_arms(seed: int) -> Scene:
    """Return the dual arm that reaches down to a table and drags its fingertips over it."""
    rng = np.random.default_rng(seed)
    top = rng.uniform(0.36, 0.385)
    table = Geometry(Box((0.5, 1.0, 0.04)), Pose((0.6, 0.0, top - 0.02)), "table")
    model = systems.dual_arm()
    model = Model(model.links, gravity=model.gravity, name="dual_arm", geometry=(*model.geometry, table))
    down = {f"{side}_arm_4": rng.uniform(0.06, 0.12) for side in ("left", "right")}
    along = {f"{side}_arm_1": rng.uniform(-0.4, 0.4) for side in ("left", "right")}
    reach = theta_by_name(model, "down", down, model.neutral())
    drag = theta_by_name(model, "along", {**down, **along}, model.neutral())
    moves = Moves(model, model.neutral(), [Move(reach, 0.05, 0.35), Move(drag, 0.5, 0.9)])
    motor = ComputedTorque(model, kp=400.0, kd=40.0, reference=moves)
    mu = float(rng.uniform(0.3, 0.9))
    return _scene(model, Material(mu), ignore=(*NO_LENGTH, *PALMS), controllers=[motor])


def pushed_quadruped(seed: int, force: float) -> Scene:
    """Return the quadruped, held by its motors, pushed from a drawn side; it slips, lifts feet, or falls."""
    rng = np.random.default_rng(seed)
    model = systems.quadruped()
    motors = PD(model, kp=150.0, kd=4.0, reference=model.neutral(), limit=30.0)
    push = Push(model, "trunk", force=_sideways(rng, force), start=0.1, stop=0.25)
    return _scene(model, Material(float(rng.uniform(0.3, 0.9))), TIME_STEPPING, controllers=[motors, push])


def pushed_humanoid(seed: int, force: float) -> Scene:
    """Return the humanoid, held by its motors, pushed from a drawn side until it tips over."""
    rng = np.random.default_rng(seed)
    model = systems.humanoid()
    motors = PD(model, kp=400.0, kd=15.0, reference=model.neutral(), limit=150.0)
    push = Push(model, "torso", force=_sideways(rng, force), start=0.1, stop=0.25)
    return _scene(model, Material(float(rng.uniform(0.4, 0.9))), TIME_STEPPING, controllers=[motors, push])


def pushed_talos(seed: int, force: float) -> Scene:
    """Return TALOS on the boxes of its soles, knees bent, held by its motors and pushed.

    Raises:
        OptionError: the package that has its URDF file is not installed.
    """
    rng = np.random.default_rng(seed)
    model = talos()
    bend = {f"leg_{side}_{k}_link": angle for side in ("left", "right") for k, angle in _CROUCH.items()}
    theta = theta_by_name(model, "crouch", bend, model.neutral())
    lowest = support_points(model.state(theta), DOWN)[0][1][2]
    theta = np.concatenate([theta[:2], [theta[2] - lowest], theta[3:]])
    motors = PD(model, kp=1500.0, kd=40.0, reference=theta, limit=400.0)
    push = Push(model, model.links[0].name, force=_sideways(rng, force), start=0.1, stop=0.25)
    return _scene(model, Material(0.7), TIME_STEPPING, theta=theta, controllers=[motors, push])


_CROUCH = {3: -0.4, 4: 0.8, 5: -0.4}
"""Radians of hip, knee and ankle pitch."""


def talos() -> Model:
    """Return TALOS from its URDF file on a floor; the boxes of soles and camera are its only shapes."""
    path = talos_file()
    if path is None:
        raise OptionError(f"talos: its URDF is in the package {ROBOT_DATA}: pip install {ROBOT_DATA}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # meshes and transmissions have no part in this
        robot = load_urdf(path, floating_base=True, armature=ARMATURE)
    links = [_with_boxes(link) for link in robot.links]
    return Model(links, robot.closures, robot.gravity, name="talos", geometry=(FLOOR,))


def talos_file() -> Path | None:
    """Return the URDF file of TALOS, or None where its package is not installed."""
    try:
        package = distribution(ROBOT_DATA)
    except PackageNotFoundError:
        return None
    found = [file for file in package.files or () if file.name == TALOS]
    return Path(str(package.locate_file(found[0]))) if found else None


def box_stack(
    height: int, mass_ratio: float = 1.0, seed: int = 0, push: float = 0.0, turned: bool = True
) -> Scene:
    """Return boxes one upon the other, a hair apart, that settle and may be pushed.

    Args:
        height: number of boxes.
        mass_ratio: of the top box over the bottom one, in equal steps of the logarithm; the bottom has 1 kg.
        seed: draws shifts, turns and friction.
        push: force on the box in the middle over the weight of what stands on its lower face.
        turned: boxes are turned and shifted a little, so that faces meet in up to eight points, not four.
    """
    rng = np.random.default_rng(seed)
    masses = np.logspace(0.0, np.log10(mass_ratio), height)
    size = (0.3, 0.3, 0.2)
    heights = 0.5 * size[2] + (size[2] + 1e-4) * np.arange(height)
    model = Model(name="box_stack", geometry=(FLOOR,))
    for k, (mass, z) in enumerate(zip(masses, heights, strict=True)):
        x, y, yaw = turned * rng.uniform(-1.0, 1.0, 3) * [0.01, 0.01, 0.1]
        pose, box = Pose.from_rpy((x, y, z), (0.0, 0.0, yaw)), Geometry(Box(size), name=f"box_{k + 1}")
        model.add_link(f"box_{k + 1}", pose=pose, mass=mass, inertia=box_inertia(mass, size), geometry=box)
    mu = float(rng.uniform(0.4, 0.8))
    weight = 9.81 * masses[height // 2 :].sum()
    pushed = Push(model, f"box_{height // 2 + 1}", force=_sideways(rng, push * weight), start=0.1)
    return _scene(model, Material(mu), controllers=[pushed] if push else [])


def pressed_ring(links: int, seed: int) -> Scene:
    """Return a closed chain, held in shape by weak motors, that hangs by a hinge and sags onto the floor."""
    rng = np.random.default_rng(seed)
    size = 1.0  # m across
    model = systems.closed_chain(links, length=size * np.sin(np.pi / links), height=size + 0.03)
    motors = PD(model, kp=3.0, kd=0.3, reference=model.neutral())
    return _moving_loop(model, rng, [motors])


def falling_four_bar(seed: int) -> Scene:
    """Return a four-bar on a floating base that falls, turning, and slides on the floor."""
    return _moving_loop(systems.four_bar(floating=True, height=0.8), np.random.default_rng(seed))


def _moving_loop(model: Model, rng: np.random.Generator, controllers: Sequence[Controller] = ()) -> Scene:
    state = model.state(project_loops(model, model.neutral()), rng.standard_normal(model.n_dofs))
    surface = Material(float(rng.uniform(0.2, 0.7)), 0.2)
    return _scene(
        model, surface, LOOPS, theta=state.theta, theta_dot=project_rates(state), controllers=controllers
    )


def _scene(model: Model, material: Material, stepping: Stepping = STEPPING, **parts: Any) -> Scene:
    return Scene(model, materials=material, stepping=stepping, **parts)


def _sideways(rng: np.random.Generator, force: float) -> Array:
    angle = rng.uniform(0.0, 2.0 * np.pi)
    return force * np.array([np.cos(angle), np.sin(angle), 0.0])


def _with_boxes(link: Link) -> Link:
    return replace(link, geometry=tuple(shape for shape in link.geometry if isinstance(shape.shape, Box)))
