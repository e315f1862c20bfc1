"""Runs of one scene compared: the two panels of figure 6 of J14, and how far apart the runs are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mcpframe.arrays import Array
from mcpframe.view.comparison import Comparison, Pair
from mcpframe.view.figures import new_figure, save, tidy
from mcpframe.view.palette import BLACK, BLUE, VERMILION, style
from mcpframe.view.plots import TIME

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DASHES = ("-", "--", "-.", ":")
AS_IN_THE_PAPER = (VERMILION, BLUE)
"""Colours of the first two settings [J14, figure 6]."""


def save_comparison(comparison: Comparison, path: str | os.PathLike[str]) -> Path:
    """Write the figure of a comparison as a picture."""
    return save(comparison_figure(comparison), path)


def comparison_figure(comparison: Comparison) -> Figure:
    """Return height and normal velocity of the last link with the smallest step, overlaid, and distances.

    Below, on log axes: the distances of settings with the same step, and those of successive steps of the
    first setting, which are the error of integration.
    """
    figure = new_figure(9.0, 10.0)
    height, velocity, *apart = figure.subplots(4, 1, sharex=True)
    link = comparison.runs[0].trajectory.last_link.body
    _motion(height, velocity, comparison)
    pairs = [pair for pair in comparison.same_setting if pair.one.setting == comparison.settings[0]]
    for axis, which in zip(apart, (1, 2), strict=True):
        _distances(axis, pairs, which, first=0)
        _distances(axis, comparison.same_step, which, first=len(pairs))
        axis.set_yscale("log" if axis.lines else "linear")
    tidy(height, f"height of {link} [m]")
    tidy(velocity, "normal velocity [m/s]")
    tidy(apart[0], "height apart [m]")
    tidy(apart[1], "velocity apart [m/s]", TIME)
    if apart[0].lines:
        apart[0].legend(frameon=False, ncols=3, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    figure.align_ylabels()
    return figure


def _motion(height: Axes, velocity: Axes, comparison: Comparison) -> None:
    finest = [run for run in comparison.runs if run.dt == comparison.steps[-1]]
    for k, run in enumerate(finest):
        colour = AS_IN_THE_PAPER[k] if k < len(AS_IN_THE_PAPER) else style(k)[0]
        for axis, curve in zip((height, velocity), run.motion, strict=True):
            axis.plot(run.trajectory.time, curve, DASHES[k % 4], color=colour, linewidth=1.4, label=run.label)
    times = finest[0].trajectory.impacts.time
    for axis in (height, velocity):
        place, above = np.full(times.size, 0.985), axis.get_xaxis_transform()
        axis.plot(times, place, "|", color=BLACK, transform=above, label=f"impacts: {times.size}")
    height.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))


def _distances(axis: Axes, pairs: Sequence[Pair], which: int, first: int) -> None:
    for k, pair in enumerate(pairs, start=first):
        values = positive(pair.apart[which])
        if np.isfinite(values).any():
            axis.plot(pair.apart[0], values, color=style(k)[0], linewidth=1.0, label=pair.label)


def positive(values: Array) -> Array:
    """Return values with NaN for zeros, which a log axis does not have."""
    return np.where(values > 0.0, values, np.nan)
