"""Figures that need no display: matplotlib without windows, in the style of all pictures of a run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mcpframe.exceptions import FileFormatError, PluginError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 150
H_PAD = 0.08
"""Inches above and below every panel; titles at the edge of a picture need them."""


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, in inches, drawn by Agg whatever the user's backend is."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as error:
        raise PluginError(f"pictures need matplotlib ({error}); pip install 'mcpframe[report]'") from None
    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(h_pad=H_PAD))
    FigureCanvasAgg(figure)
    return figure


def pixels(figure: Figure) -> NDArray[np.uint8]:
    """Return a figure as red, green, blue and opacity of its pixels [height, width, 4]."""
    canvas: Any = figure.canvas
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def save(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure as a PNG, or as what the path ends with, and return the path."""
    place = Path(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(place, dpi=DPI)
    except (OSError, ValueError) as error:
        raise FileFormatError(f"{place}: the picture cannot be written ({error})") from None
    return place


def tidy(axis: Axes, ylabel: str, xlabel: str = "") -> None:
    """Label an axis and leave only the lines that help to read it."""
    axis.set_ylabel(ylabel)
    axis.set_xlabel(xlabel)
    axis.margins(x=0.015)
    axis.grid(alpha=0.3, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    if not xlabel:
        axis.tick_params(labelbottom=False)
