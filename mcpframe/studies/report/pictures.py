"""The picture of a study: who solves how much, the performance profiles, and time against size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mcpframe.studies.report.entries import CLOCKS, Column
from mcpframe.studies.report.grid import Grid, grid
from mcpframe.studies.report.growth import growing, solved_of
from mcpframe.studies.report.metrics import Rates, in_classes, medians_by_size
from mcpframe.studies.report.profiles import problems_of, ranking
from mcpframe.studies.report.results import Results
from mcpframe.studies.report.wording import NOTHING, percent, time
from mcpframe.view.figures import new_figure, save, tidy
from mcpframe.view.palette import ALL, NONE, SOME

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (8, 3))}
LAST_LINE = (0, (8, 3, 2, 3))
MOST_COLUMNS = 8
"""Settings that a picture shows; of more, those with the highest profiles."""
MOST_CELLS = 12
"""Columns of a grid that can be read in a picture."""
FARTHEST = 1e4


def draw(results: Results, path: Path) -> Path:
    """Draw rates, profiles and growth beside each other."""
    shown = ranking(results.profiles)[:MOST_COLUMNS]
    made = grid(results)
    wide = made is not None and len(made.columns) <= MOST_CELLS
    figure = new_figure(15.5 if wide else 13.5, max(3.9, 0.24 * len(shown) + 1.8))
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.3 if wide else 0.8, 1.15, 1.0))
    if made is not None and wide:
        _grid(left, made)
    else:
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


def _grid(axis: Axes, made: Grid) -> None:
    """Draw the share solved where row and column meet, as coloured cells with share and median time."""
    for i, row in enumerate(made.rows):
        for j, column in enumerate(made.columns):
            cell = made.cells.get((row, column))
            taken = cell is not None and cell.taken > 0
            share = cell.success if cell is not None and taken else 0.0
            fill = _fill(share) if taken else "#f2f2f2"
            axis.bar(j + 0.5, 1.0, 1.0, bottom=i, color=fill, edgecolor="white", linewidth=1.5)
            axis.text(j + 0.5, i + 0.5, _words(cell), ha="center", va="center", fontsize=8)
    axis.set(xlim=(0, len(made.columns)), ylim=(len(made.rows), 0))
    axis.set_xticks(
        [j + 0.5 for j in range(len(made.columns))], made.columns, rotation=30, ha="left", fontsize=8.5
    )
    axis.set_yticks([i + 0.5 for i in range(len(made.rows))], made.rows, fontsize=8.5)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.set_xlabel("problems solved, median time of the solved", fontsize=8.5)
    for side in axis.spines.values():
        side.set_visible(False)


def _words(cell: Rates | None) -> str:
    if cell is None or not cell.taken:
        return NOTHING
    return f"{percent(cell.success)} %\n{time(cell.median)}"


def _fill(share: float) -> str:
    """Return the colour of a share: all, some, or towards none."""
    return ALL if share == 1.0 else SOME if share > 0.5 else NONE


def _rates(axis: Axes, results: Results, shown: list[Column]) -> None:
    """Draw the share of all problems that each setting solves, as bars with their numbers."""
    total = len(problems_of(results.entries))
    shares = [results.rates[column].solved / total for column in shown]
    fills = [_fill(share) for share in shares]
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
    """Draw median times against the size of the problem, of the system of which there are most sizes."""
    name, scale = results.unit
    families = growing(results)
    if not families:
        axis.set_axis_off()
        return
    for column in shown:
        look = results.looks[column]
        solved = solved_of(results, column, families[0])
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
    tidy(
        axis, f"median time of {CLOCKS[results.clock]} [{name}]", f"rows of the problem, n, of {families[0]}"
    )
    if axis.has_data():  # a logarithmic axis of nothing cannot be laid out
        axis.set(xscale="log", yscale="log")
        low, high = axis.get_xlim()
        if high > 10.0 * low:  # powers of ten are labelled; more would stand on each other
            axis.tick_params(axis="x", which="minor", labelbottom=False)
