"""A file whose writes come in transactions: a killed writer leaves the last committed state behind.

Rollback journal: before bytes of the committed file are overwritten, the old ones go to a second file
beside it (``NAME.journal``). A commit empties that file; whoever opens the first one and finds the second
filled sees the old bytes: a reader through a `CommittedView`, which writes nothing, a writer by putting them
back. HDF5 has no such protection of its own: killed while it flushes, it may leave a file that nobody can
open; nor can it cope with a disk that is full in the middle of a write.

    header    magic, length of the committed file, its identity, checksum
    span      offset, end of what is about to be written, number of old bytes, checksum, the old bytes
    ...

A journal is obeyed only where it belongs to its file: the checksums hold, the file is as long as the spans
can have made it, and with the old bytes put back it has the identity that it had. The identity is a digest
of the length and of blocks from begin to end, so that it tells one file from another and each committed
state of an HDF5 file, whose first block says how far the file goes, from the next.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import struct
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from mcpframe.exceptions import FileFormatError
from mcpframe.io.locks import try_lock

MAGIC = b"mcpfjnl2"
HEADER = struct.Struct("<8sQ16sI")
SPAN = struct.Struct("<QQQI")
BLOCK, BLOCKS = 4096, 32
"""Size and number of the blocks that an identity looks at: 128 kB, so that a transaction stays cheap."""


class JournalWarning(UserWarning):
    """A file that is called like a journal is not the one of the file beside it; the message names it."""


class JournaledFile(io.FileIO):
    """A file opened for reading and writing, made where it does not exist, rolled back where needed.

    Raises:
        FileFormatError: another process is writing to it, or the journal beside it is not its own.
    """

    def __init__(self, path: Path) -> None:
        self._journal_path = journal_of(path)
        self._journal = _locked(self._journal_path, path)
        try:
            _roll_back(path, self._journal)
            super().__init__(path, "r+" if path.exists() else "x+")
        except BaseException as error:
            _let_go(self._journal, self._journal_path)
            if isinstance(error, OSError):
                raise FileFormatError(f"{path}: cannot be written ({error.strerror})") from None
            raise
        self._committed = self._reach = os.fstat(self.fileno()).st_size
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
        self._committed = self._reach = os.fstat(self.fileno()).st_size
        self._journal.truncate(0)
        self._begun = False

    def close(self) -> None:
        """Close the file; what was not committed is undone."""
        if not self.closed:
            super().close()
            try:
                _roll_back(Path(os.fsdecode(self.name)), self._journal)
            finally:
                _let_go(self._journal, self._journal_path)

    def _attempt(self, action: Callable[[], None]) -> None:
        """Do something to the file, unless something has failed already; keep the error."""
        if self._failure is None:
            try:
                action()
            except OSError as error:
                self._failure = error

    def _put(self, content: memoryview, offset: int) -> None:
        self._keep(offset, offset + len(content), min(offset + len(content), self._committed))
        _write_all(super().write, content)

    def _cut(self, size: int) -> None:
        self._keep(size, size, self._committed)
        super().truncate(size)

    def _keep(self, start: int, end: int, stop: int) -> None:
        """Save the old bytes from start to stop before those from start to end are written."""
        at = self.tell()
        if not self._begun:
            self._journal.seek(0)
            digest = identity(lambda place, size: _read_at(self, place, size), self._committed)
            _write_all(self._journal.write, _header(self._committed, digest))
            self._begun = True
        if start < stop or end > self._reach:
            _write_all(self._journal.write, _span(start, end, _read_at(self, start, stop - start)))
            self._reach = max(end, self._reach)
        self.seek(at)


class CommittedView(io.RawIOBase):
    """The last committed state of a file, to be read; the file itself stays as a killed writer left it."""

    def __init__(self, file: BinaryIO, undo: Undo) -> None:
        self._file, self._undo, self._at = file, undo, 0

    def readable(self) -> bool:
        """Return that this can be read."""
        return True

    def seekable(self) -> bool:
        """Return that this has offsets."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to an offset from the begin, from here or from the end."""
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._undo.length}[whence]
        return self._at

    def tell(self) -> int:
        """Return the offset that is read next."""
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        """Read bytes from here on."""
        places = memoryview(buffer).cast("B")
        content = self._undo.read(self._file, self._at, len(places))
        places[: len(content)] = content
        self._at += len(content)
        return len(content)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


@dataclass(frozen=True)
class Span:
    """What was about to happen: bytes from offset to end written, those in `old` lost; a cut ends at once."""

    offset: int
    end: int
    old: bytes


@dataclass(frozen=True)
class Undo:
    """What a journal says: length and identity of the committed file, and the spans, first saved first."""

    length: int
    identity: bytes
    spans: tuple[Span, ...] = ()

    def read(self, file: BinaryIO, start: int, size: int) -> bytes:
        """Return bytes of the committed file: where they were overwritten, those that were saved first."""
        stop = max(start, min(start + size, self.length))
        content = bytearray(_read_at(file, start, stop - start).ljust(stop - start, b"\0"))
        for span in reversed(self.spans):
            low, high = max(start, span.offset), min(stop, span.offset + len(span.old))
            if low < high:
                content[low - start : high - start] = span.old[low - span.offset : high - span.offset]
        return bytes(content)

    def why_foreign(self, file: BinaryIO) -> str:
        """Return in words why this does not belong to a file; an empty text where it does."""
        size = file.seek(0, os.SEEK_END)
        cuts = [span.offset for span in self.spans if span.offset == span.end]
        if not min([self.length, *cuts]) <= size <= max([self.length, *(span.end for span in self.spans)]):
            return f"the file has {size} bytes, and had {self.length} when the journal was begun"
        if identity(lambda start, size: self.read(file, start, size), self.length) != self.identity:
            return "it was begun for another file, or for another state of this one"
        return ""


def identity(read: Callable[[int, int], bytes], length: int) -> bytes:
    """Return a digest [16] of a file's length and of at most `BLOCKS` of its blocks, first and last included.

    Args:
        read: returns so many bytes from an offset on.
        length: of the file.
    """
    digest = hashlib.blake2b(length.to_bytes(8, "little"), digest_size=16)
    if length <= BLOCK * BLOCKS:
        places, size = [0], length
    else:
        places, size = [k * (length - BLOCK) // (BLOCKS - 1) for k in range(BLOCKS)], BLOCK
    for place in places:
        digest.update(read(place, size))
    return digest.digest()


def journal_of(path: Path) -> Path:
    """Return where the journal of a file lies."""
    return path.with_name(f"{path.name}.journal")


def committed(path: Path) -> Path | CommittedView:
    """Return what to read the last committed state of a file from, itself or a view; nothing is written.

    A journal that belongs to another file is left, with a JournalWarning that names it.

    Raises:
        FileFormatError: another process is writing, or the journal is this file's and damaged.
    """
    try:
        _check_plain(journal_of(path))
        with open(journal_of(path), "rb") as journal:
            if not try_lock(journal, shared=True):
                raise FileFormatError(f"{path}: is being written by another process")
            content = journal.read()
    except FileNotFoundError:
        return path
    except ForeignJournalError as error:
        return _left(path, error)
    except OSError as error:
        raise FileFormatError(f"{journal_of(path)}: cannot be read ({error.strerror})") from None
    file = open(path, "rb")  # noqa: SIM115 - the view closes it
    try:
        undo = _belonging(path, file, content)
    except ForeignJournalError as error:
        file.close()
        return _left(path, error)
    except FileFormatError:
        file.close()
        raise
    if undo is None:
        file.close()
        return path
    return CommittedView(file, undo)


def _left(path: Path, error: ForeignJournalError) -> Path:
    """Return the file as it is, and name the journal that is none of it."""
    warnings.warn(f"{error}; it is left, and {path.name} read as it is", JournalWarning, stacklevel=4)
    return path


def _check_plain(journal: Path) -> None:
    """Refuse what is no file: to open a named pipe waits for ever."""
    if journal.exists() and not journal.is_file():
        raise ForeignJournalError(f"{journal}: is not a journal of mcpframe")


def recover(path: Path) -> None:
    """Undo what a killed writer left unfinished; do nothing where there is no journal.

    Raises:
        FileFormatError: another process is writing, or the journal is not this file's; nothing is changed.
    """
    if path.exists() and journal_of(path).exists():
        JournaledFile(path).close()


def remove(path: Path) -> None:
    """Remove a file, if it is there, that no other process is writing to."""
    if path.exists():
        journal = _locked(journal_of(path), path)
        try:
            _roll_back(path, journal)  # which refuses a journal that is not to be thrown away
            path.unlink()
        finally:
            _let_go(journal, journal_of(path))


class ForeignJournalError(FileFormatError):
    """What is called like a journal is none, or not the one of the file beside it."""


def _belonging(path: Path, file: BinaryIO, content: bytes) -> Undo | None:
    """Return what a journal says about its file, None where there is nothing to undo.

    Raises:
        ForeignJournalError: it is no journal, or that of another file.
        FileFormatError: it is damaged.
    """
    name = journal_of(path)
    if len(content) < HEADER.size and MAGIC.startswith(content[: len(MAGIC)]):
        return None  # killed before the header was there, and so before anything was overwritten
    if not content.startswith(MAGIC):
        raise ForeignJournalError(f"{name}: is not a journal of mcpframe")
    _, length, digest, checksum = HEADER.unpack_from(content)
    if checksum != zlib.crc32(content[: HEADER.size - 4]):
        raise FileFormatError(f"{name}: its header is damaged; {path.name} may be half written. {REMEDY}")
    undo = Undo(length, digest, tuple(_spans(path, content, length)))
    why = undo.why_foreign(file)
    if why:
        raise ForeignJournalError(f"{name}: does not belong to {path.name}: {why}")
    return undo


REMEDY = "Nothing was changed; move the journal away to open the file as it is"


def _spans(path: Path, content: bytes, committed_length: int) -> Iterator[Span]:
    at = HEADER.size
    while at + SPAN.size <= len(content):
        offset, end, length, checksum = SPAN.unpack_from(content, at)
        old = content[at + SPAN.size : at + SPAN.size + length]
        if len(old) < length:  # cut off by the kill: what it saves was never overwritten
            return
        beyond = length and offset + length > committed_length
        if beyond or checksum != zlib.crc32(old, zlib.crc32(content[at : at + SPAN.size - 4])):
            raise FileFormatError(
                f"{journal_of(path)}: is damaged at byte {at}; {path.name} may be half written. {REMEDY}"
            )
        yield Span(offset, end, old)
        at += SPAN.size + length


def _header(length: int, digest: bytes) -> bytes:
    start = HEADER.pack(MAGIC, length, digest, 0)[:-4]
    return start + zlib.crc32(start).to_bytes(4, "little")


def _span(offset: int, end: int, old: bytes) -> bytes:
    start = SPAN.pack(offset, end, len(old), 0)[:-4]
    return start + zlib.crc32(old, zlib.crc32(start)).to_bytes(4, "little") + old


def _locked(journal_path: Path, path: Path) -> BinaryIO:
    """Open the journal and hold it for this process; the system lets go of it when the process dies."""
    try:
        _check_plain(journal_path)
        journal = open(journal_path, "a+b", buffering=0)  # noqa: SIM115 - held for as long as the file
    except ForeignJournalError as error:
        raise FileFormatError(f"{error}. {REMEDY}") from None
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be written ({error.strerror})") from None
    if not try_lock(journal):
        journal.close()
        raise FileFormatError(f"{path}: is being written by another process")
    return journal


def _let_go(journal: BinaryIO, journal_path: Path) -> None:
    """Close a journal, and remove it unless something is left in it."""
    empty = not os.fstat(journal.fileno()).st_size
    if os.name == "nt":  # where nothing that is open can be removed, not even by its owner
        journal.close()
    with contextlib.suppress(PermissionError):
        if empty:
            journal_path.unlink(missing_ok=True)  # while it is locked: nobody else can have begun one
    journal.close()


def _roll_back(path: Path, journal: BinaryIO) -> None:
    """Put the old bytes back, the last ones saved first, and cut the file to its committed length.

    Raises:
        FileFormatError: the journal is damaged, or not this file's; nothing is changed.
    """
    journal.seek(0)
    content = journal.read()
    if content and path.exists():
        with open(path, "r+b") as file:
            try:
                undo = _belonging(path, file, content)
            except ForeignJournalError as error:
                raise FileFormatError(f"{error}. {REMEDY}") from None
            for span in reversed(undo.spans if undo else ()):
                file.seek(span.offset)
                file.write(span.old)
            if undo:
                file.truncate(undo.length)
    elif content and not content.startswith(MAGIC):
        raise FileFormatError(f"{journal_of(path)}: is not a journal of mcpframe. {REMEDY}")
    journal.truncate(0)


def _write_all(write: Callable[[memoryview], int | None], content: bytes | memoryview) -> None:
    """Write all bytes; a raw file takes fewer where the disk is almost full, and raises only at the next."""
    rest = memoryview(content)
    while rest:
        rest = rest[write(rest) :]


def _read_at(file: Any, start: int, size: int) -> bytes:
    """Return so many bytes from an offset on, or all that are left; a raw file may give fewer at once."""
    parts = []
    file.seek(start)
    while size > 0 and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
