"""Plot the dynamics: time against the length of a chain, and our share of the peer's time everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from mcpframe.view.palette import style

if TYPE_CHECKING:
    from dynamics import Figure

THIRD = 1 / 3
WAYS = {"kernel": 0.22, "public": -0.22}
"""Ways that are called from Python, and where their bars stand beside the tick."""


def plot(figures: Sequence[Figure], path: Path) -> None:
    """Draw both panels; without the peer, the first alone."""
    has_peer = any(figure.peer for figure in figures)
    rows = len({(figure.subject, figure.n_c) for figure in figures})
    size = (14.0, max(5.2, 0.28 * rows + 1.6)) if has_peer else (7.0, 5.2)
    drawing, axes = plt.subplots(1, 1 + has_peer, figsize=size, squeeze=False)
    _times(axes[0, 0], [figure for figure in figures if figure.subject.startswith("chain")])
    if has_peer:
        _shares(axes[0, 1], [figure for figure in figures if figure.peer])
    drawing.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    drawing.savefig(path, dpi=130)
    plt.close(drawing)


def quantity(n_c: int) -> str:
    """Return what is computed, in words."""
    return f"with Λ of {n_c} nodes" if n_c else "free acceleration"


def _times(axis: Axes, chains: Sequence[Figure]) -> None:
    """Ours solid and dotted, the peer's dashed, one colour per quantity."""
    for k, n_c in enumerate(sorted({figure.n_c for figure in chains})):
        colour, marker = style(k)
        some = [figure for figure in chains if figure.n_c == n_c]
        n = [figure.n_links for figure in some]
        for way, stroke in (("kernel", "-"), ("public", ":")):
            label = f"{quantity(n_c)}: mcpframe, {way}"
            times = [1e6 * figure.ours[way] for figure in some]
            axis.plot(n, times, stroke, marker=marker, color=colour, label=label, markersize=5)
        if all(figure.peer for figure in some):
            label = f"{quantity(n_c)}: Pinocchio"
            times = [1e6 * figure.peer["python"] for figure in some]
            axis.plot(n, times, "--", marker=marker, color=colour, label=label, markerfacecolor="white")
    ticks = sorted({figure.n_links for figure in chains})
    axis.set(xscale="log", yscale="log", xlabel="links of a chain", ylabel="called from Python [µs]")
    axis.set_title("chains of pins")
    axis.set_xticks(ticks, [str(n) for n in ticks])
    axis.set_xticks([], minor=True)
    axis.grid(alpha=0.3, which="both")
    axis.legend(fontsize=8)


def _shares(axis: Axes, figures: Sequence[Figure]) -> None:
    """Bars of ours over the peer's time, one group per subject and quantity, with the third to stay below."""
    at = np.arange(len(figures))[::-1]
    for k, (way, offset) in enumerate(WAYS.items()):
        shares = [figure.ratio(way) or np.nan for figure in figures]
        bars = axis.barh(at + offset, shares, height=0.4, color=style(k)[0], label=f"mcpframe, {way}")
        axis.bar_label(bars, fmt="%.2f", fontsize=7, padding=2)
    axis.axvline(THIRD, color="black", linewidth=1.0, linestyle="--", label="one third")
    axis.set_yticks(at, [f"{figure.subject}, {quantity(figure.n_c)}" for figure in figures], fontsize=8)
    axis.set(xlabel="our time / Pinocchio's, both called from Python", ylim=(-0.8, len(figures) - 0.2))
    axis.set_title("share of Pinocchio's fastest route")
    axis.margins(x=0.12)
    axis.grid(alpha=0.3, axis="x")
    axis.legend(fontsize=8, loc="lower right")
