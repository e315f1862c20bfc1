"""Many problems in one HDF5 file, with layout and provenance: plain h5py reads it without mcpframe.

    /                     attributes: format = "mcpframe-corpus", version = 1
    /problems/000000      one group per problem, numbered in order of arrival
        M                 dense [n, n], or M_data, M_indices, M_indptr, M_shape (compressed rows)
        q, lower, upper   vectors [n]
        ...               the further fields of `mcpframe.io.records`
        attributes: kind, name, layout, provenance, labels (the last three are JSON)

A problem is in the file once `append` returns: a writer that is killed later loses none of them.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, overload

import h5py
import numpy as np
from numpy.typing import ArrayLike

from mcpframe.exceptions import FileFormatError
from mcpframe.io.hdf5 import child_dataset, child_group
from mcpframe.io.journal import JournaledFile, committed
from mcpframe.io.records import Arrays, Fields, Record, Texts, decode, encode, make_record
from mcpframe.io.untrusted import reading
from mcpframe.problem.friction import FrictionProblem

FORMAT, VERSION = "mcpframe-corpus", 1
TEXT = h5py.h5t.py_create(h5py.string_dtype(), logical=True)


class Selection(Sequence[Record]):
    """Some problems of a corpus, each read when it is asked for."""

    def __init__(self, path: Path, file: h5py.File, keys: list[str]) -> None:
        self.path = path
        self._file = file
        self._keys = keys

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Selection: ...
    def __getitem__(self, index: int | slice) -> Record | Selection:
        if isinstance(index, slice):
            return Selection(self.path, self._file, self._keys[index])
        return self._read(self._keys[index])

    def __iter__(self) -> Iterator[Record]:
        return map(self._read, self._keys)

    @property
    def names(self) -> list[str]:
        """Names of the problems, in order, read without their arrays."""
        return [texts.get("name", "") for texts in self.texts()]

    def texts(self) -> list[Texts]:
        """Return the texts of the problems, in order, read without their arrays."""
        return [self._texts(key) for key in self._keys]

    def _texts(self, key: str) -> Texts:
        with reading(f"{self.path}: /problems/{key}", "cannot be read"):
            return {name: str(value) for name, value in self._group(key).attrs.items()}

    def _group(self, key: str) -> h5py.Group:
        return child_group(self._file, f"problems/{key}", str(self.path))

    def _read(self, key: str) -> Record:
        where, texts = f"{self.path}: /problems/{key}", self._texts(key)
        with reading(where, "cannot be read"):
            group = self._group(key)
            return decode(
                Fields(group, lambda name: child_dataset(group, name, str(self.path))), texts, where
            )


class Corpus(Selection):
    """A corpus file, open until `close` or the end of a ``with`` block.

    Args:
        path: the file.
        mode: ``"r"`` to read, ``"a"`` to append (the file is made where there is none).

    >>> with Corpus("problems.h5", "a") as corpus:  # doctest: +SKIP
    ...     corpus.append(problem, name="two boxes", provenance={"scene": "stack", "step": 12})
    """

    def __init__(self, path: str | os.PathLike[str], mode: str = "r") -> None:
        if mode not in ("r", "a"):
            raise FileFormatError(f"{path}: mode {mode!r} is neither 'r' (read) nor 'a' (append)")
        path = Path(path)
        if mode == "r":
            _check_exists(path)
        self._stream = JournaledFile(path) if mode == "a" else None
        source = committed(path) if self._stream is None else self._stream
        file = None
        try:
            with reading(str(path), "is not a complete corpus file"):
                file = h5py.File(source, "r") if self._stream is None else _open_to_append(self._stream)
                super().__init__(path, file, _checked_keys(file, str(path)))
        except FileFormatError:
            _close(file, self._stream, commit=False)
            raise
        # Runs at the latest when Python ends, for HDF5 must not be left to write to a stream that is gone.
        self._finish = weakref.finalize(self, _close, file, self._stream, commit=True)

    def append(
        self,
        problem: Any,
        *,
        name: str = "",
        z0: ArrayLike | None = None,
        provenance: Mapping[str, Any] | None = None,
        labels: Sequence[str] = (),
        exact: FrictionProblem | None = None,
    ) -> int:
        """Store a problem, finish its writing, and return its index; arguments as of `Record`."""
        self.extend([make_record(problem, name, z0, provenance, labels, exact)])
        return len(self) - 1

    def extend(self, records: Iterable[Record]) -> None:
        """Store records, all of them or, where the process dies before this returns, none.

        Raises:
            FileFormatError: the disk is full, say; the corpus is closed, as it was before.
        """
        fields = [encode(record) for record in records]
        first = int(self._keys[-1]) + 1 if self._keys else 0
        keys = [f"{first + k:06d}" for k in range(len(fields))]

        def store() -> None:
            for key, (arrays, texts) in zip(keys, fields, strict=True):
                _put(self._file["problems"], key, arrays, texts)

        self._change(store)
        self._keys.extend(keys)

    def keep(self, count: int) -> None:
        """Keep the first `count` problems alone, all at once; errors as of `extend`."""

        def drop() -> None:
            for key in self._keys[count:]:
                del self._file["problems"][key]

        self._change(drop)
        del self._keys[count:]

    def _change(self, action: Callable[[], None]) -> None:
        """Do something to the file as one transaction."""
        if self._stream is None:
            raise FileFormatError(f"{self.path}: is open for reading; open it with mode 'a' to append")
        if not self._finish.alive:
            raise FileFormatError(f"{self.path}: is closed")
        try:
            action()
            self._file.flush()
            self._stream.commit()
        except OSError as error:
            self._finish.detach()
            _close(self._file, self._stream, commit=False)
            raise FileFormatError(f"{self.path}: cannot be written ({error})") from None

    def close(self) -> None:
        """Close the file."""
        self._finish()

    def __enter__(self) -> Corpus:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _close(file: h5py.File | None, stream: JournaledFile | None, *, commit: bool) -> None:
    if file is not None:
        file.close()
    if stream is not None:
        if commit:
            stream.commit()
        stream.close()


def _put(problems: h5py.Group, key: str, arrays: Arrays, texts: Texts) -> None:
    """Write the fields of a problem, by HDF5's own calls: h5py's take four times as long."""
    group = h5py.h5g.create(problems.id, key.encode())
    for name, array in arrays.items():
        rows = np.ascontiguousarray(array).reshape(array.shape)  # which makes a number a vector of one
        space = h5py.h5s.create_simple(rows.shape) if rows.ndim else h5py.h5s.create(h5py.h5s.SCALAR)
        dataset = h5py.h5d.create(group, name.encode(), h5py.h5t.py_create(rows.dtype), space)
        dataset.write(space, space, rows)
    for name, text in texts.items():
        space = h5py.h5s.create(h5py.h5s.SCALAR)
        attribute = h5py.h5a.create(group, name.encode(), TEXT, space)
        attribute.write(np.array(text, dtype=h5py.string_dtype()))


def _check_exists(path: Path) -> None:
    if not path.is_file():
        raise FileFormatError(f"{path}: no such file")


def _open_to_append(stream: JournaledFile) -> h5py.File:
    if stream.seek(0, os.SEEK_END):
        return h5py.File(stream, "r+")
    file = h5py.File(stream, "w")
    file.attrs.update({"format": FORMAT, "version": VERSION})
    file.create_group("problems")
    file.flush()
    stream.commit()
    return file


def _checked_keys(file: h5py.File, where: str) -> list[str]:
    """Return the groups of the problems in order, or raise ValueError where the file is no corpus."""
    if file.attrs.get("format") != FORMAT or "problems" not in file:
        raise ValueError(f"it holds {', '.join(file) or 'nothing'}, and no attribute format = {FORMAT!r}")
    if file.attrs["version"] > VERSION:
        raise ValueError(
            f"its version {file.attrs['version']} is newer than {VERSION}, the newest known here"
        )
    return sorted(child_group(file, "problems", where), key=int)
