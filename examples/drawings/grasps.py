"""Figures 5 to 13 of [S00], drawn anew: whole-arm grasps with rigid contacts, a layer, and both in turn.

Where an independent reproduction is at hand (../shared/compliant/reference), its forces and motions are dots.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import mcpframe as mf
from mcpframe.arrays import Array
from mcpframe.contact.contact_motion import contact_velocities
from mcpframe.contact.law import FORCE_N
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.systems.grasp import LENGTH, LINKS, PALM, RADII
from mcpframe.systems.grasp_motion import GraspMotion
from mcpframe.view.figures import new_figure, save, tidy
from mcpframe.view.palette import BLACK, BLUE, GREEN, ORANGE, VERMILION

ROOT = Path(__file__).parents[2]
SCENES = {1: "grasp_rotate", 2: "grasp_lift"}
MOTIONS = {
    1: GraspMotion((0.0, 0.155, np.deg2rad(70)), (0.0, 0.155, np.deg2rad(110)), (0.1, 0.1, 0.1, 0.1)),
    2: GraspMotion((0.0, 0.12, 0.0), (0.0, 0.18, 0.0), (0.8, 0.6, 0.8, 0.6)),
}
SCALES = (1e-3, 5e-4)
COLOURS = {"rigid": BLACK, 1e-3: VERMILION, 5e-4: BLUE}
REFERENCE = "independent reproduction"
TIME = "time [s]"
EVERY = 40
"""Of the reproduction one point in so many is drawn."""
PLANE = np.linspace(0.0, 1.5, 61)
"""Friction coefficients of figure 10."""


@cache
def run(example: int, contact_model: str, scale: float = 1e-3) -> Trajectory:
    """Run an example; a layer begins with the forces of a first rigid step."""
    scene = mf.load_scene(ROOT / f"examples/scenes/contact_models/{SCENES[example]}.toml")
    layer = {"scale": scale, "mass": 1.69, "pressed": contact_model == "compliant"}
    return mf.simulate(scene, contact_model=contact_model, layer=layer)


def models(example: int) -> dict[Any, Trajectory]:
    """Return the runs with rigid contacts and with layers of both scales."""
    return {"rigid": run(example, "rigid"), **{s: run(example, "compliant", s) for s in SCALES}}


def label(model: Any) -> str:
    """Return what a model is called."""
    return model if isinstance(model, str) else f"layer, scale {model:g}"


def reference(example: int, what: str) -> Any:
    """Return a file of the reproduction, None where it is not at hand."""
    places = (up / f"shared/compliant/reference/ex{example}_{what}.npz" for up in ROOT.parents)
    found = next((place for place in places if place.is_file()), None)
    return None if found is None else np.load(found)


def forces(trajectory: Trajectory) -> tuple[Array, Array]:
    """Return normal and tangential forces of the four links on the object [n, 4], N; NaN at the start."""
    both = np.full((2, len(trajectory), len(LINKS)), np.nan)
    dt = float(trajectory.time[1] - trajectory.time[0])
    both[:, 1:] = 0.0
    for k in range(1, len(trajectory)):
        table = trajectory.contacts_at(k)
        n = table.normal  # from the object to the link
        t = np.stack([-n[:, 1], n[:, 0], 0.0 * n[:, 0]], axis=1)
        links = table.body_a - 1
        both[0, k, links] = (table.impulse * n).sum(axis=1) / dt
        both[1, k, links] = -(table.impulse * t).sum(axis=1) / dt
    return both[0], both[1]


def slips(trajectory: Trajectory) -> Array:
    """Return the speeds with which the object slips along the links [n, 4], m/s; NaN where one is far."""
    motion, found = MOTIONS[2], np.full((len(trajectory), len(LINKS)), np.nan)
    for k in range(len(trajectory)):
        state = motion.model.state(trajectory.theta[k], trajectory.theta_dot[k])
        contacts = motion.detector.contacts(state, 5e-3)
        velocity = contact_velocities(state, contacts)[:, FORCE_N:]
        world = np.einsum("uki,uk->ui", contacts.axes, velocity)
        n = contacts.axes[:, 0]
        found[k, : len(contacts)] = n[:, 1] * world[:, 0] - n[:, 0] * world[:, 1]
    return found


def dots(axis: Any, data: Any, values: Array | None, name: str = "") -> None:
    """Draw some points of the reproduction."""
    if data is not None and values is not None:
        some = slice(None, None, EVERY)
        axis.plot(
            data["t"][some], values[some], "o", color=GREEN, markersize=2.6, mfc="none", label=name or None
        )


def above(axis: Any) -> None:
    """Put the legend above what is drawn."""
    axis.legend(fontsize=7, frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))


def task(example: int, path: Path) -> Path:
    """Draw the desired motion and the torques of the joints [S00, figures 5 and 9]."""
    motion, times = MOTIONS[example], np.linspace(0.0, 1.0, 201)
    figure = new_figure(9.0, 3.2)
    left, right = figure.subplots(1, 2)
    which, scale, name = (2, 180.0 / np.pi, "angle [deg]") if example == 1 else (1, 1.0, "y [m]")
    left.plot(times, [scale * motion.path(t)[0][which] for t in times], color=BLACK)
    torques = np.array([motion.torques(t)[3:] for t in times])
    for k, colour in enumerate((BLACK, VERMILION, BLUE, ORANGE)):
        right.plot(times, torques[:, k], color=colour, linewidth=1.1, label=LINKS[k])
    data = reference(example, "torque_ff")
    for k in range(len(LINKS)):
        dots(right, data, None if data is None else data["tau"][:, k], REFERENCE if k == 3 else "")
    above(right)
    tidy(left, f"desired {name}", TIME)
    tidy(right, "torque [N m]", TIME)
    return save(figure, path)


def outline(axis: Any, theta: Array, colour: str, style: str = "-") -> None:
    """Draw the grasp at some coordinates."""
    turn = np.linspace(0.0, 2.0 * np.pi, 121)
    c, s = np.cos(theta[2]), np.sin(theta[2])
    x, y = RADII[0] * np.cos(turn), RADII[1] * np.sin(turn)
    axis.plot(theta[0] + c * x - s * y, theta[1] + s * x + c * y, style, color=colour, linewidth=1.0)
    axis.plot([-PALM / 2, PALM / 2], [0.0, 0.0], "-", color=BLACK, linewidth=2.0)
    for side, base in ((3, PALM / 2), (5, -PALM / 2)):
        angles = np.cumsum(theta[side : side + 2])
        corners = np.array([[base, 0.0], *LENGTH * np.stack([np.cos(angles), np.sin(angles)], axis=1)])
        axis.plot(*np.cumsum(corners, axis=0).T, style, color=colour, linewidth=1.2)


def snapshots(example: int, path: Path) -> Path:
    """Draw the grasp at some times [S00, figures 6 and 11]."""
    figure, times = new_figure(11.0, 2.2), (0.0, 0.3, 0.5, 0.7, 1.0)
    runs = models(1) if example == 1 else {"switched": run(2, "auto")}
    for axis, time in zip(figure.subplots(1, len(times), sharey=True), times, strict=True):
        for model, trajectory in runs.items():
            k = trajectory.index_at(time + 1e-9)
            yields = example == 2 and trajectory.contact_model[k] > 0
            colour = COLOURS.get(model, VERMILION if yields else BLACK)
            outline(axis, trajectory.theta[k], colour, "-" if model in ("rigid", "switched") else "--")
            told = f", {'layer' if yields else 'rigid'}" if example == 2 else ""
        axis.set(title=f"{time:g} s{told}", aspect="equal", xlim=(-0.3, 0.3), ylim=(-0.02, 0.42), xticks=[])
    return save(figure, path)


def all_forces(example: int, path: Path) -> Path:
    """Draw normal and tangential forces of all contacts [S00, figures 7 and 12]."""
    figure = new_figure(11.0, 5.0)
    axes = figure.subplots(2, 4, sharex=True)
    runs = models(1) if example == 1 else {"switched": run(2, "auto")}
    data = reference(1, "rigid_ff") if example == 1 else reference(2, "compliant_ff_s0.001")
    for model, trajectory in runs.items():
        both = forces(trajectory)
        for row, which in zip(axes, both, strict=True):
            for k, axis in enumerate(row):
                axis.plot(
                    trajectory.time, which[:, k], color=COLOURS.get(model, BLACK), lw=1.0, label=label(model)
                )
                for switch in trajectory.switches if example == 2 else ():
                    at = trajectory.index_at(switch.time + 1e-9)
                    axis.plot(switch.time, which[at, k], "o", color=VERMILION, mfc="none", markersize=7)
    if data is not None:
        tangents = data["lamT"] if "lamT" in data else -np.asarray(MOTIONS[1].mu) * data["sgn"] * data["lam"]
        for k in range(len(LINKS)):
            dots(axes[0][k], data, data["lam"][:, k], REFERENCE if example == 1 else f"{REFERENCE}, layer")
            dots(axes[1][k], data, tangents[:, k])
    for k, axis in enumerate(axes[0]):
        axis.set_title(LINKS[k])
        tidy(axis, "normal [N]" if k == 0 else "")
        tidy(axes[1][k], "tangential [N]" if k == 0 else "", TIME)
    handles, names = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, names, fontsize=7, frameon=False, ncols=4, loc="outside upper center")
    return save(figure, path)


def rotation(path: Path) -> Path:
    """Draw the angle of the object, and how far layers move it off [S00, figure 8]."""
    figure = new_figure(9.0, 3.2)
    left, right = figure.subplots(1, 2)
    runs, rigid = models(1), reference(1, "rigid_ff")
    for model, trajectory in runs.items():
        left.plot(
            trajectory.time,
            np.rad2deg(trajectory.theta[:, 2]),
            color=COLOURS[model],
            lw=1.0,
            label=label(model),
        )
        if model != "rigid":
            off = 1e3 * (trajectory.theta[:, 0] - runs["rigid"].theta[:, 0])
            right.plot(trajectory.time, off, color=COLOURS[model], lw=1.0, label=label(model))
            data = reference(1, f"compliant_ff_s{model:g}")
            dots(right, data, None if data is None else 1e3 * (data["q"] - rigid["q"])[:, 0])
    dots(left, rigid, None if rigid is None else np.rad2deg(rigid["q"][:, 2]), REFERENCE)
    above(left)
    tidy(left, "angle [deg]", TIME)
    tidy(right, "x, layer less rigid [mm]", TIME)
    return save(figure, path)


def plane(path: Path) -> Path:
    """Draw where rigid forces are unique over two friction coefficients, at two times [S00, figure 10]."""
    figure = new_figure(8.0, 3.6)
    for axis, time in zip(figure.subplots(1, 2, sharey=True), (0.2, 0.5), strict=True):
        margins = mf.diagnose(MOTIONS[2].step(time)).margins((0, 2), (1, 3), PLANE)
        axis.contourf(PLANE, PLANE, margins.T, levels=[0.0, 2.0], colors=["#BFD9EC"])
        axis.contour(PLANE, PLANE, margins.T, levels=[0.0], colors=[BLUE])
        axis.plot(0.8, 0.6, "o", color=VERMILION)
        axis.annotate("unique", (0.1, 0.1))
        axis.set(title=f"t = {time:g} s", aspect="equal")
        tidy(axis, "mu of links 2 and 4" if time == 0.2 else "", "mu of links 1 and 3")
    return save(figure, path)


def lift(path: Path) -> Path:
    """Draw the height of the object and the slips of a switched run [S00, figure 13]."""
    trajectory, data = run(2, "auto"), reference(2, "compliant_ff_s0.001")
    figure = new_figure(9.0, 3.2)
    left, right = figure.subplots(1, 2)
    left.plot(trajectory.time, trajectory.theta[:, 1], color=BLACK, label="switched")
    dots(left, data, None if data is None else data["q"][:, 1], f"{REFERENCE}, layer")
    speeds = slips(trajectory)
    for k, colour in enumerate((BLACK, VERMILION, BLUE, ORANGE)):
        right.plot(trajectory.time, speeds[:, k], color=colour, lw=1.0, label=LINKS[k])
        dots(right, data, None if data is None else data["vT"][:, k])
    for switch in trajectory.switches:
        at = trajectory.index_at(switch.time + 1e-9)
        left.plot(switch.time, trajectory.theta[at, 1], "o", color=VERMILION, mfc="none", markersize=8)
        right.plot([switch.time] * 4, speeds[at], "o", color=VERMILION, mfc="none", markersize=7)
    above(left)
    above(right)
    tidy(left, "y [m]", TIME)
    tidy(right, "slip [m/s]", TIME)
    return save(figure, path)


PICTURES: dict[str, Callable[[Path], Path]] = {
    "figure_05": partial(task, 1),
    "figure_06": partial(snapshots, 1),
    "figure_07": partial(all_forces, 1),
    "figure_08": rotation,
    "figure_09": partial(task, 2),
    "figure_10": plane,
    "figure_11": partial(snapshots, 2),
    "figure_12": partial(all_forces, 2),
    "figure_13": lift,
}
"""By the number of the figure in [S00]."""
