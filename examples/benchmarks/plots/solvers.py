"""Plot time against size, one panel per family, one line per solver; peers dashed, failures marked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from measuring.solvers import Cell

from mcpframe.view.palette import style


def plot(cells: Sequence[Cell], path: Path) -> None:
    """Draw the median time of cold solves against n."""
    families = list(dict.fromkeys(cell.family for cell in cells))
    solvers = list(dict.fromkeys(cell.solver for cell in cells))
    figure, axes = plt.subplots(
        1, len(families), figsize=(4.2 * len(families) + 2.2, 4.8), sharey=True, squeeze=False
    )
    for axis, family in zip(axes[0], families, strict=True):
        for k, solver in enumerate(solvers):
            row = [c for c in cells if (c.family, c.solver, c.mode) == (family, solver, "cold")]
            _line(axis, sorted(row, key=lambda c: c.n), k)
        axis.set(xscale="log", yscale="log", title=f"family '{family}'", xlabel="size n")
        ticks = sorted({cell.n for cell in cells})
        axis.set_xticks(ticks, [str(n) for n in ticks])
        axis.set_xticks([], minor=True)
        axis.grid(alpha=0.3)
    axes[0, 0].set_ylabel("median time of a cold solve [s]")
    _legend(figure, solvers, {cell.solver: cell.peer for cell in cells})
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _line(axis: Axes, row: Sequence[Cell], k: int) -> None:
    """Draw one solver; a hollow marker with its success rate where some problem was not solved."""
    if not row:
        return
    colour, marker = style(k)
    stroke = "--" if row[0].peer else "-"
    axis.plot([c.n for c in row], [c.median for c in row], stroke, color=colour, linewidth=1.5)
    for cell in row:
        full = cell.solved == cell.tried
        face = colour if full else "white"
        axis.plot(cell.n, cell.median, marker, color=colour, markerfacecolor=face, markersize=6)
        if not full:
            share = f"{100 * cell.solved / cell.tried:.0f}%"
            axis.annotate(
                share, (cell.n, cell.median), (5, -9), textcoords="offset points", fontsize=8, color=colour
            )


def _legend(figure: Figure, solvers: Sequence[str], peer: dict[str, bool]) -> None:
    handles = []
    for k, solver in enumerate(solvers):
        colour, marker = style(k)
        stroke = "--" if peer[solver] else "-"
        handles.append(Line2D([], [], color=colour, marker=marker, linestyle=stroke, label=solver))
    handles.append(Line2D([], [], color="grey", marker="o", markerfacecolor="white", linestyle=""))
    handles[-1].set_label("not all solved (share)")
    figure.legend(handles=handles, loc="center right", fontsize=9)
    figure.tight_layout(rect=(0, 0, 1 - 2.1 / figure.get_figwidth(), 1))
