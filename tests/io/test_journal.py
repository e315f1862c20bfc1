import contextlib
import os
import resource

import numpy as np
import pytest

from mcpframe import FileFormatError
from mcpframe.io.journal import (
    BLOCK,
    BLOCKS,
    JournaledFile,
    JournalWarning,
    _span,
    committed,
    journal_of,
    recover,
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(b"0123456789")
    return path


def put(file, offset, data):
    file.seek(offset)
    file.write(data)


def test_what_is_committed_stays(path):
    with JournaledFile(path) as file:
        put(file, 2, b"AB")
        put(file, 10, b"new")
        file.commit()
    assert path.read_bytes() == b"01AB456789new"


def test_what_is_not_committed_is_undone(path):
    with JournaledFile(path) as file:
        put(file, 2, b"AB")
        file.commit()
        put(file, 3, b"CDE")
        put(file, 2, b"X")
        put(file, 8, b"beyond the end")
        file.truncate(5)
    assert path.read_bytes() == b"01AB456789"


@contextlib.contextmanager
def full_disk(size):
    """Let no file grow beyond a size; a write that would is cut short, the next one raises."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [12, 40, 60, 80, 100])
def test_a_full_disk_is_told_at_the_commit_and_undone(path, size):
    """The journal cannot take its header, at 40 bytes no span, at 80 the file cannot grow by as much."""
    with JournaledFile(path) as file:
        with full_disk(size):
            assert file.write(b"ABCD") == 4
            put(file, 10, b"x" * 100)
            file.truncate(2)
            with pytest.raises(OSError, match="File too large"):
                file.commit()
        with pytest.raises(OSError, match="File too large"):
            file.commit()
    assert path.read_bytes() == b"0123456789"
    assert not journal_of(path).exists()


def test_the_next_one_to_open_undoes_what_a_killed_writer_left(path):
    file = JournaledFile(path)
    put(file, 0, b"half")
    found = path.read_bytes(), journal_of(path).read_bytes()
    file.close()
    path.write_bytes(found[0])
    journal_of(path).write_bytes(found[1])
    recover(path)
    assert path.read_bytes() == b"0123456789"
    assert not journal_of(path).exists()


@pytest.fixture
def killed(path):
    """Leave the files as a writer does that is killed; return the bytes of file and journal."""
    file = JournaledFile(path)
    put(file, 0, b"half")
    put(file, 8, b"written")
    left = path.read_bytes(), journal_of(path).read_bytes()
    file.close()
    path.write_bytes(left[0])
    journal_of(path).write_bytes(left[1])
    return left


def test_a_reader_sees_the_committed_state_and_writes_nothing(path, killed):
    with committed(path) as view:
        assert view.read() == b"0123456789"
        assert view.seek(-3, os.SEEK_END) == 7
        assert view.read(2) == b"78"
        assert view.tell() == 9
    assert (path.read_bytes(), journal_of(path).read_bytes()) == killed


def test_a_journal_of_another_file_or_state_is_left_and_named(path, killed):
    for other in (b"half4x67written", b"half4567written and more", b"01234567", b""):
        path.write_bytes(other)  # first a byte that the journal does not hold, then lengths it does not know
        with pytest.raises(FileFormatError, match=r"data\.journal: does not belong to data: "):
            JournaledFile(path)
        with pytest.warns(JournalWarning, match=r"data\.journal: does not belong to data: "):
            assert committed(path) == path
        assert (path.read_bytes(), journal_of(path).read_bytes()) == (other, killed[1])


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_no_journal_and_nobody_waits_for_it(path, make):
    make(journal_of(path))
    with pytest.raises(FileFormatError, match=r"data\.journal: is not a journal of mcpframe"):
        JournaledFile(path)
    with pytest.warns(JournalWarning, match=r"data\.journal: is not a journal of mcpframe; it is left"):
        assert committed(path) == path


def test_a_journal_with_old_bytes_beyond_the_file_is_damaged(path, killed):
    far = killed[1] + _span(1 << 62, (1 << 62) + 3, b"far")
    journal_of(path).write_bytes(far)
    with pytest.raises(FileFormatError, match=r"data\.journal: is damaged at byte"):
        recover(path)
    assert (path.read_bytes(), journal_of(path).read_bytes()) == (killed[0], far)


def test_a_damaged_journal_changes_nothing_wherever_the_damage_is(path, killed):
    """Each bit of the journal's bytes turned over: no file is rolled back to anything but what it was."""
    for place in range(len(killed[1])):
        journal = bytearray(killed[1])
        journal[place] ^= 1 << place % 8
        journal_of(path).write_bytes(journal)
        with pytest.raises(FileFormatError, match=r"data\.journal: .* move the journal away"):
            recover(path)
        assert (path.read_bytes(), journal_of(path).read_bytes()) == (killed[0], journal)


def test_a_large_file_is_known_by_its_blocks(tmp_path):
    path = tmp_path / "large"
    content = np.random.default_rng(0).bytes(3 * BLOCK * BLOCKS)
    path.write_bytes(content)
    file = JournaledFile(path)
    put(file, 100_000, b"half")
    left = path.read_bytes(), journal_of(path).read_bytes()
    file.close()
    journal_of(path).write_bytes(left[1])
    path.write_bytes(left[0])
    recover(path)
    assert path.read_bytes() == content
    journal_of(path).write_bytes(left[1])
    path.write_bytes(left[0][:-1] + b"x")
    with pytest.raises(FileFormatError, match="does not belong"):
        recover(path)


def test_a_journal_cut_off_in_its_last_span_is_still_good(path):
    file = JournaledFile(path)
    put(file, 0, b"AA")
    first = journal_of(path).read_bytes()
    put(file, 5, b"BBBB")
    whole = journal_of(path).read_bytes()
    file.close()
    for length in range(len(first), len(whole)):
        path.write_bytes(b"AA23456789")  # the second write never happened
        journal_of(path).write_bytes(whole[:length])
        recover(path)
        assert path.read_bytes() == b"0123456789"


def test_a_file_that_does_not_exist_is_made(tmp_path):
    with JournaledFile(tmp_path / "new") as file:
        file.write(b"x")
        file.commit()
    assert (tmp_path / "new").read_bytes() == b"x"


def test_one_writer_at_a_time(path):
    with JournaledFile(path), pytest.raises(FileFormatError, match="being written by another process"):
        recover(path)
