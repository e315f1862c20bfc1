"""Pictures of adaptive bodies: strips of the scenes, clusters in one colour, and tables of the page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.view.camera import Camera
from mcpframe.view.figures import new_figure, save, tidy
from mcpframe.view.palette import style
from mcpframe.view.strip import save_strip

ROOT = Path(__file__).parents[2]
SCENES, PAGE = ROOT / "examples/scenes/adaptive", ROOT / "docs/concepts/adaptive.md"
CAMERAS = {
    "holes": Camera(azimuth=-90.0, elevation=3.0),
    "bridge": Camera(azimuth=-60.0, elevation=20.0),
    "net": Camera(azimuth=-60.0, elevation=15.0),
}
FRAMES = 6
COLLISION, ERROR = "A collision", "The tip of a swinging cable"
"""How the titles of tables begin."""


def strip(name: str, path: Path) -> Path:
    """Draw a scene from its start to its end."""
    run = mf.simulate(mf.load_scene(SCENES / f"{name}.toml"), certify="none", on_failure="auto")
    return save_strip(run, path, frames=FRAMES, camera=CAMERAS.get(name))


def figures(path: Path) -> Path:
    """Draw time per collision against active joints [G06, figure 7], and the error by joints and interval."""
    figure = new_figure(10.0, 3.6)
    left, right = figure.subplots(1, 2)
    collisions = table(COLLISION)
    left.plot(collisions[:, 0], collisions[:, 1], "o-", color=style(0)[0])
    left.set(xlim=(0, None), ylim=(0, None))
    errors = table(ERROR)
    for k, interval in enumerate(np.unique(errors[:, 1])):
        some = errors[errors[:, 1] == interval]
        colour, marker = style(k)
        right.plot(some[:, 0], some[:, 2], f"{marker}-", color=colour, label=f"every {interval:.0f} steps")
    right.set_yscale("log")
    right.legend(title="choice", fontsize=8)
    tidy(left, "time per collision [us]", "active joints of 300")
    tidy(right, "rms of the tip over 2 s [mm]", "active joints of 300")
    return save(figure, path)


def table(title: str) -> Array:
    """Return the numbers of a table of the page; what is not a number is NaN."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"**{title}")
    lines = [line for line in rest.split("\n\n")[1].splitlines() if line.startswith("|")]
    return np.array([[_number(cell) for cell in line.split("|")[1:-1]] for line in lines[2:]])


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")


DRAWN = "pegs", "holes", "bridge", "net"
"""Scenes; the links of a cable of 100 m are too thin to be seen."""
PICTURES: dict[str, Callable[[Path], Path]] = {
    "figures": figures,
    **{name: partial(strip, name) for name in DRAWN},
}
