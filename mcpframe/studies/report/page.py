"""The page: one HTML file with its data, its scripts and plotly inside; it asks no network for anything."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from string import Template
from typing import Any

from mcpframe.exceptions import PluginError
from mcpframe.studies.report.data import SYMBOLS, embedded, page_data
from mcpframe.studies.report.facts import facts
from mcpframe.studies.report.published import Published
from mcpframe.studies.report.results import Results
from mcpframe.studies.report.verdict import limitations, verdict
from mcpframe.view.palette import ALL, BLUE, COLOURS, MARKERS, NONE, SOME

SCRIPTS = ("metrics.js", "tables.js", "verdict.js", "charts.js", "grid.js", "sections.js", "page.js")
"""In the order in which they build on each other."""


def page(results: Results, published: Sequence[Published] = ()) -> str:
    """Return the page of a study."""
    return Template(_template("page.html")).substitute(
        title=escape(str(results.header.get("name", "study"))),
        verdict=escape(" ".join(sentence for sentence in verdict(results) if sentence)),
        facts=_facts(results),
        published="".join(_published(k, table) for k, table in enumerate(published)),
        limitations=_bullets(limitations(results)),
        settings=_settings(results.header),
        data=embedded(page_data(results) | {"looks": _looks()}),
        css=_template("style.css"),
        plotly=_plotly(),
        scripts="\n".join(_template(name) for name in SCRIPTS),
        all=ALL,
        some=SOME,
        none=NONE,
        accent=BLUE,
    )


def _template(name: str) -> str:
    """Read a file of the folder beside this module."""
    return resources.files("mcpframe.studies.report").joinpath("template", name).read_text("utf-8")


def _plotly() -> str:
    """Return plotly.js, whole."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise PluginError(f"report: needs plotly ({error}); pip install 'mcpframe[report]'") from None
    return str(get_plotlyjs())


def _looks() -> list[dict[str, str]]:
    """Return the looks of the k-th of several things."""
    return [{"colour": c, "symbol": SYMBOLS[m]} for c, m in zip(COLOURS, MARKERS, strict=True)]


def _facts(results: Results) -> str:
    """Write machine, versions, date, commit and settings as a list of terms."""
    items = (f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts(results))
    return f'<dl class="facts">{"".join(items)}</dl>'


def _bullets(sentences: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f'<ul class="limitations">{items}</ul>'


def _settings(header: Mapping[str, Any]) -> str:
    """Write the study as it was resolved, every default in its place; nothing where that is not known."""
    if not header.get("config"):
        return ""
    text = json.dumps(header["config"], indent=2, ensure_ascii=False, default=str)
    return f'<section id="settings" class="settings"><h2>Settings</h2><pre>{escape(text)}</pre></section>'


def _published(k: int, table: Published) -> str:
    """Write published figures beside ours."""
    looks = [table.look(k) for k in range(len(table.columns))]
    heads = _line("th", table.columns, ["text", *[""] * (len(looks) - 1)])
    rows = "".join(_line("td", row, looks) for row in table.rows)
    return (
        f'<section class="published" id="published-{k}"><h2>{escape(table.title)}</h2><div class="scroll">'
        f"<table><thead>{heads}</thead><tbody>{rows}</tbody></table></div>"
        f'<p class="caption">{escape(table.source)}</p></section>'
    )


def _line(tag: str, cells: Sequence[str], looks: Sequence[str]) -> str:
    """Write one line of a table."""
    inside = (f'<{tag} class="{look}">{escape(c)}</{tag}>' for c, look in zip(cells, looks, strict=True))
    return f"<tr>{''.join(inside)}</tr>"
