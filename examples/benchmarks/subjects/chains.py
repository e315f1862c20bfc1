"""What the dynamics are timed on: chains of any length, made in code, and robots of example-robot-data."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np

import mcpframe as mf
from mcpframe.exceptions import ModelWarning
from mcpframe.systems.bodies import bar_inertia

AXES = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)
"""Of the pins, in turn; peers have code of their own for just these axes, so they run at their best."""
LENGTH = 12.0
"""Metres from end to end, whatever the number of links, as the pendulum of the papers."""
BEND = 0.5
"""Radians that a hinge turns at most: longer chains do not roll up into a ball."""
ARM = np.array([0.1, -0.2, 0.3])
"""Where a node lies on its link, metres; nodes on one link lie at multiples of it."""

ROBOTS = {
    "panda": ("panda_description/urdf/panda.urdf", False),
    "allegro hand": ("allegro_hand_description/urdf/allegro_right_hand.urdf", False),
    "go2, floating": ("go2_description/urdf/go2.urdf", True),
    "anymal, floating": ("anymal_c_simple_description/urdf/anymal.urdf", True),
    "talos, floating": ("talos_data/robots/talos_full_v2.urdf", True),
}
"""An arm, a hand, two quadrupeds, a humanoid: file and whether the base floats."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A model and a state to time it at.

    Attributes:
        name: of the robot, or of the chain.
        model: ours.
        theta, theta_dot, tau: coordinates, rates and hinge forces.
        file: the URDF file that the model is from, None for those made in code.
        floating: whether its base floats.
    """

    name: str
    model: mf.Model
    theta: np.ndarray
    theta_dot: np.ndarray
    tau: np.ndarray
    file: Path | None = None
    floating: bool = False


def chain(n: int) -> Subject:
    """Return n equal bars in a row on pins, somewhat bent and moving."""
    model, length = mf.Model(name=f"chain of {n}"), LENGTH / n
    inertia = bar_inertia(1.0, 0.1 * length, length)[::-1, ::-1]  # along x
    parent, place = "world", mf.Pose()
    for k in range(n):
        hinge = mf.Hinge("pin", AXES[k % 3])
        model.add_link(f"link_{k}", parent, hinge, place, 1.0, (length / 2, 0.0, 0.0), inertia)
        parent, place = f"link_{k}", mf.Pose((length, 0.0, 0.0))
    rng = np.random.default_rng(n)
    return Subject(model.name, model, rng.uniform(-BEND, BEND, n), *rng.standard_normal((2, n)))


def robot(name: str, file: Path, floating: bool) -> Subject:
    """Return a robot of a file in a random state."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # what the file leaves out is not the matter here
        model = mf.load_urdf(file, floating_base=floating)
    rng = np.random.default_rng(model.n_dofs)
    theta, (theta_dot, tau) = model.random_theta(rng), rng.standard_normal((2, model.n_dofs))
    return Subject(name, model, theta, theta_dot, tau, file, floating)


def robot_files() -> dict[str, Path]:
    """Return the URDF files of example-robot-data by folder and name; none where it is not installed."""
    try:
        package = distribution("example-robot-data")
    except PackageNotFoundError:
        return {}
    files = [Path(str(package.locate_file(file))) for file in package.files or () if file.suffix == ".urdf"]
    return {f"{file.parts[-3]}/{file.name}": file for file in sorted(files)}


def robots(names: Sequence[str] = tuple(ROBOTS)) -> tuple[list[Subject], str]:
    """Return robots by name, and why some are missing; empty if none is."""
    if importlib.util.find_spec("yourdfpy") is None:
        return [], "no robots: the yourdfpy package, which reads them, is not installed"
    files = robot_files()
    if not files:
        return [], "no robots: the example-robot-data package is not installed"
    found, missing = [], []
    for name in names:
        end, floating = ROBOTS[name]
        file = next((path for path in files.values() if path.as_posix().endswith(end)), None)
        if file is None:
            missing.append(name)
        else:
            found.append(robot(name, file, floating))
    return found, f"not in this version of example-robot-data: {', '.join(missing)}" if missing else ""


def nodes_of(model: mf.Model, n_c: int) -> list[mf.Node]:
    """Return nodes on the tips of the tree and, where these are too few, on links spread over the rest."""
    inner = sorted(set(model.parents.tolist()) - {-1})
    tips = sorted(set(range(model.n_links)) - set(inner))
    on_tips = np.linspace(0, len(tips) - 1, min(n_c, len(tips)))
    elsewhere = np.linspace(0, len(inner) - 1, n_c - len(on_tips) + 2)[1:-1]
    links = [*(tips[round(i)] for i in on_tips.tolist()), *(inner[round(i)] for i in elsewhere.tolist())]
    times = [links[:i].count(link) + 1 for i, link in enumerate(links)]
    return [mf.Node(model.links[k].name, time * ARM) for k, time in zip(links, times, strict=True)]
