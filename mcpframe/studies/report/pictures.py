"""The picture of a study: who solves how much, the performance profiles, and time against size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mcpframe.studies.report.entries import CLOCKS, Column
from mcpframe.studies.report.metrics import in_classes, medians_by_size
from mcpframe.studies.report.profiles import problems_of, ranking
from mcpframe.studies.report.results import Results
from mcpframe.studies.report.wording import percent
from mcpframe.view.figures import new_figure, save, tidy
from mcpframe.view.palette import ALL, NONE, SOME

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (8, 3))}
LAST_LINE = (0, (8, 3, 2, 3))
MOST_COLUMNS = 14
"""Settings that a picture shows; of more, those with the highest profiles."""
FARTHEST = 1e4


def draw(results: Results, path: Path) -> Path:
    """Draw rates, profiles and growth beside each other."""
    shown = ranking(results.profiles)[:MOST_COLUMNS]
    figure = new_figure(13.5, max(3.9, 0.24 * len(shown) + 1.8))
    left, middle, right = figure.subplots(1, 3, width_ratios=(0.8, 1.15, 1.0))
    _rates(left, results, shown)
    _profiles(middle, results, shown)
    _growth(right, results, shown)
    handles, names = middle.get_legend_handles_labels()
    figure.legend(
        handles,
        names,
        loc="outside lower center",
        ncols=min(8 if len(names) <= 8 else 5, len(names)),
        frameon=False,
        fontsize=8.5,
    )
    return save(figure, path)


def _rates(axis: Axes, results: Results, shown: list[Column]) -> None:
    """Draw the share of all problems that each setting solves, as bars with their numbers."""
    total = len(problems_of(results.entries))
    shares = [results.rates[column].solved / total for column in shown]
    fills = [ALL if share == 1.0 else SOME if share > 0.5 else NONE for share in shares]
    axis.barh(
        range(len(shown)), [100 * share for share in shares], color=fills, edgecolor="#444444", linewidth=0.6
    )
    for k, share in enumerate(shares):
        axis.text(
            2,
            k,
            f"{percent(share)} %",
            va="center",
            fontsize=8,
            fontweight="normal" if share == 1 else "bold",
        )
    tidy(axis, "", "problems solved [%]")
    axis.set_yticks(range(len(shown)), [results.name(column) for column in shown], fontsize=8.5)
    axis.set(xlim=(0, 100))
    axis.invert_yaxis()


def _profiles(axis: Axes, results: Results, shown: list[Column]) -> None:
    """Draw ρ(τ) as staircases with a few markers."""
    curves = results.profiles
    far = min(FARTHEST, max([10.0, *(float(r) for curve in curves.values() for r in curve.ratios[-1:])]))
    for column in shown:
        curve, look = curves[column], results.looks[column]
        tau = np.concatenate(([1.0], curve.ratios[curve.ratios > 1.0], [far * 1.3]))
        rho = [100 * curve.share(value) for value in tau]
        axis.step(
            tau,
            rho,
            where="post",
            color=look.colour,
            linestyle=LINES.get(look.dash, LAST_LINE),
            marker=look.marker,
            markersize=5,
            markevery=0.17,
            label=results.name(column),
            linewidth=1.5,
        )
    tidy(axis, "problems solved within τ [%]", "time over that of the fastest, τ")
    axis.set(xscale="log", xlim=(1.0, far * 1.3), ylim=(0, 102))


def _growth(axis: Axes, results: Results, shown: list[Column]) -> None:
    """Draw median times against the size of the problem."""
    name, scale = results.unit
    for column in shown:
        look = results.looks[column]
        solved = [entry for entry in results.by_column[column] if entry.ok]
        times = [entry.seconds(results.clock) / scale for entry in solved]
        if not times:
            continue
        points = in_classes(medians_by_size([entry.row.n for entry in solved], times))
        axis.plot(
            [size for size, _ in points],
            [value for _, value in points],
            color=look.colour,
            linestyle=LINES.get(look.dash, LAST_LINE),
            marker=look.marker,
            markersize=4,
            linewidth=1.2,
        )
    tidy(axis, f"median time of {CLOCKS[results.clock]} [{name}]", "rows of the problem, n")
    if axis.has_data():  # a logarithmic axis of nothing cannot be laid out
        axis.set(xscale="log", yscale="log")
