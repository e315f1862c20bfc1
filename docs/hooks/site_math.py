"""Equations as pages show them: an indented block of mathematics becomes MathML, without a script.

Equations are written as text, ``θ̇⁺ = θ̇_f + Mass⁻¹ G* p``, which reads in an editor as well:

| written                          | shown                                                            |
| -------------------------------- | ---------------------------------------------------------------- |
| ``p_b``, ``θ̇_f``, ``E_hat``      | an index, a dot, an accent                                       |
| ``D⁻¹``, ``G*``, ``x^2``, ``v+`` | an exponent; a star that follows at once is the transpose        |
| ``[a; b]``, ``[[a, b], [c, d]]`` | a column, a matrix                                               |
| ``theta``, ``>=``, ``_|_``       | θ, ≥, ⟂                                                          |
| words of two letters or more     | text, unless they are known functions or follow an index         |
| two spaces or more               | a gap; a column of a table where another line has one there, too |
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from xml.etree.ElementTree import Element, SubElement

from markdown.blockprocessors import BlockProcessor

GREEK = {
    unicodedata.name(chr(code)).rpartition(" ")[2].lower(): chr(code)
    for code in range(ord("α"), ord("ω") + 1)
    if "FINAL" not in unicodedata.name(chr(code))
} | {"lam": "λ"}
NAMES = GREEK | {name.capitalize(): letter.upper() for name, letter in GREEK.items()}
BAR = "‾"
ACCENTS = {"dot": "˙", "ddot": "¨", "hat": "^", "bar": BAR, "tilde": "~"}
COMBINING = {"\u0307": "˙", "\u0308": "¨", "\u0302": "^", "\u0304": BAR, "\u0303": "~"}
SIGNS = {"_|_": "⟂", ">=": "≥", "<=": "≤", "->": "→", "...": "…", "-": "−", "*": "·"}
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀⁿ", "0123456789+−Tn", strict=True))
UPRIGHT = frozenset(re.findall(r"\w+", "dt clip max min diag argmin argmax cos sin exp det rank tol log"))
TOKEN = re.compile(
    r"(?P<cite>\[(?:J1[124]|G06|S00|CPS|DF98)(?:, [^\]]*)?\])"
    r"|(?P<number>\d+(?:\.\d+)?(?:e-?\d+)?)"
    r"|(?P<name>[^\W\d_]\w*[\u0300-\u036f]*(?:_\w+|\w+)*)"
    rf"|(?P<power>[{''.join(SUPERSCRIPTS)}]+|\^-?\w+|\*(?=[\s\]\)\[\(;,._}}]|$)"
    r"|(?<=[\w\u0300-\u036f])[+-](?=[\s\]\),;.]|$))"
    r"|(?P<sign>_\|_|>=|<=|->|\.\.\.|[^\s\w])"
    r"|(?P<index>_\w+)"
    r"|(?P<space>\s+)"
)
MATHEMATICS = re.compile(r"[⟂≥≤≈∞‖Σ∈∂−⁺⁻²θφψβσΛΥΩμτωεδγν]|_\|_|\^-1|\b[A-Z]\*|[a-z]_[a-z0-9]\b.*=")
COMMAND = r"^\s*(?:\||#|mcpframe |make |python |pip |import |from |MCPFRAME_)"
CODE = re.compile(rf"`|--|>>>|\"|'|==|{COMMAND}", re.MULTILINE)
SEGMENT = re.compile(r"\S(?:.*?\S)??(?=\s{2,}|$)")
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, ")]}"
BESIDE = "([{,;" + CLOSE
"""Signs that leave no room between themselves and a word."""


class Equations(BlockProcessor):
    """Turns indented blocks of mathematics into equations; all others stay code."""

    def test(self, parent: Element, block: str) -> bool:
        """Return whether a block is indented."""
        return block.startswith("    ")

    def run(self, parent: Element, blocks: list[str]) -> bool | None:
        """Take the first block where it is mathematics."""
        text, rest = self.detab(blocks[0])
        if rest.strip() or not is_mathematics(text):
            return False
        blocks.pop(0)
        SubElement(parent, "p").text = self.parser.md.htmlStash.store(equation(text))
        return None


def is_mathematics(text: str) -> bool:
    """Return whether an indented block is an equation, and not code or a command."""
    return bool(MATHEMATICS.search(text)) and not CODE.search(text)


def equation(text: str) -> str:
    """Return lines of mathematics as MathML, in columns where they have columns."""
    lines = [list(_segments(line)) for line in text.rstrip().split("\n") if line.strip()]
    starts = [start for line in lines for start, _ in line]
    columns = sorted({0, *(start for start in starts if starts.count(start) > 1)})
    rows = "".join(f"<mtr>{''.join(_cells(line, columns))}</mtr>" for line in lines)
    return f'<div class="equation"><math display="block"><mtable>{rows}</mtable></math></div>'


def _segments(line: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of a line between gaps, each with the place where it begins; accents take no place."""
    for match in SEGMENT.finditer(line):
        yield sum(not unicodedata.combining(letter) for letter in line[: match.start()]), match[0]


def _cells(line: list[tuple[int, str]], columns: list[int]) -> Iterator[str]:
    for column in columns:
        inside = [text for start, text in line if column == max(c for c in columns if c <= start)]
        yield f"<mtd>{GAP.join(map(_formula, inside))}</mtd>"


@dataclass
class _Reader:
    """Reads tokens one by one."""

    tokens: list[tuple[str, str]]
    place: int = 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.place] if self.place < len(self.tokens) else ("end", "")

    def take(self) -> tuple[str, str]:
        token = self.peek()
        self.place += 1
        return token


def _formula(text: str) -> str:
    """Return one formula."""
    apart = unicodedata.normalize("NFD", text)  # letters and their accents
    reader = _Reader([(str(match.lastgroup), match[0]) for match in TOKEN.finditer(apart)])
    parts = []
    while reader.peek()[0] != "end":
        parts.append(_atom(reader))
    return f"<mrow>{''.join(parts)}</mrow>"


def _atom(reader: _Reader) -> str:
    """Return what comes next, with the exponents that follow it."""
    kind, text = reader.take()
    if kind == "space":
        return ""
    if kind == "sign" and text in OPEN:
        made = _group(reader, text)
    elif kind == "cite":
        return f"<mtext>&nbsp;{escape(text)}</mtext>"
    elif kind == "name" and _is_word(text):
        return _word(text, reader)
    else:
        made = {"number": _number, "name": _name}.get(kind, _sign)(text)
    while reader.peek()[0] in ("power", "index"):
        kind, text = reader.take()
        tag, script = ("msup", _power(text)) if kind == "power" else ("msub", f"<mi>{text[1:]}</mi>")
        made = f"<{tag}>{made}{script}</{tag}>"
    return made


def _group(reader: _Reader, opening: str) -> str:
    """Return what stands in brackets: a matrix, a column, or a part of a formula."""
    rows: list[list[str]] = [[""]]
    kinds: set[str] = set()
    while reader.peek()[0] != "end" and reader.peek()[1] not in CLOSE:
        kind, text = reader.peek()
        if kind == "sign" and text in ",;":
            reader.take()
            kinds.add(text)
            rows[-1].append("") if text == "," else rows.append([""])
        else:
            rows[-1][-1] += _atom(reader)
    closing = reader.take()[1] or OPEN[opening]
    if opening == "[" and rows == [rows[0]] and all(_is_row(cell) for cell in rows[0]):
        return _matrix([_row_parts(cell) for cell in rows[0]])
    if opening == "[" and ";" in kinds:
        return _matrix([[_joined(row)] for row in rows])
    inside = "<mo>;</mo>".join(_joined(row) for row in rows)
    return f"<mrow>{_bracket(opening)}{inside}{_bracket(closing)}</mrow>"


def _bracket(text: str) -> str:
    """Return a bracket of the size of a letter: what is tall is a matrix, with brackets of its own."""
    return f'<mo stretchy="false">{text}</mo>'


GAP = '<mspace width="2em"/>'
COMMA = "<mo>,</mo>"
ROW_BEGIN, ROW_END = f"<mrow>{_bracket('[')}", f"{_bracket(']')}</mrow>"


def _joined(cells: list[str]) -> str:
    return COMMA.join(f"<mrow>{cell}</mrow>" for cell in cells)


def _is_row(cell: str) -> bool:
    return cell.startswith(ROW_BEGIN) and cell.endswith(ROW_END)


def _row_parts(cell: str) -> list[str]:
    return cell.removeprefix(ROW_BEGIN).removesuffix(ROW_END).split(COMMA)


def _matrix(rows: list[list[str]]) -> str:
    inside = "".join(f"<mtr>{''.join(f'<mtd>{cell}</mtd>' for cell in row)}</mtr>" for row in rows)
    return f'<mtable class="matrix">{inside}</mtable>'


def _number(text: str) -> str:
    return f"<mn>{text}</mn>"


def _sign(text: str) -> str:
    return f"<mo>{escape(SIGNS.get(text, text))}</mo>"


def _power(text: str) -> str:
    if text == "*":
        return "<mo>∗</mo>"
    shown = "".join(SUPERSCRIPTS.get(letter, letter) for letter in text.lstrip("^").replace("-", "−"))
    return f"<mrow><mn>{escape(shown)}</mn></mrow>"


def _name(text: str) -> str:
    """Return a letter with accent and index, or the name of a function."""
    base, *parts = text.split("_")
    letters = "".join(letter for letter in base if not unicodedata.combining(letter))
    shown = f"<mi>{escape(NAMES.get(letters, letters))}</mi>"
    accents = [COMBINING[letter] for letter in base if letter in COMBINING]
    accents += [ACCENTS[part] for part in parts if part in ACCENTS]
    for accent in accents:
        shown = (
            f'<mrow class="bar">{shown}</mrow>'
            if accent == BAR
            else f'<mover>{shown}<mo stretchy="false">{accent}</mo></mover>'
        )
    index = [NAMES.get(part, part) for part in parts if part not in ACCENTS]
    return f"<msub>{shown}<mi>{escape(' '.join(index))}</mi></msub>" if index else shown


def _word(text: str, reader: _Reader) -> str:
    """Return a word, apart from the words and names beside it."""
    around = reader.tokens[max(0, reader.place - 3) : reader.place - 1], reader.tokens[reader.place :][:2]
    before, after = ("&nbsp;" if _is_gap(tokens) else "" for tokens in (around[0][::-1], around[1]))
    if around[0] and around[0][0][0] == "name" and _is_word(around[0][0][1]):
        before = ""  # the word before has made the gap
    return f"<mtext>{before}{escape(text)}{after}</mtext>"


def _is_gap(tokens: list[tuple[str, str]]) -> bool:
    """Return whether a space comes next, and then no sign that stands apart by itself."""
    return len(tokens) > 1 and tokens[0][0] == "space" and (tokens[1][0] != "sign" or tokens[1][1] in BESIDE)


def _is_word(text: str) -> bool:
    """Return whether a name is a word of English rather than a symbol."""
    return re.fullmatch("[a-z]{2,}", text) is not None and text not in UPRIGHT | NAMES.keys()
