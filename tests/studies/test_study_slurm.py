"""Slurm jobs, by commands that stand in for those of a cluster, give the rows that one machine gives."""

import os
import sys

import pytest
import slurm_stand_in

from mcpframe.cli import main
from mcpframe.exceptions import OptionError, PluginError
from mcpframe.studies.running.executors import slurm
from mcpframe.studies.running.guard import WorkerError
from mcpframe.studies.running.runner import make_executor, run_study
from mcpframe.studies.study.store import Store
from mcpframe.studies.study.study_file import parse_study

pytest.importorskip("submitit")

STUDY = """
name = "cluster"
time_limit = 0.5
starts = ["cold", "warm"]
solvers = ["lemke"]

[[problems]]
system = "pendulum"
parameters = { links = [3, 4] }
states = 2
"""
ROWS = 2 * 2 * 2
"""Links, states, starts."""


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Put the commands of Slurm into the path, and let workers find what the tests find."""
    slurm_stand_in.install(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.setenv("MCPFRAME_COMMIT", "of the test")
    monkeypatch.setattr(slurm, "LOOK", 0.05)
    monkeypatch.setattr(slurm, "SHARES", 1)
    return tmp_path


def test_jobs_give_the_rows_of_one_machine_bit_for_bit_and_leave_their_logs(commands):
    (commands / "study.toml").write_text(STUDY)
    words = ["study", "run", str(commands / "study.toml"), "--executor", "slurm", "--workers", "2"]
    assert main([*words, "--slurm", "account=lab", "--no-report", "--out", str(commands / "a")]) == 0
    with Store.read(commands / "a") as store:
        on_cluster, header = store.rows(), store.header
    here = run_study(parse_study(STUDY), executor="local", workers=1, out=commands / "b").rows
    assert len(here) == ROWS
    assert [row.lasting for row in on_cluster] == [row.lasting for row in here]
    assert header["executor"] == {"name": "slurm", "workers": 2}
    logs = [path.read_text() for path in (commands / "a" / "slurm").glob("*_log.out")]
    assert sum("chain 1 of" in log for log in logs) == sum("done:" in log for log in logs) == 2
    scripts = [script.read_text() for script in (commands / "a" / "slurm").glob("*_submission.sh")]
    assert scripts
    assert all("#SBATCH --account=lab" in text and "#SBATCH --time=60" in text for text in scripts)


def test_a_job_that_dies_is_named_with_its_log(commands):
    bad = {"setup": ["export MCPFRAME_COMMIT=node$SLURM_ARRAY_TASK_ID"]}  # nodes with different code
    words = r"job \d+_0 of Slurm failed \(.*differ in commit: 'node', and here 'node0'\); see .*log\.err"
    with pytest.raises(WorkerError, match=words):
        run_study(parse_study(STUDY), executor="slurm", workers=2, slurm=bad, out=commands / "a")


def test_options_that_slurm_does_not_have_are_refused(commands, capsys):
    (commands / "study.toml").write_text(STUDY)
    words = [
        "study",
        "run",
        str(commands / "study.toml"),
        "--executor",
        "slurm",
        "--out",
        str(commands / "d"),
    ]
    assert main([*words, "--slurm", "acount=lab", "--out", str(commands / "d")]) == 2
    assert "acount" in capsys.readouterr().err


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PluginError, match="there is no srun here"):
        make_executor("slurm", folder=tmp_path)
    with pytest.raises(OptionError, match="slurm: is for the executor 'slurm'"):
        make_executor("local", slurm={"time": 5})
