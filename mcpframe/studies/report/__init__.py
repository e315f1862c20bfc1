"""The report of a study: one page that works offline, a summary in Markdown, and a picture.

Rates of success and of right claims come first, then how fast, how well, and every failure. `entries` merges
repeats, `metrics` and `profiles` hold the figures, `page` and `markdown` show them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mcpframe.exceptions import FileFormatError
from mcpframe.studies.report.entries import merge
from mcpframe.studies.report.markdown import summary
from mcpframe.studies.report.page import page
from mcpframe.studies.report.pictures import draw
from mcpframe.studies.report.published import named_in_full, tables_of
from mcpframe.studies.report.results import Results
from mcpframe.studies.study.row import Row

__all__ = ["write_report"]


def write_report(
    rows: Sequence[Row],
    header: Mapping[str, Any],
    folder: Path,
    published: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
) -> Path:
    """Write report.html, report.md and report.png into a folder and return the path of the page.

    Args:
        rows: of the study, in any order.
        header: machine, versions, settings, as the store has them; what is missing is told as not recorded.
        folder: made where it does not exist. Paths of saved problems are taken as relative to it.
        published: figures to show beside ours: title, columns, rows, source, by, ours; or several of them.
    """
    results = Results.of(rows, header)
    entries = merge(rows)  # by the labels of the study file
    tables = named_in_full([table.filled(entries) for table in tables_of(published)])
    text, words = page(results, tables), summary(results, tables)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("report.html", "report.md", "report.png"):
            if (folder / name).is_symlink():  # the folder may be a stranger's: nothing is written elsewhere
                (folder / name).unlink()
        (folder / "report.html").write_text(text, encoding="utf-8")
        (folder / "report.md").write_text(words, encoding="utf-8")
        draw(results, folder / "report.png")
    except OSError as error:
        raise FileFormatError(f"{folder}: the report cannot be written ({error})") from None
    return folder / "report.html"
