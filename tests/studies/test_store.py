"""The store of a study on a full disk and with damage: one clear error, and the rows before it are kept."""

import contextlib
import itertools
import resource
import shutil
import sqlite3
import subprocess
import sys

import pytest
from in_this_process import InThisProcess
from report_rows import row

from mcpframe.cli import main
from mcpframe.exceptions import FileFormatError, OptionError
from mcpframe.studies.running.runner import run_study
from mcpframe.studies.study.store import FILE_NAME, Store
from mcpframe.studies.study.study_file import parse_study

HEADER = {"name": "small", "tol": 1e-8}
FULL = 100_000
"""Bytes that no file may grow beyond: the store begins within them and soon fills them."""
STUDY = """
name = "small"
labels = false
solvers = ["lemke"]
[[problems]]
generator = "full"
sizes = 1
seeds = 300
"""


@contextlib.contextmanager
def full_disk(size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def add_without_end(store):
    for k in itertools.count():
        store.add(row(case=f"case {k}", reason="x" * 200))


def filled(path, count):
    with Store.open(path, HEADER) as store:
        for k in range(count):
            store.add(row(case=f"case {k}"))
    return path


def test_a_full_disk_is_an_error_that_names_the_file_and_keeps_the_rows_before_it(tmp_path):
    path, said = tmp_path / FILE_NAME, r"study\.sqlite: cannot be written \(.*\); is the disk full"
    with full_disk(FULL), Store.open(path, HEADER) as store:
        with pytest.raises(FileFormatError, match=said):
            add_without_end(store)
        added = len(store)
        with pytest.raises(FileFormatError, match="is the disk full"):
            store.label("case 0", {"words": "x" * FULL})
    assert added > 2, "a row takes a few pages of the log"
    with Store.open(path, HEADER) as store:
        assert len(store.rows()) == len(store) == added
        store.add(row(case="one more"))
    with Store.read(tmp_path) as store:
        assert len(store) == added + 1


def test_reading_writes_nothing(tmp_path):
    """SQLite would put the log of a killed writer into the file as soon as somebody looks at it."""
    filled(tmp_path / FILE_NAME, 3)
    killed = tmp_path / "killed"
    killed.mkdir()
    with Store.open(tmp_path / FILE_NAME, HEADER) as store:
        store.add(row(case="in the log"))
        for name in (FILE_NAME, f"{FILE_NAME}-wal"):
            shutil.copy(tmp_path / name, killed / name)
    for folder, count in ((tmp_path, 4), (killed, 4)):
        before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        with Store.read(folder) as store:
            assert len(store.rows()) == count
        after = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        after.pop(f"{FILE_NAME}-shm", None)  # what SQLite knows of the log, made anew by whoever opens it
        assert after == before
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [FILE_NAME]
    with Store.open(killed / FILE_NAME, HEADER) as store:
        assert len(store) == 4


def test_a_study_on_a_full_disk_ends_with_one_line_and_goes_on_later(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(STUDY)
    words = ["study", "run", "small.toml", "--out", "rows", "--no-report"]

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (FULL, resource.RLIM_INFINITY))

    command = [sys.executable, "-m", "mcpframe", *words]
    full = subprocess.run(command, preexec_fn=limit, capture_output=True, text=True)
    assert full.returncode == 2
    assert full.stderr.count("\n") == 1
    assert "rows/study.sqlite: cannot be written" in full.stderr
    assert "rows so far are kept in rows, and the same command goes on" in full.stderr
    with Store.read(tmp_path / "rows") as store:
        kept = len(store)
    assert 0 < kept < 300
    assert f"the {kept} rows so far" in full.stderr
    assert main(words) == 0
    with Store.read(tmp_path / "rows") as store:
        assert len(store) == 300


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"SQLite format 3\0" + b"\xff" * 5000,
        lambda content: b"something else altogether" * 100,
        lambda content: content[:5000],
        lambda content: content[:4096] + b"\x07" * (len(content) - 4096),
    ],
)
def test_a_damaged_store_is_named_with_what_to_do_and_left_as_it_is(damage, tmp_path, capsys):
    path = filled(tmp_path / FILE_NAME, 50)
    content = damage(path.read_bytes())
    path.write_bytes(content)
    for use in (Store.read, lambda path: Store.open(path, HEADER)):
        with (
            pytest.raises(FileFormatError, match=r"study\.sqlite: is damaged.* move it away"),
            use(path) as store,
        ):
            store.rows()
    for words in (["report", str(tmp_path)], ["export", str(tmp_path), "--csv", str(tmp_path / "rows.csv")]):
        assert main(["study", *words]) == 2
        error = capsys.readouterr().err
        assert "study.sqlite: is damaged" in error
        assert error.count("\n") == 1
    assert path.read_bytes() == content
    assert not (tmp_path / "rows.csv").exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("residual", "'x'"),
        ("iterations", "'many'"),
        ("iterations", "NULL"),
        ("repeat", "'0th'"),
        ("ok", "'yes'"),
        ("solve_seconds", "NULL"),
        ("status", "x'00ff'"),
    ],
)
def test_text_among_numbers_is_named_with_file_and_field(field, value, tmp_path, capsys):
    path = filled(tmp_path / FILE_NAME, 3)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE rows SET {field} = {value} WHERE \"case\" = 'case 1'")
    said = rf"study\.sqlite: rows: field '{field}' of case 'case 1' is .*, not (real|integer|text); "
    for use in (Store.read, lambda path: Store.open(path, HEADER)):
        with pytest.raises(FileFormatError, match=said):
            use(path)
    assert main(["study", "report", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert f"field '{field}'" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE header SET value = '{broken' WHERE key = 'name'",
        "INSERT INTO cases VALUES ('case 0', '[[')",
        "DROP TABLE cases",
    ],
)
def test_damage_of_what_is_written_in_it_is_named_too(statement, tmp_path):
    import sqlite3

    path = filled(tmp_path / FILE_NAME, 3)
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    with pytest.raises(FileFormatError, match=path.name), Store.read(path) as store:
        store.rows()


def test_a_study_that_does_not_start_leaves_no_folder(tmp_path, monkeypatch):
    (tmp_path / "up.toml").write_text(
        '[model]\nsystem = "sphere"\n[initial]\ntheta = [0, 0, 9, 0, 0, 0, 1]\n[stepping]\nduration = 0.01\n'
    )
    study = parse_study('solvers = ["lemke"]\n[[problems]]\nscene = "up.toml"\n', tmp_path)
    with pytest.raises(OptionError, match="no step of its"):
        run_study(study, executor=InThisProcess(), out=tmp_path / "out" / "deep")
    assert [path.name for path in tmp_path.iterdir()] == ["up.toml"]


def test_a_folder_that_was_there_stays(tmp_path):
    (tmp_path / "up.toml").write_text(
        '[model]\nsystem = "sphere"\n[initial]\ntheta = [0, 0, 9, 0, 0, 0, 1]\n[stepping]\nduration = 0.01\n'
    )
    (tmp_path / "out").mkdir()
    study = parse_study('solvers = ["lemke"]\n[[problems]]\nscene = "up.toml"\n', tmp_path)
    with pytest.raises(OptionError, match="no step of its"):
        run_study(study, executor=InThisProcess(), out=tmp_path / "out")
    assert (tmp_path / "out").is_dir()
