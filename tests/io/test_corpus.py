import json
import os
import resource
import signal
import struct
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
from storage import PROBLEMS, assert_same_problem, contact_problem, dense_problem, same_bits, sparse_problem

from mcpframe import FileFormatError, MixedLCP, ProblemError
from mcpframe.io.corpus import Corpus
from mcpframe.io.journal import JournaledFile, JournalWarning, journal_of

WRITER = """
import sys
import numpy as np
from mcpframe import MixedLCP
from mcpframe.io.corpus import Corpus

with Corpus(sys.argv[1], "a") as corpus:
    while True:
        k = len(corpus)
        print(corpus.append(MixedLCP(np.eye(k % 50 + 1), np.full(k % 50 + 1, float(k)))), flush=True)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "corpus.h5"


@pytest.fixture
def filled(path):
    with Corpus(path, "a") as corpus:
        for make in PROBLEMS:
            corpus.append(make(), name=make.__name__)
    return path


def test_a_round_trip_changes_no_bit(filled):
    with Corpus(filled) as corpus:
        assert len(corpus) == len(PROBLEMS)
        for record, make in zip(corpus, PROBLEMS, strict=True):
            assert_same_problem(record.problem, make())


def test_start_point_provenance_and_labels_travel_along(path):
    provenance = {"scene": "stack", "text": "x" * 100_000, "μ": 1 / 3}
    with Corpus(path, "a") as corpus:
        index = corpus.append(
            dense_problem(), z0=np.full(5, 1 / 3), provenance=provenance, labels=["contact"]
        )
        record = corpus[index]
    assert same_bits(record.z0, np.full(5, 1 / 3))
    assert (record.provenance, record.labels) == (provenance, ("contact",))


def test_plain_h5py_reads_the_file(filled):
    with h5py.File(filled, "r") as file:
        assert file.attrs["format"] == "mcpframe-corpus"
        group = file["problems/000003"]
        assert json.loads(group.attrs["layout"]) == [["p_b", 1], ["sigma first", 6], ["β", 2]]
        np.testing.assert_array_equal(group["M"], np.eye(9))
        np.testing.assert_array_equal(group["contacts_mu"], [0.3, 0.7])
        assert set(file["problems/000001"]) >= {
            "M_data",
            "M_indices",
            "M_indptr",
            "M_shape",
            "q",
            "lower",
            "upper",
        }


def test_names_indices_and_slices(filled):
    with Corpus(filled) as corpus:
        assert corpus.names == [make.__name__ for make in PROBLEMS]
        assert corpus[-1].name == PROBLEMS[-1].__name__
        assert corpus[1:4].names == corpus.names[1:4]
        assert [record.name for record in corpus[::-2]] == corpus.names[::-2]
        assert corpus[1:][0].name == corpus[1].name
        with pytest.raises(IndexError):
            corpus[len(PROBLEMS)]


def test_problems_are_read_only_when_asked_for(filled):
    with h5py.File(filled, "r+") as file:
        del file["problems/000002/q"]
    with Corpus(filled) as corpus:
        assert len(corpus) == len(PROBLEMS)
        assert_same_problem(corpus[1].problem, sparse_problem())
        with pytest.raises(FileFormatError, match=r"corpus\.h5: /problems/000002: field 'q' is missing"):
            corpus[2]


def test_appending_goes_on_where_it_ended(filled):
    with Corpus(filled, "a") as corpus:
        assert corpus.append(contact_problem(), name="one more") == len(PROBLEMS)
    with Corpus(filled) as corpus:
        assert corpus.names[-2:] == [PROBLEMS[-1].__name__, "one more"]
        assert_same_problem(corpus[-1].problem, contact_problem())


def test_a_refused_problem_changes_nothing(filled):
    with Corpus(filled, "a") as corpus:
        with pytest.raises(ProblemError, match="z0"):
            corpus.append(dense_problem(), z0=[1.0])
        with pytest.raises(ProblemError, match="provenance"):
            corpus.append(dense_problem(), provenance={"a": object()})
        assert len(corpus) == len(PROBLEMS)
    with Corpus(filled) as corpus:
        assert len(list(corpus)) == len(PROBLEMS)


def test_a_corpus_open_for_reading_takes_no_problem(filled):
    with Corpus(filled) as corpus, pytest.raises(FileFormatError, match="open for reading"):
        corpus.append(dense_problem())


def test_two_writers_at_once_are_refused(filled):
    with Corpus(filled, "a"), pytest.raises(FileFormatError, match="being written by another process"):
        Corpus(filled, "a")
    Corpus(filled, "a").close()


def test_no_journal_is_left_behind(filled):
    assert list(filled.parent.iterdir()) == [filled]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_cut_off_is_refused_by_name(filled, share):
    whole = filled.read_bytes()
    filled.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(FileFormatError, match=r"corpus\.h5: is not a complete corpus file"):
        Corpus(filled)


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04" + bytes(100)])
def test_files_of_another_kind_are_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="not a complete corpus file"):
        Corpus(path)
    if content:
        with pytest.raises(FileFormatError, match="not a complete corpus file"):
            Corpus(path, "a")
    assert path.read_bytes() == content


def test_other_hdf5_files_are_refused_and_left_alone(path):
    with h5py.File(path, "w") as file:
        file["fclib_local/W"] = np.eye(3)
    before = path.read_bytes()
    for mode in "ra":
        with pytest.raises(FileFormatError, match="it holds fclib_local"):
            Corpus(path, mode)
    assert path.read_bytes() == before


def test_a_newer_version_is_refused(filled):
    with h5py.File(filled, "r+") as file:
        file.attrs["version"] = 2
    with pytest.raises(FileFormatError, match="version 2 is newer"):
        Corpus(filled)


def test_bad_modes_and_missing_files_are_refused(path):
    with pytest.raises(FileFormatError, match="mode 'w'"):
        Corpus(path, "w")
    with pytest.raises(FileFormatError, match="no such file"):
        Corpus(path)
    with pytest.raises(FileFormatError, match="cannot be written"):
        Corpus(path / "nowhere.h5", "a")


def test_a_full_disk_is_an_error_and_finished_problems_stay(filled):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Corpus(filled, "a") as corpus:
        resource.setrlimit(resource.RLIMIT_FSIZE, (filled.stat().st_size + 10_000, before[1]))
        try:
            with pytest.raises(FileFormatError, match=r"corpus\.h5: cannot be written \("):
                corpus.append(MixedLCP(np.eye(100), np.zeros(100)))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        with pytest.raises(FileFormatError, match="is closed"):
            corpus.append(dense_problem())
    with Corpus(filled) as corpus:
        assert corpus.names == [make.__name__ for make in PROBLEMS]
    assert list(filled.parent.iterdir()) == [filled]


def finished_before_kill(path, seconds):
    """Let a writer append for a while, kill it without warning, return the last index it reported."""
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    first = writer.stdout.readline()
    time.sleep(seconds)
    os.kill(writer.pid, signal.SIGKILL)
    rest, _ = writer.communicate()
    return int((first + rest).split("\n")[-2])


def test_a_killed_writer_loses_no_finished_problem(path):
    last = -1
    for k in range(4):
        last = finished_before_kill(path, seconds=0.02 + 0.013 * k)
        with Corpus(path) as corpus:
            assert len(corpus) > last
            assert [record.problem.q[0] for record in corpus] == list(range(len(corpus)))
    assert last >= 3


def test_a_kill_before_any_single_write_undoes_the_unfinished_problem_alone(filled, tmp_path, monkeypatch):
    """Photograph both files before every write of one `append`, then open each picture."""
    committed, pictures = filled.read_bytes(), []

    class Photographed(JournaledFile):
        def write(self, data):
            pictures.append((filled.read_bytes(), journal_of(filled).read_bytes()))
            return super().write(data)

    with monkeypatch.context() as patched:
        patched.setattr("mcpframe.io.corpus.JournaledFile", Photographed)
        with Corpus(filled, "a") as corpus:
            corpus.append(dense_problem())
            taken = list(pictures)
    assert len(taken) > 10
    copy = tmp_path / "copy.h5"
    for content, journal in taken:
        copy.write_bytes(content)
        journal_of(copy).write_bytes(journal)
        with Corpus(copy) as corpus:
            assert corpus.names == [make.__name__ for make in PROBLEMS]
        assert (copy.read_bytes(), journal_of(copy).read_bytes()) == (content, journal)
        Corpus(copy, "a").close()
        assert copy.read_bytes() == committed


def test_what_is_called_like_a_journal_cuts_nothing_off(filled):
    """Eight bytes, the length 100, once cut a corpus to 100 bytes when it was opened to be read."""
    before, journal = filled.read_bytes(), struct.pack("<Q", 100)
    journal_of(filled).write_bytes(journal)
    with (
        pytest.warns(JournalWarning, match=r"corpus\.h5\.journal: is not a journal"),
        Corpus(filled) as corpus,
    ):
        assert corpus.names == [make.__name__ for make in PROBLEMS]
    with pytest.raises(
        FileFormatError, match=r"corpus\.h5\.journal: is not a journal.* move the journal away"
    ):
        Corpus(filled, "a")
    assert (filled.read_bytes(), journal_of(filled).read_bytes()) == (before, journal)


def test_a_corpus_in_a_folder_that_cannot_be_written_is_read_beside_the_journal_of_a_killed_writer(filled):
    stream = JournaledFile(filled)
    stream.write(b"half")
    left = filled.read_bytes(), journal_of(filled).read_bytes()
    stream.close()
    filled.write_bytes(left[0])
    journal_of(filled).write_bytes(left[1])
    filled.parent.chmod(0o500)
    try:
        with Corpus(filled) as corpus:
            assert corpus.names == [make.__name__ for make in PROBLEMS]
    finally:
        filled.parent.chmod(0o700)
    assert (filled.read_bytes(), journal_of(filled).read_bytes()) == left
