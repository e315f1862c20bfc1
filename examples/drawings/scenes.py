"""Strips of the example scenes, and of the robot that opens the README."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import mcpframe as mf
from mcpframe.view.camera import Camera
from mcpframe.view.strip import save_strip

SCENES = Path(__file__).parents[1] / "scenes"
LANDING = "quadruped_lands"
MOMENTS = (0.0, 0.22, 0.3, 1.0)
"""Of the landing, s: in the air, one foot down, all four, at rest."""
BESIDE = Camera(azimuth=-70.0, elevation=15.0)
FRAMES = 6


def robot(path: Path) -> Path:
    """Draw a quadruped that lands: contacts by their modes, forces as arrows."""
    return save_strip(
        mf.simulate(mf.load_scene(SCENES / f"{LANDING}.toml")), path, times=MOMENTS, camera=BESIDE
    )


def gallery() -> dict[str, Callable[[Path], Path]]:
    """Return what draws each of the example scenes, by its name."""
    return {scene.stem: partial(strip, scene) for scene in sorted(SCENES.glob("*.toml"))}


def strip(scene: Path, path: Path) -> Path:
    """Draw a scene from its start to its end."""
    return save_strip(mf.simulate(mf.load_scene(scene)), path, frames=FRAMES)
