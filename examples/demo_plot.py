"""The demo's picture: time against size, and the share of problems solved, failures in plain sight."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from mcpframe.palette import ALL, NONE, SOME, style

if TYPE_CHECKING:
    from demo import Row


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw one panel of times per family, and below them the table of success."""
    families = list(dict.fromkeys(row.family for row in rows))
    solvers = list(dict.fromkeys(row.solver for row in rows))
    figure = plt.figure(figsize=(3.1 * len(families) + 1.2, 8.2), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(1.15, 1.0))
    axes = above.subplots(1, len(families), sharey=True, squeeze=False)[0]
    for axis, family in zip(axes, families, strict=True):
        _times(axis, [row for row in rows if row.family == family], solvers)
        axis.set_title(f"family '{family}'")
    axes[0].set_ylabel("median time of a solve [s]")
    handles, labels = axes[0].get_legend_handles_labels()
    above.legend(handles, labels, loc="outside upper center", ncols=len(solvers), frameon=False)
    _success(below.subplots(), rows, solvers)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _times(axis: Axes, rows: Sequence[Row], solvers: Sequence[str]) -> None:
    """Draw time against size on log axes; hollow markers where not all problems were solved."""
    for k, solver in enumerate(solvers):
        own = sorted((row for row in rows if row.solver == solver), key=lambda row: row.n)
        colour, marker = style(k)
        n, t = [row.n for row in own], [row.median_seconds for row in own]
        axis.plot(n, t, "-", color=colour, marker=marker, linewidth=1.4, markersize=6, label=solver)
        failed = [row for row in own if row.solved < row.tried]
        n, t = [row.n for row in failed], [row.median_seconds for row in failed]
        axis.plot(n, t, marker, color=colour, markerfacecolor="white", markersize=6)
    ticks = sorted({row.n for row in rows})
    axis.set(xscale="log", yscale="log", xlabel="size n (hollow: not all solved)")
    axis.set_xticks(ticks, [str(n) for n in ticks])
    axis.set_xticks([], minor=True)
    axis.grid(alpha=0.3)


def _success(axis: Axes, rows: Sequence[Row], solvers: Sequence[str]) -> None:
    """Draw the solved share as a table of solvers by problems; whatever is not all solved stands out."""
    cells = list(dict.fromkeys((row.family, row.n) for row in rows))
    share = {(row.solver, row.family, row.n): row.solved / row.tried for row in rows}
    grid = [[share.get((solver, *cell), float("nan")) for cell in cells] for solver in solvers]
    colours = LinearSegmentedColormap.from_list("share", [(0.0, NONE), (0.98, SOME), (0.99, ALL), (1.0, ALL)])
    axis.imshow(grid, cmap=colours, vmin=0.0, vmax=1.0, aspect="auto")
    axis.hlines([i + 0.5 for i in range(len(solvers) - 1)], -0.5, len(cells) - 0.5, color="white")
    edges = [j - 0.5 for j in range(1, len(cells)) if cells[j][0] != cells[j - 1][0]]
    axis.vlines(edges, -0.5, len(solvers) - 0.5, color="white", linewidth=6)
    for i, line in enumerate(grid):
        for j, value in enumerate(line):
            text = f"{100 * value:.0f}" if value == value else "-"
            axis.text(j, i, text, ha="center", va="center", fontweight="normal" if value == 1.0 else "bold")
    axis.set_yticks(range(len(solvers)), solvers)
    axis.set_xticks(range(len(cells)), [f"{family}\n{n}" for family, n in cells])
    axis.set_title("problems solved and certified [%], by family and size")
    axis.tick_params(length=0)
