"""One problem, or one solution, per .npz file: numpy reads it without mcpframe.

The fields of a problem are those of `mcpframe.io.records`; texts are zero-dimensional string arrays.
"""

from __future__ import annotations

import os
import uuid
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib.format import MAGIC_PREFIX
from numpy.typing import ArrayLike, NDArray

from mcpframe.exceptions import FileFormatError
from mcpframe.io.npy import read_entries, read_header
from mcpframe.io.records import TEXTS, Fields, Record, decode, encode, make_record
from mcpframe.io.untrusted import check_size, reading
from mcpframe.problem.friction import FrictionProblem
from mcpframe.solving.solution import Solution

PathLike = str | os.PathLike[str]


def save_problem(
    path: PathLike,
    problem: Any,
    *,
    z0: ArrayLike | None = None,
    name: str = "",
    provenance: Mapping[str, Any] | None = None,
    labels: Sequence[str] = (),
    exact: FrictionProblem | None = None,
) -> None:
    """Write a problem to an .npz file, whole or not at all.

    Args:
        path: the file; it is replaced only when the new one is complete.
        problem: `MixedLCP` or `FrictionProblem`.
        z0: point to start from [n].
        name, provenance, labels, exact: what is known about the problem, see `Record`.
    """
    arrays, texts = encode(make_record(problem, name, z0, provenance, labels, exact))
    _write(path, arrays | {key: np.array(text) for key, text in texts.items()})


def load_problem(path: PathLike) -> Any:
    """Return the problem in an .npz file.

    Raises:
        FileFormatError: the file is truncated, of another kind, or a field is missing or wrong.
    """
    return load_record(path).problem


def load_record(path: PathLike) -> Record:
    """Return the problem in an .npz file with its start point, name, provenance and labels."""
    with opened_fields(path) as fields:
        texts = {name: str(np.asarray(fields[name])) for name in TEXTS if _is_text(name, fields)}
        arrays = Fields((name for name in fields if name not in texts), fields.__getitem__)
        return decode(arrays, texts, str(path))


def save_solution(path: PathLike, solution: Solution) -> None:
    """Write z, w and the figures of a certified answer to an .npz file, whole or not at all."""
    figures = ("residual", "iterations", "seconds", "solver", "method", "message")
    fields = {name: np.array(getattr(solution, name)) for name in figures}
    fields |= {"z": solution.z, "w": solution.w, "status": np.array(solution.status.name)}
    if solution.basis is not None:
        fields["basis"] = solution.basis
    _write(path, fields)


@contextmanager
def opened_fields(path: PathLike) -> Iterator[Fields]:
    """Open an .npz file and give its fields, which are unpacked one by one when they are asked for.

    Raises:
        FileFormatError: the file, or a field that is asked for, is not what it should be.
    """
    if not Path(path).is_file():
        raise FileFormatError(f"{path}: no such file")
    with reading(str(path), "is not a complete .npz file"), open(path, "rb") as stream:
        if stream.read(len(MAGIC_PREFIX)) == MAGIC_PREFIX:
            raise ValueError("it holds one bare array")
        archive = zipfile.ZipFile(stream)
        members = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
        yield Fields(members, lambda name: PackedArray(archive, members[name], f"{path}: field {name!r}"))


class PackedArray:
    """An array in an archive: its header is known, its entries are unpacked by ``np.asarray``."""

    def __init__(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: str) -> None:
        self._archive, self._member, self._where = archive, member, where
        with self._open() as stream:
            self._header = read_header(stream, member.file_size, where)
        self.shape, self.dtype = self._header.shape, self._header.dtype

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        check_size(self._where, self._header.n_bytes, self._member.compress_size)
        with self._open() as stream:
            read_header(stream, self._member.file_size, self._where)
            entries = read_entries(stream, self._header, self._where)
        return entries if dtype is None else entries.astype(dtype)

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        with reading(self._where, "cannot be read"), self._archive.open(self._member) as stream:
            yield stream  # type: ignore[misc]


def _is_text(name: str, fields: Fields) -> bool:
    return name in fields and fields[name].dtype.kind == "U"


def _write(path: PathLike, fields: Mapping[str, NDArray[Any]]) -> None:
    with replacing(Path(path)) as stream:
        np.savez(stream, **fields)  # type: ignore[arg-type]


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path` that takes its place if all goes well and vanishes if not."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with open(temporary, "xb") as stream:
            yield stream
        os.replace(temporary, path)
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        with suppress(OSError):  # where nothing can be written, nothing is left either
            temporary.unlink()
