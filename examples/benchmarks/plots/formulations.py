"""Plot the formulations: build time against links and contacts, recover time against links."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from mcpframe.view.palette import style

if TYPE_CHECKING:
    from formulations import Cell  # noqa: TID251 - the study beside this file


def plot(by_links: Sequence[Cell], by_contacts: Sequence[Cell], path: Path) -> None:
    """Draw three panels with the formulations in the same colours."""
    drawing, axes = plt.subplots(1, 3, figsize=(15.5, 5.2), sharey=True)
    names = list(dict.fromkeys(cell.name for cell in by_links))
    few = next(iter(by_links)).n_u
    some = next(iter(by_contacts)).n_links
    _panel(axes[0], by_links, names, "n_links", "build", f"build, {few} contacts", "links")
    _panel(axes[1], by_contacts, names, "n_u", "build", f"build, {some} links", "contacts")
    _panel(axes[2], by_links, names, "n_links", "recover", f"recover, {few} contacts", "links")
    axes[0].set_ylabel("time per call [s]")
    handles, labels = axes[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="center right", fontsize=9)
    drawing.tight_layout(rect=(0, 0, 0.88, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    drawing.savefig(path, dpi=130)
    plt.close(drawing)


def _panel(
    axis: Axes, cells: Sequence[Cell], names: Sequence[str], by: str, what: str, title: str, label: str
) -> None:
    """Draw one line per formulation; the ways to `os` that are not `build` are dotted."""
    for k, name in enumerate(names):
        row = [cell for cell in cells if cell.name == name and getattr(cell, what)]
        colour, marker = style(k)
        stroke = ":" if ":" in name else "-"
        sizes, times = [getattr(cell, by) for cell in row], [getattr(cell, what) for cell in row]
        axis.plot(sizes, times, stroke, marker=marker, color=colour, label=name, markersize=5)
    ticks = sorted({getattr(cell, by) for cell in cells})
    axis.set(xscale="log", yscale="log", title=title, xlabel=label)
    axis.set_xticks(ticks, [str(tick) for tick in ticks])
    axis.set_xticks([], minor=True)
    axis.grid(alpha=0.3)
