"""Plots of a run over time: motion, energy, contacts, solve time.

Every plot draws on a figure of matplotlib (extra `report`), or on a part of one; `save_plots` writes one
picture each, `save_page` all of them on one page.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.multibody.model.node import Node
from mcpframe.simulation.recording.steps import MODES, SEPARATING, SLIDING, STICKING
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.view.figures import new_figure, save, tidy
from mcpframe.view.palette import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

MOST_POINTS = 20000
"""Steps at which the motion of a node is computed; of more, evenly spaced ones are taken."""
MODE_COLOURS = {STICKING: BLUE, SLIDING: ORANGE, SEPARATING: "#BBBBBB"}
"""Colours of the modes of contacts, in the order of their layers."""
TIME = "time [s]"
EXACT = 1e-17
"""Where a certificate of zero is drawn on a log axis."""
MICRO = 1e6


def save_plots(
    trajectory: Trajectory, folder: str | os.PathLike[str], node: Node | str | None = None
) -> list[Path]:
    """Write one picture for each plot into a folder and return their paths.

    Args:
        trajectory: the run.
        folder: made where it does not exist.
        node: whose motion is plotted; the centre of mass of the last link unless given.
    """
    paths = []
    for name, plot in _plots(trajectory, node).items():
        figure = new_figure(8.0, 5.0)
        plot(figure)
        paths.append(save(figure, Path(folder, f"{name}.png")))
    return paths


def save_page(trajectory: Trajectory, path: str | os.PathLike[str], node: Node | str | None = None) -> Path:
    """Write all plots as one picture; arguments as of `save_plots`."""
    plots = _plots(trajectory, node)
    columns = -(-len(plots) // 2)
    figure = new_figure(7.0 * columns, 8.8)
    figure.suptitle(_title(trajectory))
    parts = np.asarray(figure.subfigures(2, columns, wspace=0.03, hspace=0.03))
    for part, plot in zip(parts.flat, plots.values(), strict=False):
        plot(part)
    return save(figure, path)


def motion(figure: FigureBase, trajectory: Trajectory, node: Node | str | None = None) -> None:
    """Plot the height and the normal velocity of a node; impacts are ticks at the top."""
    node = trajectory.last_link if node is None else node
    height, velocity = figure.subplots(2, 1, sharex=True)
    t, h, v = vertical_motion(trajectory, node)
    height.plot(t, h, color=BLUE, linewidth=1.4)
    velocity.plot(t, v, color=VERMILION, linewidth=1.1)
    for axis in (height, velocity):
        _ticks(axis, trajectory.impacts.time, "|", BLACK, "impacts")
    tidy(height, f"height of {_name(node)} [m]")
    tidy(velocity, "normal velocity [m/s]", TIME)
    _legend_above(height)
    figure.align_ylabels()


def energy(figure: FigureBase, trajectory: Trajectory) -> None:
    """Plot kinetic, potential and total energy, the potential one counted from its lowest value."""
    axis = figure.subplots()
    kinetic = trajectory.kinetic_energy
    potential = trajectory.potential_energy - _lowest(trajectory.potential_energy)
    axis.plot(trajectory.time, kinetic, "-", color=BLUE, linewidth=1.2, label="kinetic")
    axis.plot(
        trajectory.time, potential, "--", color=GREEN, linewidth=1.2, label="potential, from its lowest"
    )
    axis.plot(trajectory.time, kinetic + potential, "-", color=BLACK, linewidth=1.8, label="total")
    _ticks(axis, trajectory.impacts.time, "|", BLACK, "impacts")
    axis.set_ylim(bottom=0.0)
    tidy(axis, "energy [J]", TIME)
    _legend_above(axis)


def contacts(figure: FigureBase, trajectory: Trajectory) -> None:
    """Plot the number of contacts, by mode, and the largest penetration of every step."""
    count, depth = figure.subplots(2, 1, sharex=True)
    counts = mode_counts(trajectory)
    bottom = np.zeros(len(trajectory))
    for mode, colour in MODE_COLOURS.items():
        top = bottom + counts[:, mode]
        label = MODES[mode]
        count.fill_between(trajectory.time, bottom, top, step="pre", color=colour, linewidth=0, label=label)
        bottom = top
    count.plot(trajectory.time, bottom, color=BLACK, linewidth=0.6, drawstyle="steps-pre")
    count.set_ylim(0.0, max(1.0, 1.1 * bottom.max(initial=0.0)))
    count.yaxis.get_major_locator().set_params(integer=True)
    tidy(count, "contacts")
    _legend_above(count)
    _penetration(depth, trajectory)
    figure.align_ylabels()


def solve_time(figure: FigureBase, trajectory: Trajectory) -> None:
    """Plot the wall time of building, solving and recovering, a dot per step, and what certificates say."""
    axis, certified = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    for part, colour in (("build", SKY), ("solve", BLUE), ("recover", ORANGE)):
        seconds = getattr(trajectory, f"{part}_seconds")
        shown = seconds > 0.0
        median = MICRO * np.median(seconds[shown]) if shown.any() else 0.0
        label = f"{part}, median {median:.3g} µs"
        dots = axis.plot(trajectory.time[shown], MICRO * seconds[shown], ".", color=colour, label=label)
        dots[0].set(markersize=3.0, alpha=0.5, rasterized=True)
    _ticks(axis, trajectory.time[trajectory.failed], "v", VERMILION, "not solved")
    if (trajectory.solve_seconds > 0.0).any():
        axis.set_yscale("log")
    tidy(axis, "wall time per step [µs]")
    _legend_above(axis, markerscale=2.0)
    _certificates(certified, trajectory)
    figure.align_ylabels()


def choice(figure: FigureBase, trajectory: Trajectory) -> None:
    """Plot how many joints of an adaptive run are active, what the others miss, and what they have lost."""
    count, error, loss = figure.subplots(3, 1, sharex=True)
    known = trajectory.active_joints >= 0
    time = trajectory.time[known]
    count.plot(time, trajectory.active_joints[known], color=BLUE, linewidth=1.2, drawstyle="steps-post")
    count.set_ylim(bottom=0.0)
    error.plot(time, trajectory.rigid_error[known], color=VERMILION, linewidth=1.0)
    loss.plot(time, np.cumsum(trajectory.rigid_loss)[known], color=BLACK, linewidth=1.2)
    tidy(count, "active joints")
    tidy(error, "error of the\nrigid ones")
    tidy(loss, "lost by making\njoints rigid [J]", TIME)
    figure.align_ylabels()


def judgement(figure: FigureBase, trajectory: Trajectory) -> None:
    """Plot how unique rigid forces are and how fast a layer leaves them; shaded where contacts yield."""
    margin, growth = figure.subplots(2, 1, sharex=True)
    time, yields = trajectory.time, trajectory.contact_model > 0
    margin.plot(time, trajectory.margin, color=BLUE, linewidth=1.2)
    growth.plot(time, trajectory.growth, color=VERMILION, linewidth=1.0)
    for axis in (margin, growth):
        axis.axhline(0.0, color=BLACK, linewidth=0.6)
        for first, last in _stretches(yields):
            axis.axvspan(time[max(first - 1, 0)], time[last], color=ORANGE, alpha=0.2, linewidth=0)
        _ticks(axis, np.array([switch.time for switch in trajectory.switches]), "v", BLACK, "switches")
    tidy(margin, "margin of uniqueness")
    tidy(growth, "growth of a layer [1/s]", TIME)
    _legend_above(margin)
    figure.align_ylabels()


def _stretches(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return first and last of all runs of true flags."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]


def vertical_motion(trajectory: Trajectory, node: Node | str) -> tuple[Array, Array, Array]:
    """Return times, heights and velocities along the vertical of a node, at `MOST_POINTS` steps at most."""
    every = max(1, -(-len(trajectory) // MOST_POINTS))
    steps = np.arange(0, len(trajectory), every)
    positions, velocities = trajectory.motion_of(node, steps)
    return trajectory.time[steps], positions @ trajectory.up, velocities[:, 3:] @ trajectory.up


def mode_counts(trajectory: Trajectory) -> NDArray[np.int64]:
    """Return how many contacts of each mode every step has [n, modes]."""
    step = np.repeat(np.arange(len(trajectory)), trajectory.n_contacts)
    cells = step * len(MODES) + trajectory.contacts.mode
    return np.bincount(cells, minlength=len(trajectory) * len(MODES)).reshape(-1, len(MODES))


def _plots(trajectory: Trajectory, node: Node | str | None) -> dict[str, Callable[[FigureBase], None]]:
    adaptive = {"choice": lambda figure: choice(figure, trajectory)}
    judged = {"contact_model": lambda figure: judgement(figure, trajectory)}
    return {
        "motion": lambda figure: motion(figure, trajectory, node),
        "energy": lambda figure: energy(figure, trajectory),
        "contacts": lambda figure: contacts(figure, trajectory),
        "solve_time": lambda figure: solve_time(figure, trajectory),
        **(adaptive if (trajectory.active_joints >= 0).any() else {}),
        **(judged if (trajectory.contact_model >= 0).any() else {}),
    }


def _penetration(axis: Axes, trajectory: Trajectory) -> None:
    """Plot the largest overlap on a log axis, where there is any."""
    deep = trajectory.penetration > 0.0
    axis.plot(trajectory.time[deep], trajectory.penetration[deep], ".", color=VERMILION, markersize=2.5)
    if deep.any():
        axis.set_yscale("log")
    else:
        axis.text(0.5, 0.5, "no penetration", transform=axis.transAxes, ha="center", va="center")
        axis.set_yticks([])
    tidy(axis, "largest\npenetration [m]", TIME)


def _certificates(axis: Axes, trajectory: Trajectory) -> None:
    """Plot how far from physics the steps are that were certified, on a log axis; exact ones are at 1e-17."""
    made = np.isfinite(trajectory.certificate)
    figures = np.maximum(trajectory.certificate[made], EXACT)
    axis.plot(trajectory.time[made], figures, ".", color=GREEN, markersize=2.5, rasterized=True)
    if made.any():
        axis.set_yscale("log")
    else:
        axis.text(0.5, 0.5, "no certificates", transform=axis.transAxes, ha="center", va="center")
        axis.set_yticks([])
    tidy(axis, "certificate", TIME)


def _ticks(axis: Axes, times: Array, marker: str, colour: str, label: str) -> None:
    """Mark times along the top; their number stands in the legend."""
    if times.size:
        place, text = np.full(times.size, 0.985), f"{label}: {times.size}"
        axis.plot(times, place, marker, color=colour, transform=axis.get_xaxis_transform(), label=text)


def _legend_above(axis: Axes, **options: float) -> None:
    handles, _ = axis.get_legend_handles_labels()
    if handles:
        axis.legend(
            frameon=False, ncols=len(handles), loc="lower center", bbox_to_anchor=(0.5, 1.0), **options
        )


def _lowest(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.min()) if finite.size else 0.0


def _title(trajectory: Trajectory) -> str:
    end = f" to {trajectory.time[-1]:g} s" if len(trajectory) else ""
    return f"{trajectory.model.name}: {len(trajectory)} steps{end}"


def _name(node: Node | str) -> str:
    return node if isinstance(node, str) else node.body
