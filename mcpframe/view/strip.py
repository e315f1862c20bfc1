"""Picture strips and films of a run, without a display [J12, figure 1; J14, figure 5]."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mcpframe.exceptions import FileFormatError, ProblemError
from mcpframe.simulation.recording.steps import Indices
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.view.camera import Camera
from mcpframe.view.figures import new_figure, pixels, save
from mcpframe.view.painting import colours, legend_handles, paint, paint_all, scale_bar
from mcpframe.view.stage import Stage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FRAMES = 12
FLASH = 0.04
"""Seconds of the run of which a picture of a strip shows the contacts; in a film, the time between two."""
PAGE_WIDTH, PAGE_SHAPE = 12.0, 1.9
"""Width in inches, and width over height that the pictures of a strip are arranged for."""
OVERLAY_SIZE = 9.0
"""Longer edge of an overlay in inches."""
FILM_SIZE, FILM_DPI = 6.0, 100
"""Longer edge of a film in inches, and dots per inch."""
HUNDREDTH = 10
"""Milliseconds that durations in a GIF are counted in."""


def save_strip(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    frames: int = FRAMES,
    times: Sequence[float] | None = None,
    camera: Camera | None = None,
) -> Path:
    """Write pictures of a run at some times, side by side, as a PNG.

    Args:
        trajectory: the run.
        path: of the file; its folder is made where it does not exist.
        frames: how many pictures, evenly spaced in time.
        times: of the pictures, s, instead of their number.
        camera: where to look from; None takes a side view where all links move in one vertical plane.
    """
    _check(trajectory, "frames", frames)
    chosen = np.linspace(trajectory.time[0], trajectory.time[-1], frames) if times is None else times
    stage = Stage(trajectory, _steps(trajectory, chosen), FLASH, camera)
    columns = _columns(len(chosen), stage)
    rows = -(-len(chosen) // columns)
    width = PAGE_WIDTH / columns
    figure = new_figure(PAGE_WIDTH, rows * (width * stage.size[1] / stage.size[0] + 0.25) + 0.35)
    axes = np.ravel(figure.subplots(rows, columns, squeeze=False))
    for i, axis in enumerate(axes):
        axis.set_axis_off()
        if i < len(chosen):
            paint(axis, stage, i)
            axis.set_title(f"{trajectory.time[stage.frames[i]]:.2f} s", fontsize=9, pad=3)
    scale_bar(axes[0], stage)
    _explain(figure, stage)
    return save(figure, path)


def save_overlay(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    frames: int = FRAMES,
    camera: Camera | None = None,
) -> Path:
    """Write pictures of a run one over the other, the earlier ones paler; arguments as of `save_strip`."""
    _check(trajectory, "frames", frames)
    times = np.linspace(trajectory.time[0], trajectory.time[-1], frames)
    stage = Stage(trajectory, _steps(trajectory, times), FLASH, camera)
    width, height = OVERLAY_SIZE * stage.size / stage.size.max()
    figure = new_figure(width, height + 0.6)
    axis = figure.subplots()
    paint_all(axis, stage)
    scale_bar(axis, stage)
    first, last = trajectory.time[stage.frames[[0, -1]]]
    axis.set_title(f"{first:.2f} s (pale) to {last:.2f} s", fontsize=9, pad=3)
    _explain(figure, stage)
    return save(figure, path)


def save_gif(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    fps: float = 25.0,
    speed: float = 1.0,
    camera: Camera | None = None,
) -> Path:
    """Write a run as a film that repeats, a GIF; arguments as of `save_strip`.

    Args:
        trajectory: the run.
        path: of the file.
        fps: pictures per second; a GIF counts hundredths of a second, 50 is the most that browsers show.
        speed: seconds of the run per second of the film.
        camera: where to look from.
    """
    _check(trajectory, "fps", fps)
    _check(trajectory, "speed", speed)
    step = speed / fps
    span = trajectory.time[-1] - trajectory.time[0]
    times = trajectory.time[0] + step * np.arange(int(span / step + 1e-9) + 1)
    stage = Stage(trajectory, _steps(trajectory, times), step, camera)
    pictures = _film(stage)
    duration = HUNDREDTH * max(1, round(1000.0 / fps / HUNDREDTH))
    place = Path(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        rest = pictures[1:]
        pictures[0].save(place, "GIF", save_all=True, append_images=rest, duration=duration, loop=0)
    except OSError as error:
        raise FileFormatError(f"{place}: the film cannot be written ({error})") from None
    return place


def _film(stage: Stage) -> list[Any]:
    """Return the pictures of a film with few colours, for Pillow."""
    width, height = FILM_SIZE * stage.size / stage.size.max()
    figure = new_figure(width, height + 0.6)
    from PIL import Image

    figure.set_dpi(FILM_DPI)
    palette = Image.new("P", (1, 1))
    palette.putpalette(np.round(255.0 * colours()).astype(np.uint8).tobytes())
    pictures = []
    for i, k in enumerate(stage.frames):
        figure.clear()
        axis = figure.subplots()
        paint(axis, stage, i)
        scale_bar(axis, stage)
        axis.set_title(f"{stage.trajectory.time[k]:.2f} s", fontsize=9, pad=3)
        _explain(figure, stage)
        picture = Image.fromarray(pixels(figure)).convert("RGB")
        pictures.append(picture.quantize(palette=palette, dither=Image.Dither.NONE))
    return pictures


def _explain(figure: Figure, stage: Stage) -> None:
    handles = legend_handles(stage)
    if handles:
        figure.legend(
            handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=8
        )


def _steps(trajectory: Trajectory, times: Any) -> Indices:
    return np.array([trajectory.index_at(float(t)) for t in times], dtype=np.int64)


def _columns(n: int, stage: Stage) -> int:
    """Return how many of n pictures to put in a row, so that the page has about its shape and few gaps."""
    aspect = stage.size[0] / stage.size[1]

    def cost(rows: int) -> float:
        columns = -(-n // rows)
        return float(abs(np.log(columns * aspect / rows / PAGE_SHAPE)) + (rows * columns - n) / n)

    return -(-n // min(range(1, n + 1), key=cost))


def _check(trajectory: Trajectory, name: str, value: float) -> None:
    if not len(trajectory):
        raise ProblemError("the trajectory has no steps to draw")
    if not value > 0.0:
        raise ProblemError(f"{name} {value}: must be positive")
