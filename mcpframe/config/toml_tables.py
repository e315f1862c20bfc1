"""Tables of a TOML file, read key by key: every error names the file, the line, the key and the value."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any

from mcpframe.config.toml_lines import Path, lines_of
from mcpframe.exceptions import (
    FileFormatError,
    McpframeError,
    ModelError,
    OptionError,
    PluginError,
    ProblemError,
    nearest,
)
from mcpframe.io.trust import Code
from mcpframe.io.untrusted import first_line

EXPLAINED = (FileFormatError, ModelError, OptionError, PluginError, ProblemError)
"""Errors of values, which get the place of the value."""
FOREIGN = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
"""What Python and numpy raise on values of a wrong kind, such as rows of unequal length."""
REQUIRED: Any = object()
"""Default of a key that must be there."""


@dataclass(frozen=True)
class Source:
    """The file that tables come from.

    Attributes:
        name: of the file, for messages.
        text: what is in it, valid TOML.
        folder: against which paths in it are meant.
        code: whether functions that it names may be imported.
    """

    name: str
    text: str
    folder: FilePath = field(default_factory=FilePath)
    code: Code = Code.RUN

    @cached_property
    def lines(self) -> dict[Path, int]:
        """Line of every path; looked for only once something is wrong."""
        return lines_of(self.text)

    def place(self, path: Path) -> str:
        """Return ``file: line 12: model[0].mass``; a key that is missing has the line of its table."""
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        parts = [self.name, f"line {self.lines[known]}" if known else "", _dotted(path)]
        return ": ".join(part for part in parts if part)


@dataclass(frozen=True, eq=False)
class TomlTable:
    """A table of the file, whose values are asked for by key, type and range.

    Attributes:
        source: the file.
        data: keys and values.
        path: where the table is.
    """

    source: Source
    data: Mapping[str, Any]
    path: Path = ()

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def error(self, key: str, message: str) -> OptionError:
        """Return an error about a key, to be raised."""
        return OptionError(f"{self.source.place((*self.path, key))}: {message}")

    def only(self, *known: str) -> None:
        """Refuse keys that are not among the known ones."""
        for key in self.data:
            if key not in known:
                what = f"unknown key;{nearest(key, known)} (keys: {', '.join(known)})"
                raise self.error(key, what)

    @contextmanager
    def at(self, *keys: str | int) -> Iterator[None]:
        """Give errors that are raised meanwhile the place of a key, or of the table.

        Where the value is a table itself, the key in it that the message names is taken, if there is one.
        """
        try:
            yield
        except EXPLAINED as error:
            raise self._placed(keys, error) from None
        except FOREIGN as error:
            said = OptionError(f"cannot be used ({first_line(error)})")
            raise self._placed(keys, said) from error

    def _placed(self, keys: Path, error: McpframeError) -> McpframeError:
        if str(error).startswith(f"{self.source.name}: "):
            return error  # it has its place already
        path: Path = (*self.path, *keys)
        value: Any = self.data
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        while isinstance(value, Mapping) and (named := _named_key(value, error)) is not None:
            path, value = (*path, named), value[named]
        return type(error)(f"{self.source.place(path)}: {error}")

    def get(self, key: str, default: Any = REQUIRED) -> Any:
        """Return a value of any type."""
        if key in self.data:
            return self.data[key]
        if default is REQUIRED:
            raise self.error(key, "is missing")
        return default

    def text(self, key: str, default: Any = REQUIRED) -> str:
        """Return a text."""
        text: str = self._typed(key, default, str, "a text")
        return text

    def flag(self, key: str, default: Any = REQUIRED) -> bool:
        """Return true or false."""
        flag: bool = self._typed(key, default, bool, "true or false")
        return flag

    def number(self, key: str, default: Any = REQUIRED) -> float:
        """Return a number; infinities are numbers too."""
        value = self.get(key, default)
        if key in self.data and not _is_number(value):
            raise self.error(key, f"{value!r}: a number is expected")
        return float(value)

    def vector(self, key: str, size: int, default: Any = REQUIRED) -> tuple[float, ...]:
        """Return a vector of finite numbers."""
        value = self.get(key, default)
        if key in self.data and not is_vector(value, size):
            raise self.error(key, f"{value!r}: {size} finite numbers in brackets are expected")
        return tuple(float(entry) for entry in value)

    def choice(self, key: str, known: Sequence[str], default: Any = REQUIRED) -> str:
        """Return one of some texts."""
        value = self.text(key, default)
        if value not in known:
            raise self.error(key, f"{value!r};{nearest(value, known)} (known: {', '.join(known)})")
        return value

    def texts(self, key: str, default: Any = REQUIRED) -> tuple[str, ...]:
        """Return a list of texts."""
        value = self.get(key, default)
        if not isinstance(value, (list, tuple)) or not all(isinstance(entry, str) for entry in value):
            raise self.error(key, f"{value!r}: a list of texts is expected")
        return tuple(value)

    def table(self, key: str) -> TomlTable:
        """Return a table; an empty one where the key is missing."""
        return TomlTable(self.source, self._typed(key, {}, Mapping, "a table"), (*self.path, key))

    def tables(self, key: str) -> list[TomlTable]:
        """Return the tables of an array ``[[key]]``, or the only one where it is written ``[key]``."""
        value = self.get(key, [])
        if isinstance(value, Mapping):
            return [self.table(key)]
        if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
            raise self.error(key, f"{value!r}: tables [[{key}]] are expected")
        return [TomlTable(self.source, entry, (*self.path, key, i)) for i, entry in enumerate(value)]

    def file(self, key: str) -> FilePath:
        """Return the path of a file that is there, meant against the folder of the source."""
        path = self.source.folder / self.text(key)
        if not path.is_file():
            raise self.error(key, f"{self.data[key]!r}: there is no such file in {self.source.folder}")
        return path

    def _typed(self, key: str, default: Any, kind: type[Any], meaning: str) -> Any:
        value = self.get(key, default)
        if not isinstance(value, kind) and value is not default:
            raise self.error(key, f"{value!r}: {meaning} is expected")
        return value


def changed(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with other values, by dotted keys, as ``{"model.options.links": 6}``.

    A number is the index of a table in an array; where there is one table only it may be left out.

    Raises:
        OptionError: a key leads through something that is not a table.
    """
    result = copy.deepcopy(dict(data))
    for dotted, value in changes.items():
        *parts, last = dotted.split(".")
        table: Any = result
        for k, part in enumerate(parts):
            if isinstance(table, list) and part.isdigit() and int(part) < len(table):
                table = table[int(part)]
                continue
            table = _only(table).setdefault(part, {}) if isinstance(_only(table), dict) else None
            if not isinstance(table, (dict, list)):
                raise OptionError(f"{dotted}: {'.'.join(parts[: k + 1])} is not a table")
        if not isinstance(_only(table), dict):
            raise OptionError(f"{dotted}: {'.'.join(parts)} is not one table; say which by its index, from 0")
        _only(table)[last] = value
    return result


def _only(table: Any) -> Any:
    """Return the only entry of an array of one; anything else as it is."""
    return table[0] if isinstance(table, list) and len(table) == 1 else table


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)


def is_vector(value: Any, size: int) -> bool:
    """Return whether a value is a list of so many finite numbers."""
    is_list = isinstance(value, list) and len(value) == size
    return is_list and all(_is_number(entry) and math.isfinite(entry) for entry in value)


def _dotted(path: Path) -> str:
    """Return a path as ``model[0].link[2].mass``."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in path]
    return "".join(parts).removeprefix(".")


def _named_key(table: Mapping[str, Any], error: McpframeError) -> str | None:
    """Return the key of a table that a message is about: a word of it; else its text, or the key, in quotes.

    The text of `name` does not count: by it a message says where something is wrong, not what.
    """
    if isinstance(error, PluginError) and "name" in table:
        return "name"
    texts = {key: value for key, value in table.items() if isinstance(value, str) and key != "name"}
    for pattern, words in ((r"(?<![\w'])%s(?![\w'])", {key: key for key in table}), ("'%s'", texts)):
        found = {key: re.search(pattern % re.escape(word), str(error)) for key, word in words.items()}
        places = [(match.start(), key) for key, match in found.items() if match]
        if places:
            return min(places)[1]
    return next((key for key in table if f"'{key}'" in str(error)), None)
