"""A dask cluster of worker processes gives the rows that one machine gives, also when a worker is lost."""

import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest

from mcpframe.exceptions import OptionError
from mcpframe.studies.running.executors.dask_cluster import Dask
from mcpframe.studies.running.runner import make_executor, run_study
from mcpframe.studies.study.study_file import parse_study
from mcpframe.studies.study.units import Made

distributed = pytest.importorskip("distributed")

PLUGINS = Path(__file__).parents[1] / "support" / "study_plugins.py"
BEFORE_THE_KILL = 5
"""Rows that have come when a worker is killed; the other units are on their way."""

STUDY = f"""
name = "cluster"
time_limit = 0.5
warm_limit = 5.0
starts = ["cold", "warm"]
imports = ['{PLUGINS}']
formulations = ["os", "mc"]
solvers = ["auto", {{ name = "slow", seconds = 0.05 }}, "raiser"]

[[problems]]
system = "pendulum"
parameters = {{ links = [3, 4] }}
states = 3

[[problems]]
generator = "full"
sizes = 2
starts = ["cold"]
"""


class Killing:
    """A dask executor one of whose workers is killed on the way."""

    def __init__(self, executor, pid):
        self.executor, self.pid, self.killed_after = executor, pid, None
        self.describe, self.provenance, self.close = executor.describe, executor.provenance, executor.close

    def run(self, context, chains):
        rows = 0
        for message in self.executor.run(context, chains):
            rows += isinstance(message, Made)
            if rows == BEFORE_THE_KILL and self.killed_after is None:
                os.kill(self.pid, signal.SIGKILL)
                self.killed_after = rows
            yield message


@pytest.fixture(autouse=True)
def _same_code(monkeypatch, registries):
    monkeypatch.setenv("MCPFRAME_COMMIT", "of the test")
    yield
    sys.modules.pop(f"mcpframe_study_{PLUGINS.stem}", None)


@pytest.fixture
def cluster(_same_code):
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        yield cluster


def test_a_cluster_that_loses_a_worker_gives_the_rows_of_one_machine_bit_for_bit(cluster, tmp_path):
    study = parse_study(STUDY)
    with distributed.Client(cluster) as client:
        pid = next(iter(client.run(os.getpid).values()))
    executor = Killing(make_executor("dask", scheduler=cluster.scheduler_address), pid)
    with contextlib.closing(executor):
        lost = run_study(study, executor=executor, out=tmp_path / "dask")
    calm = run_study(study, executor="local", workers=1, out=tmp_path / "local")
    assert executor.killed_after == BEFORE_THE_KILL
    assert len(lost.rows) == 2 * 3 * 2 * 3 * 2 + 3
    assert [row.lasting for row in lost.rows] == [row.lasting for row in calm.rows]
    assert {row.status for row in lost.rows} == {"SOLVED", "CRASHED"}
    assert lost.header["executor"] == {"name": "dask", "workers": 2}
    assert all((lost.folder / row.problem_file).is_file() for row in lost.rows if not row.ok)


def test_an_address_where_nobody_answers_is_refused_in_words(monkeypatch):
    monkeypatch.setattr("mcpframe.studies.running.executors.dask_cluster.CONNECT_LIMIT", 0.5)
    with pytest.raises(OptionError, match=r"tcp://127\.0\.0\.1:1.*no cluster answers"):
        Dask("tcp://127.0.0.1:1")


def test_a_cluster_that_runs_has_the_workers_it_has():
    with pytest.raises(OptionError, match="has the workers it has"):
        Dask("tcp://127.0.0.1:1", workers=3)
