"""mcpframe study: run, check, report and export from the command line."""

import csv
import subprocess
import sys

import pytest

from mcpframe.cli import main
from mcpframe.studies.study.export import to_table
from mcpframe.studies.study.store import Store

STUDY = """
name = "tiny"
labels = false
solvers = ["lemke", "newton"]

[[problems]]
generator = "full"
sizes = [1, 2]
seeds = 2

[[problems]]
name = "infeasible"
generator = "infeasible"
sizes = 3
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("command")
    (place / "tiny.toml").write_text(STUDY)
    assert (
        main(["study", "run", str(place / "tiny.toml"), "--out", str(place / "out"), "--workers", "1"]) == 0
    )
    return place / "out"


def test_a_report_that_cannot_be_drawn_is_told_with_the_command_that_makes_it_later(
    folder, capsys, monkeypatch
):
    for name in [name for name in sys.modules if name.partition(".")[0] == "plotly"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "plotly", None)
    assert main(["study", "run", str(folder.parent / "tiny.toml"), "--out", str(folder)]) == 2
    out, error = capsys.readouterr()
    assert f"in {folder}" in out
    assert "needs plotly" in error
    assert error.endswith(f"then: mcpframe study report {folder}\n")


def test_links_in_the_folder_of_a_study_change_no_file_elsewhere(folder, tmp_path):
    own = tmp_path / "own"
    own.write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    for name in (".lock", "report.html", "report.md", "report.png"):
        (out / name).symlink_to(own)
    words = ["study", "run", str(folder.parent / "tiny.toml"), "--out", str(out), "--workers", "1"]
    assert main(words) == 0
    assert own.read_text() == "mine"
    assert "<html" in (out / "report.html").read_text()


def test_run_ends_by_naming_the_report_to_open(folder, capsys):
    assert main(["study", "report", str(folder)]) == 0
    assert str(folder / "report.html") in capsys.readouterr().out
    assert "tiny" in (folder / "report.html").read_text(encoding="utf-8")
    assert (folder / "report.md").is_file()


def test_check_counts_rows_and_keeps_nothing(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder.parent)
    before = sorted(folder.parent.rglob("*"))
    assert main(["study", "check", "tiny.toml"]) == 0
    said = capsys.readouterr().out
    assert "10 rows" in said
    assert "2 solvers" in said
    assert sorted(folder.parent.rglob("*")) == before


def test_check_tells_a_mistake_in_one_line(tmp_path, capsys):
    path = tmp_path / "bad.toml"
    path.write_text(STUDY.replace('"newton"', '"newtn"'))
    assert main(["study", "check", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(
        f"mcpframe: error: {path}: line 4: solvers[1]: unknown solver 'newtn'; did you mean 'newton'?"
    )
    assert said.count("\n") == 1


def test_export_writes_every_row_and_field(folder, tmp_path):
    with Store.read(folder) as store:
        rows = store.rows()
    path = tmp_path / "rows.csv"
    assert main(["study", "export", str(folder), "--csv", str(path)]) == 0
    with path.open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert len(lines) == len(rows) == 10
    assert [line["case"] for line in lines] == [row.case for row in rows]
    assert [float(line["residual"]) for line in lines] == [row.residual for row in rows]
    assert {line["status"] for line in lines} == {row.status for row in rows}


def test_parquet_holds_the_same_table(folder, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    assert main(["study", "export", str(folder), "--parquet", str(path)]) == 0
    with Store.read(folder) as store:
        assert parquet.read_table(path).to_pydict() == to_table(store.rows())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["export", "{folder}"], "--csv FILE"),
        (["export", "{folder}", "--csv", "/no/such/folder/rows.csv"], "--out"),
        (["report", "{folder}/none"], "no such file"),
        (["run", "{folder}/none.toml"], "cannot be read"),
        (["run", "{folder}/../tiny.toml", "--executor", "dusk"], "dusk"),
        (["run", "{folder}/../tiny.toml", "--scheduler", "tcp://127.0.0.1:1"], "is for the executor 'dask'"),
    ],
)
def test_misuse_is_one_clear_line_and_status_two(folder, capsys, words, said):
    assert main(["study", *(word.format(folder=folder) for word in words)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.startswith("mcpframe: error: ")


def test_a_failed_row_is_in_the_summary_and_its_problem_beside_it(folder):
    with Store.read(folder) as store:
        failed = [row for row in store.rows() if not row.ok]
    assert {row.source for row in failed} == {"infeasible"}
    assert all((folder / row.problem_file).is_file() for row in failed)


def test_the_command_line_loads_no_kernels_before_a_study_is_run():
    code = "import sys, mcpframe.cli; print('mcpframe.studies.running.runner' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
