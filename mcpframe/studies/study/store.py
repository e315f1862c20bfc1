"""Rows of a study in one SQLite file: each is there for good once `add` returns, whatever is killed later.

| table    | holds                                                                  |
| -------- | ---------------------------------------------------------------------- |
| `header` | what the rows were made with, one JSON value per key                   |
| `rows`   | one row per solve, columns named as the fields of `Row`                |
| `cases`  | labels of every problem, JSON                                          |
| `carry`  | what the next row of every warm chain starts from                      |

A file is added to only under the settings, machine, versions and commit it was begun with; see `open`.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from mcpframe.exceptions import FileFormatError, McpframeError, OptionError
from mcpframe.studies.study.row import Key, Label, Row

FILE_NAME = "study.sqlite"
"""What the file is called in the folder of a study."""
FORMAT, VERSION = "mcpframe-study", 1
COLUMNS = tuple(about.name for about in fields(Row) if about.name != "labels")
TYPES = {"str": "TEXT", "int": "INTEGER", "bool": "INTEGER", "float": "REAL"}
NAN_COLUMNS = ("residual", "scaled_residual")
"""Where NaN may stand; SQLite has none, it comes back as NULL."""
KINDS = {
    about.name: {"TEXT": ("text",), "INTEGER": ("integer",), "REAL": ("real", "integer")}[
        TYPES[str(about.type)]
    ]
    + (("null",) if about.name in NAN_COLUMNS else ())
    for about in fields(Row)
    if about.name in COLUMNS
}
"""What SQLite may find in every column, by its words for types."""
KEY_COLUMNS = ("case", "formulation", "solver", "start", "repeat")
FLAGS = ("ok", "claim_right")
FREE_KEYS = frozenset({"started", "finished", "executor", "format", "version", "published"})
"""Keys of the header that may differ between two runs of one study; all others must agree."""


class Store:
    """The rows of one study.

    Attributes:
        path: the file.
        header: what the rows were made with.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._refuse_foreign()
        self._keys = {tuple(key) for key in self._select(f"SELECT {_quoted(KEY_COLUMNS)} FROM rows")}

    @staticmethod
    def open(path: Path, header: Mapping[str, Any]) -> Store:
        """Open a file to add rows to, or begin it.

        Raises:
            OptionError: it was begun with other settings, on another machine, or with other versions.
        """
        is_new = not path.exists()
        connection = _connect(path, "rwc")
        with _closing_on_error(connection), _explained(path):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")  # what is in the log survives a killed process
            if is_new or not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                _create(connection, header)
            store = Store(path, connection)
        store._refuse_another(header)
        return store

    @staticmethod
    def read(path: Path) -> Store:
        """Open a file, or that of a folder, to read it; neither it nor the log of a killed writer changes."""
        path = path / FILE_NAME if path.is_dir() else path
        if not path.is_file():
            raise FileFormatError(f"{path}: no such file; mcpframe study run FILE --out DIR makes one")
        log = path.with_name(f"{path.name}-wal")
        is_whole = not log.is_file() or not log.stat().st_size
        connection = _connect(path, "ro&immutable=1" if is_whole else "ro")  # a log needs its index beside it
        with _closing_on_error(connection), _explained(path):
            store = Store(path, connection)
            if store.header.get("format") != FORMAT:
                raise FileFormatError(f"{path}: is not the store of a study")
        return store

    @property
    def header(self) -> dict[str, Any]:
        """What the rows were made with."""
        with _explained(self.path):
            return {key: json.loads(value) for key, value in self._select("SELECT key, value FROM header")}

    def note(self, **values: Any) -> None:
        """Write values of the header, such as when the study was finished; errors as of `add`."""
        with _explained(self.path), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO header VALUES (?, ?)", _encoded(values))

    def has(self, key: Key) -> bool:
        """Return whether a row is there."""
        return key in self._keys

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, row: Row, chain: str = "", carry: bytes | None = None) -> None:
        """Keep a row, in one transaction with what the next row of its warm chain starts from.

        A row that is there already stays as it is.

        Raises:
            FileFormatError: the disk is full, say; the rows before it are kept.
        """
        values = [getattr(row, name) for name in COLUMNS]
        with _explained(self.path), self._connection:
            places = ", ".join("?" * len(COLUMNS))
            self._connection.execute(
                f"INSERT OR IGNORE INTO rows ({_quoted(COLUMNS)}) VALUES ({places})", values
            )
            if carry is not None:
                self._connection.execute("INSERT OR REPLACE INTO carry VALUES (?, ?)", (chain, carry))
        self._keys.add(row.key)

    def carry(self, chain: str) -> bytes | None:
        """Return what the next row of a warm chain starts from; None where it starts cold."""
        found = self._select("SELECT data FROM carry WHERE chain = ?", (chain,))
        return found[0][0] if found else None

    def label(self, case: str, labels: Mapping[str, Label]) -> None:
        """Keep the labels of a case; errors as of `add`."""
        with _explained(self.path), self._connection:
            self._connection.execute("INSERT OR REPLACE INTO cases VALUES (?, ?)", (case, json.dumps(labels)))

    def labels(self) -> dict[str, dict[str, Label]]:
        """Return the labels of every case."""
        with _explained(self.path):
            return {case: json.loads(text) for case, text in self._select('SELECT "case", labels FROM cases')}

    def rows(self) -> list[Row]:
        """Return all rows, in an order that does not depend on when they were made."""
        labels = self.labels()
        order = ", ".join(f'"{name}"' for name in ("source", *KEY_COLUMNS))
        found = self._select(f"SELECT {_quoted(COLUMNS)} FROM rows ORDER BY {order}")
        with _explained(self.path):
            return [_row(values, labels) for values in found]

    def close(self) -> None:
        """Close the file; where its log cannot be taken over into it, the next one to open it does so."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _select(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with _explained(self.path):
            return self._connection.execute(statement, values).fetchall()

    def _refuse_foreign(self) -> None:
        """Raise FileFormatError, naming the field, where it holds what its column is not made for.

        SQLite keeps text in a column of numbers without a word.
        """
        for name, kinds in KINDS.items():
            allowed = ", ".join(f"'{kind}'" for kind in kinds)
            wrong = f'SELECT "case", "{name}" FROM rows WHERE typeof("{name}") NOT IN ({allowed}) LIMIT 1'
            for case, value in self._select(wrong):
                raise FileFormatError(
                    f"{self.path}: rows: field {name!r} of case {case!r} is {value!r}, not {kinds[0]}; "
                    "the file was changed by something else: move it away and run the study again"
                )

    def _refuse_another(self, header: Mapping[str, Any]) -> None:
        """Raise OptionError, naming what differs, unless the rows were made with what the header says."""
        found, asked = _flat(self.header), _flat(json.loads(json.dumps(header)))
        differing = [
            f"{key} was {found.get(key)!r}, is {asked.get(key)!r}"
            for key in sorted({*found, *asked})
            if key.split(".")[0] not in FREE_KEYS and found.get(key) != asked.get(key)
        ]
        if differing:
            self.close()
            more = f", and {len(differing) - SHOWN} more" if len(differing) > SHOWN else ""
            raise OptionError(
                f"{self.path.parent}: holds rows made otherwise: {'; '.join(differing[:SHOWN])}{more}. They "
                "are not mixed: give another folder with --out, or remove this one"
            )


SHOWN = 4
"""Differences that an error names."""
UNUSABLE = "cannot be used as the store of a study ({error})"
DAMAGED = (
    "is damaged, or not the store of a study ({error}); move it away and run the study again; what can still "
    "be read comes out of: sqlite3 {path} .recover"
)
REMEDIES = {
    (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB): DAMAGED,
    (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR): "cannot be written ({error}); is the disk full? Make room",
    (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN): "cannot be written ({error}); may you write there?",
    (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED): "another program is at work on it ({error}); wait for it",
}
"""What to do, by SQLite's codes of errors."""


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    try:
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True)
    except sqlite3.Error as error:
        raise FileFormatError(f"{path}: cannot be opened ({error})") from None


@contextmanager
def _closing_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.close()
        raise


def _create(connection: sqlite3.Connection, header: Mapping[str, Any]) -> None:
    kinds = {about.name: TYPES[str(about.type)] for about in fields(Row) if about.name in COLUMNS}
    columns = ", ".join(f'"{name}" {kinds[name]}' for name in COLUMNS)
    with connection:
        connection.execute("CREATE TABLE header (key TEXT PRIMARY KEY, value TEXT)")
        connection.execute(f"CREATE TABLE rows ({columns}, PRIMARY KEY ({_quoted(KEY_COLUMNS)}))")
        connection.execute('CREATE TABLE cases ("case" TEXT PRIMARY KEY, labels TEXT)')
        connection.execute("CREATE TABLE carry (chain TEXT PRIMARY KEY, data BLOB)")
        begun = {"format": FORMAT, "version": VERSION, **header}
        connection.executemany("INSERT INTO header VALUES (?, ?)", _encoded(begun))


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn errors of SQLite, and of what is written in it, into ones that name the file and what to do."""
    try:
        yield
    except McpframeError:
        raise
    except sqlite3.Error as error:
        kind = getattr(error, "sqlite_errorcode", 0) & 0xFF  # what is behind it says more of the same
        words = next((words for kinds, words in REMEDIES.items() if kind in kinds), UNUSABLE)
        raise FileFormatError(f"{path}: {words.format(error=error, path=shlex.quote(str(path)))}") from None
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        raise FileFormatError(f"{path}: {DAMAGED.format(error=error, path=shlex.quote(str(path)))}") from None


def _encoded(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(key, json.dumps(value)) for key, value in values.items()]


def _row(values: Sequence[Any], labels: Mapping[str, dict[str, Label]]) -> Row:
    named = dict(zip(COLUMNS, values, strict=True))
    for name in FLAGS:
        named[name] = bool(named[name])
    for name in NAN_COLUMNS:
        named[name] = float("nan") if named[name] is None else named[name]
    return replace(Row(**named), labels=labels.get(named["case"], {}))


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Return the leaves of tables by their dotted paths; lists are leaves."""
    if not isinstance(value, Mapping):
        return {path: value}
    parts = [_flat(part, f"{path}.{key}" if path else str(key)) for key, part in value.items()]
    return {key: leaf for part in parts for key, leaf in part.items()}
