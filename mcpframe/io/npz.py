"""One problem, or one solution, per .npz file: numpy reads it without mcpframe.

The fields of a problem are those of `mcpframe.io.records`; texts are zero-dimensional string arrays.
"""

from __future__ import annotations

import os
import uuid
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.exceptions import FileFormatError
from mcpframe.io.records import Record, decode, encode, make_record
from mcpframe.solving.solution import Solution

PathLike = str | os.PathLike[str]
UNREADABLE = (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, KeyError, NotImplementedError)
"""What numpy and zipfile raise on a file that is cut off, damaged, or something else altogether."""


def save_problem(
    path: PathLike,
    problem: Any,
    *,
    z0: ArrayLike | None = None,
    name: str = "",
    provenance: Mapping[str, Any] | None = None,
    labels: Sequence[str] = (),
) -> None:
    """Write a problem to an .npz file, whole or not at all.

    Args:
        path: the file; it is replaced only when the new one is complete.
        problem: `MixedLCP` or `FrictionProblem`.
        z0: point to start from [n].
        name, provenance, labels: what is known about the problem, see `Record`.
    """
    arrays, texts = encode(make_record(problem, name, z0, provenance, labels))
    _write(path, arrays | {key: np.array(text) for key, text in texts.items()})


def load_problem(path: PathLike) -> Any:
    """Return the problem in an .npz file.

    Raises:
        FileFormatError: the file is truncated, of another kind, or a field is missing or wrong.
    """
    return load_record(path).problem


def load_record(path: PathLike) -> Record:
    """Return the problem in an .npz file with its start point, name, provenance and labels."""
    fields = read_fields(path)
    texts = {key: str(value) for key, value in fields.items() if value.dtype.kind == "U"}
    return decode({key: value for key, value in fields.items() if key not in texts}, texts, str(path))


def save_solution(path: PathLike, solution: Solution) -> None:
    """Write z, w and the figures of a certified answer to an .npz file, whole or not at all."""
    figures = ("residual", "iterations", "seconds", "solver", "method", "message")
    fields = {name: np.array(getattr(solution, name)) for name in figures}
    fields |= {"z": solution.z, "w": solution.w, "status": np.array(solution.status.name)}
    if solution.basis is not None:
        fields["basis"] = solution.basis
    _write(path, fields)


def read_fields(path: PathLike) -> dict[str, NDArray[Any]]:
    """Return all arrays of an .npz file, or raise FileFormatError naming the file."""
    if not Path(path).is_file():
        raise FileFormatError(f"{path}: no such file")
    try:
        with open(path, "rb") as stream:
            archive = np.load(stream, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise ValueError("it holds one bare array")
            return {key: archive[key] for key in archive.files}
    except UNREADABLE as error:
        raise FileFormatError(f"{path}: is not a complete .npz file ({error})") from None


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
        temporary.unlink(missing_ok=True)
