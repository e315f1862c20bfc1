"""``mcpframe view``: play a run in the browser, or draw it as a strip of pictures or a film."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcpframe.commands.terminal import console
from mcpframe.exceptions import OptionError

if TYPE_CHECKING:
    from mcpframe.simulation.recording.trajectory import Trajectory
    from mcpframe.view.camera import Camera

VIEW_EPILOG = """
Examples:

    mcpframe view run

    mcpframe view run --strip run.png --frames 8 --from 2.0 --to 3.5

    mcpframe view run --gif run.gif --speed 0.25 --camera 30,15

Pictures and films need no display. The browser needs viser: pip install 'mcpframe\\[view]'.
"""
VIEWS = {"side": (-90.0, 0.0), "front": (0.0, 0.0), "top": (-90.0, 90.0), "corner": (-60.0, 20.0)}
"""Azimuth and elevation of cameras that have a name."""

Place = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run, or its trajectory.h5.")]
Strip = Annotated[Path | None, typer.Option(help="Write pictures side by side, a PNG.")]
Overlay = Annotated[Path | None, typer.Option(help="Write pictures one over the other, a PNG.")]
Gif = Annotated[Path | None, typer.Option(help="Write a film, a GIF.")]
Frames = Annotated[int, typer.Option(min=1, help="Pictures of a strip or an overlay.")]
From = Annotated[float | None, typer.Option("--from", help="Time to begin at, s.")]
To = Annotated[float | None, typer.Option("--to", help="Time to end at, s.")]
View = Annotated[
    str | None, typer.Option(help=f"Where to look from: {', '.join(VIEWS)}, or AZIMUTH,ELEVATION in degrees.")
]
Fps = Annotated[float, typer.Option(help="Pictures per second of a film.")]
Speed = Annotated[float, typer.Option(help="Seconds of the run per second, of a film or at first.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Of the page; the next free one if it is taken.")]
Host = Annotated[str, typer.Option(help="Who may connect; 0.0.0.0 is everyone.")]
Open = Annotated[bool, typer.Option("--open/--no-browser", help="Open the page in the browser.")]


def view(
    place: Place,
    strip: Strip = None,
    overlay: Overlay = None,
    gif: Gif = None,
    frames: Frames = 12,
    start: From = None,
    stop: To = None,
    camera: View = None,
    fps: Fps = 25.0,
    speed: Speed = 1.0,
    port: Port = 8080,
    host: Host = "127.0.0.1",
    browser: Open = True,
) -> None:
    """Play a run in the browser, or draw it."""
    from mcpframe.simulation.recording.trajectory import Trajectory
    from mcpframe.view.strip import save_gif, save_overlay, save_strip

    seen = None if camera is None else _camera(camera)
    run = _part(Trajectory.load(place), start, stop)
    if strip is not None:
        console().print(f"strip of {frames} pictures: {save_strip(run, strip, frames, camera=seen)}")
    if overlay is not None:
        console().print(f"overlay of {frames} pictures: {save_overlay(run, overlay, frames, seen)}")
    if gif is not None:
        console().print(f"film: {save_gif(run, gif, fps, speed, seen)}")
    if strip is overlay is gif is None:
        from mcpframe.view.viewer import play

        play(run, port, host, seen, speed, browser)


def _camera(text: str) -> Camera:
    from mcpframe.view.camera import Camera

    if text in VIEWS:
        return Camera(*VIEWS[text])
    try:
        azimuth, elevation = (float(part) for part in text.split(","))
    except ValueError:
        known = ", ".join(VIEWS)
        raise OptionError(f"--camera {text}: give {known}, or AZIMUTH,ELEVATION in degrees") from None
    return Camera(azimuth, elevation)


def _part(run: Trajectory, start: float | None, stop: float | None) -> Trajectory:
    """Return the steps of a run between two times, the one before included."""
    from mcpframe.simulation.recording.trajectory import Trajectory

    if (start is None and stop is None) or not len(run):
        return run
    since = run.time[0] if start is None else start
    until = run.time[-1] if stop is None else stop
    if not (since <= until and since <= run.time[-1] and until >= run.time[0]):
        raise OptionError(
            f"--from {since:g} --to {until:g}: the run lasts from {run.time[0]:g} to {run.time[-1]:g} s"
        )
    return Trajectory(run.header, run.steps.rows(run.index_at(since), run.index_at(until) + 1))
