"""Files that were damaged: every reader says what is wrong, names the file, and writes nothing."""

import sys
import warnings
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from storage import dense_problem

import mcpframe as mf
from mcpframe import FileFormatError, McpframeError
from mcpframe.io.corpus import Corpus
from mcpframe.io.fclib import load_fclib, save_fclib
from mcpframe.io.npz import load_problem, save_problem
from mcpframe.problem.friction import FrictionProblem
from mcpframe.scene.scene_file import load_scene

EXAMPLES = Path(__file__).parents[2] / "examples" / "checks"
sys.path.insert(0, str(EXAMPLES))
import fuzz_files  # noqa: E402
from fuzz_file_seeds import SUFFIXES, companions, seeds  # noqa: E402

SAMPLE = {"npz": 100, "corpus": 20, "fclib": 40, "urdf": 40, "mjcf": 40, "scene": 30, "study": 20}
SAMPLE |= {"nl": 60, "trajectory": 20, "store": 30}
FIRST = 10_000
"""Number of the first file: others than those of the command."""
NEEDS = {"urdf": "yourdfpy", "scene": "yourdfpy", "study": "yourdfpy", "mjcf": "mujoco"}
LITTLE = 50e6
"""Bytes that refusing a file may take; what it declares would take gigabytes."""


@pytest.mark.parametrize("kind", SAMPLE)
def test_no_reader_breaks_on_the_sample(kind):
    if kind in NEEDS:
        pytest.importorskip(NEEDS[kind])
    counts, breaches = fuzz_files.fuzz(kind, range(FIRST, FIRST + SAMPLE[kind]))
    assert not breaches, "\n".join(f"{breach.index}: {breach.what}" for breach in breaches)
    assert counts[fuzz_files.REFUSED] > SAMPLE[kind] // 5  # damage that a reader sees


@pytest.mark.parametrize("kind", SUFFIXES)
def test_files_that_are_not_damaged_are_read(kind, tmp_path, monkeypatch):
    if kind in NEEDS:
        pytest.importorskip(NEEDS[kind])
    (tmp_path / "seeds").mkdir()
    made = seeds(kind, tmp_path / "seeds")
    companions(tmp_path)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"good{SUFFIXES[kind]}"
    assert made
    for content in made[:4]:
        path.write_bytes(content)
        for read in fuzz_files.READERS[kind]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", mf.ModelWarning)
                read(path)
        assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("reader", "said"),
    [
        (lambda path: {}["x"], "KeyError"),
        (lambda path: path.write_text("changed"), "changes the file"),
        (lambda path: path.with_name("new").write_text(""), "makes files"),
        (lambda path: np.zeros(1 << 33), "MemoryError"),
        (lambda path: fuzz_files.os.write(2, b"Traceback"), "prints"),
        (lambda path: (_ for _ in ()).throw(McpframeError("what?")), "does not name the file"),
        (lambda path: fuzz_files.os._exit(3), "brings the process down"),
    ],
)
def test_the_net_catches(reader, said, monkeypatch):
    reader.__name__ = "reader"
    monkeypatch.setitem(fuzz_files.READERS, "npz", (reader,))
    _, breaches = fuzz_files.fuzz("npz", [0, 1])
    assert [said in breach.what for breach in breaches] == [True, True]


@pytest.fixture
def peak():
    """Give what tells how many bytes were taken at most since the test began."""
    import tracemalloc

    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


def test_a_matrix_of_another_size_than_its_vectors_is_refused_before_it_takes_memory(tmp_path, peak):
    """An FCLIB file of a kilobyte that says m = n = 3e8 once took 2.4 GB."""
    path = tmp_path / "a.hdf5"
    save_fclib(path, FrictionProblem(np.eye(3), np.zeros(3), [0.5]))
    with h5py.File(path, "r+") as file:
        for name in ("m", "n"):
            file[f"fclib_local/W/{name}"][0] = 300_000_000
    with pytest.raises(FileFormatError, match=r"a\.hdf5: /fclib_local/W: shape \(300000000, 300000000\)"):
        load_fclib(path)
    assert peak() < LITTLE


def test_rows_that_were_never_written_are_not_made(tmp_path, peak):
    path = tmp_path / "c.h5"
    with Corpus(path, "a") as corpus:
        corpus.append(dense_problem())
    with h5py.File(path, "r+") as file:
        del file["problems/000000/q"]
        file.create_dataset("problems/000000/q", shape=(300_000_000,), dtype="f8", chunks=True)
    with (
        Corpus(path) as corpus,
        pytest.raises(FileFormatError, match=r"c\.h5: .*/q: declares 2\.4 GB and has"),
    ):
        corpus[0]
    assert peak() < LITTLE


def test_a_field_that_nobody_uses_is_not_unpacked(tmp_path, peak):
    path = tmp_path / "p.npz"
    save_problem(path, dense_problem())
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("unused.npy", "w") as stream,
    ):
        np.lib.format.write_array_header_1_0(
            stream, {"descr": "<f8", "fortran_order": False, "shape": (25_000_000,)}
        )
        for _ in range(200):
            stream.write(bytes(1_000_000))
    before = peak()
    load_problem(path)
    assert peak() - before < LITTLE


@pytest.mark.parametrize("name", ["q", "M"])
def test_links_to_other_files_are_not_followed(name, tmp_path):
    path = tmp_path / "c.h5"
    for file in (path, tmp_path / "secret.h5"):
        with Corpus(file, "a") as corpus:
            corpus.append(mf.MixedLCP(np.eye(2), [1.0, 2.0]))
    with h5py.File(path, "r+") as file:
        del file[f"problems/000000/{name}"]
        file[f"problems/000000/{name}"] = h5py.ExternalLink("secret.h5", f"problems/000000/{name}")
    with (
        Corpus(path) as corpus,
        pytest.raises(FileFormatError, match=rf"c\.h5: .*/{name}: is a link to elsewhere"),
    ):
        corpus[0]


def test_entries_in_other_files_are_not_read(tmp_path):
    path, secret = tmp_path / "c.h5", tmp_path / "secret.bin"
    secret.write_bytes(np.arange(2.0).tobytes())
    with Corpus(path, "a") as corpus:
        corpus.append(mf.MixedLCP(np.eye(2), [1.0, 2.0]))
    with h5py.File(path, "r+") as file:
        del file["problems/000000/q"]
        file.create_dataset("problems/000000/q", shape=(2,), dtype="f8", external=[(str(secret), 0, 16)])
    with Corpus(path) as corpus, pytest.raises(FileFormatError, match=r"/q: has its entries in another file"):
        corpus[0]


def test_values_nested_beyond_all_measure_are_refused(tmp_path):
    path = tmp_path / "deep.toml"
    path.write_text(f"name = {'[' * 50_000}{']' * 50_000}\n")
    with pytest.raises(FileFormatError, match=r"deep\.toml: is not valid TOML: .* nested too deeply"):
        load_scene(path)
