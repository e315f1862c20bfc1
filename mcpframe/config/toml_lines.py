"""Where the keys of a TOML text stand: `tomllib` reads values and forgets the lines."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

Path = tuple[str | int, ...]
"""Keys and indices that lead from the document to a value, as ``("model", 0, "link", 2, "mass")``."""

BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
KEY = re.compile(r"\"(?:\\.|[^\"\\])*\"|'[^']*'|[A-Za-z0-9_-]+")
SIMPLE_VALUE = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'  # a text of several lines may end in quotes of its own
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'"
    r"|[^,\]}\n#]+",
    re.DOTALL,
)


def lines_of(text: str) -> dict[Path, int]:
    """Return the line, from 1, of every key, table and array entry of a valid TOML text."""
    return _Scan(text).lines


class _Scan:
    """One walk through a text that `tomllib` has accepted, so that nothing is checked again."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.lines: dict[Path, int] = {}
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._lengths: dict[Path, int] = {}  # of arrays of tables so far
        table: Path = ()
        while self._next():
            if self.text.startswith("[", self.at):
                table = self._header()
            else:
                self._pair(table)

    def _next(self) -> str:
        """Skip blanks and comments; return the next character, empty at the end."""
        self._take(BLANK)
        return self.text[self.at : self.at + 1]

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return match.group()

    def _note(self, path: Path) -> None:
        self.lines.setdefault(path, bisect_right(self._starts, self.at))

    def _header(self) -> Path:
        """Read ``[a.b]`` or ``[[a.b]]`` and return the path of the table that it begins."""
        start = self.at
        is_array = self.text.startswith("[[", start)
        self.at += 2 if is_array else 1
        parts = self._dotted()
        self.at += 2 if is_array else 1
        after, self.at = self.at, start
        path: Path = ()
        for k, part in enumerate(parts):
            path = (*path, part)
            self._note(path)
            if is_array and k == len(parts) - 1:
                self._lengths[path] = self._lengths.get(path, 0) + 1
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
                self._note(path)
        self.at = after
        return path

    def _dotted(self) -> list[str]:
        parts = []
        while True:
            self._next()
            key = self._take(KEY)
            parts.append(tomllib.loads(f"key = {key}")["key"] if key[0] in "\"'" else key)
            if self._next() != ".":
                return parts
            self.at += 1

    def _pair(self, table: Path) -> None:
        """Read ``key = value``."""
        self._next()
        start = self.at
        parts = self._dotted()
        after, self.at = self.at, start
        for k in range(len(parts)):
            self._note((*table, *parts[: k + 1]))
        self.at = after + 1  # the sign "="
        self._value((*table, *parts))

    def _value(self, path: Path) -> None:
        first = self._next()
        self._note(path)
        if first not in ("[", "{"):
            self._take(SIMPLE_VALUE)
            return
        self.at += 1
        index = 0
        while self._next() not in ("]", "}"):
            if first == "[":
                self._value((*path, index))
            else:
                self._pair(path)
            index += 1
            if self._next() == ",":
                self.at += 1
        self.at += 1
