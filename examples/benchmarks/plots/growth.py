"""Plot how times grow, with the fits; links on the left, nodes on the right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from mcpframe.view.palette import style

if TYPE_CHECKING:
    from growth import Curve


def plot(curves: Sequence[Curve], path: Path) -> None:
    """Draw the times as markers, the fits as lines; the exponents stand in the legends."""
    kinds = list(dict.fromkeys(curve.by for curve in curves))
    drawing, axes = plt.subplots(1, len(kinds), figsize=(6.8 * len(kinds), 5.4), squeeze=False)
    for axis, by in zip(axes[0], kinds, strict=True):
        some = [curve for curve in curves if curve.by == by]
        for k, curve in enumerate(some):
            colour, marker = style(k)
            sizes, fit = np.array(curve.sizes), curve.fit
            label = f"{curve.name}: exponent {fit.exponent:.2f}"
            axis.plot(sizes, curve.times, marker, color=colour, label=label, markersize=6)
            axis.plot(sizes, fit.factor * sizes**fit.exponent, "-", color=colour, linewidth=1.2)
        ticks = sorted({size for curve in some for size in curve.sizes})
        axis.set(xscale="log", yscale="log", xlabel=by, ylabel="time per call [s]")
        axis.set_title(f"by {by}: exponents of at most {some[0].limit}")
        axis.set_xticks(ticks, [f"{size:,}" for size in ticks])
        axis.set_xticks([], minor=True)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    drawing.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    drawing.savefig(path, dpi=130)
    plt.close(drawing)
