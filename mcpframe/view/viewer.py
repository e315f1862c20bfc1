"""Play a run in the browser, with viser (extra `view`)."""

from __future__ import annotations

import threading
import time
import webbrowser
from contextlib import redirect_stdout, suppress
from io import StringIO
from typing import Any

import numpy as np

from mcpframe.exceptions import OptionError, PluginError, ProblemError
from mcpframe.simulation.recording.steps import MODES, NONE, STATUSES
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.view.camera import Camera
from mcpframe.view.contact_marks import ContactMarks
from mcpframe.view.painting import with_unit
from mcpframe.view.plots import MODE_COLOURS
from mcpframe.view.stage import Stage
from mcpframe.view.viewer_actors import Actors
from mcpframe.view.viewer_clock import Clock

PORT = 8080
HOST = "127.0.0.1"
FPS = 30.0
SPEEDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
FLASH = 0.1
"""Seconds in front of the screen for which a contact is shown: shorter ones would be missed."""
SAMPLES = 120
"""Moments of a run that say what its region is and which forces are large."""
LEAST_ELEVATION = 8.0
"""Degrees above the horizon from which a motion in a plane is seen, so that the floor shows."""
BESIDE_PANEL = 0.3
"""Share of the region's radius by which it is shown to the left of the middle: the panel is at the right."""
FIELD_OF_VIEW = np.deg2rad(35.0)
SLIDER_STEPS = 5000


class Viewer:
    """A server with the player of one run; `close` ends it, a ``with`` block too.

    Args:
        trajectory: the run, of at least one step.
        port: where the page is; the next free one where it is taken, 0 for any.
        host: who may connect; only this machine unless given.
        camera: where to look from at first; None takes one that suits the motion.
        speed: seconds of the run per second, at first.

    >>> with Viewer(trajectory) as viewer:
    ...     print(viewer.address)
    ...     viewer.wait()
    """

    def __init__(
        self,
        trajectory: Trajectory,
        port: int = PORT,
        host: str = HOST,
        camera: Camera | None = None,
        speed: float = 1.0,
    ) -> None:
        if not len(trajectory):
            raise ProblemError("the trajectory has no steps to show")
        if not 0.0 < speed < np.inf:
            raise ProblemError(f"speed {speed}: must be positive")
        viser = _viser()
        moments = np.linspace(trajectory.time[0], trajectory.time[-1], SAMPLES)
        frames = np.unique([trajectory.index_at(t) for t in moments])
        self.stage = Stage(trajectory, frames, FLASH, camera)
        self.clock = Clock(
            float(trajectory.time[0]), float(trajectory.time[-1]), float(trajectory.time[0]), speed
        )
        self.server = _server(viser, host, port, trajectory.model.name)
        self.actors = Actors(self.server.scene, self.stage)
        self._place_camera()
        self._make_panel()
        self._shown: int | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    def wait(self) -> None:
        """Go on until `close` is called, or Ctrl-C is pressed."""
        try:
            while not self._done.wait(1.0):
                pass
        except KeyboardInterrupt:
            pass

    def close(self) -> None:
        """Stop playing and serving."""
        self._done.set()
        self._thread.join()
        with redirect_stdout(StringIO()):  # viser says so on the terminal
            self.server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _play(self) -> None:
        before = time.perf_counter()
        while not self._done.wait(1.0 / FPS):
            now = time.perf_counter()
            self.clock.advance(now - before)
            before = now
            k = self.stage.trajectory.index_at(self.clock.time)
            if k != self._shown:
                self._show(k)

    def _show(self, k: int) -> None:
        with self.server.atomic():
            self._shown = k
            marks = self.actors.show(k, FLASH * self.clock.speed)
            self._slider.value = self.clock.time
            self._play_button.label = "Pause" if self.clock.playing else "Play"
            self._figures.content = figures(self.stage.trajectory, k, marks)
        self.server.flush()

    def _place_camera(self) -> None:
        """Look at the middle of the region from far enough to see all of it."""
        view, region = self.stage.camera, self.stage.whole
        towards = Camera(view.azimuth, max(view.elevation, LEAST_ELEVATION)).axes[2]
        middle, radius = (region.low + region.high) / 2.0, np.linalg.norm(region.high - region.low) / 2.0
        away = float(radius / np.sin(FIELD_OF_VIEW / 2.0))
        start = self.server.initial_camera
        start.fov, start.near, start.far = float(FIELD_OF_VIEW), 1e-2 * away, 1e2 * away
        middle = middle + BESIDE_PANEL * radius * view.axes[0]
        start.position, start.look_at = middle + away * towards, middle
        self.server.scene.set_up_direction("+z")

    def _make_panel(self) -> None:
        gui, clock = self.server.gui, self.clock
        gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False)
        span = max(clock.end - clock.start, 1e-9)
        step = span / min(max(len(self.stage.trajectory) - 1, 1), SLIDER_STEPS)
        self._play_button = gui.add_button("Pause")
        self._slider = gui.add_slider("time [s]", clock.start, clock.start + span, step, clock.start)
        steps = gui.add_button_group("step", ("start", "−", "+", "end"))
        speeds = [f"{value:g}x" for value in sorted({*SPEEDS, clock.speed})]
        speed = gui.add_dropdown("speed", speeds, initial_value=f"{clock.speed:g}x")
        loop = gui.add_checkbox("loop", clock.loop)
        with gui.add_folder("Contacts"):
            through = gui.add_checkbox("see through", False)
            points, forces = gui.add_checkbox("points", True), gui.add_checkbox("forces", True)
            scale = gui.add_slider("arrow length", 0.2, 5.0, 0.1, 1.0)
            gui.add_html(legend(self.stage.full_force))
        self._figures = gui.add_markdown("")
        self._play_button.on_click(lambda _: self._act(clock.toggle))
        self._slider.on_update(self._dragged)
        steps.on_click(lambda event: self._act(lambda: self._step(event.target.value)))
        speed.on_update(lambda _: self._act(lambda: self._set(clock, "speed", float(speed.value[:-1]))))
        through.on_update(lambda _: self.actors.see_through(through.value))
        loop.on_update(lambda _: self._set(clock, "loop", loop.value))
        for control, name in (
            (points, "points_visible"),
            (forces, "forces_visible"),
            (scale, "force_scale"),
        ):
            control.on_update(self._setter(name, control))

    def _setter(self, name: str, control: Any) -> Any:
        return lambda _: self._act(lambda: self._set(self.actors, name, control.value))

    def _dragged(self, event: Any) -> None:
        if event.client is not None:  # the player moves the slider too
            self._act(lambda: self.clock.seek(self._slider.value))

    def _step(self, where: str) -> None:
        """Go to a neighbouring step, or to one of the ends, and stay there."""
        trajectory, clock = self.stage.trajectory, self.clock
        k, last = trajectory.index_at(clock.time), len(trajectory) - 1
        k = {"start": 0, "−": max(k - 1, 0), "+": min(k + 1, last), "end": last}[where]
        clock.playing = False
        clock.seek(float(trajectory.time[k]))

    def _act(self, change: Any) -> None:
        """Do what a control asks for and have the moment shown anew."""
        change()
        self._shown = None

    @staticmethod
    def _set(owner: Any, name: str, value: Any) -> None:
        setattr(owner, name, value)


def play(
    trajectory: Trajectory,
    port: int = PORT,
    host: str = HOST,
    camera: Camera | None = None,
    speed: float = 1.0,
    browser: bool = True,
) -> None:
    """Play a run until Ctrl-C is pressed; arguments as of `Viewer`, `browser` opens the page."""
    with Viewer(trajectory, port, host, camera, speed) as viewer, suppress(KeyboardInterrupt):
        print(f"{trajectory!r}: {viewer.address} (Ctrl-C ends)", flush=True)
        if browser:
            webbrowser.open(viewer.address)
        viewer.wait()


def figures(trajectory: Trajectory, k: int, marks: ContactMarks) -> str:
    """Return what is known of a step, as Markdown."""
    counts = [f"{np.count_nonzero(marks.mode == mode)} {name}" for mode, name in enumerate(MODES)]
    status, residual = int(trajectory.status[k]), trajectory.residual[k]
    certificate = trajectory.certificate[k]
    solve = "no solve" if status == NONE else f"{STATUSES[status].lower()}, residual {residual:.1e}"
    return "\n".join(
        [
            f"**step {k}** of {len(trajectory) - 1}, t = {trajectory.time[k]:.4f} s  ",
            f"contacts: {', '.join(counts)}  ",
            f"penetration {trajectory.penetration[k]:.1e} m  ",
            f"energy {trajectory.total_energy[k]:.6g} J  ",
            solve if np.isnan(certificate) else f"{solve}, certificate {certificate:.1e}",
            *_judgement(trajectory, k),
        ]
    )


def _judgement(trajectory: Trajectory, k: int) -> list[str]:
    """Return what contacts are in a step, and how unique rigid forces."""
    model = int(trajectory.contact_model[k])
    if model < 0:
        return []
    again = "" if np.isnan(trajectory.force_jump[k]) else " from here on"
    told = f"margin {trajectory.margin[k]:.3g}, growth {trajectory.growth[k]:.3g} 1/s"
    return [f"  \n{'compliant' if model else 'rigid'} contacts{again}: {told}"]


def legend(full_force: float) -> str:
    """Return what the colours of contacts mean, as HTML."""
    dot = '<span style="color:{}">&#9679;</span> {}'
    dots = "&ensp;".join(dot.format(MODE_COLOURS[mode], name) for mode, name in enumerate(MODES))
    longest = f"<br>longest arrow: {with_unit(full_force)} or more" if full_force else ""
    return f'<div style="font-size:0.8em;padding:0.4em 0.9em">{dots}{longest}</div>'


def _viser() -> Any:
    try:
        import viser
    except ImportError as error:
        raise PluginError(f"the viewer needs viser ({error}); pip install 'mcpframe[view]'") from None
    return viser


def _server(viser: Any, host: str, port: int, label: str) -> Any:
    try:
        with redirect_stdout(StringIO()):  # viser draws a panel with the address
            return viser.ViserServer(host=host, port=port, label=label, verbose=False)
    except OSError as error:
        raise OptionError(f"{host}:{port}: cannot serve there ({error})") from None
