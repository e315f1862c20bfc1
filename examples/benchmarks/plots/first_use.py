"""Plot the first use: CPU time of compiling and of loading the kernels, module by module."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from reporting.tables import seconds_text

from mcpframe.view.palette import style

if TYPE_CHECKING:
    from first_use import Module


def plot(modules: Sequence[Module], path: Path) -> None:
    """Draw two bars per module, on a logarithmic axis."""
    drawing, axis = plt.subplots(figsize=(10.0, 1.6 + 0.55 * len(modules)), layout="constrained")
    at = np.arange(len(modules))[::-1]
    for k, (name, which, offset) in enumerate((("compiled", "cold", 0.2), ("loaded", "warm", -0.2))):
        times = [getattr(module, which)[1] for module in modules]
        label = f"{name}, {seconds_text(sum(times))} in all"
        bars = axis.barh(at + offset, times, height=0.38, color=style(k)[0], label=label)
        axis.bar_label(bars, [seconds_text(time) for time in times], fontsize=8, padding=2)
    names = [f"{module.name.removeprefix('mcpframe.')} ({module.kernels})" for module in modules]
    axis.set_yticks(at, names, fontsize=9)
    axis.set(xscale="log", xlabel="CPU time [s]", title="kernels by module (how many)")
    axis.margins(x=0.15)
    axis.grid(alpha=0.3, axis="x")
    axis.set_axisbelow(True)
    drawing.legend(fontsize=9, loc="outside lower center", ncols=2, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    drawing.savefig(path, dpi=130)
    plt.close(drawing)
