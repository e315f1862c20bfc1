"""Plot what contacts do: restitution got over asked, stop distance over theory by heading, creep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from measuring.contact_models import Model

from mcpframe.view.palette import style

LEAST_CREEP = 1e-18
"""m/s at which no creep at all is drawn."""


def plot(models: Sequence[Model], path: Path) -> None:
    """Draw three panels; peers are dashed."""
    drawing, (bounce, stop, rest) = plt.subplots(1, 3, figsize=(15.5, 5.0))
    asked = sorted({e for model in models for e in model.rebound})
    bounce.plot([0, 1], [0, 1], color="grey", linewidth=1.0)
    for k, model in enumerate(models):
        _line(bounce, [*model.rebound], [*model.rebound.values()], model, k)
        angles = sorted(model.stop)
        _line(stop, angles, [model.stop[angle] for angle in angles], model, k)
        colour, marker = style(k)
        rest.plot(max(model.creep, LEAST_CREEP), -k, marker, color=colour)
    bounce.set(xlabel="restitution asked for", ylabel="got", title="first bounce of a ball", xticks=asked)
    stop.axhline(1.0, color="grey", linewidth=1.0)
    stop.set(xlabel="heading against a friction direction [degrees]", title="block sliding to a stop")
    stop.set(ylabel="distance / theory", xticks=sorted(models[0].stop))
    rest.set(xscale="log", xlabel="creep [m/s]", title="block on a slope of 20 degrees, mu = 0.5")
    rest.set_yticks(-np.arange(len(models)), [model.engine for model in models])
    bounce.legend(fontsize=8)
    for axis in (bounce, stop, rest):
        axis.grid(alpha=0.3)
    drawing.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    drawing.savefig(path, dpi=130)
    plt.close(drawing)


def _line(axis: Axes, x: Sequence[float], y: Sequence[float], model: Model, k: int) -> None:
    colour, marker = style(k)
    stroke = "--" if model.is_peer else "-"
    axis.plot(x, y, stroke, marker=marker, color=colour, label=model.engine, markersize=5)
