import contextlib
import resource

import pytest

from mcpframe import FileFormatError
from mcpframe.io.journal import JournaledFile, journal_of, recover


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


@pytest.mark.parametrize("size", [12, 20, 30])
def test_a_full_disk_is_told_at_the_commit_and_undone(path, size):
    """At 12 bytes the journal cannot keep what is overwritten, at 20 the file cannot grow by as much."""
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
