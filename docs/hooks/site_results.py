"""The page of results: the reports of studies that lie in docs/results, each with where it was measured.

`mcpframe study report FOLDER` writes report.md and report.png; copies are kept as NAME.md and NAME.png.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = "results"
STUDIES = "examples/studies"
FACTS = ("measured", "machine", "commit", "date")
"""Rows of a report's first table that the overview repeats."""
PICTURE = re.compile(r"!\[([^\]]*)\]\(report\.png\)")
NONE_YET = "No report is kept here yet. `mcpframe study run FILE` measures and writes one."


@dataclass(frozen=True)
class Report:
    """One report.

    Attributes:
        path: of its Markdown file.
        place: of its page, within the documentation.
        title: what it is about.
        verdict: what it says first.
        facts: where and when it was measured, those of `FACTS` that it has.
    """

    path: Path
    place: str
    title: str
    verdict: str
    facts: dict[str, str]


def reports(docs: Path) -> list[Report]:
    """Return all reports, by name."""
    paths = sorted(path for path in (docs / FOLDER).glob("*.md") if path.name != "index.md")
    return [_read(path, docs) for path in paths]


def _read(path: Path, docs: Path) -> Report:
    text = path.read_text(encoding="utf-8")
    _, _, rest = text.partition("\n")
    verdict = rest.strip().partition("\n")[0]
    rows = dict(re.findall(r"^\| ([a-z ]+) \| (.+?) \|$", text, re.MULTILINE))
    facts = {name: rows[name] for name in FACTS if name in rows}
    return Report(path, path.relative_to(docs).as_posix(), _title(path, docs), verdict, facts)


def _title(path: Path, docs: Path) -> str:
    """Return how the comment in the study's file begins, up to its first stop; else the report's heading."""
    study = docs.parent / STUDIES / f"{path.stem}.toml"
    first = (study if study.exists() else path).read_text(encoding="utf-8").partition("\n")[0]
    return re.split(r"[:.]", first.lstrip("# "))[0].strip()


def overview(docs: Path) -> str:
    """Return the list of all reports in Markdown, or that there is none."""
    return "\n\n".join(_entry(report) for report in reports(docs)) or NONE_YET


def _entry(report: Report) -> str:
    facts = "\n".join(f"| {name} | {value} |" for name, value in report.facts.items())
    parts = [f"## [{report.title}]({report.path.name})", report.verdict]
    if facts:
        parts.append(f"| | |\n| --- | --- |\n{facts}")
    picture = report.path.with_suffix(".png")
    if picture.exists():
        parts.append(f"![{report.title}]({picture.name})")
    return "\n\n".join(parts)


def with_picture(markdown: str, path: Path) -> str:
    """Return a report that shows its picture under the name that it has here, or none where there is none."""
    picture = path.with_suffix(".png")
    return PICTURE.sub(lambda match: f"![{match[1]}]({picture.name})" if picture.exists() else "", markdown)
