"""What mkdocs calls: fills generated parts into pages, lists results, and keeps links within the site.

A page asks for a generated part with a comment, ``<!-- generated: command_line -->``; the parts are those of
`PARTS`. A link that leads out of the documentation, to an example or to the source, becomes the name of the
file, for the site is made to be read without the repository.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import site_papers
import site_reference
import site_results
from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor
from site_math import Equations

from mcpframe.papers import PAPERS

PARTS: dict[str, Callable[[], str]] = {
    "command_line": site_reference.command_line,
    "study_keys": site_reference.study_keys,
    "stepping_keys": site_reference.stepping_keys,
    "solvers": site_reference.solvers,
    "formulations": site_reference.formulations,
    "contact_laws": site_reference.contact_laws,
    "gallery": site_reference.gallery,
    "papers": site_papers.overview,
    **{name: partial(site_papers.page, name) for name in PAPERS},
}
MARK = re.compile(r"<!-- generated: (\w+) -->")
KEYS = re.compile(r"<!-- keys:begin -->.*?<!-- keys:end -->", re.DOTALL)
"""Tables that stand in a page for readers of the repository, and on the site have a page of their own."""
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+[^)#]*)(#[^)]*)?\)")
CITATION = r"\[(?:J1[124]|G06|S00|CPS|DF98)(?:, [^\]]*)?\]"
BEFORE_CODE = 85
"""Of the processors of blocks, among which that of code has 80."""


class Mathematics(Extension):
    """Shows equations as such, and keeps Markdown away from citations: after a vector [n] one is no link."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Add equations before code, and the pattern of citations before those of links."""
        md.parser.blockprocessors.register(Equations(md.parser), "equations", BEFORE_CODE)
        md.inlinePatterns.register(_Text(CITATION, md), "citation", 176)


class _Text(InlineProcessor):
    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element | str, int, int]:
        return m[0], m.start(0), m.end(0)


def on_config(config: Any) -> Any:
    """Add our extension of Markdown, and the reports of studies to the navigation."""
    config.markdown_extensions.append(Mathematics())
    docs = Path(config.docs_dir)
    for entry in config.nav:
        if "Results" in entry:
            entry["Results"] += [{report.title: report.place} for report in site_results.reports(docs)]
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Return a page with its generated parts, and with links that work on the site."""
    docs, source = Path(config.docs_dir), Path(page.file.src_uri)
    markdown = MARK.sub(lambda match: _part(match[1], docs), markdown)
    if source.name == "studies.md":
        markdown = KEYS.sub("They are tabled under [Study file](reference/study-file.md).", markdown)
    if source.parts[0] == "results":
        markdown = site_results.with_picture(markdown, docs / source)
    return LINK.sub(lambda match: _within(match, docs, source), markdown)


def _part(name: str, docs: Path) -> str:
    return site_results.overview(docs) if name == "results" else PARTS[name]()


def _within(match: re.Match[str], docs: Path, source: Path) -> str:
    """Return a link as it is where it leads to a page, else the name of the file that it leads to."""
    name = os.path.normpath(Path(docs.name, source.parent, match[2]))  # within the repository
    if name.startswith(f"{docs.name}{os.sep}"):
        return match[0]
    text = match[1].strip("`/")
    return f"`{name}`" if text in (name, Path(name).name) else f"{match[1]} (`{name}`)"
