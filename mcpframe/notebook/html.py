"""Small pieces of HTML that ``_repr_html_`` of all values is made of; every text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CELL = "text-align:left;padding:2px 12px 2px 0;vertical-align:top"
FRAME = "border-collapse:collapse;margin:4px 0;font-size:90%"
GOOD, BAD = "#009E73", "#D55E00"
MOST_ROWS = 12
"""Rows of a table, and entries of a vector, that are shown."""
POINTS = 240
"""Points that a curve is drawn through, evenly spaced ones of more."""
WIDTH, HEIGHT = 360, 90
"""Of a curve, in pixels."""


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


def card(title: str, facts: Mapping[str, object], *parts: Markup) -> str:
    """Return a title, a table of what is known, without what is empty, and further parts below it."""
    told = [
        [Markup(f"<b>{escape(name)}</b>"), value] for name, value in facts.items() if value not in ("", None)
    ]
    return f"<div><div><b>{escape(title)}</b></div>{_table([], told)}{''.join(parts)}</div>"


def grid(heads: Sequence[str], rows: Sequence[Sequence[object]], most: int = MOST_ROWS) -> Markup:
    """Return a table with a line of names first, without empty columns; of many rows the first ones."""
    told = [k for k in range(len(heads)) if not rows or any(row[k] != "" for row in rows)]
    heads, rows = [heads[k] for k in told], [[row[k] for k in told] for row in rows]
    most = most if len(rows) > most + 1 else len(rows)
    more = f"<div>and {len(rows) - most} more</div>" if len(rows) > most else ""
    return Markup(_table(heads, rows[:most]) + more)


def verdict(text: str, good: bool) -> Markup:
    """Return a word that stands out, in the colour of what is well or not."""
    return Markup(f'<b style="color:{GOOD if good else BAD}">{escape(text)}</b>')


def duration(seconds: float) -> str:
    """Return a time with the unit that suits it."""
    if seconds >= 1.0:
        return f"{seconds:.3g} s"
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} µs"


def vector(values: Array, most: int = MOST_ROWS) -> str:
    """Return the entries of a short vector, an empty text for a long one."""
    return ", ".join(f"{value:.6g}" for value in values) if values.size <= most else ""


def curves(x: Array, lines: Mapping[str, tuple[str, Array]], unit: str, least: float = 0.0) -> Markup:
    """Return curves over a common x as an SVG, with the range of both axes.

    Args:
        x: common coordinate [n].
        lines: colour and values [n] by name.
        unit: of the values.
        least: range of values that is drawn at least, so that rounding does not fill the picture.
    """
    finite = np.concatenate([y[np.isfinite(y)] for _, y in lines.values()] or [np.zeros(0)])
    if x.size < 2 or not finite.size:
        return Markup("")
    low = float(finite.min())
    high = max(float(finite.max()), low + least)
    steps = np.unique(np.linspace(0, x.size - 1, min(x.size, POINTS)).astype(int))
    across = WIDTH * (x[steps] - x[0]) / max(float(x[-1] - x[0]), np.finfo(float).tiny)
    drawn = "".join(
        _polyline(across, HEIGHT * (high - y[steps]) / ((high - low) or 1.0), colour)
        for colour, y in lines.values()
    )
    names = _legend({name: colour for name, (colour, _) in lines.items()})
    return Markup(
        f'<div style="font-size:90%">{names} &ensp; {low:.4g} to {high:.4g} {escape(unit)}</div>'
        f'<svg width="{WIDTH}" height="{HEIGHT + 4}" viewBox="0 -2 {WIDTH} {HEIGHT + 4}" '
        f'style="border-left:1px solid #999;border-bottom:1px solid #999">{drawn}</svg>'
        f'<div style="font-size:90%">{x[0]:.4g} to {x[-1]:.4g} s</div>'
    )


SIGNS = {"positive": "#0072B2", "negative": "#E69F00"}
"""Colours of entries of a matrix."""


def pattern(M: Any) -> Markup:
    """Return where a matrix is not zero, as an SVG, positive and negative entries apart."""
    rows, columns = M.nonzero()
    n = max(M.shape)
    if not n:
        return Markup("")
    edge = max(1.0, min(8.0, 160.0 / n))
    values = np.asarray(M[rows, columns]).ravel()
    paths = (
        f'<path fill="{colour}" d="{_squares(rows[chosen], columns[chosen])}"/>'
        for colour, chosen in ((SIGNS["positive"], values > 0), (SIGNS["negative"], values < 0))
    )
    size = edge * n
    return Markup(
        f'<svg width="{size:g}" height="{size:g}" viewBox="0 0 {n} {n}" style="border:1px solid #999">'
        f"{''.join(paths)}</svg>"
        f'<div style="font-size:90%">M: {_legend(SIGNS)}</div>'
    )


def _legend(colours: Mapping[str, str]) -> str:
    return " &ensp; ".join(
        f'<span style="color:{colour}">&#9644;</span> {escape(name)}' for name, colour in colours.items()
    )


def _polyline(x: Array, y: Array, colour: str) -> str:
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True) if np.isfinite(b))
    return f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{points}"/>'


def _squares(rows: Iterable[int], columns: Iterable[int]) -> str:
    return "".join(f"M{j} {i}h1v1h-1z" for i, j in zip(rows, columns, strict=True))


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    first = _row("th", heads) if heads else ""
    return f'<table style="{FRAME}">{first}{"".join(_row("td", row) for row in rows)}</table>'


def _row(tag: str, cells: Sequence[object]) -> str:
    inside = (cell if isinstance(cell, Markup) else escape(str(cell)) for cell in cells)
    return "<tr>" + "".join(f'<{tag} style="{CELL}">{cell}</{tag}>' for cell in inside) + "</tr>"
