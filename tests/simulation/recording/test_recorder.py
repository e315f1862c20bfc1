"""A recorder loses nothing that it has flushed: not to kills, not to a full disk."""

import gc
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from runs import assert_same_steps, header, one_step, steps, swing

from mcpframe import FileFormatError, ProblemError
from mcpframe.io.journal import JournaledFile, journal_of, recover
from mcpframe.simulation.recording.recorder import Recorder
from mcpframe.simulation.recording.steps import StepBlock
from mcpframe.simulation.recording.trajectory import Trajectory

SUPPORT = Path(__file__).parents[2] / "support"
N = 30
KILLS = 10
TOTAL = 4000
"""Steps of the run that is killed again and again: more than it gets done between two kills."""

WRITER = """
import os, sys
import numpy as np
import mcpframe as mf
from mcpframe.simulation.recording.header import Header
from mcpframe.simulation.recording.recorder import Recorder
from mcpframe.simulation.recording.steps import ContactTable, StepBlock

def block(k, x):
    "Step k of a chaotic map: its state is the theta, its memory the checkpoint."
    n = k % 3
    rows = {"point": np.full((n, 3), x), "normal": np.ones((n, 3)), "impulse": np.full((n, 3), float(k))}
    contacts = ContactTable(body_a=np.zeros(n), body_b=-np.ones(n), mode=np.zeros(n), **rows)
    return StepBlock(time=[0.001 * k], theta=[[x]], theta_dot=[[0.0]], n_contacts=[n], contacts=contacts)

path, total = sys.argv[1], int(sys.argv[2])
if os.path.exists(path) and os.path.getsize(path):
    recorder = Recorder.resume(path, flush_steps=7)
else:
    recorder = Recorder.create(Header(mf.systems.pendulum(links=1)), path, flush_steps=7)
x, memory = 0.3, np.zeros(4)
if recorder.n_steps:
    x, memory = recorder.last.theta[0, 0], recorder.checkpoint["memory"]
print(recorder.n_steps, flush=True)
for k in range(recorder.n_steps, total):
    x = 3.99 * x * (1.0 - x) + 1e-3 * memory.sum()
    x, memory = x % 1.0, np.append(memory, x)[-4:]
    recorder.append(block(k, x), {"memory": memory})
    if k % 7 == 0:
        recorder.flush()
        print(recorder.n_steps, flush=True)
recorder.close()
"""

FULL_DISK = """
import resource, signal, sys
import mcpframe as mf
from mcpframe.simulation.recording.recorder import Recorder
sys.path.insert(0, sys.argv[2])
from runs import header, one_step, swing

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
recorder = Recorder.create(header(), sys.argv[1], flush_steps=1)
flushed = 0
try:
    with recorder:
        for k, state in enumerate(swing(recorder.header.model, 4000)):
            if k == 3:
                size = __import__("os").path.getsize(sys.argv[1]) + 20000
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            recorder.append(one_step(state, k))
            flushed = k + 1
except mf.FileFormatError as error:
    print(error)
print(flushed)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trajectory.h5"


def recorded(recorder, n=N, start=0):
    for k, state in enumerate(swing(recorder.header.model, n)):
        if k >= start:
            recorder.append(one_step(state, k))
    return recorder


def test_a_run_in_memory_is_what_was_appended():
    assert_same_steps(recorded(Recorder(header())).finish().steps, steps(header().model, N))


@pytest.mark.parametrize("flush_steps", [1, 7, 1000])
def test_a_run_on_disk_is_what_was_appended(path, flush_steps):
    recorder = recorded(Recorder.create(header(), path, flush_steps))
    trajectory = recorder.finish()
    assert_same_steps(trajectory.steps, steps(header().model, N))
    assert trajectory.model is recorder.header.model
    assert list(path.parent.iterdir()) == [path]


def test_blocks_of_any_length_give_the_same_file(path, tmp_path):
    whole = steps(header().model, N)
    with Recorder.create(header(), path, flush_steps=5) as recorder:
        for start, stop in ((0, 1), (1, 1), (1, 20), (20, N)):
            recorder.append(whole.rows(start, stop))
    assert_same_steps(Trajectory.load(path).steps, whole)


def test_arrays_may_be_used_again_after_append():
    recorder, theta = Recorder(header()), np.zeros((1, 3))
    for k in range(3):
        theta[:] = k
        recorder.append(StepBlock(time=[k], theta=theta, theta_dot=theta))
    assert recorder.finish().theta[:, 0].tolist() == [0.0, 1.0, 2.0]


def test_a_flush_comes_after_enough_steps_or_enough_time(path):
    recorder = recorded(Recorder.create(header(), path, flush_steps=10, flush_seconds=1e9), 25)
    recorder._file.close()  # as a kill would leave it, the rest still waiting
    assert len(Trajectory.load(path)) == 20
    path.unlink()
    recorder = recorded(Recorder.create(header(), path, flush_steps=1000, flush_seconds=0.0), 5)
    recorder._file.close()
    assert len(Trajectory.load(path)) == 5


def test_a_resumed_run_goes_on_where_it_ended(path):
    with Recorder.create(header(), path) as recorder:
        recorded(recorder, 11)
    with Recorder.resume(path) as recorder:
        assert recorder.n_steps == 11
        assert recorder.header.seed == 7
        assert_same_steps(recorder.last, steps(header().model, 11).rows(10, 11))
        recorded(recorder, N, start=11)
    assert_same_steps(Trajectory.load(path).steps, steps(header().model, N))


def test_a_run_without_steps_can_be_resumed(path):
    Recorder.create(header(), path).close()
    with Recorder.resume(path.parent) as recorder:
        assert (recorder.n_steps, recorder.last, recorder.checkpoint) == (0, None, None)


def test_a_checkpoint_belongs_to_the_last_step(path):
    block = steps(header().model, 6)
    with Recorder.create(header(), path) as recorder:
        recorder.append(block.rows(0, 2), {"z": np.arange(3.0), "basis": np.array([1, 2], dtype=np.int8)})
        recorder.flush()
        recorder.append(block.rows(2, 4), {"z": np.arange(5.0), "count": np.array(4)})
    with Recorder.resume(path) as recorder:
        assert recorder.checkpoint.keys() == {"z", "count"}
        assert recorder.checkpoint["z"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
        assert recorder.checkpoint["count"] == 4
        recorder.append(block.rows(4, 6))
    with Recorder.resume(path) as recorder:
        assert recorder.checkpoint is None


@pytest.mark.parametrize("damage", [b"", b"\xff" * 8, b"\x01" + bytes(7) + b"7"])
def test_a_damaged_checkpoint_is_refused_in_words(path, damage):
    with Recorder.create(header(), path) as recorder:
        recorder.append(steps(header().model, 2), {"z": np.arange(3.0)})
    with h5py.File(path, "r+") as file:
        file["checkpoint/packed"].resize((len(damage),))
        file["checkpoint/packed"][...] = np.frombuffer(damage, np.uint8)
    with pytest.raises(FileFormatError, match="is not a complete trajectory file"):
        Recorder.resume(path)


def test_what_is_behind_the_last_complete_step_is_cut_off(path):
    with Recorder.create(header(), path) as recorder:
        recorded(recorder, 12)
    with h5py.File(path, "r+") as file:
        file["steps/time"].resize(20, axis=0)
        file["contacts/gap"].resize(len(file["contacts/gap"]) - 1, axis=0)  # one is missing now
    with Recorder.resume(path) as recorder:
        whole = steps(header().model, 12)
        last = int(np.flatnonzero(whole.n_contacts)[-1])  # the step whose contact is missing
        assert recorder.n_steps == last
        assert recorder.checkpoint is None
    assert_same_steps(Trajectory.load(path).steps, whole.rows(0, last))


def test_a_file_with_a_run_is_not_started_anew(path):
    recorded(Recorder.create(header(), path), 3).close()
    with pytest.raises(FileFormatError, match=r"trajectory\.h5: exists already; resume"):
        Recorder.create(header(), path)
    assert len(Trajectory.load(path)) == 3


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_disk_that_is_full_at_once_is_told(path, monkeypatch):
    def full(self, content, offset):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(JournaledFile, "_put", full)
        with pytest.raises(FileFormatError, match=r"trajectory\.h5.*No space left"):
            Recorder.create(header(), path)
    gc.collect()  # nothing is left that would write
    with Recorder.create(header(), path) as recorder:
        recorded(recorder)
    assert len(Trajectory.load(path)) == N


def test_an_empty_file_may_be_started(path):
    path.touch()
    recorded(Recorder.create(header(), path), 3).close()
    assert len(Trajectory.load(path)) == 3


def test_one_writer_at_a_time_and_no_reader_meanwhile(path):
    with Recorder.create(header(), path):
        for use in (Recorder.resume, Trajectory.load):
            with pytest.raises(FileFormatError, match="being written by another process"):
                use(path)


def test_time_moves_forward():
    recorder = recorded(Recorder(header()), 3)
    again = steps(header().model, 3)
    with pytest.raises(ProblemError, match=r"time: step 3 at 0\.02 s does not come after"):
        recorder.append(again.rows(2, 3))
    still = StepBlock(time=[1.0, 1.0], theta=np.zeros((2, 3)), theta_dot=np.zeros((2, 3)))
    with pytest.raises(ProblemError, match=r"time: step 4 at 1\.0 s"):
        recorder.append(still)
    with pytest.raises(ProblemError, match="time: step 3 at nan s"):
        recorder.append(StepBlock(time=[np.nan], theta=np.zeros((1, 3)), theta_dot=np.zeros((1, 3))))
    assert recorder.n_steps == 3


def test_steps_of_another_model_and_a_closed_recorder_are_refused():
    recorder = Recorder(header())
    with pytest.raises(ProblemError, match="have 2 and 2 columns"):
        recorder.append(steps(header(2).model, 1))
    recorder.close()
    with pytest.raises(ProblemError, match="the recorder is closed"):
        recorder.append(steps(header().model, 1))


def test_other_files_are_refused_and_left_alone(path):
    path.write_bytes(b"something else")
    for use in (Recorder.resume, lambda path: Recorder.create(header(), path)):
        with pytest.raises(FileFormatError, match="not a complete trajectory|exists already"):
            use(path)
    assert path.read_bytes() == b"something else"
    with pytest.raises(FileFormatError, match="cannot be written"):
        Recorder.create(header(), path.parent / "nowhere" / "run.h5")


def test_a_kill_before_any_single_write_undoes_the_unfinished_flush_alone(path, tmp_path, monkeypatch):
    """Photograph both files before every write of one flush, then open each picture."""
    recorded(Recorder.create(header(), path), 10).close()
    committed, pictures = path.read_bytes(), []

    class Photographed(JournaledFile):
        def write(self, data):
            pictures.append((path.read_bytes(), journal_of(path).read_bytes()))
            return super().write(data)

    monkeypatch.setattr("mcpframe.simulation.recording.trajectory_file.JournaledFile", Photographed)
    with Recorder.resume(path) as recorder:
        recorded(recorder, 12, start=10)
        recorder.flush()
        taken = list(pictures)
    assert len(taken) > 10
    copy = tmp_path / "copy.h5"
    for content, journal in taken:
        copy.write_bytes(content)
        journal_of(copy).write_bytes(journal)
        assert len(Trajectory.load(copy)) == 10
        assert (copy.read_bytes(), journal_of(copy).read_bytes()) == (
            content,
            journal,
        )  # reading never writes
        recover(copy)
        assert copy.read_bytes() == committed


def killed(path, seconds):
    """Let the run go on for a while, kill it without warning, return the last step it had flushed."""
    command = [sys.executable, "-c", WRITER, str(path), str(TOTAL)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    first = writer.stdout.readline()
    time.sleep(seconds)
    os.kill(writer.pid, signal.SIGKILL)
    rest, _ = writer.communicate()
    return int((first + rest).split("\n")[-2])


@pytest.mark.slow
def test_kills_lose_nothing_that_was_flushed_and_a_resumed_run_ends_in_the_same_bits(path, tmp_path):
    whole = tmp_path / "whole.h5"
    subprocess.run([sys.executable, "-c", WRITER, str(whole), str(TOTAL)], check=True, capture_output=True)
    expected = Trajectory.load(whole).steps
    pause = random.Random(5)
    for _ in range(KILLS):
        flushed = killed(path, pause.uniform(0.0, 0.06))
        found = Trajectory.load(path).steps
        assert flushed <= len(found)
        assert_same_steps(found, expected.rows(0, len(found)))
    assert 0 < len(found) < TOTAL
    subprocess.run([sys.executable, "-c", WRITER, str(path), str(TOTAL)], check=True, capture_output=True)
    assert_same_steps(Trajectory.load(path).steps, expected)


def test_a_full_disk_is_an_error_and_what_was_flushed_stays(path):
    command = [sys.executable, "-c", FULL_DISK, str(path), str(SUPPORT)]
    finished = subprocess.run(command, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    message, flushed = finished.stdout.splitlines()
    assert "trajectory.h5: cannot be written (" in message
    assert f"is the disk full? Make room; {flushed} steps are kept, and the same run goes on" in message
    assert_same_steps(Trajectory.load(path).steps, steps(header().model, int(flushed)))
    assert int(flushed) > 3
    assert list(path.parent.iterdir()) == [path]


def test_a_run_that_is_written_keeps_its_last_chunks_alone_in_memory(path):
    with Recorder.create(header(), path) as recorder:
        datasets = recorder._file._datasets
        caches = [dataset.get_access_plist().get_chunk_cache()[1] for dataset in datasets.values()]
    assert sum(caches) < 5e6  # a megabyte for each column, HDF5's own, kept all of a run of 40,000 steps
