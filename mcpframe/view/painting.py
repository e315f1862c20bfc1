"""One picture of a run, painted with matplotlib.

Bodies are drawn as a camera far away sees them, contacts as dots in the colour of their mode, forces as
arrows. A step is too short to be seen: a picture shows the mean force of the contacts over a short time
before it, so that impacts are not missed.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from mcpframe.arrays import Array
from mcpframe.simulation.recording.steps import MODES, NONE, SEPARATING, SLIDING, STICKING
from mcpframe.view.contact_marks import ContactMarks
from mcpframe.view.outlines import SHADE
from mcpframe.view.palette import BLACK, BLUE, CLUSTERS, ORANGE, VERMILION
from mcpframe.view.scenery import nice_length
from mcpframe.view.stage import MARGIN, Body, Stage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINK, LAST_LINK, WORLD_BODY = "#B4D2EA", "#5B93C2", "#BDBDBD"
EDGE, GROUND, GROUND_EDGE, GRID, FIELD = "#33475B", "#DADADA", "#777777", "#C4C4C4", "#F2F2F2"
FORCE = VERMILION
DOTS = {STICKING: BLUE, SLIDING: ORANGE, SEPARATING: "#FFFFFF"}
"""Colours of contact points by mode."""
LONGEST_ARROW = 0.22
"""Share of the picture's size that a full force gets."""
ARROW: dict[str, Any] = {
    "angles": "xy",
    "scale_units": "xy",
    "scale": 1.0,
    "units": "inches",
    "width": 0.022,
    "minlength": 0.0,
}
PALEST = 0.1
"""Opacity that the first of several pictures one over the other comes close to."""
KILO = 1000.0
BEHIND, FORCES, POINTS = 0, 3, 4
"""Order of what is painted, bodies and lines being 1 and 2."""
SCALE_BAR = 0.12
"""Least share of the picture's width that the scale bar measures; the most is 2.5 times as much."""


def paint(axis: Axes, stage: Stage, i: int) -> None:
    """Draw the i-th picture of a stage."""
    _surroundings(axis, stage)
    _moving(axis, stage, i)
    _contacts(axis, stage, stage.marks[i])


def paint_all(axis: Axes, stage: Stage) -> None:
    """Draw all pictures of a stage one over the other, the earlier ones paler."""
    _surroundings(axis, stage)
    for i, opacity in enumerate(np.linspace(PALEST, 1.0, len(stage.frames) + 1)[1:]):
        _moving(axis, stage, i, float(opacity))
        _contacts(axis, stage, stage.marks[i])


def _surroundings(axis: Axes, stage: Stage) -> None:
    axis.set(xlim=stage.window[[0, 2], 0], ylim=stage.window[[0, 2], 1], aspect="equal")
    axis.set_axis_off()
    _planes(axis, stage)
    _bodies(axis, stage.scenery, {NONE: WORLD_BODY})
    for line in stage.camera.project(stage.frame):
        axis.plot(*line.T, color=WORLD_BODY, linewidth=4.0, solid_capstyle="round")


def _moving(axis: Axes, stage: Stage, i: int, opacity: float = 1.0) -> None:
    for line in stage.sticks(i):
        axis.plot(*line.T, color=EDGE, linewidth=2.5, solid_capstyle="round", alpha=opacity)
    adaptive = stage.trajectory.active_joints[stage.frames[i]] >= 0  # edges would hide colours of thin links
    _bodies(axis, stage.bodies[i], _link_colours(stage, i), opacity, "face" if adaptive else EDGE)
    axis.plot(*stage.camera.project(stage.anchors).T, "s", color=EDGE, markersize=4.0)


def scale_bar(axis: Axes, stage: Stage) -> None:
    """Draw a bar with its length in the lower left corner, within the ground where there is some."""
    (x, y), width = stage.window[0], stage.size[0]
    length = nice_length(SCALE_BAR * width)
    x, y = x + 0.03 * width, y + 0.5 * MARGIN / (1.0 + 2.0 * MARGIN) * stage.size.max()
    axis.plot([x, x + length], [y, y], color=BLACK, linewidth=2.0, solid_capstyle="butt")
    axis.text(x + length, y, f" {length:g} m", ha="left", va="center", fontsize=8)


def legend_handles(stage: Stage) -> list[Any]:
    """Return what explains dots and arrows in a legend; nothing where no picture has contacts."""
    from matplotlib.lines import Line2D

    modes = sorted({int(mode) for marks in stage.marks for mode in marks.mode})
    dots = [
        Line2D([], [], marker="o", linestyle="", color=DOTS[mode], markeredgecolor=BLACK, label=MODES[mode])
        for mode in modes
    ]
    if not stage.full_force:
        return dots
    label = f"force, longest {with_unit(stage.full_force)} or more"
    return [
        *dots,
        Line2D([], [], marker=r"$\longrightarrow$", linestyle="", color=FORCE, markersize=22, label=label),
    ]


def _planes(axis: Axes, stage: Stage) -> None:
    for corners, lines in stage.grids:
        axis.fill(*corners.T, facecolor=FIELD, edgecolor=GRID, linewidth=0.8, zorder=BEHIND)
        for line in lines:
            axis.plot(*line.T, color=GRID, linewidth=0.5, zorder=BEHIND)
    for corners in stage.grounds:  # all edges first: the fills then leave only those that bodies can meet
        axis.fill(*corners.T, facecolor="none", edgecolor=GROUND_EDGE, linewidth=2.0, zorder=BEHIND)
    for corners in stage.grounds:
        axis.fill(*corners.T, facecolor=GROUND, edgecolor="none", zorder=BEHIND)


def _link_colours(stage: Stage, i: int) -> dict[int, str]:
    """Return the colours of links: one for those of a rigid cluster; else the last link stands out."""
    run, k = stage.trajectory, int(stage.frames[i])
    if run.active_joints[k] >= 0:
        return {link: CLUSTERS[c % len(CLUSTERS)] for link, c in enumerate(run.clusters_at(k).tolist())}
    return {**dict.fromkeys(range(run.model.n_links), LINK), run.model.n_links - 1: LAST_LINK}


def _bodies(
    axis: Axes, bodies: list[Body], shades: Mapping[int, str], opacity: float = 1.0, edge: str = EDGE
) -> None:
    """Draw bodies in their order, as one collection, in the colours of their links."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgb

    base = {k: np.array(to_rgb(shade)) for k, shade in shades.items()}
    drawn = [(corners, brightness * base[k]) for k, seen in bodies for corners, brightness in seen]
    if drawn:
        corners, colours = zip(*drawn, strict=True)
        polygons = PolyCollection(corners, facecolors=colours, edgecolors=edge, linewidths=0.6, alpha=opacity)
        axis.add_collection(polygons)


def _contacts(axis: Axes, stage: Stage, marks: ContactMarks) -> None:
    """Draw forces, and dots over their starts."""
    points, forces, _ = marks.arrows()
    if stage.full_force and len(points):
        size = np.maximum(np.linalg.norm(forces, axis=1, keepdims=True), stage.full_force)
        arrows = stage.camera.project(forces / size) * LONGEST_ARROW * stage.size.max()
        x, y = stage.camera.project(points).T
        axis.quiver(x, y, *arrows.T, color=FORCE, zorder=FORCES, **ARROW)
    if len(marks.point):
        x, y = stage.camera.project(marks.point).T
        colours = [DOTS[int(mode)] for mode in marks.mode]
        axis.scatter(x, y, s=16.0, c=colours, edgecolors=BLACK, linewidths=0.7, zorder=POINTS)


def colours() -> Array:
    """Return red, green and blue (0 to 1) of what pictures are painted with, and of what lies between two.

    Smooth edges are blends of two colours; so a film that has these needs no others [m, 3].
    """
    from matplotlib.colors import to_rgb

    plain = (BLACK, "#FFFFFF", EDGE, GROUND, GROUND_EDGE, GRID, FIELD, FORCE, BLUE, ORANGE)
    bodies, clusters = (
        np.array([to_rgb(colour) for colour in some]) for some in ((LINK, LAST_LINK, WORLD_BODY), CLUSTERS)
    )
    shades = np.concatenate(
        [brightness * np.concatenate([bodies, clusters]) for brightness in np.linspace(SHADE, 1.0, 5)]
    )
    pure = np.concatenate([[to_rgb(colour) for colour in plain], bodies])
    blends = [(1.0 - share) * a + share * b for a, b in combinations(pure, 2) for share in (1 / 3, 2 / 3)]
    return np.concatenate([pure, shades, blends])


def with_unit(force: float) -> str:
    """Return a force with its unit."""
    return f"{force:.3g} N" if force < KILO else f"{force / KILO:.3g} kN"
