"""Plot integrators: error against work, and energy over a minute, a panel for every system."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from mcpframe.view.palette import style

if TYPE_CHECKING:
    from integrators import Cell

COLUMNS = 4
LEAST, MOST = 1e-16, 1e2
"""Errors below rounding, and above everything, are drawn here."""
WIDTHS = 3.0, 1.8, 1.0
"""Of the lines, so that one on top of another is seen."""
SHOWN = 1e-3
"""Step whose energy is drawn, s."""


def plot_work(cells: Sequence[Cell], path: Path) -> None:
    """Draw error over work, from the longest step on the left to the shortest."""
    drawing, panels = _panels(cells)
    for system, axis in panels.items():
        for k, (name, row) in enumerate(_rows(cells, system).items()):
            colour, marker = style(k)
            points = [(1e-3 * cell.work, max(cell.error, LEAST)) for cell in row if np.isfinite(cell.error)]
            if points:
                x, y = zip(*points, strict=True)
                axis.plot(
                    x, y, "-", marker=marker, color=colour, label=name, markersize=5, linewidth=WIDTHS[k]
                )
        axis.set(xscale="log", yscale="log")
        axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.xaxis.set_minor_formatter(NullFormatter())
    _finish(drawing, panels, "ms per simulated second", "error at the end", path)


def plot_energy(cells: Sequence[Cell], path: Path) -> None:
    """Draw the largest error of energy so far over time, at 1 ms; a cross where a run has ended early."""
    drawing, panels = _panels(cells)
    for system, axis in panels.items():
        for k, (name, row) in enumerate(_rows(cells, system).items()):
            cell = next((cell for cell in row if cell.dt == SHOWN), row[-1])
            times, shares = cell.curve
            colour, drawn = style(k)[0], np.clip(np.nan_to_num(shares, nan=MOST), LEAST, MOST)
            axis.plot(times, drawn, "-", color=colour, label=name, linewidth=WIDTHS[k])
            if cell.ended:
                axis.plot(times[-1], drawn[-1], "x", color=colour, markersize=9, markeredgewidth=2.0)
        axis.set(yscale="log", ylim=(0.3 * LEAST, 3.0 * MOST), xlim=(-1.0, 61.0))
    _finish(drawing, panels, "time [s]", "energy, share", path)


def _panels(cells: Sequence[Cell]) -> tuple[plt.Figure, dict[str, Axes]]:
    """Return a drawing with a panel for every system."""
    systems = list(dict.fromkeys(cell.system for cell in cells))
    rows = -(-len(systems) // COLUMNS)
    drawing, axes = plt.subplots(rows, COLUMNS, figsize=(13.0, 0.6 + 2.6 * rows), squeeze=False)
    for axis in axes.flat[len(systems) :]:
        axis.set_axis_off()
    return drawing, dict(zip(systems, axes.flat, strict=False))


def _rows(cells: Sequence[Cell], system: str) -> dict[str, list[Cell]]:
    names = dict.fromkeys(cell.integrator for cell in cells)
    return {name: [c for c in cells if (c.system, c.integrator) == (system, name)] for name in names}


def _finish(drawing: plt.Figure, panels: dict[str, Axes], x: str, y: str, path: Path) -> None:
    """Label the panels, the axes at the edges alone, and save."""
    for k, (system, axis) in enumerate(panels.items()):
        axis.set_title(system, fontsize=10)
        axis.grid(alpha=0.3)
        axis.tick_params(labelsize=7)
        if k % COLUMNS == 0:
            axis.set_ylabel(y, fontsize=8)
        if k >= len(panels) - COLUMNS:
            axis.set_xlabel(x, fontsize=8)
    handles, labels = next(iter(panels.values())).get_legend_handles_labels()
    drawing.legend(handles, labels, loc="upper center", ncols=len(labels), fontsize=9, frameon=False)
    drawing.tight_layout(rect=(0, 0, 1, 0.965))
    path.parent.mkdir(parents=True, exist_ok=True)
    drawing.savefig(path, dpi=100)
    plt.close(drawing)
