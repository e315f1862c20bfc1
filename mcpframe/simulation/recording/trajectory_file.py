"""The HDF5 file of a trajectory: plain h5py reads it without mcpframe.

    /            attributes: format = "mcpframe-trajectory", version = 1
    /header      attributes: name, scene (TOML), and JSON: model, link_names, options, seed, solvers, versions
    /steps       one dataset per column of `StepBlock` [n, ...]; attribute unit, and names of codes
    /contacts    columns of `ContactTable`, those of step 0 first; steps/n_contacts says how many each has
    /impacts     columns of `ImpactTable`, likewise
    /checkpoint  what the run needs beside the last step to go on, attribute n_steps: after how many steps;
                 one dataset of bytes, see `packed`, for HDF5 takes as long for a number as for a thousand

Everything is appended at the end; nothing that was written is changed, but for the checkpoint. A new file is
made in memory and goes to disk as a whole, with its header and with its first steps: HDF5 writes in hundreds
of small pieces, each of which would be a call of Python.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import Field
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from mcpframe.exceptions import FileFormatError
from mcpframe.io.hdf5 import child_dataset, child_group
from mcpframe.io.journal import JournaledFile
from mcpframe.io.untrusted import first_line
from mcpframe.multibody.model.model import Model
from mcpframe.simulation.recording.header import Header
from mcpframe.simulation.recording.steps import (
    LATER,
    NAMES,
    ContactTable,
    ImpactTable,
    Indices,
    StepBlock,
    Table,
    columns,
    empty,
)

FORMAT, VERSION = "mcpframe-trajectory", 1
TABLES: dict[str, type[Table]] = {"steps": StepBlock, "contacts": ContactTable, "impacts": ImpactTable}
CHUNK_ROWS, CHUNK_BYTES = {"steps": 2048, "contacts": 8192, "impacts": 1024}, 262144
"""Most rows, and most bytes, of the pieces that a dataset grows by."""
MEMORY_STEP = 1 << 20
"""Bytes by which a file in memory grows."""
CACHED_CHUNKS, CACHE_SLOTS = 2, 31
"""Pieces of a dataset that stay in memory while a run is written, and slots to find them by."""
UNREADABLE = (
    *(ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RuntimeError),
    *(TypeError, ValueError),
)
"""What h5py raises on a file that is cut off, damaged, on a full disk, or something else altogether."""

PACKED = "packed"
"""The dataset of a checkpoint."""

Checkpoint = Mapping[str, NDArray[Any]]
Datasets = dict[tuple[str, str], h5py.h5d.DatasetID]
"""By table and column."""


class TrajectoryFile:
    """A file open to append steps to, each time as a whole or not at all.

    Attributes:
        path: where it is.
        header: what it says of the run.
    """

    def __init__(
        self, path: Path, stream: JournaledFile, file: h5py.File, header: Header, places: Datasets
    ) -> None:
        self.path, self.header = path, header
        self._stream, self._file = stream, file
        self._datasets = places  # open all the time, so that their last chunks stay in memory
        self._in_memory = file.driver == "core"
        self._n_kept = 0 if self._in_memory else self.n_steps
        # Runs at the latest when Python ends, for HDF5 must not be left to write to a stream that is gone.
        self._finish = weakref.finalize(self, _close, file, stream, commit=True)

    @staticmethod
    def create(path: Path, header: Header) -> TrajectoryFile:
        """Make a new file; an empty one may be there, as a run leaves that is killed at once."""
        texts = header.texts()
        stream = JournaledFile(path)
        if stream.seek(0, os.SEEK_END):
            stream.close()
            raise FileFormatError(f"{path}: exists already; resume the run in it, or remove it first")
        file = h5py.File(path.name, "w", driver="core", backing_store=False, block_size=MEMORY_STEP)
        made = TrajectoryFile(path, stream, file, header, write_header(file, texts, header.model))
        try:
            made._commit()
        except OSError as error:
            failure = made._given_up(error)
            path.unlink()  # which is empty
            raise failure from None
        return made

    @staticmethod
    def open(path: Path) -> TrajectoryFile:
        """Open the file of a run and cut off what is behind its last complete step."""
        stream, file = JournaledFile(path), None
        try:
            file = h5py.File(stream, "r+")
            header = read_header(file, str(path))
            _add_new_columns(file)
            keep_complete_steps(file, str(path))
            file.flush()
            stream.commit()
        except UNREADABLE as error:
            _close(file, stream, commit=False)
            raise not_a_trajectory(path, error) from None
        return TrajectoryFile(path, stream, file, header, datasets(file))

    @property
    def n_steps(self) -> int:
        """How many steps the file holds."""
        return int(self._datasets["steps", "time"].shape[0])

    def steps(self) -> StepBlock:
        """Return all steps."""
        own, contacts, impacts = (
            {about.name: _read(self._datasets[name, about.name]) for about in columns(table)}
            for name, table in TABLES.items()
        )
        return StepBlock(**own, contacts=ContactTable(**contacts), impacts=ImpactTable(**impacts))

    def last(self) -> StepBlock | None:
        """Return the last step."""
        return read_steps(self._file, str(self.path), self.n_steps - 1) if self.n_steps else None

    def checkpoint(self) -> dict[str, NDArray[Any]] | None:
        """Return the checkpoint, or None where none belongs to the last step."""
        group = self._file["checkpoint"]
        if PACKED not in group or group.attrs["n_steps"] != self.n_steps:
            return None
        try:
            return unpacked(group[PACKED][()].tobytes())
        except UNREADABLE as error:
            raise not_a_trajectory(self.path, error) from None

    def take_header(self, header: Header) -> None:
        """Put another header in the place of the one that is there; what moves must be the same."""
        self._file["header"].attrs.update(header.texts())
        self._commit()
        self.header = header

    def append(self, blocks: Iterable[StepBlock], checkpoint: Checkpoint) -> None:
        """Add steps and the checkpoint that belongs to the last of them; on return they are in the file.

        Raises:
            FileFormatError: the disk is full, say. The file is closed, as it was before.
        """
        if not self._finish.alive:
            raise FileFormatError(f"{self.path}: is closed")
        try:
            if self._in_memory and self.n_steps:
                self._leave_memory()
            for block in blocks:
                append_steps(self._datasets, block)
            _write_checkpoint(self._file["checkpoint"], checkpoint, self.n_steps)
            self._commit()
        except UNREADABLE as error:
            raise self._given_up(error) from None

    def close(self) -> None:
        """Close the file."""
        self._finish()

    def _commit(self) -> None:
        """Have a later opening find what was written so far."""
        self._file.flush()
        if self._in_memory:
            self._stream.seek(0)
            self._stream.write(self._file.id.get_file_image())
        self._stream.commit()
        self._n_kept = self.n_steps

    def _given_up(self, error: Exception) -> FileFormatError:
        """Close the file as it was after the last commit; return the error to raise."""
        self._finish.detach()
        _close(self._file, self._stream, commit=False)
        kept = (
            f"{self._n_kept} steps are kept, and the same run goes on" if self._n_kept else "nothing is kept"
        )
        said = f"cannot be written ({first_line(error)}); is the disk full? Make room; {kept}"
        return FileFormatError(f"{self.path}: {said}")

    def _leave_memory(self) -> None:
        """Go on with the file on disk, which has all that the one in memory has."""
        self._finish.detach()
        self._file.close()
        self._file = h5py.File(self._stream, "r+")
        self._datasets, self._in_memory = datasets(self._file), False
        self._finish = weakref.finalize(self, _close, self._file, self._stream, commit=True)


def write_header(file: h5py.File, texts: Mapping[str, str], model: Model) -> Datasets:
    """Fill a new file with the texts of a header and datasets without rows, which stay open."""
    file.attrs.update({"format": FORMAT, "version": VERSION})
    said = file.create_group("header").id
    for name, text in texts.items():
        _describe(said, name.encode(), text)
    file.create_group("checkpoint").attrs["n_steps"] = 0
    places: Datasets = {}
    for name, table in TABLES.items():
        group = file.create_group(name)
        rows = empty(table, n_theta=model.n_theta, N=model.n_dofs)
        for about in columns(table):
            places[name, about.name] = _create(group, about, rows[about.name], CHUNK_ROWS[name])
    return places


def _add_new_columns(file: h5py.File) -> None:
    """Add columns that an older version did not record, filled with their defaults."""
    for name, table in TABLES.items():
        n_rows = len(file[name][table.first])
        for about in columns(table):
            if about.name in LATER and about.name not in file[name]:
                rows = np.full(n_rows, about.metadata["default"], dtype=about.metadata["kind"])
                _create(file[name], about, rows, CHUNK_ROWS[name])


def datasets(file: h5py.File) -> Datasets:
    """Return the open datasets of the columns."""
    groups = {name: file[name] for name in TABLES}
    return {
        (name, about.name): _opened(groups[name], about.name)
        for name, table in TABLES.items()
        for about in columns(table)
    }


def _opened(group: h5py.Group, name: str) -> h5py.h5d.DatasetID:
    """Return a dataset to append to."""
    found = h5py.h5d.open(group.id, name.encode())
    access = _access(found.get_type().get_size() * math.prod(found.get_create_plist().get_chunk()))
    del found  # HDF5 shares the cache of what is open
    return h5py.h5d.open(group.id, name.encode(), access)


# One of each, kept: a file has 46 datasets, and h5py takes longer to make an object than HDF5 to use it.
@cache
def _access(chunk_bytes: int) -> h5py.h5p.PropDAID:
    """Have HDF5 keep the last chunks of a dataset alone: its own cache, a megabyte, keeps full ones too."""
    access = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
    access.set_chunk_cache(CACHE_SLOTS, CACHED_CHUNKS * chunk_bytes, 1.0)
    return access


@cache
def _growing(chunk: tuple[int, ...]) -> h5py.h5p.PropDCID:
    """Have a dataset grow by chunks."""
    grows = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    grows.set_chunk(chunk)
    grows.set_obj_track_times(False)  # the same run, the same bytes
    return grows


@cache
def _type(kind: np.dtype[Any]) -> h5py.h5t.TypeID:
    """Return a type as HDF5 has it."""
    return h5py.h5t.py_create(kind, logical=True)


@cache
def _scalar() -> h5py.h5s.SpaceID:
    """Return the shape of a single value."""
    return h5py.h5s.create(h5py.h5s.SCALAR)


def append_steps(places: Datasets, block: StepBlock) -> None:
    """Add the rows of a block to the datasets."""
    for name, table in (("steps", block), ("contacts", block.contacts), ("impacts", block.impacts)):
        for column, array in table.items():
            if len(array):
                _append(places[name, column], array)


def _append(dataset: h5py.h5d.DatasetID, rows: NDArray[Any]) -> None:
    """Add rows to a dataset, by HDF5's own calls: h5py's indexing takes twenty times as long."""
    n, *widths = dataset.shape
    dataset.set_extent((n + len(rows), *widths))
    if rows.size:
        place = dataset.get_space()
        place.select_hyperslab((n, *(0 for _ in widths)), rows.shape)
        dataset.write(h5py.h5s.create_simple(rows.shape), place, np.ascontiguousarray(rows))


def _read(dataset: h5py.h5d.DatasetID) -> NDArray[Any]:
    """Return all rows of a dataset."""
    rows = np.empty(dataset.shape, dataset.dtype)
    if rows.size:
        dataset.read(h5py.h5s.ALL, h5py.h5s.ALL, rows)
    return rows


def keep_complete_steps(file: h5py.File, where: str) -> None:
    """Cut off everything behind the last step of which all columns, contacts and impacts are there."""
    contact_start, impact_start = (_starts(file, name, where) for name in ("n_contacts", "n_impacts"))
    n = min(len(dataset) for dataset in file["steps"].values())
    n_contacts = min(len(dataset) for dataset in file["contacts"].values())
    n_impacts = min(len(dataset) for dataset in file["impacts"].values())
    n = min(n, int((contact_start <= n_contacts).sum()) - 1, int((impact_start <= n_impacts).sum()) - 1)
    for name, rows in (("steps", n), ("contacts", contact_start[n]), ("impacts", impact_start[n])):
        for dataset in file[name].values():
            if len(dataset) != rows:
                dataset.resize(rows, axis=0)


def read_header(file: h5py.File, where: str) -> Header:
    """Return the header, or raise FileFormatError or ValueError where the file is no trajectory."""
    if file.attrs.get("format") != FORMAT:
        raise ValueError(f"it holds {', '.join(file) or 'nothing'}, and no attribute format = {FORMAT!r}")
    if file.attrs["version"] > VERSION:
        raise ValueError(
            f"its version {file.attrs['version']} is newer than {VERSION}, the newest known here"
        )
    texts = child_group(file, "header", where).attrs
    return Header.from_texts({name: str(text) for name, text in texts.items()}, where)


def read_steps(file: h5py.File, where: str, first: int = 0) -> StepBlock:
    """Return the steps from the first-th on; `where` says in errors which file they are from."""
    n = len(child_dataset(file, "steps/time", where))
    contacts = _starts(file, "n_contacts", where)[[first, n]]
    impacts = _starts(file, "n_impacts", where)[[first, n]]
    return StepBlock(
        **_columns(file, "steps", StepBlock, where, first, n),
        contacts=ContactTable(**_columns(file, "contacts", ContactTable, where, *contacts)),
        impacts=ImpactTable(**_columns(file, "impacts", ImpactTable, where, *impacts)),
    )


def not_a_trajectory(path: Path, error: Exception) -> FileFormatError:
    """Return the error to raise for a file that h5py or this module refuses."""
    if isinstance(error, FileFormatError):
        return error
    return FileFormatError(f"{path}: is not a complete trajectory file ({error})")


def packed(checkpoint: Checkpoint) -> bytes:
    """Return arrays as bytes: the length of a list of names, types and shapes, that list, and the numbers."""
    arrays = {name: np.asarray(array) for name, array in checkpoint.items()}
    parts = json.dumps([[name, array.dtype.str, array.shape] for name, array in arrays.items()]).encode()
    return b"".join(
        [len(parts).to_bytes(8, "little"), parts, *(array.tobytes() for array in arrays.values())]
    )


def unpacked(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of `packed`, or raise ValueError where they are none."""
    start = 8 + int.from_bytes(data[:8], "little")
    found: dict[str, NDArray[Any]] = {}
    for name, kind, shape in json.loads(data[8:start]):
        dtype = np.dtype(kind)
        if dtype.kind not in "biuf":
            raise ValueError(f"checkpoint: {name} is of the type {kind}")
        n = math.prod(shape)
        found[name] = np.frombuffer(data, dtype, n, start).reshape(shape).copy()
        start += n * dtype.itemsize
    return found


def _write_checkpoint(group: h5py.Group, checkpoint: Checkpoint, n_steps: int) -> None:
    """Replace the checkpoint, in the same place of the file."""
    group.attrs["n_steps"] = n_steps
    data = np.frombuffer(packed(checkpoint), np.uint8)
    if not checkpoint:
        group.clear()
        return
    if PACKED not in group:
        group.create_dataset(PACKED, shape=data.shape, dtype=data.dtype, maxshape=(None,), chunks=True)
    place = group[PACKED]
    place.resize(data.shape)
    place[...] = data


def _create(group: h5py.Group, about: Field[Any], rows: NDArray[Any], most_rows: int) -> h5py.h5d.DatasetID:
    """Make the dataset of a column, and return it open."""
    row_bytes = max(1, rows.dtype.itemsize * math.prod(rows.shape[1:]))
    n_rows = min(most_rows, max(1, CHUNK_BYTES // row_bytes))
    chunk = (n_rows, *(max(1, width) for width in rows.shape[1:]))
    unknown = h5py.h5s.UNLIMITED  # as is a width of zero
    space = h5py.h5s.create_simple(rows.shape, (unknown, *(width or unknown for width in rows.shape[1:])))
    access, name = _access(rows.dtype.itemsize * math.prod(chunk)), about.name.encode()
    place = h5py.h5d.create(group.id, name, _type(rows.dtype), space, _growing(chunk), dapl=access)
    if rows.size:
        place.write(h5py.h5s.ALL, h5py.h5s.ALL, rows)
    if about.metadata["unit"]:
        _describe(place, b"unit", about.metadata["unit"])
    if about.name in NAMES:
        _describe(place, b"names", json.dumps(NAMES[about.name]))
    return place


def _describe(place: h5py.h5g.GroupID | h5py.h5d.DatasetID, name: bytes, text: str) -> None:
    """Give a new group or dataset an attribute, by HDF5's own calls: h5py's take three times as long."""
    kind = h5py.string_dtype()
    attribute = h5py.h5a.create(place, name, _type(kind), _scalar())
    attribute.write(np.array(text, dtype=kind))


def _starts(file: h5py.File, counts: str, where: str) -> Indices:
    sizes = child_dataset(file, f"steps/{counts}", where)[()]
    starts: Indices = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return starts


def _columns(
    file: h5py.File, name: str, table: type[Table], where: str, start: int, stop: int
) -> dict[str, NDArray[Any]]:
    """Return the rows of a table from start to before stop; they are in the file itself, all of them."""
    group = child_group(file, name, where)
    own = [about.name for about in columns(table) if about.name in group or about.name not in LATER]
    return {column: child_dataset(group, column, where)[start:stop] for column in own}


def _close(file: h5py.File | None, stream: JournaledFile, commit: bool) -> None:
    """Close a file, with what was written since the last commit or without."""
    if file is not None:
        with contextlib.nullcontext() if commit else contextlib.suppress(OSError, RuntimeError):
            file.close()
    if commit:
        stream.commit()
    stream.close()
