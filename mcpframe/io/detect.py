"""Problems from a file of any known kind, told apart by its first bytes, never by its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mcpframe.exceptions import FileFormatError
from mcpframe.io.corpus import Corpus
from mcpframe.io.fclib import load_fclib
from mcpframe.io.hdf5 import opened
from mcpframe.io.npz import load_record
from mcpframe.io.records import Record

ZIP, HDF5 = b"PK\x03\x04", b"\x89HDF\r\n\x1a\n"


@contextmanager
def open_records(path: Path) -> Iterator[Sequence[Record]]:
    """Open an .npz file, a corpus or an FCLIB file and give its problems, read when asked for."""
    start = _first_bytes(path)
    if start.startswith(ZIP):
        yield [load_record(path)]
    elif not start.startswith(HDF5):
        raise FileFormatError(f"{path}: is neither an .npz file nor HDF5 (a model of AMPL ends in .nl)")
    elif _is_fclib(path):
        yield [Record(load_fclib(path), name=path.stem)]
    else:
        with Corpus(path) as corpus:
            yield corpus


def _first_bytes(path: Path) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(len(HDF5))
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror})") from None


def _is_fclib(path: Path) -> bool:
    try:
        with opened(path, path) as file:
            return any(name.startswith("fclib_") for name in file)
    except FileFormatError:
        return False  # damaged, or a corpus that a killed writer left behind: the corpus reader knows
