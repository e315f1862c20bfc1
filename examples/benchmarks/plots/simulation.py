"""Plot time per step and largest overlap against the number of links; peers dashed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from measuring.simulation import Cell, Growth

from mcpframe.view.palette import style

LEAST_DEPTH = 1e-9
"""Metres at which an overlap of none is drawn."""


def plot(cells: Sequence[Cell], growth: Growth, path: Path) -> None:
    """Draw times above and overlaps below, one column per kind of pendulum, our growth in the first."""
    kinds = list(dict.fromkeys(cell.kind for cell in cells))
    engines = list(dict.fromkeys(cell.engine for cell in cells))
    drawing, axes = plt.subplots(
        2, len(kinds), figsize=(5.4 * len(kinds) + 2.6, 8.0), sharey="row", squeeze=False
    )
    for column, kind in zip(axes.T, kinds, strict=True):
        some = [cell for cell in cells if cell.kind == kind]
        if kind == kinds[0]:
            _growth(column[0], growth)
        _lines(column[0], some, engines, lambda cell: 1e6 * cell.seconds)
        _lines(column[1], some, engines, lambda cell: 1e3 * max(cell.depth, LEAST_DEPTH))
        column[0].set_title(f"pendulum '{kind}', steps of 1 ms")
        _links(column[0], [*(cell.n_links for cell in some), *(growth.sizes if kind == kinds[0] else [])])
        _links(column[1], [cell.n_links for cell in some])
    axes[0, 0].set_ylabel("processor time per step [µs]")
    axes[1, 0].set_ylabel("largest overlap [mm]")
    handles, labels = axes[1, 0].get_legend_handles_labels()
    fit_handles, fit_labels = axes[0, 0].get_legend_handles_labels()
    extra = [(h, t) for h, t in zip(fit_handles, fit_labels, strict=True) if t not in labels]
    drawing.legend(
        [*handles, *(h for h, _ in extra)], [*labels, *(t for _, t in extra)], loc="center right", fontsize=9
    )
    drawing.tight_layout(rect=(0, 0, 1 - 2.6 / drawing.get_figwidth(), 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    drawing.savefig(path, dpi=130)
    plt.close(drawing)


def _lines(axis: Axes, cells: Sequence[Cell], engines: Sequence[str], value: Callable[[Cell], float]) -> None:
    for k, engine in enumerate(engines):
        row = sorted((cell for cell in cells if cell.engine == engine), key=lambda cell: cell.n_links)
        if not row:
            continue
        colour, marker = style(k)
        stroke = "--" if row[0].is_peer else "-"
        links = [cell.n_links for cell in row]
        axis.plot(links, [value(cell) for cell in row], stroke, marker=marker, color=colour, label=engine)


def _growth(axis: Axes, growth: Growth) -> None:
    """Draw our event-driven steps at all sizes, with the fit."""
    fit, sizes = growth.fit, np.array(growth.sizes)
    colour, marker = style(0)
    axis.plot(sizes, 1e6 * np.array(growth.times), marker, color=colour, markerfacecolor="white")
    label = f"fit of growth, n^{fit.exponent:.2f}"
    axis.plot(sizes, 1e6 * fit.factor * sizes**fit.exponent, ":", color=colour, label=label)


def _links(axis: Axes, sizes: Sequence[int]) -> None:
    ticks = [n for n in sorted(set(sizes)) if n not in (10, 15)]  # whose labels would lie on others
    axis.set(xscale="log", yscale="log", xlabel="links")
    axis.set_xticks(ticks, [str(n) for n in ticks])
    axis.set_xticks([], minor=True)
    axis.grid(alpha=0.3)
