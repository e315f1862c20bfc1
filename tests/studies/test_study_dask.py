"""A dask cluster of worker processes gives the rows that one machine gives, also when a worker is lost."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mcpframe.exceptions import OptionError
from mcpframe.studies.running.executors.dask_cluster import Dask, local_cluster
from mcpframe.studies.running.guard import WorkerError
from mcpframe.studies.running.runner import make_executor, run_study
from mcpframe.studies.study.store import Store
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
    with local_cluster(2) as cluster:
        yield cluster


@pytest.fixture
def silent_address():
    """Give an address at which nobody listens, and nobody else can: the port is taken."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"tcp://127.0.0.1:{taken.getsockname()[1]}"


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


def test_a_cluster_uses_no_fixed_port_and_is_open_to_this_machine_alone():
    """Dask's own ports are 8786 and 8787, the second even without a dashboard."""
    with local_cluster(1) as cluster:
        servers = [place.getsockname() for place in cluster.scheduler.http_server._sockets.values()]
        assert [host for host, _ in servers] == ["127.0.0.1"]
        addresses = [cluster.scheduler_address, *cluster.scheduler.workers]
        assert all(address.startswith("tcp://127.0.0.1:") for address in addresses)
        ports = {port for _, port in servers} | {int(address.rpartition(":")[2]) for address in addresses}
        assert not ports & {8786, 8787}


def test_an_address_where_nobody_answers_is_refused_in_words(monkeypatch, silent_address):
    monkeypatch.setattr("mcpframe.studies.running.executors.dask_cluster.CONNECT_LIMIT", 0.5)
    with pytest.raises(OptionError, match=rf"{silent_address}.*no cluster answers"):
        Dask(silent_address)


def test_a_cluster_that_runs_has_the_workers_it_has(silent_address):
    with pytest.raises(OptionError, match="has the workers it has"):
        Dask(silent_address, workers=3)


SCHEDULER = """
import asyncio
from distributed import Nanny, Scheduler

async def serve():
    here = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "dashboard": False}
    async with Scheduler(port=0, **here) as scheduler, Nanny(scheduler.address, nthreads=1, **here):
        print(scheduler.address, flush=True)
        await scheduler.finished()

if __name__ == "__main__":
    asyncio.run(serve())
"""


def test_a_killed_scheduler_is_told_in_words_with_what_is_kept(tmp_path, capfd):
    (tmp_path / "cluster.py").write_text(SCHEDULER)
    command = [sys.executable, str(tmp_path / "cluster.py")]
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, start_new_session=True, **quiet) as process:
        try:
            executor = Killing(
                make_executor("dask", scheduler=process.stdout.readline().strip()), process.pid
            )
            with contextlib.closing(executor), pytest.raises(WorkerError) as raised:
                run_study(parse_study(STUDY), executor=executor, out=tmp_path / "out")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert "the dask scheduler at tcp://127.0.0.1:" in str(raised.value)
    assert "the same command goes on" in str(raised.value)
    with Store.read(tmp_path / "out") as store:
        assert len(store) >= BEFORE_THE_KILL
        assert f"the {len(store)} rows so far are kept in {tmp_path / 'out'}" in str(raised.value)
    assert "Traceback" not in capfd.readouterr().err
