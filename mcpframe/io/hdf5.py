"""HDF5 files of strangers: only what is in the file itself is read, and no more than is there.

HDF5 lets a name stand for something in another file, and a dataset take its entries from there. Neither is
followed: who opens a problem means that file alone. A dataset may also declare rows that were never written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from mcpframe.exceptions import FileFormatError
from mcpframe.io.untrusted import check_size, reading


@contextmanager
def opened(source: Any, path: Any, what: str = "is not a complete HDF5 file") -> Iterator[h5py.File]:
    """Open a file for reading; whatever HDF5 raises meanwhile becomes a FileFormatError.

    Args:
        source: what h5py opens, a path or a stream.
        path: of the file, for errors.
        what: the end of the sentence that refuses it.
    """
    if not Path(path).is_file():
        raise FileFormatError(f"{path}: no such file")
    with reading(str(path), what), h5py.File(source, "r") as file:
        yield file


def child(group: h5py.Group, name: str, where: str) -> Any:
    """Return a group or dataset of a group, None where there is none.

    Args:
        group: of an open file.
        name: of the child; slashes lead further down.
        where: the file, for errors.

    Raises:
        FileFormatError: the name is a link to somewhere else.
    """
    found: Any = group
    for part in name.split("/"):
        link = found.get(part, getlink=True) if isinstance(found, h5py.Group) else None
        if link is None:
            return None
        if not isinstance(link, h5py.HardLink):
            raise FileFormatError(
                f"{where}: {found.name}/{part}: is a link to elsewhere, which is not followed"
            )
        found = found[part]
    return found


def child_group(group: h5py.Group, name: str, where: str) -> h5py.Group:
    """Return a group of a group, or raise FileFormatError."""
    found = child(group, name, where)
    if not isinstance(found, h5py.Group):
        raise FileFormatError(f"{where}: {group.name.rstrip('/')}/{name}: {_missing(found)}")
    return found


def child_dataset(group: h5py.Group, name: str, where: str) -> h5py.Dataset:
    """Return a dataset of a group that has its entries itself, or raise FileFormatError."""
    found = child(group, name, where)
    place = f"{where}: {group.name.rstrip('/')}/{name}"
    if not isinstance(found, h5py.Dataset):
        raise FileFormatError(f"{place}: {_missing(found)}")
    if found.shape is None:
        raise FileFormatError(f"{place}: holds nothing")
    if found.is_virtual or found.external:
        raise FileFormatError(f"{place}: has its entries in another file, which is not read")
    check_size(place, found.size * found.dtype.itemsize, found.id.get_storage_size())
    return found


def entries(dataset: h5py.Dataset) -> NDArray[Any]:
    """Return the entries of a dataset that `child_dataset` has let pass."""
    return np.asarray(dataset[()])


def _missing(found: Any) -> str:
    return (
        "is missing" if found is None else f"is not what it should be, but a {type(found).__name__.lower()}"
    )
