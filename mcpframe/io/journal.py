"""A file whose writes come in transactions: a killed writer leaves the last committed state behind.

Rollback journal: before bytes of the committed file are overwritten, the old ones go to a second file
beside it (``NAME.journal``). A commit empties that file; whoever opens the first one and finds the second
filled puts the old bytes back. HDF5 has no such protection of its own: killed while it flushes, it may
leave a file that nobody can open; nor can it cope with a disk that is full in the middle of a write.
"""

from __future__ import annotations

import fcntl
import io
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from mcpframe.exceptions import FileFormatError

LENGTH = struct.Struct("<Q")
"""First in the journal: length of the committed file in bytes."""

SPAN = struct.Struct("<QQ")
"""Then, again and again: offset and length of a span, and the old bytes themselves."""


class JournaledFile(io.FileIO):
    """A file opened for reading and writing, made where it does not exist, rolled back where needed.

    Raises:
        FileFormatError: another process is writing to it.
    """

    def __init__(self, path: Path) -> None:
        self._journal_path = journal_of(path)
        self._journal = _locked(self._journal_path, path)
        _roll_back(path, self._journal)
        super().__init__(path, "r+" if path.exists() else "x+")
        self._committed = os.fstat(self.fileno()).st_size
        self._begun = False
        self._failure: OSError | None = None

    def write(self, data: Any, /) -> int:
        """Write at the current offset, the old bytes going to the journal first.

        Where that fails, nothing more is written and `commit` raises: HDF5 loses its footing, and may take
        the process with it, when an error comes out of a write.
        """
        content, offset = memoryview(data).cast("B"), self.tell()
        self._attempt(lambda: self._put(content, offset))
        return len(content)

    def truncate(self, size: int | None = None, /) -> int:
        """Cut or extend the file, the bytes cut off going to the journal first; failures as of `write`."""
        size = self.tell() if size is None else size
        self._attempt(lambda: self._cut(size))
        return size

    def commit(self) -> None:
        """Make everything written so far the state that a later opening finds.

        Raises:
            OSError: a write has failed; the last state that was committed stays.
        """
        if self._failure is not None:
            raise self._failure
        self._committed = os.fstat(self.fileno()).st_size
        self._journal.truncate(0)
        self._begun = False

    def close(self) -> None:
        """Close the file; what was not committed is undone."""
        if not self.closed:
            super().close()
            _roll_back(Path(os.fsdecode(self.name)), self._journal)
            self._journal_path.unlink(missing_ok=True)
            self._journal.close()

    def _attempt(self, action: Callable[[], None]) -> None:
        """Do something to the file, unless something has failed already; keep the error."""
        if self._failure is None:
            try:
                action()
            except OSError as error:
                self._failure = error

    def _put(self, content: memoryview, offset: int) -> None:
        self._keep(offset, min(offset + len(content), self._committed))
        _write_all(super().write, content)

    def _cut(self, size: int) -> None:
        self._keep(size, self._committed)
        super().truncate(size)

    def _keep(self, start: int, stop: int) -> None:
        if not self._begun:
            self._journal.seek(0)
            _write_all(self._journal.write, LENGTH.pack(self._committed))
            self._begun = True
        if start < stop:
            old = os.pread(self.fileno(), stop - start, start)
            _write_all(self._journal.write, SPAN.pack(start, len(old)) + old)


def _write_all(write: Callable[[memoryview], int | None], content: bytes | memoryview) -> None:
    """Write all bytes; a raw file takes fewer where the disk is almost full, and raises only at the next."""
    rest = memoryview(content)
    while rest:
        rest = rest[write(rest) :]


def journal_of(path: Path) -> Path:
    """Return where the journal of a file lies."""
    return path.with_name(f"{path.name}.journal")


def recover(path: Path) -> None:
    """Undo what a killed writer left unfinished; do nothing where there is no journal."""
    journal_path = journal_of(path)
    if journal_path.exists():
        with _locked(journal_path, path) as journal:
            _roll_back(path, journal)
            journal_path.unlink(missing_ok=True)


def remove(path: Path) -> None:
    """Remove a file, if it is there, that no other process is writing to."""
    if path.exists():
        with JournaledFile(path):
            path.unlink()


def _locked(journal_path: Path, path: Path) -> BinaryIO:
    """Open the journal and hold it for this process; the system lets go of it when the process dies."""
    try:
        journal = open(journal_path, "a+b", buffering=0)  # noqa: SIM115 - held for as long as the file
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be written ({error.strerror})") from None
    try:
        fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        journal.close()
        raise FileFormatError(f"{path}: is being written by another process") from None
    return journal


def _roll_back(path: Path, journal: BinaryIO) -> None:
    """Put the old bytes back, the last ones saved first, and cut the file to its committed length."""
    journal.seek(0)
    content = journal.read()
    if path.exists() and len(content) >= LENGTH.size:
        with open(path, "r+b") as file:
            for offset, old in reversed(list(_spans(content))):
                file.seek(offset)
                file.write(old)
            file.truncate(LENGTH.unpack_from(content)[0])
    journal.truncate(0)


def _spans(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = LENGTH.size
    while at + SPAN.size <= len(content):
        offset, length = SPAN.unpack_from(content, at)
        at += SPAN.size
        if at + length <= len(content):  # a span cut off by the kill was never overwritten
            yield offset, content[at : at + length]
        at += length
