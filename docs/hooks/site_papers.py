"""A page for every paper: which function has which of its equations, as docstrings cite them.

A citation is ``[J14, Eq. (67)]``, ``[J14, Eqs. (37)-(39)]`` or ``[J12, figure 1; J14, section 8]`` in the
docstring of a module, a class or a function.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mcpframe.papers import PAPERS

ROOT = Path(__file__).parents[2]
ROOMS = {"mcpframe": "mcpframe", "formulations": "mcpframe.formulations", "solvers": "mcpframe.solvers"}
"""Folders of the source, and the packages that they are."""
CITATION = re.compile(rf"\[[^\]]*\b(?:{'|'.join(PAPERS)})\b[^\]]*\]")
SPAN = re.compile(r"\((\d+)\)-\((\d+)\)")
PLACES = {
    "Eq.": re.compile(r"\((\d+[a-z]?)\)"),
    "section": re.compile(r"sections? ([\d.]+\d|\d|[IVX]+(?:-[A-Z])?)(?: and ([\d.]+\d|\d))?"),
    "Table": re.compile(r"Tables? (\d+|[IVX]+)"),
    "figure": re.compile(r"(?:figures?|Figs?\.) (\d+)"),
}


@dataclass(frozen=True)
class Cited:
    """One place of a paper, and where the code has it.

    Attributes:
        paper: its short name.
        kind: ``"Eq."``, ``"section"``, ``"Table"``, ``"figure"``; empty where the paper is cited as a whole.
        number: of the equation, say.
        name: dotted name of what has the docstring.
        summary: its first sentence.
    """

    paper: str
    kind: str
    number: str
    name: str
    summary: str

    @property
    def place(self) -> str:
        """The place as it is written."""
        number = f"({self.number})" if self.kind == "Eq." else self.number
        return f"{self.kind} {number}".strip() or "as a whole"


def citations() -> list[Cited]:
    """Return all citations of the source, in the order of the papers' equations."""
    found = {cited for folder, package in ROOMS.items() for cited in _of_folder(ROOT / folder, package)}
    return sorted(found, key=_order)


def _order(cited: Cited) -> tuple[object, ...]:
    digits = re.match(r"\d+", cited.number)
    kinds = [*PLACES, ""]
    return cited.paper, kinds.index(cited.kind), int(digits[0]) if digits else 0, cited.number, cited.name


def _of_folder(folder: Path, package: str) -> Iterator[Cited]:
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if (folder / parts[0]).is_symlink():
            continue
        text = path.read_text(encoding="utf-8")
        if CITATION.search(text):  # parsing takes long, and most files cite nothing
            yield from _of_tree(ast.parse(text), ".".join([package, *parts]))


def _of_tree(tree: ast.Module, name: str) -> Iterator[Cited]:
    """Yield the citations of a module and of all that is defined in it."""
    todo: list[tuple[str, ast.AST]] = [(name.removesuffix(".__init__"), tree)]
    for name, node in todo:  # grows meanwhile
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield from _of_docstring(ast.get_docstring(node) or "", name)
            todo += [(f"{name}.{inner.name}", inner) for inner in node.body if hasattr(inner, "name")]


def _of_docstring(text: str, name: str) -> Iterator[Cited]:
    summary = text.partition("\n\n")[0].replace("\n", " ")
    for citation in CITATION.findall(text):
        for part in citation.strip("[]").replace("\n", " ").split(";"):
            paper = next((word for word in PAPERS if re.search(rf"\b{word}\b", part)), None)
            if paper:
                places = list(_places(part)) or [("", "")]
                yield from (Cited(paper, kind, number, name, summary) for kind, number in places)


def _places(text: str) -> Iterator[tuple[str, str]]:
    """Yield kind and number of every place; a span of equations has all of them."""
    for first, last in SPAN.findall(text):
        yield from (("Eq.", str(number)) for number in range(int(first), int(last) + 1))
    for kind, pattern in PLACES.items():
        for match in pattern.finditer(text):
            yield from ((kind, number) for number in match.groups() if number)


def page(paper: str) -> str:
    """Return what a paper is, its places in the code, and the examples that follow it."""
    rows = [cited for cited in citations() if cited.paper == paper]
    examples = list(_examples(paper))
    parts = [f"{PAPERS[paper]}."]
    parts += ["## In the code", _table(rows)] if rows else []
    parts += ["## In the examples", "\n".join(["| file | |", "| --- | --- |", *examples])] if examples else []
    return "\n\n".join(parts)


def _table(rows: list[Cited]) -> str:
    """Return citations as a table; a place that several have stands once."""
    lines = ["| place | what | where |", "| --- | --- | --- |"]
    last = ""
    for cited in rows:
        shown, last = "" if cited.place == last else cited.place, cited.place
        summary = cited.summary.replace("_|_", "⟂").replace("|", "\\|")
        name = cited.name.replace(".", ".<wbr>")  # a long name may be broken after a dot
        lines.append(f"| {shown} | {summary} | <code>{name}</code> |")
    return "\n".join(lines)


def _examples(paper: str) -> Iterator[str]:
    """Yield a row for every scene and study whose comment names a paper."""
    for path in sorted((ROOT / "examples").glob("s*/*.toml")):
        comment = re.match(r"(?:#.*\n)*", path.read_text(encoding="utf-8"))
        text = comment[0].replace("\n#", "").lstrip("# ").strip() if comment else ""
        if re.search(rf"\b{paper}\b", text):
            yield f"| `{path.relative_to(ROOT).as_posix()}` | {text} |"


def overview() -> str:
    """Return the list of papers, with the number of places that the code cites."""
    found = citations()
    lines = ["| paper | | places cited |", "| --- | --- | --- |"]
    for paper, title in PAPERS.items():
        places = {cited.place for cited in found if cited.paper == paper}
        lines.append(f"| [{paper}]({paper.lower()}.md) | {title} | {len(places)} |")
    return "\n".join(lines)
