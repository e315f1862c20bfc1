"""Arrays in numpy's own format, .npy: the header is read first, and believed only if the bytes are there."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from mcpframe.exceptions import FileFormatError

HEADERS: dict[tuple[int, int], Callable[[Any], Any]] = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}
"""By version; the third, for names of fields in other scripts, holds no plain numbers."""


@dataclass(frozen=True)
class NpyHeader:
    """What an array will be: its shape and type, and in which order its bytes stand."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_columns: bool

    @property
    def n_bytes(self) -> int:
        """Bytes of the entries."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(stream: BinaryIO, length: int, where: str) -> NpyHeader:
    """Return the header of an array of numbers or texts; the stream is at its entries then.

    Args:
        stream: a .npy file.
        length: of the file, in bytes.
        where: file and field, for errors.

    Raises:
        FileFormatError: the entries are Python objects or records, or there are not as many as declared.
    """
    version = npy.read_magic(stream)
    if version not in HEADERS:
        raise FileFormatError(f"{where}: has version {version} of the .npy format, known are 1.0 and 2.0")
    header = NpyHeader(*_reordered(HEADERS[version](stream)))
    if header.dtype.kind not in "biufcUS":
        raise FileFormatError(f"{where}: holds {header.dtype}, neither numbers nor text")
    there = length - stream.tell()
    if min(header.shape, default=1) < 0 or header.n_bytes != there:
        said = f"shape {header.shape} of {header.dtype}, which is {header.n_bytes} bytes"
        raise FileFormatError(f"{where}: declares {said}, and has {there}")
    return header


def read_entries(stream: BinaryIO, header: NpyHeader, where: str) -> NDArray[Any]:
    """Return the array whose header was read."""
    content = stream.read(header.n_bytes)
    if len(content) != header.n_bytes:
        raise FileFormatError(f"{where}: ends after {len(content)} of {header.n_bytes} bytes")
    if not header.n_bytes:
        return np.empty(header.shape, header.dtype)
    entries = np.frombuffer(content, header.dtype)
    return entries.reshape(header.shape, order="F" if header.by_columns else "C").copy()


def load_npy(path: Path) -> NDArray[Any]:
    """Return the array of a .npy file."""
    with path.open("rb") as stream:
        header = read_header(stream, path.stat().st_size, path.name)
        return read_entries(stream, header, path.name)


def _reordered(
    found: tuple[tuple[int, ...], bool, np.dtype[Any]],
) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
    shape, by_columns, dtype = found
    return shape, dtype, by_columns
